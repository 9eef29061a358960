// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tasks, which are the units of work of a recursive kernel, and the lists that hold them.

#include <ramify/runtime/launch.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A list of tasks in device memory that kernels append to. Each task has a number of members, the
/// blocks that work on it. The members of all tasks are numbered in the order of the list.
///
///     tasks        <-- [A (2 members), B (1), C (3)]
///     first_block  <-- [0, 2, 3]
///     member 4 belongs to C, with rank 1
template <class Task>
struct task_list {
  Task* tasks = nullptr;            ///< the tasks that were appended
  unsigned* first_block = nullptr;  ///< of each task: the number of members of the tasks before it
  unsigned long long* count_and_blocks = nullptr;  ///< tasks << 32 | blocks
  unsigned capacity = 0;                           ///< in tasks
  /// The number of tasks that have ended, plus `begun` while a grid works on the list; else 0.
  unsigned* ended = nullptr;

  static constexpr unsigned begun = 1u << 31;  ///< flag in `ended`: a grid works on the list

  /// Appends a task and returns true, or returns false if the list is full. Any thread may call it.
  __device__ bool push(const Task& task, unsigned blocks) const {
    // One atomic operation changes both counts, so first_block rises along the list.
    const unsigned long long before = atomicAdd(count_and_blocks, 1ull << 32 | blocks);
    return put(task, static_cast<unsigned>(before >> 32), static_cast<unsigned>(before));
  }

  /// Appends a task with one member for each lane that has a task. Returns false in lanes whose
  /// task did not fit. Every thread of a full warp must call it.
  __device__ bool push_by_warp(bool has, const Task& task) const {
    const unsigned lane = threadIdx.x % 32;
    const unsigned lanes_with_task = __ballot_sync(full_warp_mask, has);
    const auto count = static_cast<unsigned>(__popc(lanes_with_task));
    unsigned long long before = 0;
    if (lane == 0 && count > 0) {
      before = atomicAdd(count_and_blocks, 1ull * count << 32 | count);
    }
    before = __shfl_sync(full_warp_mask, before, 0);
    const unsigned rank = lanes_before(lanes_with_task, lane);
    return !has || put(task, static_cast<unsigned>(before >> 32) + rank,
                       static_cast<unsigned>(before) + rank);
  }

  /// Returns the number of tasks.
  __device__ unsigned size() const { return static_cast<unsigned>(*count_and_blocks >> 32); }
  /// Returns the number of members of all tasks.
  __device__ unsigned blocks() const { return static_cast<unsigned>(*count_and_blocks); }

  /// The values of size() and blocks() at one moment, while other threads may append.
  struct counts {
    unsigned size;    ///< number of tasks
    unsigned blocks;  ///< members of all tasks
  };
  /// Reads both counts with one atomic operation.
  __device__ counts load_counts() const {
    const unsigned long long both = atomicAdd(count_and_blocks, 0ull);
    return {static_cast<unsigned>(both >> 32), static_cast<unsigned>(both)};
  }

