// SPDX-License-Identifier: BSD-3-Clause
// The negative control of all tests of sorts: the oracle detects wrong results.
#include "sort_oracle.hpp"

#include <boost/test/unit_test.hpp>
#include <functional>

BOOST_AUTO_TEST_CASE(the_oracle_rejects_wrong_results) {
  const tests::sort_oracle<int, std::less<>> ints({3, 1, 2, 2});
  BOOST_TEST(ints.check({1, 2, 2, 3}) == "");
  BOOST_TEST(ints.check({1, 2, 3, 2}) != "");
  BOOST_TEST(ints.check({1, 2, 3}) != "");
  BOOST_TEST(ints.check<unsigned>({1, 2, 2, 3}, {1, 3, 2, 0}) == "");
  BOOST_TEST(ints.check<unsigned>({1, 2, 2, 3}, {1, 2, 2, 0}) != "");
  BOOST_TEST(ints.check<unsigned>({1, 2, 2, 3}, {0, 2, 3, 1}) != "");
  const tests::sort_oracle<double, std::less<>> doubles({0.0, 1.0});
  BOOST_TEST(doubles.check({-0.0, 1.0}) != "");
}
