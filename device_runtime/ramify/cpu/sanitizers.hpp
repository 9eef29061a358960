// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines RAMIFY_ADDRESS_SANITIZER and RAMIFY_THREAD_SANITIZER as 0 or 1.
///
/// GCC reports a sanitizer by a macro, clang by __has_feature.

#if defined(__has_feature)
#define RAMIFY_HAS_FEATURE(name) __has_feature(name)
#else
#define RAMIFY_HAS_FEATURE(name) 0  ///< __has_feature of clang; 0 for GCC
#endif

#if defined(__SANITIZE_ADDRESS__) || RAMIFY_HAS_FEATURE(address_sanitizer)
#define RAMIFY_ADDRESS_SANITIZER 1
#else
#define RAMIFY_ADDRESS_SANITIZER 0  ///< whether AddressSanitizer instruments the source
#endif

// The build sets this macro for files that it excludes from instrumentation.
#if !defined(RAMIFY_THREAD_SANITIZER)
#if defined(__SANITIZE_THREAD__) || RAMIFY_HAS_FEATURE(thread_sanitizer)
#define RAMIFY_THREAD_SANITIZER 1
#else
#define RAMIFY_THREAD_SANITIZER 0  ///< whether ThreadSanitizer instruments the source
#endif
#endif
