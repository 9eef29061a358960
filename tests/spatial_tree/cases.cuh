// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <ramify/spatial_tree.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

template <class T>
std::vector<T> download_array(const T* data, std::size_t n) {
  std::vector<T> host(n);
  if (n == 0) return host;
  check(cudaMemcpyAsync(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost, nullptr),
        "downloading");
  check(cudaStreamSynchronize(nullptr), "waiting for a download");
  return host;
}

/// The test's summary, as a fold for reduce_bottom_up().
template <class Real, int dim>
struct id_fold {
  spatial_tree_view<Real, dim> tree;
  std::uint64_t* summaries;

  // As summary_of() and summary_of_both(), which nvcc does not call without being asked to.
  __device__ std::uint64_t of_point(std::uint32_t i) const {
    return std::uint64_t{0x9e3779b9u} << 32 | (tree.ids[i] + 1u);
  }
  __device__ std::uint64_t combine(std::uint64_t a, std::uint64_t b) const {
    const auto high_a = static_cast<std::uint32_t>(a >> 32);
    const auto high_b = static_cast<std::uint32_t>(b >> 32);
    const std::uint32_t value =
        static_cast<std::uint32_t>(a) * high_b + static_cast<std::uint32_t>(b);
    return std::uint64_t{high_a * high_b} << 32 | value;
  }
  __device__ std::uint64_t& at(std::uint32_t node) const { return summaries[node]; }
};

template <class Real, int dim>
coordinates<Real, dim> coordinates_of(const point<Real, dim>& p) {
  coordinates<Real, dim> c;
  std::memcpy(c.data(), &p, sizeof p);
  return c;
}

template <class Real, int dim>
device_buffer<point<Real, dim>> upload_points(const point_list<Real, dim>& points) {
  std::vector<point<Real, dim>> host(points.size());
  if (!points.empty()) std::memcpy(host.data(), points.data(), points.size() * sizeof(host[0]));
  return upload(host);
}

template <class Real, int dim>
built_tree<Real, dim> build_tree(const point_list<Real, dim>& points,
                                 const spatial_tree_config& config, std::size_t pending_launches) {
  const auto limits = scoped_limit(pending_launches);
  const auto on_device = upload_points<Real, dim>(points);
  spatial_tree<Real, dim> first(on_device.data(), points.size(), nullptr, config);
  const spatial_tree<Real, dim> tree = std::move(first);
  const auto view = tree.view();
  const device_buffer<std::uint64_t> summaries(view.node_count, nullptr);
  reduce_bottom_up(view, id_fold<Real, dim>{view, summaries.data()}, nullptr);

  built_tree<Real, dim> built;
  built.report = tree.report();
  const auto nodes = download_array(view.nodes, view.node_count);
  const auto parents = download_array(view.parents, view.node_count);
  const auto sums = download_array<std::uint64_t>(summaries.data(), view.node_count);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& n = nodes[i];
    built.nodes.push_back({coordinates_of(n.bounds.lower), coordinates_of(n.bounds.upper), n.begin,
                           n.end, n.first_child, n.children, n.level, parents[i], sums[i]});
  }
  for (const auto& p : download_array(view.points, view.point_count)) {
    built.points.push_back(coordinates_of(p));
  }
  built.ids = download_array(view.ids, view.point_count);
  return built;
}

inline void provoke(bad_tree_argument argument) {
  using point3 = point<float, 3>;
  const auto on_device = upload(std::vector<point3>(100));
  const point3* points = on_device.data();
  const device_buffer<std::uint32_t> ids(100, nullptr);
  const device_buffer<float> distances(100, nullptr);
  const spatial_tree<float, 3> tree(points, 100);
  const auto view = tree.view();
  const point3* none = nullptr;
  switch (argument) {
    case bad_tree_argument::null_points: spatial_tree<float, 3>(none, 5); break;
    case bad_tree_argument::too_many_points:
      spatial_tree<float, 3>(points, std::size_t{1} << 31);
      break;
    case bad_tree_argument::host_memory: {
      const std::vector<point3> on_host(100);
      spatial_tree<float, 3>(on_host.data(), on_host.size());
      break;
    }
    case bad_tree_argument::null_queries: radius_count(view, none, 5, 1, ids.data()); break;
    case bad_tree_argument::null_counts: radius_count(view, points, 5, 1, nullptr); break;
    case bad_tree_argument::null_ids: nearest(view, points, 5, 1, nullptr, distances.data()); break;
    case bad_tree_argument::null_distances:
      all_nearest_neighbors(view, 1, true, ids.data(), static_cast<float*>(nullptr));
      break;
    case bad_tree_argument::large_k:
      nearest(view, points, 5, std::size_t{1} << 31, ids.data(), distances.data());
      break;
  }
}

inline built_tree<float, 3> without_slots(const point_list<float, 3>& points,
                                          const spatial_tree_config& config) {
  const all_slots_taken by_somebody_else(*current_launch_limits().pending_launches);
  return build_tree<float, 3>(points, config, 0);
}

inline std::string moved_tree(const point_list<float, 3>& points) {
  const auto on_device = upload_points<float, 3>(points);
  spatial_tree<float, 3> first(on_device.data(), points.size());
  spatial_tree<float, 3> second(std::move(first));
  const auto is_empty = [](const spatial_tree<float, 3>& tree) {
    return tree.view().point_count == 0 && tree.report().points == 0 && tree.report().nodes == 0;
  };
  if (!is_empty(first)) return "something is left after a move";
  if (second.report().points != points.size()) return "points were lost in a move";
  first = std::move(second);
  if (!is_empty(second) || is_empty(first)) return "an assignment did not move";
  return {};
}

inline std::vector<std::uint64_t> offsets_of(const std::vector<std::uint32_t>& counts) {
  const auto on_device = upload(counts);
  const device_buffer<std::uint64_t> offsets(counts.size() + 1, nullptr);
  ramify::detail::spatial_tree::scan_counts(on_device.data(), counts.size(), offsets.data(), nullptr);
  return download_array<std::uint64_t>(offsets.data(), offsets.size());
}

inline const spatial_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const spatial_cases all{{build_tree<float, 2>},
                                 {build_tree<float, 3>},
                                 {build_tree<double, 2>},
                                 {build_tree<double, 3>},
                                 provoke,
                                 slots_in_use,
                                 without_slots,
                                 moved_tree,
                                 offsets_of};
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD
