// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The implementation of spatial_index on one backend: the GPU under nvcc, else the CPU executor.

#include <ramify/runtime/stream.cuh>
#include <ramify/spatial_tree.cuh>

#include "facade/device_arrays.cuh"
#include "spatial_tree/on_backend.hpp"

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

template <class Real, int dim>
class spatial_here : public facade::spatial_backend<Real, dim> {
  using host_point = std::array<Real, dim>;
  using device_point = ramify::point<Real, dim>;
  static_assert(sizeof(host_point) == sizeof(device_point));

 public:
  spatial_here(std::span<const host_point> points, const spatial_tree_options& options) {
    facade_call call(options.pending_launches, stream_);
    // Only for the build: the tree has its own copy of the points.
    const on_device input(as_points(points), call, "points");
    tree_ = ramify::spatial_tree<Real, dim>(input.data(), points.size(), stream_.get(), options);
    this->report = tree_.report();
    static_cast<run_times&>(this->report) = call.finish();
  }

  run_report radius_count(std::span<const host_point> queries, Real radius,
                          std::uint32_t* counts) const override {
    facade_call call(0, stream_);
    const on_device input(as_points(queries), call, "queries");
    const on_device result(std::span(counts, queries.size()), array_role::output, call, "counts");
    auto report = ramify::radius_count(tree_.view(), input.data(), queries.size(), radius,
                                       result.data(), stream_.get());
    result.copy_back();
    static_cast<run_times&>(report) = call.finish();
    return report;
  }

  neighbor_lists radius_list(std::span<const host_point> queries, Real radius) const override {
    facade_call call(0, stream_);
    const on_device input(as_points(queries), call, "queries");
    const device_neighbor_lists found =
        ramify::radius_list(tree_.view(), input.data(), queries.size(), radius, stream_.get());
    neighbor_lists lists;
    lists.offsets.resize(found.offsets.size());
    lists.ids.resize(found.ids.size());
    call.copy_out(lists.offsets.data(), found.offsets.data(),
                  lists.offsets.size() * sizeof lists.offsets[0]);
    call.copy_out(lists.ids.data(), found.ids.data(), lists.ids.size() * sizeof lists.ids[0]);
    lists.report = found.report;
    static_cast<run_times&>(lists.report) = call.finish();
    return lists;
  }

  run_report nearest(std::span<const host_point> queries, std::size_t k, std::uint32_t* ids,
                     Real* distances2) const override {
    facade_call call(0, stream_);
    const on_device input(as_points(queries), call, "queries");
    return rows(call, queries.size(), k, ids, distances2,
                [&](std::uint32_t* to_ids, Real* to_distances) {
                  return ramify::nearest(tree_.view(), input.data(), queries.size(), k, to_ids,
                                         to_distances, stream_.get());
                });
  }

  run_report all_nearest_neighbors(std::size_t k, bool exclude_self, std::uint32_t* ids,
                                   Real* distances2) const override {
    facade_call call(0, stream_);
    return rows(call, tree_.report().points, k, ids, distances2,
                [&](std::uint32_t* to_ids, Real* to_distances) {
                  return ramify::all_nearest_neighbors(tree_.view(), k, exclude_self, to_ids,
                                                       to_distances, stream_.get());
                });
  }

 private:
  static std::span<const device_point> as_points(std::span<const host_point> points) {
    return {reinterpret_cast<const device_point*>(points.data()), points.size()};
  }
  /// Runs `query`, which writes a row of k neighbors for each of n queries, and copies the rows.
  template <class Query>
  static run_report rows(facade_call& call, std::size_t n, std::size_t k, std::uint32_t* ids,
                         Real* distances2, Query query) {
    const on_device to_ids(std::span(ids, n * k), array_role::output, call, "ids");
    const on_device to_distances(std::span(distances2, n * k), array_role::output, call,
                                 "distances2");
    auto report = query(to_ids.data(), to_distances.data());
    to_ids.copy_back();
    to_distances.copy_back();
    static_cast<run_times&>(report) = call.finish();
    return report;
  }

  host_stream stream_;  // declared first: the tree is freed in it
  ramify::spatial_tree<Real, dim> tree_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::detail::facade {

template <build where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_tree_options& options) {
  static_assert(where == this_build);
  return std::make_unique<detail::spatial_tree::spatial_here<Real, dim>>(points, options);
}

}  // namespace ramify::detail::facade

/// Instantiates the facade's trees over `dim`-dimensional points of Real, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim)                                                          \
  namespace ramify::detail::facade {                                                           \
  template std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on<this_build, Real, dim>( \
      std::span<const std::array<Real, dim>>, const spatial_tree_options&);                    \
  }
