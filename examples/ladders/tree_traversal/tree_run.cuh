// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The code that the rungs share besides the tree: launch slots, the lists of tasks without a slot,
/// and the rounds in which the host launches grids over these lists.
///
///     if (run.acquire_slot() && run.launched(launch(kernel, ..., task, run.below()), __func__)) {
///       ...         // the child grid runs the task
///     } else {
///       run.append_to_list(task);  // it runs after all launched grids are complete
///     }
///
/// A slot is kept until everything is complete. There are slots for half of the pending-launch
/// pool, or for a sixteenth of a small pool. So the pool is never exhausted, for any shape of the
/// tree, and no task is lost.

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

/// The state that all kernels of a run share. Initially zero.
struct run_state {
  unsigned long long nodes;  ///< nodes counted
  unsigned waiting[2];       ///< tasks in each list; between grids one of the lists is empty
  unsigned gathered;         ///< nodes in the pool; in rung 8, shares
  unsigned arrived;          ///< blocks of the running grid that are done
  unsigned taken;            ///< nodes of the round's list, or shares, that blocks have fetched
  unsigned idle;             ///< blocks without work
  unsigned busy;             ///< shares that are not finished
};

/// Consecutive nodes of the pool: a task for one or more blocks.
struct segment {
  unsigned first;
  unsigned count;
};

/// A kernel's view of the run. Every grid has its own copy.
struct tree_run {
  run_state* state;
  run_status* status;
  launch_slots slots;
  node* list[2];           ///< entries for all nodes of the tree, so no list overflows
  node* pool;              ///< entries for all nodes of the tree
  unsigned capacity;       ///< length of each of them
  unsigned max_blocks;     ///< maximum number of co-resident blocks
  unsigned filled = 0;     ///< the list from which this grid reads tasks, if any
  bool from_list = false;  ///< the host launched this grid over a list
  unsigned depth = 0;      ///< depth of this grid
  trace_ticket trace{};

  /// Returns the argument for the children of this grid.
  [[nodiscard]] __device__ tree_run below() const {
    tree_run child = *this;
    child.depth = depth + 1;
    child.from_list = false;
    return child;
  }

  /// Returns the argument for a child that processes the list that this grid has filled.
  [[nodiscard]] __device__ tree_run over_other_list() const {
    tree_run child = below();
    child.filled = 1 - filled;
    return child;
  }

  /// Returns the task of this block: the task of its grid, or the block's entry of the list.
  template <class Task>
  [[nodiscard]] __device__ Task task_of_block(const Task& given) const {
    return from_list ? tasks<Task>(filled)[blockIdx.x] : given;
  }

  /// Acquires a launch slot, which allows one launch. Returns false if none is free.
  [[nodiscard]] __device__ bool acquire_slot() const { return slots.acquire(*status); }

  /// Acquires a launch slot for a grid over a list. Returns false if none is free; the host then
  /// continues.
  [[nodiscard]] __device__ bool acquire_slot_for_list() const {
    if (acquire_slot()) return true;
    atomicAdd(&status->spilled, 1ull);
    return false;
  }

  /// Returns true if a launch succeeded. Otherwise releases its slot and records the first failure
  /// for the host.
  __device__ bool launched(const launch_status& how, const char* by) const {
    if (how) {
      status->count_children(1, depth + 1);
      return true;
    }
    slots.release();
    status->record_failure(how.code(), by, depth);
    return false;
  }

  /// Appends the task to the list that this grid does not read. One thread calls it.
  template <class Task>
  __device__ void append_to_list(const Task& task) const {
    atomicAdd(&status->spilled, 1ull);
    const unsigned place = reserve(1);
    if (place < capacity) tasks<Task>(1 - filled)[place] = task;
  }

  /// Reserves `count` entries of that list. Returns the index of the first one. One thread calls
  /// it.
  [[nodiscard]] __device__ unsigned reserve(unsigned count) const {
    const unsigned first = atomicAdd(&state->waiting[1 - filled], count);
    // This cannot happen, because the list has entries for all nodes. It would end the run with an
    // error.
    if (first + count > capacity) atomicAdd(&status->dropped, 1ull * count);
    return first;
  }

