// SPDX-License-Identifier: BSD-3-Clause
// Gravity by Barnes and Hut's tree code on the backend under test, against the sum of all pairs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "gravity_of.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::nbody_method;
using ramify::route;
using tests::cases;
using tests::cloud;
using tests::gravity_of;
using tests::options_for;
using tests::rounding;
using tests::same_bits;
using tests::shape;

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
      for (const auto method : {nbody_method::tree, nbody_method::direct}) {
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
  int piece = 0;
  for (const shape s : tests::all_shapes) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
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
  int piece = 0;
  for (const std::size_t n :
       {1u, 2u, 3u, 16u, 17u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1025u}) {
    if (tests::left_out_by_tsan(piece, 4)) continue;
    BOOST_TEST_CONTEXT(n << " bodies") {
      const auto c = tests::make_cloud(shape::cube, n);
      const auto truth = tests::sum_of_pairs(c, 0);
      auto options = options_for(0);
      const auto tree = gravity_of<double>(c, options);
      BOOST_TEST(tests::error_of(tree, truth).most < rounding<double>);
      BOOST_TEST(tree.report.interactions == n * (n - 1));
      BOOST_TEST(tree.report.bodies == n);
      options.method = nbody_method::direct;
      BOOST_TEST(tests::error_of(gravity_of<double>(c, options), truth).most < rounding<double>);
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

BOOST_AUTO_TEST_CASE(bodies_in_one_place) {
  constexpr std::size_t n = 1'000;
  cloud<double> heap;
  heap.positions.assign(n, {0.1, -7, 3e5});
  heap.masses.assign(n, 2);
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
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

BOOST_DATA_TEST_CASE(leaves_of_any_size, data::make({1u, 2u, 8u, 100u, 1024u}), leaf_size) {
  int piece = 0;
  for (const shape s : {shape::cube, shape::pairs, shape::line}) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
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

BOOST_AUTO_TEST_SUITE_END()
