// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA built-ins: the toolkit's under nvcc, else those of the CPU executor. Include
/// this header first in a file of kernels.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA
#include <cuda_runtime.h>
#else
#include <ramify/cpu/cuda_builtins.hpp>

// CUDA built-ins are global names.
using namespace ramify::cpu::builtins;
#endif

namespace ramify {

/// The mask of a warp with all its lanes, for the warp functions that take one.
inline constexpr unsigned full_warp_mask = 0xffffffffu;

}  // namespace ramify
