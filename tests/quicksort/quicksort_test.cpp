// SPDX-License-Identifier: BSD-3-Clause
// Quicksort on the backend under test: every type, input, strategy and route against std::sort.
#include <boost/mpl/list.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "distributions.hpp"
#include "exceptions.hpp"
#include "printing.hpp"
#include "sort_oracle.hpp"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::granularity;
using ramify::quicksort_options;
using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;
using tests::names;
using tests::on_cpu;

namespace {

constexpr quicksort_strategy strategies[] = {quicksort_strategy::multiway,
                                             quicksort_strategy::binary};
constexpr route routes[] = {route::device, route::flat};
constexpr granularity grains[] = {granularity::per_task, granularity::per_block,
                                  granularity::per_grid};

const tests::quicksort_cases& cases() {
  return on_cpu() ? *tests::quicksort_cases_on_cpu() : *tests::quicksort_cases_on_cuda();
}

quicksort_options options_for(quicksort_strategy strategy, route taken) {
  quicksort_options options;
  options.backend = tests::backend_under_test();
  options.strategy = strategy;
  options.route = taken;
  return options;
}

/// How a key type is sorted: the facade for those that it has, else the header template.
template <class Key>
struct sorts {
  static quicksort_report keys(std::vector<Key>& k, const quicksort_options& o) {
    return ramify::quicksort(std::span(k), o);
  }
  static quicksort_report pairs(std::vector<Key>& k, std::vector<std::uint32_t>& v,
                                const quicksort_options& o) {
    return ramify::quicksort_pairs(std::span(k), std::span(v), o);
  }
  static std::vector<std::size_t> interesting_sizes() {
    return sizeof(Key) == 4 ? cases().sizes_of_words : cases().sizes_of_double_words;
  }
};

template <class Key, tests::custom_sorts<Key> tests::quicksort_cases::*member>
struct custom {
  static quicksort_report keys(std::vector<Key>& k, const quicksort_options& o) {
    return (cases().*member).keys(k, o);
  }
  static quicksort_report pairs(std::vector<Key>& k, std::vector<std::uint32_t>& v,
                                const quicksort_options& o) {
    return (cases().*member).pairs(k, v, o);
  }
  static std::vector<std::size_t> interesting_sizes() {
    return (cases().*member).interesting_sizes;
  }
};
template <>
struct sorts<tests::particle> : custom<tests::particle, &tests::quicksort_cases::particles> {};
template <>
struct sorts<tests::record> : custom<tests::record, &tests::quicksort_cases::records> {};

template <>
struct sorts<tests::page> : custom<tests::page, &tests::quicksort_cases::pages> {};

template <class Key>
using oracle = tests::sort_oracle<Key, typename tests::order_of<Key>::type>;

template <class Key>
oracle<Key> make_input(distribution d, std::size_t n, std::uint64_t seed) {
  const auto ranks = common::make_ranks(d, n, seed);
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = tests::make_key<Key>(ranks[i], i);
  return oracle<Key>(std::move(keys));
}

/// Sorts keys, and the same keys as pairs, and checks both.
template <class Key>
void expect_sorted(const oracle<Key>& input, const quicksort_options& options) {
  BOOST_TEST_CONTEXT(ramify::to_string(options.strategy) << ", " << ramify::to_string(options.route)
                                                         << ", n = " << input.input().size()) {
    std::vector<Key> keys = input.input();
    const std::uint64_t grids_before = ramify::cpu::grids_begun();
    const quicksort_report report = sorts<Key>::keys(keys, options);
    if (on_cpu()) {
      const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
      BOOST_TEST(report.host_grids + report.child_grids == grids);
    }
    BOOST_TEST(input.check(keys) == "");
    BOOST_TEST(report.keys == keys.size());
    BOOST_TEST(report.merge_sorted_segments == 0u);  // no input that is meant here is deep

    keys = input.input();
    auto values = tests::count_up<std::uint32_t>(keys.size());
    (void)sorts<Key>::pairs(keys, values, options);
    BOOST_TEST(input.check(keys, values) == "");
    BOOST_TEST(cases().slots_in_use() == 0u);
  }
}

template <class Key>
void expect_sorted_every_way(const oracle<Key>& input) {
  for (const auto strategy : strategies) {
    for (const auto taken : routes) expect_sorted(input, options_for(strategy, taken));
  }
}

template <class Key>
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all{0, 1, 2, 3};
  const auto interesting = sorts<Key>::interesting_sizes();
  all.insert(all.end(), interesting.begin(), interesting.end());
  for (int k = 10; k <= 12 + tests::cut_down(4, 0); k += 2) {
    if (sizeof(Key) << k > std::size_t{2} << 20) break;
    for (const int off : {-1, 0, 1}) all.push_back((std::size_t{1} << k) + std::size_t(off));
  }
  return all;
}

