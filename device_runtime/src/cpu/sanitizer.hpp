// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tells ThreadSanitizer of an order that it cannot see, because a library that is not instrumented
/// makes it. Nothing at all in other builds.

#include <ramify/cpu/sanitizers.hpp>

#if RAMIFY_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu {

/// What this thread did so far comes before what follows acquire_order() of the same address.
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
