// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The implementation of spatial_index on one backend: the GPU under nvcc, else the CPU executor.

#include <ramify/spatial_tree.cuh>
#include <ramify/version.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "spatial_tree/as_points.cuh"
#include "spatial_tree/instances.hpp"
#include "spatial_tree/on_backend.hpp"

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Checks that the result `name` has k elements for each of `rows` queries. `k_name` is the name of
/// k in the message. \throws std::invalid_argument
inline void check_size(const char* name, std::size_t size, std::size_t rows, std::size_t k,
                       const char* k_name = "k") {
  if (k == 0) {
    throw std::invalid_argument(std::string("spatial_index: ") + k_name +
                                " is 0; it must be 1 or more");
  }
  // Not size == rows * k: the product may overflow.
  if (size % k == 0 && size / k == rows) return;
  throw std::invalid_argument(std::string("spatial_index: ") + name + " has " +
                              std::to_string(size) + " elements, but " + std::to_string(rows) +
                              " queries have " + std::to_string(k) + " each");
}

template <class Real, int dim>
class spatial_here : public facade::spatial_backend<Real, dim> {
  using host_point = std::array<Real, dim>;

 public:
  spatial_here(std::span<const host_point> points, const spatial_tree_options& options,
               const environment& env)
      : env_(env) {
    facade_call call(env);
    // Only for the build: the tree has its own copy of the points.
    const on_device input(as_points(points), call, "points");
    tree_ = ramify::spatial_tree<Real, dim>(input.data(), points.size(), options, env);
    this->report = call.finish(tree_.report());
  }

  run_report radius_count(std::span<const host_point> queries, Real radius,
                          std::span<std::uint32_t> counts, const spatial_query_options& options,
                          const environment& env) const override {
    check_size("counts", counts.size(), queries.size(), 1);
    facade_call call(env);
    const on_device input(as_points(queries), call, "queries");
    const on_device result(counts, array_role::output, call, "counts");
    return finished(call,
                    ramify::radius_count(tree_.view(), input.data(), queries.size(), radius,
                                         result.data(), options, env),
                    result);
  }

  neighbor_lists radius_list(std::span<const host_point> queries, Real radius,
                             const spatial_query_options& options,
                             const environment& env) const override {
    facade_call call(env);
    const on_device input(as_points(queries), call, "queries");
    const device_neighbor_lists found =
        ramify::radius_list(tree_.view(), input.data(), queries.size(), radius, options, env);
    neighbor_lists lists;
    const auto copy = [&](auto& to, const auto& from) {
      to.resize(from.size());
      call.copy_out(to.data(), from.data(), to.size() * sizeof to[0]);
    };
    copy(lists.offsets, found.offsets);
    copy(lists.ids, found.ids);
    lists.report = finished(call, found.report);
    return lists;
  }

  radius_rows_report radius_rows(std::span<const host_point> queries, Real radius,
                                 std::size_t capacity, std::span<std::uint32_t> ids,
                                 std::span<std::uint32_t> counts,
                                 const spatial_query_options& options,
                                 const environment& env) const override {
    check_size("ids", ids.size(), queries.size(), capacity, "capacity");
    check_size("counts", counts.size(), queries.size(), 1);
    facade_call call(env);
    const on_device input(as_points(queries), call, "queries");
    const on_device to_ids(ids, array_role::output, call, "ids");
    const on_device to_counts(counts, array_role::output, call, "counts");
    return finished(call,
                    ramify::radius_rows(tree_.view(), input.data(), queries.size(), radius,
                                        {capacity, to_ids.data(), to_counts.data()}, options, env),
                    to_ids, to_counts);
  }

  run_report nearest(std::span<const host_point> queries, std::size_t k,
                     std::span<std::uint32_t> ids, std::span<Real> distances2,
                     const spatial_query_options& options, const environment& env) const override {
    return rows(queries.size(), k, ids, distances2, env,
                [&](facade_call& call, auto* to_ids, auto* to) {
                  const on_device input(as_points(queries), call, "queries");
                  return ramify::nearest(tree_.view(), input.data(), queries.size(), k, to_ids, to,
                                         options, env);
                });
  }

  run_report all_nearest_neighbors(std::size_t k, bool exclude_self, std::span<std::uint32_t> ids,
                                   std::span<Real> distances2, const spatial_query_options& options,
                                   const environment& env) const override {
    return rows(this->report.points, k, ids, distances2, env,
                [&](facade_call&, auto* to_ids, auto* to) {
                  return ramify::all_nearest_neighbors(tree_.view(), k, exclude_self, to_ids, to,
                                                       options, env);
                });
  }

  async_run<run_report> radius_count_async(std::span<const host_point> queries, Real radius,
                                           std::span<std::uint32_t> counts,
                                           const spatial_query_options& options,
                                           const environment& env) const override {
    check_size("counts", counts.size(), queries.size(), 1);
    return started<run_report>(
        "radius_count", query_bytes(queries.size(), options), env, [&](const environment& here) {
          return ramify::radius_count_async(tree_.view(), as_points(queries).data(), queries.size(),
                                            radius, counts.data(), options, here);
        });
  }

  async_run<run_report> nearest_async(std::span<const host_point> queries, std::size_t k,
                                      std::span<std::uint32_t> ids, std::span<Real> distances2,
                                      const spatial_query_options& options,
                                      const environment& env) const override {
    check_rows(queries.size(), k, ids, distances2);
    return started<run_report>(
        "nearest", query_bytes(queries.size(), options), env, [&](const environment& here) {
          return ramify::nearest_async(tree_.view(), as_points(queries).data(), queries.size(), k,
                                       ids.data(), distances2.data(), options, here);
        });
  }

