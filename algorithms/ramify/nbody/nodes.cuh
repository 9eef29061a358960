// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// From a spatial tree to what the walk reads: a cell for each node, with its mass, its centre of
/// mass, and the distance from which they may stand for its bodies.

#include <ramify/nbody/interaction.cuh>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A node as the walk sees it.
template <class Real>
struct alignas(4 * sizeof(Real)) gravity_cell {
  point_mass<Real> all;  ///< all mass of the cell, in its centre
  /// Bodies farther from the centre than the root of this take the cell as one mass.
  Real opening2;
  std::uint32_t first;     ///< child, or of a leaf: body
  std::uint32_t bodies;    ///< of a leaf; else 0
  std::uint32_t children;  ///< 0: a leaf
};

/// Mass and centre of mass of some bodies. Where masses have different signs, their centre may lie
/// anywhere, so bodies weigh by magnitude here, which for masses of one sign is the same.
template <class Real>
struct mass_summary {
  point_mass<Real> all;
  Real weight;  ///< the sum of the magnitudes of the masses
};

/// How summarize() sums masses up.
template <class Real>
struct fold_mass {
  const point_mass<Real>* bodies;  ///< in the tree's order
  mass_summary<Real>* sums;        ///< of the nodes

  __device__ mass_summary<Real> of_point(std::uint32_t i) const {
    const point_mass<Real> b = bodies[i];
    return {b, b.mass < 0 ? -b.mass : b.mass};
  }
  /// The centre goes from a's towards b's. (Sums of mass times position would overflow earlier.)
  __device__ mass_summary<Real> combine(const mass_summary<Real>& a,
                                        const mass_summary<Real>& b) const {
    const Real weight = a.weight + b.weight;
    const Real part = weight > 0 ? b.weight / weight : Real{0};
    return {{a.all.x + (b.all.x - a.all.x) * part, a.all.y + (b.all.y - a.all.y) * part,
             a.all.z + (b.all.z - a.all.z) * part, a.all.mass + b.all.mass},
            weight};
  }
  __device__ mass_summary<Real>& at(std::uint32_t node) const { return sums[node]; }
};

/// The square of the distance from `center` from which a cell counts as one mass: its longest side
/// over theta, and never less than to its farthest corner, so that no body is ever in a cell that it
/// takes as one mass (Barnes and Hut's rule alone allows that when theta is greater than 1/sqrt(3):
/// Salmon and Warren, 1994).
template <class Real>
__device__ Real opening_distance2(const box<Real, 3>& bounds, const point<Real, 3>& center,
                                  Real theta) {
  Real side = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real length = bounds.upper.x[axis] - bounds.lower.x[axis];
    if (side < length) side = length;
  }
  const Real far2 = bounds.farthest2(center) * (1 + 8 * limits_of<Real>::epsilon);
  if (theta == 0) return limits_of<Real>::infinity;
  const Real wanted = side / theta;
  return far2 < wanted * wanted ? wanted * wanted : far2;
}

/// Positions and masses together, in the tree's order. A thread a body.
template <class Real>
__global__ void gather_bodies(spatial_tree_view<Real, 3> tree, const Real* masses,
                              point_mass<Real>* bodies, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.point_count) return;
  const point<Real, 3> p = tree.points[i];
  bodies[i] = {p.x[0], p.x[1], p.x[2], masses[tree.ids[i]]};
}

/// A thread a node.
template <class Real>
__global__ void make_cells(spatial_tree_view<Real, 3> tree, const mass_summary<Real>* sums,
                           Real theta, gravity_cell<Real>* cells, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.node_count) return;
  const spatial_node<Real, 3> node = tree.nodes[i];
  const point_mass<Real> all = sums[i].all;
  cells[i] = {all, opening_distance2(node.bounds, {{all.x, all.y, all.z}}, theta),
              node.is_leaf() ? node.begin : node.first_child, node.is_leaf() ? node.size() : 0,
              node.children};
}

}  // namespace ramify::inline RAMIFY_BUILD
