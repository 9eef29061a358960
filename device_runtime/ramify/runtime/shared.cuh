// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Dynamic shared memory, the device heap, and uninitialized arrays in kernels.

#include <cstddef>
#include <cstdlib>
#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the block's dynamic shared memory as an uninitialized T. The launch must request at
/// least sizeof(T) bytes. Every call in a block returns the same memory.
template <class T>
__device__ T& dynamic_shared() {
  static_assert(std::is_trivially_destructible_v<T>, "shared memory is never destroyed");
#if RAMIFY_ON_CUDA
  extern __shared__ __align__(128) unsigned char ramify_dynamic_shared[];
  return *reinterpret_cast<T*>(ramify_dynamic_shared);
#else
  return *reinterpret_cast<T*>(cpu::dynamic_shared_memory());
#endif
}

#if RAMIFY_ON_CUDA
/// malloc() in a kernel. Returns null if the heap (cudaLimitMallocHeapSize, launch_limits) is used
/// up. The memory outlives the grid. Any later kernel may free it with device_free().
__device__ inline void* device_malloc(std::size_t bytes) { return malloc(bytes); }
/// Frees memory of device_malloc(). Null is allowed.
__device__ inline void device_free(void* memory) { free(memory); }
#else
inline void* device_malloc(std::size_t bytes) { return cpu::heap_allocate(bytes); }
inline void device_free(void* memory) { cpu::heap_free(memory); }
#endif

/// Uninitialized storage for `n` objects. `__shared__` requires a default constructor of its
/// variables, which T need not have.
template <class T, std::size_t n>
struct uninitialized_array {
  alignas(T) unsigned char bytes[sizeof(T) * n];  ///< the memory

  /// Returns the first object.
  __host__ __device__ T* data() { return reinterpret_cast<T*>(bytes); }
  __host__ __device__ T& operator[](std::size_t i) { return data()[i]; }  ///< Returns object i.
  /// Returns object i.
  __host__ __device__ const T& operator[](std::size_t i) const {
    return reinterpret_cast<const T*>(bytes)[i];
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
