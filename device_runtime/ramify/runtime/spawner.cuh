// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How a kernel's child tasks become child grids, or wait in a list; none is lost.
///
/// | granularity | tasks that share a grid | wait until launched         | a grid's slot is given back |
/// |-------------|-------------------------|-----------------------------|-----------------------------|
/// | per_task    | none                    |                             | when its task has ended     |
/// | per_block   | what a block spawns     | in a chunk of the block's   | when its last task has      |
/// | per_grid    | what a grid spawns      | in the list `next`          | when the chain is complete  |
///
/// What finds no slot waits in `next`, and so does everything on the flat route, where there are no
/// slots. A flat grid runs over it later.

#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What changes of a task list while kernels run.
struct list_head {
  unsigned long long count_and_blocks;
  unsigned unfinished;
};

/// What the grids of a run share; zeros at first.
struct run_progress {
  unsigned held;          ///< slots that the next drain gives back
  unsigned depth;         ///< of the last grid over a list
  unsigned stopped;       ///< a launch failed: the host goes on
  unsigned chunks_taken;  ///< of the pool
};

/// Room for the lists that blocks gather, in chunks of one size.
///
/// A chunk is given out once and never again, until a drain gives them all back. It begins when all
/// that was launched before is complete, so no chunk is written to that a running or a pending grid
/// still reads. The pool bounds how many tasks share grids between two drains, and not the run: what
/// finds no chunk waits for the next drain.
template <class Task>
struct chunk_pool {
  Task* tasks = nullptr;
  unsigned* first_block = nullptr;
  list_head* heads = nullptr;
  unsigned chunk_size = 0;  ///< in tasks
  unsigned chunks = 0;

  static constexpr unsigned none = ~0u;

  /// The number of an empty chunk, or none. One thread.
  [[nodiscard]] __device__ unsigned take(run_progress& progress) const {
    if (chunks == 0) return none;
    const unsigned i = atomicAdd(&progress.chunks_taken, 1u);
    if (i >= chunks) return none;
    heads[i] = {};
    return i;
  }

  [[nodiscard]] __device__ task_list<Task> list(unsigned i) const {
    const std::size_t first = std::size_t{i} * chunk_size;
    return {tasks + first, first_block + first, &heads[i].count_and_blocks, chunk_size,
            &heads[i].unfinished};
  }
};

/// A kernel spawns with it, and tells it when a task and when a block has ended:
///
///     for (const auto [task, rank] : source.members()) {
///       ...
///       if (threadIdx.x == 0) spawn(kernel, child, blocks_of_child, context, __func__);
///       if (threadIdx.x == 0 && this was the task's last block) spawn.task_ends();
///     }
///     if (threadIdx.x == 0) spawn.block_ends(kernel, source, context, __func__);
///
/// `name` is the calling kernel's __func__, for error messages.
template <class Task>
struct spawner {
  template <class Context>
  using task_kernel = void (*)(task_source<Task>, spawner, Context);

  task_list<Task> next;
  launch_slots slots;
  run_status* status;
  unsigned threads;         ///< a block, for the children as for their parent
  unsigned dynamic_shared;  ///< bytes a block, likewise
  child_streams streams;    ///< what children are launched into, each into one of its own
  launch_granularity launches;
  chunk_pool<Task> pool;
  run_progress* progress;
  unsigned depth = 0;       ///< of this grid
  bool holds_slot = false;  ///< this grid was launched on a slot and gives it back
  unsigned gathered = chunk_pool<Task>::none;  ///< this block's chunk; thread 0's to know
  unsigned ended_here = 0;                     ///< tasks that ended in this block; likewise
  trace_ticket trace{};                        ///< of this grid

  /// Whether a task of that size is finished by who made it.
  [[nodiscard]] __host__ __device__ bool too_small(unsigned long long size) const {
    return size < launches.threshold;
  }

  /// How many blocks a grid over `members` has.
  [[nodiscard]] __host__ __device__ unsigned blocks_for(unsigned members) const {
    return members / launches.coarsening + (members % launches.coarsening != 0 ? 1 : 0);
  }

  /// Spawns `kernel` over `task` with `blocks` blocks. By thread 0.
  template <class Context>
  __device__ void operator()(task_kernel<Context> kernel, const Task& task, unsigned blocks,
                             const Context& context, const char* name) {
    switch (launches.grain) {
      case granularity::per_task:
        if (launch_child(kernel, blocks, {task}, context, name)) return;
        count_spilled(1);
        break;
      case granularity::per_block:
        if (make_room(1, kernel, context, name) && pool.list(gathered).push(task, blocks)) return;
        count_spilled(1);
        break;
      case granularity::per_grid: break;
    }
    count_dropped(next.push(task, blocks));
  }

  /// The same for all threads of a block, of full warps: each spawns a task of one block, if it has
  /// one. A block's list must have room for a task a thread: Context::max_children.
  template <class Context>
  __device__ void by_block(task_kernel<Context> kernel, bool has, const Task& task,
                           const Context& context, const char* name) {
    if (launches.grain == granularity::per_task) {
      has = has && !launch_child(kernel, 1, {task}, context, name);
      if (has) count_spilled(1);
      count_dropped(next.push_by_warp(has, task));
      return;
    }
    __shared__ unsigned chunk;
    const bool gathers = launches.grain == granularity::per_block;
    if (threadIdx.x == 0) {
      chunk = gathers && make_room(blockDim.x, kernel, context, name) ? gathered
                                                                      : chunk_pool<Task>::none;
    }
    __syncthreads();
    const bool found = chunk != chunk_pool<Task>::none;
    if (has && gathers && !found) count_spilled(1);
    count_dropped((found ? pool.list(chunk) : next).push_by_warp(has, task));
    __threadfence();  // thread 0 will launch
    __syncthreads();
  }

