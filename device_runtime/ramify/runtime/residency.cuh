// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How many blocks run at a time, with how much shared memory, and a look at what the others are doing.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/check.cuh>

#if !RAMIFY_ON_CUDA
#include <atomic>
#include <ramify/cpu/executor.hpp>
#include <thread>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Blocks of `kernel` that the current device holds at a time: enough to fill it, and nothing to
/// wait for. A grid that is launched from the device may get fewer.
/// \throws cuda_error
template <class... Parameters>
unsigned resident_blocks([[maybe_unused]] void (*kernel)(Parameters...),
                         [[maybe_unused]] unsigned threads,
                         [[maybe_unused]] std::size_t dynamic_shared) {
#if RAMIFY_ON_CUDA
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "asking for the number of multiprocessors");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads),
                                                      dynamic_shared),
        "asking for a kernel's occupancy");
  return static_cast<unsigned>(std::max(blocks, 1) * multiprocessors);
#else
  const unsigned workers = cpu::current_executor_config().workers;
  return std::max(workers == 0 ? std::thread::hardware_concurrency() : workers, 1u);
#endif
}

/// Whether `kernel` may start early: only code for compute capability 9.0 and later waits.
/// \throws cuda_error
template <class... Parameters>
bool supports_programmatic_launch([[maybe_unused]] void (*kernel)(Parameters...)) {
#if RAMIFY_ON_CUDA
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "asking what a kernel was compiled for");
  return attributes.ptxVersion >= 90;
#else
  return false;
#endif
}

/// Lets the current device launch `kernel` with up to `wanted` bytes of dynamic shared memory, or with
/// as many as there are for a block: how many. A GPU gives 48 KiB to anybody and more to a kernel
/// that it was asked for, from the host, whoever launches it later.
/// \throws cuda_error
template <class... Parameters>
std::size_t set_max_dynamic_shared(void (*kernel)(Parameters...), std::size_t wanted) {
#if RAMIFY_ON_CUDA
  constexpr std::size_t unasked = 48 * 1024;
  int device = 0;
  int most = 0;
  cudaFuncAttributes attributes{};
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking for the shared memory of a block");
  check(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel's shared memory");
  const std::size_t bytes =
      std::min(wanted, static_cast<std::size_t>(most) - attributes.sharedSizeBytes);
  if (bytes + attributes.sharedSizeBytes > unasked) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "asking for more shared memory");
  }
  return bytes;
#else
  // As much as an H200 gives a block.
  const std::size_t bytes = std::min(wanted, std::size_t{227} * 1024);
  cpu::allow_shared(reinterpret_cast<const void*>(kernel), bytes);
  return bytes;
#endif
}

/// The value now of a word that other blocks change by atomic functions. It orders nothing.
__device__ inline unsigned load_relaxed(unsigned& word) {
#if RAMIFY_ON_CUDA
  return *static_cast<volatile unsigned*>(&word);
#else
  return std::atomic_ref<unsigned>(word).load(std::memory_order_relaxed);
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD
