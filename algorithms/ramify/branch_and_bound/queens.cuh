// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Counts the solutions of the n queens problem by traverse(): backtracking, a search without
/// bounds. Each level of the tree places the queen of one row. With symmetry, the nodes of the
/// first level are the boards with presets (queens_symmetry.hpp), and later levels skip the rows
/// that have a preset queen. A board with few rows left is a leaf: its visit counts all solutions
/// below it (queens_rows.cuh).

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ramify/branch_and_bound/queens.hpp>
#include <ramify/branch_and_bound/queens_rows.cuh>
#include <ramify/branch_and_bound/queens_symmetry.hpp>
#include <ramify/runtime/cuda.hpp>
#include <vector>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// A board, whose rows are filled from the top. Preset queens may be in any row, and the masks have
/// the diagonals of all queens. A diagonal may enter the board only in a lower row; until then its
/// bit is outside the columns. So the masks have 64 bits.
struct queens_node {
  /// The position of column 0 in `falling`.
  static constexpr unsigned margin = max_queens;
  static constexpr unsigned weight_shift = max_queens + 1;

  /// Squares of the next row to fill that are attacked on diagonals which go to higher columns.
  /// Column c has bit `margin` + c.
  std::uint64_t falling;
  /// Squares of the next row to fill that are attacked on diagonals which go to lower columns.
  std::uint64_t rising;
  std::uint32_t columns;  ///< columns without a queen
  /// The lower bits are the rows without a queen; bit 0 is the next row to fill. The weight begins
  /// at bit `weight_shift`.
  std::uint32_t rows_and_weight;

  /// Returns the number of images of the board's preset; 0 for the root of all presets.
  [[nodiscard]] __host__ __device__ unsigned weight() const {
    return rows_and_weight >> weight_shift;
  }
  /// Returns the rows without a queen; bit 0 is the next row to fill.
  [[nodiscard]] __host__ __device__ std::uint32_t rows() const {
    return rows_and_weight & ((std::uint32_t{1} << weight_shift) - 1);
  }
};

/// Returns the board without queens, of weight 1.
[[nodiscard]] inline queens_node empty_queens_board(unsigned n) {
  const std::uint32_t all = (std::uint32_t{1} << n) - 1;
  return {0, 0, all, all | std::uint32_t{1} << queens_node::weight_shift};
}

/// Returns the board with the queens of a preset. Its weight is the number of images.
[[nodiscard]] inline queens_node queens_board(unsigned n, const queens_preset& preset) {
  const std::uint32_t all = (std::uint32_t{1} << n) - 1;
  std::uint32_t rows = all;
  queens_node board{0, 0, all, 0};
  for (const queens_square& queen : preset.queens) {
    rows &= ~(std::uint32_t{1} << queen.row);
    board.columns &= ~(std::uint32_t{1} << queen.column);
  }
  if (rows != 0) {
    const int first = std::countr_zero(rows);
    rows >>= first;
    const auto mark = [](std::uint64_t& mask, int bit) {
      if (bit >= 0 && bit < 64) mask |= std::uint64_t{1} << bit;
    };
    for (const queens_square& queen : preset.queens) {
      const int down = first - static_cast<int>(queen.row);
      const auto column = static_cast<int>(queen.column);
      mark(board.falling, static_cast<int>(queens_node::margin) + column + down);
      mark(board.rising, column - down);
    }
  }
  board.rows_and_weight = rows | preset.images << queens_node::weight_shift;
  return board;
}

/// Returns the boards with the presets of `n` queens, one of each set of images.
[[nodiscard]] inline std::vector<queens_node> queens_boards_with_presets(unsigned n) {
  std::vector<queens_node> boards;
  for (const queens_preset& preset : canonical_queens_presets(n)) {
    boards.push_back(queens_board(n, preset));
  }
  return boards;
}

/// With symmetry, child i of the root is the board with preset i. Child i of any other board places
/// a queen on the i-th free square of the next row.
struct queens_expand {
  /// With symmetry, the root has a child for each preset, so early rounds have enough nodes. With
  /// early donations 15 queens took 25 % longer, 16 queens 11 % (H200).
  static constexpr bool donates_late = true;

  const queens_node* boards;  ///< the boards with presets
  unsigned board_count;
  std::uint32_t all;           ///< a bit for each column
  std::uint32_t largest_leaf;  ///< the rows of the largest leaf, one bit each; 0: no leaves

