// SPDX-License-Identifier: BSD-3-Clause
// Runs of Barnes and Hut's tree code on the backend under test: schedules, limits, memory, reports,
// and what is refused.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "gravity_of.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::gravity_method;
using ramify::route;
using tests::cases;
using tests::deep;
using tests::gravity_of;
using tests::names;
using tests::runs_on_cpu;
using tests::options_for;
using tests::rounded;
using tests::routes;
using tests::same_bits;
using tests::shape;

BOOST_AUTO_TEST_SUITE(barnes_hut)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_same_bits_by_every_random_schedule) {
  const auto c = tests::make_cloud(shape::cube, 2'300);  // grids launch grids from 2,049 on
  const auto expected = gravity_of<double>(c, options_for(2));
  const int schedules = RAMIFY_THREAD_SANITIZER ? 2 : tests::random_schedules();  // each route
  for (int seed = 0; seed < schedules; ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    const auto found = gravity_of<double>(c, options_for(2, 0, routes[seed % 2]));
    BOOST_TEST_CONTEXT("seed " << seed) { BOOST_TEST(same_bits(found, expected)); }
  }
  int piece = 0;
  for (const char* order : {"eager", "late", "parallel:7"}) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(order));
    for (const auto taken : routes) {
      if (tests::left_out(piece, RAMIFY_THREAD_SANITIZER ? 4 : 2)) continue;
      BOOST_TEST(same_bits(gravity_of<double>(c, options_for(2, 0, taken)), expected));
    }
  }
}

BOOST_DATA_TEST_CASE(the_same_bits_whatever_the_limit,
                     data::make({1, 2, 16, 2048}) * data::make(routes), pending_launches, taken) {
  static int piece = 0;  // of all limits and routes
  if (tests::left_out_by_tsan(piece, 5)) return;
  const auto c = tests::plummer_cloud(deep, 2);
  static const auto expected = gravity_of<float>(c, options_for(2, 0.1));
  auto options = options_for(2, 0.1, taken);
  options.pending_launches = std::size_t(pending_launches);
  BOOST_TEST(same_bits(gravity_of<float>(c, options), expected));
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_takes_over) {
  const auto c = tests::plummer_cloud(deep, 2);
  const auto options = options_for(2, 0.1, route::device);
  const auto found = cases().without_slots(c, options);
  BOOST_TEST(same_bits(found, gravity_of<double>(c, options)));
  BOOST_TEST(found.report.child_grids == 0u);
  BOOST_TEST((found.report.taken == route::device));
}

