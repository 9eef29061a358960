// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which of Ramify's builds this translation unit belongs to.
///
/// Every kernel source is compiled by nvcc for the GPU, and by a plain C++ compiler for the CPU
/// executor. All that depends on the compiler lives in one of three inline namespaces, so a program
/// may hold several builds side by side and the linker never mixes them up:
///
///   ramify::on_cuda        nvcc -rdc=true    kernels may launch child grids
///   ramify::on_cuda_flat   nvcc              no launches from the device: the flat route only
///   ramify::on_cpu         g++ or clang++    the CPU executor plays the device
///
/// With -DRAMIFY_TRACE=1 nvcc makes on_cuda_traced and on_cuda_flat_traced: the same kernels, which can
/// record when they run (grid_trace.cuh). Those of the CPU executor always can.
///
/// What all builds share (configurations, reports, errors) lives in `ramify` itself.

#if __cplusplus < 202002L
#error "Ramify needs C++20: compile with -std=c++20"
#endif

#if defined(__CUDACC__)
#define RAMIFY_ON_CUDA 1
#if !defined(RAMIFY_TRACE)
#define RAMIFY_TRACE 0
#endif
#if defined(__CUDACC_RDC__)
#define RAMIFY_DEVICE_LAUNCH 1
#if RAMIFY_TRACE
#define RAMIFY_BUILD on_cuda_traced
#else
#define RAMIFY_BUILD on_cuda
#endif
#else
#define RAMIFY_DEVICE_LAUNCH 0
#if RAMIFY_TRACE
#define RAMIFY_BUILD on_cuda_flat_traced
#else
#define RAMIFY_BUILD on_cuda_flat
#endif
#endif
#else
#define RAMIFY_ON_CUDA 0
#define RAMIFY_DEVICE_LAUNCH 1
#undef RAMIFY_TRACE
#define RAMIFY_TRACE 1
#define RAMIFY_BUILD on_cpu
#endif

/// Before a loop over an array that is to live in registers, which have no addresses: every turn of the
/// loop becomes code of its own. A CPU has no use for it.
#if RAMIFY_ON_CUDA
#define RAMIFY_UNROLL _Pragma("unroll")
#else
#define RAMIFY_UNROLL
#endif

/// The same for two turns at a time.
#if RAMIFY_ON_CUDA
#define RAMIFY_UNROLL_TWO _Pragma("unroll 2")
#else
#define RAMIFY_UNROLL_TWO
#endif

#if !RAMIFY_ON_CUDA && defined(__CUDA_RUNTIME_API_H__)
#error "Ramify's kernel headers after cuda_runtime.h need nvcc; plain C++ includes a facade (.hpp)"
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Whether kernels of this build can launch child grids.
inline constexpr bool device_launch_available = RAMIFY_DEVICE_LAUNCH != 0;

/// Whether kernels of this build can record when they run.
inline constexpr bool trace_available = RAMIFY_TRACE != 0;

}  // namespace ramify::inline RAMIFY_BUILD

// The internals of the runtime layer are in reach of the internals of every family.
namespace ramify::detail::runtime {}
namespace ramify::detail {
using namespace runtime;
}
