// SPDX-License-Identifier: BSD-3-Clause
// A gas whose density and pressure stay positive, where a gas without this addition ends the run.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.cuh>

#include "exact_riemann.hpp"
#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

using plain_gas = euler<double, 2>;
using safe_gas = with_positivity<plain_gas>;

template <class Physics>
using gas_run = amr_run<Physics, criterion_of<Physics>, 8>;

template <class Physics>
gas_run<Physics> start_gas(const setting& s) {
  return {physics_of(s, static_cast<const Physics*>(nullptr)), criterion_of<Physics>{s},
          initial_state<Physics>{s}, s.options, s.env};
}

/// Two streams that move apart along x and leave a vacuum, as in B. Einfeldt et al., J. Comput.
/// Phys. 92 (1991) 273, but colder and ten times as fast.
setting torn_streams(bool subcycle) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {4, 1, 1};
  s.options.mesh.upper = {1, 0.25, 1};
  s.options.mesh.max_level = 2;
  s.options.regrid.every = 2;
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::tearing;
  s.amplitude = 20;
  return s;
}

/// Squares of gases side by side whose densities differ by up to 10^3, and their pressures by up to
/// 10^6. Their speeds are up to 4 along each axis.
struct contrasts {
  [[nodiscard]] __host__ __device__ plain_gas::values operator()(const double (&where)[2]) const {
    double square[2];
    for (int axis = 0; axis < 2; ++axis) square[axis] = std::floor(16 * where[axis]);
    const auto random = [&](int salt) { return noise_at(square, 2, salt); };
    return {std::pow(10, -3 * random(0)), 8 * random(1) - 4, 8 * random(2) - 4,
            std::pow(10, -6 * random(3))};
  }
};

template <class Physics>
gas_run<Physics> start_contrasts(const setting& s) {
  return {Physics{}, criterion_of<Physics>{s}, contrasts{}, s.options, s.env};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(positivity, *boost::unit_test::precondition(not_under_thread_sanitizer))

// The oracle is the exact solution with its vacuum.
BOOST_DATA_TEST_CASE(streams_that_leave_a_vacuum, data::make(subcycling), subcycle) {
  const setting s = torn_streams(subcycle);
  gas_run<safe_gas> run = start_gas<safe_gas>(s);
  const double end = 0.01;
  run.advance_to(end);
  BOOST_TEST(run.report().fallback_cells > 0u);
  BOOST_TEST(run.report().floored_cells == 0u);
  const exact_riemann exact({1, -20, 1e-3}, {1, 20, 1e-3}, 1.4);
  BOOST_TEST(exact.opens_vacuum());
  const mesh_snapshot mesh = run.snapshot();
  const auto error_at = [&](double time) {
    return 4 * integral(mesh, [&](std::size_t leaf, std::size_t cell) {
             const double x = cell_center(mesh, leaf, cell)[0] - s.center[0];
             return std::abs(mesh.field(leaf, 0)[cell] - exact.at(x / time).density);
           });
  };
  BOOST_TEST(error_at(end) < 0.06);
  BOOST_TEST(error_at(0.8 * end) > 0.06);  // the negative control
}

BOOST_DATA_TEST_CASE(totals_stay_and_routes_agree, data::make(subcycling), subcycle) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.step.cfl = 0.25;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 1;
  s.criterion = criterion_kind::corner;
  const std::uint64_t steps = effort() < 1 ? 3 : 30;
  // The negative control: the run without the addition ends.
  expect_error<amr_error>([&] { start_contrasts<plain_gas>(s).advance(steps); }, "is invalid: ");

  s.env.route = route::flat;
  gas_run<safe_gas> flat = start_contrasts<safe_gas>(s);
  const std::vector<double> before = flat.totals();
  flat.advance(steps);
  BOOST_TEST(flat.report().fallback_cells > 0u);
  BOOST_TEST(flat.report().floored_cells == 0u);
  BOOST_TEST(flat.report().finest_level == 1);
  const std::vector<double> after = flat.totals();
  for (std::size_t v = 0; v < 4; ++v) {
    BOOST_TEST(std::abs(after[v] - before[v]) < 1e-13 * before[3]);
  }

  s.env.route = route::device;
  gas_run<safe_gas> device = start_contrasts<safe_gas>(s);
  device.advance(steps);
  BOOST_TEST((device.report().taken == route::device));
  BOOST_TEST(device.report().fallback_cells == flat.report().fallback_cells);
  BOOST_TEST(same_bits(device.snapshot(), flat.snapshot()));
}

// The vacuum is below the floor of the density, which adds mass.
BOOST_DATA_TEST_CASE(floors_hold, data::make(subcycling), subcycle) {
  const setting s = torn_streams(subcycle);
  const auto least_density = [&](auto physics) {
    physics.density_floor = 0.1;
    using type = decltype(physics);
    gas_run<type> run(physics, criterion_of<type>{s}, initial_state<type>{s}, s.options);
    run.advance_to(0.01);
    BOOST_TEST(run.report().floored_cells > 0u);
    const mesh_snapshot mesh = run.snapshot();
    double least = 1;
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
        least = std::min(least, mesh.field(leaf, 0)[cell]);
      }
    }
    return least;
  };
  BOOST_TEST(least_density(safe_gas{}) >= 0.99 * 0.1);
  // The negative control: the run without the addition ends.
  expect_error<amr_error>([&] { static_cast<void>(least_density(plain_gas{})); }, "is invalid: ");
}

BOOST_DATA_TEST_CASE(a_flow_that_needs_no_help_keeps_its_bits, data::make(subcycling), subcycle) {
  const setting s = lively(matter::gas_2d, subcycle);
  const auto plain = start_run(s);
  plain->advance(lively_steps(s));
  gas_run<safe_gas> safe = start_gas<safe_gas>(s);
  safe.advance(lively_steps(s));
  BOOST_TEST(same_bits(plain->snapshot(), safe.snapshot()));
  BOOST_TEST(safe.report().fallback_cells == 0u);
  BOOST_TEST(safe.report().floored_cells == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
