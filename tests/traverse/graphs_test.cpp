// SPDX-License-Identifier: BSD-3-Clause
// The rounds and levels of the flat route by the host and by a graph, failed launches, and
// traversals captured into a graph.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <utility>
#include <vector>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;
using ramify::route;
using ramify::traverse_report;
using ramify::traverse_strategy;
using enum numbered_tree::shape;

BOOST_AUTO_TEST_SUITE(traverse)

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  // A reproducible schedule, in which the traversal takes many rounds on any machine.
  const auto executor = two_workers("random:1");
  const ramify::cpu::scoped_executor_config without_failures(executor);
  const late_tree tree{{combs, unsigned(sampled(240, 80))}};
  for (const traverse_setting& setting : all_settings(route::device)) {
    const ramify::traverse_options& how = setting.options;
    BOOST_TEST_CONTEXT(to_string(how.strategy) << ", " << to_string(how.launches.grain)) {
      const traverse_report whole = expect_each_visited_once(tree, setting);
      const unsigned interrupted = tests::count_interrupted(12, executor, [&](std::uint64_t) {
        const traverse_report report = expect_each_visited_once(tree, setting);
        return report.host_grids > whole.host_grids || report.spilled_tasks > 0;
      });
      BOOST_TEST(interrupted >= 3u);  // negative control: the failures did end launches
    }
  }
}

