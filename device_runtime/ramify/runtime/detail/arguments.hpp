// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the arguments of a call. Plain C++.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ramify/version.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Throws "<field> is <value>; it must be <range>" unless `valid`. `value` is a number or a text.
/// \throws std::invalid_argument
template <class Value>
void check_field(bool valid, std::string_view field, const Value& value, std::string_view range) {
  if (valid) return;
  std::string text(field);
  text += " is ";
  if constexpr (std::is_floating_point_v<Value>) {
    // std::to_string() writes 1e-9 as 0.000000, and obeys the locale of the program.
    char number[32];
    const auto end = std::to_chars(number, number + sizeof number, static_cast<double>(value),
                                   std::chars_format::general, 12);
    text.append(number, end.ptr);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    text += std::to_string(value);
  } else {
    text += value;
  }
  throw std::invalid_argument(text.append("; it must be ").append(range));
}

[[nodiscard]] inline bool is_aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// Checks that a pointer to objects of this alignment is aligned. A load from another address is a
/// fault on a GPU. `name` begins the message. \throws std::invalid_argument
inline void check_alignment(const void* pointer, std::size_t alignment, std::string_view name) {
  if (is_aligned(pointer, alignment)) return;
  throw std::invalid_argument(std::string(name) + " must be aligned to " +
                              std::to_string(alignment) + " bytes");
}

/// The number of elements that arrays of a call must have: one for each of its bodies, say.
struct required_count {
  const char* algorithm;
  std::size_t n;
  const char* of;  ///< what the elements belong to, in the plural

  /// Checks the size of the array `name`. \throws std::invalid_argument
  void check(std::size_t size, const char* name) const {
    if (size == n) return;
    throw std::invalid_argument(std::string(algorithm) + ": " + std::to_string(n) + ' ' + of +
                                ", but " + std::to_string(size) + ' ' + name);
  }
  /// Returns the address of an array that may be left out, or null if it is empty.
  /// \throws std::invalid_argument
  template <class T>
  [[nodiscard]] T* data_of(std::span<T> array, const char* name) const {
    if (array.empty()) return nullptr;
    check(array.size(), name);
    return array.data();
  }
};

/// An array that the caller passes to an algorithm.
struct argument_array {
  const void* data;
  std::size_t bytes;
  const char* name;
  bool is_output;
  std::size_t alignment;  ///< of its elements
};

template <class T>
[[nodiscard]] argument_array input_array(const T* data, std::size_t n, const char* name) {
  return {data, n * sizeof(T), name, false, alignof(T)};
}
template <class T>
[[nodiscard]] argument_array output_array(const T* data, std::size_t n, const char* name) {
  return {data, n * sizeof(T), name, true, alignof(T)};
}

/// Appends an input, if it has elements.
template <class T>
void add_input(std::vector<argument_array>& arrays, std::span<T> array, const char* name) {
  if (!array.empty()) arrays.push_back(input_array(array.data(), array.size(), name));
}
/// Appends an output of n elements, if it is requested.
template <class T>
void add_output(std::vector<argument_array>& arrays, const T* array, std::size_t n,
                const char* name) {
  if (array != nullptr) arrays.push_back(output_array(array, n, name));
}

/// Checks that no output overlaps another array. A null array overlaps nothing. `algorithm` begins
/// the message. \throws std::invalid_argument naming the two arrays
inline void check_overlaps(const char* algorithm, std::span<const argument_array> arrays) {
  const auto begins_before_end_of = [](const argument_array& a, const argument_array& b) {
    if (a.data == nullptr || b.data == nullptr) return false;
    return reinterpret_cast<std::uintptr_t>(a.data) <
           reinterpret_cast<std::uintptr_t>(b.data) + b.bytes;
  };
  for (auto b = arrays.begin(); b != arrays.end(); ++b) {
    for (auto a = arrays.begin(); a != b; ++a) {
      if (!a->is_output && !b->is_output) continue;
      if (!begins_before_end_of(*a, *b) || !begins_before_end_of(*b, *a)) continue;
      throw std::invalid_argument(std::string(algorithm) + ": " + a->name + " and " + b->name +
                                  " overlap");
    }
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::detail {
using namespace runtime;
}
