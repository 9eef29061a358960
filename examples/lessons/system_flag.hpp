// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Flags in pinned memory, by which the host and a running kernel give each other data. Each flag
/// has one writer. Lessons 38 and 41 use them.

#include "lesson.hpp"

#if RAMIFY_ON_CUDA
#include <cuda/atomic>
#else
#include <atomic>
#endif

namespace lesson {

#if RAMIFY_ON_CUDA
namespace order = cuda;
template <class T>
using system_atomic = cuda::atomic_ref<T, cuda::thread_scope_system>;
#else
namespace order = std;
template <class T>
using system_atomic = std::atomic_ref<T>;
#endif

/// Returns the flag. What its writer wrote before it is then visible to this thread.
__host__ __device__ inline unsigned read_flag(unsigned& flag) {
  return system_atomic<unsigned>(flag).load(order::memory_order_acquire);
}

/// Sets the flag, after everything that this thread has written before.
__host__ __device__ inline void write_flag(unsigned& flag, unsigned value) {
  system_atomic<unsigned>(flag).store(value, order::memory_order_release);
}

}  // namespace lesson
