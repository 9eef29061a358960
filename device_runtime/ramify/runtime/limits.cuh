// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_limits: the device runtime's limits, set from the host for a scope.

#include <cstddef>
#include <optional>
#include <ramify/runtime/check.cuh>
#include <stdexcept>

namespace ramify::inline RAMIFY_BUILD {

/// Limits of the current device. A field without a value leaves its limit alone.
struct launch_limit_values {
  /// Launches from the device that have not begun yet (cudaLimitDevRuntimePendingLaunchCount),
  /// 2048 unless set. A slot costs about 9 KB of device memory on an H200.
  std::optional<std::size_t> pending_launches = std::nullopt;
  /// Bytes for malloc() in kernels (cudaLimitMallocHeapSize). To be set before the first kernel
  /// that uses malloc() is launched.
  std::optional<std::size_t> malloc_heap_bytes = std::nullopt;
  /// Bytes of stack a thread (cudaLimitStackSize).
  std::optional<std::size_t> stack_bytes = std::nullopt;
  /// Always refused: the device runtime of CUDA 12 and later (CDP2) has no such limit, because a
  /// kernel can no longer wait for its children. Join through a tail launch.
  std::optional<std::size_t> sync_depth = std::nullopt;
};

/// The limits of the current device, all fields with values but sync_depth.
/// \throws cuda_error
inline launch_limit_values current_launch_limits() {
  const auto read = [](cudaLimit which, const char* doing) {
    std::size_t value = 0;
    check(cudaDeviceGetLimit(&value, which), doing);
    return value;
  };
  launch_limit_values values;
  values.pending_launches =
      read(cudaLimitDevRuntimePendingLaunchCount, "reading the pending-launch limit");
  values.malloc_heap_bytes = read(cudaLimitMallocHeapSize, "reading the malloc heap limit");
  values.stack_bytes = read(cudaLimitStackSize, "reading the stack limit");
  return values;
}

/// Sets limits for a scope and puts the former ones back at its end.
///
///     const launch_limits limits({.pending_launches = 16'384});
///     limits.granted().pending_launches;  // what the driver really gave: it clamps silently
///
/// Waits for the device, on construction and at the end. For the whole device: not while another
/// thread of the process launches.
class [[nodiscard]] launch_limits {
 public:
  /// \throws std::invalid_argument for sync_depth or for no pending launches; cuda_error if the
  ///         driver refuses one. Either way no limit is changed.
  explicit launch_limits(const launch_limit_values& wanted) {
    if (wanted.sync_depth) {
      throw std::invalid_argument(
          "launch_limits.sync_depth (cudaLimitDevRuntimeSyncDepth) does not exist since CUDA 12: a "
          "kernel cannot wait for its children; use a tail launch for what follows them");
    }
    if (wanted.pending_launches == std::size_t{0}) {
      throw std::invalid_argument("launch_limits.pending_launches must be at least 1");
    }
    // What was not asked for is not put back either: some limits cannot be set at any time.
    const launch_limit_values now = current_launch_limits();
    if (wanted.pending_launches) former_.pending_launches = now.pending_launches;
    if (wanted.malloc_heap_bytes) former_.malloc_heap_bytes = now.malloc_heap_bytes;
    if (wanted.stack_bytes) former_.stack_bytes = now.stack_bytes;
    const std::size_t free_before = free_memory();
    try {
      check(cudaDeviceSynchronize(), "waiting for the device before setting its limits");
      set(cudaLimitDevRuntimePendingLaunchCount, wanted.pending_launches,
          "setting launch_limits.pending_launches");
      set(cudaLimitMallocHeapSize, wanted.malloc_heap_bytes,
          "setting launch_limits.malloc_heap_bytes");
      set(cudaLimitStackSize, wanted.stack_bytes, "setting launch_limits.stack_bytes");
      granted_ = current_launch_limits();
      reserved_bytes_ =
          static_cast<std::ptrdiff_t>(free_before) - static_cast<std::ptrdiff_t>(free_memory());
    } catch (...) {
      restore_quietly();
      throw;
    }
  }
  ~launch_limits() { restore_quietly(); }
  launch_limits(const launch_limits&) = delete;
  launch_limits& operator=(const launch_limits&) = delete;

  /// What is in force now.
  [[nodiscard]] const launch_limit_values& granted() const { return granted_; }

  /// Device memory that the change took, in bytes; negative if it gave some back. The driver makes
  /// the first pool with the first kernel that can launch: until then a change takes nothing.
  /// Always 0 on the CPU executor, whose pool is a number.
  [[nodiscard]] std::ptrdiff_t reserved_bytes() const { return reserved_bytes_; }

 private:
  static void set(cudaLimit which, std::optional<std::size_t> value, const char* doing) {
    if (value) check(cudaDeviceSetLimit(which, *value), doing);
  }

  /// Each limit for itself: one that the driver refuses must not keep the next from being restored.
  /// It refuses the malloc heap once a kernel has used it.
  void restore_quietly() noexcept {
    const auto put_back = [](cudaLimit which, std::optional<std::size_t> value) {
      try {
        set(which, value, "restoring a limit");
      } catch (const cuda_error&) {  // a destructor has nobody to tell
      }
    };
    static_cast<void>(cudaDeviceSynchronize());
    put_back(cudaLimitDevRuntimePendingLaunchCount, former_.pending_launches);
    put_back(cudaLimitMallocHeapSize, former_.malloc_heap_bytes);
    put_back(cudaLimitStackSize, former_.stack_bytes);
  }

  static std::size_t free_memory() {
#if RAMIFY_ON_CUDA
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free device memory");
    return free;
#else
    return 0;
#endif
  }

  launch_limit_values former_;  // of the limits that were set
  launch_limit_values granted_;
  std::ptrdiff_t reserved_bytes_ = 0;
};

}  // namespace ramify::inline RAMIFY_BUILD
