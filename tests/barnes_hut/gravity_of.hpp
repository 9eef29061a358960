// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the tests of gravity have in common: options for the backend under test, and its answer for
/// a cloud.

#include <boost/test/unit_test.hpp>
#include <limits>
#include <ramify/cpu/executor.hpp>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "clouds.hpp"

namespace tests {

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

inline const barnes_hut_cases& cases() {
  return runs_on_cpu() ? *barnes_hut_cases_on_cpu() : *barnes_hut_cases_on_cuda();
}

inline ramify::gravity_options options_for(double theta, double softening = 0,
                                           ramify::route taken = ramify::route::automatic) {
  ramify::gravity_options options;
  options.backend = backend_under_test();
  options.route = taken;
  options.theta = theta;
  options.softening = softening;
  return options;
}

template <class Real>
cloud<Real> rounded(const cloud<double>& from) {
  cloud<Real> to;
  for (const auto& x : from.positions) to.positions.push_back({Real(x[0]), Real(x[1]), Real(x[2])});
  to.masses.assign(from.masses.begin(), from.masses.end());
  return to;
}

template <class Real>
field<Real> gravity_of(const cloud<double>& from, const ramify::gravity_options& options) {
  const cloud<Real> c = rounded<Real>(from);
  field<Real> found;
  found.accelerations.resize(c.masses.size());
  found.potentials.resize(c.masses.size());
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  found.report =
      ramify::gravity<Real>(c.positions, c.masses, found.accelerations, found.potentials, options);
  if (runs_on_cpu()) {
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(found.report.host_grids + found.report.child_grids == grids);
  }
  BOOST_TEST(cases().slots_in_use() == 0u);
  return found;
}

template <class Real>
bool same_bits(const field<Real>& a, const field<Real>& b) {
  return a.accelerations == b.accelerations && a.potentials == b.potentials;
}

/// Bodies whose tree is built by grids that launch grids.
inline const auto deep = static_cast<std::size_t>(cut_down(6'000, 2'100));

/// What the direct sum may be off by: rounding, more where forces cancel.
template <class Real>
inline constexpr double rounding = 2e4 * double(std::numeric_limits<Real>::epsilon());

}  // namespace tests
