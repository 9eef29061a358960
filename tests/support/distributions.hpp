// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs for sorts, made of ranks: numbers in [0, 2^32) that key types then turn into keys.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tests {

enum class distribution {
  uniform,
  sorted,
  reversed,
  organ_pipe,    ///< up, then down again
  all_equal,
  few_distinct,  ///< 16 values
  almost_sorted, ///< one in a hundred elements swapped with another
  median_of_three_killer,  ///< drives median-of-three quicksort to quadratic time (Musser, 1997)
};

[[nodiscard]] std::string_view to_string(distribution);
[[nodiscard]] std::span<const distribution> all_distributions();

/// `n` ranks; the same for the same seed on every machine.
[[nodiscard]] std::vector<std::uint32_t> make_ranks(distribution, std::size_t n,
                                                    std::uint64_t seed);

}  // namespace tests
