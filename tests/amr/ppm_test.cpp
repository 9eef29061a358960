// SPDX-License-Identifier: BSD-3-Clause
// Parabolic profiles: orders against exact solutions, beside linear profiles; conservation; routes.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <ramify/amr.cuh>

#include "exact_riemann.hpp"
#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;

namespace {

using linear_scalar = advection<double, 2, uniform_velocity<double, 2>>;
using parabolic_scalar = with_ppm<linear_scalar>;
using linear_gas = euler<double, 2>;
using parabolic_gas = with_ppm<linear_gas>;

/// A wave along x.
struct wave_along_x {
  [[nodiscard]] __host__ __device__ linear_scalar::values operator()(
      const double (&where)[2]) const {
    return {std::sin(2 * std::numbers::pi * where[0])};
  }
};

/// Returns the mean error after half a period of a wave on `blocks` blocks of 8 cells along x. The
/// length of a step falls with the power 3/2 of that of the cells, so that the error in time, which
/// is of second order, falls with the power 3.
template <class Physics>
double error_of_wave(unsigned blocks) {
  amr_options options;
  options.mesh.roots = {blocks, 1, 1};
  options.mesh.upper = {1, 1.0 / blocks, 1};
  options.mesh.max_level = 0;
  options.regrid.every = 0;
  options.step.cfl = 0.2 / std::sqrt(blocks);
  Physics physics{};
  physics.velocity.velocity[0] = 1;
  amr_run<Physics, gradient_criterion<Physics>, 8> run(physics, gradient_criterion<Physics>{},
                                                       wave_along_x{}, options);
  run.advance_to(0.5);
  const mesh_snapshot mesh = run.snapshot();
  const double h = mesh.spacing(0, 0);
  return blocks * integral(mesh, [&](std::size_t leaf, std::size_t cell) {
           const double x = cell_center(mesh, leaf, cell)[0] - 0.5;
           const double pi = std::numbers::pi;
           const double average =
               (std::cos(2 * pi * (x - h / 2)) - std::cos(2 * pi * (x + h / 2))) / (2 * pi * h);
           return std::abs(mesh.field(leaf, 0)[cell] - average);
         });
}

/// Returns the mean error of the density of Sod's tube with cells of 1/128.
template <class Physics>
double error_of_tube() {
  setting s;
  s.options.mesh.roots = {16, 1, 1};
  s.options.mesh.upper = {1, 1.0 / 16, 1};
  s.options.mesh.max_level = 0;
  set_boundaries(s, boundary::outflow);
  s.initial = initial_kind::sod;
  amr_run<Physics, criterion_of<Physics>, 8> run(Physics{}, criterion_of<Physics>{s},
                                                 initial_state<Physics>{s}, s.options);
  run.advance_to(0.2);
  const exact_riemann exact({1, 0, 1}, {0.125, 0, 0.1}, 1.4);
  const mesh_snapshot mesh = run.snapshot();
  return 16 * integral(mesh, [&](std::size_t leaf, std::size_t cell) {
           const double x = cell_center(mesh, leaf, cell)[0] - 0.5;
           return std::abs(mesh.field(leaf, 0)[cell] - exact.at(x / 0.2).density);
         });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ppm, *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_AUTO_TEST_CASE(a_smooth_wave_is_of_third_order) {
  const double coarse = error_of_wave<parabolic_scalar>(2);
  const double fine = error_of_wave<parabolic_scalar>(4);
  BOOST_TEST_MESSAGE("errors " << coarse << ", " << fine << ": order " << std::log2(coarse / fine));
  BOOST_TEST(std::log2(coarse / fine) > 2.9);
  BOOST_TEST(fine < error_of_wave<linear_scalar>(4) / 10);
}

// The oracle is the exact solution.
BOOST_AUTO_TEST_CASE(a_shock_tube_has_a_smaller_error_than_with_linear_profiles) {
  const double parabolic = error_of_tube<parabolic_gas>();
  const double linear = error_of_tube<linear_gas>();
  BOOST_TEST_MESSAGE("errors " << parabolic << ", with linear profiles " << linear);
  BOOST_TEST(parabolic < linear);
}

BOOST_DATA_TEST_CASE(a_mesh_with_levels_conserves_and_routes_agree, data::make(subcycling),
                     subcycle) {
  setting s = lively(matter::gas_2d, subcycle);
  const auto start = [&] {
    return amr_run<parabolic_gas, criterion_of<parabolic_gas>, 8>(
        parabolic_gas{}, criterion_of<parabolic_gas>{s}, initial_state<parabolic_gas>{s}, s.options,
        s.env);
  };
  const std::uint64_t steps = effort() < 1 ? 3 : 12;
  s.env.route = route::flat;
  auto flat = start();
  const std::vector<double> before = flat.totals();
  flat.advance(steps);
  BOOST_TEST(flat.report().refined + flat.report().coarsened > 0u);
  BOOST_TEST(leaves_of_levels(flat.snapshot()).size() > 1u);
  const std::vector<double> after = flat.totals();
  for (std::size_t v = 0; v < 4; ++v) {
    BOOST_TEST(std::abs(after[v] - before[v]) < 1e-13 * before[3]);
  }
  s.env.route = route::device;
  auto device = start();
  device.advance(steps);
  BOOST_TEST((device.report().taken == route::device));
  BOOST_TEST(same_bits(device.snapshot(), flat.snapshot()));
}

BOOST_AUTO_TEST_SUITE_END()
