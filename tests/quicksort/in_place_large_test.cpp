// SPDX-License-Identifier: BSD-3-Clause
// Tests sorts of large elements without a second array.
#include <boost/test/unit_test.hpp>

#include "in_place_checks.cuh"

using common::distribution;
using tests::expect_sorted_in_place;
using tests::make_input;
using tests::many;

BOOST_AUTO_TEST_SUITE(in_place)

BOOST_AUTO_TEST_CASE(elements_of_100_and_of_1024_bytes) {
  expect_sorted_in_place(
      make_input<tests::record>(distribution::uniform, many<tests::record>(), 4));
  expect_sorted_in_place(
      make_input<tests::page>(distribution::few_distinct, many<tests::page>(), 5));
}

BOOST_AUTO_TEST_SUITE_END()
