// SPDX-License-Identifier: BSD-3-Clause
// Tests the polylines of curves: accuracy, order, routes, failures, refused arguments.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/tessellation.hpp>
#include <ramify/tessellation/curves.cuh>
#include <ramify/tessellation/leaves.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device_vectors.cuh"
#include "effort.hpp"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "printing.hpp"
#include "run_checks.cuh"
#include "tessellate/tessellation_check.hpp"
#include "tested_options.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::cubic_curve;
using ramify::curve_point;
using ramify::environment;
using ramify::polylines;
using ramify::route;
using ramify::tessellation_options;
using ramify::traverse_strategy;

namespace {

polylines lines_of(const std::vector<cubic_curve>& curves, const tessellation_options& options,
                   const environment& env) {
  polylines lines;
  with_grids_counted([&] {
    lines = ramify::tessellate_curves(curves, options, env);
    return lines.report;
  });
  return lines;
}

bool same_lines(const polylines& a, const polylines& b) {
  return a.points == b.points && a.offsets == b.offsets;
}

std::vector<cubic_curve> random_curves(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-1, 1);
  std::vector<cubic_curve> curves(n);
  for (cubic_curve& c : curves) {
    const double scale = std::exp2(4 * coordinate(random));  // different numbers of segments
    for (curve_point& p : c.points) {
      p = {scale * coordinate(random), scale * coordinate(random)};
    }
  }
  return curves;
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(slot_leaks_are_noticed);

BOOST_AUTO_TEST_SUITE(tessellation_of_curves)

BOOST_DATA_TEST_CASE(a_straight_line_is_one_segment, data::make(routes), taken) {
  const std::vector<cubic_curve> lines{
      {{{0, 0}, {1, 2}, {2, 4}, {3, 6}}},
      {{{0, 0}, {0.1, 0.2}, {0.2, 0.4}, {3, 6}}},  // another parametrization
      {{{1, 1}, {1, 1}, {1, 1}, {1, 1}}},
      {{{5, 0}, {4, 0}, {1, 0}, {0, 0}}},
  };
  const polylines made = lines_of(lines, with_flatness(1e-9), environment_on(taken));
  BOOST_TEST(made.report.taken == taken);
  BOOST_TEST(made.report.pieces == lines.size());
  BOOST_TEST(made.report.points == 2 * lines.size());
  BOOST_TEST(made.offsets == (std::vector<std::uint64_t>{0, 2, 4, 6, 8}),
             boost::test_tools::per_element());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    BOOST_TEST(bool(made.line(i)[0] == lines[i].points[0]));
    BOOST_TEST(bool(made.line(i)[1] == lines[i].points[3]));
  }
  // A control point beyond the end: the curve turns back, so its chord is too short.
  const cubic_curve turns{{{0, 0}, {3, 0}, {3, 0}, {1, 0}}};
  const polylines turning = lines_of({turns}, with_flatness(1e-3), environment_on(taken));
  BOOST_TEST(turning.report.pieces > 1u);
  BOOST_TEST(common::distance_of_curve(turns, turning.line(0), 500) <= 1e-3);
}

// The usual cubic approximation of a quarter of the unit circle has a radius in [1, 1.00027253]. A
// chord of n equal parts of the circle is 1 - cos(pi / (4 n)) from it.
BOOST_AUTO_TEST_CASE(the_arc_of_a_circle_has_the_expected_number_of_segments) {
  const double k = 4.0 / 3 * (std::sqrt(2) - 1);
  const cubic_curve arc{{{1, 0}, {1, k}, {k, 1}, {0, 1}}};
  for (const unsigned n : {1u, 2u, 4u, 8u, 16u}) {
    const double distance = 1 - std::cos(std::acos(-1) / (4 * n));
    const polylines made = lines_of({arc}, with_flatness(1.1 * distance + 3e-4), environment_on());
    BOOST_TEST(made.report.pieces == n);
    for (const curve_point& p : made.points) {
      const double radius = std::hypot(p.x, p.y);
      BOOST_TEST((radius > 1 - 1e-15 && radius < 1.000273));
    }
    BOOST_TEST(std::fabs(common::distance_of_curve(arc, made.points, 500) - distance) <
               3e-4 + distance / 20);
  }
}

