// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Balls in packets: a warp visits each node once for its 32 queries, which are close in space.
/// This form is for visitors that decide about each node (clusters); ball_packet is faster for
/// others.
///
///   1. Pop a node from the packet's stack. All lanes read the same node, and each lane decides
///      whether its query needs it.
///   2. A leaf: all lanes read its points one after the other.
///   3. An inner node: lane c decides about child c, for the box around all queries of the packet.
///      The children that are needed are pushed.
///
/// A packet visits more nodes than one of its queries. But its lanes do not diverge, and it reads a
/// point once for 32 queries.

#include <cstdint>
#include <ramify/spatial_tree/node.cuh>
#include <ramify/spatial_tree/radius.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Threads of a block of packets.
inline constexpr unsigned packet_threads = 128;
inline constexpr unsigned packets_of_block = packet_threads / 32;

/// Returns the box of the lane whose number differs in the bit `distance`. All lanes call it.
template <class Real, int dim>
[[nodiscard]] __device__ box<Real, dim> box_of_lane(const box<Real, dim>& mine, int distance) {
  box<Real, dim> other;
  for (int axis = 0; axis < dim; ++axis) {
    other.lower.x[axis] = __shfl_xor_sync(full_warp_mask, mine.lower.x[axis], distance);
    other.upper.x[axis] = __shfl_xor_sync(full_warp_mask, mine.upper.x[axis], distance);
  }
  return other;
}

/// Returns the smallest box around the queries of a warp. All lanes call it together.
template <class Real, int dim>
[[nodiscard]] __device__ box<Real, dim> box_of_warp(const point<Real, dim>& query) {
  box<Real, dim> around = box<Real, dim>::of(query);
  for (int distance = 16; distance > 0; distance /= 2) {
    around = box<Real, dim>::enclosing(around, box_of_lane(around, distance));
  }
  return around;
}

/// The stack of a packet of balls, in shared memory: nodes, and the lanes that need them.
template <int dim>
struct ball_stack {
  std::uint32_t nodes[spatial_shape<dim>::stack_size];
  std::uint32_t lanes[spatial_shape<dim>::stack_size];
};

/// Visits the points in the balls of a warp, as visit_region() does for one; `active` is false for
/// a lane without a query. The lanes have different visitors.
template <class Real, int dim, class Metric, class Visitor>
__device__ void visit_packet(const spatial_tree_view<Real, dim>& tree,
                             const point<Real, dim>& query, bool active, const Metric& metric,
                             Real radius2, ball_stack<dim>& stack, Visitor& visitor) {
  const unsigned lane = threadIdx.x % 32;
  const box<Real, dim> around = box_of_warp(query);
  const unsigned active_lanes = __ballot_sync(full_warp_mask, active);
  if (lane == 0) {
    stack.nodes[0] = 0;
    stack.lanes[0] = active_lanes;
  }
  __syncwarp();
  unsigned count = tree.nodes_built() > 0 ? 1 : 0;
  while (count > 0) {
    // 1. Which queries need the node?
    --count;
    const auto node = tree.nodes[stack.nodes[count]];
    bool needs = (stack.lanes[count] >> lane & 1) != 0;
    needs = needs && !visitor.skips(node) && metric.min_distance2(node.bounds, query) <= radius2;
    if (may_be_taken<Visitor>(node) && needs &&
        metric.max_distance2(node.bounds, query) <= radius2) {
      needs = !visitor.takes(node);
    }
    const unsigned lanes = __ballot_sync(full_warp_mask, needs);
    if (lanes == 0) continue;
    // 2. A leaf: test its points.
    if (node.is_leaf()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        if (needs) visit_point(tree, placed_ball{query, metric, radius2}, i, visitor);
      }
      continue;
    }
    // 3. An inner node: push the children that a query may need, the first one on top. Each lane's
    //    vote depends on what it has read from the top of the stack, so the pushes overwrite
    //    nothing that a lane still has to read.
    const std::uint32_t child = node.first_child + lane;
    bool is_near = false;
    if (lane < node.children) {
      const auto copy = tree.nodes[child];
      is_near = metric.min_distance2(copy.bounds, around) <= radius2;
    }
    const unsigned children = __ballot_sync(full_warp_mask, is_near);
    if ((children >> lane & 1) != 0) {
      const unsigned at = count + static_cast<unsigned>(__popc(children >> lane >> 1));
      stack.nodes[at] = child;
      stack.lanes[at] = lanes;
    }
    count += static_cast<unsigned>(__popc(children));
    __syncwarp();
  }
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
