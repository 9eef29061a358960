// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The n queens problem for traverse(): backtracking, which is a search without bounds. Each level
/// of the tree places the queen of one row. The lowest rows are no levels of the tree: a board with
/// few rows left is a leaf, whose visit counts all solutions below it (queens_rows.cuh).

#include <algorithm>
#include <cstdint>
#include <ramify/branch_and_bound/queens.hpp>
#include <ramify/branch_and_bound/queens_rows.cuh>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// A board: the squares of the next row that the queens above attack, one bit for each column.
struct queens_node {
  std::uint32_t columns;
  std::uint32_t falling;  ///< by diagonals that go to higher columns
  std::uint32_t rising;
};

/// Child i places the queen on the i-th free square of the next row.
struct queens_expand {
  std::uint32_t all;           ///< a bit for each column
  std::uint32_t first_row;     ///< the squares to be tried in the first row
  std::uint32_t middle;        ///< the middle column if the second row under it is halved, else 0
  std::uint32_t under_middle;  ///< the squares to be tried in this second row
  int leaf_rows;               ///< a board with at most so many rows left is a leaf

  /// With `symmetry`, of two boards that are mirror images only one is visited: the first queen
  /// stands in the lower half of the columns. If it stands in the middle column of an odd board,
  /// the second queen stands in the lower half.
  queens_expand(unsigned n, bool symmetry, unsigned rows)
      : all((std::uint32_t{1} << n) - 1),
        first_row(symmetry ? all >> n / 2 : all),
        middle(symmetry && n % 2 == 1 ? std::uint32_t{1} << n / 2 : 0),
        under_middle(middle == 0 ? all : middle - 1),
        // The first two rows are always levels of the tree. A leaf has at least three rows.
        leaf_rows(n < 5 ? 0 : static_cast<int>(std::min(rows, n - 2))) {}

  [[nodiscard]] __device__ std::uint32_t free(const queens_node& n) const {
    std::uint32_t squares = all & ~(n.columns | n.falling | n.rising);
    if (n.columns == 0) squares &= first_row;
    if (n.columns == middle) squares &= under_middle;
    return squares;
  }
  [[nodiscard]] __device__ bool is_leaf(const queens_node& n) const {
    constexpr int most = queens_rows_tuning::rows;
    return __popc(all & ~n.columns) <= (leaf_rows < most ? leaf_rows : most);
  }
  [[nodiscard]] __device__ unsigned degree(const queens_node& n) const {
    return is_leaf(n) ? 0 : static_cast<unsigned>(__popc(free(n)));
  }
  [[nodiscard]] __device__ queens_node child(const queens_node& n, unsigned i) const {
    std::uint32_t squares = free(n);
    for (; i > 0; --i) squares &= squares - 1;  // clears the lowest bit
    const std::uint32_t queen = squares & (0 - squares);
    return {n.columns | queen, (n.falling | queen) << 1, (n.rising | queen) >> 1};
  }
};

/// Counts a board, and all boards below a leaf. The lanes of a warp that visit leaves together
/// share their work.
struct queens_visit {
  using shared_memory = queens_stacks;
  queens_expand tree;

  [[nodiscard]] __device__ queens_counts operator()(const queens_node& n, unsigned,
                                                    queens_stacks& stacks) const {
    queens_counts counts{n.columns == tree.all ? std::uint64_t{1} : 0, 1};
    if (tree.leaf_rows > 0 && tree.is_leaf(n)) {
      const auto below =
          count_lowest_rows(__activemask(), tree.all & ~n.columns, n.falling, n.rising, stacks);
      counts.solutions += below.solutions;
      counts.nodes += below.nodes;
    }
    return counts;
  }
};

struct add_queens {
  [[nodiscard]] __device__ queens_counts operator()(const queens_counts& a,
                                                    const queens_counts& b) const {
    return {a.solutions + b.solutions, a.nodes + b.nodes};
  }
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
