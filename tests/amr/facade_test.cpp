// SPDX-License-Identifier: BSD-3-Clause
// The compiled facade of flow on adaptive meshes: options, results, saved states.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <ramify/amr.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "times_check.hpp"

namespace {

using ramify::amr_criterion;
using ramify::amr_fields;
using ramify::amr_precision;
using ramify::amr_problem;
using ramify::amr_setup;
using ramify::amr_simulation;

const ramify::environment on_cpu{.backend = ramify::backend::cpu};

constexpr amr_problem all_problems[] = {amr_problem::sod,
                                        amr_problem::sedov,
                                        amr_problem::kelvin_helmholtz,
                                        amr_problem::linear_wave,
                                        amr_problem::advect_gaussian,
                                        amr_problem::vortex_in_box,
                                        amr_problem::double_mach,
                                        amr_problem::noh,
                                        amr_problem::rayleigh_taylor,
                                        amr_problem::dam_break,
                                        amr_problem::brio_wu,
                                        amr_problem::orszag_tang,
                                        amr_problem::rotor,
                                        amr_problem::forward_step,
                                        amr_problem::regions};

bool exists(amr_problem problem, int dimensions) {
  const std::string flat[] = {"double-mach", "dam-break", "brio-wu",
                              "orszag-tang", "rotor",     "forward-step"};
  return dimensions == 2 || std::ranges::find(flat, to_string(problem)) == std::end(flat);
}

amr_setup small(amr_problem problem, int dimensions) {
  amr_setup setup = recommended_setup(problem, dimensions);
  setup.options.mesh.max_level = 1;
  if (dimensions == 3) setup.options.mesh.roots = {2, 2, 2};
  return setup;
}

/// Checks that a simulation is rejected with `text` in the message.
void check_rejected(const amr_setup& setup, const std::string& text) {
  BOOST_CHECK_EXCEPTION(amr_simulation(setup, on_cpu), std::invalid_argument,
                        [&](const std::invalid_argument& e) {
                          const bool found = std::string(e.what()).find(text) != std::string::npos;
                          BOOST_TEST(found, e.what() << " does not contain " << text);
                          return found;
                        });
}

void check_equal(const ramify::mesh_snapshot& a, const ramify::mesh_snapshot& b) {
  BOOST_TEST(a.time == b.time);
  BOOST_TEST(a.step == b.step);
  BOOST_TEST((a.leaves == b.leaves));
  BOOST_TEST((a.values == b.values));
}

}  // namespace

// Long runs are left out under ThreadSanitizer: the test amr has the same kernels in small runs.
BOOST_AUTO_TEST_SUITE(amr_facade)

BOOST_AUTO_TEST_CASE(names_are_parsed_as_they_are_printed) {
  for (const amr_problem problem : all_problems) {
    BOOST_TEST((ramify::parse_amr_problem(to_string(problem)) == problem));
  }
  for (const auto one : {amr_criterion::gradient, amr_criterion::loehner}) {
    BOOST_TEST((ramify::parse_amr_criterion(to_string(one)) == one));
  }
  for (const auto one : {amr_precision::double_, amr_precision::float_}) {
    BOOST_TEST((ramify::parse_amr_precision(to_string(one)) == one));
  }
  BOOST_CHECK_EXCEPTION(static_cast<void>(ramify::parse_amr_precision("half")),
                        std::invalid_argument, [](const auto& e) {
                          return std::string(e.what()) ==
                                 "precision 'half' is neither double nor float";
                        });
}

