// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CUDA built-ins: those of the toolkit under nvcc, else those of the CPU executor. A file of
/// kernels must include this header first.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA
#include <cuda_runtime.h>
#else
#include <ramify/cpu/cuda_builtins.hpp>
#include <ramify/version.hpp>

// CUDA built-ins are global names.
using namespace ramify::cpu::builtins;
#endif

namespace ramify::inline RAMIFY_ABI {

/// The mask of all lanes of a warp.
inline constexpr unsigned full_warp_mask = 0xffffffffu;

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_BUILD {

/// Returns the number of lanes of a mask before `lane`.
[[nodiscard]] __device__ inline unsigned lanes_before(unsigned mask, unsigned lane) {
  return static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)));
}

}  // namespace ramify::inline RAMIFY_BUILD
