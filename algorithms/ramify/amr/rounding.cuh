// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Products that are rounded before anything is added to them.
///
/// nvcc makes one instruction of a product and a sum, and rounds once. In a * b + c * d it has to
/// choose which product is rounded, so swapping the two sides of a face would change the last bit,
/// and a mirror-symmetric flow would slowly lose its symmetry. With both products rounded it stays
/// symmetric bit by bit, and the CPU executor gets the bits of the GPU. (A host compiler that is
/// told to use fused instructions, as by -march=native, wants -ffp-contract=off beside it.)

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// a * b, rounded. For products that are terms of a sum, or results that a caller may add up.
template <class Real>
__host__ __device__ Real times(Real a, Real b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>) {
    return __fmul_rn(a, b);
  } else {
    return __dmul_rn(a, b);
  }
#else
  return a * b;
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD
