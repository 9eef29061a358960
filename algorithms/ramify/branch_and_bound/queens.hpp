// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The n queens problem: in how many ways can n queens stand on a board of n rows so that none
/// attacks another? Plain C++.

#include <array>
#include <cstdint>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>
#include <span>

namespace ramify::inline RAMIFY_ABI {

/// The maximum number of queens.
inline constexpr unsigned max_queens = 27;

/// The maximum of queens_options::leaf_rows.
inline constexpr unsigned max_queens_leaf_rows = 9;

/// Returns the default of queens_options::leaf_rows for `n` queens on a GPU. On an H200 leaves save
/// time from 18 queens on. With fewer queens they delay the first warps, for which all others wait.
[[nodiscard]] constexpr unsigned automatic_queens_leaf_rows(unsigned n) {
  return n < 18 ? 0 : max_queens_leaf_rows;
}

/// Counts of a search that places one queen in each row.
struct queens_counts {
  std::uint64_t solutions;  ///< all solutions; images by symmetry count, too
  /// Boards that the traversal visited: the empty board, the boards with the presets (only with
  /// queens_options::symmetry), and a board for each further queen that no other queen attacks.
  /// Boards below leaves are not counted. The number is the same in each run.
  std::uint64_t nodes;

  /// Compares all members.
  friend constexpr bool operator==(const queens_counts&, const queens_counts&) = default;
};

/// Checks a number of queens. \throws std::invalid_argument naming the range
inline void validate_queens(unsigned n) {
  detail::check_field(n >= 1 && n <= max_queens, "n", n, "in [1, 27]");
}

/// Returns the published numbers of solutions (OEIS A000170) for 0, 1, 2, ... queens.
[[nodiscard]] inline std::span<const std::uint64_t> published_queens() {
  static constexpr std::array<std::uint64_t, 22> solutions{1,
                                                           1,
                                                           0,
                                                           0,
                                                           2,
                                                           10,
                                                           4,
                                                           40,
                                                           92,
                                                           352,
                                                           724,
                                                           2'680,
                                                           14'200,
                                                           73'712,
                                                           365'596,
                                                           2'279'184,
                                                           14'772'512,
                                                           95'815'104,
                                                           666'090'624,
                                                           4'968'057'848,
                                                           39'029'188'884,
                                                           314'666'222'712};
  return solutions;
}

}  // namespace ramify::inline RAMIFY_ABI
