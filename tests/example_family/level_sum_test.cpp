// SPDX-License-Identifier: BSD-3-Clause
// The example of a family, against std::accumulate.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/level_sum.cuh>
#include <vector>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace ramify;

namespace {

std::vector<std::uint64_t> numbers_up_to(std::size_t n) {
  std::vector<std::uint64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(level_sums)

BOOST_DATA_TEST_CASE(both_interfaces_give_the_sum_on_both_routes,
                     data::make({1, 2, 1024, 1025, 100'000}) *
                         data::make({route::device, route::flat}),
                     n, taken) {
  const auto numbers = numbers_up_to(std::size_t(n));
  const std::uint64_t expected = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  const environment env{.backend = tests::backend_under_test(), .route = taken};
  BOOST_TEST(level_sum(numbers, env).sum == expected);

  const auto device_numbers =
      tests::upload(std::vector<unsigned long long>(numbers.begin(), numbers.end()));
  const auto found = level_sum(device_numbers.data(), numbers.size(), env);
  BOOST_TEST(found.sum == expected);
  BOOST_TEST(found.report.taken == taken);
}

BOOST_AUTO_TEST_CASE(a_bad_size_is_refused) {
  BOOST_CHECK_THROW(static_cast<void>(level_sum(std::vector<std::uint64_t>{},
                                                {.backend = tests::backend_under_test()})),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
