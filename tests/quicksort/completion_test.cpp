// SPDX-License-Identifier: BSD-3-Clause
// Work that enters the stream after quicksort_async() sees the complete result, from whatever state
// the grids after the sort have to finish it.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "failed_launches.hpp"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::completion;
using ramify::flat_loop;
using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;
using tests::call_for;
using tests::hidden_from_the_sample;
using tests::make_input;
using tests::page;

namespace {

// Pages are large, so sample sort has few buckets and this number of pages takes several levels.
const auto several_pages = static_cast<std::size_t>(tests::cut_down(2'000, 600));

/// Launches of a sort on the device route: the first step, and the grid that finishes the sort.
constexpr unsigned grids_of_host = 4;

struct outcome {
  std::string fault_before_get;  ///< in the keys that a copy after the sort in the stream has read
  quicksort_report report;
};

/// Sorts keys, and copies them in the order of the stream before get(). Checks them after get().
template <class Key>
outcome sort_and_copy(const tests::oracle<Key>& input, tests::sort_call call) {
  auto keys = input.input();
  const ramify::host_stream stream;
  call.env.stream = stream;
  const auto sorted = tests::upload(keys, stream.get());
  const ramify::device_buffer<Key> copy(keys.size(), stream.get());
  auto run = tests::start_sort(sorted.data(), keys.size(), call);
  ramify::check(cudaMemcpyAsync(copy.data(), sorted.data(), keys.size() * sizeof(Key),
                                cudaMemcpyDeviceToDevice, stream.get()),
                "copying the keys");
  outcome seen;
  seen.report = run.get();
  BOOST_TEST(seen.report.taken == call.env.route);
  BOOST_TEST(seen.report.completion_reason == "");
  tests::download(copy, keys, stream.get());
  seen.fault_before_get = input.check(keys);
  tests::download(sorted, keys, stream.get());
  BOOST_TEST(input.check(keys) == "");
  return seen;
}

/// Sorts, and expects the complete result before get().
template <class Key>
quicksort_report expect_complete(const tests::oracle<Key>& input, const tests::sort_call& call) {
  const outcome seen = sort_and_copy(input, call);
  BOOST_TEST(seen.fault_before_get == "");
  return seen.report;
}

/// Sorts pages on the device route while other runs leave it few launch slots.
void expect_complete_with_few_slots(distribution d, std::uint64_t seed) {
  const auto input = make_input<page>(d, several_pages, seed);
  BOOST_TEST(tests::slots_left_in_use() == 0u);
  for (const unsigned left : {0, 1, 2, 5, 6, 8, 12}) {
    BOOST_TEST_CONTEXT(left << " slots") {
      const tests::all_slots_taken by_others(*ramify::current_launch_limits().pending_launches,
                                             left);
      const auto report =
          expect_complete(input, call_for(quicksort_strategy::sample_sort, route::device));
      BOOST_TEST(report.host_grids == grids_of_host);
      if (left < 5) {  // too few for a round, so the chain stops after the root
        BOOST_TEST(report.child_grids == 0u);
        BOOST_TEST(report.spilled_tasks == 1u);
        BOOST_TEST(report.merge_sorted_segments > 0u);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(leaf_grids_sort_the_segments_of_missing_levels,
                     data::make({flat_loop::automatic, flat_loop::host}), loop) {
  const auto input = hidden_from_the_sample(1);
  auto call = call_for(quicksort_strategy::sample_sort, route::flat);
  call.env.flat_loop = loop;
  const auto report = expect_complete(input, call);
  BOOST_TEST(report.host_grids == 5u);
  BOOST_TEST(report.merge_sorted_segments > 0u);
  // Negative control: without completion in the stream, a level is missing before get().
  call.env.completion = completion::by_get;
  const auto late = sort_and_copy(input, call);
  BOOST_TEST(late.fault_before_get != "");
  BOOST_TEST(late.report.host_grids > 5u);
  BOOST_TEST(late.report.merge_sorted_segments == 0u);
}

BOOST_DATA_TEST_CASE(a_grid_finishes_sorts_without_launch_slots,
                     data::make({distribution::uniform, distribution::zipf}), d) {
  expect_complete_with_few_slots(d, 5);
  // Negative control.
  auto call = call_for(quicksort_strategy::sample_sort, route::device);
  call.env.completion = completion::by_get;
  const tests::all_slots_taken by_others(*ramify::current_launch_limits().pending_launches);
  BOOST_TEST(sort_and_copy(make_input<page>(d, several_pages, 5), call).fault_before_get != "");
}

BOOST_AUTO_TEST_CASE(a_complete_sort_has_one_grid_more_on_the_device_route) {
  for (const auto d :
       {distribution::uniform, distribution::zipf, distribution::sorted, distribution::all_equal}) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      const auto input = make_input<std::uint32_t>(d, tests::several_leaves, 2);
      for (const route taken : tests::routes) {
        auto call = call_for(quicksort_strategy::sample_sort, taken);
        const auto report = expect_complete(input, call);
        call.env.completion = completion::by_get;
        const auto by_get = sort_and_copy(input, call).report;
        BOOST_TEST(report.host_grids == by_get.host_grids + (taken == route::device ? 1 : 0));
        BOOST_TEST(report.child_grids == by_get.child_grids);
        BOOST_TEST(report.merge_sorted_segments == by_get.merge_sorted_segments);
      }
    }
  }
}

#if !RAMIFY_ON_CUDA
namespace {

/// Sorts pages on the device route as often as its kernels launch grids; each time another one of
/// these launches fails, so that the sort stops before or within a step. A small depth limit makes
/// long leaves, too.
void expect_complete_after_any_failed_launch(distribution d, unsigned depth_limit,
                                             std::uint64_t stride) {
  const auto input = make_input<page>(d, several_pages, 1);
  auto call = call_for(quicksort_strategy::sample_sort, route::device);
  call.options.depth_limit = depth_limit;
  const auto whole = expect_complete(input, call);
  BOOST_TEST(whole.child_grids > 3u);
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = tests::count_interrupted(
      whole.child_grids, executor,
      [&](std::uint64_t failing) {
        const auto report = expect_complete(input, call);
        BOOST_TEST(report.host_grids == grids_of_host);
        return report.child_grids == failing - 1;
      },
      stride);
  // Negative control: no kernel launched a grid after the failure.
  BOOST_TEST(interrupted == (whole.child_grids + stride - 1) / stride);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_grid_finishes_sorts_after_any_failed_launch,
                     data::make({distribution::uniform, distribution::zipf}) * data::make({0u, 2u}),
                     d, depth_limit) {
  expect_complete_after_any_failed_launch(d, depth_limit, 1);
}

BOOST_DATA_TEST_CASE(stopped_sorts_under_other_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config scope(ramify::cpu::parse_executor_config(s));
  expect_complete_with_few_slots(distribution::zipf, 3);
  expect_complete_after_any_failed_launch(distribution::zipf, 0, 1);
  static_cast<void>(expect_complete(hidden_from_the_sample(2),
                                    call_for(quicksort_strategy::sample_sort, route::flat)));
}

BOOST_DATA_TEST_CASE(stopped_sorts_under_random_schedules, data::xrange(tests::random_schedules()),
                     seed) {
  const ramify::cpu::scoped_executor_config scope(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  expect_complete_with_few_slots(distribution::zipf, std::uint64_t(seed));
  expect_complete_after_any_failed_launch(distribution::zipf, 0, 3);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
