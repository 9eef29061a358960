// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks the compiler. Every public header includes this one first, so that the first error of an
/// unsuitable compiler is one of the sentences below.

#if defined(__CUDACC_VER_MAJOR__)
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1204
#error "Ramify needs nvcc of CUDA 12.4 or later"
#endif
#endif

#if defined(__clang__)
#if !defined(__apple_build_version__) && __clang_major__ < 14
#error "Ramify needs Clang 14 or later"
#endif
#elif defined(__GNUC__) && __GNUC__ < 11
#error "Ramify needs GCC 11 or later"
#endif

#if __cplusplus < 202002L
#error "Ramify needs C++20: compile with -std=c++20"
#endif