  /// Returns the index of the task, among the first `count` tasks, that has member `member`. While
  /// other grids may append, `count` must be the size of the list when this grid was launched.
  __device__ unsigned owner_of(unsigned member, unsigned count) const {
    unsigned low = 0;
    unsigned high = count;
    while (high - low > 1) {
      const unsigned middle = low + (high - low) / 2;
      if (first_block[middle] <= member) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  __device__ bool put(const Task& task, unsigned index, unsigned first) const {
    if (index >= capacity) return false;
    tasks[index] = task;
    first_block[index] = first;
    return true;
  }
};

/// A member of a task: one block's part of the work.
template <class Task>
struct task_member {
  Task task;      ///< the task to which the member belongs
  unsigned rank;  ///< of this block among the members of the task
};

/// Returns true, to all threads of the block, in the last of `blocks` blocks to call it. The writes
/// of the other blocks before their calls are then visible. `counter`, in device memory, is 0
/// before the first call and 0 again after the last. Every thread of the block must call it.
__device__ inline bool last_to_arrive(unsigned& counter, unsigned blocks) {
  __threadfence();
  __syncthreads();
  bool last = false;
  if (threadIdx.x == 0) {
    last = atomicAdd(&counter, 1u) == blocks - 1;
    if (last) counter = 0;
    __threadfence();
  }
  // Not by a shared variable: nvlink gives a shared variable of an inline function one address in
  // all kernels of the program, after the shared memory of the kernel that has most.
  return __syncthreads_or(last ? 1 : 0) != 0;
}

/// The tasks of a grid: one task, or a list.
///
///     for (const auto [task, rank] : source.members()) { ... }
///
/// A grid over one task has a block for each member. A grid over a list may have any number of
/// blocks. Each block works on an equal range of consecutive members, one after another. Therefore
/// the grid may be coarsened, and its size may be set before the list is complete.
template <class Task>
struct task_source {
  Task single{};           ///< the task, if not from_list
  task_list<Task> list{};  ///< the tasks, if from_list
  bool from_list = false;  ///< whether the grid runs over a list

  struct end_of_members {};

  /// An iterator over the members of this block. Every thread of the block must iterate. A member
  /// begins when all threads have reached it, so that they may use shared memory again. After the
  /// last member the threads synchronize once more.
  class iterator {
   public:
    /// Finds the first member of this block. Every thread of the block must call it.
    __device__ explicit iterator(const task_source& source)
        : list_(source.list), member_{source.single, blockIdx.x} {
      if (!source.from_list) return;
      unsigned long long counts = *list_.count_and_blocks;  // reads both at once
      // A list that overflowed has no members: its tasks were dropped, and the host throws.
      if (counts >> 32 > list_.capacity) counts = 0;
      const auto members = static_cast<unsigned>(counts);
      count_ = static_cast<unsigned>(counts >> 32);
      const unsigned each = members / gridDim.x + (members % gridDim.x != 0 ? 1 : 0);
      number_ = min(blockIdx.x * each, members);
      end_ = min(number_ + each, members);
      // If each task has one member, a task's index is its member's number.
      task_ = count_ == members ? number_ : list_.owner_of(number_, count_);
      if (number_ < end_) read();
      // The first member belongs to block 0, so this precedes the end of the last task.
      if (blockIdx.x == 0 && threadIdx.x == 0 && members > 0) {
        atomicAdd(list_.ended, task_list<Task>::begun);
      }
      __syncthreads();
    }
    /// Returns whether members are left.
    __device__ bool operator!=(end_of_members) const { return number_ < end_; }
    /// Returns the current member.
    __device__ const task_member<Task>& operator*() const { return member_; }
    /// Goes to the next member. Every thread of the block must call it.
    __device__ iterator& operator++() {
      ++number_;
      if (number_ < end_) {
        while (task_ + 1 < count_ && list_.first_block[task_ + 1] <= number_) ++task_;
        read();
      }
      __syncthreads();
      return *this;
    }

   private:
    __device__ void read() { member_ = {list_.tasks[task_], number_ - list_.first_block[task_]}; }

    const task_list<Task>& list_;
    task_member<Task> member_;
    unsigned number_ = 0;  ///< of the member in the list
    unsigned end_ = 1;
    unsigned task_ = 0;   ///< in the list
    unsigned count_ = 0;  ///< of tasks
  };

  /// Returns the members of this block, for a range-based for loop.
  [[nodiscard]] __device__ const task_source& members() const { return *this; }
  /// Returns the first member of this block.
  [[nodiscard]] __device__ iterator begin() const { return iterator(*this); }
  [[nodiscard]] __device__ end_of_members end() const { return {}; }  ///< Returns the end.
};

}  // namespace ramify::inline RAMIFY_BUILD
