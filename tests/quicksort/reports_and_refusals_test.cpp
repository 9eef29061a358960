// SPDX-License-Identifier: BSD-3-Clause
// What a quicksort tells of itself, and what it refuses.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <stdexcept>

#include "checks.hpp"
#include "exceptions.hpp"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::quicksort_strategy;
using ramify::route;
using tests::cases;
using tests::make_input;
using tests::names;
using tests::runs_on_cpu;
using tests::options_for;
using tests::routes;
using tests::several_leaves;
using tests::sorts;
using tests::strategies;

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(the_report_tells_the_route, data::make(strategies), strategy) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1).input();
  auto keys = input;
  const auto on_device = ramify::quicksort(std::span(keys), options_for(strategy, route::device));
  BOOST_TEST(on_device.taken == route::device);
  BOOST_TEST(on_device.route_reason == "asked for");
  BOOST_TEST(on_device.child_grids > 0u);
  BOOST_TEST(on_device.host_grids <= 4u);
  BOOST_TEST(on_device.peak_slots > 0u);
  BOOST_TEST(on_device.ran_on == tests::backend_under_test());

  keys = input;
  const auto flat = ramify::quicksort(std::span(keys), options_for(strategy, route::flat));
  BOOST_TEST(flat.taken == route::flat);
  BOOST_TEST(flat.child_grids == 0u);
  BOOST_TEST(flat.host_grids > 2u);
  BOOST_TEST(flat.scratch_bytes ==
             cases().scratch_bytes(input.size(), options_for(strategy, route::flat)));

  keys = input;
  const auto chosen = ramify::quicksort(std::span(keys), options_for(strategy, route::automatic));
  if (tests::runs_on_cpu()) {
    BOOST_TEST(chosen.route_reason == "as quick as flat on the CPU executor");
  } else {  // by what was measured
    BOOST_TEST(chosen.route_reason.find("flat: about ") == 0u);
  }
  BOOST_TEST((chosen.child_grids > 0) == (chosen.taken == route::device));
}

BOOST_DATA_TEST_CASE(the_report_tells_where_the_time_went, data::make(routes), taken) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1);
  auto keys = input.input();
  const auto options = options_for(quicksort_strategy::sample_sort, taken);
  const tests::copied both{!runs_on_cpu(), !runs_on_cpu()};
  BOOST_TEST(tests::check_times(ramify::quicksort(std::span(keys), options), both) == "");
  auto values = tests::count_up<std::uint32_t>(keys.size());
  const auto of_pairs = ramify::quicksort_pairs(std::span(keys), std::span(values), options);
  BOOST_TEST(tests::check_times(of_pairs, both) == "");

  std::ostringstream printed;
  printed << of_pairs;
  BOOST_TEST((printed.str().find("\nmilliseconds of work: ") != std::string::npos));
  // The header door looks at no clock, and says nothing about time.
  std::vector<tests::particle> particles(1'000);
  const auto of_header = sorts<tests::particle>::keys(particles, options);
  BOOST_TEST(of_header.total_ms == 0);
  BOOST_TEST(tests::check_times(of_header, {false, false}) == "no work");
  printed.str("");
  printed << of_header;
  BOOST_TEST((printed.str().find("milliseconds") == std::string::npos));
}

BOOST_DATA_TEST_CASE(scratch_is_little_more_than_the_keys, data::make(strategies), strategy) {
  const std::size_t n = std::size_t{1} << 28;
  const std::size_t bytes = cases().scratch_bytes(n, options_for(strategy, route::device));
  BOOST_TEST(bytes >= n * 4);
  // Beside a second copy, sample_sort has a byte a key.
  const double copies = strategy == quicksort_strategy::sample_sort ? 1.25 : 1.0;
  BOOST_TEST(double(bytes) <= (copies + 0.15) * double(n) * 4);
}

BOOST_AUTO_TEST_CASE(recommended_limits_follow_the_strategy) {
  const auto sample_sort = options_for(quicksort_strategy::sample_sort, route::device);
  const auto binary = options_for(quicksort_strategy::binary, route::device);
  BOOST_TEST(cases().recommended_pending_launches(1'000'000'000, sample_sort) == 2048u);
  BOOST_TEST(cases().recommended_pending_launches(1'000, binary) == 2048u);
  BOOST_TEST(cases().recommended_pending_launches(100'000'000, binary) > 2048u);
  BOOST_TEST(cases().recommended_pending_launches(100'000'000'000, binary) == 65'536u);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  using tests::bad_argument;
  const auto expect = [&](bad_argument argument, const char* what) {
    BOOST_CHECK_EXCEPTION(cases().provoke(argument), std::invalid_argument, names(what));
  };
  expect(bad_argument::null_keys, "keys is null");
  expect(bad_argument::null_values, "values is null");
  expect(bad_argument::overlap, "keys and values overlap");
  expect(bad_argument::scratch_too_small, "scratch.bytes is 300");
  expect(bad_argument::scratch_misaligned, "scratch.data must be aligned");
  expect(bad_argument::depth_limit, "depth_limit is 256");
  if (!runs_on_cpu()) expect(bad_argument::host_memory, "keys is ordinary host memory");

  std::vector<int> three(3);
  std::vector<std::uint32_t> two(2);
  BOOST_CHECK_EXCEPTION(ramify::quicksort_pairs(std::span(three), std::span(two)),
                        std::invalid_argument, names("3 keys, but 2 values"));
  std::vector<std::uint32_t> both(10);
  BOOST_CHECK_EXCEPTION(
      ramify::quicksort_pairs(std::span(both).first(6), std::span(both).last(6),
                              options_for(quicksort_strategy::sample_sort, route::automatic)),
      std::invalid_argument, names("keys and values overlap"));
  auto options = options_for(quicksort_strategy::sample_sort, route::device);
  options.strategy = static_cast<quicksort_strategy>(7);
  BOOST_CHECK_EXCEPTION(ramify::quicksort(std::span(three), options), std::invalid_argument,
                        names("strategy"));
  options = {};
  options.launches.coarsening = 0;
  BOOST_CHECK_EXCEPTION(ramify::quicksort(std::span(three), options), std::invalid_argument,
                        names("quicksort_config.launches.coarsening is 0"));
}

BOOST_AUTO_TEST_CASE(names_of_strategies_are_read_back) {
  for (const auto s : strategies) {
    BOOST_TEST((ramify::parse_quicksort_strategy(ramify::to_string(s)) == s));
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_quicksort_strategy("bubble")),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
