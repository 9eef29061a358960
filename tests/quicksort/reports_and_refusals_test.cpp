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
using ramify::environment;
using ramify::quicksort_strategy;
using ramify::route;
using ramify::sort_order;
using tests::call_for;
using tests::make_input;
using tests::names;
using tests::routes;
using tests::runs_on_cpu;
using tests::several_leaves;
using tests::strategies;

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(the_report_states_the_route, data::make(strategies), strategy) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1).input();
  auto keys = input;
  const auto on_device = tests::sort_keys(keys, call_for(strategy, route::device));
  BOOST_TEST(on_device.taken == route::device);
  BOOST_TEST(on_device.route_reason == "requested");
  BOOST_TEST(on_device.child_grids > 0u);
  BOOST_TEST(on_device.host_grids <= 4u);
  BOOST_TEST(on_device.peak_slots > 0u);
  BOOST_TEST(on_device.ran_on == tests::backend_under_test());

  keys = input;
  const auto flat = tests::sort_keys(keys, call_for(strategy, route::flat));
  BOOST_TEST(flat.taken == route::flat);
  BOOST_TEST(flat.child_grids == 0u);
  BOOST_TEST(flat.host_grids > 2u);
  BOOST_TEST(flat.scratch_bytes == tests::scratch_bytes(input.size(), {.strategy = strategy}));

  keys = input;
  const auto chosen = tests::sort_keys(keys, call_for(strategy, route::automatic));
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
  const auto report = tests::sort_keys(keys, call_for(quicksort_strategy::sample_sort, taken));
  BOOST_TEST(report.host_grids == 1u);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(std::is_sorted(keys.begin(), keys.end()));
  keys = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1).input();
  const auto more = tests::sort_keys(keys, call_for(quicksort_strategy::sample_sort, taken));
  BOOST_TEST(more.host_grids > 1u);
}

BOOST_DATA_TEST_CASE(the_report_states_the_times, data::make(routes), taken) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1);
  auto keys = input.input();
  const auto call = call_for(quicksort_strategy::sample_sort, taken);
  const tests::copied both{!runs_on_cpu(), !runs_on_cpu()};
  BOOST_TEST(tests::check_times(tests::sort_keys(keys, call), both) == "");
  auto values = tests::count_up<std::uint32_t>(keys.size());
  const auto of_pairs = tests::sort_pairs(keys, values, call);
  BOOST_TEST(tests::check_times(of_pairs, both) == "");

  std::ostringstream printed;
  printed << of_pairs;
  BOOST_TEST((printed.str().find("\nmilliseconds of work: ") != std::string::npos));
  // The header templates measure no times, and their report prints none.
  std::vector<tests::particle> particles(1'000);
  const auto of_header = tests::sort_keys(particles, call);
  BOOST_TEST(of_header.total_ms == 0);
  BOOST_TEST(tests::check_times(of_header, {false, false}) == "no work");
  printed.str("");
  printed << of_header;
  BOOST_TEST((printed.str().find("milliseconds") == std::string::npos));
}

BOOST_DATA_TEST_CASE(scratch_is_little_larger_than_the_keys, data::make(strategies), strategy) {
  const std::size_t n = std::size_t{1} << 28;
  const std::size_t bytes = tests::scratch_bytes(n, {.strategy = strategy});
  BOOST_TEST(bytes >= n * 4);
  // In addition to a second copy, sample_sort needs one byte per key.
  const double copies = strategy == quicksort_strategy::sample_sort ? 1.25 : 1.0;
  BOOST_TEST(double(bytes) <= (copies + 0.15) * double(n) * 4);
}

BOOST_AUTO_TEST_CASE(the_facade_sorts_any_contiguous_range) {
  const environment env{.backend = tests::backend_under_test()};
  const auto expect = [&](auto&& range) {
    BOOST_TEST(ramify::quicksort(range, sort_order::ascending, env).keys == 4u);
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
  BOOST_TEST(ramify::quicksort_pairs(keys, values, call).keys == 4u);
  BOOST_TEST((keys == std::vector<long long>{-1, 1, 3, 4}));
  BOOST_TEST((values == std::array<unsigned long long, 4>{1, 3, 0, 2}));
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_the_facade_are_named) {
  std::vector<int> three(3);
  std::vector<std::uint32_t> two(2);
  BOOST_CHECK_EXCEPTION(ramify::quicksort_pairs(std::span(three), std::span(two)),
                        std::invalid_argument, names("3 keys, but 2 values"));
  std::vector<std::uint32_t> both(10);
  BOOST_CHECK_EXCEPTION(ramify::quicksort_pairs(std::span(both).first(6), std::span(both).last(6)),
                        std::invalid_argument, names("keys and values overlap"));
  const auto expect = [&](const ramify::quicksort_options& options, const char* what) {
    BOOST_CHECK_EXCEPTION(ramify::quicksort(three, sort_order::ascending, options,
                                            {.backend = tests::backend_under_test()}),
                          std::invalid_argument, names(what));
  };
  expect({.strategy = quicksort_strategy{7}}, "quicksort_options.strategy");
  expect({.launches = {.coarsening = 0}}, "quicksort_options.launches.coarsening is 0");
  expect({.temporary = reinterpret_cast<void*>(8)}, "quicksort_options.temporary must be aligned");
  expect({.temporary = reinterpret_cast<void*>(256)}, "quicksort_options.temporary must be null");
  BOOST_CHECK_EXCEPTION(ramify::quicksort(three, sort_order{7}), std::invalid_argument,
                        names("quicksort: order is none of the enumerators"));
  BOOST_CHECK_EXCEPTION(
      ramify::quicksort(three, sort_order::ascending, {.flat_loop = ramify::flat_loop{7}}),
      std::invalid_argument, names("environment.flat_loop"));
}

BOOST_AUTO_TEST_CASE(names_of_orders_are_parsed) {
  for (const auto o : ramify::all_choices<sort_order>()) {
    BOOST_TEST((ramify::parse_sort_order(ramify::to_string(o)) == o));
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_sort_order("up")), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(names_of_strategies_are_parsed) {
  for (const auto s : strategies) {
    BOOST_TEST((ramify::parse_quicksort_strategy(ramify::to_string(s)) == s));
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_quicksort_strategy("bubble")),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
