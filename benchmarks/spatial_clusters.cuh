// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The benchmark of find_clusters(): friends of friends, and DBSCAN, of points in clusters.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ramify/runtime/detail/hash.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"

namespace benchmark {

using cluster_point = ramify::point<float, 3>;

/// Returns number `k` of item `i`, uniform in [0, 1).
inline __device__ float uniform_number(unsigned long long i, unsigned k) {
  const auto bits =
      ramify::detail::runtime::splitmix64_finalize((i * 16 + k) * 0x9e3779b97f4a7c15ull);
  return float(bits >> 40) * 0x1p-24f;
}

/// Writes points in the unit cube: 70 % in 10,000 Plummer spheres, the rest uniform. The masses of
/// the spheres differ by a factor of 200; their mean density within the half-mass radius is 200
/// times that of all points. One thread per point.
static __global__ void make_clustered_points(cluster_point* points, unsigned long long n) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  constexpr float share = 0.7f;
  constexpr float spheres = 10'000;
  // 1. A uniform point, or the center of a sphere.
  const bool is_uniform = uniform_number(i, 0) >= share;
  const float u = uniform_number(i, 1);
  const float sphere = fminf(floorf(spheres * u * u), spheres - 1);
  const unsigned long long seed =
      is_uniform ? i : (1ull << 40) + static_cast<unsigned long long>(sphere);
  cluster_point p{{uniform_number(seed, 2), uniform_number(seed, 3), uniform_number(seed, 4)}};
  if (!is_uniform) {
    // 2. The distance from the center (Aarseth, Henon and Wielen, 1974), and the direction.
    constexpr float half_mass_volume = 9.2f;  // of a sphere with scale length 1
    const float mass = share * (sqrtf((sphere + 1) / spheres) - sqrtf(sphere / spheres));
    const float scale = cbrtf(mass / (2 * 200 * half_mass_volume));
    const float enclosed = uniform_number(i, 5) * 0.98f + 1e-6f;
    const float r = scale / sqrtf(powf(enclosed, -2.0f / 3) - 1);
    const float z = 2 * uniform_number(i, 6) - 1;
    const float angle = 6.2831853f * uniform_number(i, 7);
    const float across = r * sqrtf(1 - z * z);
    const float offset[3] = {across * cosf(angle), across * sinf(angle), r * z};
    for (int axis = 0; axis < 3; ++axis) {
      p.x[axis] += offset[axis];
      p.x[axis] -= floorf(p.x[axis]);
    }
  }
  points[i] = p;
}

inline ramify::device_buffer<cluster_point> clustered_points(std::size_t n) {
  ramify::device_buffer<cluster_point> points(n, nullptr);
  ramify::detail::runtime::launch_each(make_clustered_points, n, nullptr, "generating points",
                                       points.data(), static_cast<unsigned long long>(n));
  return points;
}

/// Compares labels with a serial union-find over all pairs. \throws std::runtime_error
inline void check_labels(const std::vector<cluster_point>& points, float radius,
                         std::uint32_t min_points, const std::vector<std::uint32_t>& labels) {
  const auto n = static_cast<std::uint32_t>(points.size());
  const auto are_near = [&](std::uint32_t i, std::uint32_t j) {
    return distance2(points[i], points[j]) <= radius * radius;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> in_ball(n, 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = i + 1; j < n; ++j) {
      if (!are_near(i, j)) continue;
      pairs.emplace_back(i, j);
      ++in_ball[i];
      ++in_ball[j];
    }
  }
  const auto is_core = [&](std::uint32_t i) { return in_ball[i] >= min_points; };
  std::vector<std::uint32_t> parent(n);
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root_of = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const auto& [i, j] : pairs) {
    if (!is_core(i) || !is_core(j)) continue;
    const std::uint32_t a = root_of(i);
    const std::uint32_t b = root_of(j);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::uint32_t> expected(n, ramify::no_cluster);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (is_core(i)) expected[i] = root_of(i);
  }
  for (const auto& [i, j] : pairs) {
    if (is_core(i) && !is_core(j)) expected[j] = std::min(expected[j], root_of(i));
    if (is_core(j) && !is_core(i)) expected[i] = std::min(expected[i], root_of(j));
  }
  if (labels != expected) throw std::runtime_error("find_clusters() has wrong labels");
}

/// Adds a table: friends of friends, and DBSCAN, of n and of 10 n points in clusters.
inline void measure_clusters(recorder& out, std::size_t n) {
  constexpr int repeats = 5;
  constexpr std::size_t checked_points = 20'000;
  out.table("clusters",
            {"points", "radius / mean separation", "points of a core point", "build, ms",
             "clusters, ms", "10^9 points/s", "with the build", "clusters", "core points", "noise"},
            "Clusters of points in 10,000 spheres and between them, 3D float; medians of " +
                std::to_string(repeats));
  for (const std::size_t m : {checked_points, n, 10 * n}) {
    const auto points = clustered_points(m);
    using tree_type = ramify::spatial_tree<float, 3>;
    const auto build = host_time_of(repeats, [&] { (void)tree_type(points.data(), m); });
    const tree_type tree(points.data(), m);
    const ramify::device_buffer<std::uint32_t> labels(m, nullptr);
    const auto separation = float(1 / std::cbrt(double(m)));
    for (const float ratio : {0.2f, 1.0f}) {
      for (const std::uint32_t min_points : {1u, 10u}) {
        ramify::spatial_cluster_report report;
        const auto t = host_time_of(repeats, [&] {
          report = find_clusters(tree.view(), ratio * separation, labels.data(), min_points);
        });
        if (m == checked_points) {
          check_labels(download(points.data(), m), ratio * separation, min_points,
                       download(labels.data(), m));
        }
        out.row({m, ratio, min_points, build.median_ms, t, double(m) / t.median_ms / 1e6,
                 double(m) / (t.median_ms + build.median_ms) / 1e6, report.clusters,
                 report.core_points, report.noise});
      }
    }
  }
}

}  // namespace benchmark
