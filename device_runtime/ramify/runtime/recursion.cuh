// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// recursion: runs a kernel over a task, and over all the tasks that this spawns, on either route.
///
/// device   The host launches the first grid; grids launch their children. Tasks that found no slot
///          wait in a list, and a drain kernel behind the first grid in the stream runs them: it is
///          asynchronous, and its loop is a tail launch, the only join that a kernel has. Where the
///          drain finds no slot either, finish() runs the list from the host.
/// flat     The host launches one grid for each level's list and reads the next level's size back.

#include <cstddef>
#include <limits>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/tasks.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// What the host reads back between two levels.
struct list_heads {
  unsigned long long count_and_blocks[2];  ///< of either list
  unsigned taken[2];  ///< a grid works on the list, so its entries are nobody else's any more
};

/// Two lists: while a grid works on one, tasks are spawned into the other.
template <class Task>
struct task_lists {
  task_list<Task> list[2];
  list_heads* heads;
};

/// Runs the list `filled` on a grid of its own and then, when all that comes of it is complete,
/// looks at the other list. One thread. `held` slots were taken for this launch and the last one.
template <class Task, class Context>
__global__ void drain(task_lists<Task> lists, unsigned filled, unsigned held, spawner<Task> spawn,
                      Context context) {
  // 1. If a grid worked on the other list, it is complete: the list is free again.
  if (held > 0) spawn.slots.release(held);
  const unsigned other = 1 - filled;
  if (lists.heads->taken[other] != 0) {
    lists.heads->count_and_blocks[other] = 0;
    lists.heads->taken[other] = 0;
  }
  // 2. Base case: nothing was spilled, or something was lost and the host must tell.
  const task_list<Task> list = lists.list[filled];
  if (list.size() == 0 || spawn.status->dropped > 0) return;
  // 3. Run the list, if there are slots for its grid and for the next drain. Else, and if a launch
  //    fails, it stays as it is and the host runs it.
  constexpr unsigned slots = 2;
  if (!spawn.slots.acquire(*spawn.status, slots)) return;
  spawn.next = lists.list[other];
  spawn.depth += 1;
  const auto launched =
      launch(Context::kernel(), {list.blocks(), spawn.threads, spawn.dynamic_shared},
             fire_and_forget(), task_source<Task>{{}, list, true}, spawn, context);
  if (!launched) {
    spawn.slots.release(slots);
    spawn.status->record_failure(launched.code(), __func__, spawn.depth);
    return;
  }
  lists.heads->taken[filled] = 1;
  spawn.status->count_children(1, spawn.depth);
  // 4. Recurse. Join: a tail launch begins when the grid above and everything below it is complete.
  const auto again =
      launch(drain<Task, Context>, {1, 1}, tail_launch(), lists, other, slots, spawn, context);
  if (again) {
    spawn.status->count_children(1, spawn.depth);
  } else {
    spawn.slots.release(slots);
    spawn.status->record_failure(again.code(), __func__, spawn.depth);
  }
}

/// One run of a kernel(task_source<Task>, spawner<Task>, Context) over a root task. Context is what
/// all its grids share, and Context::kernel() names it.
///
/// The kernel finds its task with source.mine(), spawns with the spawner, and has one thread call
/// spawner.grid_ends() when the last block of a task is done. All grids have the same block size.
template <class Task, class Context>
class recursion {
 public:
  /// Device memory for a run, in bytes. `capacity` is how many tasks may wait at a time: on the
  /// flat route the largest level; on the device route, where tasks of several levels that found no
  /// slot wait together, the most tasks of which none descends from another.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t capacity) {
    memory_layout sizing(nullptr);
    lay_out(sizing, capacity);
    return sizing.size();
  }

  /// Prepares a run. `scratch` is device memory of scratch_bytes(capacity), aligned to 256 bytes;
  /// it and `control` must stay until finish() has returned. \throws std::invalid_argument if
  /// `capacity` is not in [1, 2^32 - 1]
  recursion(void* scratch, std::size_t capacity, run_control& control, unsigned threads,
            unsigned dynamic_shared, child_streams streams, const Context& context)
      : control_(&control), context_(context) {
    if (capacity == 0 || capacity > std::numeric_limits<unsigned>::max()) {
      throw std::invalid_argument("recursion: capacity " + std::to_string(capacity) +
                                  " is not in [1, 2^32 - 1]");
    }
    memory_layout memory(scratch);
    lists_ = lay_out(memory, capacity);
    spawn_ = {lists_.list[0], control.slots(), control.status(), threads, dynamic_shared, streams};
  }

  /// Puts the run into the control's stream. Asynchronous on the device route; on the flat route it
  /// returns when the run is complete.
  /// \throws cuda_error, std::length_error
  void start(const Task& root, unsigned blocks) {
    check(cudaMemsetAsync(lists_.heads, 0, sizeof(list_heads), control_->stream()),
          "clearing the task lists");
    control_->launched(launch(Context::kernel(), {blocks, spawn_.threads, spawn_.dynamic_shared},
                              control_->stream(), task_source<Task>{root}, spawn_, context_),
                       "launching the first grid");
    if (!control_->on_device_route()) {
      run_levels();
    } else if constexpr (device_launch_available) {
      control_->launched(launch(drain<Task, Context>, {1, 1}, control_->stream(), lists_, 0u, 0u,
                                spawn_, context_),
                         "launching the drain");
    }
  }

  /// Waits for the run. Tasks that the drain could not launch run here, in flat grids.
  /// \throws cuda_error, device_launch_error, std::length_error
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
      // The address is needed before the memory: it is null only while sizing.
      lists.list[i].count_and_blocks =
          lists.heads == nullptr ? nullptr : &lists.heads->count_and_blocks[i];
    }
    return lists;
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
      const auto open = [&](unsigned i) {
        return heads.count_and_blocks[i] != 0 && heads.taken[i] == 0;
      };
      if (!open(0) && !open(1)) return;
      const unsigned level = control_->report().deepest_level + 1;

      // Only one list is open: the other was emptied by the last round, or its grid is complete.
      const unsigned filled = open(0) ? 0 : 1;
      const unsigned other = 1 - filled;
      check(cudaMemsetAsync(&lists_.heads->count_and_blocks[other], 0, sizeof(unsigned long long),
                            stream),
            "clearing a task list");
      check(cudaMemsetAsync(lists_.heads->taken, 0, sizeof(list_heads::taken), stream),
            "clearing a task list");
      flat.next = lists_.list[other];
      flat.depth = level;
      const auto blocks = static_cast<unsigned>(heads.count_and_blocks[filled]);
      control_->launched(
          launch(Context::kernel(), {blocks, flat.threads, flat.dynamic_shared}, stream,
                 task_source<Task>{{}, lists_.list[filled], true}, flat, context_),
          "launching a level", level);
      check(cudaMemsetAsync(&lists_.heads->count_and_blocks[filled], 0, sizeof(unsigned long long),
                            stream),
            "clearing a task list");
    }
  }

  run_control* control_;
  task_lists<Task> lists_;
  spawner<Task> spawn_;
  Context context_;
};

}  // namespace ramify::inline RAMIFY_BUILD
