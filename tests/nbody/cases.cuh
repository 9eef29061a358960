// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <ramify/nbody.cuh>
#include <ramify/runtime/stream.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify::detail::nbody;

template <class Real>
using vectors = std::vector<std::array<Real, 3>>;

template <class Real>
device_buffer<point<Real, 3>> upload_points(const vectors<Real>& from) {
  std::vector<point<Real, 3>> points(from.size());
  std::ranges::transform(from, points.begin(), [](const std::array<Real, 3>& v) {
    return point<Real, 3>{{v[0], v[1], v[2]}};
  });
  return upload(points);
}

template <class Real>
void download_points(const device_buffer<point<Real, 3>>& from, vectors<Real>& to) {
  std::vector<point<Real, 3>> points(from.size());
  download(from, points);
  to.resize(points.size());
  std::ranges::transform(points, to.begin(), [](const point<Real, 3>& p) {
    return std::array<Real, 3>{p.x[0], p.x[1], p.x[2]};
  });
}

/// A cloud on the device, and room for its field.
template <class Real>
struct device_cloud {
  explicit device_cloud(const cloud<Real>& from)
      : positions(upload_points(from.positions)),
        masses(upload(from.masses)),
        accelerations(from.masses.size(), nullptr),
        potentials(from.masses.size(), nullptr) {}

  [[nodiscard]] field<Real> result(const nbody_report& report) const {
    field<Real> found;
    found.report = report;
    download_points(accelerations, found.accelerations);
    found.potentials.resize(potentials.size());
    download(potentials, found.potentials);
    return found;
  }

  device_buffer<point<Real, 3>> positions;
  device_buffer<Real> masses;
  device_buffer<point<Real, 3>> accelerations;
  device_buffer<Real> potentials;
};

inline field<double> again(const cloud<double>& before, const cloud<double>& now,
                           const nbody_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const device_cloud<double> first(before);
  const device_cloud<double> second(now);
  barnes_hut<double> gravity(options);
  const auto find = [&](const device_cloud<double>& c) {
    return gravity.accelerations(c.positions.data(), c.masses.data(), c.masses.size(),
                                 c.accelerations.data(), c.potentials.data());
  };
  (void)find(first);
  return second.result(find(second));
}

inline field<double> without_slots(const cloud<double>& c, const nbody_options& options) {
  const all_slots_taken by_somebody_else(*current_launch_limits().pending_launches);
  return again({}, c, options);
}

inline field<float> accelerations_alone(const cloud<float>& from, const nbody_options& options) {
  const device_cloud<float> c(from);
  check(cudaMemsetAsync(c.potentials.data(), 0, c.potentials.size() * sizeof(float), nullptr),
        "clearing the potentials");
  return c.result(barnes_hut<float>(options)
                      .accelerations(c.positions.data(), c.masses.data(), c.masses.size(),
                                     c.accelerations.data()));
}

__global__ void tamper(spatial_tree_view<double, 3> tree, gravity_node<double>* cells,
                       tampering how) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.node_count) return;
  const auto& bounds = tree.nodes[i].bounds;
  if (how == tampering::late_opening) cells[i].opening_radius2 /= 4;
  if (how == tampering::wrong_centers) {
    cells[i].center.x = (bounds.lower.x[0] + bounds.upper.x[0]) / 2;
    cells[i].center.y = (bounds.lower.x[1] + bounds.upper.x[1]) / 2;
    cells[i].center.z = (bounds.lower.x[2] + bounds.upper.x[2]) / 2;
  }
  if (how == tampering::lost_leaf && tree.nodes[i].is_leaf() && tree.nodes[i].begin == 0) {
    cells[i].body_count -= 1;
  }
}

/// What barnes_hut does, with a hand in it.
inline field<double> tampered(const cloud<double>& from, const nbody_options& options,
                              tampering how) {
  const device_cloud<double> c(from);
  const spatial_tree<double, 3> built(c.positions.data(), c.masses.size());
  const auto tree = built.view();
  const unsigned blocks = tree.point_count / 128 + 1;  // there are no more nodes than points
  const device_buffer<point_mass<double>> bodies(tree.point_count, nullptr);
  const device_buffer<mass_sum<double>> sums(tree.node_count, nullptr);
  const device_buffer<gravity_node<double>> cells(tree.node_count, nullptr);
  const auto interactions = upload<unsigned long long>({0});
  check(launch(gather_bodies<double>, {blocks, 128}, nullptr, tree, c.masses.data(), bodies.data(),
               trace_ticket())
            .code(),
        "gathering");
  (void)summarize(tree, mass_reduction<double>{bodies.data(), sums.data()}, nullptr);
  check(launch(make_nodes<double>, {blocks, 128}, nullptr, tree, sums.data(), options.theta,
               cells.data(), trace_ticket())
            .code(),
        "making cells");
  check(launch(tamper, {blocks, 128}, nullptr, tree, cells.data(), how).code(), "tampering");
  const traversal_arguments<double> work{cells.data(),
                                  bodies.data(),
                                  tree.ids,
                                  tree.point_count,
                                  options.softening * options.softening,
                                  1,
                                  c.accelerations.data(),
                                  c.potentials.data(),
                                  interactions.data(),
                                  {}};
  check(launch(traverse_tree<double>, {(tree.point_count - 1) / traversal_threads + 1, traversal_threads},
               nullptr, work)
            .code(),
        "walking");
  return c.result({});
}

inline field<double> with_leaf_size(const cloud<double>& from, const nbody_options& options,
                                    unsigned leaf_size) {
  const device_cloud<double> c(from);
  nbody_options config = options;
  config.leaf_size = leaf_size;
  return c.result(barnes_hut<double>(config).accelerations(c.positions.data(), c.masses.data(),
                                                           c.masses.size(), c.accelerations.data(),
                                                           c.potentials.data()));
}

inline field<double> direct_range(const cloud<double>& from, std::uint32_t begin,
                                  std::uint32_t end) {
  const device_cloud<double> c(from);
  // The results of some bodies need no more room than that, so potentials may lie right behind.
  point<double, 3>* const a = c.accelerations.data();
  double* const potentials = &a[end - begin].x[0];
  auto found = direct_gravity(c.positions.data(), c.masses.data(), c.masses.size(), a, potentials,
                              nullptr, {}, {begin, end});
  check(cudaMemcpyAsync(c.potentials.data(), potentials, (end - begin) * sizeof(double),
                        cudaMemcpyDeviceToDevice, nullptr),
        "moving the potentials");
  return c.result(std::move(found));
}

inline std::string moved_system(const cloud<double>& from) {
  const device_cloud<double> c(from);
  const std::size_t n = c.masses.size();
  nbody_system<double> first(c.positions.data(), c.positions.data(), c.masses.data(), n);
  nbody_system<double> second(std::move(first));
  if (first.size() != 0 || first.report().bodies != 0) return "bodies are left after a move";
  if (second.size() != n || second.report().bodies != n) return "bodies were lost in a move";
  first = std::move(second);
  if (second.size() != 0 || first.size() != n) return "an assignment did not move";
  first.step(0.01);
  second.step(0.01);
  return {};
}

inline void provoke(bad_call call) {
  const device_buffer<point<double, 3>> positions(100, nullptr);
  const device_buffer<point<double, 3>> accelerations(100, nullptr);
  const device_buffer<double> masses(100, nullptr);
  auto* const x = positions.data();
  auto* const a = accelerations.data();
  auto* const m = masses.data();
  barnes_hut<double> gravity;
  const auto find = [&](auto* positions, auto* masses, std::size_t n, auto* accelerations,
                        double* potentials) {
    (void)gravity.accelerations(positions, masses, n, accelerations, potentials);
  };
  switch (call) {
    case bad_call::null_positions: find(decltype(x){nullptr}, m, 10, a, nullptr); break;
    case bad_call::null_masses: find(x, decltype(m){nullptr}, 10, a, nullptr); break;
    case bad_call::null_accelerations: find(x, m, 10, decltype(a){nullptr}, nullptr); break;
    case bad_call::results_over_positions: find(x, m, 60, x + 50, nullptr); break;
    case bad_call::results_over_masses: find(x, m, 60, a, m + 50); break;
    case bad_call::results_over_results: find(x, m, 10, a, &a[9].x[0]); break;
    case bad_call::range:
      (void)direct_gravity(x, m, 10, a, decltype(m){nullptr}, nullptr, {}, {11, 20});
      break;
    case bad_call::leaf_size: {
      nbody_options config;
      config.leaf_size = 0;
      (void)barnes_hut<double>(config);
      break;
    }
    case bad_call::too_many: find(x, m, std::size_t{1} << 31, a, nullptr); break;
    case bad_call::host_memory: {
      std::vector<point<double, 3>> on_host(100);
      find(x, m, 100, on_host.data(), nullptr);
      break;
    }
  }
}

inline std::string memory_kinds(const cloud<double>& c) {
  using vector = std::array<double, 3>;
  const std::size_t n = c.masses.size();
  nbody_options options;
  options.backend = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  vectors<double> expected(n);
  (void)gravity<double>(c.positions, c.masses, expected, {}, options);

  pinned_buffer<vector> pinned(n);
  (void)gravity<double>(c.positions, c.masses, std::span(pinned.data(), n), {}, options);
  if (!std::ranges::equal(expected, std::span(pinned.data(), n))) return "pinned memory";

  const device_buffer<vector> x = upload(c.positions);
  const device_buffer<double> m = upload(c.masses);
  const device_buffer<vector> a(n, nullptr);
  check(cudaStreamSynchronize(nullptr), "waiting for the upload");
  (void)gravity<double>(std::span<const vector>(x.data(), n), std::span<const double>(m.data(), n),
                        std::span(a.data(), n), {}, options);
  vectors<double> found(n);
  download(a, found);
  if (found != expected) return "device memory";
  return {};
}

inline const barnes_hut_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const barnes_hut_cases all{
      again,        without_slots, accelerations_alone, tampered,     with_leaf_size,
      direct_range, provoke,       slots_in_use,        memory_kinds, moved_system};
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD
