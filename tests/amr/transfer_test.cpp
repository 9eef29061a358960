// SPDX-License-Identifier: BSD-3-Clause
// Transfers between levels: ghost cells, and between a block and its children.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::balance;
using ramify::boundary;
using ramify::mesh_snapshot;
using namespace tests;

namespace {

/// Returns a setting: a scalar that is linear in space and transported. A method that is exact for
/// linear fields keeps it linear, except where the boundary has an effect.
setting linear(matter what, ramify::route taken, bool subcycle) {
  setting s;
  s.matter = what;
  s.env.route = taken;
  s.options.step.subcycle = subcycle;
  s.options.mesh.max_level = 2;
  s.options.mesh.roots = {8, 8, 1};
  if (what == matter::scalar_3d) s.options.mesh.roots = {6, 6, 6};
  // If three levels met at a corner, slopes would not be exact; this balance prevents it.
  s.options.mesh.balance = balance::corner;
  set_boundaries(s, boundary::outflow);
  s.options.regrid.refine_above = 1;
  s.options.regrid.coarsen_below = 0.5;
  s.options.regrid.every = 0;
  s.initial = initial_kind::linear;
  s.level = 3;
  for (const int axis : {0, 1, 2}) {
    s.slope[axis] = 0.5 + axis;
    s.velocity[axis] = 0.7 - 0.5 * axis;
  }
  s.criterion = criterion_kind::box;
  s.boxes[0] = {{0.3, 0.3, 0.3}, {0.7, 0.7, 0.7}};
  s.boxes[1] = {{0.45, 0.4, 0.45}, {0.55, 0.6, 0.55}};
  return s;
}

/// Returns the largest error in cells at a distance of at least `margin` from the boundary.
double error_inside(const tests::any_run& run, const setting& s, double margin) {
  const mesh_snapshot mesh = run.snapshot();
  const std::vector<double> exact = exact_averages(s, mesh, mesh.time);
  double largest = 0;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
      const auto where = cell_center(mesh, leaf, cell);
      bool inside = true;
      for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
        inside = inside && where[axis] > margin && where[axis] < 1 - margin;
      }
      const std::size_t at = leaf * mesh.cells_of_a_block() + cell;
      if (inside) largest = std::max(largest, std::abs(mesh.values[at] - exact[at]));
    }
  }
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transfer, *boost::unit_test::precondition(not_under_thread_sanitizer))

BOOST_DATA_TEST_CASE(a_linear_field_stays_linear_where_levels_meet,
                     data::make({matter::scalar_2d, matter::scalar_3d}) * data::make({false, true}),
                     what, subcycle) {
  if (tests::effort() < 1 && what == matter::scalar_3d) return;
  const setting s = linear(what, ramify::route::flat, subcycle);
  const auto run = start_run(s);
  BOOST_TEST(run->report().finest_level == 2);
  run->advance(1);
  BOOST_TEST(error_inside(*run, s, 0.3) < 1e-13);
  BOOST_TEST(run->time() > 0.001);
  // The negative control: at the boundary values are not linear, and there are errors.
  BOOST_TEST(error_inside(*run, s, 0.0) > 1e-4);
}

namespace {

/// Returns a setting as linear(), in which the sides of the domain continue the linear field, and
/// blocks of all levels are at one of them.
setting linear_with_sides(matter what, bool subcycle) {
  setting s = linear(what, ramify::route::device, subcycle);
  set_boundaries(s, boundary::prescribed);
  s.boxes[0] = {{0, 0.3, 0.3}, {0.5, 0.7, 0.7}};
  s.boxes[1] = {{0, 0.4, 0.45}, {0.1, 0.6, 0.55}};
  s.supply = 0.75;
  return s;
}

}  // namespace

// Ghost cells and slopes at the sides have the time of the stage of their level, or of the ends of
// the coarser level's step, and sources are integrated: then the field is exact in all cells.
BOOST_DATA_TEST_CASE(prescribed_sides_and_a_source_have_the_place_and_the_time_of_their_stage,
                     data::make({matter::scalar_2d, matter::scalar_3d}) * data::make(subcycling),
                     what, subcycle) {
  if (effort() < 1 && what == matter::scalar_3d) return;
  setting s = linear_with_sides(what, subcycle);
  const auto run = start_run(s);
  BOOST_TEST(run->report().finest_level == 2);
  run->advance(2);
  BOOST_TEST(run->time() > 0.005);
  BOOST_TEST(error_inside(*run, s, 0.0) < 1e-13);
  // The negative control: sides that do not change in time.
  s.frozen_sides = true;
  const auto frozen = start_run(s);
  frozen->advance(2);
  BOOST_TEST(error_inside(*frozen, s, 0.0) > 1e-4);
}

// The mesh changes, too: tags and new children read the sides at the time of the regrid.
BOOST_DATA_TEST_CASE(prescribed_sides_have_the_time_of_a_regrid, data::make(subcycling), subcycle) {
  setting s = linear_with_sides(matter::scalar_2d, subcycle);
  const auto first = start_run(s);
  first->advance(1);
  const std::uint64_t before = first->report().refined;
  s.options.regrid.every = 1;
  s.options.regrid.patience = 1;
  s.boxes[0] = {{0.3, 0, 0}, {0.7, 0.5, 0.5}};
  s.boxes[1] = {{0.4, 0, 0}, {0.6, 0.1, 0.1}};
  const auto run = resume_run(s, first->save());
  run->advance(6);
  BOOST_TEST(run->report().refined > before + 4);
  BOOST_TEST(run->report().coarsened > 2u);
  BOOST_TEST(error_inside(*run, s, 0.0) < 1e-13);
}

