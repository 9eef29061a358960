// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_limits: sets the limits of the device runtime for a scope, from the host.

#include <cstddef>
#include <optional>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/device_context.cuh>
#include <stdexcept>

namespace ramify::inline RAMIFY_BUILD {

/// Limits of the current device. A field without a value leaves its limit unchanged.
struct launch_limit_values {
  /// The maximum number of launches from the device that are not complete
  /// (cudaLimitDevRuntimePendingLaunchCount); the default is 2048. A slot takes about 9 KB of
  /// device memory on an H200.
  std::optional<std::size_t> pending_launches = std::nullopt;
  /// Bytes for malloc() in kernels (cudaLimitMallocHeapSize). Set it before the first launch of a
  /// kernel that uses malloc().
  std::optional<std::size_t> malloc_heap_bytes = std::nullopt;
  /// Bytes of stack per thread (cudaLimitStackSize).
  std::optional<std::size_t> stack_bytes = std::nullopt;
  /// Always rejected. The device runtime CDP2, the default since CUDA 12, has no such limit: a
  /// kernel cannot wait for its children. Use a tail launch to join. (CDP1, which can still be
  /// forced below compute capability 9.0, has this limit; Ramify does not use CDP1.)
  std::optional<std::size_t> sync_depth = std::nullopt;
};

/// Returns the pending-launch limit of the current device. \throws cuda_error
inline std::size_t current_pending_launch_limit() {
  std::size_t value = 0;
  check(cudaDeviceGetLimit(&value, cudaLimitDevRuntimePendingLaunchCount),
        "reading the pending-launch limit");
  return value;
}

/// Returns the limits of the current device. All fields except sync_depth have values.
/// \throws cuda_error
inline launch_limit_values current_launch_limits() {
  const auto read = [](cudaLimit which, const char* doing) {
    std::size_t value = 0;
    check(cudaDeviceGetLimit(&value, which), doing);
    return value;
  };
  launch_limit_values values;
  values.pending_launches = current_pending_launch_limit();
  values.malloc_heap_bytes = read(cudaLimitMallocHeapSize, "reading the malloc heap limit");
  values.stack_bytes = read(cudaLimitStackSize, "reading the stack limit");
  return values;
}

/// Sets limits for a scope, and restores the former ones at its end, unless cudaDeviceReset() has
/// replaced them by the default ones.
///
///     const launch_limits limits({.pending_launches = 16'384});
///     limits.granted().pending_launches;  // the limit in force: the driver clamps silently
///
/// The constructor and the destructor wait for the device. The limits apply to the whole device, so
/// no other thread of the process may launch meanwhile.
class [[nodiscard]] launch_limits {
 public:
  /// \throws std::invalid_argument if sync_depth is set or pending_launches is 0; cuda_error if the
  ///         driver rejects a limit. After an exception no limit is changed.
  explicit launch_limits(const launch_limit_values& wanted) {
    if (wanted.sync_depth) {
      throw std::invalid_argument(
          "launch_limits.sync_depth (cudaLimitDevRuntimeSyncDepth) is not a limit of CDP2, the "
          "device runtime since CUDA 12: a kernel cannot wait for its children; use a tail launch "
          "to join");
    }
    if (wanted.pending_launches == std::size_t{0}) {
      throw std::invalid_argument("launch_limits.pending_launches must be at least 1");
    }
    // Only limits that this object sets are restored, because the driver rejects a new malloc heap
    // size after a kernel has used the heap.
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

  /// Returns the limits in force, which the driver may have clamped.
  [[nodiscard]] const launch_limit_values& granted() const { return granted_; }

  /// Returns the bytes of device memory that the change reserved, or a negative number if it
  /// released memory. The driver creates the pool with the first kernel that can launch, so an
  /// earlier change reserves nothing. Always 0 on the CPU executor.
  [[nodiscard]] std::ptrdiff_t reserved_bytes() const { return reserved_bytes_; }

 private:
  static void set(cudaLimit which, std::optional<std::size_t> value, const char* doing) {
    if (value) check(cudaDeviceSetLimit(which, *value), doing);
  }

  /// Restores each limit separately: if the driver rejects one, the next is still restored.
  void restore_quietly() noexcept {
    if (!detail::context_exists(context_)) return;
    // Not check(): its message needs memory, and a destructor must not throw.
    const auto restore = [](cudaLimit which, std::optional<std::size_t> value) {
      if (value && cudaDeviceSetLimit(which, *value) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());  // clears the error
      }
    };
    static_cast<void>(cudaDeviceSynchronize());
    restore(cudaLimitDevRuntimePendingLaunchCount, former_.pending_launches);
    restore(cudaLimitMallocHeapSize, former_.malloc_heap_bytes);
    restore(cudaLimitStackSize, former_.stack_bytes);
  }

  static std::size_t free_memory() {
#if RAMIFY_ON_CUDA
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "querying free device memory");
    return free;
#else
    return 0;
#endif
  }

  const detail::context_id context_ = detail::current_context();
  launch_limit_values former_;  // the old values of the limits that were set
  launch_limit_values granted_;
  std::ptrdiff_t reserved_bytes_ = 0;
};

}  // namespace ramify::inline RAMIFY_BUILD