BOOST_DATA_TEST_CASE(several_traversals_are_started_before_the_first_result, data::make(routes),
                     taken) {
  const numbered_tree tree{complete, unsigned(cut_down(3'000, 300)), 3};
  for (traverse_setting setting : all_settings(taken)) {
    const std::vector<unsigned> none(tree.nodes(), 0);
    const auto visits = upload(none);
    const ramify::host_stream streams[2];
    std::vector<mark_run> runs;
    ramify::check(cudaDeviceSynchronize(), "preparing");
    for (const auto& stream : streams) {
      setting.env.stream = stream;
      runs.push_back(traverse_async(0u, tree, mark_visit{visits.data()}, sum{}, 0u, setting.options,
                                    setting.env));
    }
    for (unsigned i = 2; i-- > 0;) BOOST_TEST(runs[i].get().value == tree.nodes());
    std::vector<unsigned> seen(tree.nodes());
    download(visits, seen);
    BOOST_TEST(std::ranges::all_of(seen, [](unsigned v) { return v == 2; }));
    BOOST_TEST(slots_in_use() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_rounds) {
  // Two trees take at most one round, one takes a few rounds, and one takes many.
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{path, 50},
                           numbered_tree{complete, unsigned(cut_down(200'000, 5'000)), 3},
                           numbered_tree{combs, 100, unsigned(cut_down(200, 4))}}) {
    BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << tree.n) {
      const auto mark = [&](flat_loop loop) {
        return expect_each_visited_once(tree, {.env = {.route = route::flat, .flat_loop = loop}});
      };
      const traverse_report by_host = mark(flat_loop::host);
      BOOST_TEST(by_host.looped_by == flat_loop::host);
      BOOST_TEST(by_host.flat_loop_reason == "requested");
      BOOST_TEST(by_host.graph_grids == 0u);
      // Two grids visit the root and reduce the totals, and a third reduces them again if the host
      // launches a round after the first. The others are rounds, or one grid that finds no work.
      BOOST_TEST(by_host.host_grids ==
                 2 + std::max<std::uint64_t>(by_host.rounds, 1) + (by_host.rounds > 1 ? 1 : 0));
      BOOST_TEST(by_host.deepest_level == by_host.rounds);

      const traverse_report automatic = mark(flat_loop::automatic);
      BOOST_TEST(!automatic.flat_loop_reason.empty());
      if (!RAMIFY_ON_CUDA) {
        BOOST_TEST(automatic.looped_by == flat_loop::host);
        BOOST_CHECK_EXCEPTION(mark(flat_loop::graph), ramify::unavailable,
                              names("the CPU executor has no graphs"));
        continue;
      }
      const traverse_report in_graph = mark(flat_loop::graph);
      BOOST_TEST(in_graph.looped_by == flat_loop::graph);
      BOOST_TEST(in_graph.host_grids == 2u);
      BOOST_TEST(in_graph.graph_grids == std::max<std::uint64_t>(in_graph.rounds, 1));
      BOOST_TEST((automatic.looped_by == flat_loop::graph) == (automatic.rounds > 1));
      BOOST_TEST(automatic.host_grids + automatic.graph_grids >= 2 + automatic.rounds);
    }
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_levels) {
  const auto mark = [&](const numbered_tree& tree, flat_loop loop) {
    return expect_each_visited_once(
        tree, {.options = {.capacity = 100'000, .strategy = traverse_strategy::task_per_node},
               .env = {.route = route::flat, .flat_loop = loop}});
  };
  for (const auto& [tree, levels] :
       {std::pair{numbered_tree{path, 50}, 49u}, std::pair{numbered_tree{star, 1'000}, 2u},
        std::pair{numbered_tree{complete, 1 + 4 + 16 + 64, 4}, 3u}}) {
    const traverse_report by_host = mark(tree, flat_loop::host);
    BOOST_TEST(by_host.looped_by == flat_loop::host);
    BOOST_TEST(by_host.flat_loop_reason == "requested");
    BOOST_TEST(by_host.graph_grids == 0u);
    // The other grids clear the totals, visit the root and reduce the totals: once after the root,
    // and again after the levels.
    BOOST_TEST(by_host.host_grids == 4u + levels);
    BOOST_TEST(by_host.deepest_level == levels);
    if (!RAMIFY_ON_CUDA) {
      BOOST_CHECK_EXCEPTION(mark(tree, flat_loop::graph), ramify::unavailable,
                            names("the CPU executor has no graphs"));
      continue;
    }
    for (const flat_loop loop : {flat_loop::automatic, flat_loop::graph}) {
      const traverse_report in_graph = mark(tree, loop);
      BOOST_TEST(in_graph.looped_by == flat_loop::graph);
      // A requested graph follows the root at once, otherwise get() begins it.
      BOOST_TEST(in_graph.host_grids == (loop == flat_loop::graph ? 3u : 4u));
      // An iteration is two levels: a grid over each list, and the end.
      BOOST_TEST(in_graph.graph_grids == (levels + 1) / 2 * 3);
      BOOST_TEST(in_graph.deepest_level == levels);
    }
  }
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

namespace {

/// A numbered tree whose size is in device memory, so that each launch of a graph can visit another
/// tree.
struct resizable_tree {
  numbered_tree tree;
  const unsigned* n;

  [[nodiscard]] __device__ unsigned degree(unsigned node) const { return resized().degree(node); }
  [[nodiscard]] __device__ unsigned child(unsigned node, unsigned i) const {
    return resized().child(node, i);
  }
  [[nodiscard]] __device__ numbered_tree resized() const { return {tree.kind, *n, tree.arity}; }
};

struct captured_marks {
  std::vector<unsigned> visits;
  std::vector<unsigned> values;  ///< the value of each get()
  traverse_report report;
};

/// Captures a traversal and launches the graph once for each size of the tree. Gets the result
/// after each launch, or after the last one only.
captured_marks mark_captured(const numbered_tree& tree, const std::vector<unsigned>& ns,
                             traverse_setting setting, bool get_each) {
  const ramify::host_stream stream;
  captured_marks result;
  result.visits.assign(tree.nodes(), 0);
  const auto visits = upload(result.visits);
  const auto size = upload(std::vector{0u});
  const ramify::device_buffer<std::byte> scratch(
      ramify::traverse_scratch_bytes<unsigned, resizable_tree, mark_visit, sum, unsigned>(
          setting.options),
      nullptr);
  setting.env.stream = stream;
  setting.env.memory = scratch;
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<mark_run> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(traverse_async(0u, resizable_tree{tree, size.data()},
                                     mark_visit{visits.data()}, sum{}, 0u, setting.options,
                                     setting.env));
  });
  const auto launches = unsigned(ns.size());
  for (unsigned i = 1; i <= launches; ++i) {
    ramify::check(cudaMemcpyAsync(size.data(), &ns[i - 1], sizeof(unsigned), cudaMemcpyHostToDevice,
                                  stream.get()),
                  "resizing the tree");
    graph.launch(stream.get());
    if (!get_each && i < launches) continue;
    const auto found = run->get();
    result.values.push_back(found.value);
    result.report = found.report;
  }
  download(visits, result.visits);
  return result;
}

/// Captures a traversal of a path, with or without scratch memory, and may call get() too early.
void capture_path(traverse_setting setting, bool has_scratch, bool get) {
  const ramify::host_stream stream;
  const ramify::device_buffer<std::byte> scratch(mark_scratch_bytes(setting.options), nullptr);
  const ramify::device_buffer<unsigned> visits(10, nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  setting.env.stream = stream;
  if (has_scratch) setting.env.memory = scratch;
  const ramify::captured_graph graph(stream.get(), [&] {
    auto run = start_path(visits.data(), setting);
    if (get) (void)run.get();
  });
}

}  // namespace

BOOST_DATA_TEST_CASE(a_captured_traversal_runs_with_each_launch_of_its_graph,
                     data::make(routes) * data::make({32, 64, 2048}), taken, limit) {
  const ramify::launch_limits limits({.pending_launches = std::size_t(limit)});
  for (const traverse_setting& setting : all_settings(taken)) {
    for (const auto& tree : {numbered_tree{path, 300}, numbered_tree{complete, 100'000, 5},
                             numbered_tree{combs, 100, 50}}) {
      const std::vector<unsigned> ns{tree.n, tree.n / 3, tree.n - 1};
      std::vector<unsigned> sizes;
      for (const unsigned n : ns) {
        sizes.push_back(unsigned(numbered_tree{tree.kind, n, tree.arity}.nodes()));
      }
      for (const bool get_each : {true, false}) {
        const auto found = mark_captured(tree, ns, setting, get_each);
        const std::vector<unsigned> values(get_each ? sizes : std::vector{sizes.back()});
        BOOST_TEST(found.values == values, boost::test_tools::per_element());
        // The numbers of nodes of combs depend on n.
        if (tree.kind != combs) {
          for (unsigned node = 0; node < tree.nodes(); ++node) {
            const auto expected =
                std::ranges::count_if(sizes, [&](unsigned n) { return node < n; });
            if (found.visits[node] != expected) BOOST_ERROR("visits of node " << node);
          }
        }
        BOOST_TEST(found.report.taken == taken);
        BOOST_TEST((found.report.looped_by == flat_loop::graph) == (taken == route::flat));
        BOOST_TEST(slots_in_use() == 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_capture_that_is_impossible_is_refused) {
  const auto expect = [](const traverse_setting& setting, bool has_scratch, bool get,
                         const std::string& text) {
    BOOST_CHECK_EXCEPTION(capture_path(setting, has_scratch, get), std::exception, names(text));
  };
  const ramify::environment by_host{.route = route::flat, .flat_loop = flat_loop::host};
  const traverse_setting by_tasks{
      .options = {.capacity = 1000, .strategy = traverse_strategy::task_per_node}};
  expect({}, false, false, "environment.memory is empty");
  expect({.env = by_host}, true, false, "a graph cannot capture");
  expect(by_tasks, false, false, "environment.memory is empty");
  expect({by_tasks.options, by_host}, true, false, "a graph cannot capture");
  expect({}, true, true, "the stream is being captured");
  expect(by_tasks, true, true, "the stream is being captured");
  // The next traversal runs.
  expect_each_visited_once({complete, 1000, 3}, {});
}

#endif

BOOST_AUTO_TEST_SUITE_END()
