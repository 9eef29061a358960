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

/// Two differences of one sign, by size. Of opposite signs, or one of them 0 or NaN: both 0.
template <class Real>
struct ordered_differences {
  Real smaller;  ///< >= 0
  Real larger;   ///< >= 0
  Real sign;     ///< of both

  __host__ __device__ ordered_differences(Real left, Real right) {
    // Without branches: threads of a warp stay together.
    const bool same_sign = (left > 0 && right > 0) || (left < 0 && right < 0);
    const Real l = std::fabs(left);
    const Real r = std::fabs(right);
    const bool in_order = l < r;
    smaller = !same_sign ? 0 : in_order ? l : r;
    larger = !same_sign ? 0 : in_order ? r : l;
    sign = left > 0 ? Real(1) : Real(-1);
  }
};

/// The smaller of the two: the most diffusive.
struct minmod {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const ordered_differences<Real> of(left, right);
    return of.sign * of.smaller;
  }
};

/// Their mean, at most twice the smaller (B. van Leer, J. Comput. Phys. 23 (1977) 276). The
/// default: exactly central where the flow is smooth.
struct monotonized_central {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const ordered_differences<Real> of(left, right);
    const Real mean = Real(0.5) * (of.smaller + of.larger);
    const Real most = 2 * of.smaller;
    return of.sign * (mean < most ? mean : most);
  }
};

/// Their harmonic mean (B. van Leer, J. Comput. Phys. 14 (1974) 361): between the other two, and
/// smooth.
struct van_leer {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const ordered_differences<Real> of(left, right);
    if (!(of.larger > 0)) return 0;
    return of.sign * (2 * of.smaller / (1 + of.smaller / of.larger));
  }
};

/// No slope: first order, to compare with.
struct piecewise_constant {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real /*left*/, Real /*right*/) const {
    return 0;
  }
};

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
  using Real = typename Physics::real;
  edge_values<typename Physics::values> edges;
  for (int i = 0; i < Physics::variables; ++i) {
    const Real half = Real(0.5) * limited(cell[i] - below[i], above[i] - cell[i]);
    edges.lower[i] = cell[i] - half;
    edges.upper[i] = cell[i] + half;
  }
  if (!physics.positive(edges.lower) || !physics.positive(edges.upper)) return {cell, cell};
  return edges;
}

}  // namespace ramify::inline RAMIFY_BUILD