  /// A task that this block belongs to has ended. By thread 0, of one block of its team.
  __device__ void task_ends() { ++ended_here; }

  /// This block has nothing left to do. By thread 0 of every block, with its kernel and its source.
  template <class Context>
  __device__ void block_ends(task_kernel<Context> kernel, const task_source<Task>& source,
                             const Context& context, const char* name) {
    // 1. What the block has gathered becomes a grid.
    launch_gathered(kernel, context, name);
    // 2. Has the last task of the grid ended? Then its slot and its list are free: all members of
    //    all tasks have been worked on.
    if (ended_here == 0) return;
    if (source.from_list) {
      __threadfence();
      if (atomicSub(source.list.unfinished, ended_here) != ended_here) return;
      __threadfence();
      *source.list.count_and_blocks = 0;
    }
    if (holds_slot) slots.release();
    // 3. What the grid has spawned becomes a grid.
    if (launches.grain == granularity::per_grid) launch_next(kernel, source, context, name);
  }

 private:
  [[nodiscard]] __device__ spawner child(bool gives_slot_back) const {
    spawner s = *this;
    s.depth = depth + 1;
    s.holds_slot = gives_slot_back;
    s.gathered = chunk_pool<Task>::none;
    s.ended_here = 0;
    return s;
  }

  __device__ void count_spilled(unsigned tasks) const {
    if (slots.in_use != nullptr) {
      atomicAdd(&status->spilled, static_cast<unsigned long long>(tasks));
    }
  }

  __device__ void count_dropped(bool found_room) const {
    if (!found_room) atomicAdd(&status->dropped, 1ull);
  }

  /// Launches a grid for which a slot was taken; if that fails, nothing has happened.
  template <class Context>
  __device__ bool launch_on_slot(task_kernel<Context> kernel, unsigned blocks,
                                 const task_source<Task>& source, const spawner& child,
                                 const Context& context, const char* name) const {
    if (source.from_list) *source.list.unfinished = source.list.look().size;
    const device_stream stream(streams);
    const auto launched =
        launch(kernel, {blocks, threads, dynamic_shared}, stream.get(), source, child, context);
    if (launched) {
      status->count_children(1, depth + 1);
      return true;
    }
    if (source.from_list) *source.list.unfinished = 0;
    status->record_failure(launched.code(), name, depth);
    return false;
  }

  /// The same for one of several grids that this grid may launch: takes the slot, too.
  ///
  /// A grid has its place in the pending-launch pool until all that is nested in it is complete. A
  /// bushy tree of grids has about as many unfinished inner grids as running ones, and slots for
  /// half of the pool; so a grid may give its slot back at its end. Of a tree that may be thin and
  /// deep, all slots stay taken until the next drain.
  template <class Context>
  __device__ bool launch_child(task_kernel<Context> kernel, unsigned blocks,
                               const task_source<Task>& source, const Context& context,
                               const char* name) const {
    if (!slots.acquire(*status)) return false;
    if (!launch_on_slot(kernel, blocks, source, child(!Context::may_be_thin), context, name)) {
      slots.release();
      return false;
    }
    if (Context::may_be_thin) atomicAdd(&progress->held, 1u);
    return true;
  }

  /// Whether this block's chunk has room for `count` more tasks; a full one is launched.
  template <class Context>
  __device__ bool make_room(unsigned count, task_kernel<Context> kernel, const Context& context,
                            const char* name) {
    if (slots.allowed == 0 || count > pool.chunk_size) return false;
    if (gathered != pool.none && pool.list(gathered).look().size + count <= pool.chunk_size) {
      return true;
    }
    launch_gathered(kernel, context, name);
    gathered = pool.take(*progress);
    return gathered != pool.none;
  }

  /// Launches a grid over this block's chunk. Without a slot its tasks go to `next`.
  template <class Context>
  __device__ void launch_gathered(task_kernel<Context> kernel, const Context& context,
                                  const char* name) {
    if (gathered == pool.none) return;
    const task_list<Task> list = pool.list(gathered);
    gathered = pool.none;
    const auto [tasks, members] = list.look();
    if (tasks == 0) return;
    if (launch_child(kernel, blocks_for(members), {{}, list, true}, context, name)) return;
    count_spilled(tasks);
    for (unsigned i = 0; i < tasks; ++i) {
      const unsigned end = i + 1 < tasks ? list.first_block[i + 1] : members;
      count_dropped(next.push(list.tasks[i], end - list.first_block[i]));
    }
  }

  /// Launches a grid over `next`, and what this grid came from becomes the child's `next`: there is
  /// only one grid at a time, and it is done with its list. Without a slot the list waits.
  ///
  /// The slot is kept: a chain of nested grids uses the pool up link by link.
  template <class Context>
  __device__ void launch_next(task_kernel<Context> kernel, const task_source<Task>& source,
                              const Context& context, const char* name) const {
    const auto [tasks, members] = next.look();
    if (tasks == 0 || tasks > next.capacity) return;
    if (!slots.acquire(*status)) {
      count_spilled(tasks);
      return;
    }
    ++progress->held;
    progress->depth = depth + 1;
    spawner over_next = child(false);
    over_next.next = source.list;
    if (launch_on_slot(kernel, blocks_for(members), {{}, next, true}, over_next, context, name)) {
      return;
    }
    --progress->held;
    slots.release();
    count_spilled(tasks);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
