// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Moments of the masses of each node, as the bottom-up reduction calculates them: mass and center
/// of mass (order 1), and the second moments about the center (order 2).

#include <cmath>
#include <cstdint>
#include <ramify/nbody/interaction.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The mass and the center of mass of a set of bodies. The bodies are weighted by the magnitudes of
/// their masses, because the usual center may lie anywhere if masses have both signs. For masses of
/// one sign the two centers are equal.
template <class Real>
struct mass_sum {
  point_mass<Real> center;
  Real weight;  ///< sum of the magnitudes of the masses
};

/// A mass_sum and the second moments about its center, over the weight:
/// xy = sum m (x - c_x) (y - c_y) / weight. So they stay in the range of squared distances.
template <class Real>
struct moment_sum {
  mass_sum<Real> masses;
  Real xx, yy, zz, xy, xz, yz;
};

/// Returns the sum of two sets. It interpolates between the centers of a and b: sums of mass times
/// position would overflow earlier.
template <class Real>
__device__ mass_sum<Real> combined(const mass_sum<Real>& a, const mass_sum<Real>& b) {
  const Real weight = a.weight + b.weight;
  const Real part = weight > 0 ? b.weight / weight : Real{0};
  return {
      {a.center.x + (b.center.x - a.center.x) * part, a.center.y + (b.center.y - a.center.y) * part,
       a.center.z + (b.center.z - a.center.z) * part, a.center.mass + b.center.mass},
      weight};
}

/// Adds the second moments of a part of `sum`, about the center of `sum` (parallel-axis theorem). A
/// sum of two products is an explicit fma(): otherwise a compiler may fuse either product, and a
/// refit without moves would not have the bits of a build.
template <class Real>
__device__ void add_part(moment_sum<Real>& sum, const moment_sum<Real>& part) {
  const auto& [center, weight] = sum.masses;
  if (!(weight > 0)) return;
  const Real share = part.masses.weight / weight;
  const Real mass = part.masses.center.mass / weight;
  const Real x = part.masses.center.x - center.x;
  const Real y = part.masses.center.y - center.y;
  const Real z = part.masses.center.z - center.z;
  sum.xx += std::fma(share, part.xx, mass * (x * x));
  sum.yy += std::fma(share, part.yy, mass * (y * y));
  sum.zz += std::fma(share, part.zz, mass * (z * z));
  sum.xy += std::fma(share, part.xy, mass * (x * y));
  sum.xz += std::fma(share, part.xz, mass * (x * z));
  sum.yz += std::fma(share, part.yz, mass * (y * z));
}

/// The moments of one order: the value that reduce_bottom_up() calculates for each node.
template <class Real, int order>
struct moments;

template <class Real>
struct moments<Real, 1> {
  using sum = mass_sum<Real>;
  __device__ static sum of(const point_mass<Real>& body) {
    return {body, body.mass < 0 ? -body.mass : body.mass};
  }
  __device__ static sum combine(const sum& a, const sum& b) { return combined(a, b); }
  __device__ static const mass_sum<Real>& masses(const sum& of) { return of; }
};

template <class Real>
struct moments<Real, 2> {
  using sum = moment_sum<Real>;
  __device__ static sum of(const point_mass<Real>& body) {
    return {moments<Real, 1>::of(body), 0, 0, 0, 0, 0, 0};
  }
  __device__ static sum combine(const sum& a, const sum& b) {
    sum both{combined(a.masses, b.masses), 0, 0, 0, 0, 0, 0};
    add_part(both, a);
    add_part(both, b);
    return both;
  }
  __device__ static const mass_sum<Real>& masses(const sum& of) { return of.masses; }
};

/// The reduction by which reduce_bottom_up() calculates the moments of each node.
template <class Real, int order>
struct moment_reduction {
  using sum = typename moments<Real, order>::sum;
  static constexpr bool has_boxes = false;  ///< make_nodes() takes the tree's boxes

  const point_mass<Real>* bodies;  ///< in the tree's order
  sum* sums;                       ///< one for each node

  __device__ sum of_point(std::uint32_t i) const { return moments<Real, order>::of(bodies[i]); }
  __device__ sum combine(const sum& a, const sum& b) const {
    return moments<Real, order>::combine(a, b);
  }
  __device__ sum& at(std::uint32_t node) const { return sums[node]; }
  __device__ const sum& moments_of(std::uint32_t node) const { return sums[node]; }
};

/// The moments and the box of a set of bodies.
template <class Real, int order>
struct fitted_sum {
  box<Real, 3> bounds;
  typename moments<Real, order>::sum moments_sum;
};

/// The reduction by which a refit calculates the moments and the tight box of each node.
template <class Real, int order>
struct fitting_reduction {
  using sum = fitted_sum<Real, order>;
  static constexpr bool has_boxes = true;

  const point_mass<Real>* bodies;  ///< in the tree's order
  sum* sums;                       ///< one for each node

  __device__ sum of_point(std::uint32_t i) const {
    const point_mass<Real> body = bodies[i];
    return {box<Real, 3>::of({{body.x, body.y, body.z}}), moments<Real, order>::of(body)};
  }
  __device__ sum combine(const sum& a, const sum& b) const {
    return {box<Real, 3>::enclosing(a.bounds, b.bounds),
            moments<Real, order>::combine(a.moments_sum, b.moments_sum)};
  }
  __device__ sum& at(std::uint32_t node) const { return sums[node]; }
  __device__ const auto& moments_of(std::uint32_t node) const { return sums[node].moments_sum; }
};

/// Returns the quadrupole of a node whose box has the longest side `scale`. Without extent it is
/// zero.
template <class Real>
__device__ quadrupole<Real> quadrupole_of(const moment_sum<Real>& sum, Real scale) {
  const auto in_units = [&](Real moment) {
    return scale > 0 ? 3 * sum.masses.weight * (moment / scale / scale) : Real{0};
  };
  const Real xx = in_units(sum.xx);
  const Real yy = in_units(sum.yy);
  const Real zz = in_units(sum.zz);
  return {
      xx, yy, zz, scale, in_units(sum.xy), in_units(sum.xz), in_units(sum.yz), (xx + yy + zz) / 6};
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
