// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the rungs have in common besides the tree: launch slots, the lists in which tasks wait that found
/// none, and the rounds in which the host goes on with those.
///
///     if (run.take_slot() && run.launched(launch(kernel, shape, stream, task, run.below()), __func__)) {
///       ...         // the child grid does the task
///     } else {
///       run.put_off(task);  // it waits until all that was launched is complete
///     }
///
/// A slot is kept until everything is complete, and there are slots for half of the pending launch pool, of
/// a small one for a sixteenth. So the pool never runs dry, whatever the tree looks like, and no task is lost.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>

#include "tree.hpp"

namespace ladder {

using namespace ramify;

/// What the kernels of a run change together. Starts as zeros.
struct run_state {
  unsigned long long nodes;  ///< that were counted
  unsigned waiting[2];       ///< tasks in either list; of two lists one is empty when nothing runs
  unsigned gathered;         ///< nodes in the pool; of rung 8, shares
  unsigned arrived;          ///< blocks of the running grid that are done
  unsigned taken;  ///< nodes of the running round's list, or shares, that blocks have come for
  unsigned idle;   ///< blocks that have nothing left to do
  unsigned busy;   ///< shares that are not finished
};

/// Several nodes of the pool, one after another: a task for more than one block.
struct segment {
  unsigned first;
  unsigned count;
};

/// A kernel's view of the run; every grid has a copy of its own.
struct tree_run {
  run_state* state;
  run_status* status;
  launch_slots slots;
  node* list[2];           ///< a place for every node of the tree: no list is ever full
  node* pool;              ///< likewise
  unsigned capacity;       ///< of each
  unsigned most_blocks;    ///< that the device runs at a time
  unsigned filled = 0;     ///< the list that this grid takes its tasks from, if it does
  bool from_list = false;  ///< the host launched this grid over a list
  unsigned depth = 0;      ///< of this grid
  trace_ticket trace{};

  /// What the children of this grid get.
  [[nodiscard]] __device__ tree_run below() const {
    tree_run child = *this;
    child.depth = depth + 1;
    child.from_list = false;
    return child;
  }

  /// What a child gets that works off the list which this grid has filled.
  [[nodiscard]] __device__ tree_run over_other_list() const {
    tree_run child = below();
    child.filled = 1 - filled;
    return child;
  }

  /// The task of this block: the one that its grid was launched for, or its own of the list.
  template <class Task>
  [[nodiscard]] __device__ Task own(const Task& given) const {
    return from_list ? tasks<Task>(filled)[blockIdx.x] : given;
  }

  /// One of the launch slots, if any is left. Who has one may launch one grid.
  [[nodiscard]] __device__ bool take_slot() const { return slots.acquire(*status); }

  /// The same for a grid over a list, in which all waits anyway: without a slot the host goes on.
  [[nodiscard]] __device__ bool take_slot_for_list() const {
    if (take_slot()) return true;
    atomicAdd(&status->spilled, 1ull);
    return false;
  }

  /// How a launch went for which there was a slot. The first failure is kept for the host.
  __device__ bool launched(const launch_status& how, const char* by) const {
    if (how) {
      status->count_children(1, depth + 1);
      return true;
    }
    slots.release();
    status->record_failure(how.code(), by, depth);
    return false;
  }

  /// The task waits in the list which this grid does not work on. One thread.
  template <class Task>
  __device__ void put_off(const Task& task) const {
    atomicAdd(&status->spilled, 1ull);
    const unsigned place = reserve(1);
    if (place < capacity) tasks<Task>(1 - filled)[place] = task;
  }

  /// `count` places in that list, of which the first has the number that comes back. One thread.
  [[nodiscard]] __device__ unsigned reserve(unsigned count) const {
    const unsigned first = atomicAdd(&state->waiting[1 - filled], count);
    // Never, for the list has room for all nodes. If it were so the run would end with an error.
    if (first + count > capacity) atomicAdd(&status->dropped, 1ull * count);
    return first;
  }

  /// Adds up what the threads of a block have counted. All threads of the block, once.
  __device__ void count(unsigned long long nodes) const {
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (nodes > 0) atomicAdd(&sum, nodes);
    __syncthreads();
    if (threadIdx.x == 0 && sum > 0) atomicAdd(&state->nodes, sum);
  }

  /// Either list, as tasks of that type.
  template <class Task>
  [[nodiscard]] __host__ __device__ Task* tasks(unsigned which) const {
    static_assert(sizeof(Task) == sizeof(node) && alignof(Task) == alignof(node));
    return reinterpret_cast<Task*>(list[which]);
  }
};

/// Device memory for runs over trees of up to so many nodes.
class tree_memory {
 public:
  tree_memory(std::size_t nodes, cudaStream_t stream)
      : capacity(static_cast<unsigned>(nodes)),
        nodes_(3 * nodes, stream),
        state_(1, stream),
        status_(run_control::scratch_bytes, stream) {}

