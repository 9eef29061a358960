// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// From cell averages to values at the cells' edges: limited slopes (MUSCL).
///
/// A limiter takes a cell's differences to its two neighbours along an axis and gives the
/// difference between its own two edges. Of opposite signs it makes 0, so no new extremum appears.
/// All limiters here keep a mirrored flow mirrored, bit by bit: exchanging the two differences
/// changes nothing, and reversing both signs reverses the slope's.
///
/// LeVeque: R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, Cambridge 2002, ch. 6.

#include <cmath>
#include <ramify/amr/state.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Whether two numbers have one sign, those that are 0 or NaN too.
template <class Real>
[[nodiscard]] __host__ __device__ bool same_sign(Real left, Real right) {
#if defined(__CUDA_ARCH__)
  // By integers, of which a GPU does more a cycle than comparisons of doubles.
  if constexpr (sizeof(Real) == 4) {
    return (__float_as_int(left) ^ __float_as_int(right)) >= 0;
  } else {
    return (__double2hiint(left) ^ __double2hiint(right)) >= 0;
  }
#else
  return std::signbit(left) == std::signbit(right);
#endif
}

/// The one that is nearer to 0.
template <class Real>
[[nodiscard]] __host__ __device__ Real smaller_one(Real left, Real right) {
  return std::fabs(left) < std::fabs(right) ? left : right;
}

/// What all limiters share: a slope is twice what they say an edge differs from the cell by. (That the
/// sum of two differences equals itself says that neither is NaN.)
template <class Limiter>
struct limiter_base {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    return 2 * static_cast<const Limiter&>(*this).half(left, right);
  }
};

/// The smaller of the two: the most diffusive.
struct minmod : limiter_base<minmod> {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real half(Real left, Real right) const {
    const Real sum = left + right;
    return same_sign(left, right) && sum == sum ? Real(0.5) * smaller_one(left, right) : 0;
  }
};

/// Their mean, at most twice the smaller (B. van Leer, J. Comput. Phys. 23 (1977) 276). The
/// default: exactly central where the flow is smooth.
struct monotonized_central : limiter_base<monotonized_central> {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real half(Real left, Real right) const {
    const Real sum = left + right;
    const Real half = smaller_one(smaller_one(left, right), Real(0.25) * sum);
    return same_sign(left, right) && sum == sum ? half : 0;
  }
};

/// Their harmonic mean (B. van Leer, J. Comput. Phys. 14 (1974) 361): between the other two, and
/// smooth.
struct van_leer : limiter_base<van_leer> {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real half(Real left, Real right) const {
    const Real smaller = smaller_one(left, right);
    const Real sum = left + right;
    const Real half = times(smaller, 1 - quotient(smaller, sum));
    return same_sign(left, right) && std::fabs(sum) > 0 ? half : 0;
  }
};

/// No slope: first order, to compare with.
struct piecewise_constant : limiter_base<piecewise_constant> {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real half(Real /*left*/, Real /*right*/) const {
    return 0;
  }
};

/// Half of the slopes of several values, from their differences.
template <class Limiter, class Values>
[[nodiscard]] __host__ __device__ Values half_slopes(const Limiter& limited, const Values& left,
                                                     const Values& right) {
  Values half;
  for (int i = 0; i < Values::size; ++i) half[i] = limited.half(left[i], right[i]);
  return half;
}

/// Primitive values at a cell's two edges along an axis, on the inner side.
template <class Values>
struct edge_values {
  Values lower, upper;
};

/// The values at the edges of a cell, from its own primitive values and those of its neighbours
/// along an axis. Each lies between the cell's and a neighbour's, but for rounding. If an edge has
/// no positive density or pressure all the same, both get the cell's values.
template <class Physics, class Limiter = monotonized_central>
[[nodiscard]] __host__ __device__ edge_values<typename Physics::values> edges_of_cell(
    const Physics& physics, const typename Physics::values& below,
    const typename Physics::values& cell, const typename Physics::values& above,
    Limiter limited = {}) {
  const auto half = half_slopes(limited, cell - below, above - cell);
  edge_values<typename Physics::values> edges{cell - half, cell + half};
  const bool sound = physics.positive(edges.lower) && physics.positive(edges.upper);
  for (int i = 0; i < Physics::variables; ++i) {
    edges.lower[i] = sound ? edges.lower[i] : cell[i];
    edges.upper[i] = sound ? edges.upper[i] : cell[i];
  }
  return edges;
}

}  // namespace ramify::inline RAMIFY_BUILD
