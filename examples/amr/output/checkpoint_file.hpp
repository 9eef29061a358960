// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checkpoints: everything that a program needs to continue later with the same results.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace common {

/// The element types of arrays in checkpoints.
template <class T>
concept checkpoint_element = std::same_as<T, std::uint8_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, float> || std::same_as<T, double>;

/// The name of an element type: "u8", "i32", "u32", "i64", "u64", "f32" or "f64".
template <checkpoint_element T>
[[nodiscard]] constexpr std::string_view element_type() {
  if constexpr (std::floating_point<T>) return sizeof(T) == 4 ? "f32" : "f64";
  if constexpr (std::same_as<T, std::uint8_t>) return "u8";
  if constexpr (std::signed_integral<T>) return sizeof(T) == 4 ? "i32" : "i64";
  return sizeof(T) == 4 ? "u32" : "u64";
}

/// An array of numbers of one type; all bits are kept.
struct checkpoint_array {
  std::string name;
  std::string type;  ///< element_type() of the numbers
  std::vector<std::byte> bytes;

  checkpoint_array() = default;
  checkpoint_array(std::string name, std::string type, std::vector<std::byte> bytes)
      : name(std::move(name)), type(std::move(type)), bytes(std::move(bytes)) {}
  template <checkpoint_element T>
  checkpoint_array(std::string name, const std::vector<T>& values)
      : name(std::move(name)), type(element_type<T>()), bytes(values.size() * sizeof(T)) {
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  }

  bool operator==(const checkpoint_array&) const = default;
};

/// The contents of a checkpoint file.
struct checkpoint {
  std::string program;      ///< the program that can continue, such as "ramify amr"
  nlohmann::json settings;  ///< integers and doubles are kept exactly, but NaN becomes null
  std::vector<checkpoint_array> arrays;  ///< no two arrays have the same name

  /// Returns the values of an array. \throws std::out_of_range if no array has this name and type
  template <checkpoint_element T>
  [[nodiscard]] std::vector<T> values(std::string_view name) const {
    const std::span<const std::byte> bytes = find(name, element_type<T>());
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  [[nodiscard]] std::span<const std::byte> find(std::string_view name, std::string_view type) const;
};

/// Replaces the file `path` as a whole, after the new file has reached the disk. If anything fails
/// the old file is unchanged. checkpoint_file.cpp describes the binary layout.
/// \throws std::invalid_argument for two arrays of one name, an unknown element type, or bytes that
///   are not a multiple of the element's size
/// \throws bad_output naming the file: it cannot be written, or a text is not UTF-8
void write_checkpoint(const std::filesystem::path& path, const checkpoint&);

/// Reads a checkpoint that write_checkpoint() wrote for `program`. Every byte of the file is
/// checked. No allocation is larger than the file.
/// \throws bad_input naming the file: it cannot be read, is no checkpoint, is of another version or
///   another program, was truncated (the message names the offset), or is damaged (the message
///   names the damaged part)
[[nodiscard]] checkpoint read_checkpoint(const std::filesystem::path& path,
                                         std::string_view program);

}  // namespace common
