// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tasks: what a recursive kernel works on, and where it finds its own.

#include <ramify/runtime/launch.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A list of tasks in device memory that kernels append to. Each task says how many blocks are to
/// work on it (its team), and all the teams' members are numbered through.
///
///     tasks        <-- [A (2 blocks), B (1), C (3)]
///     first_block  <-- [0, 2, 3]
///     member 4 belongs to C, with rank 1
template <class Task>
struct task_list {
  Task* tasks = nullptr;
  unsigned* first_block = nullptr;
  unsigned long long* count_and_blocks = nullptr;  ///< tasks << 32 | blocks
  unsigned capacity = 0;                           ///< in tasks
  unsigned* unfinished = nullptr;                  ///< tasks, if a grid works on the list; else 0

  /// Appends a task; false if there is no room. Any thread.
  __device__ bool push(const Task& task, unsigned blocks) const {
    // One atomic word holds both counts, so first_block rises along the list.
    const unsigned long long before = atomicAdd(count_and_blocks, 1ull << 32 | blocks);
    return put(task, static_cast<unsigned>(before >> 32), static_cast<unsigned>(before));
  }

  /// Appends a task of one block for each lane that has one; false in lanes whose task found no
  /// room. Every thread of a full warp.
  __device__ bool push_by_warp(bool has, const Task& task) const {
    const unsigned lane = threadIdx.x % 32;
    const unsigned who = __ballot_sync(full_warp_mask, has);
    const auto count = static_cast<unsigned>(__popc(static_cast<int>(who)));
    unsigned long long before = 0;
    if (lane == 0 && count > 0) {
      before = atomicAdd(count_and_blocks, 1ull * count << 32 | count);
    }
    before = __shfl_sync(full_warp_mask, before, 0);
    const auto rank = static_cast<unsigned>(__popc(static_cast<int>(who & ((1u << lane) - 1))));
    return !has || put(task, static_cast<unsigned>(before >> 32) + rank,
                       static_cast<unsigned>(before) + rank);
  }

  __device__ unsigned size() const { return static_cast<unsigned>(*count_and_blocks >> 32); }
  __device__ unsigned blocks() const { return static_cast<unsigned>(*count_and_blocks); }

  /// Both counts, as size() and blocks() tell them, while others may append.
  struct counts {
    unsigned size;
    unsigned blocks;
  };
  __device__ counts look() const {
    const unsigned long long now = atomicAdd(count_and_blocks, 0ull);
    return {static_cast<unsigned>(now >> 32), static_cast<unsigned>(now)};
  }

  /// The task, of the first `count`, that member `member` belongs to. While other grids may append,
  /// `count` is what the list held when this grid was launched.
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

/// A block's part in a task.
template <class Task>
struct team_member {
  Task task;
  unsigned rank;  ///< of this block in the task's team
};

/// Whether this is the last of `blocks` times that a block comes here, told to all its threads. What
/// the others wrote before is then visible. `counter` starts at 0 and is 0 again afterwards.
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

/// Where the blocks of a grid find their tasks: all in one, or in a list.
///
///     for (const auto [task, rank] : source.members()) { ... }
///
/// A grid over one task has a block for each member. One over a list may have any number of blocks:
/// each does an equal run of neighbouring members, in turn. A kernel that is written as this loop
/// may therefore run on a coarsened grid, or on one whose size was fixed before the list was made.
template <class Task>
struct task_source {
  Task single{};
  task_list<Task> list{};
  bool from_list = false;

  /// This block's members. Every thread of the block goes through the loop, and a member begins when
  /// all threads have come to it: shared memory is free to be used again, and nobody will look at
  /// the list for it any more. They wait for one another behind the last member, too.
  class work {
   public:
    struct end_of_work {};
    class iterator {
     public:
      __device__ explicit iterator(const task_source& source)
          : list_(source.list), member_{source.single, blockIdx.x} {
        if (!source.from_list) return;
        const unsigned long long counts = *list_.count_and_blocks;  // one look at both
        const auto members = static_cast<unsigned>(counts);
        count_ = static_cast<unsigned>(counts >> 32);
        const unsigned each = members / gridDim.x + (members % gridDim.x != 0 ? 1 : 0);
        number_ = min(blockIdx.x * each, members);
        end_ = min(number_ + each, members);
        // In a list of single blocks nobody needs to search.
        task_ = count_ == members ? number_ : list_.owner_of(number_, count_);
        if (number_ < end_) read();
        __syncthreads();
      }
      __device__ bool operator!=(end_of_work) const { return number_ < end_; }
      __device__ const team_member<Task>& operator*() const { return member_; }
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
      team_member<Task> member_;
      unsigned number_ = 0;  ///< of the member in the list
      unsigned end_ = 1;
      unsigned task_ = 0;   ///< in the list
      unsigned count_ = 0;  ///< of tasks
    };

    __device__ explicit work(const task_source& source) : source_(source) {}
    __device__ iterator begin() const { return iterator(source_); }
    __device__ end_of_work end() const { return {}; }

   private:
    const task_source& source_;
  };
  [[nodiscard]] __device__ work members() const { return work(*this); }

  /// The one member of this block, in a grid with a block for each.
  [[nodiscard]] __device__ team_member<Task> mine() const {
    if (!from_list) return {single, blockIdx.x};
    const unsigned index = list.owner_of(blockIdx.x, list.size());
    return {list.tasks[index], blockIdx.x - list.first_block[index]};
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
