// SPDX-License-Identifier: BSD-3-Clause
// Traces of real runs: they contain every grid that the report counts, and their times follow the
// rules of dynamic parallelism.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/amr.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/nbody.hpp>
#include <ramify/rooted_tree.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/segmented_sort.hpp>
#include <ramify/spatial_tree.hpp>
#include <ramify/traverse.cuh>
#include <ramify/tree_search.hpp>
#include <random>
#include <string_view>
#include <tuple>
#include <vector>

#include "backend_under_test.hpp"
#include "printing.hpp"
#include "trace_checks.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::environment;
using ramify::launch_trace;
using ramify::route;

BOOST_AUTO_TEST_SUITE(recorded_traces)

BOOST_DATA_TEST_CASE(every_grid_of_a_sort_is_recorded,
                     data::make({route::device, route::flat}) * data::make(strategies) *
                         data::make({2, 1'000, 300'000}),
                     taken, strategy, full) {
  const auto n = std::min(static_cast<std::size_t>(full),
                          static_cast<std::size_t>(tests::cut_down(300'000, 20'000)));
  launch_trace trace;
  const auto report = sort_traced(&trace, n, taken, strategy);
  BOOST_TEST(trace.count() == grids_of(report));
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST((trace.taken == taken));
  BOOST_TEST((trace.ran_on == tests::backend_under_test()));
  BOOST_TEST(broken_rule(trace) == "");
  if (taken == route::flat) BOOST_TEST(trace.grids.back().depth == 0u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(under_every_schedule,
                     data::make({"parallel", "eager", "late", "random:1", "random:2", "random:3"}),
                     schedule) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
  const auto n = static_cast<std::size_t>(tests::cut_down(100'000, 20'000));
  for (const auto strategy : strategies) {
    launch_trace trace;
    const std::uint64_t before = ramify::cpu::grids_begun();
    const auto report = sort_traced(&trace, n, route::device, strategy);
    BOOST_TEST(trace.count() == grids_of(report));
    // The executor also counts the grid that reads the kernel names.
    BOOST_TEST(ramify::cpu::grids_begun() - before >= trace.count());
    BOOST_TEST(report.child_grids > 0u);
    BOOST_TEST(trace.counts_steps == (std::string_view(schedule) != "parallel"));
    BOOST_TEST(broken_rule(trace) == "");
  }
}

BOOST_DATA_TEST_CASE(every_grid_of_a_blast_is_recorded,
                     data::make({route::device, route::flat}) * data::make({false, true}), taken,
                     subcycle) {
  if (tests::effort() < 0.1 && taken == route::flat) return;
  launch_trace trace;
  ramify::amr_simulation blast(small_blast(subcycle), traced_by(trace, taken));
  const auto after_start = trace.count();
  BOOST_TEST(after_start == grids_of(blast.report()));
  blast.advance(tests::effort() < 1 ? 2 : 6);
  static_cast<void>(blast.totals());  // its grids are not part of the run
  BOOST_TEST(trace.count() == grids_of(blast.report()));
  BOOST_TEST(trace.count() > after_start);
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST(broken_rule(trace) == "");
  const auto kernels = kernels_of(trace);
  BOOST_TEST(kernels.contains("advance_blocks"));
  BOOST_TEST(kernels.contains("drive_chain") == (taken == route::device));
}

// A kernel launches up to 16 steps of the finest level: the driver and a task take a step of 6
// levels. Each call ends with a step of length zero, which validates the cells.
BOOST_AUTO_TEST_CASE(the_tasks_of_a_step_have_their_name) {
  if (!tests::runs_on_cpu()) return;
  ramify::amr_setup setup = small_blast(true);
  setup.options.mesh.roots = {1, 1, 1};
  setup.options.mesh.max_level = 5;
  setup.options.regrid.every = 0;
  setup.options.regrid.refine_above = 1e30;
  setup.refined_boxes = {{{0.5, 0.5, 0}, {0.51, 0.51, 0}, 5}};
  launch_trace trace;
  ramify::amr_simulation blast(setup, traced_by(trace, route::device));
  const auto tasks = [&] {
    return std::ranges::count_if(trace.grids, [&](const auto& grid) {
      return std::string_view(grid.kernel) == "take_subcycled_steps";
    });
  };
  BOOST_TEST(tasks() == 1);
  blast.advance(1);
  BOOST_TEST(tasks() == 3);
  blast.advance(2);
  BOOST_TEST(tasks() == 6);
}

// ---- the other families ----

constexpr route routes[] = {route::device, route::flat};

BOOST_DATA_TEST_CASE(every_grid_of_a_tree_search_is_recorded, data::make(routes), taken) {
  launch_trace trace;
  const environment env{.backend = tests::backend_under_test(), .route = taken, .trace = &trace};
  const char* tree = tests::runs_on_cpu() ? "small" : "T1";
  const auto found = ramify::tree_search(ramify::parse_uts_tree(tree), env);
  BOOST_TEST(trace.count() == grids_of(found.report));
  BOOST_TEST((trace.taken == taken));
  BOOST_TEST(broken_rule(trace) == "");
  BOOST_TEST(kernels_of(trace).contains(taken == route::device ? "traverse_round"
                                                               : "traverse_round_flat"));
}

BOOST_DATA_TEST_CASE(every_grid_of_a_rooted_tree_is_recorded, data::make(routes), taken) {
  constexpr std::size_t n = 20'000;
  std::vector<std::int32_t> parents(n, -1);
  std::mt19937 generator(3);
  for (std::size_t v = 1; v < n; ++v) parents[v] = static_cast<std::int32_t>(generator() % v);
  const auto shape = ramify::tree_shape::of_parents(parents);
  launch_trace trace;
  const environment env{.backend = tests::backend_under_test(), .route = taken, .trace = &trace};
  // 1. A numbering, which contains a sort as a separate run.
  std::vector<std::int32_t> levels(n);
  std::vector<std::int32_t> preorder(n);
  auto all = grids_of(ramify::rooted_tree(shape, {.levels = levels, .preorder = preorder}, env));
  BOOST_TEST(trace.count() == all);
  BOOST_TEST((trace.taken == taken));
  BOOST_TEST(kernels_of(trace).contains("make_edges_from_parents"));
  BOOST_TEST(kernels_of(trace).contains("write_numbers"));
  // 2. With folds.
  const std::vector<std::int64_t> values(n, 1);
  std::vector<std::int64_t> folds(n);
  using ramify::tree_operator;
  all += grids_of(ramify::leaffix<std::int64_t>(shape, values, folds, tree_operator::sum, env));
  all += grids_of(ramify::rootfix<std::int64_t>(shape, values, folds, tree_operator::sum, env));
  BOOST_TEST(trace.count() == all);
  BOOST_TEST(kernels_of(trace).contains("fold_subtrees"));
  BOOST_TEST(kernels_of(trace).contains("double_paths"));
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_DATA_TEST_CASE(every_grid_of_a_spatial_tree_is_recorded, data::make(routes), taken) {
  std::vector<std::array<float, 3>> points(20'000);
  std::mt19937 generator(5);
  for (auto& p : points) {
    for (float& x : p) x = static_cast<float>(generator() % 100'000);
  }
  launch_trace trace;
  const ramify::spatial_index<float, 3> index(
      points, {.backend = tests::backend_under_test(), .route = taken, .trace = &trace});
  BOOST_TEST(trace.count() == grids_of(index.report()));
  BOOST_TEST((trace.taken == taken));
  BOOST_TEST(broken_rule(trace) == "");
  for (const char* kernel : {"find_bounds", "encode_points", "build_subtrees", "reduce_nodes"}) {
    BOOST_TEST(kernels_of(trace).contains(kernel));
  }
}

BOOST_DATA_TEST_CASE(every_grid_of_a_cluster_is_recorded,
                     data::make({ramify::nbody_method::tree, ramify::nbody_method::direct}),
                     method) {
  constexpr std::size_t n = 1'000;
  std::vector<std::array<double, 3>> positions(n);
  const std::vector<std::array<double, 3>> velocities(n);
  const std::vector<double> masses(n, 1.0 / n);
  std::mt19937 generator(11);
  for (auto& p : positions) {
    for (double& x : p) x = static_cast<double>(generator() % 100'000) / 100'000;
  }
  launch_trace trace;
  ramify::nbody_options options;
  options.softening = 0.1;
  options.method = method;
  ramify::nbody_simulation<double> cluster(
      positions, velocities, masses, options,
      {.backend = tests::backend_under_test(), .trace = &trace});
  BOOST_TEST(trace.count() == grids_of(cluster.report()));
  cluster.step(0.001, 2);
  static_cast<void>(cluster.conserved());
  BOOST_TEST(trace.count() == grids_of(cluster.report()));
  BOOST_TEST(broken_rule(trace) == "");
  const bool by_tree = method == ramify::nbody_method::tree;
  for (const char* kernel : {"kick_and_drift", "kick", "sum_conserved", "find_invalid_body",
                             by_tree ? "traverse_tree" : "direct_sum"}) {
    BOOST_TEST(kernels_of(trace).contains(kernel));
  }
}

// A tree whose nodes are numbers: the children of a node are its halves.
struct halves {
  unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
};
struct one {
  unsigned operator()(unsigned, unsigned) const { return 1; }
};
struct sum {
  unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_grid_of_a_plain_recursion_is_recorded, data::make(routes), taken) {
  launch_trace trace;
  const auto found = ramify::traverse(
      2000u, halves{}, one{}, sum{}, 0u,
      ramify::traverse_options{.strategy = ramify::traverse_strategy::task_per_node},
      {.route = taken, .trace = &trace});
  BOOST_TEST(found.value == 3999u);
  BOOST_TEST(trace.count() == grids_of(found.report));
  BOOST_TEST(broken_rule(trace) == "");
  for (const char* kernel : {"clear_totals", "visit_children", "reduce_totals"}) {
    BOOST_TEST(kernels_of(trace).contains(kernel));
  }
}

BOOST_DATA_TEST_CASE(a_segmented_sort_is_recorded, data::make({route::device, route::flat}),
                     taken) {
  std::vector<std::uint32_t> keys(20'000);
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = i * 7919 % 20'011;
  launch_trace trace;
  const auto report = ramify::segmented_sort(
      keys, std::array{0u, 10u, 1'000u, 20'000u}, ramify::sort_order::ascending,
      {.backend = tests::backend_under_test(), .route = taken, .trace = &trace});
  BOOST_TEST(trace.count() == grids_of(report));
  BOOST_TEST(broken_rule(trace) == "");
  for (const char* kernel : {"read_segments", "sort_small_segments", "sort_middle_segments"}) {
    BOOST_TEST(kernels_of(trace).contains(kernel));
  }
}

// A schedule is reproducible, so its steps are reproducible too.
BOOST_AUTO_TEST_CASE(the_same_schedule_gives_the_same_trace,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  const auto trace_of = [](const char* schedule) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    launch_trace trace;
    static_cast<void>(
        sort_traced(&trace, 20'000, route::device, ramify::quicksort_strategy::binary));
    std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t>> all;
    for (const auto& g : trace.grids) all.emplace_back(g.parent, g.begin, g.end);
    return all;
  };
  BOOST_TEST((trace_of("random:5") == trace_of("random:5")));
  BOOST_TEST((trace_of("random:5") != trace_of("random:6")));
}

BOOST_AUTO_TEST_SUITE_END()
