// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels and passes of find_clusters(), in the order in which they run:
///
///     begin_clusters      clears the arrays, and decides the metric
///     merge_dense_nodes   unites the points of each node that are all neighbors of each other
///     core_counter        finds the other core points
///     core_linker         unites core points that are neighbors
///     find_least_ids      the label of each set
///     labeler             the labels of all points

#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/disjoint_sets.cuh>
#include <ramify/spatial_tree/ball_passes.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Numbers of a search for clusters.
struct cluster_counts {
  unsigned long long clusters;
  unsigned long long core_points;
  unsigned long long noise;
};

/// The data of a search for clusters. Elements of sets are points in the tree's order.
template <class Real, int dim, class Metric>
struct cluster_search {
  static constexpr unsigned not_core = no_cluster;  ///< the parent of a point that is not core

  spatial_tree_view<Real, dim> tree;
  query_metric<Real, Metric> of_call;
  std::uint32_t min_points;
  disjoint_sets sets;        ///< of the core points
  std::uint32_t* least_ids;  ///< of each set, at its root
  std::uint32_t* labels;     ///< in the caller's order
  cluster_counts* counts;

  /// Returns true for a core point.
  [[nodiscard]] __device__ bool is_core(std::uint32_t i) const {
    return load_relaxed(sets.parents[i]) != not_core;
  }
  /// Returns true if all points of the node are core points of one cluster: they are neighbors of
  /// each other. The diagonal of a box is not less than a distance in it, also after rounding.
  [[nodiscard]] __device__ bool is_dense(const spatial_node<Real, dim>& node) const {
    if (node.size() < min_points) return false;
    const query_metric<Real, Metric> balls = of_call.of_balls();
    return balls.metric.diagonal2(node.bounds) <= balls.radius2;
  }
};

/// The results of a search that get() reads.
struct cluster_findings {
  cluster_counts counts;
  metric_decision decision;
};

/// The scratch memory of a search among n points.
struct cluster_memory {
  std::uint32_t* parents;
  std::uint32_t* least_ids;
  cluster_findings* found;

  cluster_memory(memory_layout& memory, std::size_t n)
      : parents(memory.take<std::uint32_t>(n)),
        least_ids(memory.take<std::uint32_t>(n)),
        found(memory.take<cluster_findings>(1)) {}
};

/// Begins a search: parents and least ids become no_cluster, and one thread clears the counts and
/// decides the metric.
template <class Real, int dim>
__global__ void begin_clusters(metric_choice<Real, dim> of_call, spatial_tree_view<Real, dim> tree,
                               cluster_memory memory, trace_ticket trace) {
  const traced here(trace, __func__);
  runtime::for_each_item(tree.points_built(), [&](unsigned long long i) {
    memory.parents[i] = no_cluster;
    memory.least_ids[i] = no_cluster;
  });
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  *memory.found = {{}, of_call.among(tree, [](const auto& choice) { return choice.of_points(); })};
}

/// Unites the points of each dense node whose parent is not dense. One warp for 32 nodes at a time,
/// whose lanes write the points of one node after the other.
template <class Search>
__global__ void merge_dense_nodes(Search search, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!search.of_call.applies()) return;
  const auto& tree = search.tree;
  const std::uint32_t nodes = tree.nodes_built();
  runtime::for_each_block_of_items(nodes, [&](unsigned long long i) {
    const auto& node = tree.nodes[i < nodes ? i : 0];
    const bool merges = i < nodes && search.is_dense(node) &&
                        (i == 0 || !search.is_dense(tree.nodes[tree.parents[i]]));
    for (unsigned left = __ballot_sync(full_warp_mask, merges); left != 0; left &= left - 1) {
      const int lane = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t begin = __shfl_sync(full_warp_mask, node.begin, lane);
      const std::uint32_t end = __shfl_sync(full_warp_mask, node.end, lane);
      for (std::uint32_t p = begin + threadIdx.x % 32; p < end; p += 32) {
        search.sets.parents[p] = begin;
      }
    }
  });
}

