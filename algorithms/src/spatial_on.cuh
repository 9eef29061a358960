// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A spatial_index on the backend of whichever compiler reads this.

#include <ramify/runtime/stream.cuh>
#include <ramify/spatial_queries.cuh>

#include "device_arrays.cuh"
#include "spatial_on.hpp"

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
class spatial_here : public facade::spatial_backend<Real, dim> {
  using host_point = std::array<Real, dim>;
  using device_point = point<Real, dim>;
  static_assert(sizeof(host_point) == sizeof(device_point));

 public:
  spatial_here(std::span<const host_point> points, const spatial_options& options) {
    const auto limits = scoped_pending_launches(options.pending_launches);
    // For the build alone: the tree has points of its own, so the caller's may go afterwards.
    const on_device here(as_points(points), stream_.get(), "points");
    tree_ = spatial_tree<Real, dim>(here.data(), points.size(), stream_.get(),
                                    {.route = options.route,
                                     .leaf_size = options.leaf_size,
                                     .block_points = options.block_points});
    this->report = tree_.report();
  }

  run_report radius_count(std::span<const host_point> queries, Real radius,
                          std::uint32_t* counts) const override {
    const on_device asked(as_points(queries), stream_.get(), "queries");
    const on_device result(std::span(counts, queries.size()), array_role::output, stream_.get(),
                           "counts");
    auto report = ramify::radius_count(tree_.view(), asked.data(), queries.size(), radius,
                                       result.data(), stream_.get());
    result.copy_back(stream_.get());
    stream_.synchronize();
    return report;
  }

  neighbour_lists radius_list(std::span<const host_point> queries, Real radius) const override {
    const on_device asked(as_points(queries), stream_.get(), "queries");
    const radius_lists found =
        ramify::radius_list(tree_.view(), asked.data(), queries.size(), radius, stream_.get());
    neighbour_lists lists;
    lists.offsets.resize(found.offsets.size());
    lists.ids.resize(found.ids.size());
    copy_out(found.offsets, lists.offsets.data());
    copy_out(found.ids, lists.ids.data());
    lists.report = found.report;
    return lists;
  }

  run_report nearest(std::span<const host_point> queries, std::size_t k, std::uint32_t* ids,
                     Real* distances2) const override {
    const on_device asked(as_points(queries), stream_.get(), "queries");
    return rows(queries.size(), k, ids, distances2, [&](std::uint32_t* to_ids, Real* to_distances) {
      return ramify::nearest(tree_.view(), asked.data(), queries.size(), k, to_ids, to_distances,
                             stream_.get());
    });
  }

  run_report nearest_of_own_points(std::size_t k, bool except_self, std::uint32_t* ids,
                                   Real* distances2) const override {
    return rows(tree_.report().points, k, ids, distances2,
                [&](std::uint32_t* to_ids, Real* to_distances) {
                  return ramify::nearest_of_own_points(tree_.view(), k, except_self, to_ids,
                                                       to_distances, stream_.get());
                });
  }

 private:
  static std::span<const device_point> as_points(std::span<const host_point> points) {
    return {reinterpret_cast<const device_point*>(points.data()), points.size()};
  }
  template <class T>
  void copy_out(const device_buffer<T>& result, T* to) const {
    if (result.size() == 0) return;
    check(cudaMemcpyAsync(to, result.data(), result.size() * sizeof(T), cudaMemcpyDeviceToHost,
                          stream_.get()),
          "copying results from the device");
    stream_.synchronize();
  }
  /// Rows of k neighbours for each of n queries.
  template <class Ask>
  run_report rows(std::size_t n, std::size_t k, std::uint32_t* ids, Real* distances2,
                  Ask ask) const {
    const on_device to_ids(std::span(ids, n * k), array_role::output, stream_.get(), "ids");
    const on_device to_distances(std::span(distances2, n * k), array_role::output, stream_.get(),
                                 "distances2");
    auto report = ask(to_ids.data(), to_distances.data());
    to_ids.copy_back(stream_.get());
    to_distances.copy_back(stream_.get());
    stream_.synchronize();
    return report;
  }

  host_stream stream_;  // first: the tree is freed in it
  spatial_tree<Real, dim> tree_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <backend where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_options& options) {
  static_assert(where == (RAMIFY_ON_CUDA ? backend::cuda : backend::cpu));
  return std::make_unique<spatial_here<Real, dim>>(points, options);
}

#define RAMIFY_INSTANTIATE(Real, dim)                                        \
  template std::unique_ptr<spatial_backend<Real, dim>>                       \
  make_spatial_on<RAMIFY_ON_CUDA ? backend::cuda : backend::cpu, Real, dim>( \
      std::span<const std::array<Real, dim>>, const spatial_options&);
RAMIFY_INSTANTIATE(float, 2)
RAMIFY_INSTANTIATE(float, 3)
RAMIFY_INSTANTIATE(double, 2)
RAMIFY_INSTANTIATE(double, 3)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::facade
