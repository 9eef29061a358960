// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The n queens problem for traverse(): backtracking, which is a search without bounds. Each level
/// of the tree places the queen of one row. All solutions are counted, also mirrored ones.

#include <cstdint>
#include <ramify/branch_and_bound/queens.hpp>
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
  std::uint32_t all;  ///< a bit for each column

  [[nodiscard]] __device__ std::uint32_t free(const queens_node& n) const {
    return all & ~(n.columns | n.falling | n.rising);
  }
  [[nodiscard]] __device__ unsigned degree(const queens_node& n) const {
    return static_cast<unsigned>(__popc(free(n)));
  }
  [[nodiscard]] __device__ queens_node child(const queens_node& n, unsigned i) const {
    std::uint32_t squares = free(n);
    for (; i > 0; --i) squares &= squares - 1;  // clears the lowest bit
    const std::uint32_t queen = squares & (0 - squares);
    return {n.columns | queen, (n.falling | queen) << 1, (n.rising | queen) >> 1};
  }
};

/// Counts one board.
struct queens_visit {
  std::uint32_t all;

  [[nodiscard]] __device__ queens_counts operator()(const queens_node& n, unsigned) const {
    return {n.columns == all ? std::uint64_t{1} : 0, 1};
  }
};

struct add_queens {
  [[nodiscard]] __device__ queens_counts operator()(const queens_counts& a,
                                                    const queens_counts& b) const {
    return {a.solutions + b.solutions, a.nodes + b.nodes};
  }
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
