// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The lowest rows of the n queens problem: each lane of a warp counts all solutions below one
/// board by a depth-first search without recursion.
///
///     1. Place       Each step places the queen of one row. The lane goes down only if the next
///                    two rows have free squares. The squares of the row that are still to be tried
///                    stay on the lane's stack, in shared memory.
///     2. Base case   A queen in the last row but one that leaves a free square is a solution.
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
  static constexpr unsigned rows = 8;
#else
  static constexpr unsigned rows = max_queens_leaf_rows;
#endif
  /// Entries of a lane's stack. No board with two rows left is pushed.
  static constexpr unsigned stack = rows - 2;
  /// Maximum number of threads of a block.
  static constexpr unsigned threads = 512;
  /// Steps between two checks for lanes without work. With 9 rows of 18 queens, a host simulation
  /// finds 39 % of the lanes busy without sharing, and 75 % with 8 steps.
  static constexpr unsigned steps = 8;
};

/// Returns the maximum number of lowest rows of a board of `n` columns; see queens_lane::falling.
[[nodiscard]] constexpr unsigned queens_rows_limit(unsigned n) { return 33 - n; }

/// The stacks of a block. The words of neighboring lanes are in neighboring banks. Entry i of
/// thread t has the index i * threads + t in each array.
struct queens_stacks {
  using tuning = queens_rows_tuning;
  static constexpr unsigned words = tuning::stack * tuning::threads;
  /// queens_lane::columns, and from bit 27 on the number of bits above the column that was tried
  /// last.
  std::uint32_t columns[words];
  std::uint32_t falling[words];
  std::uint32_t rising[words];
};
static_assert(max_queens <= 27, "bits 27 to 31 of queens_stacks::columns hold a number");

/// The boards that a lane still has to search.
struct queens_lane {
  queens_stacks* stacks;

  // The stack does not overflow, because each board has fewer rows left than the entry under it.
  std::uint32_t* top;    ///< the free entry above the stack, in queens_stacks::columns
  unsigned entries = 0;  ///< of the stack
  unsigned bottom = 0;   ///< number of the lowest entry

  // The current board: masks for the next row.
  std::uint32_t columns = 0;  ///< columns without a queen
  /// Attacked squares; bits beyond the board have no meaning. One more bit, which is shifted with
  /// the others, is bit 31 if two rows are left. So the lane does not count its rows.
  std::uint32_t falling = 0;
  std::uint32_t rising = 0;
  std::uint32_t squares = 0;  ///< free squares to be tried; 0 only if the lane has no work

  // 32 boards of 9 rows have at most 32 * 9! solutions, so 32 bits suffice.
  unsigned solutions = 0;

  __device__ explicit queens_lane(queens_stacks& of_block)
      : stacks(&of_block), top(of_block.columns + threadIdx.x) {}

  /// Sets the current board from the words of an entry of a stack.
  __device__ void unpack(std::uint32_t word, std::uint32_t new_falling, std::uint32_t new_rising) {
    columns = word & ((1u << 27) - 1);
    falling = new_falling;
    rising = new_rising;
    // Squares are tried in the order of their columns.
    squares = columns & ~(falling | rising) & (~0u << (word >> 27));
  }

  /// Tries one square of the current board. The board has at least two rows left. A lane without
  /// work has no columns, and remains so. All paths are the same instructions, some of them
  /// predicated: with branches, a warp would execute nearly all of them, one after another.
  __device__ void place_queen() {
    const std::uint32_t queen = squares & (0 - squares);  // the lowest bit
    const bool others = squares != queen;
    const std::uint32_t child_columns = columns ^ queen;
    const std::uint32_t child_falling = (falling | queen) << 1;
    const std::uint32_t child_rising = (rising | queen) >> 1;
    const bool is_free = (child_columns & ~(child_falling | child_rising)) != 0;
    const bool is_free_below = (child_columns & ~(child_falling << 1 | child_rising >> 1)) != 0;
    // 2. Base case: the last row has one column left.
    const bool to_last = static_cast<std::int32_t>(falling) < 0;
    if (to_last && is_free) ++solutions;
    // 1. Go down one row. The other squares of this row are tried later.
    const bool down = !to_last && is_free && is_free_below;
    const auto tried = 32 - static_cast<std::uint32_t>(__clz(static_cast<int>(queen)));
    const std::uint32_t rest = columns + (tried << 27);
    if (down && others) {
      top[0] = rest;
      top[queens_stacks::words] = falling;
      top[2 * queens_stacks::words] = rising;
      top += queens_rows_tuning::threads;
      ++entries;
    }
    std::uint32_t next_columns = down ? child_columns : others ? rest : 0;
    std::uint32_t next_falling = down ? child_falling : falling;
    std::uint32_t next_rising = down ? child_rising : rising;
    if (!down && !others && entries > 0) {
      top -= queens_rows_tuning::threads;
      --entries;
      next_columns = top[0];
      next_falling = top[queens_stacks::words];
      next_rising = top[2 * queens_stacks::words];
    }
    unpack(next_columns, next_falling, next_rising);
  }

  /// Lanes without work take the oldest entries of other lanes: number i of the `idle` lanes takes
  /// from number i of the lanes that have entries. All `lanes` call it.
  __device__ void share(unsigned lanes, unsigned idle) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned lower_lanes = (1u << lane) - 1;
    const bool has_entries = entries > 0;
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
      const std::uint32_t* const oldest =
          stacks->columns + entry * queens_rows_tuning::threads + threadIdx.x - lane + giver;
      unpack(oldest[0], oldest[queens_stacks::words], oldest[2 * queens_stacks::words]);
      top = stacks->columns + threadIdx.x;
      entries = bottom = 0;
    }
    __syncwarp(lanes);  // the entries are read
    if (has_entries && __popc(givers & lower_lanes) < __popc(idle)) {
      --entries;
      ++bottom;
    }
  }

  /// Searches the boards of all `lanes`, which call it together. The total of all lanes together is
  /// that of all boards; a lane's own total depends on the sharing.
  __device__ void search(unsigned lanes) {
    for (;;) {
      for (unsigned i = 0; i < queens_rows_tuning::steps; ++i) {
        place_queen();
      }
      const unsigned idle = __ballot_sync(lanes, squares == 0);
      if (idle == lanes) return;
      // 3. Share if a quarter of the lanes are idle.
      if (4 * __popc(idle) >= __popc(lanes)) share(lanes, idle);
    }
  }
};

/// Counts the solutions below a board. Called by the lanes of the mask `lanes` together, each with
/// a board of its own, or with free columns 0 if it has none. A board has at least two rows left,
/// and at most queens_rows_tuning::rows and queens_rows_limit(n); it has as many free columns, and
/// `falling` and `rising` have no bits outside the board. The sum over these lanes is exact; a
/// lane's own count depends on the sharing.
[[nodiscard]] __device__ inline unsigned count_lowest_rows(unsigned lanes, std::uint32_t columns,
                                                           std::uint32_t falling,
                                                           std::uint32_t rising,
                                                           queens_stacks& stacks) {
  queens_lane lane(stacks);
  lane.falling = falling | 1u << (33 - __popc(columns)) % 32;
  lane.rising = rising;
  lane.squares = columns & ~(falling | rising);
  lane.columns = lane.squares == 0 ? 0 : columns;
  lane.search(lanes);
  return lane.solutions;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
