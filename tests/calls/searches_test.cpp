// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first searches that kernels call: all kinds of graphs, directions and strategies, small
// limits, a pipeline to rooted trees, refused calls, faulty graphs, launches that fail, and
// schedules.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <ramify/rooted_tree.cuh>
#include <ramify/runtime/call_arena.cuh>

#include "../graph/graph_checks.cuh"
#include "called_sorts.cuh"
#include "exceptions.hpp"
#include "interrupted_calls.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

using searches = bfs_calls<>;
using search_plans = call_plans<searches, rooted_tree_calls<>, sorts>;
using search_environment = kernel_environment<search_plans>;

constexpr std::size_t large_graph = RAMIFY_ON_CUDA ? 20'000 : 700;

/// The arguments of a call, in device memory, and an array for the levels of the tree of parents.
struct called_search {
  called_graph graph;
  std::int64_t source;
  bfs_arrays results;
  std::int32_t* levels_in_tree;
};

/// Counts a complete pipeline, and the vertices whose level in the tree of parents is not that of
/// the search. Any number of threads.
__global__ void check_levels_in_tree(called_search search, call_log* log) {
  for (std::size_t v = threadIdx.x; v < search.graph.vertices; v += blockDim.x) {
    const std::int32_t level = search.results.levels[v];
    if (search.levels_in_tree[v] != (level == -1 ? 0 : level)) atomicAdd(&log->faults, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

/// The continuation of a search: numbers the tree of its parents.
__global__ void number_parents(called_search search, call_log* log, search_environment calls) {
  const traced here(calls.trace, __func__);
  const auto next = calls.then(check_levels_in_tree, {1, 64}, search, log);
  const call_status status = ramify::rooted_tree(search.results.parents, search.graph.vertices,
                                                 {.levels = search.levels_in_tree}, next);
  if (status == call_status::refused) atomicAdd(&log->faults, 1u);
}

__global__ void call_searches(const called_search* searches, unsigned count, call_log* logs,
                              bool refuses, search_environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const called_search search = searches[i];
    const auto how = refuses ? calls.or_refuse() : calls;
    const call_status status =
        ramify::breadth_first_search(search.graph, search.source, search.results,
                                     how.then(number_parents, {1, 1}, search, logs + i, calls));
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

/// Graphs in device memory, a search in each, and its results.
class called_searches {
 public:
  called_searches(std::vector<host_graph> graphs, std::uint64_t seed, bool with_in_edges = true)
      : hosts_(std::move(graphs)), logs_(zeros<call_log>(hosts_.size())) {
    std::mt19937_64 random(seed);
    for (const host_graph& host : hosts_) {
      const std::size_t n = host.vertices();
      const device_graph& graph = *graphs_.emplace_back(std::make_unique<device_graph>(host));
      const auto& levels = levels_.emplace_back(upload(std::vector<std::int32_t>(n, -7)));
      const auto& parents = parents_.emplace_back(upload(std::vector<std::int32_t>(n, -7)));
      const auto& in_tree = levels_in_tree_.emplace_back(upload(std::vector<std::int32_t>(n, -7)));
      called_graph called{graph.offsets.data(), graph.targets.data(), n, host.targets.size()};
      if (with_in_edges) {
        called.in_offsets = graph.is_symmetric ? called.offsets : graph.in_offsets.data();
        called.in_sources = graph.is_symmetric ? called.targets : graph.in_sources.data();
      }
      searches_.push_back({called,
                           std::int64_t(random() % 2 == 0 ? 0 : random() % n),
                           {levels.data(), parents.data()},
                           in_tree.data()});
    }
    device_searches_ = upload(searches_);
  }

  void call(const search_environment& environment, bool refuses = false) const {
    check(launch(call_searches, {2, 32}, nullptr, device_searches_.data(),
                 static_cast<unsigned>(hosts_.size()), logs_.data(), refuses, environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Returns how many calls have each status, after a check of the results of all calls.
  std::vector<unsigned> check_all() const {
    const std::vector<call_log> log = download(logs_);
    std::vector<unsigned> statuses(3);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const bool refused = count_status(log[i], statuses);
      const bfs_results found{download(levels_[i]), download(parents_[i])};
      BOOST_TEST_CONTEXT("call " << i << ": " << hosts_[i].name) {
        BOOST_TEST(log[i].runs == (refused ? 0u : 1u));
        BOOST_TEST(log[i].faults == 0u);
        if (refused) {
          BOOST_TEST((found == no_bfs_results(hosts_[i].vertices())));
        } else {
          BOOST_TEST(bfs_fault(hosts_[i], std::int32_t(searches_[i].source), found) == "");
        }
      }
    }
    return statuses;
  }

 private:
  std::vector<host_graph> hosts_;
  device_buffer<call_log> logs_;
  std::vector<std::unique_ptr<device_graph>> graphs_;
  std::vector<device_buffer<std::int32_t>> levels_, parents_, levels_in_tree_;
  std::vector<called_search> searches_;
  device_buffer<called_search> device_searches_;
};

/// Returns graphs of each kind and of several sizes.
std::vector<host_graph> mixed_graphs(std::size_t largest, std::uint64_t seed) {
  auto graphs = graphs_of_each_kind(largest, seed);
  for (const std::size_t n : {std::size_t{40}, std::size_t{200}}) {
    for (host_graph& graph : graphs_of_each_kind(n, seed + n)) graphs.push_back(std::move(graph));
  }
  return graphs;
}

search_plans plans_for_graphs(std::size_t n, const bfs_options& options = {}) {
  return search_plans(searches(n, options), rooted_tree_calls<>(n), sorts(30'000));
}

call_report expect_called_searches(const called_searches& calls, call_arena<search_plans>& arena,
                                   bool refuses = false) {
  calls.call(arena.environment(), refuses);
  arena.complete_async();
  const std::vector<unsigned> statuses = calls.check_all();
  const call_report report = arena.get();
  BOOST_TEST(report.started + report.kept + report.refused ==
             2 * (statuses[0] + statuses[1]) + statuses[2]);
  BOOST_TEST(report.faulty == 0u);
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_of_searches)

BOOST_DATA_TEST_CASE(all_graphs_are_searched, data::make({32, 128, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  {
    const called_searches calls(mixed_graphs(large_graph, std::uint64_t(limit)), 1);
    call_arena arena(plans_for_graphs(2 * large_graph), {.chunks = 3, .kept_calls = 400});
    BOOST_TEST(expect_called_searches(calls, arena).refused == 0u);
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(a_plan_has_the_options_of_its_calls,
                     data::make({edge_strategy::thread, edge_strategy::warp, edge_strategy::block,
                                 edge_strategy::balanced}) *
                         data::make({bfs_direction::automatic, bfs_direction::top_down,
                                     bfs_direction::bottom_up, bfs_direction::optimizing}),
                     strategy, direction) {
  bfs_options options;
  options.strategy = strategy;
  options.direction = direction;
  options.check_graph = strategy != edge_strategy::warp;
  const called_searches calls(graphs_of_each_kind(300), 2);
  call_arena arena(plans_for_graphs(600, options), {.chunks = 3, .kept_calls = 100});
  BOOST_TEST(expect_called_searches(calls, arena).refused == 0u);
}

BOOST_AUTO_TEST_CASE(a_graph_without_its_edges_by_target_is_searched_top_down) {
  const called_searches calls(graphs_of_each_kind(300), 3, false);
  {
    call_arena arena(plans_for_graphs(600), {.kept_calls = 100});
    BOOST_TEST(expect_called_searches(calls, arena).refused == 0u);
  }
  const called_searches others(graphs_of_each_kind(300), 3, false);
  bfs_options options;
  options.direction = bfs_direction::optimizing;
  call_arena arena(plans_for_graphs(600, options), {.kept_calls = 100});
  BOOST_TEST(expect_called_searches(others, arena).started == 0u);
}

BOOST_AUTO_TEST_CASE(searches_and_sorts_share_an_arena) {
  const launch_limits limits({.pending_launches = 128});
  const called_searches graphs(mixed_graphs(400, 5), 5);
  const called_sorts ranges(mixed_lengths(40, 30'000, 5), 5);
  call_arena arena(plans_for_graphs(800), {.chunks = 3, .kept_calls = 400});
  ranges.call(arena.environment());
  graphs.call(arena.environment());
  arena.complete_async();
  graphs.check_all();
  ranges.check_all();
  BOOST_TEST(arena.get().refused == 0u);
}

BOOST_AUTO_TEST_CASE(searches_without_slots_or_memory_may_be_refused) {
  const launch_limits limits({.pending_launches = 128});
  const called_searches calls(mixed_graphs(large_graph, 1), 1);
  call_arena arena(plans_for_graphs(2 * large_graph), {.chunks = 1, .kept_calls = 400});
  const call_report report = expect_called_searches(calls, arena, true);
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.started > 0u);
}

BOOST_AUTO_TEST_CASE(bad_plans_throw_and_larger_graphs_are_refused) {
  const called_searches calls({path(10), path(12), path(11)}, 1);
  call_arena arena(plans_for_graphs(11));
  BOOST_TEST(expect_called_searches(calls, arena).refused == 1u);
  BOOST_CHECK_EXCEPTION(searches(max_graph_vertices + 1), std::invalid_argument,
                        names("bfs_calls: max_vertices"));
  bfs_options options;
  options.strategy = edge_strategy::aggregated;
  BOOST_CHECK_EXCEPTION(searches(1, options), std::invalid_argument, names("is aggregated"));
  options.strategy = edge_strategy::balanced;
  options.alpha = 0;
  BOOST_CHECK_EXCEPTION(searches(1, options), std::invalid_argument, names("bfs_options.alpha"));
}

BOOST_DATA_TEST_CASE(a_faulty_graph_writes_nothing_and_is_counted, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const auto offsets = upload(std::vector<std::int64_t>{0, 1, 2});
  const auto targets = upload(std::vector<std::int32_t>{1, 2});  // 2 is no vertex
  const auto levels = upload(std::vector<std::int32_t>{-7, -7});
  const auto log = zeros<call_log>(2);
  const called_graph graph{offsets.data(), targets.data(), 2, 2};
  // A faulty graph, and a source that is no vertex.
  const auto on_device = upload(std::vector<called_search>{
      {graph, 0, {.levels = levels.data()}, nullptr}, {graph, 2, {}, nullptr}});
  const auto call = [](const called_search* searches, call_log* logs, search_environment calls) {
    check(launch(call_searches, {1, 32}, nullptr, searches, 2u, logs, false, calls).code(),
          "launching");
  };
  // The continuation numbers no nodes: it has the graph of the call.
  call_arena arena(search_plans(searches(2), rooted_tree_calls<>(1), sorts(2)));
  call(on_device.data(), log.data(), arena.environment());
  const call_report report = arena.get();
  BOOST_TEST(report.faulty == 1u);
  BOOST_TEST(report.refused == 2u);  // the bad source, and the continuation's call
  BOOST_TEST(download(levels) == std::vector<std::int32_t>(2, -7),
             boost::test_tools::per_element());
  BOOST_TEST(download(log)[0].faults == 1u);
  BOOST_TEST(download(log)[1].status == 1 + unsigned(call_status::refused));
}

// ---- failures and schedules ---------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_search_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  constexpr std::size_t limits[] = {128, 2048};
  expect_no_call_lost(limits, 20, [&] {
    const called_searches calls({kronecker(6, 8), path(60), star(50), grid_with_holes(8)}, 6);
    call_arena arena(plans_for_graphs(100), {.chunks = 2, .kept_calls = 100});
    return expect_called_searches(calls, arena);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_does_all_searches,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([](std::uint64_t seed) {
    const called_searches calls(graphs_of_each_kind(150, seed), seed);
    call_arena arena(plans_for_graphs(300), {.chunks = 2, .kept_calls = 100});
    return expect_called_searches(calls, arena);
  });
}

BOOST_AUTO_TEST_SUITE_END()
