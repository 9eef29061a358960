// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The keys, inputs and orders of the sort benchmarks. Compiled with -rdc=true and without.

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace benchmark {

/// A key and its payload.
struct record16 {
  std::uint64_t key;
  std::uint64_t payload;
};

/// The natural order of numbers. No key of the benchmark is NaN.
struct natural_order {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// Orders records by their keys.
struct by_key {
  __host__ __device__ bool operator()(const record16& a, const record16& b) const {
    return a.key < b.key;
  }
};

/// An example of a user's order: even numbers before odd ones, both in descending order.
struct even_first_falling {
  __host__ __device__ bool operator()(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t parity_a = a & 1u;
    const std::uint32_t parity_b = b & 1u;
    return parity_a != parity_b ? parity_a < parity_b : a > b;
  }
};

/// Arrays of n elements: keys and, unless Value is ramify::no_value, a value for each.
template <class Key, class Value>
struct element_arrays {
  Key* keys;
  Value* values;  ///< null without values
};

enum class distribution {
  uniform,
  sorted,
  reversed,
  almost_sorted,  ///< n / 100 random swaps
  zipf,           ///< 10^6 values; the frequency of the k-th is proportional to 1 / k
  sixteen_values,
  all_equal,
  organ_pipe,  ///< ascending, then descending
};

inline constexpr std::array all_distributions{distribution::uniform,   distribution::sorted,
                                              distribution::reversed,  distribution::almost_sorted,
                                              distribution::zipf,      distribution::sixteen_values,
                                              distribution::all_equal, distribution::organ_pipe};

[[nodiscard]] constexpr std::string_view to_string(distribution d) {
  switch (d) {
    case distribution::uniform: return "uniform";
    case distribution::sorted: return "sorted";
    case distribution::reversed: return "reversed";
    case distribution::almost_sorted: return "almost sorted";
    case distribution::zipf: return "zipf";
    case distribution::sixteen_values: return "16 values";
    case distribution::all_equal: return "all equal";
    case distribution::organ_pipe: return "organ pipe";
  }
  return "?";
}

}  // namespace benchmark
