// SPDX-License-Identifier: BSD-3-Clause
// Additions to physics: a gas with gravity and prescribed sides, and one with scalars;
// the double Mach reflection.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr.cuh>
#include <ramify/amr/physics/double_mach.cuh>

#include "functors.cuh"
#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;
using namespace tests;

namespace {

using plain_gas = euler<double, 2>;

constexpr double weight = 0.5;  // of the gas: its acceleration downward, times its density, 1

/// Gas at rest whose pressure falls linearly along y: the weight above each point.
struct still_gas {
  [[nodiscard]] __host__ __device__ plain_gas::values operator()(const double (&where)[2]) const {
    return {1, 0, 0, 2 - weight * where[1]};
  }
};

/// The sides of the tests below.
struct sides {
  bool mirrors;  ///< as boundary::reflecting; otherwise the still gas goes on

  [[nodiscard]] __host__ __device__ plain_gas::values operator()(const plain_gas& physics,
                                                                 const plain_gas::values& inside,
                                                                 int axis, int,
                                                                 const double (&where)[2],
                                                                 double) const {
    return mirrors ? physics.reflected(inside, axis) : physics.to_conserved(still_gas{}(where));
  }
};

using heavy_gas = with_source<with_boundary<plain_gas, sides>, uniform_gravity<double, 2>>;
using heavy_run = amr_run<heavy_gas, criterion_of<heavy_gas>, 8>;

heavy_gas gas_with(sides at_sides, double gravity) {
  heavy_gas physics{};
  physics.condition = at_sides;
  physics.added.acceleration[1] = gravity;
  return physics;
}

/// A mesh with three levels, one of whose boxes is at the lower side along y.
setting three_levels(boundary side, bool subcycle) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {2, 2, 1};
  s.options.mesh.max_level = 2;
  s.options.mesh.balance = balance::corner;
  s.options.regrid = {.refine_above = 1, .coarsen_below = 0.5, .every = 0};
  set_boundaries(s, side);
  s.criterion = criterion_kind::box;
  s.boxes[0] = {{0.1, 0, 0}, {0.4, 0.4, 1}};
  s.boxes[1] = {{0.1, 0, 0}, {0.2, 0.1, 1}};
  return s;
}

/// Returns the largest velocity in a run; its density must be near 1.
double largest_velocity(const heavy_run& run) {
  const mesh_snapshot mesh = run.snapshot();
  const std::size_t cells = mesh.cells_of_a_block();
  double largest = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t i = cells; i < 3 * cells; ++i) {
      largest = std::max(largest, std::abs(mesh.values[leaf * 4 * cells + i]));
    }
  }
  return largest;
}

double velocity_after(const setting& s, sides at_sides, double gravity) {
  heavy_run run(gas_with(at_sides, gravity), criterion_of<heavy_gas>{s}, still_gas{}, s.options);
  run.advance(8);
  BOOST_TEST(run.report().finest_level == 2);
  BOOST_TEST(run.time() > 0.01);
  return largest_velocity(run);
}

/// A gas with a dye that is everywhere, and one that is in the left half of Sod's tube.
using dyed_gas = with_scalars<plain_gas, 2>;
struct dyed_tube {
  [[nodiscard]] __host__ __device__ dyed_gas::values operator()(const double (&where)[2]) const {
    const plain_gas::values tube = sod<double, 2>{}(where);
    return {tube[0], tube[1], tube[2], tube[3], 1, where[0] < 0.5 ? 1.0 : 0.0};
  }
};

