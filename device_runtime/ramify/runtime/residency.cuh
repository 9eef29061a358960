// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Occupancy queries, register limits, shared-memory opt-in, and relaxed loads.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/check.cuh>

#if RAMIFY_ON_CUDA
#include <map>
#include <mutex>
#include <ramify/runtime/device_context.cuh>
#include <tuple>
#else
#include <atomic>
#include <ramify/cpu/executor.hpp>
#include <thread>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Returns the number of multiprocessors of the current device. On the CPU executor it is the
/// number of workers. \throws cuda_error
inline unsigned multiprocessor_count() {
#if RAMIFY_ON_CUDA
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, current_device()),
        "querying the number of multiprocessors");
  return static_cast<unsigned>(count);
#else
  const unsigned workers = cpu::current_executor_config().workers;
  return std::max(workers == 0 ? std::thread::hardware_concurrency() : workers, 1u);
#endif
}

/// Returns the maximum number of co-resident blocks of `kernel` on the current device.
///
/// `threads` is per block, `dynamic_shared` in bytes per block. A grid that a kernel launches may
/// get fewer resident blocks. On the CPU executor it is the number of workers. The function keeps
/// the results for each context, because a query takes 2 us. Thread-safe. \throws cuda_error
template <class... Parameters>
unsigned resident_blocks([[maybe_unused]] void (*kernel)(Parameters...),
                         [[maybe_unused]] unsigned threads,
                         [[maybe_unused]] std::size_t dynamic_shared) {
#if RAMIFY_ON_CUDA
  using key = std::tuple<detail::context_id, void (*)(Parameters...), unsigned, std::size_t>;
  static std::mutex mutex;
  static auto& known = *new std::map<key, unsigned>;  // never destroyed, as in once_per_context()
  const key asked(detail::current_context(), kernel, threads, dynamic_shared);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads),
                                                      dynamic_shared),
        "querying a kernel's occupancy");
  return known[asked] = static_cast<unsigned>(std::max(blocks, 1)) * multiprocessor_count();
#else
  return multiprocessor_count();
#endif
}

/// Returns the registers of a thread with which `blocks` blocks of `threads` threads fit on a
/// multiprocessor: the argument of __maxnreg__.
///
/// A kernel that kernels launch should have __maxnreg__(max_registers(threads)) instead of
/// __launch_bounds__(threads), if it uses shared memory and its blocks are small. Reason: the
/// memory of a multiprocessor is divided into L1 cache and shared memory. For a grid that a kernel
/// launched, the shared memory is that of maxThreadsPerBlock / threads blocks (rounded down), where
/// maxThreadsPerBlock is an attribute of the kernel. With __launch_bounds__(threads) that is one
/// block. Without it, it is as many as the registers allow, up to 1,024 threads. For a grid from
/// the host, the driver chooses the division by the occupancy. Lesson 31 measures this.
[[nodiscard]] consteval unsigned max_registers(unsigned threads, unsigned blocks = 1) {
  constexpr unsigned lanes = 32;
  constexpr unsigned parts = 4;  // of a multiprocessor, with registers and warps of their own
  constexpr unsigned of_part = 1u << 14;
  constexpr unsigned of_thread = 255;
  constexpr unsigned unit = 8;  // registers are allocated in multiples of it
  const unsigned warps = (threads + lanes - 1) / lanes * blocks;
  const unsigned warps_of_part = (warps + parts - 1) / parts;
  return std::min(of_part / (warps_of_part * lanes) / unit * unit, of_thread);
}

/// Returns whether `kernel` may be launched with stream_serialization::programmatic: it must be
/// compiled for compute capability 9.0 or later, where grid_dependency_synchronize() waits.
/// \throws cuda_error
template <class... Parameters>
bool supports_programmatic_launch([[maybe_unused]] void (*kernel)(Parameters...)) {
#if RAMIFY_ON_CUDA
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "querying a kernel's PTX version");
  return attributes.ptxVersion >= 90;
#else
  return false;
#endif
}

/// Allows launches of `kernel` on the current device with up to `wanted` bytes of dynamic shared
/// memory.
///
/// Returns the allowed bytes: `wanted`, or the maximum of the kernel on the device if that is
/// smaller. Without this call the limit is 48 KiB. The limit applies to launches from the host and
/// from kernels. \throws cuda_error
template <class... Parameters>
std::size_t set_max_dynamic_shared(void (*kernel)(Parameters...), std::size_t wanted) {
#if RAMIFY_ON_CUDA
  constexpr std::size_t default_max_shared = 48 * 1024;
  const int device = current_device();
  int most = 0;
  cudaFuncAttributes attributes{};
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "querying the shared memory of a block");
  check(cudaFuncGetAttributes(&attributes, kernel), "querying a kernel's shared memory");
  const std::size_t bytes =
      std::min(wanted, static_cast<std::size_t>(most) - attributes.sharedSizeBytes);
  if (bytes + attributes.sharedSizeBytes > default_max_shared) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "raising a kernel's limit of shared memory");
  }
  return bytes;
#else
  // The limit of a block on an H200.
  const std::size_t bytes = std::min(wanted, std::size_t{227} * 1024);
  cpu::allow_shared(reinterpret_cast<const void*>(kernel), bytes);
  return bytes;
#endif
}

/// Returns a value that other blocks change by atomic functions: a relaxed atomic load.
template <class T>
__device__ T load_relaxed(T& value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "other sizes have no atomic functions");
#if RAMIFY_ON_CUDA
  return *static_cast<volatile T*>(&value);
#else
  return cpu::atomic_ref<T>(value).load(cpu::builtins::atomic_load_order);
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD
