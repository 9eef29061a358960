// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Functions for the tests of gravity: they calculate forces by the facade and by the header
/// templates, on the backend that this file is compiled for.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <ramify/nbody.cuh>
#include <ramify/nbody.hpp>
#include <ramify/runtime/slots.cuh>

#include "backend_under_test.hpp"
#include "clouds.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

inline nbody_options options_for(double theta, double softening = 0) {
  return {.theta = theta, .softening = softening};
}

/// Returns the environment of a call of the facade.
inline environment environment_for(ramify::route taken = ramify::route::automatic) {
  return {.backend = backend_under_test(), .route = taken};
}

template <class Real>
using vectors = std::vector<std::array<Real, 3>>;

/// Returns the cloud with its positions and masses rounded to Real.
template <class Real>
cloud<Real> rounded(const cloud<double>& from) {
  cloud<Real> to;
  for (const auto& x : from.positions) to.positions.push_back({Real(x[0]), Real(x[1]), Real(x[2])});
  to.masses.assign(from.masses.begin(), from.masses.end());
  return to;
}

/// Returns the number of launch slots that no run has released. The first call acquires a lease
/// that lasts until the program ends: without a lease the CPU executor resets the number of slots
/// in use, which would hide a leak.
inline unsigned leaked_slots() {
  static const slot_lease lease(2048);
  return slots_in_use();
}

/// Calculates gravity by the facade. Checks that the report counts all grids that the CPU executor
/// began, and that no launch slot is in use afterwards.
template <class Real>
field<Real> gravity_of(const cloud<double>& from, const nbody_options& options,
                       const environment& env = environment_for()) {
  const cloud<Real> c = rounded<Real>(from);
  field<Real> found;
  found.accelerations.resize(c.masses.size());
  found.potentials.resize(c.masses.size());
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  found.report = ramify::gravity<Real>(c.positions, c.masses, found.accelerations, found.potentials,
                                       options, env);
  if (!RAMIFY_ON_CUDA) {
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(found.report.host_grids + found.report.child_grids == grids);
  }
  BOOST_TEST(leaked_slots() == 0u);
  return found;
}

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

/// A cloud in device memory, and the arrays for its field.
template <class Real>
struct device_cloud {
  explicit device_cloud(const cloud<Real>& from)
      : positions(upload_points(from.positions)),
        masses(upload(from.masses)),
        accelerations(from.masses.size(), nullptr),
        potentials(from.masses.size(), nullptr) {}

  [[nodiscard]] std::size_t size() const { return masses.size(); }

  [[nodiscard]] ramify::detail::nbody::device_arrays<Real> arrays() const {
    return {positions.data(),     masses.data(),     size(),
            accelerations.data(), potentials.data(), size()};
  }

  /// Calculates the field by the header template.
  nbody_report calculate(const barnes_hut<Real>& gravity, const environment& env = {}) const {
    return gravity.accelerations(positions.data(), masses.data(), size(), accelerations.data(),
                                 potentials.data(), env);
  }

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

template <class Real>
bool same_bits(const field<Real>& a, const field<Real>& b) {
  return a.accelerations == b.accelerations && a.potentials == b.potentials;
}

/// A tree with the nodes that the traversal reads, by the phases of barnes_hut.
struct tree_with_nodes {
  tree_with_nodes(const device_cloud<double>& c, const nbody_options& options)
      : built(c.positions.data(), c.size(), ramify::detail::nbody::tree_options(options)) {
    const auto tree = built.view();
    memory = {scratch.take(nullptr, c.size(), tree.node_count, options), nullptr};
    scratch.take(memory.data(), c.size(), tree.node_count, options);
    ramify::detail::nbody::clear_progress(scratch.progress, nullptr);
    compute_moments(tree, c.masses.data(), options, scratch, nullptr, {});
  }

  ramify::spatial_tree<double, 3> built;
  ramify::detail::nbody::gravity_scratch<double> scratch;
  device_buffer<std::byte> memory;
};

/// 512 bodies in a cube of side 1, and 64 bodies without mass at a distance from its middle. They
/// are two children of the root, and whole groups.
inline cloud<double> cube_and_probes(double distance) {
  auto c = make_cloud(shape::cube, 512);
  for (auto& x : c.positions) {
    for (double& coordinate : x) coordinate /= 2;
  }
  numbers random(3);
  for (int i = 0; i < 64; ++i) {
    c.positions.push_back({distance + random.next() / 4, random.next() / 4, random.next() / 4});
    c.masses.push_back(0);
  }
  return c;
}

/// The root mean squares of the relative errors of the probes.
struct probe_error {
  double acceleration = 0;
  double potential = 0;
};

inline probe_error error_of_probes(const field<double>& found, const field<double>& truth) {
  const auto probes = [](const field<double>& all) {
    return field<double>{{all.accelerations.end() - 64, all.accelerations.end()},
                         {all.potentials.end() - 64, all.potentials.end()},
                         {}};
  };
  const auto error = error_of(probes(found), probes(truth));
  return {error.rms, error.potential};
}

inline nbody_options options_of_order(int order, double theta, double softening = 0) {
  auto options = options_for(theta, softening);
  options.order = order;
  return options;
}

inline nbody_options options_of_tolerance(int order, double tolerance, double softening = 0) {
  auto options = options_of_order(order, 0.5, softening);
  options.tolerance = tolerance;
  return options;
}

/// A number of bodies for which the device route builds the tree by nested grids; smaller under
/// sanitizers.
inline const auto bodies_of_deep_tree = static_cast<std::size_t>(cut_down(6'000, 2'100));

/// The bound of the rounding error of a direct sum; the error is larger where forces cancel.
template <class Real>
inline constexpr double rounding = 2e4 * double(std::numeric_limits<Real>::epsilon());

}  // namespace tests::inline RAMIFY_BUILD
