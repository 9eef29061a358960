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
/// Passes     six grids, in the order of cluster_passes.cuh. No grid launches another. Join: the
///            order of the grids in the stream.
/// Stream     find_clusters_async() puts all grids into environment::stream without waiting. Later
///            work in the stream sees the complete labels before get(). A graph can capture the
///            call if memory is handed in.
/// Scratch    8 bytes per point: find_clusters_scratch_bytes(). The environment is that of a query
///            (queries.cuh).
/// Complexity O(n log n + pairs of core points of which no dense node has both), if the balls of
///            points without dense nodes have few points. A node is dense if it has min_points
///            points and the diagonal of its box is at most the radius.
/// Source     Ester, Kriegel, Sander and Xu, "A density-based algorithm for discovering clusters in
///            large spatial databases with noise", KDD 1996; Prokopenko, Lebrun-Grandie and Arndt,
///            "Fast tree-based algorithms for DBSCAN for low-dimensional data on GPUs", ICPP 2023
///            (union-find during the traversal, half of the pairs, dense cells).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/spatial_tree/cluster_passes.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/query_run.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// A search for the clusters of the points of a tree, of which there are some.
template <class Real, int dim>
class cluster_run final : public memory_run<spatial_cluster_report, cluster_memory> {
  using base = memory_run<spatial_cluster_report, cluster_memory>;

 public:
  cluster_run(const query_setup<Real, dim>& setup, Real radius, std::uint32_t min_points,
              std::uint32_t* labels)
      : base(setup, setup.n),
        call_(this->choices, setup, metric_choice(setup.tree, setup.options.period, radius),
              &this->parts.found->decision) {
    call_.run_each(begin_clusters<Real, dim>, setup.count,
                   metric_choice(setup.tree, setup.options.period, radius), setup.tree,
                   this->parts);
    call_.with_metric([&]<class Metric>(const query_metric<Real, Metric>& chosen) {
      put(chosen, cluster_search<Real, dim, Metric>{setup.tree,
                                                    chosen,
                                                    min_points,
                                                    {this->parts.parents},
                                                    this->parts.least_ids,
                                                    labels,
                                                    &this->parts.found->counts});
    });
    this->complete_in_stream();
  }

 private:
  template <class Metric, class Search>
  void put(const query_metric<Real, Metric>& metric, const Search& search) {
    cluster_counts& counts = *search.counts;
    const auto run_pass = [&](const auto& pass) { call_.run_pass_in(metric, pass); };
    call_.run_each(merge_dense_nodes<Search>, call_.nodes(), search);
    run_pass(cluster_pass<core_counter, Search>{search, &counts.core_points});
    run_pass(cluster_pass<core_linker, Search>{search, &counts.clusters});
    call_.template run<true>(find_least_ids<Search>, search);
    run_pass(cluster_pass<labeler, Search>{search, &counts.noise});
  }

  spatial_cluster_report finish() override {
    call_.require_memory();
    const cluster_findings found =
        read_back(this->parts.found, call_.stream(), "reading the counts of clusters");
    if (call_.tree().built != nullptr) call_.check_tree(found.decision);
    const cluster_counts& counts = found.counts;
    return {call_.finish(this->memory.scratch.size()), counts.clusters, counts.core_points,
            counts.noise};
  }

  query_call<Real, dim> call_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the memory that find_clusters() needs for a tree of n points if it is handed in, in
/// bytes.
[[nodiscard]] inline std::size_t find_clusters_scratch_bytes(std::size_t n) {
  return n == 0 ? 0 : layout_bytes<detail::spatial_tree::cluster_memory>(n);
}

/// Starts to find the clusters of the points of the tree: friends of friends, or DBSCAN clusters.
/// \param radius      of all balls, 0 or more: the linking length
/// \param labels      one label per point, in the caller's order, in device memory: the least index
///                    of a core point of the cluster, or no_cluster
/// \param min_points  of the ball around a core point, itself included; 1 or more. With 1, clusters
///                    are the friends of friends.
/// \param options     only ball_method and period are read
/// \param env         its memory: find_clusters_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
async_run<spatial_cluster_report> find_clusters_async(const spatial_tree_view<Real, dim>& tree,
                                                      std::type_identity_t<Real> radius,
                                                      std::uint32_t* labels,
                                                      std::uint32_t min_points,
                                                      const spatial_query_options& options,
                                                      const environment& env = {}) {
  namespace internal = detail::spatial_tree;
  detail::check_field(min_points >= 1, "find_clusters: min_points", min_points, "1 or more");
  using setup_type = internal::query_setup<Real, dim>;
  const setup_type setup("find_clusters", tree, setup_type::points_of(tree), options, env);
  setup.check_radius(radius);
  setup.check_array(labels, "labels");
  if (setup.n == 0) {
    return run_without_work(setup, spatial_cluster_report{}, internal::without_queries);
  }
  return std::make_unique<internal::cluster_run<Real, dim>>(setup, radius, min_points, labels);
}
/// Overload with the default options.
template <class Real, int dim>
auto find_clusters_async(const spatial_tree_view<Real, dim>& tree,
                         std::type_identity_t<Real> radius, std::uint32_t* labels,
                         std::uint32_t min_points = 1, const environment& env = {}) {
  return find_clusters_async(tree, radius, labels, min_points, spatial_query_options{}, env);
}

/// Finds the clusters of the points of the tree: find_clusters_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real, int dim>
spatial_cluster_report find_clusters(const spatial_tree_view<Real, dim>& tree,
                                     std::type_identity_t<Real> radius, std::uint32_t* labels,
                                     std::uint32_t min_points, const spatial_query_options& options,
                                     const environment& env = {}) {
  return find_clusters_async(tree, radius, labels, min_points, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class Real, int dim>
spatial_cluster_report find_clusters(const spatial_tree_view<Real, dim>& tree,
                                     std::type_identity_t<Real> radius, std::uint32_t* labels,
                                     std::uint32_t min_points = 1, const environment& env = {}) {
  return find_clusters(tree, radius, labels, min_points, spatial_query_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
