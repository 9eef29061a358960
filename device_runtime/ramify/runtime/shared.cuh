// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Memory that a kernel gets at run time: dynamic shared memory and the device-side heap.

#include <cstddef>
#include <cstdlib>
#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// The block's dynamic shared memory as a T, uninitialised. The launch must ask for at least
/// sizeof(T) bytes. Every call in a block gives the same memory.
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

/// malloc() in a kernel: null when the heap (cudaLimitMallocHeapSize, see launch_limits) is used
/// up. Memory outlives the grid; any later kernel may free it.
__device__ inline void* device_malloc(std::size_t bytes) {
#if RAMIFY_ON_CUDA
  return malloc(bytes);
#else
  return cpu::heap_allocate(bytes);
#endif
}

__device__ inline void device_free(void* memory) {
#if RAMIFY_ON_CUDA
  free(memory);
#else
  cpu::heap_free(memory);
#endif
}

/// Room for `n` objects whose type need not be default-constructible, as `__shared__` demands.
template <class T, std::size_t n>
struct uninitialized_array {
  alignas(T) unsigned char bytes[sizeof(T) * n];

  __host__ __device__ T* data() { return reinterpret_cast<T*>(bytes); }
  __host__ __device__ T& operator[](std::size_t i) { return data()[i]; }
  __host__ __device__ const T& operator[](std::size_t i) const {
    return reinterpret_cast<const T*>(bytes)[i];
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
