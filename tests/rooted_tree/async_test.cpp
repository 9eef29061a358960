// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the backend of this build: runs that return before they are complete, launches
// that fail, loops of graphs, and runs that a graph has captured.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "rooted_tree_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using common::forest_kind;
using ramify::flat_loop;
using ramify::route;
using ramify::tree_shape;

namespace {

/// Returns a random forest whose parents may come after their children.
oracle random_tree(std::size_t n, std::uint64_t seed) {
  return oracle(common::relabeled(common::make_parents(forest_kind::random, n, seed), seed));
}

/// Checks the outputs of a call.
void expect_right(const device_call& call, const oracle& tree, tree_results results) {
  call.copy_outputs_to(results);
  BOOST_TEST(tree.check(results) == "");
  BOOST_TEST(slots_in_use() == 0u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rooted_tree_async)

BOOST_DATA_TEST_CASE(a_run_is_complete_after_get, data::make(routes), taken) {
  const oracle tree = random_tree(20'000, 1);
  const tree_results unchanged = all_outputs(20'000);
  const device_call call(tree_shape::of_parents(tree.parents), tree.values, unchanged);
  const ramify::host_stream stream;
  ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
  auto run = call.start({.stream = stream, .route = taken});
  auto moved = std::move(run);
  const auto report = moved.get();
  BOOST_TEST(report.taken == taken);
  BOOST_TEST(report.nodes == 20'000u);
  BOOST_TEST(report.scratch_bytes == call.scratch().bytes());
  expect_right(call, tree, unchanged);
  BOOST_CHECK_THROW(moved.get(), std::logic_error);
}

BOOST_DATA_TEST_CASE(a_run_that_is_destroyed_before_get_does_no_harm, data::make(routes), taken) {
  const oracle tree = random_tree(20'000, 2);
  const tree_results unchanged = all_outputs(20'000);
  const device_call call(tree_shape::of_parents(tree.parents), tree.values, unchanged);
  { const auto run = call.start({.route = taken}); }
  ramify::check(cudaStreamSynchronize(nullptr), "waiting");
  (void)call.start({.route = taken}).get();
  expect_right(call, tree, unchanged);
}

BOOST_DATA_TEST_CASE(faults_are_found_by_get, data::make(routes), taken) {
  parent_array parents = common::make_parents(forest_kind::random, 5'000, 3);
  parents[3'000] = 3'000;
  const tree_results unchanged = all_outputs(5'000);
  const device_call call(tree_shape::of_parents(parents), values_for(5'000), unchanged);
  auto run = call.start({.route = taken});
  BOOST_CHECK_EXCEPTION(run.get(), std::invalid_argument, names("node 3000 never reaches a root"));
  tree_results results = unchanged;
  call.copy_outputs_to(results);
  BOOST_TEST((results == unchanged));
}

BOOST_AUTO_TEST_CASE(an_empty_forest_needs_no_memory) {
  auto run = ramify::rooted_tree_async(tree_shape{}, {});
  BOOST_TEST(run.get().route_reason == "there are no nodes");
}

// ---- launches that fail ----

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  // One of the failed launches is in the sort. The sort is then completed before the next attempt.
  const oracle tree = random_tree(20'000, 4);
  const auto shape = tree_shape::of_parents(tree.parents);
  const auto run = [&] {
    tree_results results = all_outputs(20'000);
    const auto report = run_tree(shape, tree.values, results, on_route(route::device));
    BOOST_TEST(tree.check(results) == "");
    BOOST_TEST(slots_in_use() == 0u);
    return report;
  };
  const auto whole = run();
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = count_interrupted(
      30, executor, [&](std::uint64_t) { return run().host_grids > whole.host_grids; });
  // Negative control: the failures did end the launches of kernels.
  BOOST_TEST(interrupted >= 15u);
}

BOOST_AUTO_TEST_CASE(get_launches_what_found_no_slots) {
  const oracle tree = random_tree(50'000, 5);
  const tree_results unchanged = all_outputs(50'000);
  const device_call call(tree_shape::of_parents(tree.parents), tree.values, unchanged);
  std::optional<all_slots_taken> taken(std::in_place,
                                       *ramify::current_launch_limits().pending_launches);
  auto run = call.start({.route = route::device, .completion = ramify::completion::by_get});
  ramify::check(cudaStreamSynchronize(nullptr), "waiting");
  taken.reset();
  const auto report = run.get();
  // The folding began only after the numbering was complete, and then found launch slots.
  BOOST_TEST(report.child_grids > 0u);
  BOOST_TEST(report.host_grids > 10u);
  expect_right(call, tree, unchanged);
}

// ---- the loop of rootfix ----

BOOST_AUTO_TEST_CASE(the_rounds_of_rootfix_are_launched_as_requested) {
  const oracle tree(common::make_parents(forest_kind::path, 5'000, 6));
  for (const flat_loop loop : {flat_loop::automatic, flat_loop::graph, flat_loop::host}) {
    BOOST_TEST_CONTEXT(ramify::to_string(loop)) {
      auto env = on_route(route::flat);
      env.flat_loop = loop;
      env.completion = ramify::completion::by_get;  // get() launches what is not requested
      tree_results results = orderless_outputs(5'000);
      const auto run = [&] {
        return run_tree(tree_shape::of_parents(tree.parents), tree.values, results, env);
      };
      if (loop == flat_loop::graph && !RAMIFY_ON_CUDA) {
        BOOST_CHECK_EXCEPTION(run(), ramify::unavailable, names("environment.flat_loop"));
        continue;
      }
      const auto report = run();
      BOOST_TEST(tree.check(results) == "");
      BOOST_TEST(report.rootfix_rounds == 13u);  // 2^13 > 4,999, the depth
      const bool by_graph = loop == flat_loop::graph;
      BOOST_TEST(report.looped_by == (by_graph ? flat_loop::graph : flat_loop::host));
      BOOST_TEST((report.graph_grids > 0) == by_graph);
    }
  }
}

// ---- graphs ----

#if RAMIFY_ON_CUDA

namespace {

/// Launches the graph of a captured run for each tree. All trees have the same sizes.
template <class Run>
void expect_each_right(device_call& call, const std::vector<oracle>& trees, bool by_children,
                       const ramify::captured_graph& graph, cudaStream_t stream, Run& run,
                       bool slots_are_taken) {
  for (const oracle& tree : trees) {
    const tree_results unchanged = all_outputs(tree.parents.size());
    const auto shape = by_children
                           ? tree_shape::of_children(tree.lists.offsets, tree.lists.children)
                           : tree_shape::of_parents(tree.parents);
    call.copy_input(shape, unchanged);
    ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
    {
      std::optional<all_slots_taken> taken;
      if (slots_are_taken) taken.emplace(*ramify::current_launch_limits().pending_launches);
      graph.launch(stream);
      const auto report = run.get();
      BOOST_TEST(report.nodes == tree.parents.size());
    }
    expect_right(call, tree, unchanged);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(a_captured_run_is_right_in_each_launch_of_its_graph,
                     data::make(routes) * data::make({false, true}) * data::make({false, true}),
                     taken, by_children, slots_are_taken) {
  constexpr std::size_t n = 50'000;
  std::vector<oracle> trees{random_tree(n, 1)};
  // A path needs more rounds of rootfix than the graph has kernels outside its loop.
  for (const forest_kind kind : {forest_kind::path, forest_kind::random}) {
    auto parents = common::make_parents(kind, n, 2);
    if (common::child_lists_of(parents).children.size() == trees[0].lists.children.size()) {
      trees.emplace_back(common::relabeled(parents, 3));
    }
  }
  BOOST_TEST(trees.size() == 3u);
  const auto first = by_children
                         ? tree_shape::of_children(trees[0].lists.offsets, trees[0].lists.children)
                         : tree_shape::of_parents(trees[0].parents);
  device_call call(first, trees[0].values, all_outputs(n));
  const ramify::host_stream stream;
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  using run_type = decltype(call.start({}));
  std::optional<run_type> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    run = call.start({.stream = stream, .route = taken});
    BOOST_CHECK_THROW(run->get(), std::logic_error);
  });
  expect_each_right(call, trees, by_children, graph, stream.get(), *run, slots_are_taken);
}

BOOST_DATA_TEST_CASE(a_captured_run_finds_faults, data::make(routes), taken) {
  const oracle tree = random_tree(5'000, 7);
  const auto shape = tree_shape::of_parents(tree.parents);
  parent_array faulty = tree.parents;
  faulty[17] = 5'000;
  const tree_results unchanged = all_outputs(5'000);
  device_call call(shape, tree.values, unchanged);
  const ramify::host_stream stream;
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  std::optional<decltype(call.start({}))> run;
  const ramify::captured_graph graph(stream.get(),
                                     [&] { run = call.start({.stream = stream, .route = taken}); });
  for (int i = 0; i < 3; ++i) {
    call.copy_input(i == 1 ? tree_shape::of_parents(faulty) : shape, unchanged);
    ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
    graph.launch(stream.get());
    if (i == 1) {
      BOOST_CHECK_EXCEPTION(run->get(), std::invalid_argument,
                            names("the parent of node 17 is 5000"));
      tree_results results = unchanged;
      call.copy_outputs_to(results);
      BOOST_TEST((results == unchanged));
    } else {
      (void)run->get();
      expect_right(call, tree, unchanged);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_graph_cannot_capture_is_refused) {
  const oracle tree = random_tree(5'000, 8);
  const device_call call(tree_shape::of_parents(tree.parents), tree.values, all_outputs(5'000));
  const ramify::host_stream stream;
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  const auto capture = [&](ramify::environment env) {
    env.stream = stream;
    const ramify::captured_graph graph(stream.get(), [&] {
      const auto run = ramify::rooted_tree_async(call.shape(), call.numbers(), call.folds(), env);
    });
  };
  const ramify::memory_ref memory = call.scratch();
  BOOST_CHECK_EXCEPTION(capture({}), std::invalid_argument, names("environment.memory is empty"));
  BOOST_CHECK_EXCEPTION(
      capture({.memory = memory, .route = route::flat, .flat_loop = flat_loop::host}),
      ramify::unavailable, names("a graph cannot capture rounds that the host launches"));
#if RAMIFY_TRACE
  ramify::launch_trace trace;
  BOOST_CHECK_EXCEPTION(capture({.memory = memory, .trace = &trace}), ramify::unavailable,
                        names("recording of a trace"));
#endif
}

#endif

BOOST_AUTO_TEST_SUITE_END()
