// SPDX-License-Identifier: BSD-3-Clause
// Tests sorts of f64 keys, and of structs in an order of their own, without a second array.
#include <boost/test/unit_test.hpp>

#include "in_place_checks.cuh"

using common::distribution;
using tests::expect_sorted_in_place;
using tests::make_input;
using tests::many;

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(every_input_of_doubles) {
  for (const auto d : ramify::all_choices<distribution>()) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      expect_sorted_in_place(make_input<double>(d, many<double>(), 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(structs_in_an_order_of_their_own) {
  expect_sorted_in_place(
      make_input<tests::particle>(distribution::zipf, many<tests::particle>(), 3));
}

BOOST_AUTO_TEST_SUITE_END()
