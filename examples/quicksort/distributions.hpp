// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs of sorts, made of ranks: numbers in [0, 2^32) that are converted to keys of any type.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace common {

enum class distribution {
  uniform,
  sorted,
  reversed,
  organ_pipe,  ///< ascending, then descending
  all_equal,
  few_distinct,            ///< 16 values
  zipf,                    ///< the frequency of the k-th of n values is about 1 / (k ln n)
  almost_sorted,           ///< one in a hundred elements is swapped with another
  median_of_three_killer,  ///< drives median-of-three quicksort to quadratic time (Musser, 1997)
};

[[nodiscard]] std::string_view to_string(distribution);
/// Returns the distribution of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] distribution parse_distribution(std::string_view);

/// Returns `n` ranks. The same seed gives the same ranks on every machine.
[[nodiscard]] std::vector<std::uint32_t> make_ranks(distribution, std::size_t n,
                                                    std::uint64_t seed);

/// Returns the ranks of the positions [begin, end) among n: the same as those of make_ranks(d, n,
/// seed). It takes memory for them alone, and for n / 50 positions with almost_sorted.
[[nodiscard]] std::vector<std::uint32_t> make_ranks(distribution, std::size_t n, std::uint64_t seed,
                                                    std::size_t begin, std::size_t end);

/// Returns the number of a rank. Integers fill the range of their type, and floating-point numbers
/// are evenly spaced around 0. A greater rank never gives a smaller number.
template <class Number>
[[nodiscard]] Number number_of_rank(std::uint32_t rank) {
  // The lower bits of 64-bit numbers, a function of the rank.
  const std::uint32_t low = rank * 0x9e3779b9u;
  if constexpr (std::is_same_v<Number, float>) {
    return (static_cast<float>(rank) - 2147483648.0f) / 1024;
  } else if constexpr (std::is_same_v<Number, double>) {
    return (static_cast<double>(rank) - 2147483648.0) / 1024 + (low >> 12) * 0x1p-31;
  } else if constexpr (sizeof(Number) == 8) {
    const std::uint64_t bits = std::uint64_t{rank} << 32 | low;
    return static_cast<Number>(std::is_signed_v<Number> ? bits ^ std::uint64_t{1} << 63 : bits);
  } else {
    return static_cast<Number>(std::is_signed_v<Number> ? rank ^ 1u << 31 : rank);
  }
}

}  // namespace common