/// Words enough for two levels, or under a sanitizer for one.
const auto several_leaves = static_cast<std::size_t>(tests::cut_down(300'000, 40'000));

/// All inputs; two of them under a sanitizer, which sees the same code with each.
std::span<const distribution> inputs() {
  static constexpr distribution few[] = {distribution::uniform, distribution::zipf};
  return tests::effort() < 1 ? few : common::all_distributions();
}

using all_types = boost::mpl::list<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                                   double, tests::particle, tests::record, tests::page>;
using types_of_large_sorts = boost::mpl::list<std::uint32_t, double, tests::particle>;

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_size_and_input, Key, all_types) {
  static int pair = 0;  // so that under a sanitizer each type gets others
  for (const auto d : common::all_distributions()) {
    for (const std::size_t n : sizes<Key>()) {
      if (tests::left_out(pair, tests::effort() < 0.1 ? 41 : 11)) continue;
      BOOST_TEST_CONTEXT(common::to_string(d)) {
        expect_sorted_every_way(make_input<Key>(d, n, n));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(large_inputs, Key, types_of_large_sorts) {
  // A million; larger keys have as many levels with fewer on the executor.
  const int most = on_cpu() && sizeof(Key) > 4 ? 250'000 : 1'000'000;
  const auto n = static_cast<std::size_t>(tests::cut_down(most));
  for (const auto d : inputs()) {
    BOOST_TEST_CONTEXT(common::to_string(d)) { expect_sorted_every_way(make_input<Key>(d, n, 1)); }
  }
}

// Multiway's first count sees it, and nothing is launched after it; nor is anything missed that one
// pair of neighbours has the wrong way round, wherever it is.
BOOST_DATA_TEST_CASE(keys_in_order_stay_or_turn_round, data::make({false, true}), falling) {
  const auto n = several_leaves;
  const auto sort = [&](std::vector<double> keys) {
    const oracle<double> input(keys);
    const auto options = options_for(quicksort_strategy::multiway, route::device);
    const quicksort_report report = ramify::quicksort(std::span(keys), options);
    BOOST_TEST(input.check(keys) == "");
    expect_sorted(input, options);
    expect_sorted(input, options_for(quicksort_strategy::multiway, route::flat));
    return report.child_grids;
  };
  std::vector<double> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[falling ? n - 1 - i : i] = double(i / 2);  // each twice
  }
  BOOST_TEST(sort(keys) == 0u);
  // Odd places, for n is even and equal keys are neighbours; on either side of where blocks' tiles of
  // 128 keys (on the executor) and 8192 meet, too.
  for (const std::size_t at : {std::size_t{1}, std::size_t{127}, std::size_t{8191}, n / 4 * 2 + 1,
                               n / 8192 * 8192 - 1, n - 3}) {
    std::swap(keys[at], keys[at + 1]);
    BOOST_TEST_CONTEXT("neighbours at " << at) { BOOST_TEST(sort(keys) > 0u); }
    std::swap(keys[at], keys[at + 1]);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const auto d =
      common::all_distributions()[std::size_t(seed) % common::all_distributions().size()];
  BOOST_TEST_CONTEXT(common::to_string(d)) {
    // Up to three levels, about ten leaves of pairs, and about three.
    expect_sorted_every_way(make_input<tests::page>(d, 300, std::uint64_t(seed)));
    expect_sorted_every_way(make_input<tests::record>(d, 1'500, std::uint64_t(seed)));
    expect_sorted_every_way(make_input<std::uint32_t>(d, 10'000, std::uint64_t(seed)));
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  for (const auto d : inputs()) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      expect_sorted_every_way(
          make_input<tests::record>(d, std::size_t(tests::cut_down(10'000, 2'000)), 3));
    }
  }
}

BOOST_DATA_TEST_CASE(no_key_is_lost_whatever_the_limit, data::make({1, 2, 16, 2048}),
                     pending_launches) {
  const auto n = static_cast<std::size_t>(tests::cut_down(10'000, 3'000));
  for (const auto d : inputs()) {
    const auto records = make_input<tests::record>(d, n, 5);
    const auto numbers = make_input<double>(d, n, 5);
    for (const auto strategy : strategies) {
      for (const auto taken : routes) {
        auto options = options_for(strategy, taken);
        options.pending_launches = std::size_t(pending_launches);
        BOOST_TEST_CONTEXT(common::to_string(d)) {
          expect_sorted(records, options);
          expect_sorted(numbers, options);
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(a_full_pool_makes_binary_spill, data::make({16, 2048}), pending_launches) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  auto options = options_for(quicksort_strategy::binary, route::device);
  options.pending_launches = std::size_t(pending_launches);
  const auto input = make_input<tests::record>(distribution::uniform,
                                               std::size_t(tests::cut_down(60'000, 8'000)), 5);
  auto keys = input.input();
  const auto report = sorts<tests::record>::keys(keys, options);
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST((report.spilled_tasks > 0) == (pending_launches == 16));
  BOOST_TEST(report.pending_launch_limit == std::uint64_t(pending_launches));
}

BOOST_DATA_TEST_CASE(binary_sorts_at_any_granularity,
                     data::make(grains) * data::make({2, 64, 2048}) * data::make({1u, 3u}), grain,
                     pending_launches, coarsening) {
  static int piece = 0;
  if (tests::left_out(piece, 7)) return;
  for (const auto d : {distribution::uniform, distribution::zipf}) {
    const auto input = make_input<tests::page>(d, 700, 7);
    for (const auto taken : routes) {
      auto options = options_for(quicksort_strategy::binary, taken);
      options.pending_launches = std::size_t(pending_launches);
      for (const unsigned threshold : {0u, 1u, 5'000u}) {
        options.launches = {grain, threshold, coarsening};
        expect_sorted(input, options);
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(binary_sorts_at_any_granularity_under_any_schedule,
                     data::make(grains) *
                         data::make({"eager", "late", "random:1", "random:2", "random:3"}),
                     grain, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  auto options = options_for(quicksort_strategy::binary, route::device);
  options.launches = {grain, 1, 2};
  for (const std::size_t limit : {2, 64, 2048}) {
    options.pending_launches = limit;
    expect_sorted(make_input<tests::page>(distribution::uniform, 500, limit), options);
  }
}

BOOST_AUTO_TEST_CASE(segments_share_grids_and_small_ones_need_none) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 8);
  const auto report_of = [&](ramify::launch_granularity launches) {
    auto keys = input.input();
    auto options = options_for(quicksort_strategy::binary, route::device);
    options.launches = launches;
    const quicksort_report report = ramify::quicksort(std::span(keys), options);
    BOOST_TEST(input.check(keys) == "");
    BOOST_TEST(report.spilled_tasks == 0u);
    BOOST_TEST(report.merge_sorted_segments == 0u);  // those at the depth limit alone are counted
    return report;
  };
  const auto alone = report_of({granularity::per_task, 1});
  const auto by_block = report_of({granularity::per_block, 1});
  const auto by_grid = report_of({granularity::per_grid, 1});
  BOOST_TEST(by_block.child_grids < alone.child_grids);
  BOOST_TEST(by_grid.child_grids == by_grid.deepest_level);  // a chain
  const auto unless_told = report_of({});
  BOOST_TEST(unless_told.child_grids < alone.child_grids);
  BOOST_TEST(report_of({granularity::per_task, 60'000}).child_grids < unless_told.child_grids);
  BOOST_TEST(report_of({granularity::per_task, 1'000'000}).child_grids == 0u);
}

BOOST_DATA_TEST_CASE(nan_comes_after_all_numbers, data::make(strategies) * data::make(routes),
                     strategy, taken) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {nan, -infinity, infinity, -0.0, 0.0, -nan, 5e-324, 1e308, -1.0};
  std::vector<double> keys =
      make_input<double>(distribution::uniform, std::size_t(tests::cut_down(50'000, 10'000)), 9)
          .input();
  for (std::size_t i = 0; i < keys.size(); i += 3) keys[i] = special[i / 3 % std::size(special)];
  expect_sorted(oracle<double>(keys), options_for(strategy, taken));

  const auto mirrored = [](double a, double b) { return tests::host_ascending{}(b, a); };
  const tests::sort_oracle input(keys, mirrored);
  auto options = options_for(strategy, taken);
  options.descending = true;
  (void)ramify::quicksort(std::span(keys), options);
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(std::isnan(keys.front()));
  BOOST_TEST(keys.back() == -infinity);
}

BOOST_DATA_TEST_CASE(what_is_too_deep_is_merge_sorted, data::make(strategies) * data::make(routes),
                     strategy, taken) {
  for (const auto d : inputs()) {
    auto options = options_for(strategy, taken);
    options.depth_limit = 1;
    const auto input = make_input<tests::page>(d, std::size_t(tests::cut_down(4'000, 1'000)), 2);
    auto keys = input.input();
    auto values = tests::count_up<std::uint32_t>(keys.size());
    const auto report = sorts<tests::page>::pairs(keys, values, options);
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      BOOST_TEST(input.check(keys, values) == "");
      // What one partition makes of uniform keys is longer than a leaf.
      if (d == distribution::uniform) {
        const unsigned parts = strategy == quicksort_strategy::binary ? 2 : 8;
        BOOST_TEST(report.merge_sorted_segments == parts);
      }
    }
  }
}

BOOST_DATA_TEST_CASE(a_comparator_that_lies_loses_nothing,
                     data::make(strategies) * data::make(routes), strategy, taken) {
  for (const auto order :
       {tests::hostile_order::less_or_equal, tests::hostile_order::always_true,
        tests::hostile_order::always_false, tests::hostile_order::not_transitive}) {
    const auto input = make_input<std::uint32_t>(distribution::uniform,
                                                 std::size_t(tests::cut_down(60'000, 20'000)), 4);
    auto keys = input.input();
    cases().hostile(keys, order, options_for(strategy, taken));
    std::ranges::sort(keys);
    BOOST_TEST(input.check(keys) == "");
  }
}

BOOST_DATA_TEST_CASE(two_sorts_at_once, data::make(strategies) * data::make(routes), strategy,
                     taken) {
  const auto first = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1);
  const auto second = make_input<std::uint32_t>(distribution::organ_pipe, several_leaves, 2);
  auto first_keys = first.input();
  auto second_keys = second.input();
  cases().two_at_once(first_keys, second_keys, options_for(strategy, taken));
  BOOST_TEST(first.check(first_keys) == "");
  BOOST_TEST(second.check(second_keys) == "");
}

BOOST_DATA_TEST_CASE(without_launch_slots_the_host_takes_over,
                     data::make(strategies) *
                         data::make({distribution::uniform, distribution::zipf}),
                     strategy, d) {
  const auto input = make_input<std::uint32_t>(d, several_leaves, 6);
  auto keys = input.input();
  const auto report = cases().without_slots(keys, options_for(strategy, route::device));
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.host_grids > 3u);
}

BOOST_AUTO_TEST_CASE(every_kind_of_memory) { BOOST_TEST(cases().memory_kinds() == ""); }

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
  if (tests::on_cpu()) {
    BOOST_TEST(chosen.route_reason == "as quick as flat on the CPU executor");
  } else {  // by what was measured
    BOOST_TEST(chosen.route_reason.find("flat: about ") == 0u);
  }
  BOOST_TEST((chosen.child_grids > 0) == (chosen.taken == route::device));
}

BOOST_DATA_TEST_CASE(the_report_tells_where_the_time_went, data::make(routes), taken) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 1);
  auto keys = input.input();
  const auto options = options_for(quicksort_strategy::multiway, taken);
  const tests::copied both{!on_cpu(), !on_cpu()};
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
  // Beside a second copy, multiway has a byte a key.
  const double copies = strategy == quicksort_strategy::multiway ? 1.25 : 1.0;
  BOOST_TEST(double(bytes) <= (copies + 0.15) * double(n) * 4);
}

BOOST_AUTO_TEST_CASE(recommended_limits_follow_the_strategy) {
  const auto multiway = options_for(quicksort_strategy::multiway, route::device);
  const auto binary = options_for(quicksort_strategy::binary, route::device);
  BOOST_TEST(cases().recommended_pending_launches(1'000'000'000, multiway) == 2048u);
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
  if (!on_cpu()) expect(bad_argument::host_memory, "keys is ordinary host memory");

  std::vector<int> three(3);
  std::vector<std::uint32_t> two(2);
  BOOST_CHECK_EXCEPTION(ramify::quicksort_pairs(std::span(three), std::span(two)),
                        std::invalid_argument, names("3 keys, but 2 values"));
  std::vector<std::uint32_t> both(10);
  BOOST_CHECK_EXCEPTION(
      ramify::quicksort_pairs(std::span(both).first(6), std::span(both).last(6),
                              options_for(quicksort_strategy::multiway, route::automatic)),
      std::invalid_argument, names("keys and values overlap"));
  auto options = options_for(quicksort_strategy::multiway, route::device);
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
