// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs for sorts, made of ranks: numbers in [0, 2^32) that are then turned into keys of a type.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace common {

enum class distribution {
  uniform,
  sorted,
  reversed,
  organ_pipe,  ///< up, then down again
  all_equal,
  few_distinct,            ///< 16 values
  almost_sorted,           ///< one in a hundred elements swapped with another
  median_of_three_killer,  ///< drives median-of-three quicksort to quadratic time (Musser, 1997)
};

[[nodiscard]] std::string_view to_string(distribution);
/// \throws std::invalid_argument naming the choices
[[nodiscard]] distribution parse_distribution(std::string_view);
[[nodiscard]] std::span<const distribution> all_distributions();

/// `n` ranks; the same for the same seed on every machine.
[[nodiscard]] std::vector<std::uint32_t> make_ranks(distribution, std::size_t n,
                                                    std::uint64_t seed);

/// A number of a rank: integers fill their type's range, signed ones from its lower end, and
/// floating-point numbers lie evenly around 0. Greater ranks give numbers that are not smaller.
template <class Number>
[[nodiscard]] Number number_of_rank(std::uint32_t rank) {
  if constexpr (std::is_floating_point_v<Number>) {
    return (static_cast<Number>(rank) - static_cast<Number>(2147483648.0)) / 1024;
  } else if constexpr (std::is_signed_v<Number>) {
    const std::int64_t centred = static_cast<std::int64_t>(rank) - (std::int64_t{1} << 31);
    return static_cast<Number>(sizeof(Number) == 8 ? centred * (std::int64_t{1} << 32) : centred);
  } else {
    return static_cast<Number>(sizeof(Number) == 8 ? std::uint64_t{rank} << 32 : rank);
  }
}

}  // namespace common