BOOST_AUTO_TEST_CASE(bad_options_are_rejected_by_name) {
  using ramify::recommended_setup;
  BOOST_CHECK_THROW(static_cast<void>(recommended_setup(amr_problem::sod, 1)),
                    std::invalid_argument);
  const auto with = [](auto change) {
    amr_setup setup = small(amr_problem::sod, 2);
    change(setup);
    return setup;
  };
  check_rejected(with([](auto& o) { o.problem = amr_problem(15); }), "amr_setup.problem");
  check_rejected(with([](auto& o) { o.dimensions = 4; }), "amr_setup.dimensions is 4");
  check_rejected(with([](auto& o) { o.precision = amr_precision(2); }), "amr_setup.precision");
  check_rejected(with([](auto& o) { o.criterion = amr_criterion(2); }), "amr_setup.criterion");
  check_rejected(with([](auto& o) { o.criterion_variable = 4; }),
                 "amr_setup.criterion_variable is 4; it must be in [0, 3]");
  check_rejected(with([](auto& o) { o.gradient_floor = -1; }), "amr_setup.gradient_floor is -1");
  check_rejected(with([](auto& o) { o.loehner_filter = NAN; }), "amr_setup.loehner_filter is nan");
  check_rejected(with([](auto& o) { o.gamma = 1; }), "amr_setup.gamma is 1");
  check_rejected(with([](auto& o) { o.gamma = 1e300; }), "amr_setup.gamma is 1e+300");
  check_rejected(with([](auto& o) {
                   o.precision = amr_precision::float_;
                   o.gamma = 1 + 1e-9;
                 }),
                 "amr_setup.gamma is 1; it must be in [1 + 1e-5, 1e6]");
  check_rejected(with([](auto& o) { o.gradient_floor = 1e300; }),
                 "amr_setup.gradient_floor is 1e+300; it must be in [0, 1e30]");
  check_rejected(with([](auto& o) {
                   o.options.mesh.lower = {-1e300, -1e300, -1e300};
                   o.options.mesh.upper = {1e300, 1e300, 1e300};
                 }),
                 "amr_options.mesh.lower[0] is -1e+300; it must be in [-1e90, 1e90]");
  check_rejected(with([](auto& o) {
                   o.options.mesh.upper = {1e-200, 1e-200, 1};
                 }),
                 "amr_options.mesh.upper[0] is 1e-200; it must be so far above lower that the "
                 "finest cells have edges of at least 1e-90");
  check_rejected(with([](auto& o) {
                   o.options.mesh.lower[1] = 1e17;
                   o.options.mesh.upper[1] = 1e17 + 16;
                 }),
                 "amr_options.mesh.upper[1] is 1e+17; it must be so far above lower that rounding");
  check_rejected(with([](auto& o) {
                   o.precision = amr_precision::float_;
                   o.options.mesh.upper[0] = 1e30;
                 }),
                 "amr_options.mesh.upper[0] is 1e+30; it must be in [-1e18, 1e18] for float");
  check_rejected(with([](auto& o) { o.end_time = INFINITY; }), "amr_setup.end_time is inf");
  check_rejected(with([](auto& o) { o.options.mesh.roots[1] = 0; }), "amr_options.mesh.roots[1]");
  check_rejected(with([](auto& o) { o.options.regrid.patience = 0; }),
                 "amr_options.regrid.patience");
  check_rejected(with([](auto& o) { o.options.regrid.launches.coarsening = 0; }),
                 "amr_options.regrid.launches.coarsening");
  check_rejected(with([](auto& o) { o.options.regrid.launches.threshold = 2; }),
                 "amr_options.regrid.launches.threshold");
  check_rejected(with([](auto& o) { o.options.step.cfl = 2; }), "amr_options.step.cfl");
  BOOST_CHECK_EXCEPTION(amr_simulation(small(amr_problem::sod, 2), {.route = ramify::route(7)}),
                        std::invalid_argument, [](const std::invalid_argument& e) {
                          return std::string(e.what()).find("environment.route") == 0;
                        });
  check_rejected(with([](auto& o) {
                   o = small(amr_problem::vortex_in_box, 2);
                   o.criterion_variable = 1;
                 }),
                 "criterion_variable is 1; it must be in [0, 0]");
}