  async_run<run_report> all_nearest_neighbors_async(std::size_t k, bool exclude_self,
                                                    std::span<std::uint32_t> ids,
                                                    std::span<Real> distances2,
                                                    const spatial_query_options& options,
                                                    const environment& env) const override {
    check_rows(this->report.points, k, ids, distances2);
    return started<run_report>(
        "all_nearest_neighbors", query_bytes(0, options), env, [&](const environment& here) {
          return ramify::all_nearest_neighbors_async(tree_.view(), k, exclude_self, ids.data(),
                                                     distances2.data(), options, here);
        });
  }

  spatial_cluster_report find_clusters(Real radius, std::span<std::uint32_t> labels,
                                       std::uint32_t min_points,
                                       const spatial_query_options& options,
                                       const environment& env) const override {
    check_size("labels", labels.size(), this->report.points, 1);
    facade_call call(env);
    const on_device result(labels, array_role::output, call, "labels");
    return finished(
        call, ramify::find_clusters(tree_.view(), radius, result.data(), min_points, options, env),
        result);
  }

  async_run<spatial_cluster_report> find_clusters_async(Real radius,
                                                        std::span<std::uint32_t> labels,
                                                        std::uint32_t min_points,
                                                        const spatial_query_options& options,
                                                        const environment& env) const override {
    const std::size_t n = this->report.points;
    check_size("labels", labels.size(), n, 1);
    return started<spatial_cluster_report>(
        "find_clusters", [n] { return find_clusters_scratch_bytes(n); }, env,
        [&](const environment& here) {
          return ramify::find_clusters_async(tree_.view(), radius, labels.data(), min_points,
                                             options, here);
        });
  }

  std::vector<spatial_index_node<Real, dim>> nodes() const override {
    std::vector<spatial_node<Real, dim>> copies(this->report.nodes);
    if (copies.empty()) return {};
    facade_call call(env_);
    call.copy_out(copies.data(), tree_.view().nodes, copies.size() * sizeof copies[0]);
    static_cast<void>(call.finish(run_report{}));  // waits
    std::vector<spatial_index_node<Real, dim>> all;
    all.reserve(copies.size());
    for (const auto& node : copies) {
      spatial_index_node<Real, dim> of{};
      std::ranges::copy(node.bounds.lower.x, of.lower.begin());
      std::ranges::copy(node.bounds.upper.x, of.upper.begin());
      of.points = node.size();
      of.first_child = node.is_leaf() ? 0 : node.first_child;
      of.children = node.children;
      of.level = node.level;
      all.push_back(of);
    }
    return all;
  }

  run_times refit(std::span<const host_point> positions, const environment& env) override {
    if (positions.size() != this->report.points) {
      throw std::invalid_argument(
          "spatial_index: positions has " + std::to_string(positions.size()) +
          " elements, but the index has " + std::to_string(this->report.points) + " points");
    }
    facade_call call(env);
    const on_device input(as_points(positions), call, "positions");
    tree_.refit(input.data(), env);
    return call.finish();
  }

 private:
  static void check_rows(std::size_t n, std::size_t k, std::span<std::uint32_t> ids,
                         std::span<Real> distances2) {
    check_size("ids", ids.size(), n, k);
    check_size("distances2", distances2.size(), n, k);
  }

  /// Returns a function that returns the scratch memory of n queries, in bytes.
  static auto query_bytes(std::size_t n, const spatial_query_options& options) {
    return [n, options] { return spatial_query_scratch_bytes<Real, dim>(n, options); };
  }

  /// Starts a call: start(environment), whose scratch memory has scratch_bytes() bytes.
  template <class Report, class ScratchBytes, class Start>
  async_run<Report> started(const char* name, const ScratchBytes& scratch_bytes,
                            const environment& env, const Start& start) const {
    return std::make_unique<facade::facade_run<Report>>(
        name, start_call<Report>(env, scratch_bytes, start), this->report.backend_reason);
  }

  /// Runs `query`, which writes a row of k neighbors for each of n queries, and copies the rows.
  template <class Query>
  run_report rows(std::size_t n, std::size_t k, std::span<std::uint32_t> ids,
                  std::span<Real> distances2, const environment& env, Query query) const {
    check_rows(n, k, ids, distances2);
    facade_call call(env);
    const on_device to_ids(ids, array_role::output, call, "ids");
    const on_device to_distances(distances2, array_role::output, call, "distances2");
    const auto report = query(call, to_ids.data(), to_distances.data());
    return finished(call, report, to_ids, to_distances);
  }

  /// Finishes the call, and returns the report with the reason for the backend.
  template <class Report, class... Outputs>
  Report finished(facade_call& call, Report report, const Outputs&... outputs) const {
    report = call.finish(std::move(report), outputs...);
    report.backend_reason = this->report.backend_reason;
    return report;
  }

  environment env_;  // of the build
  ramify::spatial_tree<Real, dim> tree_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_tree_options& options,
    const environment& env) {
  static_assert(where == this_build);
  return std::make_unique<detail::spatial_tree::spatial_here<Real, dim>>(points, options, env);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

/// Instantiates the facade's trees over `dim`-dimensional points of Real, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim)                                                           \
  RAMIFY_SPATIAL_FUNCTIONS(, Real, dim)                                                         \
  namespace ramify::detail::facade::inline RAMIFY_ABI {                                         \
  template std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on<this_build, Real, dim>(  \
      std::span<const std::array<Real, dim>>, const spatial_tree_options&, const environment&); \
  }
