// SPDX-License-Identifier: BSD-3-Clause
// Gravity by Barnes and Hut's tree code on the backend under test, against the sum of all pairs.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "clouds.hpp"
#include "exceptions.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::gravity_method;
using ramify::gravity_options;
using ramify::route;
using tests::cloud;
using tests::field;
using tests::names;
using tests::on_cpu;
using tests::shape;

namespace {

constexpr route routes[] = {route::device, route::flat};

const tests::barnes_hut_cases& cases() {
  return on_cpu() ? *tests::barnes_hut_cases_on_cpu() : *tests::barnes_hut_cases_on_cuda();
}

gravity_options options_for(double theta, double softening = 0, route taken = route::automatic) {
  gravity_options options;
  options.backend = tests::backend_under_test();
  options.route = taken;
  options.theta = theta;
  options.softening = softening;
  return options;
}

template <class Real>
cloud<Real> rounded(const cloud<double>& from) {
  cloud<Real> to;
  for (const auto& x : from.positions) to.positions.push_back({Real(x[0]), Real(x[1]), Real(x[2])});
  to.masses.assign(from.masses.begin(), from.masses.end());
  return to;
}

template <class Real>
field<Real> gravity_of(const cloud<double>& from, const gravity_options& options) {
  const cloud<Real> c = rounded<Real>(from);
  field<Real> found;
  found.accelerations.resize(c.masses.size());
  found.potentials.resize(c.masses.size());
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  found.report =
      ramify::gravity<Real>(c.positions, c.masses, found.accelerations, found.potentials, options);
  if (on_cpu()) {
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(found.report.host_grids + found.report.child_grids == grids);
  }
  BOOST_TEST(cases().slots_in_use() == 0u);
  return found;
}

template <class Real>
bool same_bits(const field<Real>& a, const field<Real>& b) {
  return a.accelerations == b.accelerations && a.potentials == b.potentials;
}

// Bodies whose tree is built by grids that launch grids.
const auto deep = static_cast<std::size_t>(tests::cut_down(6'000, 2'500));

// What the direct sum may be off by: rounding, more where forces cancel.
template <class Real>
constexpr double rounding = 2e4 * double(std::numeric_limits<Real>::epsilon());

}  // namespace

