// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Device functions that visit the points in a ball or in another region, for kernels of the
/// caller and of Ramify. One thread visits the tree. Public: <ramify/spatial_tree.cuh> includes
/// this header.

#include <cstdint>
#include <ramify/spatial_tree/metric.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The Visitor of for_each_within(). It passes the ranges of single points, and of nodes that lie
/// in the ball, to `found_range`.
template <class Found>
struct range_visitor {
  static constexpr bool takes_leaves = true;
  Found found_range;

  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node&) const {
    return false;
  }
  template <class Node>
  [[nodiscard]] __device__ bool takes(const Node& node) {
    found_range(node.begin, node.end);
    return true;
  }
  __device__ void found(std::uint32_t i) { found_range(i, i + 1); }
};

/// Passes a point in the region, and `distance2()` if the visitor takes its squared distance.
template <class Visitor, class Distance>
__device__ void pass_point(Visitor& visitor, std::uint32_t i, const Distance& distance2) {
  if constexpr (requires { visitor.found(i, distance2()); }) {
    visitor.found(i, distance2());
  } else {
    visitor.found(i);
  }
}

/// The ball around a query, as a Region of visit_region(). The query is placed in the metric, and
/// the radius is in its unit.
template <class Real, int dim, class Metric>
struct placed_ball {
  point<Real, dim> query;
  const Metric& metric;
  Real radius2;

  [[nodiscard]] __device__ bool excludes(const box<Real, dim>& bounds) const {
    return metric.min_distance2(bounds, query) > radius2;
  }
  [[nodiscard]] __device__ bool includes(const box<Real, dim>& bounds) const {
    return metric.max_distance2(bounds, query) <= radius2;
  }
  [[nodiscard]] __device__ bool contains(const point<Real, dim>& p) const {
    return distance2(p) <= radius2;
  }
  [[nodiscard]] __device__ Real distance2(const point<Real, dim>& p) const {
    return metric.distance2(query, p);
  }
};
template <class Real, int dim, class Metric>
placed_ball(const point<Real, dim>&, const Metric&, Real) -> placed_ball<Real, dim, Metric>;

/// Returns whether a region contains all points of a box. Regions without includes() have no answer
/// that takes less time than tests of the points.
template <class Region, class Box>
[[nodiscard]] __device__ bool includes_all(const Region& region, const Box& bounds) {
  if constexpr (requires { region.includes(bounds); }) {
    return region.includes(bounds);
  } else {
    return false;
  }
}

/// Returns the squared distance of a point in a region, which is 0 in a region without distances.
template <class Region, class Real, int dim>
[[nodiscard]] __device__ Real distance2_in(const Region& region, const point<Real, dim>& p) {
  if constexpr (requires { region.distance2(p); }) {
    return region.distance2(p);
  } else {
    return 0;
  }
}

/// Returns whether the traversal compares the far side of the node with the ball. For a leaf this
/// may take longer than tests of its points.
template <class Visitor, class Node>
[[nodiscard]] __device__ bool may_be_taken(const Node& node) {
  return Visitor::takes_leaves || !node.is_leaf();
}

/// Passes point i to the visitor if it is in the region.
template <class Real, int dim, class Region, class Visitor>
__device__ void visit_point(const spatial_tree_view<Real, dim>& tree, const Region& region,
                            std::uint32_t i, Visitor& visitor) {
  if (!region.contains(tree.points[i])) return;
  pass_point(visitor, i, [&] { return distance2_in(region, tree.points[i]); });
}

/// Visits the points in a region, depth first and in the tree's order. One thread calls it.
///
/// Region is a struct of device functions: predicates.cuh states excludes(), contains() and
/// distance2(). A region may also have includes(), which must be true only if the region contains
/// all points of a box.
///
/// Visitor is a struct of device functions. A point is an index in the tree's order.
///
///     struct visitor {
///       static constexpr bool takes_leaves;  // whether leaves are passed to takes(), too
///       bool skips(const Node& node);    // whether the points of the node are not needed
///       bool takes(const Node& node);    // the node lies in the region: uses all its points, or
///                                        // returns false; then they are visited one by one
///       void found(std::uint32_t i);     // uses a point in the region; or with a second argument,
///                                        // its squared distance in the unit of the region
///       bool ends();                     // optional: whether no more points are needed
///     };
template <class Real, int dim, class Region, class Visitor>
__device__ void visit_region(const spatial_tree_view<Real, dim>& tree, const Region& region,
                             Visitor& visitor) {
  std::uint32_t stack[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.nodes_built() > 0) stack[count++] = 0;
  while (count > 0) {
    const auto node = tree.nodes[stack[--count]];
    if (visitor.skips(node) || region.excludes(node.bounds)) continue;
    if (may_be_taken<Visitor>(node) && includes_all(region, node.bounds) && visitor.takes(node)) {
      continue;
    }
    if (node.is_leaf()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        visit_point(tree, region, i, visitor);
        if constexpr (requires { visitor.ends(); }) {
          if (visitor.ends()) return;
        }
      }
    } else {
      // Push the last child first, so that the first child is popped first.
      for (unsigned c = node.children; c > 0; --c) stack[count++] = node.first_child + c - 1;
    }
  }
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Calls found(begin, end) with ranges of the tree's order, in ascending order. Together they are
/// the points p with distance2(query, p) <= radius2. A node that lies entirely in the ball is one
/// range, and its children are not visited. For kernels of the caller:
///
///     for_each_within(tree, query, radius * radius, [&](std::uint32_t begin, std::uint32_t end) {
///       for (std::uint32_t i = begin; i < end; ++i) use(tree.points[i], tree.ids[i]);
///     });
///
/// One thread calls it; neighboring threads should have neighboring queries. `query` must be
/// finite. The squares of all distances must be in the range of Real, because this function
/// does not scale them. Scratch: a stack of at most 225 nodes in local memory. It neither
/// synchronizes nor fails.
/// Complexity: O(log n + ranges) for evenly distributed points; O(n) in the worst case.
template <class Real, int dim, class Found>
__device__ void for_each_within(const spatial_tree_view<Real, dim>& tree,
                                const point<Real, dim>& query, std::type_identity_t<Real> radius2,
                                Found found) {
  detail::spatial_tree::range_visitor<Found> visitor{found};
  const detail::spatial_tree::plain_metric metric;
  visit_region(tree, detail::spatial_tree::placed_ball{query, metric, Real{radius2}}, visitor);
}

}  // namespace ramify::inline RAMIFY_BUILD
