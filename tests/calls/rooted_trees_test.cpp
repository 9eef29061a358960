// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees that kernels number and fold: all shapes and sizes, small limits, beside sorts and
// after them, refused calls, faulty forests, launches that fail, and schedules.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/runtime/call_arena.cuh>
#include <ramify/runtime/captured_graph.cuh>

#include "../rooted_tree/rooted_tree_checks.cuh"
#include "called_sorts.cuh"
#include "exceptions.hpp"
#include "interrupted_calls.cuh"
#include "schedules.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;
using common::forest_kind;

namespace {

using trees = rooted_tree_calls<affine, compose>;
using numberings = rooted_tree_calls<>;
using tree_plans = call_plans<trees, numberings, sorts>;
using tree_environment = kernel_environment<tree_plans>;

constexpr std::size_t large_tree = RAMIFY_ON_CUDA ? 300'000 : 6'000;

/// One call: a range of nodes of the arrays of all calls.
struct called_range {
  std::size_t begin;
  std::size_t nodes;
  bool by_order;   ///< requests the outputs that depend on the order of siblings
  bool has_folds;  ///< requests folds
};

/// The arrays of all calls.
struct tree_arrays {
  const std::int32_t* parents;
  const affine* values;
  tree_number_arrays numbers;
  affine* leaffix;
  affine* rootfix;
};

/// Checks that the level of each node is one more than that of its parent: the continuation of a
/// call, with any number of threads.
__global__ void check_levels(const std::int32_t* parents, const std::int32_t* levels,
                             std::size_t nodes, call_log* log) {
  for (std::size_t v = threadIdx.x; v < nodes; v += blockDim.x) {
    const std::int32_t above = parents[v] == -1 ? -1 : levels[parents[v]];
    if (levels[v] != above + 1) atomicAdd(&log->faults, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

__global__ void call_trees(tree_arrays to, const called_range* ranges, unsigned count,
                           call_log* logs, bool refuses, tree_environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const called_range range = ranges[i];
    const std::size_t at = range.begin;
    const std::int32_t* const parents = to.parents + at;
    tree_number_arrays numbers{to.numbers.levels + at, to.numbers.subtree_sizes + at, nullptr,
                               nullptr};
    if (range.by_order) {
      numbers.preorder = to.numbers.preorder + at;
      numbers.postorder = to.numbers.postorder + at;
    }
    const auto how = refuses ? calls.or_refuse() : calls;
    const auto next =
        how.then(check_levels, {1, 64}, parents, numbers.levels, range.nodes, logs + i);
    const tree_folds<affine, compose> folds{
        to.values + at, {}, range.by_order ? to.leaffix + at : nullptr, to.rootfix + at};
    const call_status status = range.has_folds
                                   ? ramify::rooted_tree(parents, range.nodes, numbers, folds, next)
                                   : ramify::rooted_tree(parents, range.nodes, numbers, next);
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

tree_arrays arrays_of(const device_buffer<std::int32_t>& parents,
                      const device_buffer<affine>& values, const device_results& outputs) {
  return {parents.data(),
          values.data(),
          {outputs.levels.data(), outputs.subtree_sizes.data(), outputs.preorder.data(),
           outputs.postorder.data()},
          outputs.leaffix.data(),
          outputs.rootfix.data()};
}

/// The forests of many calls, with their results.
class called_trees {
 public:
  called_trees(const std::vector<std::size_t>& sizes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    parent_array parents;
    std::vector<affine> values;
    for (const std::size_t n : sizes) {
      const auto kind = static_cast<forest_kind>(random() % 6);
      auto forest = common::make_parents(kind, n, random());
      if (random() % 2 == 0) forest = common::relabeled(forest, random());
      const auto index = ranges_.size();
      ranges_.push_back({parents.size(), n, index % 2 == 0, index % 3 != 0});
      expected_.emplace_back(forest);
      parents.insert(parents.end(), forest.begin(), forest.end());
      const auto& own = expected_.back().values;
      values.insert(values.end(), own.begin(), own.end());
    }
    parents.push_back(-1);  // no array is empty
    values.push_back({});
    parents_ = upload(parents);
    values_ = upload(values);
    device_ranges_ = upload(ranges_);
    outputs_.emplace(all_outputs(parents.size()));
    logs_ = zeros<call_log>(ranges_.size());
  }

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(ranges_.size()); }

  /// The arguments of call_trees().
  [[nodiscard]] tree_arrays arrays() const { return arrays_of(parents_, values_, *outputs_); }
  [[nodiscard]] const called_range* ranges() const { return device_ranges_.data(); }
  [[nodiscard]] call_log* logs() const { return logs_.data(); }

  void call(const tree_environment& environment, bool refuses = false,
            cudaStream_t stream = nullptr) const {
    check(launch(call_trees, {4, 32}, stream, arrays(), ranges(), count(), logs(), refuses,
                 environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Overwrites the outputs that all calls request, and what happened to the calls, in the order of
  /// the stream.
  void forget(cudaStream_t stream) const {
    const auto overwrite = [&](const auto& array) {
      check(cudaMemsetAsync(array.data(), 0, array.size() * sizeof *array.data(), stream),
            "overwriting an array");
    };
    overwrite(outputs_->levels);
    overwrite(outputs_->subtree_sizes);
    overwrite(logs_);
  }

  /// Returns how many calls have each status, after a check of the results of all calls.
  std::vector<unsigned> check_all() const {
    tree_results all = all_outputs(parents_.size());
    outputs_->copy_to(all);
    const std::vector<call_log> log = download(logs_);
    std::vector<unsigned> statuses(3);
    for (unsigned i = 0; i < count(); ++i) {
      BOOST_REQUIRE(log[i].status >= 1);
      ++statuses[log[i].status - 1];
      const bool refused = log[i].status - 1 == unsigned(call_status::refused);
      BOOST_TEST(log[i].runs == (refused ? 0u : 1u));
      BOOST_TEST(log[i].faults == 0u);
      BOOST_TEST_CONTEXT("call " << i << " of " << ranges_[i].nodes << " nodes") {
        check_call(i, refused, all);
      }
    }
    return statuses;
  }

 private:
  /// Checks that a call has written the requested outputs, and no other one.
  void check_call(unsigned i, bool refused, const tree_results& all) const {
    const called_range& range = ranges_[i];
    tree_results results;
    const auto cut = [&](bool requested, const auto& from, auto& to) {
      const auto first = from.begin() + std::ptrdiff_t(range.begin);
      const auto last = first + std::ptrdiff_t(range.nodes);
      if (requested && !refused) {
        to.assign(first, last);
      } else {
        const auto unchanged = typename std::remove_cvref_t<decltype(to)>::value_type(wrong_of(to));
        BOOST_TEST(std::count(first, last, unchanged) == last - first);
      }
    };
    cut(true, all.levels, results.levels);
    cut(true, all.subtree_sizes, results.subtree_sizes);
    cut(range.by_order, all.preorder, results.preorder);
    cut(range.by_order, all.postorder, results.postorder);
    cut(range.by_order && range.has_folds, all.leaffix, results.leaffix);
    cut(range.has_folds, all.rootfix, results.rootfix);
    BOOST_TEST(expected_[i].check(results) == "");
  }
  static std::int32_t wrong_of(const std::vector<std::int32_t>&) { return -7; }
  static affine wrong_of(const std::vector<affine>&) { return {7, 7}; }

  std::vector<called_range> ranges_;
  std::vector<oracle> expected_;
  device_buffer<std::int32_t> parents_;
  device_buffer<affine> values_;
  device_buffer<called_range> device_ranges_;
  std::optional<device_results> outputs_;
  device_buffer<call_log> logs_;
};

/// Sizes at the boundaries of the kinds of sorts and of lists, and random ones.
std::vector<std::size_t> mixed_sizes(unsigned count, std::size_t largest, std::uint64_t seed) {
  constexpr std::size_t list = ramify::detail::rooted_tree::tuning::block_list_capacity / 2;
  std::vector<std::size_t> sizes{0, 1, 2, 3, list - 1, list, list + 1, 17 * list, largest};
  std::mt19937_64 random(seed);
  std::shuffle(sizes.begin(), sizes.end(), random);
  while (sizes.size() < count) sizes.push_back(random() % (random() % 10 == 0 ? largest : 300));
  sizes.resize(count);
  for (std::size_t& n : sizes) n = std::min(n, largest);
  return sizes;
}

tree_plans plans_for(std::size_t n) { return tree_plans(trees(n), numberings(n), sorts(30'000)); }

/// Calls all trees, completes and checks them. Returns the report, whose counts it compares with
/// the statuses that the callers have read.
call_report expect_called_trees(const called_trees& calls, call_arena<tree_plans>& arena,
                                bool refuses = false) {
  calls.call(arena.environment(), refuses);
  arena.complete_async();
  const std::vector<unsigned> statuses = calls.check_all();
  const call_report report = arena.get();
  BOOST_TEST(report.started == statuses[0]);
  BOOST_TEST(report.kept == statuses[1]);
  BOOST_TEST(report.refused == statuses[2]);
  BOOST_TEST(report.faulty == 0u);
  return report;
}

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
  const auto next = calls.then(call_trees, {2, 32}, to, ranges, count, logs, false, calls);
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
  check(launch(call_trees, {1, 32}, nullptr, to, on_device.data() + 2, 1u, logs.data() + 2, false,
               arena.environment())
            .code(),
        "launching");
  BOOST_TEST(arena.get().faulty == 0u);
  check(launch(call_trees, {1, 32}, nullptr, to, on_device.data(), 2u, logs.data(), false,
               arena.environment())
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
  for (const auto& config : reproducible_schedules()) {
    const cpu::scoped_executor_config scope(config);
    for (const std::size_t limit : {std::size_t{32}, std::size_t{128}, std::size_t{2048}}) {
      const launch_limits limits({.pending_launches = limit});
      const called_trees calls(mixed_sizes(12, 2'000, config.seed), config.seed);
      call_arena arena(plans_for(2'000), {.chunks = 2, .kept_calls = 100});
      BOOST_TEST(expect_called_trees(calls, arena).refused == 0u);
    }
  }
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_calls_runs_several_times, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  const called_trees calls(mixed_sizes(60, large_tree, 7), 7);
  call_arena arena(plans_for(large_tree), {.chunks = 3, .kept_calls = 400},
                   {.stream = stream.get()});
  const captured_graph graph(stream.get(), [&] {
    calls.forget(stream.get());
    calls.call(arena.environment(), false, stream.get());
    arena.complete_async(stream.get());
  });
  check(cudaStreamSynchronize(nullptr), "uploading");
  for (int i = 0; i < 5; ++i) {
    graph.launch(stream.get());
    stream.synchronize();
    BOOST_TEST(calls.check_all()[2] == 0u);
    if (i % 2 == 0) BOOST_TEST(arena.get().refused == 0u);
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
