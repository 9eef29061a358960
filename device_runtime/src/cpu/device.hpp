// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The device that the executor plays: its limits, its launch pool, its heap, and the order of
/// grids.

#include <atomic>
#include <cstddef>
#include <mutex>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/cuda_builtins.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "grid.hpp"

namespace ramify::cpu {

class block;

/// What a handle stands for, or why it may not be used.
template <class State>
struct looked_up {
  State* state;
  const char* fault;
};

class device {
 public:
  [[nodiscard]] static device& instance();

  // ---- launches ----
  builtins::cudaError_t launch_from_host(launch_request, builtins::cudaStream_t);
  /// `stream` is null for a launch that no stream orders: fire-and-forget, or tail.
  builtins::cudaError_t launch_from_block(block&, launch_request, stream_state* stream, bool tail);

  /// A block of `g` is about to run. At the first one, its pool slot is free again.
  void block_begins(grid& g);
  /// One block of `g` ended; at the last one, what waited for it may begin.
  void block_ended(const grid_ptr& g);

  [[nodiscard]] std::uint64_t grids_begun() const;

  // ---- streams and events; a handle is a number that is never given twice ----
  /// `owner` is null for the host. A grid's streams and events go when it is complete.
  [[nodiscard]] builtins::cudaStream_t make_stream(grid* owner);
  [[nodiscard]] builtins::cudaEvent_t make_event(grid* owner, bool has_time);
  /// For the use of the grid `user`, or with 0 of the host.
  [[nodiscard]] looked_up<stream_state> look_up(builtins::cudaStream_t, std::uint64_t user);
  [[nodiscard]] looked_up<event_state> look_up(builtins::cudaEvent_t, std::uint64_t user);
  /// From now on the handle is no good; the work goes on. False if it was none of the user's.
  [[nodiscard]] bool destroy(builtins::cudaStream_t, std::uint64_t user);
  [[nodiscard]] bool destroy(builtins::cudaEvent_t, std::uint64_t user);
  void record(event_state&, stream_state&);
  void wait(stream_state&, const event_state&);
  /// The host's record of an event of its own.
  [[nodiscard]] builtins::cudaError_t record_now(builtins::cudaEvent_t);
  /// Milliseconds between two such records.
  [[nodiscard]] builtins::cudaError_t elapsed(builtins::cudaEvent_t begin, builtins::cudaEvent_t end,
                                           float& ms);

  // ---- limits and memory ----
  [[nodiscard]] builtins::cudaError_t limit(builtins::cudaLimit, std::size_t& value) const;
  [[nodiscard]] builtins::cudaError_t set_limit(builtins::cudaLimit, std::size_t value);
  void allow_shared(const void* kernel, std::size_t bytes);
  [[nodiscard]] std::size_t fiber_stack_bytes() const;
  [[nodiscard]] void* heap_allocate(std::size_t bytes);
  void heap_free(void*);

  // ---- configuration ----
  [[nodiscard]] executor_config config() const;
  void set_config(const executor_config&);
  /// The configuration's, without waiting for anybody: it is asked at the end of each warp of a trace.
  [[nodiscard]] schedule order() const { return order_.load(std::memory_order_relaxed); }

 private:
  device();

  // With the mutex held; the grids that may begin now are added to `ready`.
  void advance(stream_state&, std::vector<grid_ptr>& ready);
  void completed(grid_ptr, std::vector<grid_ptr>& ready);
  void forget_handles(const grid&);
  grid_ptr make_grid(launch_request);
  /// Whether the kernel may have the shared memory that it asks for.
  [[nodiscard]] bool has_shared(const launch_request&);

  mutable std::mutex mutex_;
  std::mutex one_run_at_a_time_;  // for the schedules that are reproducible
  executor_config config_;
  std::atomic<schedule> order_ = schedule::parallel;  // config_'s
  std::unordered_map<std::uintptr_t, stream_state> streams_;
  std::unordered_map<std::uintptr_t, event_state> events_;
  std::unordered_map<const void*, std::size_t> shared_of_;  // what kernels were allowed
  std::uintptr_t next_handle_ = 16;                         // past the reserved ones
  std::uint64_t next_grid_ = 1;
  std::uint64_t grids_begun_ = 0;
  std::uint64_t launches_from_kernels_ = 0;  // since config_ is in force
  std::size_t pending_limit_ = 2048;
  std::size_t pending_ = 0;
  std::size_t heap_limit_ = std::size_t{8} << 20;
  std::size_t heap_used_ = 0;
  std::atomic<std::size_t> stack_limit_ = 1024;
};

/// A kernel's name from the program's symbol table, or its address.
[[nodiscard]] std::string kernel_name(const void* kernel);

}  // namespace ramify::cpu