  /// Boards of at most `leaf_rows` rows are leaves. The boards with presets must outlive the
  /// traversal.
  queens_expand(unsigned n, const queens_node* boards_with_presets, std::size_t count,
                unsigned leaf_rows)
      : boards(boards_with_presets),
        board_count(static_cast<unsigned>(count)),
        all((std::uint32_t{1} << n) - 1),
        // The two first rows are always levels of the tree, so that there is work to share.
        largest_leaf((1u << std::min({leaf_rows, n < 2 ? 0 : n - 2, queens_rows_limit(n)})) - 1) {}

  /// Returns the squares of the next row that no queen attacks.
  [[nodiscard]] __device__ std::uint32_t free(const queens_node& n) const {
    const auto falling = static_cast<std::uint32_t>(n.falling >> queens_node::margin);
    return n.columns & ~(falling | static_cast<std::uint32_t>(n.rising));
  }
  /// Returns whether the visit of a board counts all solutions below it. Such a board has at least
  /// three rows left, which are consecutive. They are below the center. Preset queens stand next to
  /// the center, so all diagonals of lower preset queens have already entered the board.
  [[nodiscard]] __device__ bool is_leaf(const queens_node& n) const {
    constexpr std::uint32_t most = (1u << queens_rows_tuning::rows) - 1;
    const std::uint32_t rows = n.rows();
    return rows >= 7 && rows <= (largest_leaf < most ? largest_leaf : most) &&
           (rows & (rows + 1)) == 0;
  }
  [[nodiscard]] __device__ unsigned degree(const queens_node& n) const {
    if (n.weight() == 0) return board_count;
    return is_leaf(n) ? 0 : static_cast<unsigned>(__popc(free(n)));
  }
  [[nodiscard]] __device__ queens_node child(const queens_node& n, unsigned i) const {
    if (n.weight() == 0) return boards[i];
    std::uint32_t squares = free(n);
    for (; i > 0; --i) squares &= squares - 1;  // clears the lowest bit
    const std::uint32_t queen = squares & (0 - squares);
    // The distance to the next row without a queen; 0 if there is none.
    const std::uint32_t rows = n.rows();
    const int down = __ffs(static_cast<int>(rows >> 1));
    return {(n.falling | static_cast<std::uint64_t>(queen) << queens_node::margin) << down,
            (n.rising | queen) >> down, n.columns ^ queen,
            (down == 0 ? 0 : rows >> down) | n.weight() << queens_node::weight_shift};
  }
};

/// Counts a board. If the board is a leaf, it also counts the solutions below it. Lanes of a warp
/// that visit leaves at the same time share the work.
struct queens_visit {
  using shared_memory = queens_stacks;
  queens_expand tree;

  [[nodiscard]] __device__ queens_counts operator()(const queens_node& n, unsigned,
                                                    queens_stacks& stacks) const {
    queens_counts counts{n.columns == 0 ? n.weight() : 0, 1};
    if (tree.largest_leaf > 0 && tree.is_leaf(n)) counts.solutions = count_leaf(n, stacks);
    return counts;
  }

 private:
  /// Searches the leaves of all lanes that call it together. Boards of one weight are searched
  /// together: almost all boards have the weight 8.
  [[nodiscard]] __device__ std::uint64_t count_leaf(const queens_node& n,
                                                    queens_stacks& stacks) const {
    const unsigned lanes = __activemask();
    const auto falling = static_cast<std::uint32_t>(n.falling >> queens_node::margin) & tree.all;
    const auto rising = static_cast<std::uint32_t>(n.rising) & tree.all;
    std::uint64_t solutions = 0;
    for (unsigned left = lanes; left != 0;) {
      const int first = __ffs(static_cast<int>(left)) - 1;
      const unsigned weight = __shfl_sync(lanes, n.weight(), first);
      const bool searched = n.weight() == weight;
      solutions += std::uint64_t{weight} *
                   count_lowest_rows(lanes, searched ? n.columns : 0, falling, rising, stacks);
      left &= ~__ballot_sync(lanes, searched);
    }
    return solutions;
  }
};

/// Adds the counts of two subtrees.
struct add_queens {
  [[nodiscard]] __device__ queens_counts operator()(const queens_counts& a,
                                                    const queens_counts& b) const {
    return {a.solutions + b.solutions, a.nodes + b.nodes};
  }
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
