// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The lowest rows of the n queens problem: each lane of a warp counts all solutions below one
/// board by a depth-first search without recursion.
///
///     1. Base case   Two rows are left: bit operations count the ways to fill them.
///     2. Place       Each step places the queen of one row. The squares of the row that are still
///                    to be tried stay on the lane's stack, in shared memory.
///     3. Share       The searches have very different lengths. After every few steps, lanes
///                    without work take the oldest boards, which have the most rows left, from
///                    other lanes.
///
/// A row is a bit mask of its columns, so a few instructions handle all squares of a row.

#include <cstdint>
#include <ramify/branch_and_bound/queens.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The compile-time sizes of the search of the lowest rows.
struct queens_rows_tuning {
  /// Maximum number of rows. On sm_75 a block has at most 64 KB of shared memory, for these stacks
  /// and those of the traversal.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr unsigned rows = 9;
#else
  static constexpr unsigned rows = max_queens_leaf_rows;
#endif
  /// Entries of a lane's stack. No board with three rows left is pushed.
  static constexpr unsigned stack = rows - 3;
  /// Maximum number of threads of a block.
  static constexpr unsigned threads = 512;
  /// Steps between two checks for lanes without work. With 10 rows, a host simulation of 18 queens
  /// finds 44 % of the lanes busy without sharing, 81 % with 16 steps and 86 % with 8.
  static constexpr unsigned steps = 8;
};

/// The stacks of a block. The words of neighboring lanes are in neighboring banks.
struct queens_stacks {
  using tuning = queens_rows_tuning;
  /// queens_lane::columns, and from bit 27 on the column that was tried last.
  std::uint32_t columns[tuning::stack][tuning::threads];
  std::uint32_t falling[tuning::stack][tuning::threads];
  std::uint32_t rising[tuning::stack][tuning::threads];
};
static_assert(max_queens <= 27, "bits 27 to 31 of queens_stacks::columns hold a column");

/// The boards that a lane still has to search.
struct queens_lane {
  queens_stacks* stacks;

  // The current board: masks for the next row.
  std::uint32_t columns = 0;  ///< columns without a queen
  std::uint32_t falling = 0;  ///< attacked squares; bits beyond the board have no meaning
  std::uint32_t rising = 0;
  std::uint32_t squares = 0;  ///< free squares to be tried; 0 only if the lane has no work
  std::uint32_t below = 0;    ///< free squares one row lower, if this row had no queen

  // The stack has the entries `bottom` to `top` - 1. Entry i has at most tuning::rows - i rows
  // left, because each board has fewer rows left than the entry under it.
  unsigned bottom = 0;
  unsigned top = 0;

  // 32 boards of 10 rows have at most 32 * 10! * e boards below them, so 32 bits suffice.
  unsigned solutions = 0;
  unsigned boards = 0;

  /// Sets the current board, of which the squares in `untried` are to be searched.
  __device__ void load(std::uint32_t free_columns, std::uint32_t attacked_falling,
                       std::uint32_t attacked_rising, std::uint32_t untried) {
    columns = free_columns;
    falling = attacked_falling;
    rising = attacked_rising;
    squares = columns & ~(falling | rising) & untried;
    below = columns & ~(falling << 1 | rising >> 1);
  }
  /// Loads entry `i` of the stack of a thread of this block.
  __device__ void load_entry(unsigned i, unsigned thread) {
    const std::uint32_t word = stacks->columns[i][thread];
    // Squares are tried in the order of their columns.
    load(word & ((1u << 27) - 1), stacks->falling[i][thread], stacks->rising[i][thread],
         ~1u << (word >> 27));
  }
  /// Pushes the current board, on which `queen` was tried last.
  __device__ void push(std::uint32_t queen) {
    const auto column = static_cast<unsigned>(31 - __clz(static_cast<int>(queen)));
    stacks->columns[top][threadIdx.x] = columns | column << 27;
    stacks->falling[top][threadIdx.x] = falling;
    stacks->rising[top][threadIdx.x] = rising;
    ++top;
  }

