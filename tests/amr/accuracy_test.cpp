// SPDX-License-Identifier: BSD-3-Clause
// Accuracy: orders of convergence against exact solutions; the work that an adaptive mesh saves.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "exact_riemann.hpp"
#include "mesh_checks.hpp"
#include "printing.hpp"
#include "sedov.hpp"

namespace data = boost::unit_test::data;
using ramify::boundary;
using ramify::mesh_snapshot;
using namespace tests;

namespace {

/// Returns the order of convergence from two errors, the second with cells of half the size.
double order(double coarse, double fine) { return std::log2(coarse / fine); }

double error_against_exact(const any_run& run, const setting& s) {
  const mesh_snapshot mesh = run.snapshot();
  return l1_distance(mesh, exact_averages(s, mesh, mesh.time));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(accuracy, *boost::unit_test::precondition(not_under_thread_sanitizer))

// ---- smooth waves ------------------------------------------------------------------------------

namespace {

setting wave(initial_kind family, bool subcycle, bool regridding, unsigned roots) {
  setting s;
  s.options.step.subcycle = subcycle;
  s.options.mesh.roots = {roots, roots, 1};
  s.options.mesh.max_level = 1;
  s.options.regrid.refine_above = 0.5;
  s.options.regrid.coarsen_below = 0.45;
  s.gamma = 5.0 / 3;
  s.options.step.limiter = ramify::limiter::van_leer;  // the smoothest one
  s.initial = family;
  s.crests[0] = 1;
  s.crests[1] = 1;
  if (family == initial_kind::entropy) {
    s.velocity[0] = 0.75;
    s.velocity[1] = 0.25;
  }
  if (regridding) {  // refines where the wave is high, which moves
    s.criterion = criterion_kind::value;
    s.offset = 1;
    s.scale = 1e6;
    s.options.regrid.every = subcycle ? 1 : 2;
    s.options.regrid.patience = 1;
  } else {
    s.criterion = criterion_kind::box;
    s.boxes[0] = {{0.34, 0.34, 0}, {0.66, 0.66, 0}};
    s.options.regrid.every = 0;
  }
  return s;
}

}  // namespace

// A GPU computes the quotient of van Leer's limiter from a reciprocal, which must not overflow.
BOOST_AUTO_TEST_CASE(tiny_differences_of_values_are_valid) {
  setting s = wave(initial_kind::sound, false, false, 3);
  s.amplitude = 1e-308;
  const auto run = start_run(s);
  BOOST_CHECK_NO_THROW(run->advance_to(0.02));
}

BOOST_DATA_TEST_CASE(waves_that_cross_levels_are_of_second_order,
                     data::make({initial_kind::sound, initial_kind::entropy}) *
                         data::make({false, true}),
                     family, subcycle) {
  if (effort() < 1) return;
  double error[2];
  for (const int i : {0, 1}) {
    const setting s = wave(family, subcycle, false, i == 0 ? 3 : 6);
    const auto run = start_run(s);
    run->advance_to(0.1);
    error[i] = error_against_exact(*run, s) / s.amplitude;
    const std::vector<std::size_t> leaves = leaves_of_levels(run->snapshot());
    BOOST_TEST((leaves.size() == 2 && leaves[0] > 0));
  }
  BOOST_TEST_MESSAGE("errors " << error[0] << ", " << error[1] << ": order "
                               << order(error[0], error[1]));
  BOOST_TEST(order(error[0], error[1]) >= 1.9);
  BOOST_TEST(error[1] < 0.005);
}

// A mesh that follows the high part of a wave with finer cells has smaller errors than a coarse
// one.
BOOST_DATA_TEST_CASE(a_mesh_that_follows_a_wave_reduces_the_error, data::make({false, true}),
                     subcycle) {
  if (!subcycle && !all_cases()) return;
  if (effort() < 1) return;
  double error[2];
  for (const int i : {0, 1}) {
    setting s = wave(initial_kind::sound, subcycle, true, 6);
    s.options.mesh.max_level = i;
    const auto run = start_run(s);
    run->advance_to(0.1);
    error[i] = error_against_exact(*run, s) / s.amplitude;
    if (i == 1) BOOST_TEST(run->report().coarsened > 0u);
  }
  BOOST_TEST_MESSAGE("errors " << error[0] << ", " << error[1]);
  BOOST_TEST(error[1] < 0.7 * error[0]);
}

BOOST_AUTO_TEST_CASE(a_bump_returns_in_the_periodic_domain) {
  if (effort() < 1) return;
  const auto error = [](int level, bool subcycle) {
    setting s;
    s.matter = matter::scalar_2d;
    s.options.step.subcycle = subcycle;
    s.options.mesh.roots = {4, 4, 1};
    s.options.mesh.max_level = level;
    s.options.regrid.refine_above = 0.03;
    s.options.regrid.coarsen_below = 0.02;
    s.options.regrid.every = 2;
    s.criterion = criterion_kind::value;
    s.initial = initial_kind::gaussian;
    s.level = 0;
    s.width = 0.12;
    s.velocity[0] = 1;
    s.velocity[1] = -1;
    const auto run = start_run(s);
    const double mass = run->totals()[0];
    run->advance_to(1);
    BOOST_TEST(std::abs(run->totals()[0] / mass - 1) < 1e-13);
    BOOST_TEST(run->report().coarsened > 4u);
    return error_against_exact(*run, s) / mass;
  };
  const double coarse = error(1, false);
  BOOST_TEST(coarse < 0.14);
  BOOST_TEST(std::abs(error(1, true) / coarse - 1) < 0.05);
  if (!all_cases()) return;
  const double fine = error(2, false);
  BOOST_TEST_MESSAGE("errors " << coarse << ", " << fine << ": order " << order(coarse, fine));
  BOOST_TEST(fine < 0.04);
  BOOST_TEST(order(coarse, fine) > 1.8);
}

BOOST_AUTO_TEST_CASE(a_reversing_vortex_restores_the_initial_state) {
  if (effort() < 1) return;
  double error[2];
  for (const int i : {0, 1}) {
    setting s;
    s.matter = matter::scalar_2d;
    s.options.mesh.roots = {4, 4, 1};
    s.options.mesh.max_level = 1 + i;
    s.options.regrid.refine_above = 0.02;
    s.options.regrid.coarsen_below = 0.01;
    set_boundaries(s, boundary::reflecting);
    s.criterion = criterion_kind::value;
    s.flow = flow_kind::vortex;
    s.rate = 1;  // the period
    s.initial = initial_kind::hump;
    s.level = 0;
    s.center[1] = 0.75;
    s.width = 0.2;
    const auto run = start_run(s);
    const mesh_snapshot first = run->snapshot();
    const double mass = run->totals()[0];
    run->advance_to(0.5);
    // The negative control: in the middle of the period it is at another place.
    BOOST_TEST(error_against_exact(*run, s) / mass > 0.5);
    run->advance_to(1);
    error[i] = error_against_exact(*run, s) / mass;
    BOOST_TEST(std::abs(run->totals()[0] / mass - 1) < 1e-13);
  }
  BOOST_TEST_MESSAGE("errors " << error[0] << ", " << error[1] << ": order "
                               << order(error[0], error[1]));
  BOOST_TEST(error[1] < 0.15);
  BOOST_TEST(order(error[0], error[1]) > 1);
}

// ---- shocks ------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(the_shock_tube_is_of_first_order, data::make({false, true}), subcycle) {
  if (effort() < 1) return;
  const exact_riemann exact({1, 0, 1}, {0.125, 0, 0.1}, 1.4);
  std::vector<double> errors;
  for (const int level : {0, 1, 2}) {
    if (level == 2 && !subcycle && !all_cases()) continue;
    setting s;
    s.options.step.subcycle = subcycle;
    s.options.mesh.roots = {4, 1, 1};
    s.options.mesh.upper = {1, 0.25, 1};
    s.options.mesh.max_level = level;
    s.options.regrid.refine_above = 0.01;
    s.options.regrid.coarsen_below = 0.005;
    s.options.regrid.every = 2;
    set_boundaries(s, boundary::outflow);
    s.initial = initial_kind::sod;
    const auto run = start_run(s);
    run->advance_to(0.2);
    const mesh_snapshot mesh = run->snapshot();
    std::vector<double> wanted(mesh.values.size());
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
        const double x = cell_center(mesh, leaf, cell)[0];
        const double dx = mesh.spacing(mesh.leaves[leaf].level, 0);
        double mean = 0;
        for (int i = -2; i <= 2; ++i) mean += exact.at((x + 0.2 * i * dx - 0.5) / 0.2).density / 5;
        wanted[leaf * 4 * mesh.cells_of_a_block() + cell] = mean;
      }
    }
    errors.push_back(l1_distance(mesh, wanted));
    BOOST_TEST(run->report().finest_level == level);
  }
  for (std::size_t i = 1; i < errors.size(); ++i) {
    BOOST_TEST_MESSAGE("errors " << errors[i - 1] << ", " << errors[i] << ": order "
                                 << order(errors[i - 1], errors[i]));
    BOOST_TEST(order(errors[i - 1], errors[i]) >= 0.8);
  }
  if (errors.size() == 3) BOOST_TEST(errors[2] < 0.004);
}

