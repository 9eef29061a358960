// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// recursion: runs a kernel over a task, and over all the tasks that this spawns, on either route.
///
/// device   The host launches the first grid; grids launch their children, each over one task or
///          over many (launch_granularity). Tasks that found no slot wait in a list, and a drain
///          kernel behind the first grid in the stream runs them: it is asynchronous, and its loop
///          is a tail launch, the only join that a kernel has. Where the drain finds no slot either,
///          finish() runs the list from the host.
/// flat     The host launches one grid for each level's list and reads the next level's size back.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/spawner.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// What changes of a run's memory, apart from the tasks; zeros at first.
struct list_heads {
  list_head list[2];
  run_progress progress;
};

/// Two lists: while a grid works on one, tasks are spawned into the other. The grid empties its own
/// when its last task has ended; so of two lists that are not in use at most one has tasks.
template <class Task>
struct task_lists {
  task_list<Task> list[2];
  list_heads* heads;
};

/// Runs the list that has tasks on a grid and then, when all that comes of it is complete, looks
/// again. One thread.
template <class Task, class Context>
__global__ void drain(task_lists<Task> lists, spawner<Task> spawn, Context context) {
  const traced here(spawn.trace, __func__);
  // 1. All that was launched is complete. The slots that were kept until now are free; so are all
  //    chunks.
  run_progress& progress = *spawn.progress;
  if (progress.held > 0) spawn.slots.release(progress.held);
  progress.held = 0;
  progress.chunks_taken = 0;
  // 2. Base case: nothing was spilled, or something went wrong and the host must tell.
  const unsigned filled = lists.list[0].size() != 0 ? 0 : 1;
  const task_list<Task> list = lists.list[filled];
  if (list.size() == 0 || *list.unfinished != 0) return;
  if (spawn.status->dropped > 0 || progress.stopped != 0) return;
  // 3. Are there slots for a grid over the list, and for the next drain? If not, or if a launch
  //    fails, the list stays as it is and the host runs it.
  constexpr unsigned slots = 2;
  if (!spawn.slots.acquire(*spawn.status, slots)) return;
  progress.held = slots;
  progress.depth += 1;
  spawn.depth = progress.depth;
  // 4. Recurse. Join: a tail launch begins when this grid and all that is nested in it is complete.
  const auto again = launch(drain<Task, Context>, {1, 1}, tail_launch(), lists, spawn, context);
  if (!again) {
    spawn.slots.release(slots);
    progress.held = 0;
    progress.stopped = 1;
    spawn.status->record_failure(again.code(), __func__, spawn.depth);
    return;
  }
  // 5. Run the list.
  spawn.next = lists.list[1 - filled];
  *list.unfinished = list.size();
  const auto launched = launch(
      Context::kernel(), {spawn.blocks_for(list.blocks()), spawn.threads, spawn.dynamic_shared},
      fire_and_forget(), task_source<Task>{{}, list, true}, spawn, context);
  spawn.status->count_children(launched ? 2 : 1, spawn.depth);
  if (!launched) {
    *list.unfinished = 0;
    progress.stopped = 1;
    spawn.status->record_failure(launched.code(), __func__, spawn.depth);
  }
}