BOOST_AUTO_TEST_CASE(an_object_is_used_again) {
  const auto small = tests::make_cloud(shape::cube, 100);
  const auto large = tests::make_cloud(shape::cube, std::size_t(tests::cut_down(3'000, 500)));
  const auto options = options_for(0.7, 0.1);
  const auto of_small = gravity_of<double>(small, options);
  const auto of_large = gravity_of<double>(large, options);
  BOOST_TEST(same_bits(cases().again(small, large, options), of_large));
  BOOST_TEST(same_bits(cases().again(large, small, options), of_small));
}

BOOST_AUTO_TEST_CASE(potentials_are_optional) {
  const auto c = tests::make_cloud(shape::cube, 500);
  const auto both = gravity_of<float>(c, options_for(0.5));
  const auto alone = cases().accelerations_alone(rounded<float>(c), options_for(0.5));
  BOOST_TEST((alone.accelerations == both.accelerations));
  BOOST_TEST(alone.potentials == std::vector<float>(500), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_direct_sum_of_some_bodies) {
  const auto c = tests::make_cloud(shape::cube, 1'000);
  auto options = options_for(0.5);
  options.method = gravity_method::direct;
  const auto all = gravity_of<double>(c, options);
  const auto some = cases().direct_range(c, 300, 900);
  for (std::size_t i = 300; i < 900; ++i) {
    BOOST_REQUIRE((some.accelerations[i - 300] == all.accelerations[i]));
    BOOST_REQUIRE(some.potentials[i - 300] == all.potentials[i]);
  }
  BOOST_TEST(some.report.interactions == 600u * 999u);
}

BOOST_AUTO_TEST_CASE(every_kind_of_memory) {
  BOOST_TEST(cases().memory_kinds(tests::make_cloud(shape::cube, 500)) == "");
}

BOOST_AUTO_TEST_CASE(a_system_that_was_moved_from_is_empty) {
  BOOST_TEST(cases().moved_system(tests::make_cloud(shape::cube, 100)) == "");
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_report_tells_the_route) {
  const auto c = tests::plummer_cloud(deep, 2);
  const auto on_device = gravity_of<float>(c, options_for(1, 0.1, route::device)).report;
  BOOST_TEST((on_device.taken == route::device));
  BOOST_TEST(on_device.child_grids > 0u);
  BOOST_TEST(on_device.nodes > deep / 16);
  BOOST_TEST(on_device.scratch_bytes > deep * 16);
  BOOST_TEST((on_device.ran_on == tests::backend_under_test()));
  const auto chosen = gravity_of<float>(c, options_for(1, 0.1)).report;
  BOOST_TEST(!chosen.route_reason.empty());
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  using tests::bad_call;
  const auto expect = [&](bad_call call, const char* what) {
    BOOST_CHECK_EXCEPTION(cases().provoke(call), std::invalid_argument, names(what));
  };
  expect(bad_call::null_positions, "positions is null");
  expect(bad_call::null_masses, "masses is null");
  expect(bad_call::null_accelerations, "accelerations is null");
  expect(bad_call::results_over_positions, "positions and accelerations overlap");
  expect(bad_call::results_over_masses, "masses and potentials overlap");
  expect(bad_call::results_over_results, "accelerations and potentials overlap");
  expect(bad_call::range, "range.begin is 11");
  expect(bad_call::leaf_size, "leaf_size is 0");
  expect(bad_call::too_many, "n is 2147483648");
  if (!runs_on_cpu()) expect(bad_call::host_memory, "accelerations is ordinary host memory");

  const auto c = tests::make_cloud(shape::cube, 3);
  const auto expect_field = [&](auto change, const char* what) {
    auto options = options_for(0.5);
    change(options);
    BOOST_CHECK_EXCEPTION((void)gravity_of<float>(c, options), std::invalid_argument, names(what));
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect_field([](auto& o) { o.theta = -0.1; }, "theta is -0.1");
  expect_field([](auto& o) { o.theta = 2.5; }, "theta is 2.5");
  expect_field([&](auto& o) { o.theta = nan; }, "in [0, 2]");
  expect_field([](auto& o) { o.softening = -1; }, "softening is -1");
  expect_field([](auto& o) { o.softening = INFINITY; }, "softening");
  expect_field([&](auto& o) { o.gravitational_constant = nan; }, "gravitational_constant");
  // What is no number in float, where it would be calculated with.
  for (const auto method : {gravity_method::tree, gravity_method::direct}) {
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.softening = 1e20;
        },
        "softening is 1000");
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.gravitational_constant = -1e39;
        },
        "gravitational_constant is -99");
  }
  BOOST_CHECK_NO_THROW((void)gravity_of<double>(c, options_for(0.5, 1e20)));
  expect_field([](auto& o) { o.method = gravity_method(9); }, "method");
  expect_field([](auto& o) { o.route = route(9); }, "route");
  expect_field([](auto& o) { o.backend = ramify::backend(9); }, "backend");
  BOOST_CHECK_THROW((void)ramify::parse_gravity_method("guess"), std::invalid_argument);

  std::vector<std::array<float, 3>> three(3);
  std::vector<std::array<float, 3>> other(3);
  std::vector<float> two(2);
  std::vector<float> masses(3);
  BOOST_CHECK_EXCEPTION((void)ramify::gravity<float>(three, two, other), std::invalid_argument,
                        names("3 bodies, but 2 masses"));
  BOOST_CHECK_EXCEPTION((void)ramify::gravity<float>(three, masses, other, two),
                        std::invalid_argument, names("3 bodies, but 2 potentials"));
  BOOST_CHECK_EXCEPTION((void)ramify::gravity<float>(three, masses, three), std::invalid_argument,
                        names("positions and accelerations overlap"));
}

BOOST_AUTO_TEST_CASE(a_bad_body_is_named_and_nothing_is_written) {
  const auto expect = [](auto spoil, const char* what) {
    auto c = rounded<float>(tests::make_cloud(shape::cube, 700));
    spoil(c);
    for (const auto method : {gravity_method::tree, gravity_method::direct}) {
      auto options = options_for(0.5);
      options.method = method;
      std::vector<std::array<float, 3>> accelerations(700, {1, 2, 3});
      std::vector<float> potentials(700, 4);
      BOOST_CHECK_EXCEPTION(
          (void)ramify::gravity<float>(c.positions, c.masses, accelerations, potentials, options),
          std::invalid_argument, names(what));
      BOOST_TEST(std::ranges::count(accelerations, std::array<float, 3>{1, 2, 3}) == 700);
      BOOST_TEST(std::ranges::count(potentials, 4.0f) == 700);
    }
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  expect([](auto& c) { c.positions[333][1] = c.positions[600][0] = nan; }, "positions[333] is (");
  expect([](auto& c) { c.positions[0][2] = -INFINITY; }, "positions[0] is (");
  expect([](auto& c) { c.positions[699][0] = 5e18f; }, "positions[699] is (5e+18");
  expect([](auto& c) { c.masses[12] = INFINITY; }, "masses[12] is inf");
  expect([](auto& c) { c.masses[13] = nan; }, "masses[13] is nan");
}

BOOST_AUTO_TEST_SUITE_END()
