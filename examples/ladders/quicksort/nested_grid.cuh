// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nested_grid: the state that each kernel of the ladder gets about its grid, and the slot that it
/// acquires before it launches another grid.
///
///     __global__ void work(task mine, nested_grid self) {
///       const traced here(self.trace, __func__);
///       ...
///       nested_grid child;
///       if (self.acquire_slot(child, 1)) {  // else this block does the work or lists it
///         const auto launched = launch(work, {1, 1}, fire_and_forget(), half, child);
///         if (!child.check_launch(launched, __func__)) ...  // the same
///       }
///       self.block_ends();  // the last step of every block, by one thread
///     }
///
/// A grid that a kernel launched occupies its place in the pool of pending launches until all grids
/// below it are complete too (nested completion). Its slot of the quota is therefore kept as long.
/// Each grid counts its running blocks and its incomplete children. At zero it releases its slot
/// and decrements the count of its parent. So there are never more grids in the pool than slots,
/// for any depth and shape of the tree.

#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>

namespace ladder {

using namespace ramify;

/// A grid that is not complete.
struct open_grid {
  unsigned parent;  ///< number of the parent grid
  unsigned open;    ///< running blocks and incomplete children
};

/// The data that all grids of a run share, in device memory.
struct grid_table {
  launch_slots slots;
  open_grid* grids;    ///< indexed by grid number
  unsigned capacity;   ///< length of `grids`
  unsigned numbers;    ///< grid numbers assigned so far
  run_status* status;  ///< the first failed launch, and the number of grids
};

/// The argument that describes a grid to its kernel.
struct nested_grid {
  /// A grid that the host launched has no number, because it occupies no place in the pool.
  static constexpr unsigned no_number = ~0u;

  trace_ticket trace;
  grid_table* table = nullptr;
  unsigned number = no_number;
  unsigned depth = 0;

  /// Acquires a slot for a child of `blocks` blocks. Returns false if none is free. One thread
  /// calls it.
  [[nodiscard]] __device__ bool acquire_slot(nested_grid& child, unsigned blocks) const {
    child = *this;
    ++child.depth;
    if (!table->slots.acquire(*table->status)) {
      atomicAdd(&table->status->spilled, 1ull);
      return false;
    }
    child.number = atomicAdd(&table->numbers, 1u);
    if (child.number >= table->capacity) {
      table->slots.release();
      atomicAdd(&table->status->spilled, 1ull);
      return false;
    }
    table->grids[child.number] = {number, blocks};
    if (number != no_number) atomicAdd(&table->grids[number].open, 1u);
    return true;
  }

  /// Called on the child: returns true if its launch succeeded. Otherwise releases the slot and
  /// records the first error for the host (except that the pool was full, because then the work is
  /// done elsewhere).
  [[nodiscard]] __device__ bool check_launch(const launch_status& launched,
                                             const char* kernel) const {
    if (launched) {
      table->status->count_children(1, depth);
      return true;
    }
    table->status->record_failure(launched.code(), kernel, depth - 1);
    table->grids[number].open = 1;
    block_ends();
    return false;
  }

  /// Marks a block as done. One thread of each block calls it, after all launches of the block.
  __device__ void block_ends() const {
    for (unsigned n = number; n != no_number; n = table->grids[n].parent) {
      if (atomicSub(&table->grids[n].open, 1u) != 1) return;
      table->slots.release();
    }
  }
};

}  // namespace ladder
