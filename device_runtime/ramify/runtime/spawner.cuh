// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// spawner: turns the child tasks of a kernel into child grids. Tasks that find no launch slot wait
/// in a list.
///
/// | granularity | tasks that share a grid | wait until the launch   | a grid releases its slot |
/// |-------------|-------------------------|-------------------------|--------------------------|
/// | per_task    | none                    |                         | when its task has ended  |
/// | per_block   | what a block spawns     | in a chunk of the block | when its last task has   |
/// | per_grid    | what a grid spawns      | in the list `next`      | when the chain is done   |
///
/// A task that finds no slot waits in `next`. On the flat route there are no slots, so every task
/// does. A grid runs over the list later (recursion.cuh). A spawner<Task, false> puts every task
/// into `next` and contains no launches, as a graph's loop requires of its kernels.

#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The part of a task list that changes while kernels run.
struct list_head {
  unsigned long long count_and_blocks;  ///< as in task_list
  unsigned ended;                       ///< as in task_list
};

/// Memory for the lists that blocks gather, in chunks of one size.
///
/// A block takes a chunk and does not return it. When all grids that were launched before are
/// complete, all chunks are free again (recursion.cuh). So no block writes to a chunk that a
/// running or pending grid still reads. A task that finds no chunk waits in `next`.
template <class Task>
struct chunk_pool {
  Task* tasks = nullptr;            ///< of all chunks
  unsigned* first_block = nullptr;  ///< of the tasks of all chunks
  list_head* heads = nullptr;       ///< one for each chunk
  unsigned* taken = nullptr;        ///< chunks that blocks have taken
  unsigned chunk_size = 0;          ///< in tasks
  unsigned chunks = 0;              ///< number of chunks

  static constexpr unsigned none = ~0u;  ///< the index of no chunk

  /// Returns the index of an empty chunk, or none. One thread calls it.
  [[nodiscard]] __device__ unsigned take() const {
    if (chunks == 0) return none;
    const unsigned i = atomicAdd(taken, 1u);
    if (i >= chunks) return none;
    heads[i] = {};
    return i;
  }

  /// Returns the list in chunk i.
  [[nodiscard]] __device__ task_list<Task> list(unsigned i) const {
    const std::size_t first = std::size_t{i} * chunk_size;
    return {tasks + first, first_block + first, &heads[i].count_and_blocks, chunk_size,
            &heads[i].ended};
  }
};

/// A kernel spawns tasks with it, and reports when a task and when a block has ended:
///
///     for (const auto [task, rank] : source.members()) {
///       ...
///       if (threadIdx.x == 0) spawn(kernel, child, blocks_of_child, context, __func__);
///       if (threadIdx.x == 0 && this was the task's last block) spawn.task_ends();
///     }
///     if (threadIdx.x == 0) spawn.block_ends(kernel, source, context, __func__);
///
/// `name` is the calling kernel's __func__, for error messages. A recursion makes the spawner and
/// passes it to the kernel.
template <class Task, bool can_launch = true>
struct spawner : detail::chain_link {
  /// The type of a kernel that spawns tasks.
  template <class Context>
  using task_kernel = void (*)(task_source<Task>, spawner, Context);

  task_list<Task> next;         ///< tasks that found no launch slot
  unsigned threads;             ///< of a block, for the children as for their parent
  unsigned dynamic_shared;      ///< bytes of a block, for the children as for their parent
  child_streams streams;        ///< the kind of stream that children are launched into
  launch_granularity launches;  ///< which tasks share a child grid
  chunk_pool<Task> pool;        ///< chunks for the lists of blocks
  unsigned depth = 0;           ///< of this grid
  unsigned gathered = chunk_pool<Task>::none;  ///< this block's chunk; thread 0 alone reads it
  unsigned ended_here = 0;  ///< tasks that ended in this block; thread 0 alone reads it

  /// Returns the spawner for a kernel without launches.
  [[nodiscard]] __host__ __device__ spawner<Task, false> without_launches() const {
    return {*this, next, threads, dynamic_shared, streams, launches, pool};
  }

  /// Returns whether a task of that size runs in the block that created it.
  [[nodiscard]] __host__ __device__ bool too_small(unsigned long long size) const {
    return size < launches.threshold;
  }

  /// Returns the number of blocks of a grid over `members` members.
  [[nodiscard]] __host__ __device__ unsigned blocks_for(unsigned members) const {
    return members / launches.coarsening + (members % launches.coarsening != 0 ? 1 : 0);
  }

  /// Spawns `kernel` over `task`, which gets `blocks` members. Thread 0 calls it.
  template <class Context>
  __device__ void operator()(task_kernel<Context> kernel, const Task& task, unsigned blocks,
                             const Context& context, const char* name) {
    if constexpr (can_launch) {
      switch (launches.grain) {
        case granularity::per_task:
          if (launch_child(kernel, blocks, {task}, context, name)) return;
          count_spilled(1);
          break;
        case granularity::per_block:
          if (reserve(1, kernel, context, name) && pool.list(gathered).push(task, blocks)) return;
          count_spilled(1);
          break;
        case granularity::per_grid: break;
      }
    }
    count_dropped(next.push(task, blocks));
  }

