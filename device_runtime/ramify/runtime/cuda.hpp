// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's words, for whichever compiler reads this: the toolkit's under nvcc, else the CPU
/// executor's. Include it first in a file of kernels.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA
#include <cuda_runtime.h>
#else
#include <ramify/cpu/words.hpp>

// CUDA's words are global names, and a kernel file spells them so.
using namespace ramify::cpu::words;
#endif