using air = with_boundary<plain_gas, double_mach<double>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(extensions, *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_DATA_TEST_CASE(a_gas_in_hydrostatic_equilibrium_stays_at_rest, data::make(subcycling),
                     subcycle) {
  const setting s = three_levels(boundary::prescribed, subcycle);
  BOOST_TEST(velocity_after(s, {false}, -weight) < 1e-13);
  // The negative controls: without gravity it moves, and also beside walls.
  BOOST_TEST(velocity_after(s, {false}, 0) > 1e-3);
  BOOST_TEST(velocity_after(s, {true}, -weight) > 1e-5);
}

BOOST_DATA_TEST_CASE(a_prescribed_mirror_has_the_bits_of_a_reflecting_side, data::make(subcycling),
                     subcycle) {
  setting s = three_levels(boundary::prescribed, subcycle);
  s.initial = initial_kind::pulses;
  const initial_state<plain_gas> pulses{s};
  const auto mesh_after = [&](boundary side) {
    set_boundaries(s, side);
    heavy_run run(gas_with({true}, 0), criterion_of<heavy_gas>{s}, pulses, s.options);
    run.advance(3);
    return run.snapshot();
  };
  BOOST_TEST(same_bits(mesh_after(boundary::prescribed), mesh_after(boundary::reflecting)));
  BOOST_TEST(!same_bits(mesh_after(boundary::outflow), mesh_after(boundary::reflecting)));
}

// A uniform gas falls: its velocity and its energy are exact on each level. With subcycling, ghost
// cells have the energy that is linear in time between steps, and the true one is not.
BOOST_DATA_TEST_CASE(a_gas_falls, data::make(subcycling), subcycle) {
  const setting s = three_levels(boundary::periodic, subcycle);
  heavy_run run(gas_with({}, -2), criterion_of<heavy_gas>{s},
                sod<double, 2>{.right_density = 1, .right_pressure = 1}, s.options);
  run.advance_to(0.1);
  const std::vector<double> totals = run.totals();
  BOOST_TEST(std::abs(totals[0] - 1) < 1e-13);
  BOOST_TEST(std::abs(totals[1]) < 1e-13);
  const double most = subcycle ? 1e-8 : 1e-13;
  BOOST_TEST(std::abs(totals[2] + 0.2) < most);
  BOOST_TEST(std::abs(totals[3] - (1 / 0.4 + 0.02)) < most);
}

BOOST_DATA_TEST_CASE(scalars_move_with_the_gas, data::make(subcycling), subcycle) {
  setting s = three_levels(boundary::reflecting, subcycle);
  s.options.mesh.roots = {8, 1, 1};
  s.options.mesh.upper[1] = 0.125;
  s.criterion = criterion_kind::gradient;
  s.options.regrid = {.refine_above = 0.05, .coarsen_below = 0.04, .patience = 1, .every = 2};
  amr_run<dyed_gas, criterion_of<dyed_gas>, 8> run({}, criterion_of<dyed_gas>{s}, dyed_tube{},
                                                   s.options);
  const std::vector<double> before = run.totals();
  run.advance_to(0.1);
  BOOST_TEST((run.report().refined > 0 && run.report().coarsened > 0));
  BOOST_TEST(
      std::abs(run.totals()[dyed_gas::first_scalar + 1] / before[dyed_gas::first_scalar + 1] - 1) <
      1e-13);

  // The second dye marks the gas that was on the left; the contact moves at Sod's speed 0.92745.
  const mesh_snapshot mesh = run.snapshot();
  BOOST_TEST(mesh.fields.back() == "scalar_2");
  const std::size_t cells = mesh.cells_of_a_block();
  std::size_t different = 0;
  double dyed_area = 0;
  double least = 0;
  double most = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const int level = mesh.leaves[leaf].level;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const double* u = &mesh.values[leaf * dyed_gas::variables * cells + cell];
      const double density = u[0];
      const double dye = u[(dyed_gas::first_scalar + 1) * cells] / density;
      different += u[dyed_gas::first_scalar * cells] != density;
      dyed_area += dye * mesh.spacing(level, 0) * mesh.spacing(level, 1);
      least = std::min(least, dye);
      most = std::max(most, dye);
    }
  }
  BOOST_TEST(different == 0u);
  BOOST_TEST(least > -1e-12);
  BOOST_TEST(most < 1 + 1e-12);
  BOOST_TEST(std::abs(8 * dyed_area - (0.5 + 0.092745)) < 2e-3);
}

// Above the reflection, the shock has its exact place and speed: the upper side moves with it. At
// the wall, Woodward and Colella's contours of the density end at 20.9, with cells of 1/120.
BOOST_AUTO_TEST_CASE(the_double_mach_reflection_has_its_shock_and_its_density) {
  setting s = three_levels(boundary::prescribed, true);
  s.options.mesh.sides[0][1] = boundary::outflow;
  s.options.mesh.roots = {8, 2, 1};
  s.options.mesh.upper = {4, 1, 1};
  s.options.mesh.max_level = 1;
  s.criterion = criterion_kind::gradient;
  s.options.regrid = {.refine_above = 0.05, .coarsen_below = 0.02, .every = 2};
  amr_run<air, criterion_of<air>, 8> run({}, criterion_of<air>{s}, double_mach<double>{},
                                         s.options);
  const double end = 0.1;
  run.advance_to(end);

  const mesh_snapshot mesh = run.snapshot();
  const std::size_t cells = mesh.cells_of_a_block();
  double excess = 0;  // of the density over that before the shock, in the upper quarter
  double most = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const int level = mesh.leaves[leaf].level;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const double density = mesh.values[leaf * 4 * cells + cell];
      const bool is_above = cell_center(mesh, leaf, cell)[1] > 0.75;
      if (is_above) excess += (density - 1.4) * mesh.spacing(level, 0) * mesh.spacing(level, 1);
      most = std::max(most, density);
    }
  }
  const double place = excess / (0.25 * (8 - 1.4));  // mean over y from 3/4 to 1
  BOOST_TEST(std::abs(place - double_mach<double>::shock_at(0.875, end)) < 1.0 / 64);
  BOOST_TEST(std::abs(place - double_mach<double>::shock_at(0.875, 0.98 * end)) > 1.0 / 64);
  BOOST_TEST(most > 17.0);
  BOOST_TEST(most < 23.0);
}

BOOST_AUTO_TEST_CASE(a_side_whose_inflow_is_not_set_ends_the_run) {
  with_inflow<plain_gas> physics;
  physics.inflow[0][1] = {1, 0, 0, 1};
  const double where[2] = {0, 0};
  BOOST_TEST(physics.ghost_state({}, 0, 1, where, 0)[3] > 2.4);
  BOOST_TEST(!physics.is_valid(physics.ghost_state({}, 0, 0, where, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
