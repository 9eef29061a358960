// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The nodes that the traversal reads: for each node of the spatial tree its mass, its center of
/// mass, its quadrupole for order 2, and the distance beyond which it may act as one source.
/// compute_moments() launches the grids that write them.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/moments.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <type_traits>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// A node of the octree, as the traversal reads it. A group of bodies interacts with the node as
/// one source if its squared distance from the center is larger than both squared radii.
template <class Real>
struct alignas(4 * sizeof(Real)) gravity_node {
  point_mass<Real> center;    ///< center of mass, with the mass of all bodies of the node
  Real opening_radius2;       ///< in the unit that group_walk::choose_unit() chooses
  Real containing_radius2;    ///< at least the squared distance from the center to any corner
  std::uint32_t first;        ///< first child; in a leaf: first body
  std::uint16_t body_count;   ///< bodies of a leaf; 0 in an inner node
  std::uint16_t child_count;  ///< 0 in a leaf
};

/// When a node acts as one source. With theta: if its longest side is less than theta times its
/// distance. With a node error e: if W (s/2)^(order + 1) / d^(order + 3), the scale of the first
/// term of the series that the node leaves out, is at most e times the acceleration of the group;
/// W is the sum of the magnitudes of its masses, s its longest side, and d its distance. (Springel,
/// 2005, has this for order 1.) Close to its farthest corner the series hardly converges, so a leaf
/// must then be twice as far as that corner: its few bodies cost little.
template <class Real>
struct opening_criterion {
  Real theta;
  Real node_error;  ///< 0: theta decides
  int order;
  Real softening2;

  explicit opening_criterion(const nbody_options& options)
      : theta(static_cast<Real>(options.theta)),
        node_error(static_cast<Real>(node_error_of(options.tolerance, options.order))),
        order(options.order),
        softening2(static_cast<Real>(options.softening) * static_cast<Real>(options.softening)) {}

  /// The exponent of the error of a node in its squared opening radius.
  [[nodiscard]] __device__ Real exponent() const { return Real{2} / static_cast<Real>(order + 3); }

  /// Returns the factor of gravity_node::containing_radius2.
  [[nodiscard]] __device__ Real margin2(bool is_leaf) const {
    return is_leaf && node_error > 0 ? Real{4} : Real{1};
  }

  /// Returns the squared distance, in units of (e a)^(-1/2), beyond which a quadrupole changes an
  /// acceleration by at most 0.1 e a. A matrix T without trace changes it by at most
  /// |T| sqrt(3/2) / d^4, where |T| is the Frobenius norm. A trace acts only with softening.
  [[nodiscard]] __device__ Real mass_radius2(const quadrupole<Real>& t, Real containing2) const {
    const Real third = 2 * t.sixth_of_trace;
    const Real xx = t.xx - third;
    const Real yy = t.yy - third;
    const Real zz = t.zz - third;
    const Real norm2 = xx * xx + yy * yy + zz * zz + 2 * (t.xy * t.xy + t.xz * t.xz + t.yz * t.yz);
    const Real of_trace =
        5 * std::abs(t.sixth_of_trace) * (softening2 / (softening2 + containing2));
    return std::sqrt(10 * (std::sqrt(Real{1.5} * norm2) + of_trace)) * t.scale;
  }

  /// Returns gravity_node::opening_radius2.
  [[nodiscard]] __device__ Real radius2(Real side, Real weight) const {
    if (node_error > 0) {
      return std::pow(weight, exponent()) *
             std::pow(side / 2, exponent() * static_cast<Real>(order + 1));
    }
    return theta == 0 ? real_limits<Real>::infinity : (side / theta) * (side / theta);
  }
};

/// Returns the longest side of a box.
template <class Real>
__device__ Real longest_side(const box<Real, 3>& bounds) {
  Real side = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real length = bounds.upper.x[axis] - bounds.lower.x[axis];
    if (side < length) side = length;
  }
  return side;
}

/// Returns gravity_node::containing_radius2. So a body never interacts as with one source with a
/// node that contains it. (Barnes and Hut's criterion alone allows that for theta > 1/sqrt(3):
/// Salmon and Warren, 1994.) It is large enough that distances from accepted nodes have normal
/// squares.
template <class Real>
__device__ Real containing_radius2(const box<Real, 3>& bounds, const point<Real, 3>& center) {
  const Real farthest2 = bounds.max_distance2(center) * (1 + 8 * real_limits<Real>::epsilon);
  constexpr Real least = 2 * real_limits<Real>::least_normal;
  return farthest2 < least ? least : farthest2;
}

