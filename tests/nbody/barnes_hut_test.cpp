// SPDX-License-Identifier: BSD-3-Clause
// Gravity by Barnes and Hut's tree code, compared with the sum over all pairs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::route;
using tests::cloud;
using tests::cube_and_probes;
using tests::device_cloud;
using tests::environment_for;
using tests::error_of_probes;
using tests::field;
using tests::gravity_of;
using tests::options_for;
using tests::options_of_order;
using tests::options_of_tolerance;
using tests::probe_error;
using tests::rounded;
using tests::rounding;
using tests::same_bits;
using tests::shape;

namespace {

field<double> with_leaf_size(const cloud<double>& from, nbody_options options, unsigned leaf_size) {
  const device_cloud<double> c(from);
  options.leaf_size = leaf_size;
  ramify::barnes_hut<double> gravity(options);
  return c.result(c.calculate(gravity));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(barnes_hut)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(the_error_falls_with_theta, data::make({1, 2}), order) {
  for (const double softening : {0.0, 0.05}) {
    const auto cluster = tests::plummer_cloud(std::size_t(tests::sampled(4'000, 1'500, 1'000)));
    const auto truth = tests::sum_of_pairs(cluster, softening);
    double last = 1;
    for (const double theta : {2.0, 0.9, 0.7, 0.5, 0.3, 0.15}) {
      const auto found = gravity_of<double>(cluster, options_of_order(order, theta, softening));
      const auto error = tests::error_of(found, truth);
      const auto in_float = tests::error_of(
          gravity_of<float>(cluster, options_of_order(order, theta, softening)), truth);
      BOOST_TEST_MESSAGE("order " << order << ", theta " << theta << ", softening " << softening
                                  << ": rms " << error.rms << ", max " << error.max
                                  << ", of a potential " << error.potential << "; float rms "
                                  << in_float.rms << "; interactions "
                                  << found.report.interactions);
      BOOST_TEST(error.rms < last);
      BOOST_TEST(error.rms < (order == 1 ? 0.1 : 0.03) * theta * theta);
      BOOST_TEST(error.potential < (order == 1 ? 0.05 : 0.01) * theta * theta);
      BOOST_TEST(in_float.rms < 1.05 * error.rms + rounding<float>);
      if (theta == 0.5) {
        BOOST_TEST(error.rms < 0.01);
        BOOST_TEST(error.max < 0.1);
      }
      last = error.rms;
    }
  }
}

BOOST_DATA_TEST_CASE(the_error_of_a_node_falls_with_its_distance, data::make({1, 2}), order) {
  // The first term that the node leaves out falls with the power order + 1 of the distance.
  for (const double softening : {0.0, 0.5}) {
    probe_error last;
    for (const double distance : {4.0, 8.0, 16.0, 32.0}) {
      const auto c = cube_and_probes(distance);
      const auto found = gravity_of<double>(c, options_of_order(order, 2, softening));
      const auto error = error_of_probes(found, tests::sum_of_pairs(c, softening));
      BOOST_TEST_MESSAGE("order " << order << ", distance " << distance << ", softening "
                                  << softening << ": " << error.acceleration << ", potential "
                                  << error.potential);
      if (distance > 8) {
        const auto falls = boost::test_tools::tolerance(0.3);
        BOOST_TEST(last.acceleration / error.acceleration == std::pow(2, order + 1), falls);
        BOOST_TEST(last.potential / error.potential == std::pow(2, order + 1), falls);
      }
      last = error;
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(the_error_is_within_the_tolerance, data::make({1, 2}), order) {
  for (const bool is_plummer : {true, false}) {
    const auto n = std::size_t(tests::sampled(6'000, 3'000, 1'000));
    const auto c = is_plummer ? tests::plummer_cloud(n) : tests::make_cloud(shape::cube, n);
    const auto truth = tests::sum_of_pairs(c, 0);
    std::uint64_t last = n * (n - 1) + 1;
    for (const double tolerance : {1e-3, 0.01, 0.1, 1.0}) {
      const auto found = gravity_of<double>(c, options_of_tolerance(order, tolerance));
      const double error = 100 * tests::error_of(found, truth).rms;
      BOOST_TEST_MESSAGE((is_plummer ? "Plummer" : "cube")
                         << ", order " << order << ", tolerance " << tolerance << " %: " << error
                         << " %, interactions " << found.report.interactions);
      BOOST_TEST(error < tolerance);
      BOOST_TEST(found.report.interactions < last);
      last = found.report.interactions;
      const auto in_float = gravity_of<float>(c, options_of_tolerance(order, tolerance));
      BOOST_TEST(100 * tests::error_of(in_float, truth).rms < tolerance + 100 * rounding<float>);
    }
  }
}

BOOST_AUTO_TEST_CASE(units_do_not_matter) {
  // Powers of two scale every intermediate result exactly.
  const auto c = rounded<float>(tests::make_cloud(shape::cube, 700));
  constexpr float length = 0x1p30f;
  constexpr float mass = 0x1p-20f;
  auto scaled = tests::make_cloud(shape::cube, 700);
  for (std::size_t i = 0; i < 700; ++i) {
    for (std::size_t k = 0; k < 3; ++k) scaled.positions[i][k] = c.positions[i][k] * length;
    scaled.masses[i] = c.masses[i] * mass;
  }
  for (const int order : {1, 2}) {
    const auto plain =
        gravity_of<float>(tests::make_cloud(shape::cube, 700), options_of_order(order, 1));
    const auto found = gravity_of<float>(scaled, options_of_order(order, 1));
    for (std::size_t i = 0; i < 700; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_REQUIRE(found.accelerations[i][k] * (length / mass) * length ==
                      plain.accelerations[i][k]);
      }
      BOOST_REQUIRE(found.potentials[i] * (length / mass) == plain.potentials[i]);
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
      for (const auto method : {nbody_method::tree, nbody_method::direct}) {
        options.method = method;
        const auto found = gravity_of<double>(c, options);
        // In these shapes, rounding the coordinates to float changes the forces.
        const bool survives_rounding = s != shape::far_away && s != shape::two_clusters;
        const auto error = tests::error_of(found, truth);
        BOOST_TEST(error.max < rounding<double>);
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
  int piece = 0;
  for (const shape s : tests::all_shapes) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(2'500, 600)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto found =
          gravity_of<double>(c, options_for(0.5, 0.01), environment_for(route::device));
      // Where forces cancel, as inside a shell, the error is large relative to their sum. On a
      // line, the errors of near nodes have the same sign and add up.
      const double bound = s == shape::line || s == shape::diagonal ? 0.1 : 0.01;
      BOOST_TEST(tests::total_error(found, truth) < bound);
      BOOST_TEST(tests::error_of(found, truth).potential < bound);
      BOOST_TEST(tests::total_error(gravity_of<double>(c, options_for(0.1, 0.01)), truth) < 0.005);
      const auto flat = gravity_of<double>(c, options_for(0.5, 0.01), environment_for(route::flat));
      BOOST_TEST((flat.report.taken == route::flat));
      BOOST_TEST(flat.report.child_grids == 0u);
      BOOST_TEST(same_bits(found, flat));
      const auto with_tolerance = options_of_tolerance(1, 0.3, 0.01);
      const auto tolerant = gravity_of<double>(c, with_tolerance, environment_for(route::device));
      BOOST_TEST(
          same_bits(tolerant, gravity_of<double>(c, with_tolerance, environment_for(route::flat))));
      BOOST_TEST(tests::total_error(tolerant, truth) < bound);
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_around_a_warp_and_a_block) {
  int piece = 0;
  for (const std::size_t n :
       {1u, 2u, 3u, 16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1025u}) {
    if (tests::left_out_by_tsan(piece, 4)) continue;
    BOOST_TEST_CONTEXT(n << " bodies") {
      const auto c = tests::make_cloud(shape::cube, n);
      const auto truth = tests::sum_of_pairs(c, 0);
      auto options = options_for(0);
      const auto tree = gravity_of<double>(c, options);
      BOOST_TEST(tests::error_of(tree, truth).max < rounding<double>);
      BOOST_TEST(tree.report.interactions == n * (n - 1));
      BOOST_TEST(tree.report.bodies == n);
      options.method = nbody_method::direct;
      BOOST_TEST(tests::error_of(gravity_of<double>(c, options), truth).max < rounding<double>);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_bodies) {
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto found = gravity_of<float>({}, options);
    BOOST_TEST(found.report.host_grids == 0u);
    BOOST_TEST(found.report.interactions == 0u);
  }
}

BOOST_AUTO_TEST_CASE(coincident_bodies) {
  constexpr std::size_t n = 1'000;
  cloud<double> coincident;
  coincident.positions.assign(n, {0.1, -7, 3e5});
  coincident.masses.assign(n, 2);
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    auto options = options_for(0.5);
    options.method = method;
    const auto unsoftened = gravity_of<double>(coincident, options);
    options.softening = 0.5;
    const auto softened = gravity_of<double>(coincident, options);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        BOOST_REQUIRE(unsoftened.accelerations[i][k] == 0);
        BOOST_REQUIRE(softened.accelerations[i][k] == 0);
      }
      BOOST_REQUIRE(unsoftened.potentials[i] == 0);
      BOOST_REQUIRE(std::abs(softened.potentials[i] + 2 * (n - 1) / 0.5) < 1e-6);
    }
  }
  // The squared distance of the first two bodies underflows.
  const cloud<double> close{{{0, 0, 0}, {1e-30, 0, 0}, {1, 0, 0}}, {1, 1, 1}};
  const auto in_float = gravity_of<float>(close, options_for(0.5));
  const auto tolerance = boost::test_tools::tolerance(1e-5f);
  BOOST_TEST(in_float.accelerations[0][0] == 1.0f, tolerance);
  BOOST_TEST(in_float.accelerations[2][0] == -2.0f, tolerance);
  // The cube of this distance underflows, but the force does not.
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
  const auto zero = gravity_of<double>(c, options_for(0.5));
  for (const auto& a : zero.accelerations) BOOST_REQUIRE((a == tests::vector3{}));
}

BOOST_DATA_TEST_CASE(leaves_of_any_size, data::make({1u, 2u, 8u, 100u, 1024u}), leaf_size) {
  int piece = 0;
  for (const shape s : {shape::cube, shape::pairs, shape::line}) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    BOOST_TEST_CONTEXT(to_string(s)) {
      const auto c = tests::make_cloud(s, std::size_t(tests::cut_down(1'500, 150)));
      const auto truth = tests::sum_of_pairs(c, 0.01);
      const auto exact = with_leaf_size(c, options_for(0, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(exact, truth) < rounding<double>);
      const auto found = with_leaf_size(c, options_for(0.4, 0.01), leaf_size);
      BOOST_TEST(tests::total_error(found, truth) < 0.05);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
