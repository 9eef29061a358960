// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Builds trees with the header templates, and copies them to the host.

#include <cstring>
#include <ramify/spatial_tree.cuh>
#include <utility>
#include <vector>

#include "built_tree.hpp"
#include "device_vectors.cuh"
#include "id_hash.cuh"
#include "run_checks.cuh"

namespace tests {

/// Few points per block, so that a small cloud has many grids.
inline ramify::spatial_tree_options many_grids(unsigned leaf_size = 4) {
  return {.leaf_size = leaf_size, .block_points = 20};
}

/// The Fold for reduce_bottom_up() that computes the hash of each node's ids.
template <class Real, int dim>
struct id_fold {
  ramify::spatial_tree_view<Real, dim> tree;
  std::uint64_t* hashes;

  __device__ std::uint64_t of_point(std::uint32_t i) const { return hash_of(tree.ids[i]); }
  __device__ std::uint64_t combine(std::uint64_t a, std::uint64_t b) const {
    return combined_hash(a, b);
  }
  __device__ std::uint64_t& at(std::uint32_t node) const { return hashes[node]; }
};

template <class Real, int dim>
coordinates<Real, dim> coordinates_of(const ramify::point<Real, dim>& p) {
  coordinates<Real, dim> c;
  std::memcpy(c.data(), &p, sizeof p);
  return c;
}

template <class Real, int dim>
ramify::device_buffer<ramify::point<Real, dim>> upload_points(const point_list<Real, dim>& points) {
  std::vector<ramify::point<Real, dim>> host(points.size());
  if (!points.empty()) std::memcpy(host.data(), points.data(), points.size() * sizeof(host[0]));
  return upload(host);
}

/// Copies a tree whose numbers the host has, and the hashes of its nodes, to the host.
template <class Real, int dim>
built_tree<Real, dim> download_tree(const ramify::spatial_tree_view<Real, dim>& view) {
  const ramify::device_buffer<std::uint64_t> hashes(view.node_count, nullptr);
  ramify::reduce_bottom_up(view, id_fold<Real, dim>{view, hashes.data()}, nullptr);

  built_tree<Real, dim> built;
  const auto nodes = download_array(view.nodes, view.node_count);
  const auto parents = download_array(view.parents, view.node_count);
  const auto sums = download_array<std::uint64_t>(hashes.data(), view.node_count);
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

/// Copies a tree, its report and the hashes of its nodes to the host.
template <class Real, int dim>
built_tree<Real, dim> download_tree(const ramify::spatial_tree<Real, dim>& tree) {
  auto built = download_tree(tree.view());
  built.report = tree.report();
  return built;
}

/// Builds a tree, and copies it to the host.
template <class Real, int dim>
built_tree<Real, dim> build_tree(const point_list<Real, dim>& points,
                                 const ramify::spatial_tree_options& options,
                                 const ramify::environment& env = {}) {
  const auto on_device = upload_points<Real, dim>(points);
  ramify::spatial_tree<Real, dim> first(on_device.data(), points.size(), options, env);
  const ramify::spatial_tree<Real, dim> tree = std::move(first);
  return download_tree(tree);
}

}  // namespace tests