  /// Adds the counts of the threads of a block to the total. All threads of the block call it once.
  __device__ void count(unsigned long long nodes) const {
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (nodes > 0) atomicAdd(&sum, nodes);
    __syncthreads();
    if (threadIdx.x == 0 && sum > 0) atomicAdd(&state->nodes, sum);
  }

  /// Returns a list as an array of tasks of type `Task`.
  template <class Task>
  [[nodiscard]] __host__ __device__ Task* tasks(unsigned which) const {
    static_assert(sizeof(Task) == sizeof(node) && alignof(Task) == alignof(node));
    return reinterpret_cast<Task*>(list[which]);
  }
};

/// Device memory for runs over trees of up to `nodes` nodes.
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

/// The host side of one run.
class ladder_run {
 public:
  ladder_run(const tree_memory& memory, cudaStream_t stream, launch_trace* trace)
      : memory_(memory),
        stream_(stream),
        trace_(trace),
        limit_(*current_launch_limits().pending_launches),
        control_(memory.status(), {route::device, "requested"}, limit_, stream, trace) {
    check(cudaMemsetAsync(memory.state(), 0, sizeof(run_state), stream), "clearing a run's state");
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Returns the argument for kernels that the host launches next.
  [[nodiscard]] tree_run view() const {
    tree_run run{
        memory_.state(),  control_.status(), control_.slots(), {memory_.nodes(0), memory_.nodes(1)},
        memory_.nodes(2), memory_.capacity,  max_blocks_};
    run.filled = filled_;
    run.depth = level_;
    run.trace = control_.ticket();
    return run;
  }

  /// Limits grids of this kernel to the maximum number of co-resident blocks.
  template <class... Parameters>
  void limit_blocks(void (*kernel)(Parameters...), unsigned threads) {
    max_blocks_ = resident_blocks(kernel, threads, 0);
  }

  /// Writes a node to a list or to the pool.
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

  /// Launches the kernel for the root, and then, until no task waits, over the waiting tasks, one
  /// block each.
  template <class Task>
  void launch_until_done(void (*kernel)(Task, tree_run), const Task& root, unsigned threads) {
    launch_grid(kernel, {1, threads}, root, view());
    while (const unsigned waiting = finish_lists()) {
      tree_run over_list = view();
      over_list.from_list = true;
      launch_grid(kernel, {waiting, threads}, Task{}, over_list);
    }
  }

  /// Waits until all grids are complete, and releases all slots. Clears the list of waiting tasks
  /// and returns its length; the next view() refers to it. Returns 0 if no task waits.
  /// \throws device_launch_error for the first failed launch in a kernel
  unsigned finish_lists() {
    run_state seen{};
    check(cudaMemcpyAsync(&seen, memory_.state(), sizeof seen, cudaMemcpyDeviceToHost, stream_),
          "reading a run's state");
    control_.wait();
    nodes_ = seen.nodes;
    level_ = control_.report().deepest_level + 1;
    // All slots in use belong to this run, because the program has one run at a time.
    check(cudaMemsetAsync(control_.slots().in_use, 0, sizeof(unsigned), stream_),
          "releasing launch slots");
    filled_ = seen.waiting[0] > 0 ? 0 : 1;
    check(cudaMemsetAsync(&memory_.state()->waiting[filled_], 0, sizeof(unsigned), stream_),
          "clearing a list");
    return seen.waiting[filled_];
  }

  /// Waits for kernels that launch nothing and that clear the list that they read. Returns the
  /// length of the other list; the next view() refers to it. This is the shortest possible host
  /// round trip.
  unsigned swap_lists() {
    filled_ = 1 - filled_;
    ++level_;
    unsigned waiting = 0;
    check(cudaMemcpyAsync(&waiting, memory_.state()->waiting + filled_, sizeof waiting,
                          cudaMemcpyDeviceToHost, stream_),
          "reading the length of a list");
    check(cudaStreamSynchronize(stream_), "waiting for a level");
    return waiting;
  }

  /// Returns the number of counted nodes at the last finish_lists().
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

  /// For the rung that calls the library: the trace for its options, and the setter of its report.
  [[nodiscard]] launch_trace* trace() const { return trace_; }
  void set_report(const run_report& report) { control_.report() = report; }

  /// Reads the trace and returns the report. Call it after the last wait.
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
  unsigned max_blocks_ = 0;
  std::uint64_t nodes_ = 0;
};

}  // namespace ladder
