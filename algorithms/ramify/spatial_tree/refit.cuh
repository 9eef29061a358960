// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The refit of a tree whose points have moved: spatial_tree::refit().
///
///     find_bounds       bounds.cuh: the box around the points, and the first that is not finite
///     move_points       the new positions, in the tree's order
///     reduce_nodes      reduce_bottom_up.cuh: the tight box of each node
///     loosen_boxes      the boxes of equal points

#include <cmath>
#include <cstdint>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <ramify/spatial_tree/tree_arrays.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Copies new positions into the tree's order. One thread for a point.
template <class Real, int dim>
__global__ void move_points(const point<Real, dim>* positions, const std::uint32_t* ids,
                            std::uint32_t n, point<Real, dim>* ordered, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ordered[i] = positions[ids[i]];
}

/// Extends the box of each node of several equal points, toward 0 or beyond it, so that it is not
/// that of one point. find_nearest() compares only the first index of equal points, because a build
/// orders them. After a refit they are in any order. One thread for a node.
template <class Real, int dim>
__global__ void loosen_boxes(spatial_node<Real, dim>* nodes, std::uint32_t count,
                             trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || nodes[i].size() < 2 || !nodes[i].bounds.is_point()) return;
  const Real x = nodes[i].bounds.lower.x[0];
  if (x < 0) {
    nodes[i].bounds.upper.x[0] = std::nextafter(x, Real{1});
  } else {
    nodes[i].bounds.lower.x[0] = std::nextafter(x, Real{-1});
  }
}

/// Moves the n > 0 points of a complete tree, whose memory the caller owns. Returns the box around
/// them and their least coordinate, after a wait for the check of the positions.
/// \throws std::invalid_argument naming the first position that is not finite, before anything is
///         changed; cuda_error
template <class Real, int dim>
[[nodiscard]] point_bounds<Real, dim> refit_tree(const spatial_tree_view<Real, dim>& tree,
                                                 const point<Real, dim>* positions,
                                                 cudaStream_t stream, const trace_ticket& trace) {
  const std::uint32_t n = tree.point_count;
  const device_buffer<point_bounds<Real, dim>> partial(bounds_blocks(n), stream);
  const device_buffer<unsigned> arrived(1, stream);
  launch_find_bounds<Real, dim>(positions, n, partial.data(), arrived.data(), stream, trace);
  const auto found = read_checked_bounds(partial.data(), "refit: positions", stream);
  auto* const points = const_cast<point<Real, dim>*>(tree.points);
  auto* const nodes = const_cast<spatial_node<Real, dim>*>(tree.nodes);
  launch_each(move_points<Real, dim>, n, stream, "moving points", positions, tree.ids, n, points,
              trace);
  reduce_bottom_up(tree, box_fold<Real, dim>{points, nodes}, stream, trace);
  launch_each(loosen_boxes<Real, dim>, tree.node_count, stream, "extending boxes", nodes,
              tree.node_count, trace);
  return found;
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
