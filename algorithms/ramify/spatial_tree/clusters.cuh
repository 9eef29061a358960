// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// find_clusters(): friends of friends, and DBSCAN clusters, of the points of a spatial_tree.
/// <ramify/spatial_tree.cuh> includes this header.
///
///     points   <-- [(0, 0), (9, 9), (1, 0), (2, 0)]
///     find_clusters(tree.view(), 1.5f, labels);                        // friends of friends
///     labels   --> [0, 1, 0, 0]
///     find_clusters(tree.view(), 1.5f, labels, 3);                     // DBSCAN
///     labels   --> [2, no_cluster, 2, 2]
///
/// Clusters   a point with min_points points in its ball, itself included, is a core point.
///            Core points at a distance of at most the radius are in the same cluster. With
///            min_points = 1 all points are core points: these are the friends of friends.
/// Labels     the least index of a core point of the cluster. A border point, which is not a core
///            point but has some in its ball, gets the least label of these. All others are noise:
///            no_cluster. Numbered in ascending order, these are the labels of scikit-learn. They
///            are the same on every run, route, schedule and backend.
/// Ball       closed, as for radius_count(): the distance is at most the radius. Both may have any
///            magnitude (see queries.cuh, Range).
/// Period     options.period: distances in a periodic box, as for radius_count().
/// Passes     five grids, in the order of cluster_passes.cuh. No grid launches another. Join: the
///            order of the grids in the stream.
/// Scratch    8 bytes per point. The environment is that of a query (queries.cuh).
/// Complexity O(n log n + pairs of core points of which no dense node has both), if the balls of
///            points without dense nodes have few points. A node is dense if it has min_points
///            points and the diagonal of its box is at most the radius.
/// Source     Ester, Kriegel, Sander and Xu, "A density-based algorithm for discovering clusters in
///            large spatial databases with noise", KDD 1996; Prokopenko, Lebrun-Grandie and Arndt,
///            "Fast tree-based algorithms for DBSCAN for low-dimensional data on GPUs", ICPP 2023
///            (union-find during the traversal, half of the pairs, dense cells).

#include <cstdint>
#include <ramify/spatial_tree/cluster_passes.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/query_call.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Launches the grids of a search. `call` is over the tree's own points, of which there are some.
template <class Search>
void put_cluster_search(query_call& call, const Search& search) {
  const auto points = call.own_points(search.tree);
  cluster_counts& counts = *search.counts;
  const auto run_pass = [&](const auto& pass) {
    call.run_pass_in(search.metric, search.tree, points, search.radius2, pass);
  };
  call.run_each(merge_dense_nodes<Search>, search.tree.node_count, search);
  run_pass(cluster_pass<core_counter, Search>{search, &counts.core_points});
  run_pass(cluster_pass<core_linker, Search>{search, &counts.clusters});
  call.run(find_least_ids<Search>, search);
  run_pass(cluster_pass<labeler, Search>{search, &counts.noise});
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Finds the clusters of the points of the tree: friends of friends, or DBSCAN clusters.
/// \param radius      of all balls, 0 or more: the linking length
/// \param labels      one label per point, in the caller's order, in device memory: the least index
///                    of a core point of the cluster, or no_cluster
/// \param min_points  of the ball around a core point, itself included; 1 or more. With 1, clusters
///                    are the friends of friends.
/// \param options     only ball_method and period are read
/// \param env         its memory: empty, or a resource
/// Waits for the stream.
/// \throws std::invalid_argument, cuda_error
template <class Real, int dim>
spatial_cluster_report find_clusters(const spatial_tree_view<Real, dim>& tree,
                                     std::type_identity_t<Real> radius, std::uint32_t* labels,
                                     std::uint32_t min_points, const spatial_query_options& options,
                                     const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  detail::check_field(min_points >= 1, "find_clusters: min_points", min_points, "1 or more");
  const std::size_t n = tree.point_count;
  internal::query_call call("find_clusters", tree, n, options, env);
  call.check_radius(radius);
  call.check_result(labels, "labels");
  internal::cluster_counts found{};
  if (n > 0) {
    const auto parents = call.allocate<std::uint32_t>(n);
    const auto least_ids = call.allocate<std::uint32_t>(n);
    const auto counts = call.allocate<internal::cluster_counts>(1);
    // Parents and least ids become no_cluster.
    for (std::uint32_t* array : {parents.data(), least_ids.data()}) {
      check(cudaMemsetAsync(array, 0xff, n * sizeof *array, call.stream()),
            "clearing the clusters");
    }
    clear_memory(counts.data(), 1, call.stream(), "clearing the counts of clusters");
    call.with_ball_metric(tree, radius, [&](const auto& metric, Real radius2) {
      using metric_type = std::remove_cvref_t<decltype(metric)>;
      internal::put_cluster_search(
          call, internal::cluster_search<Real, dim, metric_type>{tree,
                                                                 metric,
                                                                 radius2,
                                                                 min_points,
                                                                 {parents.data()},
                                                                 least_ids.data(),
                                                                 labels,
                                                                 counts.data()});
    });
    found = read_back(counts.data(), call.stream(), "reading the counts of clusters");
  }
  spatial_cluster_report report{call.finish(), found.clusters, found.core_points, found.noise};
  report.scratch_bytes += n * 2 * sizeof(std::uint32_t);
  return report;
}
template <class Real, int dim>
spatial_cluster_report find_clusters(const spatial_tree_view<Real, dim>& tree,
                                     std::type_identity_t<Real> radius, std::uint32_t* labels,
                                     std::uint32_t min_points = 1, const environment& env = {}) {
  return find_clusters(tree, radius, labels, min_points, spatial_query_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
