// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The device that the executor plays: its limits, its launch pool, its heap, and the order of
/// grids.

#include <atomic>
#include <cstddef>
#include <mutex>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/words.hpp>
#include <string>
#include <vector>

#include "grid.hpp"

namespace ramify::cpu {

class block;

class device {
 public:
  [[nodiscard]] static device& instance();

  // ---- launches ----
  words::cudaError_t launch_from_host(launch_request, words::cudaStream_t);
  words::cudaError_t launch_from_block(block&, launch_request, words::cudaStream_t);

  /// The first block of `g` is about to run: its pool slot is free again.
  void begun(grid& g);
  /// One block of `g` ended; at the last one, what waited for it may begin.
  void block_ended(const grid_ptr& g);

  // ---- streams and events of a grid; a handle from elsewhere breaks a rule ----
  [[nodiscard]] words::stream_state& make_stream(const grid& owner);
  [[nodiscard]] words::event_state& make_event(const grid& owner);
  void record(words::event_state&, words::stream_state&);
  void wait(words::stream_state&, const words::event_state&);

  // ---- limits and memory ----
  [[nodiscard]] words::cudaError_t limit(words::cudaLimit, std::size_t& value) const;
  [[nodiscard]] words::cudaError_t set_limit(words::cudaLimit, std::size_t value);
  [[nodiscard]] std::size_t fiber_stack_bytes() const;
  [[nodiscard]] void* heap_allocate(std::size_t bytes);
  void heap_free(void*);

  // ---- configuration ----
  [[nodiscard]] executor_config config() const;
  void set_config(const executor_config&);
  [[nodiscard]] executor_counts counts() const;

 private:
  device();

  // With the mutex held; the grids that may begin now are added to `ready`.
  void advance(words::stream_state&, std::vector<grid_ptr>& ready);
  void completed(grid_ptr, std::vector<grid_ptr>& ready);

  mutable std::mutex mutex_;
  std::mutex one_run_at_a_time_;  // for the schedules that are reproducible
  executor_config config_;
  executor_counts counts_;
  std::size_t pending_limit_ = 2048;
  std::size_t pending_ = 0;
  std::size_t heap_limit_ = std::size_t{8} << 20;
  std::size_t heap_used_ = 0;
  std::atomic<std::size_t> stack_limit_ = 1024;
};

/// A kernel's name from the program's symbol table, or its address.
[[nodiscard]] std::string kernel_name(const void* kernel);

}  // namespace ramify::cpu