BOOST_AUTO_TEST_CASE(random_curves_are_within_the_flatness) {
  const auto curves = random_curves(60);
  std::uint64_t before = 0;
  for (const double flatness : {1.0, 1e-2, 1e-4}) {
    const polylines made = lines_of(curves, with_flatness(flatness), environment_on());
    BOOST_TEST(made.report.limited == 0u);
    BOOST_TEST(made.report.pieces > before);  // each curve decides, so a larger bound gives fewer
    before = made.report.pieces;
    BOOST_TEST(made.report.points == made.report.pieces + curves.size());
    std::size_t shortest = ~std::size_t{0};
    std::size_t longest = 0;
    double largest = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto line = made.line(i);
      BOOST_TEST(bool(line.front() == curves[i].points[0]));
      BOOST_TEST(bool(line.back() == curves[i].points[3]));
      largest = std::max(largest, common::distance_of_curve(curves[i], line, 200));
      shortest = std::min(shortest, line.size());
      longest = std::max(longest, line.size());
    }
    BOOST_TEST(largest <= flatness);
    BOOST_TEST(largest > flatness / 4);  // the bound is not wasteful
    if (flatness < 1) BOOST_TEST(longest >= 4 * shortest);
  }
}

BOOST_AUTO_TEST_CASE(the_depth_limit_ends_the_division_and_is_reported) {
  const polylines made = lines_of(random_curves(3), with_flatness(1e-30, 5), environment_on());
  BOOST_TEST(made.report.pieces == 3 * 32u);
  BOOST_TEST(made.report.limited == 3 * 32u);
}

// ---- routes, limits, schedules, failures --------------------------------------------------------

BOOST_DATA_TEST_CASE(curves_have_the_same_bits_on_all_routes_under_every_limit,
                     data::make(routes) * data::make({1, 16, 32, 2048}), taken, limit) {
  const auto curves = random_curves(20);
  static const polylines expected =
      lines_of(curves, with_flatness(1e-3), environment_on(route::flat));
  for (const traverse_strategy strategy :
       {traverse_strategy::work_sharing, traverse_strategy::task_per_node}) {
    tessellation_options options = with_flatness(1e-3);
    options.strategy = strategy;
    options.capacity = strategy == traverse_strategy::task_per_node ? 20'000 : 0;
    const polylines made = lines_of(curves, options, environment_on(taken, std::size_t(limit)));
    expect_route(made.report.taken, taken, std::size_t(limit));
    BOOST_TEST(same_lines(made, expected));
    BOOST_TEST(made.report.pieces == expected.report.pieces);
  }
}

BOOST_AUTO_TEST_CASE(curves_are_the_same_under_any_schedule,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(10);
  const tessellation_options options = with_flatness(1e-3);
  const polylines expected = lines_of(curves, options, environment_on(route::device));
  std::vector<std::string> schedules{"eager", "late"};
  for (int seed = 1; seed <= std::min(random_schedules(), 20); ++seed) {
    schedules.push_back("random:" + std::to_string(seed));
  }
  for (const std::string& schedule : schedules) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    BOOST_TEST(same_lines(lines_of(curves, options, environment_on(route::device, 64)), expected));
  }
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(40);
  const auto divide = [&] {
    return lines_of(curves, with_flatness(1e-4), environment_on(route::device));
  };
  const polylines expected = divide();
  const auto executor = ramify::cpu::parse_executor_config("random:1");
  const auto last = std::uint64_t(cut_down(8, 3));
  const unsigned interrupted = tests::count_interrupted(last, executor, [&](std::uint64_t) {
    const polylines made = divide();
    BOOST_TEST(same_lines(made, expected));
    return made.report.host_grids > expected.report.host_grids || made.report.spilled_tasks > 0;
  });
  BOOST_TEST(interrupted >= 1u);  // negative control: the failures did end launches
}

BOOST_AUTO_TEST_CASE(a_list_that_is_too_short_loses_nothing) {
  using namespace ramify::detail::tessellation;
  const auto curves = upload(random_curves(1));
  const curve_tree tree{curves.data(), 1, 1e-7, 31};
  ramify::tessellation_report whole, twice;
  const auto expected = find_leaves(tree, 1'000'000, 1'000'000, {}, {}, whole);
  const auto found = find_leaves(tree, 16, 1'000'000, {}, {}, twice);
  BOOST_TEST(whole.traversals == 1u);
  BOOST_TEST(twice.traversals == 2u);
  BOOST_TEST(found.count > 16u);
  const auto sorted = [](const auto& list) {
    std::vector<std::uint64_t> places = download(list.leaves);
    places.resize(list.count);
    std::ranges::sort(places);
    return places;
  };
  BOOST_TEST(sorted(found) == sorted(expected));
}

// A second traversal takes as long as the first one.
BOOST_AUTO_TEST_CASE(the_first_list_is_long_enough) {
  for (const double flatness : {1e-1, 1e-3, 1e-6}) {
    const polylines made = lines_of(random_curves(30), with_flatness(flatness), environment_on());
    BOOST_TEST(made.report.traversals == 1u);
  }
}

