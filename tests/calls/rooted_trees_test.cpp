// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees that kernels number and fold: all shapes and sizes, small limits, beside sorts and
// after them, refused calls, faulty forests, launches that fail, and schedules.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "called_trees.cuh"
#include "captured_calls.cuh"
#include "exceptions.hpp"
#include "interrupted_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

constexpr std::size_t large_tree = RAMIFY_ON_CUDA ? 300'000 : 6'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_of_rooted_trees)

BOOST_DATA_TEST_CASE(all_shapes_and_sizes_are_numbered_and_folded,
                     data::make({9, 60}) * data::make({32, 128, 2048}), count, limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const called_trees calls(mixed_sizes(unsigned(count), large_tree, std::uint64_t(limit)),
                           std::uint64_t(count));
  {
    call_arena arena(plans_for(large_tree), {.chunks = 3, .kept_calls = 400});
    BOOST_TEST(expect_called_trees(calls, arena).refused == 0u);
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(calls_without_slots_or_memory_may_be_refused) {
  const launch_limits limits({.pending_launches = 128});
  const called_trees calls(mixed_sizes(60, large_tree, 1), 1);
  call_arena arena(plans_for(large_tree), {.chunks = 2, .kept_calls = 400});
  const call_report report = expect_called_trees(calls, arena, true);
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(calls_of_more_nodes_than_planned_are_refused) {
  const called_trees calls({100, 101, 102, 100}, 1);
  call_arena arena(plans_for(100));
  const call_report report = expect_called_trees(calls, arena);
  BOOST_TEST(report.refused == 2u);
  BOOST_TEST(report.started + report.kept == 2u);
  BOOST_CHECK_EXCEPTION(numberings(max_tree_nodes + 1), std::invalid_argument,
                        names("rooted_tree_calls: max_nodes"));
}

BOOST_AUTO_TEST_CASE(scratch_memory_suffices_for_every_size) {
  using ramify::detail::rooted_tree::tree_call_memory;
  std::mt19937_64 random(3);
  for (const std::size_t most : {std::size_t{100}, std::size_t{5'000}, std::size_t{1} << 18,
                                 std::size_t{70'000'000}, max_tree_nodes}) {
    trees plan(most);
    plan.prepare();
    for (int i = 0; i < 500; ++i) {
      const std::size_t n = std::max<std::size_t>(random() % most >> random() % 12, 1);
      memory_layout layout(nullptr);
      static_cast<void>(
          tree_call_memory<affine, compose>(layout, {n, true, true, true}, {}, plan.sort_sizes()));
      BOOST_TEST(layout.size() <= plan.scratch_bytes());
    }
  }
}

// ---- beside sorts and after them ----------------------------------------------------------------

BOOST_DATA_TEST_CASE(trees_and_sorts_share_an_arena, data::make({32, 128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const called_trees forests(mixed_sizes(40, large_tree, 2), 2);
  const called_sorts ranges(mixed_lengths(40, 30'000, 2), 2);
  call_arena arena(plans_for(large_tree), {.chunks = 3, .kept_calls = 400});
  forests.call(arena.environment());
  ranges.call(arena.environment());
  arena.complete_async();
  const auto of_trees = forests.check_all();
  const auto of_sorts = ranges.check_all();
  const call_report report = arena.get();
  BOOST_TEST(report.started == of_trees[0] + of_sorts[0]);
  BOOST_TEST(report.kept == of_trees[1] + of_sorts[1]);
  BOOST_TEST(report.refused == 0u);
}

namespace {

__global__ void call_trees_after_sort(key* keys, std::size_t n, tree_arrays to,
                                      const called_range* ranges, unsigned count, call_log* logs,
                                      unsigned* refused, tree_environment calls) {
  const traced here(calls.trace, __func__);
  const auto next =
      calls.then(call_trees<tree_environment>, {2, 32}, to, ranges, count, logs, false, calls);
  if (ramify::quicksort(keys, n, ascending{}, next) == call_status::refused) *refused = 1;
}

}  // namespace

BOOST_DATA_TEST_CASE(the_continuation_of_a_sort_calls_trees, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const called_trees forests(mixed_sizes(20, 1'000, 4), 4);
  std::vector<key> keys(20'000);
  std::mt19937 random(1);
  for (key& k : keys) k = static_cast<key>(random());
  const auto on_device = upload(keys);
  const auto refused = zeros<unsigned>(1);
  call_arena arena(plans_for(1'000), {.chunks = 2, .kept_calls = 400});
  check(launch(call_trees_after_sort, {1, 1}, nullptr, on_device.data(), keys.size(),
               forests.arrays(), forests.ranges(), forests.count(), forests.logs(), refused.data(),
               arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  forests.check_all();
  std::ranges::sort(keys);
  BOOST_TEST(download(on_device) == keys, boost::test_tools::per_element());
  BOOST_TEST(download(refused)[0] == 0u);
  BOOST_TEST(arena.get().refused == 0u);
}

// ---- faulty forests -----------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_faulty_forest_writes_nothing_and_is_counted, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  // A cycle, a parent out of range, and a correct forest.
  const auto parents = upload(parent_array{1, 0, -1, 3, -2, 0, -1, 0, 0});
  const std::vector<called_range> ranges{
      {0, 3, true, true}, {3, 3, false, true}, {6, 3, true, true}};
  const auto on_device = upload(ranges);
  const auto values = upload(values_for(9));
  const device_results outputs(all_outputs(9));
  const auto logs = zeros<call_log>(3);
  const tree_arrays to = arrays_of(parents, values, outputs);
  call_arena arena(plans_for(10));
  // Only the third call has a continuation that reads its parents.
  check(launch(call_trees<tree_environment>, {1, 32}, nullptr, to, on_device.data() + 2, 1u,
               logs.data() + 2, false, arena.environment())
            .code(),
        "launching");
  BOOST_TEST(arena.get().faulty == 0u);
  check(launch(call_trees<tree_environment>, {1, 32}, nullptr, to, on_device.data(), 2u,
               logs.data(), false, arena.environment())
            .code(),
        "launching");
  BOOST_TEST(arena.get().faulty == 2u);
  tree_results all = all_outputs(9);
  outputs.copy_to(all);
  const tree_results untouched = all_outputs(6);
  const auto begins_with = [](const auto& whole, const auto& part) {
    return std::equal(part.begin(), part.end(), whole.begin());
  };
  BOOST_TEST(begins_with(all.levels, untouched.levels));
  BOOST_TEST(begins_with(all.preorder, untouched.preorder));
  BOOST_TEST(begins_with(all.leaffix, untouched.leaffix));
  BOOST_TEST(begins_with(all.rootfix, untouched.rootfix));
  BOOST_TEST(all.levels[8] == 1);
}

// ---- failures and schedules ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_call_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  constexpr std::size_t limits[] = {128, 2048};
  expect_no_call_lost(limits, 20, [&] {
    const called_trees calls({700, 5, 300, 90}, 6);
    call_arena arena(plans_for(1'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_trees(calls, arena);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_does_all_calls,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([](std::uint64_t seed) {
    const called_trees calls(mixed_sizes(12, 2'000, seed), seed);
    call_arena arena(plans_for(2'000), {.chunks = 2, .kept_calls = 100});
    return expect_called_trees(calls, arena);
  });
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_calls_runs_several_times, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  const called_trees calls(mixed_sizes(60, large_tree, 7), 7);
  call_arena arena(plans_for(large_tree), {.chunks = 3, .kept_calls = 400},
                   {.stream = stream.get()});
  const auto call = [&] {
    calls.forget(stream.get());
    calls.call(arena.environment(), false, stream.get());
  };
  expect_captured_calls(
      calls, arena, stream, 5, [](unsigned) {}, call);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
