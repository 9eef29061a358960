// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tasks: what a recursive kernel works on, where it finds its own, and how it spawns more.

#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A list of tasks in device memory that kernels append to. Each task says how many blocks are to
/// work on it (its team), and a grid over the list has one block for each member of each team.
///
///     tasks        <-- [A (2 blocks), B (1), C (3)]
///     first_block  <-- [0, 2, 3]
///     block 4 of the grid belongs to C, with rank 1
template <class Task>
struct task_list {
  Task* tasks = nullptr;
  unsigned* first_block = nullptr;
  unsigned long long* count_and_blocks = nullptr;  ///< tasks << 32 | blocks
  unsigned capacity = 0;                           ///< in tasks

  /// Appends a task; false if there is no room. Any thread.
  __device__ bool push(const Task& task, unsigned blocks) const {
    // One atomic word holds both counts, so first_block rises along the list.
    const unsigned long long before = atomicAdd(count_and_blocks, 1ull << 32 | blocks);
    const auto index = static_cast<unsigned>(before >> 32);
    if (index >= capacity) return false;
    tasks[index] = task;
    first_block[index] = static_cast<unsigned>(before);
    return true;
  }

  __device__ unsigned size() const { return static_cast<unsigned>(*count_and_blocks >> 32); }
  __device__ unsigned blocks() const { return static_cast<unsigned>(*count_and_blocks); }

  /// The task, of the first `count`, that block `block` of a grid over the list belongs to. While
  /// other grids may append, `count` is what the list held when this grid was launched.
  __device__ unsigned owner_of(unsigned block, unsigned count) const {
    unsigned low = 0;
    unsigned high = count;
    while (high - low > 1) {
      const unsigned middle = low + (high - low) / 2;
      if (first_block[middle] <= block) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// A block's part in a task.
template <class Task>
struct team_member {
  Task task;
  unsigned rank;  ///< of this block in the task's team
};

/// Whether this block is the last of `blocks` to come here, told to all its threads. What the
/// others wrote before is then visible. `counter` starts at 0 and is 0 again afterwards.
__device__ inline bool last_to_arrive(unsigned& counter, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&counter, 1u) == blocks - 1;
    if (last) counter = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Where the blocks of a grid find their tasks: all in one, or each in a list.
template <class Task>
struct task_source {
  Task single{};
  task_list<Task> list{};
  bool from_list = false;

  [[nodiscard]] __device__ team_member<Task> mine() const {
    if (!from_list) return {single, blockIdx.x};
    const unsigned index = list.owner_of(blockIdx.x, list.size());
    return {list.tasks[index], blockIdx.x - list.first_block[index]};
  }
};

/// Turns a kernel's child tasks into child grids or into entries of a list, and loses none.
///
/// On the device route a task becomes a grid of its own if a launch slot is free. Whatever finds no
/// slot, and every task on the flat route, where there are no slots, goes to the list `next`, over
/// which a flat grid runs later.
template <class Task>
struct spawner {
  task_list<Task> next;
  launch_slots slots;
  run_status* status;
  unsigned threads;         ///< a block, for the children as for their parent
  unsigned dynamic_shared;  ///< bytes a block, likewise
  child_streams streams;    ///< what a kernel makes its streams for children of
  unsigned depth = 0;       ///< of this grid
  bool holds_slot = false;  ///< this grid was launched on a slot

  /// Spawns `kernel` over `task` with `blocks` blocks. By one elected thread.
  /// `name` is the calling kernel's __func__, for error messages.
  template <class Context>
  __device__ void operator()(void (*kernel)(task_source<Task>, spawner, Context), const Task& task,
                             unsigned blocks, cudaStream_t stream, const Context& context,
                             const char* name) const {
    if (slots.acquire(*status)) {
      const auto launched = launch(kernel, {blocks, threads, dynamic_shared}, stream,
                                   task_source<Task>{task}, child(), context);
      if (launched) {
        status->count_children(1, depth + 1);
        return;
      }
      slots.release();
      status->record_failure(launched.code(), name, depth);
    }
    if (slots.in_use != nullptr) atomicAdd(&status->spilled, 1ull);
    if (!next.push(task, blocks)) atomicAdd(&status->dropped, 1ull);
  }

  /// To be called by one thread when nothing is left to do for this grid: gives its slot back.
  __device__ void grid_ends() const {
    if (holds_slot) slots.release();
  }

 private:
  [[nodiscard]] __device__ spawner child() const {
    spawner s = *this;
    s.depth = depth + 1;
    s.holds_slot = true;
    return s;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
