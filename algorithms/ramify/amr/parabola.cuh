// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reconstruction of values at the edges of cells by parabolas (PPM), for a physics with
/// has_parabolas (physics/ppm.cuh).
///
/// The value between two cells is that of a polynomial of third degree whose averages over four
/// cells are theirs: it has an error of fourth order. A limiter changes it where the data are not
/// smooth, so that few new extrema appear. It leaves smooth extrema as they are, unlike the
/// limiters of slopes: it compares second differences of the profile with those of the cells
/// around.
///
/// As those of slopes, the limiter keeps a mirrored flow mirrored bit by bit.
///
/// Sources: P. Colella, P. R. Woodward, J. Comput. Phys. 54 (1984) 174 (parabolas);
/// P. Colella, M. D. Sekora, J. Comput. Phys. 227 (2008) 7069 (limiter at extrema).

#include <cmath>
#include <ramify/amr/reconstruct.cuh>
#include <ramify/amr/rounding.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The limit of the curvature of a profile, as a multiple of the second differences of the cells
/// around it.
template <class Real>
inline constexpr Real curvature_factor = Real(1.25);

/// Returns the number of those that is nearest to 0 if all have one sign, else 0.
template <class Real, class... More>
[[nodiscard]] __host__ __device__ Real common_curvature(Real first, More... more) {
  const bool have_one_sign = (same_sign(first, more) && ...);
  Real least = first;
  ((least = smaller_magnitude(least, more)), ...);
  return have_one_sign ? least : Real(0);
}

/// Returns the second difference of three cells.
template <class Real>
[[nodiscard]] __host__ __device__ Real second_difference(Real below, Real cell, Real above) {
  return (below - cell) + (above - cell);
}

/// Returns the value between the second and the third of four cells. A value that is not between
/// those of the two cells gets a limited curvature.
template <class Real>
[[nodiscard]] __host__ __device__ Real value_between(Real first, Real left, Real right, Real last) {
  const Real mean = Real(0.5) * (left + right);
  const Real edge = mean + times((left + right) - (first + last), Real(1) / 12);
  if ((left <= edge && edge <= right) || (right <= edge && edge <= left)) return edge;
  constexpr Real factor = curvature_factor<Real>;
  const Real curvature = common_curvature(times(Real(3), (left - edge) + (right - edge)),
                                          times(factor, second_difference(first, left, right)),
                                          times(factor, second_difference(left, right, last)));
  return mean - times(curvature, Real(1) / 6);
}

/// Returns the values at the edges of the cell u[2], from the cells u[0] to u[4].
template <class Real>
[[nodiscard]] __host__ __device__ edge_values<Real> parabola_of(const Real (&u)[5]) {
  Real lower = value_between(u[0], u[1], u[2], u[3]) - u[2];
  Real upper = value_between(u[1], u[2], u[3], u[4]) - u[2];
  const bool is_monotone = (lower < 0 && upper > 0 && u[1] < u[2] && u[2] < u[3]) ||
                           (lower > 0 && upper < 0 && u[1] > u[2] && u[2] > u[3]);
  if (is_monotone) {
    // An extremum of the parabola inside the cell moves to an edge.
    if (std::fabs(upper) > 2 * std::fabs(lower)) {
      upper = -2 * lower;
    } else if (std::fabs(lower) > 2 * std::fabs(upper)) {
      lower = -2 * upper;
    }
  } else {
    constexpr Real factor = curvature_factor<Real>;
    constexpr Real least = sizeof(Real) == 4 ? Real(0x1p-100) : Real(0x1p-1000);
    const Real curvature = times(Real(6), lower + upper);
    const Real limited =
        common_curvature(curvature, times(factor, second_difference(u[0], u[1], u[2])),
                         times(factor, second_difference(u[1], u[2], u[3])),
                         times(factor, second_difference(u[2], u[3], u[4])));
    // Below `least` the quotient may not be a number on a GPU.
    const Real share = std::fabs(curvature) > least ? quotient(limited, curvature) : Real(0);
    lower = times(lower, share);
    upper = times(upper, share);
  }
  return {u[2] + lower, u[2] + upper};
}

/// Returns the values at the edges of a cell, from the primitive values of five cells along an
/// axis, of which it is the third. If density or pressure at an edge is not positive, both edges
/// get the values of the cell.
template <class Physics>
[[nodiscard]] __host__ __device__ edge_values<typename Physics::values> parabola_in_cell(
    const Physics& physics, const typename Physics::values& first,
    const typename Physics::values& below, const typename Physics::values& cell,
    const typename Physics::values& above, const typename Physics::values& last) {
  using real = typename Physics::real;
  edge_values<typename Physics::values> edges;
  for (int v = 0; v < Physics::variables; ++v) {
    const real around[5] = {first[v], below[v], cell[v], above[v], last[v]};
    const edge_values<real> of_variable = parabola_of(around);
    edges.lower[v] = of_variable.lower;
    edges.upper[v] = of_variable.upper;
  }
  return positive_edges(physics, cell, edges);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
