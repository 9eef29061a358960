// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The executor's device: limits, pending-launch pool, heap, streams, and the order of grids.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <ramify/cpu/cuda_builtins.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grid.hpp"
#include "grid_log.hpp"
#include "kernel_heap.hpp"
#include "weak_memory.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

class block;

/// The state of a handle; or null, and the reason why the handle must not be used.
template <class State>
struct lookup_result {
  State* state;
  const char* fault;
};

/// The device of the process, which all threads use. A mutex protects its state.
class device {
 public:
  [[nodiscard]] static device& instance();

  // ---- launches ----
  builtins::cudaError_t launch_from_host(const launch_request&, launch_arguments,
                                         builtins::cudaStream_t);
  /// `stream` is null for a launch that no stream orders: fire-and-forget or tail.
  builtins::cudaError_t launch_from_block(block&, const launch_request&, launch_arguments,
                                          stream_state* stream, launch_stream kind);

  /// Must be called before each block of `g` runs. The first call counts `g` as begun.
  void block_begins(grid& g) {
    if (g.has_begun.exchange(true, std::memory_order_relaxed)) return;
    ++grids_begun_;
    log_time(g, &traced_grid::begin);
  }
  /// Must be called after each block of `g` ends. The last call starts the grids that waited for
  /// `g`.
  void block_ended(const grid_ptr& g);

  [[nodiscard]] std::uint64_t grids_begun() const { return grids_begun_; }

  // ---- failures that tests request ----
  /// Counts a CUDA call of the host. Returns the error that executor_config.failing_call requests
  /// for it, or cudaSuccess. A call of a kernel is not counted and does not fail.
  [[nodiscard]] builtins::cudaError_t begin_call();
  /// Returns cudaErrorLaunchFailure if executor_config.device_stays_failed holds now.
  [[nodiscard]] builtins::cudaError_t lasting_failure() const;
  [[nodiscard]] std::uint64_t host_calls() const;
  [[nodiscard]] std::uint64_t live_objects() const;

  // ---- streams and events; a handle is a number that is never used twice ----
  /// `owner` is null for the host. The streams and events of a grid end when the grid is complete.
  [[nodiscard]] builtins::cudaStream_t make_stream(grid* owner);
  [[nodiscard]] builtins::cudaEvent_t make_event(grid* owner, bool has_time);
  /// Returns the state of a handle, if the grid `user` (0: the host) may use it.
  [[nodiscard]] lookup_result<stream_state> find(builtins::cudaStream_t, std::uint64_t user);
  [[nodiscard]] lookup_result<event_state> find(builtins::cudaEvent_t, std::uint64_t user);
  /// Invalidates the handle; its pending work goes on. Returns false if `user` must not use it.
  [[nodiscard]] bool destroy(builtins::cudaStream_t, std::uint64_t user);
  [[nodiscard]] bool destroy(builtins::cudaEvent_t, std::uint64_t user);
  /// Appends a record of the event to the stream.
  void record(event_state&, stream_state&);
  /// Appends a wait for the last record of the event to the stream.
  void wait(stream_state&, const event_state&);
  /// Notes whether work entered a stream of the host after the last call that noted it. Returns
  /// what was noted before; false for a handle that is no stream of the host.
  bool set_has_new_work(builtins::cudaStream_t, bool has_new_work);
  /// Records the current time in an event of the host.
  [[nodiscard]] builtins::cudaError_t record_now(builtins::cudaEvent_t);
  /// Computes the milliseconds between two records of the host.
  [[nodiscard]] builtins::cudaError_t elapsed(builtins::cudaEvent_t begin,
                                              builtins::cudaEvent_t end, float& ms);

  // ---- limits and memory ----
  [[nodiscard]] builtins::cudaError_t limit(builtins::cudaLimit, std::size_t& value) const;
  [[nodiscard]] builtins::cudaError_t set_limit(builtins::cudaLimit, std::size_t value);
  /// Sets the maximum dynamic shared memory of a kernel.
  void allow_shared(const void* kernel, std::size_t bytes);
  [[nodiscard]] std::size_t fiber_stack_bytes() const;
  /// Allocates device or pinned memory. Returns null if there is none.
  /// An element has `element` bytes, as in weak_memory::part.
  [[nodiscard]] void* allocate(std::size_t bytes, builtins::cudaMemoryType, std::size_t element);
  /// Returns the type of the allocation that has `address`; else cudaMemoryTypeUnregistered.
  [[nodiscard]] builtins::cudaMemoryType type_of(const void* address) const;
  /// Returns the allocations whose writes schedule::weak delays: the smallest ones of device
  /// memory, in all at most 1 MiB.
  [[nodiscard]] std::vector<weak_memory::part> weak_parts() const;
  /// Frees memory from allocate(). Returns false if there is no such allocation; it may have been
  /// freed by reset().
  [[nodiscard]] bool release(void*);
  /// Returns memory of allocate() to the system. The device must have forgotten it.
  static void give_back(void*);
  [[nodiscard]] void* heap_allocate(std::size_t bytes);
  /// Returns false if the heap has no such piece.
  bool heap_free(void*);
  /// Frees all memory, destroys all streams and events, and sets all limits to their defaults. Ends
  /// a lasting failure of the device. No kernel may run, and no other thread may use the device.
  void reset();
  /// Returns how often reset() was called.
  [[nodiscard]] std::uint64_t resets() const { return resets_; }

