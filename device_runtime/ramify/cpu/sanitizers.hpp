// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which sanitizer this file is compiled for: RAMIFY_ADDRESS_SANITIZER and RAMIFY_THREAD_SANITIZER
/// are 0 or 1. GCC tells by macros of its own, clang by features.

#if defined(__has_feature)
#define RAMIFY_HAS_FEATURE(name) __has_feature(name)
#else
#define RAMIFY_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || RAMIFY_HAS_FEATURE(address_sanitizer)
#define RAMIFY_ADDRESS_SANITIZER 1
#else
#define RAMIFY_ADDRESS_SANITIZER 0
#endif

// A build may have set this for files that belong to it and are not instrumented themselves.
#if !defined(RAMIFY_THREAD_SANITIZER)
#if defined(__SANITIZE_THREAD__) || RAMIFY_HAS_FEATURE(thread_sanitizer)
#define RAMIFY_THREAD_SANITIZER 1
#else
#define RAMIFY_THREAD_SANITIZER 0
#endif
#endif