namespace {

/// Returns a setting: a quarter (in 3D an eighth) of a blast, between reflecting sides.
setting blast(matter what, int levels) {
  setting s;
  s.matter = what;
  s.options.mesh.max_level = levels;
  s.options.mesh.upper = {1.2, 1.2, 1.2};
  for (auto& sides : s.options.mesh.sides) sides = {boundary::reflecting, boundary::outflow};
  s.options.regrid.refine_above = 0.2;
  s.options.regrid.coarsen_below = 0.1;
  s.initial = initial_kind::blast;
  s.variable = what == matter::gas_2d ? 3 : 4;  // pressure: the initial density is uniform
  s.width = what == matter::gas_2d ? 0.06 : 0.12;
  for (double& c : s.center) c = 0;
  return s;
}

/// Returns the exact solution for the default energy of ramify::sedov.
sedov_blast exact_blast(const setting& s) {
  const bool in_2d = s.matter == matter::gas_2d;
  return sedov_blast(in_2d ? 2 : 3, 1.4, in_2d ? 0.311357 : 0.851072);
}

/// Returns the radius at which the pressure has half its maximum, from the volume inside.
double shock_radius(const mesh_snapshot& mesh) {
  const bool in_2d = mesh.dimensions == 2;
  const auto pressure = [&](std::size_t leaf, std::size_t cell) {
    double kinetic = 0;
    for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
      const double momentum = mesh.field(leaf, 1 + axis)[cell];
      kinetic += 0.5 * momentum * momentum / mesh.field(leaf, 0)[cell];
    }
    return 0.4 * (mesh.field(leaf, mesh.fields.size() - 1)[cell] - kinetic);
  };
  double crest = 0;
  double place = 0;
  const auto distance = [&](std::size_t leaf, std::size_t cell) {
    const auto where = cell_center(mesh, leaf, cell);
    return std::hypot(where[0], where[1], where[2]);
  };
  static_cast<void>(integral(mesh, [&](std::size_t leaf, std::size_t cell) {
    const double p = pressure(leaf, cell);
    if (p > crest) place = distance(leaf, cell);
    crest = std::max(crest, p);
    return 0.0;
  }));
  const double volume = integral(mesh, [&](std::size_t leaf, std::size_t cell) {
    return pressure(leaf, cell) > crest / 2 || distance(leaf, cell) < place ? 1.0 : 0.0;
  });
  const double pi = 3.14159265358979323846;
  return in_2d ? std::sqrt(4 * volume / pi) : std::cbrt(6 * volume / pi);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_blast_has_its_energy_wherever_it_is,
                     data::make({matter::gas_2d, matter::gas_3d}), what) {
  const bool in_2d = what == matter::gas_2d;
  const double pi = 3.14159265358979323846;
  int piece = 0;
  for (const double radius : {1e-3, 0.06, 0.3}) {
    for (const int levels : {0, 2}) {
      if (left_out(piece, 3)) continue;
      setting s = blast(what, levels);
      s.width = radius;
      s.center[0] = 0.437;  // at no corner of a cell
      s.center[1] = 0.611;
      s.center[2] = 1.2 / 3;
      s.options.mesh.roots = {1, 2, 1};
      const auto run = start_run(s);
      const double ball = in_2d ? pi * radius * radius : 4 * pi / 3 * std::pow(radius, 3);
      const double cold = 1e-5 / 0.4 * ((in_2d ? 1.44 : 1.728) - ball);
      const double energy = in_2d ? 0.311357 : 0.851072;
      BOOST_TEST(std::abs(run->totals().back() / (energy + cold) - 1) < 1e-13);
      BOOST_TEST(run->report().finest_level == levels);
    }
  }
}