BOOST_AUTO_TEST_CASE(every_problem_runs_in_both_dimensions_and_precisions,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  int piece = 0;
  for (const amr_problem problem : all_problems) {
    for (const int dimensions : {2, 3}) {
      for (const auto precision : {amr_precision::double_, amr_precision::float_}) {
        if (!exists(problem, dimensions) || tests::left_out(piece, 5)) continue;
        BOOST_TEST_CONTEXT(to_string(problem) << ' ' << dimensions << ' ' << to_string(precision)) {
          amr_setup setup = small(problem, dimensions);
          setup.precision = precision;
          amr_simulation flow(setup, on_cpu);
          flow.advance(2);
          BOOST_TEST(flow.steps() == 2u);
          BOOST_TEST(flow.time() > 0);
          BOOST_TEST(flow.report().steps == 2u);
          BOOST_TEST(tests::check_times(flow.report(), {false, false}) == "");
          BOOST_TEST((flow.report().ran_on == ramify::backend::cpu));
          BOOST_TEST(flow.report().backend_reason == "requested");

          const auto mesh = flow.snapshot();
          BOOST_TEST(mesh.fields == field_names(setup, amr_fields::conserved),
                     boost::test_tools::per_element());
          BOOST_TEST(mesh.leaves.size() == flow.report().leaves);
          BOOST_TEST(mesh.values.size() ==
                     mesh.leaves.size() * mesh.fields.size() * mesh.cells_of_a_block());
          BOOST_TEST(flow.totals().size() == mesh.fields.size());
          BOOST_TEST(flow.change_since_start().size() == mesh.fields.size());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(primitive_values_are_those_of_the_conserved_ones,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  const amr_setup setup = small(amr_problem::kelvin_helmholtz, 2);
  amr_simulation flow(setup, on_cpu);
  flow.advance(3);
  const auto conserved = flow.snapshot();
  const auto primitive = flow.snapshot(amr_fields::primitive);
  const std::vector<std::string> names{"density", "velocity_x", "velocity_y", "pressure"};
  BOOST_TEST(primitive.fields == names, boost::test_tools::per_element());
  for (std::size_t leaf = 0; leaf < conserved.leaves.size(); ++leaf) {
    for (std::size_t cell = 0; cell < conserved.cells_of_a_block(); ++cell) {
      const auto u = [&](std::size_t v) { return conserved.field(leaf, v)[cell]; };
      const auto w = [&](std::size_t v) { return primitive.field(leaf, v)[cell]; };
      const double kinetic = 0.5 * w(0) * (w(1) * w(1) + w(2) * w(2));
      const double off = std::abs(w(0) - u(0)) + std::abs(w(0) * w(1) - u(1)) +
                         std::abs(w(0) * w(2) - u(2)) +
                         std::abs(w(3) / (setup.gamma - 1) + kinetic - u(3));
      if (!(off < 1e-13)) BOOST_ERROR("leaf " << leaf << ", cell " << cell << " is off by " << off);
    }
  }
}

BOOST_AUTO_TEST_CASE(totals_are_the_sums_over_the_leaves_and_are_conserved,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  amr_simulation flow(small(amr_problem::kelvin_helmholtz, 2), on_cpu);
  const auto first = flow.totals();
  flow.advance(8);
  const auto last = flow.totals();
  const auto mesh = flow.snapshot();
  std::vector<double> sums(first.size());
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const int level = mesh.leaves[leaf].level;
    const double cell = mesh.spacing(level, 0) * mesh.spacing(level, 1);
    for (std::size_t v = 0; v < sums.size(); ++v) {
      const double* const field = mesh.field(leaf, v);
      sums[v] += cell * std::accumulate(field, field + mesh.cells_of_a_block(), 0.0);
    }
  }
  for (std::size_t v = 0; v < sums.size(); ++v) {
    BOOST_TEST(std::abs(last[v] - sums[v]) < 1e-13);
    BOOST_TEST(std::abs(last[v] - first[v]) < 1e-13);
  }
}

/// Returns the energy of a blast and of the cold gas around it, for the domain of the problem.
double energy_of_blast(int dimensions) {
  const double pi = 3.14159265358979323846;
  const double ball = dimensions == 2 ? pi * 0.0025 : 4 * pi / 3 * 0.000125;
  return (dimensions == 2 ? 0.311357 : 0.851072) + 1e-5 / 0.4 * (std::pow(2.4, dimensions) - ball);
}

BOOST_AUTO_TEST_CASE(a_blast_has_its_energy_on_each_mesh,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  const auto check = [](int dimensions, std::array<unsigned, 3> roots, int levels,
                        amr_precision precision, double tolerance) {
    amr_setup setup = small(amr_problem::sedov, dimensions);
    setup.options.mesh.roots = roots;
    setup.options.mesh.max_level = levels;
    setup.precision = precision;
    const amr_simulation blast(setup, on_cpu);
    const double off = blast.totals().back() / energy_of_blast(dimensions) - 1;
    BOOST_TEST_CONTEXT(dimensions << " dimensions, " << roots[0] << " x " << roots[1] << " x "
                                  << roots[2] << " blocks, " << levels << " levels") {
      BOOST_TEST(std::abs(off) < tolerance);
      BOOST_TEST(blast.report().finest_level == levels);
    }
  };
  int piece = 0;
  for (const int dimensions : {2, 3}) {
    for (unsigned blocks = 1; blocks <= 8; ++blocks) {
      for (const int levels : {0, 1, 2, 3}) {
        // In 3D, all levels on the smallest meshes, and one number of levels on some others.
        const bool chosen = dimensions == 2 || blocks <= 2 ||
                            (blocks % 4 == unsigned(3 - levels) && blocks != 6 && blocks != 7) ||
                            tests::all_cases();
        if (!chosen || tests::left_out(piece, 5)) continue;
        check(dimensions, {blocks, blocks, blocks}, levels, amr_precision::double_, 1e-13);
      }
    }
    check(dimensions, {1, 3, 2}, 2, amr_precision::double_, 1e-13);
    check(dimensions, {5, 2, 7}, 1, amr_precision::double_, 1e-13);
    check(dimensions, {1, 1, 1}, 2, amr_precision::float_, 1e-6);
    check(dimensions, {3, 2, 1}, 1, amr_precision::float_, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(a_ball_has_its_volume_on_each_mesh,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  const double pi = 3.14159265358979323846;
  for (const int dimensions : {2, 3}) {
    for (const unsigned blocks : {1u, 3u}) {
      amr_setup setup = small(amr_problem::vortex_in_box, dimensions);
      setup.options.mesh.roots = {blocks, 2 * blocks, blocks};
      const double ball = dimensions == 2 ? pi * 0.0225 : 4 * pi / 3 * 0.003375;
      BOOST_TEST(std::abs(amr_simulation(setup, on_cpu).totals()[0] / ball - 1) < 1e-13);
    }
  }
}

BOOST_AUTO_TEST_CASE(huge_and_tiny_domains_have_their_volumes) {
  for (const double edge : {1e-80, 1e80}) {
    amr_setup setup = small(amr_problem::sod, 3);
    setup.options.mesh.upper = {edge, edge, edge};
    setup.options.mesh.max_level = 0;
    amr_simulation gas(setup, on_cpu);
    gas.advance(2);
    // One side of the plane, with the density 1 or 0.125.
    const double mass = (edge < 0.5 ? 1 : 0.125) * edge * edge * edge;
    BOOST_TEST(std::abs(gas.totals()[0] / mass - 1) < 1e-12);
    BOOST_TEST(gas.time() > 0);
  }
}

BOOST_AUTO_TEST_CASE(the_change_is_0_at_the_start_and_small_after_a_period,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  for (const amr_problem problem : {amr_problem::linear_wave, amr_problem::advect_gaussian}) {
    const amr_setup setup = small(problem, 2);
    amr_simulation flow(setup, on_cpu);
    for (const double change : flow.change_since_start()) BOOST_TEST(change < 1e-15);
    flow.advance_to(return_time(setup) / 2);
    const double halfway = flow.change_since_start()[0];
    flow.advance_to(return_time(setup));
    BOOST_TEST(flow.time() == return_time(setup));
    BOOST_TEST(flow.change_since_start()[0] < halfway / 4);
  }
  BOOST_TEST(return_time(small(amr_problem::sedov, 3)) == 0);
}

BOOST_AUTO_TEST_CASE(a_saved_run_continues_with_the_same_bits,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  for (const auto precision : {amr_precision::double_, amr_precision::float_}) {
    amr_setup setup = small(amr_problem::sod, 2);
    setup.options.mesh.max_level = 2;
    setup.precision = precision;
    amr_simulation whole(setup, on_cpu);
    whole.advance(9);
    const ramify::amr_state kept = whole.state();
    BOOST_TEST(kept.steps == 9u);
    BOOST_TEST(kept.real_bytes == (precision == amr_precision::double_ ? 8 : 4));
    whole.advance(12);

    for (const auto route : {ramify::route::device, ramify::route::flat}) {
      amr_simulation later(setup, kept, {.backend = ramify::backend::cpu, .route = route});
      BOOST_TEST(later.steps() == 9u);
      later.advance(12);
      check_equal(later.snapshot(), whole.snapshot());
      BOOST_TEST(later.totals() == whole.totals(), boost::test_tools::per_element());
      BOOST_TEST(later.report().cell_updates == whole.report().cell_updates);
      BOOST_TEST((later.report().taken == route));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_another_run_is_rejected,
                     *boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  const amr_setup setup = small(amr_problem::sod, 2);
  const ramify::amr_state kept = amr_simulation(setup, on_cpu).state();
  const auto rejected = [&](amr_setup other, const ramify::amr_state& state, const char* text) {
    BOOST_CHECK_EXCEPTION((amr_simulation(other, state, on_cpu)), std::invalid_argument,
                          [&](const std::invalid_argument& e) {
                            BOOST_TEST_INFO(e.what());
                            return std::string(e.what()).find(text) != std::string::npos;
                          });
  };
  rejected(small(amr_problem::sod, 3), kept, "dimensions");
  rejected(small(amr_problem::vortex_in_box, 2), kept, "variables");
  amr_setup other = setup;
  other.precision = amr_precision::float_;
  rejected(other, kept, "real_bytes");
  other = setup;
  other.options.mesh.roots[0] = 3;
  rejected(other, kept, "roots");
  ramify::amr_state damaged = kept;
  damaged.values.pop_back();
  rejected(setup, damaged, "values");
  damaged = kept;
  damaged.leaves.back() = damaged.leaves.front();
  rejected(setup, damaged, "occurs twice");
}

BOOST_AUTO_TEST_CASE(a_simulation_can_be_moved) {
  amr_simulation first(small(amr_problem::advect_gaussian, 2), on_cpu);
  first.advance(1);
  amr_simulation second(std::move(first));
  second.advance(1);
  BOOST_TEST(second.steps() == 2u);
  first = std::move(second);
  first.advance_to(first.time());  // the time is reached already
  BOOST_TEST(first.steps() == 2u);
}

BOOST_AUTO_TEST_CASE(a_mesh_that_reaches_its_limit_fails_with_amr_error) {
  amr_setup setup = small(amr_problem::sedov, 2);
  setup.options.mesh.max_blocks = 4;
  BOOST_CHECK_THROW(amr_simulation(setup, on_cpu), ramify::amr_error);
}

BOOST_AUTO_TEST_SUITE_END()
