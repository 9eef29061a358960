// SPDX-License-Identifier: BSD-3-Clause
// The closed forms of Genz's functions, because other tests compare with them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ramify/quadrature/genz.cuh>
#include <vector>

#include "quadrature_checks.cuh"

using namespace tests;

BOOST_AUTO_TEST_SUITE(quadratures)

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

BOOST_AUTO_TEST_SUITE_END()
