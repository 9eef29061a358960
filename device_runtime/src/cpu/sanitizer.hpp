// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reports to ThreadSanitizer an order that an uninstrumented library makes. Empty in other builds.

#include <ramify/cpu/sanitizers.hpp>

#if RAMIFY_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu {

/// Orders this thread's accesses so far before those after acquire_order() of the same address.
inline void release_order([[maybe_unused]] void* address) {
#if RAMIFY_THREAD_SANITIZER
  __tsan_release(address);
#endif
}

inline void acquire_order([[maybe_unused]] void* address) {
#if RAMIFY_THREAD_SANITIZER
  __tsan_acquire(address);
#endif
}

}  // namespace ramify::cpu
