// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// All queries of a tree, as calls that wait and as runs.

#include "spatial_tree_checks.cuh"

namespace tests::queries {

using ramify::device_buffer;
using ramify::environment;
using ramify::spatial_query_options;

constexpr std::size_t k = 5;
constexpr std::size_t capacity = 3;

/// The results of all queries, in device memory. No result has their first values.
template <class Real>
struct result_arrays {
  explicit result_arrays(std::size_t queries, std::size_t points)
      : counts(nothing<std::uint32_t>(queries)),
        row_counts(nothing<std::uint32_t>(queries)),
        rows(nothing<std::uint32_t>(capacity * queries)),
        ids(nothing<std::uint32_t>(k * queries)),
        distances2(nothing<Real>(k * queries)),
        own_ids(nothing<std::uint32_t>(k * points)),
        own_distances2(nothing<Real>(k * points)),
        labels(nothing<std::uint32_t>(points)) {
    ramify::check(cudaDeviceSynchronize(), "waiting for the results to be cleared");
  }
  template <class T>
  static device_buffer<T> nothing(std::size_t n) {
    return tests::upload(std::vector<T>(n, static_cast<T>(12'345'678)));
  }

  /// Writes the first values again. Waits for the NULL stream.
  void clear() const {
    const auto write = []<class T>(const device_buffer<T>& to) {
      const std::vector<T> first(to.size(), static_cast<T>(12'345'678));
      ramify::check(cudaMemcpyAsync(to.data(), first.data(), first.size() * sizeof(T),
                                    cudaMemcpyHostToDevice, nullptr),
                    "clearing results");
      ramify::check(cudaStreamSynchronize(nullptr), "clearing results");
    };
    for (const auto* to : {&counts, &row_counts, &rows, &ids, &own_ids, &labels}) write(*to);
    write(distances2);
    write(own_distances2);
  }

  device_buffer<std::uint32_t> counts, row_counts, rows, ids;
  device_buffer<Real> distances2;
  device_buffer<std::uint32_t> own_ids;
  device_buffer<Real> own_distances2;
  device_buffer<std::uint32_t> labels;
};

/// The results of all queries.
template <class Real>
struct results {
  std::vector<std::uint32_t> counts, row_counts, rows, ids;
  std::vector<Real> distances2;
  std::vector<std::uint32_t> own_ids;
  std::vector<Real> own_distances2;
  std::vector<std::uint32_t> labels;

  /// Copies the results in the order of a stream, and waits for the copies.
  results(const result_arrays<Real>& from, cudaStream_t stream) {
    const auto copy = [&](auto& to, const auto& buffer) {
      to.resize(buffer.size());
      tests::download(buffer, to, stream);
    };
    copy(counts, from.counts);
    copy(row_counts, from.row_counts);
    copy(rows, from.rows);
    copy(ids, from.ids);
    copy(distances2, from.distances2);
    copy(own_ids, from.own_ids);
    copy(own_distances2, from.own_distances2);
    copy(labels, from.labels);
  }
  bool operator==(const results&) const = default;
};

/// Numbers that the reports of queries have.
struct totals {
  std::uint64_t truncated = 0, clusters = 0, core_points = 0, noise = 0;
  bool operator==(const totals&) const = default;
};

/// A tree, queries, and the options of calls.
template <class Type>
struct search {
  using real = typename Type::real;
  static constexpr int dim = Type::dim;
  using list = tests::point_list<real, dim>;
  using position = ramify::point<real, dim>;

  search(const list& points, const list& asked, real of_balls,
         const spatial_query_options& of_calls)
      : on_device(tests::upload_points<real, dim>(points)),
        tree(on_device.data(), points.size(), {.leaf_size = 6}),
        queries(tests::upload_points<real, dim>(asked)),
        radius(of_balls),
        options(of_calls) {
    ramify::check(cudaDeviceSynchronize(), "waiting for the uploads");
  }
  [[nodiscard]] result_arrays<real> arrays() const {
    return result_arrays<real>(queries.size(), on_device.size());
  }

  [[nodiscard]] auto count(const result_arrays<real>& to, const environment& env) const {
    return radius_count_async(tree.view(), queries.data(), queries.size(), radius, to.counts.data(),
                              options, env);
  }
  [[nodiscard]] auto rows(const result_arrays<real>& to, const environment& env) const {
    return radius_rows_async(tree.view(), queries.data(), queries.size(), radius,
                             {capacity, to.rows.data(), to.row_counts.data()}, options, env);
  }
  [[nodiscard]] auto neighbors(const result_arrays<real>& to, const environment& env) const {
    return nearest_async(tree.view(), queries.data(), queries.size(), k, to.ids.data(),
                         to.distances2.data(), options, env);
  }
  [[nodiscard]] auto own_neighbors(const result_arrays<real>& to, const environment& env) const {
    return all_nearest_neighbors_async(tree.view(), k, true, to.own_ids.data(),
                                       to.own_distances2.data(), options, env);
  }
  [[nodiscard]] auto clusters(const result_arrays<real>& to, const environment& env) const {
    return find_clusters_async(tree.view(), radius, to.labels.data(), 3, options, env);
  }
  [[nodiscard]] auto lists(const environment& env) const {
    return radius_list_async(tree.view(), queries.data(), queries.size(), radius, options, env);
  }

  /// Runs all calls that wait, except radius_list().
  totals run_waiting(const result_arrays<real>& to) const {
    (void)radius_count(tree.view(), queries.data(), queries.size(), radius, to.counts.data(),
                       options);
    const auto in_rows = radius_rows(tree.view(), queries.data(), queries.size(), radius,
                                     {capacity, to.rows.data(), to.row_counts.data()}, options);
    (void)nearest(tree.view(), queries.data(), queries.size(), k, to.ids.data(),
                  to.distances2.data(), options);
    (void)all_nearest_neighbors(tree.view(), k, true, to.own_ids.data(), to.own_distances2.data(),
                                options);
    const auto found = find_clusters(tree.view(), radius, to.labels.data(), 3, options);
    return {in_rows.truncated, found.clusters, found.core_points, found.noise};
  }

  device_buffer<position> on_device;
  ramify::spatial_tree<real, dim> tree;
  device_buffer<position> queries;
  real radius;
  spatial_query_options options;
};

/// The runs of all queries except radius_list_async().
template <class Type>
struct runs {
  runs(const search<Type>& s, const result_arrays<typename Type::real>& to, const environment& env)
      : count(s.count(to, env)),
        rows(s.rows(to, env)),
        neighbors(s.neighbors(to, env)),
        own_neighbors(s.own_neighbors(to, env)),
        clusters(s.clusters(to, env)) {}

  totals get() {
    (void)count.get();
    (void)neighbors.get();
    (void)own_neighbors.get();
    const auto in_rows = rows.get();
    const auto found = clusters.get();
    return {in_rows.truncated, found.clusters, found.core_points, found.noise};
  }

  ramify::async_run<ramify::run_report> count;
  ramify::async_run<ramify::radius_rows_report> rows;
  ramify::async_run<ramify::run_report> neighbors, own_neighbors;
  ramify::async_run<ramify::spatial_cluster_report> clusters;
};

}  // namespace tests::queries
