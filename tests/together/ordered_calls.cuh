// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A table of calls of the compiled interface with arrays in device memory, which a slow kernel
/// writes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/environment.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "any_run.cuh"
#include "device_vectors.cuh"

namespace stream_order {

using namespace ramify;

using word = std::uint32_t;

/// Returns the bytes of numbers as words.
std::vector<word> words_of(const auto& values) {
  static_assert(sizeof values[0] % sizeof(word) == 0);
  std::vector<word> words(values.size() * sizeof values[0] / sizeof(word));
  std::memcpy(words.data(), values.data(), words.size() * sizeof(word));
  return words;
}

/// An array in device memory, which the slow kernel writes.
struct late_array {
  late_array(const auto& contents_before, const auto& contents_after)
      : before(words_of(contents_before)),
        data(before.size(), nullptr),
        after(tests::upload(words_of(contents_after))) {}

  template <class T>
  [[nodiscard]] std::span<T> as() const {
    return {reinterpret_cast<T*>(data.data()), data.size() * sizeof(word) / sizeof(T)};
  }

  std::vector<word> before;  ///< the contents before the slow kernel
  device_buffer<word> data;
  device_buffer<word> after;
};

/// Returns a vector of arrays, which cannot be copied.
std::vector<late_array> list(auto... arrays) {
  std::vector<late_array> all;
  (all.push_back(std::move(arrays)), ...);
  return all;
}

/// Returns an array for `count` results, in which the slow kernel leaves no result.
template <class T>
late_array result(std::size_t count) {
  const std::vector<word> none(count * sizeof(T) / sizeof(word), 0xf1f2f3f4);
  return {none, none};
}

/// A call of the compiled interface with arrays in device memory.
struct family_call {
  std::string name;
  std::vector<late_array> inputs, results;  ///< at most three each; a sort has only inputs
  std::function<void(const family_call&, const environment&)> call;
  /// Returns whether the words of the results, or of the inputs of a sort, are right.
  std::function<bool(const std::vector<std::vector<word>>&)> is_right;
  /// Starts the call, by a function whose name ends in _async; null: there is none.
  std::function<tests::any_run(const family_call&, const environment&)> start{};

  [[nodiscard]] const std::vector<late_array>& outputs() const {
    return results.empty() ? inputs : results;
  }
};

/// Returns a call of each family whose functions take spans.
std::vector<family_call> calls_with_device_memory();

}  // namespace stream_order