/// Calls `use` with the order as std::integral_constant<int, order>.
template <class Use>
void with_order(int order, Use use) {
  if (order == 1) {
    use(std::integral_constant<int, 1>{});
  } else {
    use(std::integral_constant<int, 2>{});
  }
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

/// The memory of the phases after the build.
template <class Real>
struct gravity_scratch {
  gravity_progress* progress = nullptr;
  point_mass<Real>* bodies = nullptr;
  std::byte* sums = nullptr;  ///< one for each node: of type Reduction::sum
  gravity_node<Real>* nodes = nullptr;
  quadrupole<Real>* quadrupoles = nullptr;  ///< order 2
  /// The results of opening_criterion::mass_radius2(), for order 2. Null if theta decides: then all
  /// quadrupoles act.
  Real* mass_radii2 = nullptr;
  unsigned* counters = nullptr;  ///< used by reduce_bottom_up()

  /// Lays out memory for n bodies and `node_count` nodes. Returns its size in bytes.
  template <template <class, int> class Reduction = moment_reduction>
  std::size_t take(void* base, std::size_t n, std::size_t node_count,
                   const nbody_options& options) {
    memory_layout memory(base);
    progress = memory.take<gravity_progress>(1);
    bodies = memory.take<point_mass<Real>>(n);
    with_order(options.order, [&](auto o) {
      sums = memory.take<std::byte>(node_count * sizeof(typename Reduction<Real, o>::sum));
    });
    nodes = memory.take<gravity_node<Real>>(node_count);
    quadrupoles = memory.take<quadrupole<Real>>(options.order == 2 ? node_count : 0);
    mass_radii2 =
        options.order == 2 && options.tolerance > 0 ? memory.take<Real>(node_count) : nullptr;
    counters = memory.take<unsigned>(node_count);
    return memory.size();
  }

  /// Returns the reduction that writes the sums.
  template <class Reduction>
  [[nodiscard]] Reduction reduction() const {
    return {bodies, reinterpret_cast<typename Reduction::sum*>(sums)};
  }
};

/// Writes the nodes for the traversal, from the sums of a reduction. One thread for each node.
template <class Real, int order, class Reduction>
__global__ void make_nodes(spatial_tree_view<Real, 3> tree, gravity_scratch<Real> scratch,
                           Reduction sums, opening_criterion<Real> criterion, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.nodes_built()) return;
  spatial_node<Real, 3> node = tree.nodes[i];
  if constexpr (Reduction::has_boxes) node.bounds = sums.at(i).bounds;
  const auto sum = sums.moments_of(i);
  const auto& [center, weight] = moments<Real, order>::masses(sum);
  const Real side = longest_side(node.bounds);
  // One or two bodies act for less than a quadrupole.
  const bool is_small = node.is_leaf() && node.size() <= order;
  const Real containing2 = containing_radius2(node.bounds, {{center.x, center.y, center.z}});
  scratch.nodes[i] = {center,
                      is_small ? real_limits<Real>::infinity : criterion.radius2(side, weight),
                      criterion.margin2(node.is_leaf()) * containing2,
                      node.is_leaf() ? node.begin : node.first_child,
                      static_cast<std::uint16_t>(node.is_leaf() ? node.size() : 0),
                      node.children};
  if constexpr (order == 2) {
    const quadrupole<Real> second = quadrupole_of(sum, side);
    scratch.quadrupoles[i] = second;
    if (scratch.mass_radii2 != nullptr) {
      scratch.mass_radii2[i] = criterion.mass_radius2(second, containing2);
    }
  }
}

/// Launches 2 grids over a tree with points. They reduce the bodies of `scratch` to the nodes of
/// the traversal. The counters must be 0. Asynchronous. \throws cuda_error
template <class Reduction, int order, class Real>
void reduce_to_nodes(const spatial_tree_view<Real, 3>& tree, const nbody_options& options,
                     const gravity_scratch<Real>& scratch, cudaStream_t stream,
                     const trace_ticket& trace) {
  const auto sums = scratch.template reduction<Reduction>();
  reduce_bottom_up(tree, sums, stream, trace, scratch.counters);
  runtime::launch_each(make_nodes<Real, order, Reduction>, tree.node_count, stream,
                       "making the nodes", tree, scratch, sums, opening_criterion<Real>(options),
                       trace);
}

/// Launches 3 grids over a tree with points. Asynchronous. \throws cuda_error
template <class Real>
void compute_moments(const spatial_tree_view<Real, 3>& tree, const Real* masses,
                     const nbody_options& options, const gravity_scratch<Real>& scratch,
                     cudaStream_t stream, const trace_ticket& trace) {
  const phase_range range("nbody: moments");
  clear_memory(scratch.counters, tree.node_count, stream, "clearing the nodes' counters");
  runtime::launch_each(gather_bodies<Real>, tree.point_count, stream, "gathering the bodies", tree,
                       masses, scratch.bodies, trace);
  with_order(options.order, [&](auto order) {
    reduce_to_nodes<moment_reduction<Real, order>, order>(tree, options, scratch, stream, trace);
  });
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
