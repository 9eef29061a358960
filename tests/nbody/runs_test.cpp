// SPDX-License-Identifier: BSD-3-Clause
// Runs of Barnes and Hut's tree code: schedules, limits, kinds of memory, reports, rejected
// arguments.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::device_buffer;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::point;
using ramify::route;
using tests::bodies_of_deep_tree;
using tests::cloud;
using tests::device_cloud;
using tests::environment_for;
using tests::field;
using tests::gravity_of;
using tests::names;
using tests::options_for;
using tests::rounded;
using tests::routes;
using tests::same_bits;
using tests::shape;

namespace {

/// Calculates gravity twice with one object and returns the second result. Memory of the first
/// calculation has another size.
field<double> again(const cloud<double>& before, const cloud<double>& now,
                    const nbody_options& options, const ramify::environment& env = {}) {
  const device_cloud<double> first(before);
  const device_cloud<double> second(now);
  const ramify::barnes_hut<double> gravity(options);
  (void)first.calculate(gravity, env);
  return second.result(second.calculate(gravity, env));
}

/// Calculates the accelerations, but no potentials, which stay 0.
field<float> accelerations_only(const cloud<float>& from, const nbody_options& options) {
  const device_cloud<float> c(from);
  ramify::check(cudaMemsetAsync(c.potentials.data(), 0, c.size() * sizeof(float), nullptr),
                "clearing the potentials");
  return c.result(ramify::barnes_hut<float>(options).accelerations(
      c.positions.data(), c.masses.data(), c.size(), c.accelerations.data()));
}

/// Calculates the direct sum of the bodies [begin, end).
field<double> direct_range(const cloud<double>& from, std::uint32_t begin, std::uint32_t end) {
  const device_cloud<double> c(from);
  // The range has end - begin results, so potentials may follow directly.
  point<double, 3>* const a = c.accelerations.data();
  double* const potentials = &a[end - begin].x[0];
  const auto report = ramify::direct_gravity(c.positions.data(), c.masses.data(), c.size(),
                                             {begin, end}, a, potentials, nbody_options{});
  ramify::check(cudaMemcpyAsync(c.potentials.data(), potentials, (end - begin) * sizeof(double),
                                cudaMemcpyDeviceToDevice, nullptr),
                "moving the potentials");
  return c.result(report);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(barnes_hut)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_bits) {
  const auto c = tests::make_cloud(shape::cube, 2'300);  // grids launch grids from 2,049 on
  const auto expected = gravity_of<double>(c, options_for(2));
  const int schedules =
      RAMIFY_THREAD_SANITIZER ? 2 : tests::random_schedules();  // half of them by each route
  for (int seed = 0; seed < schedules; ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    const auto found = gravity_of<double>(c, options_for(2), environment_for(routes[seed % 2]));
    BOOST_TEST_CONTEXT("seed " << seed) { BOOST_TEST(same_bits(found, expected)); }
  }
  int piece = 0;
  for (const char* order : {"eager", "late", "parallel:7"}) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(order));
    for (const auto taken : routes) {
      if (tests::left_out(piece, RAMIFY_THREAD_SANITIZER ? 4 : 2)) continue;
      BOOST_TEST(
          same_bits(gravity_of<double>(c, options_for(2), environment_for(taken)), expected));
    }
  }
}

BOOST_DATA_TEST_CASE(every_limit_gives_the_same_bits,
                     data::make({1, 2, 16, 2048}) * data::make(routes), pending_launches, taken) {
  static int piece = 0;  // counts all limits and routes
  if (tests::left_out_by_tsan(piece, 5)) return;
  const auto c = tests::plummer_cloud(bodies_of_deep_tree, 2);
  static const auto expected = gravity_of<float>(c, options_for(2, 0.1));
  auto env = environment_for(taken);
  env.pending_launches = std::size_t(pending_launches);
  BOOST_TEST(same_bits(gravity_of<float>(c, options_for(2, 0.1), env), expected));
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_launches_all_grids) {
  const auto c = tests::plummer_cloud(bodies_of_deep_tree, 2);
  const auto options = options_for(2, 0.1);
  const auto env = environment_for(route::device);
  const auto found = [&] {
    const auto limit = *ramify::current_launch_limits().pending_launches;
    const tests::all_slots_taken taken(limit);
    return again({}, c, options, env);
  }();
  BOOST_TEST(same_bits(found, gravity_of<double>(c, options, env)));
  BOOST_TEST(found.report.child_grids == 0u);
  BOOST_TEST((found.report.taken == route::device));
}