// ---- arguments, empty input, trace --------------------------------------------------------------

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const auto curves = random_curves(3);
  const auto refused = [&](const tessellation_options& options, const environment& env,
                           const char* text) {
    const auto before = ramify::cpu::grids_begun();
    BOOST_CHECK_EXCEPTION((void)ramify::tessellate_curves(curves, options, env),
                          std::invalid_argument, names(text));
    BOOST_TEST(ramify::cpu::grids_begun() == before);
  };
  for (const auto& [flatness, printed] :
       {std::pair{0.0, "0"}, std::pair{-1.0, "-1"}, std::pair<double, const char*>{NAN, "nan"},
        std::pair<double, const char*>{HUGE_VAL, "inf"}}) {
    refused(with_flatness(flatness), environment_on(),
            ("tessellation_options.flatness is " + std::string(printed) + "; it must be in [1e-100")
                .c_str());
  }
  refused(with_flatness(1, 0), environment_on(),
          "tessellation_options.max_depth is 0; it must be in [1, 31]");
  refused(with_flatness(1, 32), environment_on(), "tessellation_options.max_depth is 32");
  refused({}, environment_on(route(9)), "environment.route");
  std::byte memory[256];
  environment with_memory = environment_on();
  with_memory.memory = {memory, sizeof memory};
  refused({}, with_memory,
          "tessellate_curves: environment.memory must be empty or a resource, because the size");
  for (const double bad : {double(NAN), HUGE_VAL, -1.1e100}) {
    auto invalid = curves;
    invalid[2].points[0].x = bad;
    invalid[1].points[3].y = bad;
    BOOST_CHECK_EXCEPTION(
        (void)ramify::tessellate_curves(invalid, with_flatness(1), environment_on(route::flat)),
        std::invalid_argument, names("tessellate_curves: curves[1].points[3].y is "));
  }
}

BOOST_AUTO_TEST_CASE(no_curves_have_no_polylines) {
  const polylines made = lines_of({}, with_flatness(1), environment_on());
  BOOST_TEST(made.points.empty());
  BOOST_TEST(made.report.host_grids == 0u);
  BOOST_TEST(made.report.route_reason == "there are no curves");
}

BOOST_AUTO_TEST_CASE(a_trace_has_all_grids, *boost::unit_test::precondition(on_the_executor)) {
  const auto curves = random_curves(20);
  environment env = environment_on(route::device);
  const polylines expected = lines_of(curves, {}, env);
  ramify::launch_trace trace;
  env.trace = &trace;
  env.pending_launches = 100;
  const polylines made = ramify::tessellate_curves(curves, env);
  BOOST_TEST(same_lines(made, expected));
  BOOST_TEST(made.report.ran_on == backend_under_test());
  BOOST_TEST(made.report.pending_launch_limit == 100u);
  BOOST_TEST(trace.grids.size() == made.report.host_grids + made.report.child_grids);
  const auto has = [&](const std::string& kernel) {
    return std::ranges::any_of(trace.grids, [&](const auto& g) { return g.kernel == kernel; });
  };
  BOOST_TEST(has("write_polylines"));
  BOOST_TEST(has("traverse_round"));
}

// Without the bound of the tree, the traversal would visit 2^31 parts.
BOOST_AUTO_TEST_CASE(too_many_parts_are_an_error_that_ends_soon) {
  using namespace ramify::detail::tessellation;
  const auto curves = upload(random_curves(1));
  const curve_tree tree{curves.data(), 1, 1e-100, 31};
  ramify::tessellation_report report;
  BOOST_CHECK_EXCEPTION((void)find_leaves(tree, 16, 1'000, {}, {}, report), std::length_error,
                        names("more than 1000 pieces"));
  BOOST_TEST(report.traversals == 1u);
}

BOOST_AUTO_TEST_CASE(the_caller_limits_the_parts) {
  const std::vector<ramify::cubic_curve> curves = random_curves(20);
  const environment env{.backend = backend_under_test()};
  ramify::tessellation_options options;
  const auto all = ramify::tessellate_curves(curves, options, env);
  options.max_pieces = all.report.pieces;
  BOOST_TEST((ramify::tessellate_curves(curves, options, env).points == all.points));
  --options.max_pieces;
  BOOST_CHECK_EXCEPTION(
      (void)ramify::tessellate_curves(curves, options, env), std::length_error,
      names("more than " + std::to_string(options.max_pieces) + " pieces; tessellation_options"));
}

BOOST_AUTO_TEST_SUITE_END()