  /// Spawns a task of one block for each thread that has one. The block must have full warps, and
  /// all its threads must call it. A chunk must hold a task for each thread:
  /// Context::max_children.
  template <class Context>
  __device__ void by_block(task_kernel<Context> kernel, bool has, const Task& task,
                           const Context& context, const char* name) {
    if constexpr (!can_launch) {
      count_dropped(next.push_by_warp(has, task));
      return;
    }
    if (launches.grain == granularity::per_task) {
      has = has && !launch_child(kernel, 1, {task}, context, name);
      if (has) count_spilled(1);
      count_dropped(next.push_by_warp(has, task));
      return;
    }
    __shared__ unsigned chunk;
    const bool gathers = launches.grain == granularity::per_block;
    if (threadIdx.x == 0) {
      chunk =
          gathers && reserve(blockDim.x, kernel, context, name) ? gathered : chunk_pool<Task>::none;
    }
    __syncthreads();
    const bool found = chunk != chunk_pool<Task>::none;
    if (has && gathers && !found) count_spilled(1);
    count_dropped((found ? pool.list(chunk) : next).push_by_warp(has, task));
    __threadfence();  // thread 0 will launch
    __syncthreads();
  }

  /// Reports that a task has ended. Thread 0 of one member of the task.
  __device__ void task_ends() { ++ended_here; }

  /// Reports that this block has ended. Thread 0 of every block, with its kernel and its source.
  template <class Context>
  __device__ void block_ends(task_kernel<Context> kernel, const task_source<Task>& source,
                             const Context& context, const char* name) {
    // 1. The tasks that the block has gathered become a grid.
    if constexpr (can_launch) launch_gathered(kernel, context, name);
    // 2. If the last task of the grid has ended, all members are complete. Then the grid's slot and
    //    its list are free.
    if (ended_here == 0) return;
    if (source.from_list) {
      // Read before this block's tasks count as ended: after the end of the last task, another
      // block clears the list, and grids that it launches may fill it again.
      const unsigned tasks = source.list.size();
      __threadfence();
      const unsigned before = atomicAdd(source.list.ended, ended_here);
      if (before + ended_here != task_list<Task>::begun + tasks) return;
      __threadfence();
      *source.list.count_and_blocks = 0;
      *source.list.ended = 0;
      if constexpr (!can_launch) status->count_level(++progress->rounds);
    }
    if constexpr (can_launch) {
      if (on_slot) slots.release();
      // 3. The tasks that the grid has spawned become a grid.
      if (launches.grain == granularity::per_grid) launch_next(kernel, source, context, name);
    }
  }

 private:
  [[nodiscard]] __device__ spawner child(bool releases_slot) const {
    spawner s = *this;
    s.depth = depth + 1;
    s.on_slot = releases_slot;
    s.gathered = chunk_pool<Task>::none;
    s.ended_here = 0;
    return s;
  }

  __device__ void count_spilled(unsigned tasks) const {
    if (slots.in_use != nullptr) {
      atomicAdd(&status->spilled, static_cast<unsigned long long>(tasks));
    }
  }

  __device__ void count_dropped(bool fits) const {
    if (!fits) atomicAdd(&status->dropped, 1ull);
  }

  /// Launches a grid on a slot that was taken. Returns false, with nothing changed, if that fails.
  template <class Context>
  __device__ bool launch_on_slot(task_kernel<Context> kernel, unsigned blocks,
                                 const task_source<Task>& source, const spawner& child,
                                 const Context& context, const char* name) const {
    const device_stream stream(streams);
    const auto launched =
        launch(kernel, {blocks, threads, dynamic_shared}, stream.get(), source, child, context);
    if (launched) {
      status->count_children(1, depth + 1);
      return true;
    }
    status->record_failure(launched.code(), name, depth);
    return false;
  }

  /// Takes a slot and launches one of several grids that this grid may launch.
  ///
  /// A grid keeps its place in the pending-launch pool until all grids nested in it are complete. A
  /// bushy tree of grids has about as many unfinished inner grids as running ones, and the quota is
  /// half of the pool, so each grid may release its slot at its end. A tree that may be thin and
  /// deep keeps all slots until the driver runs.
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

  /// Returns whether this block's chunk can hold `count` more tasks. Launches a full chunk first.
  template <class Context>
  __device__ bool reserve(unsigned count, task_kernel<Context> kernel, const Context& context,
                          const char* name) {
    if (slots.allowed == 0 || count > pool.chunk_size) return false;
    if (gathered != pool.none &&
        pool.list(gathered).load_counts().size + count <= pool.chunk_size) {
      return true;
    }
    launch_gathered(kernel, context, name);
    gathered = pool.take();
    return gathered != pool.none;
  }

  /// Launches a grid over this block's chunk. Without a slot its tasks go to `next`.
  template <class Context>
  __device__ void launch_gathered(task_kernel<Context> kernel, const Context& context,
                                  const char* name) {
    if (gathered == pool.none) return;
    const task_list<Task> list = pool.list(gathered);
    gathered = pool.none;
    const auto [tasks, members] = list.load_counts();
    if (tasks == 0) return;
    if (launch_child(kernel, blocks_for(members), {{}, list, true}, context, name)) return;
    count_spilled(tasks);
    for (unsigned i = 0; i < tasks; ++i) {
      const unsigned end = i + 1 < tasks ? list.first_block[i + 1] : members;
      count_dropped(next.push(list.tasks[i], end - list.first_block[i]));
    }
  }

  /// Launches a grid over `next`. This grid's own list, which is empty now, becomes the child's
  /// `next`: there is only one grid at a time. Without a slot the list waits.
  ///
  /// The chain keeps the slot: nested grids occupy the pool one after another.
  template <class Context>
  __device__ void launch_next(task_kernel<Context> kernel, const task_source<Task>& source,
                              const Context& context, const char* name) const {
    const auto [tasks, members] = next.load_counts();
    if (tasks == 0 || tasks > next.capacity) return;
    if (!slots.acquire(*status)) {
      count_spilled(tasks);
      return;
    }
    ++progress->held;
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