  [[nodiscard]] node* nodes(unsigned which) const {
    return nodes_.data() + std::size_t{which} * capacity;
  }
  [[nodiscard]] run_state* state() const { return state_.data(); }
  [[nodiscard]] void* status() const { return status_.data(); }

  const unsigned capacity;

 private:
  device_buffer<node> nodes_;
  device_buffer<run_state> state_;
  device_buffer<std::byte> status_;
};

/// The host's side of one run.
class ladder_run {
 public:
  ladder_run(const tree_memory& memory, cudaStream_t stream, launch_trace* trace)
      : memory_(memory),
        stream_(stream),
        trace_(trace),
        limit_(*current_launch_limits().pending_launches),
        control_(memory.status(), {route::device, "asked for"}, limit_, stream, trace) {
    check(cudaMemsetAsync(memory.state(), 0, sizeof(run_state), stream), "clearing a run's state");
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// What the kernels get that the host launches next.
  [[nodiscard]] tree_run view() const {
    tree_run run{
        memory_.state(),  control_.status(), control_.slots(), {memory_.nodes(0), memory_.nodes(1)},
        memory_.nodes(2), memory_.capacity,  most_blocks_};
    run.filled = filled_;
    run.depth = level_;
    run.trace = control_.ticket();
    return run;
  }

  /// Grids of this kernel shall have as many blocks as the device runs at a time, at most.
  template <class... Parameters>
  void fit(void (*kernel)(Parameters...), unsigned threads) {
    most_blocks_ = resident_blocks(kernel, threads, 0);
  }

  /// Writes a node into a list or into the pool.
  void put(const node& root, node* where) {
    check(cudaMemcpyAsync(where, &root, sizeof root, cudaMemcpyHostToDevice, stream_),
          "writing the root");
  }

  /// Launches a grid and counts it.
  template <class... Parameters, class... Arguments>
  void launch_grid(void (*kernel)(Parameters...), const launch_shape& shape,
                   const Arguments&... arguments) {
    control_.launched(launch(kernel, shape, stream_, arguments...), "launching a grid", level_);
  }

  /// Launches the kernel for the root, and then, as long as tasks wait, over those: a block for each.
  template <class Task>
  void launch_rounds(void (*kernel)(Task, tree_run), const Task& root, unsigned threads) {
    launch_grid(kernel, {1, threads}, root, view());
    while (const unsigned waiting = next_list()) {
      tree_run over_list = view();
      over_list.from_list = true;
      launch_grid(kernel, {waiting, threads}, Task{}, over_list);
    }
  }

  /// Waits until all is complete; then all slots are free again. How many tasks wait in the list that the
  /// next view() is over; it is then empty for who asks. 0: all is done. \throws what a kernel recorded
  unsigned next_list() {
    run_state seen{};
    check(cudaMemcpyAsync(&seen, memory_.state(), sizeof seen, cudaMemcpyDeviceToHost, stream_),
          "reading a run's state");
    control_.wait();
    nodes_ = seen.nodes;
    level_ = control_.report().deepest_level + 1;
    // (All slots in use are this run's: the program has one run at a time.)
    check(cudaMemsetAsync(control_.slots().in_use, 0, sizeof(unsigned), stream_),
          "giving launch slots back");
    filled_ = seen.waiting[0] > 0 ? 0 : 1;
    check(cudaMemsetAsync(&memory_.state()->waiting[filled_], 0, sizeof(unsigned), stream_),
          "emptying a list");
    return seen.waiting[filled_];
  }

  /// The same for kernels that launch nothing and that empty the list which they read: the next view() is over
  /// the other one. The shortest look of the host that there is.
  unsigned other_list() {
    filled_ = 1 - filled_;
    ++level_;
    unsigned waiting = 0;
    check(cudaMemcpyAsync(&waiting, memory_.state()->waiting + filled_, sizeof waiting,
                          cudaMemcpyDeviceToHost, stream_),
          "reading the length of a list");
    check(cudaStreamSynchronize(stream_), "waiting for a level");
    return waiting;
  }

  /// Nodes that were counted, as next_list() saw them last.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

  /// For a rung that is the library's: where its options are to put their trace, and what it reported.
  [[nodiscard]] launch_trace* trace() const { return trace_; }
  void did(const run_report& report) { control_.report() = report; }

  /// After the last wait: the report, and the trace has all grids.
  run_report finish() {
    control_.read_trace();
    return control_.report();
  }

 private:
  const tree_memory& memory_;
  cudaStream_t stream_;
  launch_trace* trace_;
  std::size_t limit_;
  run_control control_;
  unsigned filled_ = 0;
  unsigned level_ = 0;
  unsigned most_blocks_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace ladder
