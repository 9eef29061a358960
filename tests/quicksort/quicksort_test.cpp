// SPDX-License-Identifier: BSD-3-Clause
// Quicksort with every type, input, strategy and route against std::sort.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::granularity;
using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;
using tests::call_for;
using tests::expect_sorted;
using tests::expect_sorted_every_way;
using tests::make_input;
using tests::oracle;
using tests::routes;
using tests::runs_on_cpu;
using tests::several_leaves;
using tests::sort_keys;
using tests::sort_pairs;
using tests::strategies;

namespace {

constexpr granularity grains[] = {granularity::per_task, granularity::per_block,
                                  granularity::per_grid};

template <class Key>
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all{0, 1, 2, 3};
  const auto interesting = tests::interesting_sizes<Key>();
  all.insert(all.end(), interesting.begin(), interesting.end());
  for (int k = 10; k <= 12 + tests::cut_down(4, 0); k += 2) {
    if (sizeof(Key) << k > std::size_t{2} << 20) break;
    for (const int off : {-1, 0, 1}) all.push_back((std::size_t{1} << k) + std::size_t(off));
  }
  return all;
}

/// Returns all inputs, or two of them under a sanitizer, because all run the same code.
std::vector<distribution> inputs() {
  if (tests::effort() < 1) return {distribution::uniform, distribution::zipf};
  return ramify::all_choices<distribution>();
}

