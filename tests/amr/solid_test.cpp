// SPDX-License-Identifier: BSD-3-Clause
// A solid body in the flow: a shock that it reflects, the step in a wind tunnel, a blast around it.
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

using solid_gas = with_inflow<with_solid<euler<double, 2>, solid_box<double, 2>>>;
using solid_run = amr_run<solid_gas, criterion_of<solid_gas>, 8>;

/// A gas with one state, and a ball of higher pressure if it has a radius.
struct gas_and_ball {
  solid_gas::values gas;
  double center[2];
  double radius;
  [[nodiscard]] __host__ __device__ solid_gas::values operator()(const double (&where)[2]) const {
    solid_gas::values here = gas;
    const double x = where[0] - center[0];
    const double y = where[1] - center[1];
    if (x * x + y * y < radius * radius) here[3] = 10;
    return here;
  }
};

/// Calls `use(center, values)` with the primitive values of each cell.
template <class Use>
void for_each_cell(const solid_run& run, Use use) {
  const mesh_snapshot mesh = run.snapshot();
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < 64; ++cell) {
      solid_gas::values u;
      for (int v = 0; v < 4; ++v) u[v] = mesh.field(leaf, std::size_t(v))[cell];
      use(cell_center(mesh, leaf, cell), solid_gas{}.to_primitive(u));
    }
  }
}

