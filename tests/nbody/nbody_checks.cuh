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

inline nbody_options options_for(double theta, double softening = 0,
                                 ramify::route requested_route = ramify::route::automatic) {
  nbody_options options;
  options.backend = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  options.route = requested_route;
  options.theta = theta;
  options.softening = softening;
  return options;
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
field<Real> gravity_of(const cloud<double>& from, const nbody_options& options) {
  const cloud<Real> c = rounded<Real>(from);
  field<Real> found;
  found.accelerations.resize(c.masses.size());
  found.potentials.resize(c.masses.size());
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  found.report =
      ramify::gravity<Real>(c.positions, c.masses, found.accelerations, found.potentials, options);
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
  nbody_report calculate(barnes_hut<Real>& gravity) const {
    return gravity.accelerations(positions.data(), masses.data(), size(), accelerations.data(),
                                 potentials.data());
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

/// A number of bodies for which the device route builds the tree by nested grids; smaller under
/// sanitizers.
inline const auto bodies_of_deep_tree = static_cast<std::size_t>(cut_down(6'000, 2'100));

/// The bound of the rounding error of a direct sum; the error is larger where forces cancel.
template <class Real>
inline constexpr double rounding = 2e4 * double(std::numeric_limits<Real>::epsilon());

}  // namespace tests::inline RAMIFY_BUILD
