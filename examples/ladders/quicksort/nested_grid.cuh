// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nested_grid: what every kernel of a ladder knows of its grid, and asks before it launches another one.
///
///     __global__ void work(task mine, nested_grid me) {
///       const traced here(me.trace, __func__);
///       ...
///       nested_grid child;
///       if (me.find_room(child, 1)) {  // else the work is done here, or waits in a list
///         const auto launched = launch(work, {1, 1}, fire_and_forget(), half, child);
///         if (!child.is_launched(launched, __func__)) ...  // the same
///       }
///       me.block_ends();  // the last step of every block, by one thread
///     }
///
/// A grid that a kernel launched keeps its place in the pool of pending launches until all grids below it
/// are complete too (nested completion). Its slot of the quota is therefore kept as long: each grid counts
/// its blocks that run and its children that are not complete, and at zero the slot is given back, and the
/// parent told. So there are never more grids in the pool than slots, however deep and thin the tree is.

#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>

namespace ladder {

using namespace ramify;

/// A grid that is not complete.
struct open_grid {
  unsigned parent;  ///< its number
  unsigned open;    ///< its blocks that have not ended, and its children that are not complete
};

/// What all grids of a run share. In device memory.
struct grid_book {
  launch_slots slots;
  open_grid* grids;   ///< by number
  unsigned capacity;  ///< of `grids`
  unsigned numbers;   ///< given to grids so far
  run_status status;  ///< the first failed launch, and how many grids there were
};

/// A kernel's argument.
struct nested_grid {
  /// What the host launched has no number: it has no place in the pool.
  static constexpr unsigned no_number = ~0u;

  trace_ticket trace;
  grid_book* book = nullptr;
  unsigned number = no_number;
  unsigned depth = 0;

  /// Takes a slot for a child of `blocks` blocks; false if none is free. One thread.
  [[nodiscard]] __device__ bool find_room(nested_grid& child, unsigned blocks) const {
    child = *this;
    ++child.depth;
    if (!book->slots.acquire(book->status)) {
      atomicAdd(&book->status.spilled, 1ull);
      return false;
    }
    child.number = atomicAdd(&book->numbers, 1u);
    if (child.number >= book->capacity) {
      book->slots.release();
      atomicAdd(&book->status.spilled, 1ull);
      return false;
    }
    book->grids[child.number] = {number, blocks};
    if (number != no_number) atomicAdd(&book->grids[number].open, 1u);
    return true;
  }

  /// For the child: whether its launch went well. If not, the slot is given back, and the first error of
  /// all is kept for the host (but not that the pool was empty: then the work is done elsewhere).
  [[nodiscard]] __device__ bool is_launched(const launch_status& launched,
                                            const char* kernel) const {
    if (launched) {
      book->status.count_children(1, depth);
      return true;
    }
    book->status.record_failure(launched.code(), kernel, depth - 1);
    book->grids[number].open = 1;
    block_ends();
    return false;
  }

  /// A block has nothing more to do. One thread of each block, after all that the block launched.
  __device__ void block_ends() const {
    for (unsigned n = number; n != no_number; n = book->grids[n].parent) {
      if (atomicSub(&book->grids[n].open, 1u) != 1) return;
      book->slots.release();
    }
  }
};

}  // namespace ladder
