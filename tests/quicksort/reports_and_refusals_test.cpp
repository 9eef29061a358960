// SPDX-License-Identifier: BSD-3-Clause
// The report of a quicksort, and the arguments that it rejects.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <stdexcept>

#include "exceptions.hpp"
#include "quicksort_checks.cuh"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::quicksort_strategy;
using ramify::route;
using tests::make_input;
using tests::names;
using tests::options_for;
using tests::routes;
using tests::runs_on_cpu;
using tests::several_leaves;
using tests::strategies;

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(the_report_states_the_route, data::make(strategies), strategy) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1).input();
  auto keys = input;
  const auto on_device = ramify::quicksort(std::span(keys), options_for(strategy, route::device));
  BOOST_TEST(on_device.taken == route::device);
  BOOST_TEST(on_device.route_reason == "requested");
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
             tests::scratch_bytes(input.size(), options_for(strategy, route::flat)));

  keys = input;
  const auto chosen = ramify::quicksort(std::span(keys), options_for(strategy, route::automatic));
  if (tests::runs_on_cpu()) {
    BOOST_TEST(chosen.route_reason == "as quick as flat on the CPU executor");
  } else {  // the reason states measured launch costs
    BOOST_TEST(chosen.route_reason.find("flat: about ") == 0u);
  }
  BOOST_TEST((chosen.child_grids > 0) == (chosen.taken == route::device));
}

BOOST_DATA_TEST_CASE(one_grid_sorts_few_keys, data::make(routes), taken) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, 1000, 1);
  auto keys = input.input();
  const auto report =
      ramify::quicksort(std::span(keys), options_for(quicksort_strategy::sample_sort, taken));
  BOOST_TEST(report.host_grids == 1u);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(std::is_sorted(keys.begin(), keys.end()));
  keys = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1).input();
  const auto more =
      ramify::quicksort(std::span(keys), options_for(quicksort_strategy::sample_sort, taken));
  BOOST_TEST(more.host_grids > 1u);
}

BOOST_DATA_TEST_CASE(the_report_states_the_times, data::make(routes), taken) {
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
  // The header templates measure no times, and their report prints none.
  std::vector<tests::particle> particles(1'000);
  const auto of_header = tests::sort_keys(particles, options);
  BOOST_TEST(of_header.total_ms == 0);
  BOOST_TEST(tests::check_times(of_header, {false, false}) == "no work");
  printed.str("");
  printed << of_header;
  BOOST_TEST((printed.str().find("milliseconds") == std::string::npos));
}

BOOST_DATA_TEST_CASE(scratch_is_little_larger_than_the_keys, data::make(strategies), strategy) {
  const std::size_t n = std::size_t{1} << 28;
  const std::size_t bytes = tests::scratch_bytes(n, options_for(strategy, route::device));
  BOOST_TEST(bytes >= n * 4);
  // In addition to a second copy, sample_sort needs one byte per key.
  const double copies = strategy == quicksort_strategy::sample_sort ? 1.25 : 1.0;
  BOOST_TEST(double(bytes) <= (copies + 0.15) * double(n) * 4);
}

BOOST_AUTO_TEST_CASE(the_facade_sorts_any_contiguous_range) {
  const auto options = options_for(quicksort_strategy::sample_sort, route::automatic);
  const auto expect = [&](auto&& range) {
    BOOST_TEST(ramify::quicksort(range, options).keys == 4u);
    BOOST_TEST(std::ranges::is_sorted(range));
    BOOST_TEST(std::ranges::max(range) > 2);
  };
  expect(std::vector{3.f, -1.f, 4.f, 1.f});
  expect(std::array{3, -1, 4, 1});
  int c_array[] = {3, -1, 4, 1};
  expect(c_array);
  int other[] = {3, -1, 4, 1};
  expect(std::span(other));  // of fixed extent
  // One of these 64-bit types is not std::int64_t. High bits show the sign and the width.
  expect(std::vector<long long>{3ll << 40, -(1ll << 40), 4, 1});
  expect(std::vector<long>{3, -1, 4, 1});
  expect(std::vector<unsigned long long>{3, ~0ull, 4, 1});
  expect(std::vector<unsigned long>{3, ~0ul, 4, 1});

  std::vector<long long> keys{3, -1, 4, 1};
  std::array<unsigned long long, 4> values{0, 1, 2, 3};
  BOOST_TEST(ramify::quicksort_pairs(keys, values, options).keys == 4u);
  BOOST_TEST((keys == std::vector<long long>{-1, 1, 3, 4}));
  BOOST_TEST((values == std::array<unsigned long long, 4>{1, 3, 0, 2}));
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_facade_are_named) {
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
  options.flat_loop = static_cast<ramify::flat_loop>(7);
  BOOST_CHECK_EXCEPTION(ramify::quicksort(std::span(three), options), std::invalid_argument,
                        names("quicksort_config.flat_loop"));
  options = {};
  options.launches.coarsening = 0;
  BOOST_CHECK_EXCEPTION(ramify::quicksort(std::span(three), options), std::invalid_argument,
                        names("quicksort_config.launches.coarsening is 0"));
}

BOOST_AUTO_TEST_CASE(names_of_strategies_are_parsed) {
  for (const auto s : strategies) {
    BOOST_TEST((ramify::parse_quicksort_strategy(ramify::to_string(s)) == s));
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_quicksort_strategy("bubble")),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
