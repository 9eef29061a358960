// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Selects the build that this translation unit belongs to.
///
/// nvcc compiles every kernel source for the GPU, and a C++ compiler compiles it for the CPU
/// executor. Declarations that depend on the compiler are in one of three inline namespaces. A
/// program may therefore link several builds, and the linker does not confuse them:
///
///   on_cuda        nvcc -rdc=true    kernels may launch child grids
///   on_cuda_flat   nvcc              no launches from the device: the flat route only
///   on_cpu         g++ or clang++    kernels run on the CPU executor
///
/// The version precedes these names, as in ramify::v0_1_on_cpu (version.hpp).
///
/// With -DRAMIFY_TRACE=1, nvcc builds on_cuda_traced and on_cuda_flat_traced: the same kernels,
/// which can record when they run (grid_trace.cuh). The kernels of the CPU executor can always
/// record.
///
/// With -DRAMIFY_CHECK=1, nvcc -rdc=true builds on_cuda_checked and on_cuda_traced_checked: kernels
/// that check the rules of dynamic parallelism at each launch (rule_checks.cuh). The CPU executor
/// always checks them. Without -rdc=true no kernel launches, and the definition has no effect.
///
/// Declarations that all builds share (options, reports, errors) are in the inline namespace
/// RAMIFY_ABI, ramify::v0_1.

#include <ramify/runtime/detail/requirements.hpp>
#include <ramify/version.hpp>

#if !defined(__CUDACC__) && defined(__clang__) && !defined(__apple_build_version__) && \
    __clang_major__ < 16
#error "Ramify's kernels for the CPU executor need Clang 16 or later, or GCC 11 or later"
#endif

#if defined(__CUDACC__)
#define RAMIFY_ON_CUDA 1
#if !defined(RAMIFY_TRACE)
#define RAMIFY_TRACE 0
#endif
#if !defined(RAMIFY_CHECK)
#define RAMIFY_CHECK 0
#endif
#if defined(__CUDACC_RDC__)
#define RAMIFY_DEVICE_LAUNCH 1
#if RAMIFY_TRACE && RAMIFY_CHECK
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda_traced_checked)
#elif RAMIFY_TRACE
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda_traced)
#elif RAMIFY_CHECK
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda_checked)
#else
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda)
#endif
#else
#define RAMIFY_DEVICE_LAUNCH 0
#undef RAMIFY_CHECK
#define RAMIFY_CHECK 0
#if RAMIFY_TRACE
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda_flat_traced)
#else
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cuda_flat)
#endif
#endif
#else
#define RAMIFY_ON_CUDA 0        ///< whether nvcc compiles the source
#define RAMIFY_DEVICE_LAUNCH 1  ///< whether kernels may launch grids
#undef RAMIFY_TRACE
#define RAMIFY_TRACE 1  ///< whether kernels can record when they run
#undef RAMIFY_CHECK
#define RAMIFY_CHECK 0                         ///< whether kernels on a GPU check the rules
#define RAMIFY_BUILD RAMIFY_VERSIONED(on_cpu)  ///< the inline namespace of the build
#endif

// In device code for a GPU, RAMIFY_UNROLL unrolls the next loop fully, RAMIFY_UNROLL_TWO unrolls
// it by a factor of two, and RAMIFY_NO_UNROLL keeps it. A loop over an array needs full unrolling
// so that the array can be kept in registers, which cannot be indexed at run time.
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)  // a host compiler warns of the pragma
#define RAMIFY_UNROLL _Pragma("unroll")
#define RAMIFY_UNROLL_TWO _Pragma("unroll 2")
#define RAMIFY_NO_UNROLL _Pragma("unroll 1")
#else
#define RAMIFY_UNROLL      ///< unrolls the next loop fully in device code for a GPU
#define RAMIFY_UNROLL_TWO  ///< unrolls the next loop by a factor of two in device code for a GPU
#define RAMIFY_NO_UNROLL   ///< keeps the next loop in device code for a GPU
#endif

// RAMIFY_INLINE_ON_CUDA precedes the definition of a host function that libramify_runtime has for
// the CPU executor. A program that nvcc compiles has its own copy, because its kernels are its own,
// too.
#if RAMIFY_ON_CUDA
#define RAMIFY_INLINE_ON_CUDA inline  ///< `inline`, if nvcc compiles the source
#else
#define RAMIFY_INLINE_ON_CUDA
#endif

// RAMIFY_UNROLL_EVERYWHERE also unrolls the next loop on the CPU executor, if it has at most 80
// iterations. This saves time if a short body has branches on the loop's index.
#if RAMIFY_ON_CUDA
#define RAMIFY_UNROLL_EVERYWHERE RAMIFY_UNROLL  ///< unrolls the next loop in every build
#elif defined(__clang__)
#define RAMIFY_UNROLL_EVERYWHERE _Pragma("clang loop unroll(full)")
#else
#define RAMIFY_UNROLL_EVERYWHERE _Pragma("GCC unroll 80")
#endif

// Between these two macros, GCC's -Wsign-conversion is off. GCC 12 warns of each array bound and
// each template argument that is an int template parameter. Clang checks the same code.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define RAMIFY_INT_ARRAY_BOUNDS_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")
#define RAMIFY_INT_ARRAY_BOUNDS_END _Pragma("GCC diagnostic pop")
#else
#define RAMIFY_INT_ARRAY_BOUNDS_BEGIN  ///< begins a part without -Wsign-conversion of GCC
#define RAMIFY_INT_ARRAY_BOUNDS_END    ///< ends such a part
#endif

#if !RAMIFY_ON_CUDA && defined(__CUDA_RUNTIME_API_H__)
#error \
    "after cuda_runtime.h, Ramify's kernel headers need nvcc; in plain C++ include a facade (.hpp)"
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Whether kernels of this build can launch child grids.
inline constexpr bool device_launch_available = RAMIFY_DEVICE_LAUNCH != 0;

/// Whether kernels of this build can record when they run.
inline constexpr bool trace_available = RAMIFY_TRACE != 0;

/// Whether kernels of this build check the rules of dynamic parallelism.
inline constexpr bool rules_are_checked = RAMIFY_CHECK != 0 || !RAMIFY_ON_CUDA;

}  // namespace ramify::inline RAMIFY_BUILD

// The internals of the runtime layer are in reach of the internals of every family.
namespace ramify::detail::runtime {}
namespace ramify::detail {
using namespace runtime;
}