BOOST_AUTO_TEST_SUITE(barnes_hut)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_error_falls_with_theta) {
  for (const double softening : {0.0, 0.05}) {
    const auto cluster = tests::plummer_cloud(std::size_t(tests::cut_down(4'000, 1'000)));
    const auto truth = tests::sum_of_pairs(cluster, softening);
    double last = 1;
    for (const double theta : {2.0, 0.9, 0.7, 0.5, 0.3, 0.15}) {
      const auto found = gravity_of<double>(cluster, options_for(theta, softening));
      const auto error = tests::error_of(found, truth);
      const auto in_float =
          tests::error_of(gravity_of<float>(cluster, options_for(theta, softening)), truth);
      BOOST_TEST_MESSAGE("theta " << theta << ", softening " << softening << ": rms " << error.rms
                                  << ", most " << error.most << ", of a potential "
                                  << error.potential << "; float rms " << in_float.rms
                                  << "; interactions " << found.report.interactions);
      BOOST_TEST(error.rms < last);
      BOOST_TEST(error.rms < 0.1 * theta * theta);
      BOOST_TEST(error.potential < 0.05 * theta * theta);
      BOOST_TEST(in_float.rms < 1.05 * error.rms + rounding<float>);
      if (theta == 0.5) {
        BOOST_TEST(error.rms < 0.01);
        BOOST_TEST(error.most < 0.1);
      }
      last = error.rms;
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(theta_0_is_the_direct_sum) {
  for (const shape s : tests::all_shapes) {
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, 700);
      const auto truth = tests::sum_of_pairs(c, 0.01, 3);
      auto options = options_for(0, 0.01);
      options.gravitational_constant = 3;
      for (const auto method : {gravity_method::tree, gravity_method::direct}) {
        options.method = method;
        const auto found = gravity_of<double>(c, options);
        // Rounded coordinates of float are another cloud where bodies are close and far away.
        const bool survives_rounding = s != shape::far_away && s != shape::two_clusters;
        const auto error = tests::error_of(found, truth);
        BOOST_TEST(error.most < rounding<double>);
        BOOST_TEST(error.potential < rounding<double>);
        BOOST_TEST(found.report.interactions == 700u * 699u);
        BOOST_TEST((found.report.method == method));
        const auto in_float = tests::error_of(gravity_of<float>(c, options), truth);
        if (survives_rounding) BOOST_TEST(in_float.rms < rounding<float>);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_shape_by_either_route) {
  for (const shape s : tests::all_shapes) {
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(2'500, 600)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto found = gravity_of<double>(c, options_for(0.5, 0.01, route::device));
      // Where forces cancel, as inside a shell, an error is large beside what is left of them.
      // On a line, the near cells all pull the same way, and with them their errors.
      const double bound = s == shape::line || s == shape::diagonal ? 0.1 : 0.01;
      BOOST_TEST(tests::total_error(found, truth) < bound);
      BOOST_TEST(tests::error_of(found, truth).potential < bound);
      BOOST_TEST(tests::total_error(gravity_of<double>(c, options_for(0.1, 0.01)), truth) < 0.005);
      const auto flat = gravity_of<double>(c, options_for(0.5, 0.01, route::flat));
      BOOST_TEST((flat.report.taken == route::flat));
      BOOST_TEST(flat.report.child_grids == 0u);
      BOOST_TEST(same_bits(found, flat));
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_a_warp_and_a_block) {
  for (const std::size_t n :
       {1u, 2u, 3u, 16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1025u}) {
    BOOST_TEST_CONTEXT(n << " bodies") {
      const auto c = tests::make_cloud(shape::cube, n);
      const auto truth = tests::sum_of_pairs(c, 0);
      auto options = options_for(0);
      const auto tree = gravity_of<double>(c, options);
      BOOST_TEST(tests::error_of(tree, truth).most < rounding<double>);
      BOOST_TEST(tree.report.interactions == n * (n - 1));
      BOOST_TEST(tree.report.bodies == n);
      options.method = gravity_method::direct;
      BOOST_TEST(tests::error_of(gravity_of<double>(c, options), truth).most < rounding<double>);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_bodies) {
  for (const auto method : {gravity_method::tree, gravity_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto found = gravity_of<float>({}, options);
    BOOST_TEST(found.report.host_grids == 0u);
    BOOST_TEST(found.report.interactions == 0u);
  }
}

BOOST_AUTO_TEST_CASE(bodies_in_one_place) {
  constexpr std::size_t n = 1'000;
  cloud<double> heap;
  heap.positions.assign(n, {0.1, -7, 3e5});
  heap.masses.assign(n, 2);
  for (const auto method : {gravity_method::tree, gravity_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto bare = gravity_of<double>(heap, options);
    options.softening = 0.5;
    const auto softened = gravity_of<double>(heap, options);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_REQUIRE(bare.accelerations[i][k] == 0);
        BOOST_REQUIRE(softened.accelerations[i][k] == 0);
      }
      BOOST_REQUIRE(bare.potentials[i] == 0);
      BOOST_REQUIRE(std::abs(softened.potentials[i] + 2 * (n - 1) / 0.5) < 1e-6);
    }
  }
  // Two so close that the square of their distance is no number, and one farther off.
  const cloud<double> close{{{0, 0, 0}, {1e-30, 0, 0}, {1, 0, 0}}, {1, 1, 1}};
  const auto in_float = gravity_of<float>(close, options_for(0.5));
  const auto tolerance = boost::test_tools::tolerance(1e-5f);
  BOOST_TEST(in_float.accelerations[0][0] == 1.0f, tolerance);
  BOOST_TEST(in_float.accelerations[2][0] == -2.0f, tolerance);
  // Nor does the cube of a distance leave the range where the force does not.
  const cloud<double> tight{{{0, 0, 0}, {1e-15, 0, 0}}, {1e-30, 1e-30}};
  BOOST_TEST(gravity_of<float>(tight, options_for(0.5)).accelerations[0][0] == 1.0f, tolerance);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(masses_of_any_sign) {
  auto c = tests::make_cloud(shape::cube, 1'500);
  for (std::size_t i = 0; i < c.masses.size(); ++i) {
    if (i % 3 == 0) c.masses[i] = 0;
    if (i % 3 == 1) c.masses[i] = -c.masses[i];
  }
  const auto truth = tests::sum_of_pairs(c, 0.05);
  BOOST_TEST(tests::error_of(gravity_of<double>(c, options_for(0, 0.05)), truth).rms < 1e-9);
  const auto found = gravity_of<double>(c, options_for(0.3, 0.05));
  BOOST_TEST(tests::total_error(found, truth) < 0.05);

  std::ranges::fill(c.masses, 0.0);
  const auto nothing = gravity_of<double>(c, options_for(0.5));
  for (const auto& a : nothing.accelerations) BOOST_REQUIRE((a == tests::vector3{}));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(a_wrong_walk_is_noticed) {
  // The bounds of the_error_falls_with_theta, on what has been made wrong on purpose.
  const auto cluster = tests::plummer_cloud(2'000);
  const auto truth = tests::sum_of_pairs(cluster, 0);
  const auto options = options_for(0.5);
  const auto error = [&](tests::tampering how) {
    return tests::error_of(cases().tampered(cluster, options, how), truth);
  };
  BOOST_TEST(same_bits(cases().tampered(cluster, options, tests::tampering::nothing),
                       gravity_of<double>(cluster, options)));
  const double right = error(tests::tampering::nothing).rms;
  BOOST_TEST(right < 0.01);
  BOOST_TEST(error(tests::tampering::late_opening).rms > 2.5 * right);
  BOOST_TEST(error(tests::tampering::wrong_centers).rms > 0.01);
  const auto exact = options_for(0);
  BOOST_TEST(
      tests::error_of(cases().tampered(cluster, exact, tests::tampering::lost_leaf), truth).most >
      100 * rounding<double>);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_same_bits_by_every_random_schedule) {
  const auto c = tests::make_cloud(shape::cube, 2'300);  // grids launch grids from 2,049 on
  const auto expected = gravity_of<double>(c, options_for(2));
  for (int seed = 0; seed < tests::random_schedules(); ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    const auto found = gravity_of<double>(c, options_for(2, 0, routes[seed % 2]));
    BOOST_TEST_CONTEXT("seed " << seed) { BOOST_TEST(same_bits(found, expected)); }
  }
  int piece = 0;
  for (const char* order : {"eager", "late", "parallel:7"}) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(order));
    for (const auto taken : routes) {
      if (tests::left_out(piece, 2)) continue;
      BOOST_TEST(same_bits(gravity_of<double>(c, options_for(2, 0, taken)), expected));
    }
  }
}

BOOST_DATA_TEST_CASE(the_same_bits_whatever_the_limit,
                     data::make({1, 2, 16, 2048}) * data::make(routes), pending_launches, taken) {
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

BOOST_DATA_TEST_CASE(leaves_of_any_size, data::make({1u, 2u, 8u, 100u, 1024u}), leaf_size) {
  for (const shape s : {shape::cube, shape::pairs, shape::line}) {
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(1'500, 150)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto exact = cases().with_leaf_size(c, options_for(0, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(exact, truth) < rounding<double>);
      const auto found = cases().with_leaf_size(c, options_for(0.4, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(found, truth) < 0.05);
    }
  }
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
  if (!on_cpu()) expect(bad_call::host_memory, "accelerations is ordinary host memory");

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