/// Returns the mass outside of the solid. No cell of any level may be partly solid.
double mass_of_flow(const solid_run& run, const solid_gas& physics) {
  const mesh_snapshot mesh = run.snapshot();
  return integral(mesh, [&](std::size_t leaf, std::size_t cell) {
    const auto where = cell_center(mesh, leaf, cell);
    const double center[2] = {where[0], where[1]};
    return physics.is_solid(center) ? 0 : mesh.field(leaf, 0)[cell];
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(solid, *boost::unit_test::precondition(not_under_thread_sanitizer))

// A gas runs into a wall at the middle of the domain. The oracle is the exact solution for it and
// its mirror image.
BOOST_AUTO_TEST_CASE(a_wall_reflects_a_shock) {
  setting s;
  s.options.mesh.roots = {16, 1, 1};
  s.options.mesh.upper = {1, 1.0 / 16, 1};
  s.options.mesh.max_level = 0;
  set_boundaries(s, boundary::outflow);
  solid_gas physics;
  physics.solid = {{0.5, 0}, {1, 1}};
  const solid_gas::values gas{1, 2, 0, 1};
  solid_run run(physics, criterion_of<solid_gas>{s}, gas_and_ball{gas, {0, 0}, 0}, s.options);
  run.advance_to(0.2);
  const exact_riemann exact({1, 2, 1}, {1, -2, 1}, 1.4);
  BOOST_TEST(std::abs(exact.star_velocity()) < 1e-12);
  double error = 0;
  double moved = 0;
  for_each_cell(run, [&](const auto& where, const solid_gas::values& u) {
    if (where[0] > 0.5) {
      for (int v = 0; v < 4; ++v) moved = std::max(moved, std::abs(u[v] - gas[v]));
    } else {
      error += std::abs(u[3] - exact.at((where[0] - 0.5) / 0.2).pressure) / (64 * 8);
    }
  });
  BOOST_TEST(moved < 1e-12);  // the solid has the initial values
  BOOST_TEST(error < 0.01 * exact.star_pressure());
}

// A blast around a box in a closed domain, on levels that follow it.
BOOST_DATA_TEST_CASE(a_blast_around_a_box_keeps_mass_and_energy, data::make(subcycling), subcycle) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 2;
  s.options.regrid = {.refine_above = 0.5, .coarsen_below = 0.4, .patience = 1, .every = 2};
  s.criterion = criterion_kind::value;
  s.scale = 10;
  s.offset = 1.02;
  set_boundaries(s, boundary::reflecting);
  solid_gas physics;
  physics.solid = {{0.5, 0.25}, {0.75, 0.75}};
  const auto start = [&](route way) {
    s.env.route = way;
    return solid_run(physics, criterion_of<solid_gas>{s},
                     gas_and_ball{{1, 0, 0, 1}, {0.25, 0.5}, 0.1}, s.options, s.env);
  };
  solid_run run = start(route::flat);
  const std::vector<double> before = run.totals();
  const std::uint64_t steps = effort() < 1 ? 3 : 20;
  run.advance(steps);
  BOOST_TEST(leaves_of_levels(run.snapshot()).size() > 1u);
  const std::vector<double> after = run.totals();
  for (const std::size_t v : {0, 3}) BOOST_TEST(std::abs(after[v] / before[v] - 1) < 1e-13);
  BOOST_TEST(std::abs(mass_of_flow(run, physics) / 0.875 - 1) < 1e-13);
  solid_run other = start(route::device);
  other.advance(steps);
  BOOST_TEST(same_bits(other.snapshot(), run.snapshot()));
}

// A wind through a periodic side to a box at the opposite side. Both blocks at that side must find
// the same wall.
BOOST_AUTO_TEST_CASE(a_box_at_a_periodic_side_keeps_mass) {
  setting s;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 0;
  set_boundaries(s, boundary::periodic);
  solid_gas physics;
  physics.solid = {{0.75, 0.25}, {1, 0.75}};
  solid_run run(physics, criterion_of<solid_gas>{s}, gas_and_ball{{1, -1, 0, 1}, {0, 0}, 0},
                s.options);
  run.advance(10);
  BOOST_TEST(std::abs(mass_of_flow(run, physics) / 0.875 - 1) < 1e-13);
}

// The wind tunnel with a step of Emery (1968) and of Woodward and Colella, J. Comput. Phys. 54
// (1984) 115: a gas of Mach 3 in a channel of height 1, with a step of 0.2 at x = 0.6. The channel
// ends at 1.2 instead of 3, because nothing returns from a supersonic outflow. At the lower wall
// the bow shock is normal. So the gas at the foot of the step approaches the state in a Pitot tube
// (Rayleigh): 12.061 times the pressure of the inflow and, as the shock makes the gas 3.857 times
// as dense, 3.857 (12.061 / 10.333)^(1 / 1.4) times the density. Walls are of first order.
BOOST_AUTO_TEST_CASE(a_step_in_a_wind_tunnel_has_the_pressure_of_a_pitot_tube) {
  if (effort() < 1) return;
  setting s;
  s.options.mesh.roots = {6, 5, 1};
  s.options.mesh.upper = {1.2, 1, 1};
  s.options.mesh.max_level = 0;
  s.options.mesh.sides[0] = {boundary::prescribed, boundary::outflow};
  s.options.mesh.sides[1] = {boundary::reflecting, boundary::reflecting};
  const solid_gas::values gas{1.4, 3, 0, 1};
  solid_gas physics;
  physics.solid = {{0.6, 0}, {3, 0.2}};
  physics.inflow[0][0] = gas;
  solid_run run(physics, criterion_of<solid_gas>{s}, gas_and_ball{gas, {0, 0}, 0}, s.options);
  run.advance_to(1);
  double pressure = 0;
  double density = 0;
  for_each_cell(run, [&](const auto& where, const solid_gas::values& u) {
    if (where[1] > 0.025 || where[0] > 0.6) return;  // the lowest row
    if (where[0] > 0.575) pressure = u[3];
    density = std::max(density, u[0]);
  });
  BOOST_TEST_MESSAGE("pressure " << pressure << ", density " << density);
  BOOST_TEST(std::abs(pressure / 12.061 - 1) < 0.1);
  BOOST_TEST(std::abs(density / (1.4 * 3.857 * std::pow(12.061 / 10.333, 1 / 1.4)) - 1) < 0.03);
}

BOOST_AUTO_TEST_SUITE_END()
