// SPDX-License-Identifier: BSD-3-Clause
// Transfers between levels: ghost cells, and between a block and its children.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

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