// A ghost cell of another time would be a jump at the side, and the criterion would find it.
BOOST_DATA_TEST_CASE(the_criterion_reads_sides_at_the_time_of_the_regrid, data::make({false, true}),
                     frozen) {
  setting s = linear_with_sides(matter::scalar_2d, false);
  for (const int axis : {0, 1, 2}) s.velocity[axis] = s.slope[axis] = 0;
  s.supply = 10;
  s.frozen_sides = frozen;  // the negative control
  s.criterion = criterion_kind::gradient;
  s.options.regrid = {.refine_above = 0.1, .coarsen_below = 0.01, .patience = 1, .every = 1};
  const auto run = start_run(s);
  for (const double time : {1.0, 2.0}) run->advance_to(time);
  BOOST_TEST((run->report().refined > 0) == frozen);
}

// The scalar does not move: each level integrates the source by itself, and its time must be that
// of the stage.
BOOST_DATA_TEST_CASE(a_source_that_grows_in_time_is_integrated_exactly_on_each_level,
                     data::make(subcycling), subcycle) {
  setting s = linear_with_sides(matter::scalar_2d, subcycle);
  for (double& v : s.velocity) v = 0;
  s.growth = 2;
  const auto run = start_run(s);
  for (const double time : {0.5, 0.75, 2.0}) {
    run->advance_to(time);
    BOOST_TEST(error_inside(*run, s, 0.0) < 1e-13);
  }
}

// Source and decay have an equilibrium, supply / decay.
BOOST_DATA_TEST_CASE(an_implicit_source_reaches_its_equilibrium_and_keeps_it,
                     data::make(subcycling), subcycle) {
  setting s = linear_with_sides(matter::scalar_2d, subcycle);
  for (const int axis : {0, 1, 2}) s.velocity[axis] = s.slope[axis] = 0;
  s.decay = 1e9;
  const auto run = start_run(s);
  for (const double time : {1.0, 2.0, 3.0}) run->advance_to(time);
  for (const double value : run->snapshot().values) {
    BOOST_TEST(std::abs(value / (s.supply / s.decay) - 1) < 1e-6);
  }
  s.decay = 0.5;
  s.level = s.supply / s.decay;
  const auto steady = start_run(s);
  steady->advance_to(1);
  for (const double value : steady->snapshot().values) BOOST_TEST(std::abs(value - 1.5) < 1e-14);
}

// One step follows 1 - z + z^2, which is exp(-z) up to the first order.
BOOST_AUTO_TEST_CASE(an_implicit_source_is_of_first_order) {
  setting s = linear_with_sides(matter::scalar_2d, false);
  for (const int axis : {0, 1, 2}) s.velocity[axis] = s.slope[axis] = 0;
  s.supply = 0;
  s.decay = 1;
  s.level = 1;
  s.options.mesh.max_level = 0;
  s.options.mesh.roots = {1, 1, 1};
  const auto error_of = [&](int steps) {
    const auto run = start_run(s);
    for (int step = 1; step <= steps; ++step) run->advance_to(1.0 * step / steps);
    return std::abs(run->snapshot().values[0] - std::exp(-1.0));
  };
  const double coarse = error_of(16);
  BOOST_TEST(coarse < 0.02);
  BOOST_TEST(coarse / error_of(32) > 1.8);
}

namespace {

/// Moves the refined region by regrids alone: the scalar does not move, so a step changes no bit.
/// Calls `check(run)` after each regrid.
template <class Check>
void move_refinement(setting s, Check check) {
  for (double& v : s.velocity) v = 0;
  s.options.regrid.every = 1;
  s.options.regrid.patience = 1;
  s.boxes[0] = {{0.3, 0.3, 0.3}, {0.5, 0.7, 0.7}};
  s.boxes[1] = {{0.35, 0.45, 0.45}, {0.4, 0.55, 0.55}};
  const auto first = start_run(s);
  check(*first);
  s.boxes[0] = {{0.5, 0.3, 0.3}, {0.7, 0.7, 0.7}};
  s.boxes[1] = {{0.6, 0.45, 0.45}, {0.65, 0.55, 0.55}};
  const auto run = resume_run(s, first->save());
  for (int step = 1; step <= 4; ++step) {
    run->advance_to(step);
    check(*run);
  }
  BOOST_TEST(run->report().steps == 4u);
  BOOST_TEST(run->report().refined > run->report().coarsened);
  BOOST_TEST(run->report().coarsened > 4u);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_linear_field_survives_refining_and_coarsening,
                     data::make({matter::scalar_2d, matter::scalar_3d}), what) {
  if (effort() < 1 && what == matter::scalar_3d) return;
  const setting s = linear(what, ramify::route::device, false);
  setting at_rest = s;
  for (double& v : at_rest.velocity) v = 0;
  move_refinement(s,
                  [&](const any_run& run) { BOOST_TEST(error_inside(run, at_rest, 0.2) < 1e-14); });
}

BOOST_DATA_TEST_CASE(nothing_is_lost_by_refining_and_coarsening,
                     data::make({matter::scalar_2d, matter::scalar_3d}), what) {
  if (effort() < 1 && what == matter::scalar_3d) return;
  for (const initial_kind initial : {initial_kind::noise, initial_kind::linear}) {
    setting s = linear(what, ramify::route::flat, false);
    s.initial = initial;
    std::vector<double> first;
    move_refinement(s, [&](const any_run& run) {
      if (first.empty()) first = run.totals();
      BOOST_TEST(std::abs(run.totals()[0] / first[0] - 1) <= 1e-14);
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