  // ---- configuration ----
  [[nodiscard]] executor_config config() const;
  void set_config(const executor_config&);
  /// Returns the configured schedule without taking the mutex: traced warps read it when they end.
  [[nodiscard]] schedule order() const { return order_.load(std::memory_order_relaxed); }
  /// Returns executor_config.refuse_host_memory without taking the mutex: all families read it.
  [[nodiscard]] bool refuses_host_memory() const {
    return refuses_host_memory_.load(std::memory_order_relaxed);
  }

 private:
  device();

  static constexpr std::size_t default_pending_limit = 2048;
  static constexpr std::size_t default_heap_limit = std::size_t{8} << 20;
  static constexpr std::size_t default_stack_limit = 1024;

  // The caller must hold the mutex. Both append the grids that may begin now to `ready`.
  void advance(stream_state&, std::vector<grid_ptr>& ready);
  void completed(grid_ptr, std::vector<grid_ptr>& ready);
  void release_slot(grid&);
  void forget_handles(const grid&);
  grid_ptr make_grid(const launch_request&, launch_arguments);
  /// Returns whether the kernel may use the requested dynamic shared memory.
  [[nodiscard]] bool has_shared(const launch_request&);

  mutable std::mutex mutex_;
  std::mutex one_run_at_a_time_;  // held during a run of a reproducible schedule
  executor_config config_;
  std::atomic<schedule> order_ = schedule::parallel;  // equals config_.order
  std::atomic<bool> refuses_host_memory_ = false;     // equals config_.refuse_host_memory
  std::unordered_map<builtins::cudaStream_t, stream_state> streams_;
  std::unordered_map<builtins::cudaEvent_t, event_state> events_;
  std::unordered_map<const void*, std::size_t> shared_of_;  // by kernel: bytes from allow_shared()
  // The names of kernels, for a signal handler, which cannot look them up.
  std::unordered_map<const void*, std::string> kernel_names_;
  std::uintptr_t next_handle_ = 16;  // after the reserved handles
  std::uint64_t next_grid_ = 1;
  std::atomic<std::uint64_t> grids_begun_ = 0;
  std::uint64_t launches_from_kernels_ = 0;  // since config_ was set
  std::uint64_t host_calls_ = 0;             // since config_ was set
  struct allocation {
    std::size_t bytes;
    builtins::cudaMemoryType type;
    std::size_t element;
    std::uint64_t number;  // of the call that allocated it
  };
  std::map<std::uintptr_t, allocation> allocations_;  // by address
  std::uint64_t allocated_ = 0;                       // calls of allocate()
  kernel_heap heap_;
  std::atomic<std::uint64_t> resets_ = 0;
  std::size_t pending_limit_ = default_pending_limit;
  std::size_t pending_ = 0;
  std::size_t heap_limit_ = default_heap_limit;
  std::atomic<std::size_t> stack_limit_ = default_stack_limit;
};

/// Parses the value of the environment variable RAMIFY_CPU_MAX_DEPTH. \throws std::invalid_argument
[[nodiscard]] std::uint64_t parse_max_depth(std::string_view text);

/// Parses the value of the environment variable RAMIFY_CPU_MEMORY: "any" or "device". Returns
/// whether host memory is refused. \throws std::invalid_argument
[[nodiscard]] bool parse_memory(std::string_view text);

/// Returns the name in C++ of a symbol, or the symbol if it is no name of C++.
[[nodiscard]] std::string demangled(const char* symbol);

/// Returns a kernel's name from the program's symbol table, or its address as text.
[[nodiscard]] std::string kernel_name(const void* kernel);

}  // namespace ramify::cpu::inline RAMIFY_ABI