  /// Tries one square of the current board. Requires that the board has one and at least three rows
  /// left.
  __device__ void place_queen() {
    const std::uint32_t queen = squares & (0 - squares);  // the lowest bit
    squares ^= queen;
    const std::uint32_t child_squares = below & ~(queen | queen << 1 | queen >> 1);
    if (child_squares != 0) {
      boards += static_cast<unsigned>(__popc(child_squares));
      const std::uint32_t child_columns = columns ^ queen;
      const std::uint32_t child_falling = (falling | queen) << 1;
      const std::uint32_t child_rising = (rising | queen) >> 1;
      const std::uint32_t child_below = child_columns & ~(child_falling << 1 | child_rising >> 1);
      if (__popc(child_columns) == 2) {
        // 1. Base case: all pairs of squares in different columns. Neighboring columns are on a
        //    diagonal.
        if ((child_columns & child_columns << 1) == 0) {
          const int pairs =
              __popc(child_squares) * __popc(child_below) - __popc(child_squares & child_below);
          solutions += static_cast<unsigned>(pairs);
          boards += static_cast<unsigned>(pairs);
        }
      } else if (child_below != 0) {
        // 2. Go down one row. The other squares of this row are tried later.
        if (squares != 0) push(queen);
        columns = child_columns;
        falling = child_falling;
        rising = child_rising;
        squares = child_squares;
        below = child_below;
        return;
      }
    }
    if (squares == 0 && top > bottom) load_entry(--top, threadIdx.x);
  }

  /// Lanes without work take the oldest entries of other lanes: number i of the `idle` lanes takes
  /// from number i of the lanes that have entries. All `lanes` call it.
  __device__ void share(unsigned lanes, unsigned idle) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned lower_lanes = (1u << lane) - 1;
    const bool has_entries = top > bottom;
    const unsigned givers = __ballot_sync(lanes, has_entries);
    const int rank = __popc(idle & lower_lanes);
    const bool takes = squares == 0 && rank < __popc(givers);
    unsigned giver = lane;
    if (takes) {
      unsigned others = givers;
      for (int i = rank; i > 0; --i) others &= others - 1;  // clears the lowest bit
      giver = static_cast<unsigned>(__ffs(static_cast<int>(others)) - 1);
    }
    const unsigned entry = __shfl_sync(lanes, bottom, static_cast<int>(giver));
    __syncwarp(lanes);  // the entries are written
    if (takes) {
      load_entry(entry, threadIdx.x - lane + giver);
      bottom = top = 0;
    }
    __syncwarp(lanes);  // the entries are read
    if (has_entries && __popc(givers & lower_lanes) < __popc(idle)) ++bottom;
  }

  /// Searches the boards of all `lanes`, which call it together. The totals of all lanes together
  /// are those of all boards; a lane's own totals depend on the sharing.
  __device__ void search(unsigned lanes) {
    for (;;) {
      for (unsigned i = 0; i < queens_rows_tuning::steps; ++i) {
        if (squares != 0) place_queen();
      }
      const unsigned idle = __ballot_sync(lanes, squares == 0);
      if (idle == lanes) return;
      // 3. Share if a quarter of the lanes are idle.
      if (4 * __popc(idle) >= __popc(lanes)) share(lanes, idle);
    }
  }
};

/// Counts the solutions below a board, and the boards below it. Called by the lanes of the mask
/// `lanes` together, each with a board of its own that has 3 to queens_rows_tuning::rows rows left,
/// or without free columns if it has no board. The sums over these lanes are exact; a lane's own
/// counts depend on the sharing.
[[nodiscard]] __device__ inline queens_counts count_lowest_rows(unsigned lanes,
                                                                std::uint32_t columns,
                                                                std::uint32_t falling,
                                                                std::uint32_t rising,
                                                                queens_stacks& stacks) {
  queens_lane lane{&stacks};
  lane.load(columns, falling, rising, ~0u);
  lane.boards = static_cast<unsigned>(__popc(lane.squares));
  lane.search(lanes);
  return {lane.solutions, lane.boards};
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
