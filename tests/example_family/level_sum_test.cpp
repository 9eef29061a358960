// SPDX-License-Identifier: BSD-3-Clause
// The example of a family, against std::accumulate.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <ramify/level_sum.cuh>
#include <string>
#include <vector>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace ramify;

namespace {

/// Small tiles, so that few numbers take several levels.
constexpr level_sum_options small_tiles{.tile = 16};

std::vector<std::uint64_t> numbers_up_to(std::size_t n) {
  std::vector<std::uint64_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  return numbers;
}

/// Sums 1, 2, ... n, and checks the sum, the count of grids and the launch slots.
level_sum_report sum_and_check(std::size_t n, const level_sum_options& options,
                               const environment& env) {
  const auto numbers = numbers_up_to(n);
  const auto device_numbers =
      upload(std::vector<unsigned long long>(numbers.begin(), numbers.end()));
  return with_grids_counted([&] {
    const auto found = level_sum(device_numbers.data(), n, options, env);
    BOOST_TEST(found.sum == std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}));
    return found.report;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(level_sums)

BOOST_DATA_TEST_CASE(both_interfaces_give_the_sum_on_both_routes,
                     data::make({1, 2, 1024, 1025, 100'000}) * data::make(routes), n, taken) {
  const auto size = std::size_t(n);
  const environment env = environment_on(taken);
  const auto report = sum_and_check(size, {}, env);
  BOOST_TEST(report.taken == taken);
  BOOST_TEST(report.levels == (n <= 1024 ? 1u : 2u));
  // Each level and one driver. Without end_round() the driver would launch each level.
  if (taken == route::device) BOOST_TEST(report.child_grids == report.levels + 1);
  BOOST_TEST(level_sum(numbers_up_to(size), env).sum == size * (size + 1) / 2);
}

BOOST_DATA_TEST_CASE(every_limit_of_pending_launches_suffices,
                     data::make({1, 16, 32, 2048}) * data::make(routes), limit, taken) {
  const auto report = sum_and_check(5'000, small_tiles, environment_on(taken, std::size_t(limit)));
  expect_route(report.taken, taken, std::size_t(limit));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_each_failed_launch) {
  const environment env = environment_on(route::device);
  const auto undisturbed = sum_and_check(5'000, small_tiles, env);
  const unsigned interrupted = count_interrupted(
      undisturbed.child_grids, cpu::current_executor_config(), [&](std::uint64_t) {
        return sum_and_check(5'000, small_tiles, env).host_grids > undisturbed.host_grids;
      });
  BOOST_TEST(interrupted >= 2u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (int seed = 0; seed < random_schedules(); ++seed) {
    const cpu::scoped_executor_config schedule(
        cpu::parse_executor_config("random:" + std::to_string(seed)));
    for (const route taken : routes) sum_and_check(5'000, small_tiles, environment_on(taken));
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto before = cpu::grids_begun();
  BOOST_CHECK_EXCEPTION((void)level_sum(std::vector<std::uint64_t>{}, environment_on()),
                        std::invalid_argument, names("level_sum: n is 0; it must be in [1, 2^31)"));
  BOOST_CHECK_EXCEPTION((void)level_sum(numbers_up_to(3), {.tile = 1}, environment_on()),
                        std::invalid_argument, names("level_sum_options.tile is 1; it must be in"));
  BOOST_TEST(cpu::grids_begun() == before);
}

BOOST_AUTO_TEST_SUITE_END()