BOOST_DATA_TEST_CASE(the_blast_agrees_with_the_similarity_solution,
                     data::make({matter::gas_2d, matter::gas_3d}), what) {
  if (effort() < 1) return;
  const bool in_2d = what == matter::gas_2d;
  const setting s = blast(what, in_2d ? 3 : 2);
  const auto run = start_run(s);
  const sedov_blast exact = exact_blast(s);
  const double times[] = {in_2d ? 0.2 : 0.08, in_2d ? 0.4 : 0.16};
  double radius[2];
  for (const int i : {0, 1}) {
    run->advance_to(times[i]);
    radius[i] = shock_radius(run->snapshot());
    BOOST_TEST_MESSAGE("radius " << radius[i] << ", exact " << exact.radius(times[i]));
  }
  BOOST_TEST(std::abs(radius[1] / exact.radius(times[1]) - 1) < 0.03);
  const double power = in_2d ? 0.5 : 0.4;
  BOOST_TEST_MESSAGE("power " << std::log(radius[1] / radius[0]) / std::log(2));
  BOOST_TEST(std::abs(radius[1] / radius[0] / std::pow(2, power) - 1) < 0.02);
}

// ---- savings -----------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_mesh_saves_five_sixths_of_the_work_at_the_same_error) {
  if (effort() < 1) return;
  const double time = 0.04;
  setting fine = blast(matter::gas_2d, 0);
  fine.options.mesh.roots = {16, 16, 1};
  double errors[2];
  std::uint64_t updates[2];
  for (const int i : {0, 1}) {
    const setting s = i == 0 ? fine : blast(matter::gas_2d, 4);
    const auto run = start_run(s);
    const sedov_blast exact = exact_blast(s);
    run->advance_to(time);
    const mesh_snapshot mesh = run->snapshot();
    std::vector<double> wanted(mesh.values.size());
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
        const auto where = cell_center(mesh, leaf, cell);
        wanted[leaf * 4 * mesh.cells_of_a_block() + cell] =
            exact.at(std::hypot(where[0], where[1]), time).density;
      }
    }
    errors[i] = l1_distance(mesh, wanted);
    updates[i] = run->report().cell_updates;
  }
  BOOST_TEST_MESSAGE("uniform: error " << errors[0] << ", " << updates[0]
                                       << " updates; adaptive: error " << errors[1] << ", "
                                       << updates[1]);
  BOOST_TEST(errors[1] < 1.15 * errors[0]);
  BOOST_TEST(updates[0] > 5 * updates[1]);
}

BOOST_AUTO_TEST_SUITE_END()
