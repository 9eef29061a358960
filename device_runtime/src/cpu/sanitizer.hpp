// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reports to ThreadSanitizer the order of accesses that an uninstrumented library establishes, and
/// to LeakSanitizer the objects that only such a library holds. In other builds the functions do
/// nothing.

#include <ramify/cpu/sanitizers.hpp>

#if RAMIFY_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif
#if RAMIFY_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ramify::cpu {

/// This thread's accesses before the call happen before the accesses of another thread after its
/// acquire_order() of the same address.
inline void release_order([[maybe_unused]] void* address) {
#if RAMIFY_THREAD_SANITIZER
  __tsan_release(address);
#endif
}

/// Ends the order that release_order() of the same address begins.
inline void acquire_order([[maybe_unused]] void* address) {
#if RAMIFY_THREAD_SANITIZER
  __tsan_acquire(address);
#endif
}

/// Makes LeakSanitizer ignore an object, and what it refers to, if it is still allocated when the
/// program ends.
inline void ignore_leak([[maybe_unused]] const void* object) {
#if RAMIFY_ADDRESS_SANITIZER
  __lsan_ignore_object(object);
#endif
}

}  // namespace ramify::cpu
