// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// atomic_ref in both builds of a lesson: cuda::atomic_ref on a GPU, and the executor's, which
/// schedule::weak observes, on the CPU. Lessons 19, 38 and 41 use it.

#include "lesson.hpp"

#if RAMIFY_ON_CUDA
#include <cuda/atomic>
#else
#include <atomic>
#include <ramify/cpu/atomics.hpp>
#endif

namespace lesson {

#if RAMIFY_ON_CUDA
namespace order = cuda;
/// Operations whose order holds for all threads of the GPU.
template <class T>
using device_atomic = cuda::atomic_ref<T, cuda::thread_scope_device>;
/// Operations whose order also holds for the host.
template <class T>
using system_atomic = cuda::atomic_ref<T, cuda::thread_scope_system>;
#else
namespace order = std;
template <class T>
using device_atomic = ramify::cpu::atomic_ref<T>;
template <class T>
using system_atomic = ramify::cpu::atomic_ref<T>;
#endif

}  // namespace lesson
