// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// ball_packet: a warp visits the points in the balls of its 32 queries, for visitors that need all
/// of them. Its lanes first work on different nodes, then on different points, then on different
/// queries:
///
///   1. Expand: the warp pops inner nodes from its stack, four in 3D. Each lane reads one child and
///      compares it with the queries.
///   2. Push the children that are near, the first one on top. Leaves before the first inner node
///      are ready: their points are the next ones in the tree's order.
///   3. Gather the points of the ready leaves: each lane reads one point. Those that are near the
///      packet are collected in shared memory.
///   4. Test: each lane compares its query with all collected points.
///
/// Steps 1 and 3 compare with boxes around several queries, so a packet collects more points than
/// a ball has: about 480 if each ball has 30 points and the queries are all points of the tree. But
/// no lane waits for another one, and the packet reads a point once.

#include <cstdint>
#include <ramify/runtime/lanes.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <ramify/spatial_tree/packets.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Points of the tree, in its order.
struct point_range {
  std::uint32_t begin;
  std::uint32_t end;
  [[nodiscard]] __host__ __device__ std::uint32_t size() const { return end - begin; }
};

/// An element of a packet's stack: the children of an inner node, or the points of a node.
struct pending_node {
  static constexpr std::uint32_t of_leaf = 1u << 30;   ///< points to be tested
  static constexpr std::uint32_t in_balls = 1u << 31;  ///< points in the balls of all queries

  std::uint32_t first = 0;  ///< child or point
  std::uint32_t count = 0;  ///< of children, or of points and a flag

  [[nodiscard]] __device__ bool is_inner() const { return count < of_leaf; }
  [[nodiscard]] __device__ bool is_in_balls() const { return (count & in_balls) != 0; }
  [[nodiscard]] __device__ std::uint32_t points() const {
    return is_in_balls() ? count - in_balls : count - of_leaf;
  }
};

/// The lanes of a packet whose queries have a common box.
inline constexpr unsigned lanes_of_group = 4;

/// The shared memory of a packet.
template <class Real, int dim>
struct packet_memory {
  /// The stack suffices if one node is popped at a time. There are more elements than that, so that
  /// several can be popped.
  static constexpr unsigned single_pops = spatial_shape<dim>::stack_size;
  static constexpr unsigned stack_size = single_pops + 96;
  /// The packet tests its collected points as soon as there are this many.
  static constexpr unsigned full = 96;

  /// Aligned so that a lane reads it in units of 16 bytes.
  struct alignas(16) collected_point {
    point<Real, dim> at;
    std::uint32_t index;
  };

  pending_node stack[stack_size];
  collected_point points[full + 31];
  std::uint32_t leaf_begins[32];  ///< of each ready leaf, less the number of points before it
  box<Real, dim> groups[32 / lanes_of_group];
};

/// The visit of the 32 balls of a warp. All lanes of the warp call its functions together.
/// `Visitor` has the members that visit_region() requires, except skips(). It gets the points of a
/// ball in the tree's order.
template <class Real, int dim, class Metric, class Visitor>
class ball_packet {
  using memory = packet_memory<Real, dim>;
  static constexpr unsigned arity = spatial_shape<dim>::arity;

 public:
  /// The queries are placed in the metric, and the radius is in its unit. A lane without a query
  /// passes the query of another lane, and `active` is false.
  __device__ ball_packet(const spatial_tree_view<Real, dim>& tree, const point<Real, dim>& query,
                         bool active, const Metric& metric, Real radius2, memory& shared,
                         Visitor& visitor)
      : tree_(tree),
        query_(query),
        active_(active),
        metric_(metric),
        radius2_(radius2),
        shared_(shared),
        visitor_(visitor),
        around_(box<Real, dim>::of(query)) {
    for (int distance = 1; distance < 32; distance *= 2) {
      if (distance == lanes_of_group && lane_ % lanes_of_group == 0) {
        shared_.groups[lane_ / lanes_of_group] = around_;
      }
      around_ = box<Real, dim>::enclosing(around_, box_of_lane(around_, distance));
    }
    is_compact_ = metric_.diagonal2_of_placed(around_) <= compact_diagonal2 * radius2_;
    if (tree.nodes_built() == 0) return;
    if (lane_ == 0) shared_.stack[0] = pending(tree.nodes[0]);
    count_ = 1;
    __syncwarp();
  }