using all_types = std::tuple<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                             double, tests::particle, tests::record, tests::page>;
using types_of_large_sorts = std::tuple<std::uint32_t, double, tests::particle>;

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_size_and_input, Key, all_types) {
  static int pair = 0;  // static, so that under a sanitizer each type has other pairs
  // The executor runs the same code for these types as for unsigned integers.
  constexpr bool sorted_as_bits = std::is_same_v<Key, std::int32_t> ||
                                  std::is_same_v<Key, std::int64_t> || std::is_same_v<Key, float>;
  // For all types but one, it runs only some of the cases, with other sizes for each distribution.
  const int sample = sorted_as_bits ? 18 : std::is_same_v<Key, std::uint32_t> ? 3 : 10;
  const int every = !tests::all_cases()                  ? sample
                    : std::is_same_v<Key, std::uint32_t> ? 1
                                                         : sample / 2;
  int number = 0;
  for (const auto d : ramify::all_choices<distribution>()) {
    for (const std::size_t n : sizes<Key>()) {
      if (tests::left_out(pair, tests::effort() < 0.1 ? 41 : 11)) continue;
      if (runs_on_cpu() && number++ % every != 0) continue;
      BOOST_TEST_CONTEXT(common::to_string(d)) {
        expect_sorted_every_way(make_input<Key>(d, n, n));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(large_inputs, Key, types_of_large_sorts) {
  // On the executor, fewer keys suffice for as many levels, and still fewer of larger types.
  const int most = !runs_on_cpu() ? 1'000'000 : sizeof(Key) > 4 ? 150'000 : 300'000;
  const auto n = static_cast<std::size_t>(tests::cut_down(most));
  int number = 0;
  for (const auto d : inputs()) {
    // On the executor, each type gets other inputs.
    if (tests::effort() == 1 && !tests::all_cases() && number++ % 3 != int(sizeof(Key)) / 4 % 3) {
      continue;
    }
    BOOST_TEST_CONTEXT(common::to_string(d)) { expect_sorted_every_way(make_input<Key>(d, n, 1)); }
  }
}

// The first count of sample sort detects the order, and no kernel launches a grid. The count also
// detects a single pair of neighbors that is out of order, at any position. The buckets are longer
// than two tiles.
BOOST_DATA_TEST_CASE(keys_in_order_stay_or_are_reversed, data::make({false, true}), falling) {
  const std::size_t n = RAMIFY_THREAD_SANITIZER ? 20'000
                        : runs_on_cpu()         ? tests::cut_down(60'000, 40'000)
                                                : tests::cut_down(5'000'000, 300'000);
  const auto sort = [&](std::vector<double> keys) {
    const oracle<double> input(keys);
    const auto call = call_for(quicksort_strategy::sample_sort, route::device);
    const quicksort_report report = sort_keys(keys, call);
    BOOST_TEST(input.check(keys) == "");
    expect_sorted(input, call);
    expect_sorted(input, call_for(quicksort_strategy::sample_sort, route::flat));
    return report.child_grids;
  };
  std::vector<double> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[falling ? n - 1 - i : i] = double(i / 2);  // each twice
  }
  BOOST_TEST(sort(keys) == 0u);
  // Keys 2i and 2i + 1 are equal, so the positions are odd. Some are at the boundaries of tiles of
  // 256 keys (on the executor) and of 8192.
  for (const std::size_t at : {std::size_t{1}, std::size_t{255}, std::size_t{8191}, n / 4 * 2 + 1,
                               n / 8192 * 8192 - 1, n - 3}) {
    std::swap(keys[at], keys[at + 1]);
    BOOST_TEST_CONTEXT("neighbors at " << at) { BOOST_TEST(sort(keys) > 0u); }
    std::swap(keys[at], keys[at + 1]);
  }
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const auto all = ramify::all_choices<distribution>();
  const distribution d = all[std::size_t(seed) % all.size()];
  BOOST_TEST_CONTEXT(common::to_string(d)) {
    // The inputs have up to three levels, about ten leaves of pairs, and about three leaves.
    expect_sorted_every_way(make_input<tests::page>(d, 300, std::uint64_t(seed)));
    expect_sorted_every_way(make_input<tests::record>(d, 1'500, std::uint64_t(seed)));
    expect_sorted_every_way(make_input<std::uint32_t>(d, 10'000, std::uint64_t(seed)));
  }
}

BOOST_DATA_TEST_CASE(eager_and_late_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  for (const auto d : inputs()) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      expect_sorted_every_way(
          make_input<tests::record>(d, std::size_t(tests::cut_down(5'000, 2'000)), 3));
    }
  }
}
#endif

BOOST_DATA_TEST_CASE(no_key_is_lost_at_any_limit, data::make({1, 2, 16, 32, 2048}),
                     pending_launches) {
  const auto n = static_cast<std::size_t>(tests::cut_down(5'000, 3'000));
  for (const auto d : inputs()) {
    const auto records = make_input<tests::record>(d, n, 5);
    const auto numbers = make_input<double>(d, n, 5);
    for (const auto strategy : strategies) {
      for (const auto taken : routes) {
        auto call = call_for(strategy, taken);
        call.env.pending_launches = std::size_t(pending_launches);
        BOOST_TEST_CONTEXT(common::to_string(d)) {
          expect_sorted(records, call);
          expect_sorted(numbers, call);
        }
      }
    }
  }
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_full_pool_makes_binary_spill, data::make({16, 32, 2048}), pending_launches) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  auto call = call_for(quicksort_strategy::binary, route::device);
  call.env.pending_launches = std::size_t(pending_launches);
  const auto input = make_input<tests::record>(distribution::uniform,
                                               std::size_t(tests::cut_down(60'000, 8'000)), 5);
  auto keys = input.input();
  const auto report = sort_keys(keys, call);
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST((report.spilled_tasks > 0) == (pending_launches < 2048));
  BOOST_TEST(report.pending_launch_limit == std::uint64_t(pending_launches));
}
#endif

BOOST_DATA_TEST_CASE(binary_sorts_at_any_granularity,
                     data::make(grains) * data::make({2, 64, 2048}) * data::make({1u, 3u}), grain,
                     pending_launches, coarsening) {
  static int piece = 0;
  if (tests::left_out(piece, tests::effort() < 0.1 ? 13 : 7)) return;
  for (const auto d : {distribution::uniform, distribution::zipf}) {
    const auto input = make_input<tests::page>(d, 700, 7);
    for (const auto taken : routes) {
      auto call = call_for(quicksort_strategy::binary, taken);
      call.env.pending_launches = std::size_t(pending_launches);
      for (const unsigned threshold : {0u, 1u, 5'000u}) {
        call.options.launches = {grain, threshold, coarsening};
        expect_sorted(input, call);
      }
    }
  }
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(binary_sorts_at_any_granularity_under_any_schedule,
                     data::make(grains) *
                         data::make({"eager", "late", "random:1", "random:2", "random:3"}),
                     grain, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  auto call = call_for(quicksort_strategy::binary, route::device);
  call.options.launches = {grain, 1, 2};
  static int piece = 0;
  for (const std::size_t limit : {2, 64, 2048}) {
    if (tests::left_out_by_tsan(piece, 5)) continue;
    call.env.pending_launches = limit;
    expect_sorted(make_input<tests::page>(distribution::uniform, 500, limit), call);
  }
}
#endif

BOOST_AUTO_TEST_CASE(segments_share_grids_and_small_ones_have_none) {
  const auto input = make_input<std::uint32_t>(distribution::uniform, several_leaves, 8);
  const auto report_of = [&](ramify::launch_granularity launches) {
    auto keys = input.input();
    auto call = call_for(quicksort_strategy::binary, route::device);
    call.options.launches = launches;
    const quicksort_report report = sort_keys(keys, call);
    BOOST_TEST(input.check(keys) == "");
    BOOST_TEST(report.spilled_tasks == 0u);
    BOOST_TEST(report.merge_sorted_segments == 0u);  // only segments at the depth limit count
    return report;
  };
  const auto alone = report_of({granularity::per_task, 1});
  const auto by_block = report_of({granularity::per_block, 1});
  const auto by_grid = report_of({granularity::per_grid, 1});
  BOOST_TEST(by_block.child_grids < alone.child_grids);
  BOOST_TEST(by_grid.child_grids == by_grid.deepest_level);  // a chain
  const auto by_default = report_of({});
  BOOST_TEST(by_default.child_grids < alone.child_grids);
  BOOST_TEST(report_of({granularity::per_task, 60'000}).child_grids < by_default.child_grids);
  BOOST_TEST(report_of({granularity::per_task, 1'000'000}).child_grids == 0u);
}

BOOST_DATA_TEST_CASE(nan_is_after_all_numbers, data::make(strategies) * data::make(routes),
                     strategy, taken) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {nan, -infinity, infinity, -0.0, 0.0, -nan, 5e-324, 1e308, -1.0};
  std::vector<double> keys =
      make_input<double>(distribution::uniform, std::size_t(tests::cut_down(50'000, 10'000)), 9)
          .input();
  for (std::size_t i = 0; i < keys.size(); i += 3) keys[i] = special[i / 3 % std::size(special)];
  expect_sorted(oracle<double>(keys), call_for(strategy, taken));

  const auto reversed = [](double a, double b) { return tests::host_ascending{}(b, a); };
  const tests::sort_oracle input(keys, reversed);
  (void)sort_keys(keys, call_for(strategy, taken), ramify::sort_order::descending);
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(std::isnan(keys.front()));
  BOOST_TEST(keys.back() == -infinity);
}

BOOST_DATA_TEST_CASE(segments_at_the_depth_limit_are_merge_sorted,
                     data::make(strategies) * data::make(routes), strategy, taken) {
  for (const auto d : inputs()) {
    auto call = call_for(strategy, taken);
    call.options.depth_limit = 1;
    const auto input = make_input<tests::page>(d, std::size_t(tests::cut_down(4'000, 1'000)), 2);
    auto keys = input.input();
    auto values = tests::count_up<std::uint32_t>(keys.size());
    const auto report = sort_pairs(keys, values, call);
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      BOOST_TEST(input.check(keys, values) == "");
      // One partition of uniform keys makes only segments that are longer than a leaf.
      if (d == distribution::uniform) {
        const unsigned parts = strategy == quicksort_strategy::binary ? 2 : 8;
        BOOST_TEST(report.merge_sorted_segments == parts);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
