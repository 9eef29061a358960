// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Products that are rounded before they are added, and quotients and square roots without
/// branches.
///
/// nvcc fuses a product and a sum into one instruction that rounds once. In a * b + c * d it must
/// choose which product is rounded. If the two sides of a face are exchanged, the last bit then
/// changes, and a mirror-symmetric flow slowly loses its symmetry. With both products rounded the
/// flow stays symmetric bit by bit. The CPU executor computes the same bits as the GPU in most
/// steps, but not in all: after 13 equal steps of a blast, the last bits of some values differed.
/// (If the host compiler may fuse, for example with -march=native, add -ffp-contract=off.)

#include <cmath>
#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns a * b, rounded. Use it for products that are terms of a sum, or results that a caller
/// may add.
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

// The divisions and square roots of nvcc end in a branch, for operands near the ends of the range
// of exponents. The branch prevents them from overlapping; a flux has ten, and most are
// independent. The functions below have no branch: they start from an approximation by the
// hardware, apply Newton's iteration, and correct by the remainder (P. Markstein, IBM J. Res. Dev.
// 34 (1990) 111). The results are those of IEEE 754, and therefore those of a CPU, unless the
// operands, their reciprocals, the result or the remainder are near the smallest normal number. For
// a divisor or radicand of 0 or infinity they are NaN.

#if defined(__CUDA_ARCH__)
/// Defines a function for an approximation by the hardware, which has 20 bits for double.
#define RAMIFY_APPROXIMATION(name, instruction, Real, constraint)    \
  __device__ inline Real name(Real x) {                              \
    Real y;                                                          \
    asm(instruction " %0, %1;" : "=" constraint(y) : constraint(x)); \
    return y;                                                        \
  }
RAMIFY_APPROXIMATION(guess_reciprocal, "rcp.approx.ftz.f32", float, "f")
RAMIFY_APPROXIMATION(guess_reciprocal, "rcp.approx.ftz.f64", double, "d")
RAMIFY_APPROXIMATION(guess_inverse_root, "rsqrt.approx.ftz.f32", float, "f")
RAMIFY_APPROXIMATION(guess_inverse_root, "rsqrt.approx.ftz.f64", double, "d")
#undef RAMIFY_APPROXIMATION

/// Returns 1 / x, with an error of one or two units in the last place.
template <class Real>
__device__ Real approximate_reciprocal(Real x) {
  const Real y = guess_reciprocal(x);
  if constexpr (std::is_same_v<Real, float>) {
    return y;
  } else {
    const Real error = fma(-x, y, Real(1));
    return fma(y, fma(error, error, error), y);
  }
}

/// Returns 1 / sqrt(x), with an error in the last bits.
template <class Real>
__device__ Real approximate_inverse_root(Real x) {
  const Real y = guess_inverse_root(x);
  if constexpr (std::is_same_v<Real, float>) {
    return y;
  } else {
    const Real error = fma(-x, times(y, y), Real(1));
    return fma(times(y, error), fma(error, Real(0.375), Real(0.5)), y);
  }
}
#endif

/// Returns 1 / x.
template <class Real>
__host__ __device__ Real reciprocal(Real x) {
#if defined(__CUDA_ARCH__)
  const Real y = approximate_reciprocal(x);
  return fma(y, fma(-x, y, Real(1)), y);
#else
  return 1 / x;
#endif
}

/// Returns a / b.
template <class Real>
__host__ __device__ Real quotient(Real a, Real b) {
#if defined(__CUDA_ARCH__)
  const Real y = reciprocal(b);
  const Real q = times(a, y);
  return fma(fma(-b, q, a), y, q);
#else
  return a / b;
#endif
}

/// Returns the square root of x > 0.
template <class Real>
__host__ __device__ Real square_root(Real x) {
#if defined(__CUDA_ARCH__)
  const Real y = approximate_inverse_root(x);
  const Real root = times(x, y);
  return fma(fma(-root, root, x), times(Real(0.5), y), root);
#else
  return std::sqrt(x);
#endif
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