/// The Visitor of a point that may be a core point: counts the points in its ball, up to
/// min_points.
template <class Search>
struct core_counter {
  static constexpr bool takes_leaves = false;
  const Search& search;
  std::uint32_t self;
  std::uint32_t count = 1;  ///< the point itself

  /// Returns true unless the point is in a dense node.
  [[nodiscard]] __device__ bool begins() const { return !search.is_core(self); }
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node&) const {
    return count >= search.min_points;
  }
  template <class Node>
  [[nodiscard]] __device__ bool takes(const Node& node) {
    const bool has_self = node.begin <= self && self < node.end;
    count += node.size() - (has_self ? 1 : 0);
    return true;
  }
  __device__ void found(std::uint32_t i) { count += i != self ? 1 : 0; }
  /// A core point becomes a set. No other thread reads or writes its parent. Returns true for a
  /// core point.
  __device__ bool end() const {
    if (begins() && count >= search.min_points) search.sets.parents[self] = self;
    return search.is_core(self);
  }
};

/// The Visitor of a core point: unites its set with those of the later core points in its ball. The
/// earlier ones do the same with this point.
template <class Search>
struct core_linker {
  static constexpr bool takes_leaves = true;
  const Search& search;
  std::uint32_t self;
  unsigned root;  ///< of this point, when it was last computed

  __device__ core_linker(const Search& all, std::uint32_t i) : search(all), self(i), root(i) {}

  [[nodiscard]] __device__ bool begins() {
    if (!search.is_core(self)) return false;
    root = search.sets.root_of(self);
    return true;
  }
  /// Returns true for a node without later points, and for a dense node of this point's set.
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node& node) const {
    if (node.end <= self + 1) return true;
    return search.is_dense(node) && search.sets.root_of(node.begin) == root;
  }
  template <class Node>
  [[nodiscard]] __device__ bool takes(const Node& node) {
    if (!search.is_dense(node)) return false;
    root = search.sets.unite(root, node.begin);
    return true;
  }
  __device__ void found(std::uint32_t i) {
    if (i > self && search.is_core(i)) root = search.sets.unite(root, i);
  }
  __device__ bool end() const { return false; }
};

/// The Visitor of a point that is not core: finds the least label of the core points in its ball.
/// Then it writes the label of its point; it visits nothing for a core point.
template <class Search>
struct labeler {
  static constexpr bool takes_leaves = false;
  const Search& search;
  std::uint32_t self;
  std::uint32_t label = no_cluster;

  [[nodiscard]] __device__ bool begins() {
    if (!search.is_core(self)) return true;
    found(self);
    return false;
  }
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node&) const {
    return false;
  }
  template <class Node>
  [[nodiscard]] __device__ bool takes(const Node&) const {
    return false;
  }
  __device__ void found(std::uint32_t i) {
    if (search.is_core(i)) label = min(label, search.least_ids[search.sets.root_of(i)]);
  }
  /// Returns true for noise.
  __device__ bool end() const {
    search.labels[search.tree.ids[self]] = label;
    return label == no_cluster;
  }
};

/// The pass over the balls of all points with a Visitor from above.
template <template <class> class Visitor, class Search>
struct cluster_pass {
  Search search;
  unsigned long long* total;

  [[nodiscard]] __device__ Visitor<Search> visitor(unsigned long long i) const {
    return {search, static_cast<std::uint32_t>(i)};
  }
};

/// Computes the least id of each set of core points, and counts the sets.
template <class Search>
__global__ void find_least_ids(Search search, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!search.of_call.applies()) return;
  const std::uint32_t n = search.tree.points_built();
  runtime::for_each_block_of_items(n, [&](unsigned long long item) {
    const auto i = static_cast<std::uint32_t>(item);
    bool is_root = false;
    if (item < n && search.is_core(i)) {
      const unsigned root = search.sets.root_of(i);
      const std::uint32_t id = search.tree.ids[i];
      // Most points of a large set read a smaller id first, so few atomics wait for each other.
      if (id < load_relaxed(search.least_ids[root])) atomicMin(&search.least_ids[root], id);
      is_root = root == i;
    }
    add_by_block(search.counts->clusters, is_root);
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