  /// Visits the balls.
  __device__ void visit() {
    while (count_ > 0) {
      bool is_near = false;
      const pending_node mine = expand(is_near);
      unsigned ready = push(mine, is_near);
      // Ready points are used in order: those of leaves, up to points that are in all balls.
      const unsigned whole = __ballot_sync(full_warp_mask, mine.is_in_balls()) & ready;
      while (ready != 0) {
        const unsigned first_whole = ready & whole & (0 - (ready & whole));
        const unsigned leaves = first_whole == 0 ? ready : ready & (first_whole - 1);
        if (leaves != 0) gather(mine, leaves);
        if (first_whole != 0) take(mine, __ffs(static_cast<int>(first_whole)) - 1);
        ready &= ~(leaves | first_whole);
      }
    }
    test_points();
  }

 private:
  /// The squared diagonal of the box of a compact packet, in squared radii, at most. It must be 4
  /// or more: some point of any node is half of the diagonal, or more, away from some corner of the
  /// box, so nodes can be in all balls only if the diagonal is at most twice the radius.
  static constexpr unsigned compact_diagonal2 = 16;
  /// If a packet is not compact, each node after this number of steps is also compared with each
  /// query. Boxes around several queries may be mostly empty, for example where the Morton curve
  /// jumps.
  static constexpr unsigned steps_by_boxes = 16;

  /// Returns the stack's element for a node.
  [[nodiscard]] __device__ pending_node pending(const spatial_node<Real, dim>& node) const {
    if (node.is_leaf()) return {node.begin, node.size() | pending_node::of_leaf};
    if constexpr (Visitor::takes_ranges) {
      if (is_compact_ && metric_.max_distance2(node.bounds, around_) <= radius2_) {
        return {node.begin, node.size() | pending_node::in_balls};
      }
    }
    return {node.first_child, node.children};
  }

  /// 1. Pops nodes. Returns this lane's child of one of them, or a popped leaf. Sets `is_near` to
  ///    whether a query may need what is returned.
  [[nodiscard]] __device__ pending_node expand(bool& is_near) {
    constexpr unsigned most = 32 / arity;
    const bool several = count_ + 32 + memory::single_pops <= memory::stack_size;
    const unsigned popped = several ? min(count_, most) : 1;
    const unsigned child = lane_ % arity;
    pending_node mine{};
    if (lane_ / arity < popped) mine = shared_.stack[count_ - 1 - lane_ / arity];
    count_ -= popped;
    ++steps_;
    is_near = child == 0 && !mine.is_inner();
    box<Real, dim> bounds{};
    const bool is_child = mine.is_inner() && child < mine.count;
    if (is_child) {
      const auto node = tree_.nodes[mine.first + child];
      bounds = node.bounds;
      is_near = is_near_group(bounds);
      mine = pending(node);
    }
    if (!is_compact_ && steps_ > steps_by_boxes) {
      const bool is_near_one = is_near_query(bounds, is_child && is_near);
      if (is_child) is_near = is_near_one;
    }
    return mine;
  }

  [[nodiscard]] __device__ bool is_near_group(const box<Real, dim>& bounds) const {
    if (metric_.min_distance2(bounds, around_) > radius2_) return false;
    bool is_near = false;
    for (const auto& group : shared_.groups) {
      is_near = is_near || metric_.min_distance2(bounds, group) <= radius2_;
    }
    return is_near;
  }

  /// Compares this lane's box with the query of each lane, if `has_box`. All lanes call it.
  [[nodiscard]] __device__ bool is_near_query(const box<Real, dim>& bounds, bool has_box) const {
    bool is_near = false;
    for (int from = 0; from < 32 && __any_sync(full_warp_mask, has_box && !is_near); ++from) {
      point<Real, dim> other;
      for (int axis = 0; axis < dim; ++axis) {
        other.x[axis] = __shfl_sync(full_warp_mask, query_.x[axis], from);
      }
      is_near = is_near || (has_box && metric_.min_distance2(bounds, other) <= radius2_);
    }
    return is_near;
  }