/// One run of a kernel(task_source<Task>, spawner<Task>, Context) over a root task. Context is what
/// all its grids share. Context::kernel() names the kernel, and Context::max_children says how many tasks one
/// block spawns for one task or member at most, so that those of a block find room side by side;
/// for by_block() that is its threads. Context::may_be_thin says whether a long path of tasks may have
/// few others beside it; then no grid gives its slot back before the next drain.
///
/// The kernel goes through its tasks with source.members(), spawns with the spawner, and has one
/// thread say spawn.task_ends() for each task that is done, and spawn.block_ends() at the end of
/// each block. All grids have the same block size.
template <class Task, class Context>
class recursion {
 public:
  /// Device memory for a run, in bytes. `capacity` is how many tasks may wait at a time: on the
  /// flat route, and if a grid's tasks share one, the largest level; on the device route, where
  /// tasks of several levels that found no slot wait together, the most tasks of which none descends
  /// from another. If a block's tasks share a grid, there is room for four times as many besides.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t capacity,
                                                 const launch_granularity& launches = {}) {
    memory_layout sizing(nullptr);
    lay_out(sizing, capacity);
    lay_out_pool(sizing, capacity, launches);
    return sizing.size();
  }

  /// Prepares a run. `scratch` is device memory of scratch_bytes(capacity, launches), aligned to 256
  /// bytes; it and `control` must stay until finish() has returned.
  /// \throws std::invalid_argument if `capacity` is not in [1, 2^32 - 1], or for bad `launches`
  recursion(void* scratch, std::size_t capacity, run_control& control, unsigned threads,
            unsigned dynamic_shared, child_streams streams, const Context& context,
            const launch_granularity& launches = {})
      : control_(&control), context_(context) {
    if (capacity == 0 || capacity > std::numeric_limits<unsigned>::max()) {
      throw std::invalid_argument("recursion: capacity " + std::to_string(capacity) +
                                  " is not in [1, 2^32 - 1]");
    }
    validate(launches, "recursion: launches");
    memory_layout memory(scratch);
    lists_ = lay_out(memory, capacity);
    const auto pool = lay_out_pool(memory, capacity, launches);
    spawn_ = {lists_.list[0],         control.slots(), control.status(), threads,
              dynamic_shared,         streams,         launches,         pool,
              &lists_.heads->progress};
    spawn_.trace = control.ticket();
  }

  /// Puts the run into the control's stream. Asynchronous on the device route; on the flat route it
  /// returns when the run is complete.
  /// \throws cuda_error, std::length_error, and std::logic_error if a task never said task_ends()
  void start(const Task& root, unsigned blocks) {
    check(cudaMemsetAsync(lists_.heads, 0, sizeof(list_heads), control_->stream()),
          "clearing the task lists");
    // The first grid has no list; the one that it does not spawn into is its children's to fill.
    control_->launched(
        launch(Context::kernel(), {blocks, spawn_.threads, spawn_.dynamic_shared},
               control_->stream(), task_source<Task>{root, lists_.list[1]}, spawn_, context_),
        "launching the first grid");
    if (!control_->on_device_route()) {
      run_levels();
    } else if constexpr (device_launch_available) {
      control_->launched(
          launch(drain<Task, Context>, {1, 1}, control_->stream(), lists_, spawn_, context_),
          "launching the drain");
    }
  }

  /// Waits for the run. Tasks that the drain could not launch run here, in flat grids.
  /// \throws cuda_error, device_launch_error, std::length_error, std::logic_error
  void finish() {
    if (control_->on_device_route()) run_levels();
    control_->wait();
  }

 private:
  static task_lists<Task> lay_out(memory_layout& memory, std::size_t capacity) {
    task_lists<Task> lists;
    lists.heads = memory.take<list_heads>(1);
    for (unsigned i = 0; i < 2; ++i) {
      lists.list[i].tasks = memory.take<Task>(capacity);
      lists.list[i].first_block = memory.take<unsigned>(capacity);
      lists.list[i].capacity = static_cast<unsigned>(capacity);
      if (lists.heads == nullptr) continue;  // only sizing
      lists.list[i].count_and_blocks = &lists.heads->list[i].count_and_blocks;
      lists.list[i].unfinished = &lists.heads->list[i].unfinished;
    }
    return lists;
  }

  static chunk_pool<Task> lay_out_pool(memory_layout& memory, std::size_t capacity,
                                       const launch_granularity& launches) {
    chunk_pool<Task> pool;
    if (launches.grain != granularity::per_block) return pool;
    pool.chunk_size = Context::max_children * launches.coarsening;
    // A block takes a chunk whole and seldom fills it.
    constexpr std::size_t tasks_a_place = 4;
    const std::size_t most = std::numeric_limits<unsigned>::max() - 1;
    pool.chunks =
        static_cast<unsigned>(std::min(tasks_a_place * capacity / pool.chunk_size + 1, most));
    pool.tasks = memory.take<Task>(std::size_t{pool.chunks} * pool.chunk_size);
    pool.first_block = memory.take<unsigned>(std::size_t{pool.chunks} * pool.chunk_size);
    pool.heads = memory.take<list_head>(pool.chunks);
    return pool;
  }

  /// Runs what is in the lists, level by level, in grids that launch nothing.
  void run_levels() {
    const cudaStream_t stream = control_->stream();
    spawner<Task> flat = spawn_;
    flat.slots.allowed = 0;
    flat.streams = child_streams::fire_and_forget;  // no stream is made for what is not launched
    for (;;) {
      list_heads heads{};
      check(cudaMemcpyAsync(&heads, lists_.heads, sizeof heads, cudaMemcpyDeviceToHost, stream),
            "reading the size of the next level");
      control_->wait();  // a dropped task ends the run before a list with a gap is worked on
      const unsigned filled = heads.list[0].count_and_blocks != 0 ? 0 : 1;
      const list_head& head = heads.list[filled];
      if (head.count_and_blocks == 0) return;
      if (head.unfinished != 0) {
        throw std::logic_error("recursion: a grid is complete, and " +
                               std::to_string(head.unfinished) +
                               " of its tasks never said task_ends()");
      }
      const unsigned level = control_->report().deepest_level + 1;

      flat.next = lists_.list[1 - filled];
      flat.depth = level;
      const auto members = static_cast<unsigned>(head.count_and_blocks);
      const auto tasks = static_cast<unsigned>(head.count_and_blocks >> 32);
      check(cudaMemcpyAsync(lists_.list[filled].unfinished, &tasks, sizeof tasks,
                            cudaMemcpyHostToDevice, stream),
            "writing the size of a level");
      control_->launched(
          launch(Context::kernel(), {flat.blocks_for(members), flat.threads, flat.dynamic_shared},
                 stream, task_source<Task>{{}, lists_.list[filled], true}, flat, context_),
          "launching a level", level);
    }
  }

  run_control* control_;
  task_lists<Task> lists_;
  spawner<Task> spawn_;
  Context context_;
};

}  // namespace ramify::inline RAMIFY_BUILD
