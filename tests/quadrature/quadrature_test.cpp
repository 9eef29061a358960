// SPDX-License-Identifier: BSD-3-Clause
// Compares quadrature() with closed forms: Genz's families, polynomials and singular functions; and
// tests its failures.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature.hpp>
#include <ramify/quadrature/genz.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <stdexcept>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "printing.hpp"
#include "quadrature_checks.cuh"
#include "rule_checks.cuh"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;

BOOST_AUTO_TEST_SUITE(quadratures)

BOOST_AUTO_TEST_CASE(families_of_genz_are_right_or_honest,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const auto expect = [](unsigned converged, unsigned least, unsigned end) {
    BOOST_TEST((least <= converged && converged < end));
  };
  expect(integrate_families<1>(10'000, 4), 72, 73);  // all
  // In more dimensions some runs do not converge within so few evaluations.
  expect(integrate_families<2>(20'000, 2), 26, 36);
  expect(integrate_families<3>(20'000, 1), 14, 18);
  expect(integrate_families<5>(20'000, 1), 8, 18);
  expect(integrate_families<8>(20'000, 1), 4, 18);
}

// In the first region the differences of the rules are small by accident.
BOOST_AUTO_TEST_CASE(a_first_region_does_not_converge_by_accident) {
  for (const std::uint64_t seed : {41, 104, 132}) {
    const auto f = random_genz(genz_family::gaussian, 3, seed, 7.03);
    const auto found = integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 1e-3});
    BOOST_TEST(found.converged());
    expect_honest(found, exact_integral(f), 1e-3 * exact_integral(f));
  }
}

// No weighted point of the first region is beyond these jumps; only those near the faces are.
BOOST_AUTO_TEST_CASE(a_jump_next_to_a_face_is_found) {
  const auto expect = [](const auto& box, const auto& f, double exact) {
    const auto found = integrate(box, f, {.relative_tolerance = 1e-3});
    BOOST_TEST(found.regions > 1u);
    BOOST_TEST(found.converged());
    expect_honest(found, exact, 1e-3 * exact);
  };
  const genz_integrand line{genz_family::discontinuous, 1, {0.1}, {0.998}};
  expect(unit_cube<1>(), genz_function<1>(line), exact_integral(line));
  const genz_integrand plane{genz_family::discontinuous, 2, {0.1, 0.1}, {0.99, 1}};
  expect(unit_cube<2>(), genz_function<2>(plane), exact_integral(plane));
  const genz_integrand space{genz_family::discontinuous, 3, {0.1, 0.1, 0.1}, {1, 0.99}};
  expect(unit_cube<3>(), genz_function<3>(space), exact_integral(space));
}

// More members and evaluations: takes minutes.
BOOST_AUTO_TEST_CASE(many_members_of_genz_families_are_right_or_honest,
                     *boost::unit_test::precondition(seeds_are_given)) {
  const std::uint64_t seeds = std::stoull(std::getenv("RAMIFY_QUADRATURE_SEEDS"));
  integrate_families<1>(100'000, seeds);
  integrate_families<2>(200'000, seeds);
  integrate_families<3>(200'000, seeds);
  integrate_families<5>(200'000, seeds);
  integrate_families<8>(200'000, seeds);
}

/// Checks that the rule integrates `f` over one region with a relative error of at most `most`.
template <unsigned d>
void expect_exact(const monomial<d>& f, double most) {
  quadrature_box<d> box{};
  for (unsigned i = 0; i < d; ++i) {
    box.low[i] = -0.5 - i;
    box.high[i] = 1.5 + i;
  }
  // Only the first region is evaluated.
  const auto found = integrate(box, f, {.max_evaluations = ramify::quadrature_points(d)});
  const double exact = f.integral(box);
  BOOST_TEST(std::fabs(found.value - exact) <= most * std::fabs(exact));
}

// Each rule is exact for polynomials of its degree, and not for the next degree. A wrong weight or
// point of any rule fails here.
BOOST_AUTO_TEST_CASE(all_embedded_rules_have_their_degrees) {
  expect_degrees<1>({31, 19}, 1e-12, {{0}, {1}, {2}, {8}, {18}, {19}, {20}, {30}, {31}, {32}});
  const std::vector<std::vector<int>> exponents{
      {},     {1},       {2},    {3, 1}, {4},    {2, 2},    {1, 2, 2},    {6},
      {4, 2}, {2, 2, 2}, {5, 2}, {8},    {6, 2}, {4, 4},    {4, 2, 2},    {2, 2, 2, 2},
      {8, 1}, {4, 5},    {10},   {8, 2}, {6, 4}, {2, 6, 2}, {4, 2, 2, 2}, {2, 1, 1, 4, 1}};
  expect_degrees<2>({7, 5}, 1e-4, exponents);
  const std::vector<int> degrees{9, 7, 5, 3};
  expect_degrees<3>(degrees, 1e-4, exponents);
  expect_degrees<4>(degrees, 1e-4, exponents);
  expect_degrees<5>(degrees, 1e-4, exponents);
  expect_degrees<6>(degrees, 1e-4, exponents);
  expect_degrees<7>(degrees, 1e-4, exponents);
  expect_degrees<8>(degrees, 1e-4, exponents);
}

// With a large fourth power the differences of the rules decrease with their degrees: the integrand
// is smooth on the scale of the region, and its error is that of the rule of degree 7. Otherwise
// the error is at least that of the rule of degree 5.
BOOST_AUTO_TEST_CASE(errors_are_those_of_the_embedded_rules) {
  const quadrature_box<3> box{{-1, -1, -1}, {1, 1, 1}};
  const auto error_of = [&](const monomial<3>& f, double fourth_power) {
    return integrate(box, with_fourth_power{f, fourth_power}, {.max_evaluations = 77}).error;
  };
  for (const auto& f : {monomial<3>{{0, 0, 0}}, {{2, 2, 0}}, {{4, 0, 0}}}) {
    BOOST_TEST(error_of(f, 0) < 1e-11);
  }
  for (const auto& f : {monomial<3>{{6, 0, 0}}, {{2, 4, 0}}, {{2, 2, 2}}}) {
    BOOST_TEST(error_of(f, 0) > 1e-3);
    BOOST_TEST(error_of(f, 100) < 1e-10);
  }
  BOOST_TEST(error_of({{8, 0, 0}}, 0) > 1e-3);
  BOOST_TEST(error_of({{8, 0, 0}}, 100) > 1e-3);
}

// The rule of high degree also integrates polynomials over boxes with sides of different lengths.
BOOST_AUTO_TEST_CASE(polynomials_over_boxes_are_integrated_exactly) {
  for (const int k : {0, 1, 2, 10, 20, 31}) expect_exact<1>({{k}}, 1e-13);
  expect_exact<2>({{0, 0}}, 1e-13);
  expect_exact<2>({{6, 1}}, 1e-13);
  expect_exact<2>({{3, 4}}, 1e-13);
  for (const auto& f :
       {monomial<3>{{0, 0, 0}}, {{8, 1, 0}}, {{2, 6, 1}}, {{5, 0, 4}}, {{3, 2, 4}}}) {
    expect_exact<3>(f, 1e-13);
  }
  expect_exact<4>({{2, 2, 2, 2}}, 1e-13);
  expect_exact<5>({{1, 2, 0, 4, 2}}, 1e-13);
  expect_exact<6>({{0, 4, 0, 0, 4, 0}}, 1e-12);
  expect_exact<7>({{0, 0, 8, 0, 0, 0, 1}}, 1e-12);
  expect_exact<8>({{2, 2, 0, 0, 2, 1, 0, 2}}, 1e-12);
  // Negative controls.
  const auto expect_inexact = [](const auto& box, const auto& f, std::size_t points) {
    const auto found = integrate(box, f, {.max_evaluations = points});
    BOOST_TEST(std::fabs(found.value - f.integral(box)) > 1e-3);
  };
  expect_inexact(quadrature_box<2>{{-1, -1}, {1, 2}}, monomial<2>{{8, 0}}, 30);
  expect_inexact(quadrature_box<3>{{-1, -1, 0}, {1, 2, 1}}, monomial<3>{{0, 10, 0}}, 77);
  expect_inexact(quadrature_box<5>{{0, 0, 0, 0, 0}, {2, 2, 2, 2, 2}}, monomial<5>{{2, 2, 2, 2, 2}},
                 273);
}

BOOST_DATA_TEST_CASE(results_have_the_same_bits_under_every_limit,
                     data::make(routes) * data::make({1, 16, 32, 2048}), taken, limit) {
  const auto f = random_genz(genz_family::c0, 2, 3, 8.0);
  const auto run = [&](route r, std::size_t pending) {
    return integrate(unit_cube<2>(), genz_function<2>(f), {.route = r, .relative_tolerance = 1e-4},
                     pending, in_turn);
  };
  static const quadrature_result expected = run(route::flat, 0);
  const auto found = run(taken, std::size_t(limit));
  expect_route(found.report.taken, taken, std::size_t(limit));
  BOOST_TEST(found.value == expected.value);
  BOOST_TEST(found.error == expected.error);
  BOOST_TEST(found.evaluations == expected.evaluations);
  BOOST_TEST(found.report.rounds == expected.report.rounds);
}

// A different number of warps adds the values of a region, so the results may differ by round-off.
BOOST_DATA_TEST_CASE(rounds_of_all_sizes_have_the_same_result, data::make(routes), taken) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const auto run = [&](const round_bounds& bounds) {
    return integrate(unit_cube<3>(), genz_function<3>(f),
                     {.route = taken, .relative_tolerance = 2e-3}, 0, bounds);
  };
  const auto expected = run(all_small);
  BOOST_TEST(expected.regions > 100u);
  BOOST_TEST(expected.report.child_grids == 0u);
  const bool drives = taken == route::device;  // with a driver and a release of slots
  BOOST_TEST(expected.report.host_grids <= (drives ? 3u : 1u));
  std::uint64_t grids = 0;
  for (const auto& bounds : {in_turn, all_medium, all_large}) {
    const auto found = run(bounds);
    BOOST_TEST(found.value == expected.value, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(found.error == expected.error, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(found.regions == expected.regions);
    BOOST_TEST(found.report.rounds == expected.report.rounds);
    // Negative control: each of them launches other grids.
    const std::uint64_t launched = found.report.host_grids + found.report.child_grids;
    BOOST_TEST(launched != grids);
    BOOST_TEST(launched > expected.report.host_grids + 2);
    grids = launched;
  }
}

// On the device route a medium round has one grid, and a large one has four.
BOOST_AUTO_TEST_CASE(rounds_have_as_few_grids_as_their_size_allows) {
  const auto f = random_genz(genz_family::gaussian, 3, 3, 7.0);
  const auto run = [&](const round_bounds& bounds) {
    return integrate(unit_cube<3>(), genz_function<3>(f),
                     {.route = route::device, .relative_tolerance = 1e-6}, 0, bounds);
  };
  const auto medium = run(all_medium);
  BOOST_TEST(medium.report.rounds >= 4u);
  BOOST_TEST(medium.report.child_grids == medium.report.rounds - 1);
  const auto large = run(all_large);
  // The first round has the list of its splits, and the last one ends after its sum.
  BOOST_TEST(large.report.child_grids == 4 * (large.report.rounds - 1) - 2);
}

// All regions are split in each round, so round i evaluates 2^i regions. On the device route each
// round that is not small has one grid.
template <unsigned d>
void expect_small_rounds(unsigned expected) {
  const std::size_t evaluations = ramify::quadrature_points(d) << (expected + 2);
  const auto found = integrate(unit_cube<d>(), constant{1},
                               {.route = route::device, .min_evaluations = evaluations});
  BOOST_TEST(found.report.rounds > expected + 1);
  BOOST_TEST(found.report.child_grids == found.report.rounds - 1 - expected);
}

// A lane evaluates at most 5 points in a small round, in which 16 warps evaluate the regions.
BOOST_AUTO_TEST_CASE(a_lane_evaluates_few_points_in_a_small_round) {
  expect_small_rounds<1>(6);  // 64 regions: 4 for each warp
  expect_small_rounds<2>(6);
  expect_small_rounds<3>(4);  // 16 regions: 77 points for each warp
  expect_small_rounds<5>(3);  // 8 regions: 273 points for 2 warps
  expect_small_rounds<8>(1);  // 2 regions: 1105 points for 8 warps
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(results_have_the_same_bits_under_any_schedule,
                     data::make({"eager", "late", "random:1", "random:2"}), s) {
  const auto f = random_genz(genz_family::discontinuous, 3, 2, 4.3);
  const auto run = [&] {
    return integrate(unit_cube<3>(), genz_function<3>(f),
                     {.route = route::device, .relative_tolerance = 3e-2}, 64, in_turn);
  };
  const auto expected = run();
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  const auto found = run();
  BOOST_TEST(found.value == expected.value);
  BOOST_TEST(found.error == expected.error);
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto f = random_genz(genz_family::gaussian, 2, 1, 7.0);
  const auto run = [&] {
    return integrate(unit_cube<2>(), genz_function<2>(f),
                     {.route = route::device, .relative_tolerance = 1e-7}, 0,
                     {.small_evaluations = 0, .block_regions = 24, .block_splits = 6});
  };
  const auto whole = run();
  unsigned interrupted = 0;
  for (std::uint64_t failing = 1; failing <= 16; ++failing) {
    auto executor = ramify::cpu::parse_executor_config("random:1");
    executor.failing_launch = failing;
    const ramify::cpu::scoped_executor_config scope(executor);
    const auto found = run();
    BOOST_TEST(found.value == whole.value);
    BOOST_TEST(found.evaluations == whole.evaluations);
    if (found.report.host_grids > whole.report.host_grids) ++interrupted;
  }
  BOOST_TEST(interrupted >= 4u);  // negative control: the failures did end launches
}

// More regions than a block has threads, so several blocks count and sum them.
BOOST_DATA_TEST_CASE(many_regions_are_split_and_summed, data::make(routes), taken) {
  const quadrature_box<1> box{{0}, {3}};
  const auto evaluations = std::size_t(cut_down(70'000, 2'000));
  const auto found = integrate(
      box, constant{2.5},
      {.route = taken, .min_evaluations = evaluations, .max_evaluations = 4 * evaluations});
  BOOST_TEST(found.converged());
  BOOST_TEST(found.value == 7.5, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(found.evaluations >= evaluations);
  BOOST_TEST(found.regions == std::uint64_t{1} << (found.report.rounds - 1));
}

BOOST_AUTO_TEST_CASE(min_evaluations_find_a_hidden_peak) {
  const auto missed = integrate(unit_cube<2>(), hidden_peak{}, {});
  BOOST_TEST(missed.converged());
  BOOST_TEST(missed.value < 1.5);
  const auto found = integrate(unit_cube<2>(), hidden_peak{}, {.min_evaluations = 20'000});
  BOOST_TEST(found.converged());
  BOOST_TEST(std::fabs(found.value - 2) < 2e-6);
}

// A round that splits all regions ends with 651 points, and the next one would end with 1323.
BOOST_DATA_TEST_CASE(min_evaluations_are_reached_within_max_evaluations,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const auto run = [&](std::size_t least, std::size_t most) {
    const auto found =
        integrate(unit_cube<2>(), constant{2.5},
                  {.route = taken, .min_evaluations = least, .max_evaluations = most}, 0, bounds);
    BOOST_TEST(found.converged());
    BOOST_TEST(found.value == 2.5, boost::test_tools::tolerance(1e-14));
    return found.evaluations;
  };
  BOOST_TEST(run(1'000, 1'100) == 1'029u);  // as many splits of 42 points as required
  BOOST_TEST(run(1'000, 1'029) == 1'029u);
  BOOST_TEST(run(1'000, 1'000) == 987u);  // no further split is allowed
  BOOST_TEST(run(1'000, 2'000) == 1'323u);
  if (effort() < 1) return;
  // More regions than a block has threads: the list of splits ends in the first chunk.
  BOOST_TEST(run(25'000, 25'100) == 25'011u);
}

BOOST_AUTO_TEST_CASE(a_singularity_at_the_boundary_converges) {
  const auto found =
      integrate(quadrature_box<1>{{0}, {1}}, inverse_root{}, {.relative_tolerance = 1e-9});
  BOOST_TEST(found.converged());
  BOOST_TEST(std::fabs(found.value - 2) < 2e-9);
}

// Next to a coordinate of 1, half a region's length times 2^-14 is lost in round-off long before a
// region has no middle.
BOOST_DATA_TEST_CASE(no_point_is_on_the_boundary, data::make(routes), taken) {
  for (const auto& f : {root_at_end{0, 1}, root_at_end{1, 1}, root_at_end{-1, -1}}) {
    const quadrature_box<1> box{{f.low}, {f.low + 1}};
    const auto coarse = integrate(box, f, {.route = taken, .relative_tolerance = 1e-4});
    BOOST_TEST(coarse.converged());
    BOOST_TEST(std::fabs(coarse.value - 2) <= 2e-4);
    const auto fine = integrate(box, f, {.route = taken});
    BOOST_TEST(to_string(fine.status) == "round_off");
    BOOST_TEST(std::fabs(fine.value - 2) <= fine.error);
  }
  // The second axis is about as short as the box allows, and at a coordinate with round-off.
  for (const double low : {1.0, -0.7, 1e300, 0.0}) {
    const double length = low == 0 ? 0x1p-1057 : std::fabs(low) * 1.1 * 0x1p-36;
    const quadrature_box<2> box{{0, low}, {0.1, low + length}};
    const auto found = integrate(box, inside{box}, {.route = taken, .min_evaluations = 2'000});
    BOOST_TEST(to_string(found.status) != "not_finite");
  }
}

BOOST_AUTO_TEST_CASE(either_tolerance_is_enough) {
  const auto f = random_genz(genz_family::gaussian, 2, 5, 7.0);
  const auto run = [&](double absolute, double relative) {
    return integrate(unit_cube<2>(), genz_function<2>(f),
                     {.absolute_tolerance = absolute, .relative_tolerance = relative})
        .evaluations;
  };
  BOOST_TEST(run(1e-3, 0) < run(1e-5, 0));
  BOOST_TEST(run(1e-3, 1e-9) == run(1e-3, 0));
  BOOST_TEST(run(1e-30, 1e-3) == run(0, 1e-3));
  // An integral of 0 has only an absolute tolerance.
  const auto zero = integrate(quadrature_box<1>{{-1}, {1}}, monomial<1>{{33}},
                              {.absolute_tolerance = 1e-12, .relative_tolerance = 0});
  BOOST_TEST(zero.converged());
  BOOST_TEST(std::fabs(zero.value) < 1e-12);
}

BOOST_DATA_TEST_CASE(a_point_that_is_not_finite_ends_with_its_coordinates,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const quadrature_box<2> box{{0, 0}, {1, 2}};
  for (const double limit : {0.5, 0.999, 1 - 0x1p-17}) {
    // With the second limit, only points near a face of the first region are beyond it. With the
    // third one, only points of smaller regions are.
    const auto found =
        integrate(box, root_below{limit}, {.route = taken, .relative_tolerance = 1e-9}, 0, bounds);
    BOOST_TEST(to_string(found.status) == "not_finite");
    BOOST_TEST(!found.converged());
    BOOST_TEST((found.report.rounds > 1) == (limit > 0.999));
    BOOST_TEST(found.not_finite_at[0] > limit);
    BOOST_TEST(found.not_finite_at[0] < 1);
    BOOST_TEST((found.not_finite_at[1] > 0 && found.not_finite_at[1] < 2));
    BOOST_TEST(std::isinf(found.error));
    BOOST_TEST(std::isfinite(found.value));
  }
  const auto infinite = integrate(box, constant{HUGE_VAL}, {.route = taken});
  BOOST_TEST(to_string(infinite.status) == "not_finite");
  const auto overflowed =
      integrate(quadrature_box<2>{{0, 0}, {1e10, 1}}, constant{1e300}, {.route = taken});
  BOOST_TEST(to_string(overflowed.status) == "not_finite");
  // The sums of two values overflow, and their difference is NaN. The estimate is finite.
  const auto doubled = integrate(box, constant{0.6 * DBL_MAX / 2}, {.route = taken});
  BOOST_TEST(doubled.converged());
  const auto large = integrate(unit_cube<2>(), constant{0.6 * DBL_MAX}, {.route = taken});
  BOOST_TEST(to_string(large.status) == "not_finite");
}

BOOST_DATA_TEST_CASE(an_unreachable_tolerance_ends_with_the_best_estimate,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const auto few =
      integrate(quadrature_box<1>{{0}, {1}}, noisy{},
                {.route = taken, .relative_tolerance = 1e-9, .max_evaluations = 999}, 0, bounds);
  BOOST_TEST(to_string(few.status) == "max_evaluations");
  BOOST_TEST(std::fabs(few.value - 1) <= few.error);
  BOOST_TEST(few.error < 1e-5);
  // The error cannot be less than the round-off.
  const auto exact = integrate(quadrature_box<1>{{0}, {1}}, monomial<1>{{2}},
                               {.route = taken, .relative_tolerance = 1e-16}, 0, bounds);
  BOOST_TEST(to_string(exact.status) == "round_off");
  BOOST_TEST(std::fabs(exact.value - 1.0 / 3) <= exact.error);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto before = ramify::cpu::grids_begun();
  const auto expect = [&](const quadrature_config& config, const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(unit_cube<2>(), constant{1}, nullptr, config),
                          std::invalid_argument, names(text));
    BOOST_CHECK_EXCEPTION((void)(ramify::quadrature_scratch_bytes<2, constant>(config)),
                          std::invalid_argument, names(text));
  };
  expect({.route = route(9)}, "quadrature_config.route");
  expect({.absolute_tolerance = -1}, "quadrature_config.absolute_tolerance is -1");
  expect({.absolute_tolerance = -1e-9}, "quadrature_config.absolute_tolerance is -1e-09;");
  expect({.absolute_tolerance = NAN}, "absolute_tolerance");
  expect({.relative_tolerance = 1}, "quadrature_config.relative_tolerance is 1");
  expect({.relative_tolerance = NAN}, "relative_tolerance");
  expect({.relative_tolerance = 0}, "greater than 0 if absolute_tolerance is 0");
  expect({.min_evaluations = 100, .max_evaluations = 99}, "min_evaluations is 100; it must be at");
  expect({.max_evaluations = 20}, "max_evaluations is 20; in 2 dimensions it must be at least 21");
  expect({.max_evaluations = std::size_t{1} << 62}, "in 2 dimensions it must be less than");
  // The message states the exact bound.
  expect({.max_evaluations = 45'097'156'587}, "it must be less than 45097156587");
  BOOST_TEST((ramify::quadrature_scratch_bytes<2, constant>({.max_evaluations = 45'097'156'586})) >
             (std::size_t{1} << 30));
  for (const auto& box :
       {quadrature_box<2>{{0, 1}, {1, 1}}, quadrature_box<2>{{0, 2}, {1, 1}},
        quadrature_box<2>{{0, NAN}, {1, 1}}, quadrature_box<2>{{0, 0}, {1, HUGE_VAL}}}) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(box, constant{1}), std::invalid_argument,
                          names("quadrature_box: axis 1 is from"));
  }
  for (const auto& box :
       {quadrature_box<2>{{0, 1}, {1, 1 + 0x1p-37}}, quadrature_box<2>{{0, 0}, {1, 0x1p-1059}}}) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(box, constant{1}), std::invalid_argument,
                          names("it must be longer than 2^-36 times its larger coordinate"));
  }
  const quadrature_config config{.max_evaluations = 1'000};
  const std::size_t bytes = ramify::quadrature_scratch_bytes<2, constant>(config);
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  BOOST_CHECK_EXCEPTION((void)ramify::quadrature(unit_cube<2>(), constant{1}, nullptr, config,
                                                 {memory.data(), bytes - 1}),
                        std::invalid_argument, names("quadrature: scratch.bytes is"));
  BOOST_TEST(ramify::cpu::grids_begun() == before);
  const auto found =
      ramify::quadrature(unit_cube<2>(), constant{1}, nullptr, config, {memory.data(), bytes});
  BOOST_TEST(found.value == 1, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(found.report.scratch_bytes == bytes);
}

// Compares each closed form with a fine midpoint rule, because the other tests use it.
BOOST_AUTO_TEST_CASE(closed_forms_of_genz_agree_with_a_midpoint_rule,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  for (const genz_family family : ramify::all_choices<genz_family>()) {
    const auto f = random_genz(family, 2, 7, genz_difficulty(family));
    const genz_function<2> function(f);
    constexpr int n = 1'000;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) sum += function({{(i + 0.5) / n, (j + 0.5) / n}});
    }
    BOOST_TEST(sum / n / n == exact_integral(f), boost::test_tools::tolerance(1e-2));
  }
}

// The expected values are the alternating sums over all corners, in exact fractions.
BOOST_AUTO_TEST_CASE(the_integral_of_a_corner_peak_is_right_for_any_a) {
  const auto expect = [](const std::vector<double>& a, double exact) {
    genz_integrand f{genz_family::corner_peak, unsigned(a.size()), {}, {}};
    std::copy(a.begin(), a.end(), f.a.begin());
    BOOST_TEST(exact_integral(f) == exact, boost::test_tools::tolerance(1e-14));
  };
  expect({4}, 0.2);
  expect({1.5, 2}, 11.0 / 135);
  expect(std::vector(8, 0.001), 0.9647382771480858);
  expect(std::vector(3, 1e-9), 0.9999999940000001);
  expect({1e-9, 1e9}, 4.999999995e-10);
  expect(std::vector(8, 1e9), 2.480158723418013e-77);
  expect({0.3, 1e-5, 7, 20, 0.5}, 0.00010805275682419488);
  expect({1e-300}, 1);
}

BOOST_AUTO_TEST_CASE(the_facade_integrates_in_all_dimensions) {
  for (unsigned d = 1; d <= ramify::max_quadrature_dimensions; ++d) {
    const auto f = random_genz(genz_family::gaussian, d, d, 2.0);
    const auto found =
        ramify::quadrature(f, {{.relative_tolerance = 1e-4}, tests::backend_under_test(), 64});
    BOOST_TEST(found.converged());
    BOOST_TEST(found.report.pending_launch_limit == 64u);
    expect_honest(found, exact_integral(f), 1e-4 * exact_integral(f));
  }
  const auto refused = [](const genz_integrand& f, const ramify::quadrature_options& options,
                          const char* text) {
    BOOST_CHECK_EXCEPTION((void)ramify::quadrature(f, options), std::invalid_argument, names(text));
  };
  const auto good = random_genz(genz_family::c0, 2, 1, 1.0);
  refused({genz_family(9), 2, {1, 1}, {}}, {}, "genz_integrand.family");
  refused({genz_family::c0, 0, {}, {}}, {}, "genz_integrand.dimensions is 0");
  refused({genz_family::c0, 9, {}, {}}, {}, "genz_integrand.dimensions is 9");
  refused({genz_family::c0, 2, {1, 0}, {}}, {}, "genz_integrand.a[1] is 0");
  refused({genz_family::c0, 2, {1, 1}, {0, 2}}, {}, "genz_integrand.u[1] is 2");
  refused(good, {{}, ramify::backend(7)}, "quadrature_options.backend");
  refused(good, {{.relative_tolerance = 2}}, "quadrature_config.relative_tolerance");
  BOOST_CHECK_EXCEPTION((void)ramify::parse_genz_family("cubic"), std::invalid_argument,
                        names("family 'cubic' is none of oscillatory"));
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(a_captured_quadrature_runs_with_each_launch_of_its_graph, data::make(routes),
                     taken) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const quadrature_config config{.route = taken, .relative_tolerance = 1e-4};
  const auto expected = integrate(unit_cube<3>(), genz_function<3>(f), config);
  const ramify::host_stream stream;
  const std::size_t bytes = ramify::quadrature_scratch_bytes<3, genz_function<3>>(config);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<ramify::quadrature_run<3, genz_function<3>>> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(unit_cube<3>(), genz_function<3>(f), stream.get(), config,
                      scratch_memory{scratch.data(), bytes});
  });
  for (int launches = 0; launches < 2; ++launches) {
    graph.launch(stream.get());
    const auto found = run->get();
    BOOST_TEST(found.value == expected.value);
    BOOST_TEST(found.evaluations == expected.evaluations);
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_rounds) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const auto run = [&](flat_loop loop) {
    return integrate(unit_cube<3>(), genz_function<3>(f),
                     {.route = route::flat, .relative_tolerance = 1e-4, .flat_loop = loop}, 0,
                     in_turn);
  };
  const auto by_host = run(flat_loop::host);
  const auto by_graph = run(flat_loop::graph);
  BOOST_TEST(by_graph.report.looped_by == flat_loop::graph);
  BOOST_TEST(by_graph.value == by_host.value);
  BOOST_TEST(by_graph.report.rounds == by_host.report.rounds);
  const auto large =
      integrate(unit_cube<3>(), genz_function<3>(f),
                {.route = route::flat, .relative_tolerance = 1e-4, .flat_loop = flat_loop::graph},
                0, all_large);
  BOOST_TEST(large.report.graph_grids == 4 * (large.report.rounds - 1));
}

#else

BOOST_AUTO_TEST_CASE(a_loop_of_a_graph_is_refused_on_the_executor) {
  BOOST_CHECK_EXCEPTION(
      (void)ramify::quadrature(unit_cube<2>(), constant{1}, nullptr,
                               {.route = route::flat, .flat_loop = flat_loop::graph}),
      ramify::unavailable, names("the CPU executor has no graphs"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
