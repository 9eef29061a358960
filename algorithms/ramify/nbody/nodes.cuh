// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The nodes that the traversal reads: for each node of the spatial tree its mass, its center of
/// mass, and the distance beyond which it may act as one mass. compute_centers_of_mass() launches
/// the grids that write them.

#include <cstddef>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/interaction.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// A node of the octree, as the traversal reads it.
template <class Real>
struct alignas(4 * sizeof(Real)) gravity_node {
  point_mass<Real> center;  ///< center of mass, with the mass of all bodies of the node
  /// A body interacts with the node as one mass if its squared distance from the center is larger.
  Real opening_radius2;
  std::uint32_t first;        ///< first child; in a leaf: first body
  std::uint32_t body_count;   ///< bodies of a leaf; 0 in an inner node
  std::uint32_t child_count;  ///< 0 in a leaf
};

/// The mass and the center of mass of a set of bodies. The bodies are weighted by the magnitudes of
/// their masses, because the usual center may lie anywhere if masses have both signs. For masses of
/// one sign the two centers are equal.
template <class Real>
struct mass_sum {
  point_mass<Real> center;
  Real weight;  ///< sum of the magnitudes of the masses
};

/// The reduction by which reduce_bottom_up() calculates the mass_sum of each node.
template <class Real>
struct mass_reduction {
  const point_mass<Real>* bodies;  ///< in the tree's order
  mass_sum<Real>* sums;            ///< one for each node

  __device__ mass_sum<Real> of_point(std::uint32_t i) const {
    const point_mass<Real> body = bodies[i];
    return {body, body.mass < 0 ? -body.mass : body.mass};
  }
  /// Interpolates between the centers of a and b: sums of mass times position would overflow
  /// earlier.
  __device__ mass_sum<Real> combine(const mass_sum<Real>& a, const mass_sum<Real>& b) const {
    const Real weight = a.weight + b.weight;
    const Real part = weight > 0 ? b.weight / weight : Real{0};
    return {{a.center.x + (b.center.x - a.center.x) * part,
             a.center.y + (b.center.y - a.center.y) * part,
             a.center.z + (b.center.z - a.center.z) * part, a.center.mass + b.center.mass},
            weight};
  }
  __device__ mass_sum<Real>& at(std::uint32_t node) const { return sums[node]; }
};

/// Returns the square of the opening radius: the longest side of the box over theta, but at least
/// the distance from `center` to the farthest corner. So a body never interacts with a node that
/// contains it. (Barnes and Hut's criterion alone allows that for theta > 1/sqrt(3): Salmon and
/// Warren, 1994.)
template <class Real>
__device__ Real opening_radius2(const box<Real, 3>& bounds, const point<Real, 3>& center,
                                Real theta) {
  Real side = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real length = bounds.upper.x[axis] - bounds.lower.x[axis];
    if (side < length) side = length;
  }
  const Real farthest2 = bounds.max_distance2(center) * (1 + 8 * real_limits<Real>::epsilon);
  if (theta == 0) return real_limits<Real>::infinity;
  const Real radius = side / theta;
  return farthest2 < radius * radius ? radius * radius : farthest2;
}

/// Stores positions and masses together, in the tree's order. One thread for each body.
template <class Real>
__global__ void gather_bodies(spatial_tree_view<Real, 3> tree, const Real* masses,
                              point_mass<Real>* bodies, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.point_count) return;
  const point<Real, 3> p = tree.points[i];
  bodies[i] = {p.x[0], p.x[1], p.x[2], masses[tree.ids[i]]};
}

/// Writes the nodes for the traversal. One thread for each node.
template <class Real>
__global__ void make_nodes(spatial_tree_view<Real, 3> tree, const mass_sum<Real>* sums, Real theta,
                           gravity_node<Real>* nodes, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.nodes_built()) return;
  const spatial_node<Real, 3> node = tree.nodes[i];
  const point_mass<Real> center = sums[i].center;
  nodes[i] = {center, opening_radius2(node.bounds, {{center.x, center.y, center.z}}, theta),
              node.is_leaf() ? node.begin : node.first_child, node.is_leaf() ? node.size() : 0,
              node.children};
}

/// The memory of the phases after the build.
template <class Real>
struct gravity_scratch {
  gravity_progress* progress = nullptr;
  point_mass<Real>* bodies = nullptr;
  mass_sum<Real>* sums = nullptr;
  gravity_node<Real>* nodes = nullptr;
  unsigned* counters = nullptr;  ///< used by reduce_bottom_up()

  /// Lays out memory for n bodies and `node_count` nodes. Returns its size in bytes.
  std::size_t take(void* base, std::size_t n, std::size_t node_count) {
    memory_layout memory(base);
    progress = memory.take<gravity_progress>(1);
    bodies = memory.take<point_mass<Real>>(n);
    sums = memory.take<mass_sum<Real>>(node_count);
    nodes = memory.take<gravity_node<Real>>(node_count);
    counters = memory.take<unsigned>(node_count);
    return memory.size();
  }
};

/// Launches 3 grids over a tree with points. Asynchronous. \throws cuda_error
template <class Real>
void compute_centers_of_mass(const spatial_tree_view<Real, 3>& tree, const Real* masses,
                             const nbody_config& config, const gravity_scratch<Real>& scratch,
                             cudaStream_t stream, const trace_ticket& trace) {
  const phase_range range("nbody: centers of mass");
  clear_memory(scratch.counters, tree.node_count, stream, "clearing the nodes' counters");
  runtime::launch_each(gather_bodies<Real>, tree.point_count, stream, "gathering the bodies", tree,
                       masses, scratch.bodies, trace);
  reduce_bottom_up(tree, mass_reduction<Real>{scratch.bodies, scratch.sums}, stream, trace,
                   scratch.counters);
  runtime::launch_each(make_nodes<Real>, tree.node_count, stream, "making the nodes", tree,
                       scratch.sums, static_cast<Real>(config.theta), scratch.nodes, trace);
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