BOOST_AUTO_TEST_CASE(an_object_is_reused) {
  const auto small = tests::make_cloud(shape::cube, 100);
  const auto large = tests::make_cloud(shape::cube, std::size_t(tests::cut_down(3'000, 500)));
  const auto options = options_for(0.7, 0.1);
  const auto of_small = gravity_of<double>(small, options);
  const auto of_large = gravity_of<double>(large, options);
  BOOST_TEST(same_bits(again(small, large, options), of_large));
  BOOST_TEST(same_bits(again(large, small, options), of_small));
}

BOOST_AUTO_TEST_CASE(potentials_are_optional) {
  const auto c = tests::make_cloud(shape::cube, 500);
  const auto both = gravity_of<float>(c, options_for(0.5));
  const auto without = accelerations_only(rounded<float>(c), options_for(0.5));
  BOOST_TEST((without.accelerations == both.accelerations));
  BOOST_TEST(without.potentials == std::vector<float>(500), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_direct_sum_of_some_bodies) {
  const auto c = tests::make_cloud(shape::cube, 1'000);
  auto options = options_for(0.5);
  options.method = nbody_method::direct;
  const auto all = gravity_of<double>(c, options);
  const auto some = direct_range(c, 300, 900);
  for (std::size_t i = 300; i < 900; ++i) {
    BOOST_REQUIRE((some.accelerations[i - 300] == all.accelerations[i]));
    BOOST_REQUIRE(some.potentials[i - 300] == all.potentials[i]);
  }
  BOOST_TEST(some.report.interactions == 600u * 999u);
}

BOOST_AUTO_TEST_CASE(nothing_is_written_after_the_results) {
  const auto c = rounded<float>(tests::make_cloud(shape::cube, 100));
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    std::vector<std::array<float, 3>> accelerations(500, {1, 2, 3});
    std::vector<float> potentials(500, 4);
    (void)ramify::gravity<float>(c.positions, c.masses, std::span(accelerations).first(100),
                                 std::span(potentials).first(100), options, environment_for());
    BOOST_TEST(std::ranges::count(accelerations, std::array<float, 3>{1, 2, 3}) == 400);
    BOOST_TEST(std::ranges::count(potentials, 4.0f) == 400);
  }
}

BOOST_AUTO_TEST_CASE(the_facade_accepts_every_kind_of_memory) {
  using vector = std::array<double, 3>;
  const auto c = tests::make_cloud(shape::cube, 500);
  const std::size_t n = c.masses.size();
  const auto env = environment_for();
  tests::vectors<double> expected(n);
  (void)ramify::gravity<double>(c.positions, c.masses, expected, {}, env);

  ramify::pinned_buffer<vector> pinned(n);
  (void)ramify::gravity<double>(c.positions, c.masses, std::span(pinned.data(), n), {}, env);
  BOOST_TEST(std::ranges::equal(expected, std::span(pinned.data(), n)));

  const device_buffer<vector> x = tests::upload(c.positions);
  const device_buffer<double> m = tests::upload(c.masses);
  const device_buffer<vector> a(n, nullptr);
  ramify::check(cudaStreamSynchronize(nullptr), "waiting for the upload");
  (void)ramify::gravity<double>(std::span<const vector>(x.data(), n),
                                std::span<const double>(m.data(), n), std::span(a.data(), n), {},
                                env);
  BOOST_TEST((tests::download(a) == expected));
}

BOOST_AUTO_TEST_CASE(a_moved_from_system_is_empty) {
  const device_cloud<double> c(tests::make_cloud(shape::cube, 100));
  const std::size_t n = c.size();
  using system = ramify::nbody_system<double>;
  system first(c.positions.data(), c.positions.data(), c.masses.data(), n);
  system second(std::move(first));
  BOOST_TEST(first.size() == 0u);
  BOOST_TEST(first.report().bodies == 0u);
  BOOST_TEST(second.size() == n);
  BOOST_TEST(second.report().bodies == n);
  first = std::move(second);
  BOOST_TEST(second.size() == 0u);
  BOOST_TEST(first.size() == n);
  first.step(0.01);
  second.step(0.01);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_report_states_the_route) {
  const auto c = tests::plummer_cloud(bodies_of_deep_tree, 2);
  const auto on_device =
      gravity_of<float>(c, options_for(1, 0.1), environment_for(route::device)).report;
  BOOST_TEST((on_device.taken == route::device));
  BOOST_TEST(on_device.child_grids > 0u);
  BOOST_TEST(on_device.nodes > bodies_of_deep_tree / 16);
  BOOST_TEST(on_device.scratch_bytes > bodies_of_deep_tree * 16);
  BOOST_TEST((on_device.ran_on == tests::backend_under_test()));
  const auto chosen = gravity_of<float>(c, options_for(1, 0.1)).report;
  BOOST_TEST(!chosen.route_reason.empty());
}

BOOST_AUTO_TEST_CASE(bad_arrays_are_named) {
  const device_buffer<point<double, 3>> positions(100, nullptr);
  const device_buffer<point<double, 3>> accelerations(100, nullptr);
  const device_buffer<double> masses(100, nullptr);
  auto* const x = positions.data();
  auto* const a = accelerations.data();
  auto* const m = masses.data();
  using vector = point<double, 3>;
  ramify::barnes_hut<double> gravity;
  const auto expect = [&](const vector* positions, const double* masses, std::size_t n,
                          vector* accelerations, double* potentials, const char* what) {
    BOOST_CHECK_EXCEPTION(
        (void)gravity.accelerations(positions, masses, n, accelerations, potentials),
        std::invalid_argument, names(what));
  };
  expect(nullptr, m, 10, a, nullptr, "positions is null");
  expect(x, nullptr, 10, a, nullptr, "masses is null");
  expect(x, m, 10, nullptr, nullptr, "accelerations is null");
  expect(x, m, 60, x + 50, nullptr, "positions and accelerations overlap");
  expect(x, m, 60, a, m + 50, "masses and potentials overlap");
  expect(x, m, 10, a, &a[9].x[0], "accelerations and potentials overlap");
  expect(x, m, std::size_t{1} << 31, a, nullptr, "n is 2147483648");
  if (RAMIFY_ON_CUDA) {
    std::vector<vector> on_host(100);
    expect(x, m, 100, on_host.data(), nullptr, "accelerations is ordinary host memory");
  }
  const auto direct = [&] {
    (void)ramify::direct_gravity<double>(x, m, 10, {11, 20}, a, nullptr, nbody_options{});
  };
  BOOST_CHECK_EXCEPTION(direct(), std::invalid_argument, names("range.begin is 11"));
  const auto no_leaves = [] { (void)ramify::barnes_hut<double>(nbody_options{.leaf_size = 0}); };
  BOOST_CHECK_EXCEPTION(no_leaves(), std::invalid_argument, names("leaf_size is 0"));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
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
  expect_field([](auto& o) { o.tolerance = -1; }, "nbody_options.tolerance is -1");
  expect_field([](auto& o) { o.tolerance = 11; }, "nbody_options.tolerance is 11");
  expect_field([&](auto& o) { o.tolerance = nan; }, "nbody_options.tolerance");
  expect_field(
      [](auto& o) {
        o.tolerance = 1;
        o.theta = 0.7;
      },
      "nbody_options.theta is 0.7; it must be left at its default");
  expect_field([](auto& o) { o.order = 0; }, "nbody_options.order is 0");
  expect_field([](auto& o) { o.order = 3; }, "nbody_options.order is 3");
  expect_field([](auto& o) { o.softening = -1; }, "softening is -1");
  expect_field([](auto& o) { o.softening = INFINITY; }, "softening");
  expect_field([&](auto& o) { o.gravitational_constant = nan; }, "gravitational_constant");
  // These values are outside the range of float.
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.softening = 1e20;
        },
        "softening is 1e+20");
    // Its square added to a squared distance would be infinite, and the force 0.
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.softening = 1.5e19;
        },
        "softening is 1.5e+19");
    // Rounded to float, the square and the constant would be 0.
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.softening = 1e-25;
        },
        "softening is 1e-25; it must be 0, or large enough");
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.gravitational_constant = 1e-50;
        },
        "gravitational_constant is 1e-50");
    expect_field(
        [&](auto& o) {
          o.method = method;
          o.gravitational_constant = -1e39;
        },
        "gravitational_constant is -1e+39");
  }
  BOOST_CHECK_NO_THROW((void)gravity_of<double>(c, options_for(0.5, 1e20)));
  expect_field([](auto& o) { o.method = nbody_method(9); }, "method");
  expect_field([](auto& o) { o.leaf_size = 1025; }, "leaf_size is 1025");
  BOOST_CHECK_EXCEPTION((void)gravity_of<float>(c, {}, environment_for(route(9))),
                        std::invalid_argument, names("environment.route"));
  BOOST_CHECK_EXCEPTION((void)gravity_of<float>(c, {}, {.backend = ramify::backend(9)}),
                        std::invalid_argument, names("environment.backend"));
  BOOST_CHECK_THROW((void)ramify::parse_nbody_method("guess"), std::invalid_argument);

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

BOOST_AUTO_TEST_CASE(an_invalid_body_is_named_and_nothing_is_written) {
  const auto expect = [](auto spoil, const char* what) {
    auto c = rounded<float>(tests::make_cloud(shape::cube, 700));
    spoil(c);
    for (const auto method : {nbody_method::tree, nbody_method::direct}) {
      auto options = options_for(0.5);
      options.method = method;
      std::vector<std::array<float, 3>> accelerations(700, {1, 2, 3});
      std::vector<float> potentials(700, 4);
      BOOST_CHECK_EXCEPTION((void)ramify::gravity<float>(c.positions, c.masses, accelerations,
                                                         potentials, options, environment_for()),
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