  /// 2. Pushes the near elements from the first inner node on. Returns the lanes of those before
  ///    it. No lane still reads what is overwritten: all have voted since they read the stack.
  [[nodiscard]] __device__ unsigned push(const pending_node& mine, bool is_near) {
    const unsigned near_lanes = __ballot_sync(full_warp_mask, is_near);
    const unsigned inner = __ballot_sync(full_warp_mask, is_near && mine.is_inner());
    const unsigned before = inner == 0 ? full_warp_mask : (inner & (0 - inner)) - 1;
    const unsigned pushed = near_lanes & ~before;
    if ((pushed >> lane_ & 1) != 0) {
      shared_.stack[count_ + static_cast<unsigned>(__popc(pushed >> lane_ >> 1))] = mine;
    }
    count_ += static_cast<unsigned>(__popc(pushed));
    __syncwarp();
    return near_lanes & before;
  }

  /// 3. Collects the points of leaves, the elements of some lanes.
  __device__ void gather(const pending_node& mine, unsigned leaves) {
    const bool has_leaf = (leaves >> lane_ & 1) != 0;
    const std::uint32_t size = has_leaf ? mine.points() : 0;
    std::uint32_t before = size;  // points of this lane's leaf and of those before it
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t more = __shfl_up_sync(full_warp_mask, before, distance);
      if (lane_ >= distance) before += more;
    }
    const std::uint32_t total = __shfl_sync(full_warp_mask, before, 31);
    before -= size;
    if (has_leaf) shared_.leaf_begins[lanes_before(leaves, lane_)] = mine.first - before;
    __syncwarp();
    for (std::uint32_t base = 0; base < total; base += 32) {
      // The leaf of the point number base + lane: the last one that begins at or before it.
      const bool begins_here = has_leaf && before >= base && before < base + 32;
      const unsigned begins = or_of_lanes(begins_here ? 1u << (before - base) : 0u);
      const unsigned earlier = __ballot_sync(full_warp_mask, has_leaf && before < base);
      const int leaf = __popc(earlier) + __popc(begins & ((2u << lane_) - 1)) - 1;
      collect(shared_.leaf_begins[leaf] + base + lane_, base + lane_ < total);
    }
    __syncwarp();
  }

  /// Collects point i of each lane with `has_point`, if it is near.
  __device__ void collect(std::uint32_t i, bool has_point) {
    point<Real, dim> at{};
    if (has_point) at = tree_.points[i];
    const bool is_near =
        has_point && metric_.min_distance2(box<Real, dim>::of(at), around_) <= radius2_;
    const unsigned near_lanes = __ballot_sync(full_warp_mask, is_near);
    const unsigned earlier = lanes_before(near_lanes, lane_);
    if (is_near) shared_.points[collected_ + earlier] = {at, i};
    collected_ += static_cast<unsigned>(__popc(near_lanes));
    if (collected_ >= memory::full) test_points();
  }

  /// 4. Compares this lane's query with all collected points.
  __device__ void test_points() {
    __syncwarp();
    for (unsigned i = 0; i < collected_; ++i) {
      const auto candidate = shared_.points[i];
      if (active_ && metric_.distance2(query_, candidate.at) <= radius2_) {
        pass_point(visitor_, candidate.index,
                   [&] { return metric_.distance2(query_, candidate.at); });
      }
    }
    collected_ = 0;
    __syncwarp();
  }

  /// Passes the points of lane `from`'s element, which are in all balls, to all visitors.
  __device__ void take(const pending_node& mine, int from) {
    test_points();
    const std::uint32_t begin = __shfl_sync(full_warp_mask, mine.first, from);
    const std::uint32_t size = __shfl_sync(full_warp_mask, mine.points(), from);
    if (active_) static_cast<void>(visitor_.takes(point_range{begin, begin + size}));
  }

  const spatial_tree_view<Real, dim>& tree_;
  const point<Real, dim>& query_;
  bool active_;
  const Metric& metric_;
  Real radius2_;
  memory& shared_;
  Visitor& visitor_;
  const unsigned lane_ = threadIdx.x % 32;
  box<Real, dim> around_;    // around all queries
  bool is_compact_ = false;  // whether the queries are close together, compared with the radius
  unsigned count_ = 0;       // elements of the stack
  unsigned collected_ = 0;   // points
  unsigned steps_ = 0;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
