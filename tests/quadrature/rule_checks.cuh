// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the rules of quadrature(): their mean values of monomials over [-1, 1]^d.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <ramify/quadrature/rules.cuh>
#include <ramify/runtime/launch.cuh>
#include <vector>

#include "device_vectors.cuh"
#include "quadrature_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

/// Mean values by the rule of high degree and by the embedded rules, in the order of their degrees.
struct rule_means {
  double of[4];
};

/// Computes the mean value of monomial number threadIdx.x by each rule.
template <unsigned d>
__global__ void sum_rules(const monomial<d>* monomials, rule_means* means) {
  using rule = ramify::detail::quadrature::cubature_rule<d>;
  const monomial<d> f = monomials[threadIdx.x];
  double* sums = means[threadIdx.x].of;
  double axis_values[rule::axis_points];
  for (unsigned k = 0; k < rule::points; ++k) {
    const double value = f(rule::point(k));
    if (k < rule::axis_points) axis_values[k] = value;
    const auto w = rule::weights_of(k);
    sums[0] += w.high * value;
    sums[1] += w.low * value;
    sums[2] += w.third * value;
  }
  if constexpr (rule::has_third) sums[3] = rule::of_degree_3(axis_values);
}

/// Returns the monomial with these exponents on the axes `shift`, `shift` + 1 ... of d axes, in
/// cyclic order.
template <unsigned d>
monomial<d> shifted(const std::vector<int>& exponents, unsigned shift) {
  monomial<d> f{};
  for (std::size_t i = 0; i < exponents.size(); ++i) f.exponents[(shift + i) % d] = exponents[i];
  return f;
}

/// Checks that rule number i integrates all monomials up to degrees[i], and not all of the next
/// even degree: in one of them its error exceeds `least`. `exponents` has those of the monomials.
/// All rules are symmetric in the axes; each monomial is integrated on all axes in cyclic order.
template <unsigned d>
void expect_degrees(const std::vector<int>& degrees, double least,
                    const std::vector<std::vector<int>>& exponents) {
  std::vector<monomial<d>> monomials;
  for (const auto& e : exponents) {
    if (e.size() > d) continue;
    for (unsigned shift = 0; shift < d; ++shift) monomials.push_back(shifted<d>(e, shift));
  }
  const auto on_device = upload(monomials);
  const auto means = zeros<rule_means>(monomials.size());
  check(ramify::launch(sum_rules<d>, {1, unsigned(monomials.size())}, nullptr, on_device.data(),
                       means.data())
            .code(),
        "launching sum_rules");
  const auto found = download(means);
  ramify::quadrature_box<d> cube{};
  std::fill(cube.low, cube.low + d, -1.0);
  std::fill(cube.high, cube.high + d, 1.0);
  for (std::size_t rule = 0; rule < degrees.size(); ++rule) {
    double beyond = 0;  // the largest error in the next even degree
    for (std::size_t i = 0; i < monomials.size(); ++i) {
      const auto& f = monomials[i];
      const int degree = std::accumulate(f.exponents, f.exponents + d, 0);
      const double error = std::fabs(found[i].of[rule] - f.integral(cube) / (1u << d));
      if (degree == degrees[rule] + 1) beyond = std::fmax(beyond, error);
      if (degree > degrees[rule]) continue;
      BOOST_TEST_CONTEXT("rule " << rule << " in " << d << " dimensions, monomial " << i) {
        BOOST_TEST(error < 1e-13);
      }
    }
    BOOST_TEST(beyond > least);
  }
}

}  // namespace tests::inline RAMIFY_BUILD
