// SPDX-License-Identifier: BSD-3-Clause
// Traces of real runs: they contain every grid that the report counts, and their times follow the
// rules of dynamic parallelism.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <numeric>
#include <ramify/amr.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/nbody.hpp>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort.hpp>
#include <ramify/rooted_tree.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/spatial_tree.hpp>
#include <ramify/traverse.cuh>
#include <ramify/tree_search.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backend_under_test.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::launch_stream;
using ramify::launch_trace;
using ramify::route;
using ramify::traced_grid;

namespace {

std::vector<std::uint32_t> random_keys(std::size_t n) {
  std::vector<std::uint32_t> keys(n);
  std::mt19937 generator(7);
  for (auto& key : keys) key = static_cast<std::uint32_t>(generator());
  return keys;
}

ramify::quicksort_report sort_traced(launch_trace* trace, std::size_t n, route taken,
                                     ramify::quicksort_strategy strategy) {
  auto keys = random_keys(n);
  ramify::quicksort_options options;
  options.backend = tests::backend_under_test();
  options.route = taken;
  options.strategy = strategy;
  options.trace = trace;
  const auto report = ramify::quicksort(std::span(keys), options);
  BOOST_TEST(std::ranges::is_sorted(keys));
  return report;
}

std::uint64_t grids_of(const ramify::run_report& report) {
  return report.host_grids + report.child_grids + report.graph_grids;
}

/// Returns the first violation of the rules of dynamic parallelism in a trace, or an empty string.
std::string broken_rule(const launch_trace& trace) {
  const auto& grids = trace.grids;
  std::ostringstream text;
  // The grids that each block launched into its NULL stream.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::size_t>> null_streams;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const traced_grid& g = grids[i];
    const auto fault = [&](const char* what) {
      text << "grid " << i << " (" << g.kernel << ") " << what;
      return text.str();
    };
    if (g.kernel.empty()) return fault("has no name");
    if (g.end < g.begin) return fault("ends before it begins");
    if (g.complete < g.end) return fault("is complete before it ends");
    if (i > 0 && g.begin < grids[i - 1].begin) return fault("is out of order");
    if ((g.stream == launch_stream::host) != (g.depth == 0)) return fault("is at the wrong depth");
    if (g.parent == traced_grid::no_grid) {
      if (g.depth > 0 && trace.lost == 0) return fault("has no parent");
      continue;
    }
    if (g.parent >= i) return fault("began before its parent");
    const traced_grid& parent = grids[g.parent];
    if (g.depth != parent.depth + 1) return fault("is not one level below its parent");
    if (g.launched < parent.begin || g.launched > parent.end) {
      return fault("was not launched while its parent ran");
    }
    if (g.begin < g.launched) return fault("began before it was launched");
    if (g.complete > parent.complete) return fault("outlives its parent");
    const std::uint64_t blocks =
        std::uint64_t{parent.blocks[0]} * parent.blocks[1] * parent.blocks[2];
    if (g.parent_block >= blocks) return fault("was launched by a block that does not exist");
    if (g.stream == launch_stream::null) null_streams[{g.parent, g.parent_block}].push_back(i);
    if (g.stream == launch_stream::tail && g.begin < parent.end) {
      return fault("is a tail launch, and began before its parent ended");
    }
    for (std::size_t j = 0; g.stream == launch_stream::tail && j < i; ++j) {
      const traced_grid& sibling = grids[j];
      if (sibling.parent == g.parent && sibling.complete > g.begin) {
        return fault("is a tail launch, and did not wait for its siblings");
      }
    }
  }
  for (auto& [block, launched] : null_streams) {
    std::ranges::stable_sort(launched, {}, [&](std::size_t i) { return grids[i].launched; });
    for (std::size_t k = 1; k < launched.size(); ++k) {
      if (grids[launched[k]].begin < grids[launched[k - 1]].complete) {
        text << "grid " << launched[k] << " did not wait for the one before it in the NULL stream";
        return text.str();
      }
    }
  }
  return {};
}

std::set<std::string_view> kernels_of(const launch_trace& trace) {
  std::set<std::string_view> names;
  for (const traced_grid& g : trace.grids) names.insert(g.kernel);
  return names;
}

ramify::amr_options small_blast(route taken, bool subcycle) {
  ramify::amr_options options = ramify::recommended_options(ramify::amr_problem::sedov, 2);
  options.backend = tests::backend_under_test();
  options.route = taken;
  options.mesh.max_level = tests::effort() < 0.1 ? 1 : 2;
  options.step.subcycle = subcycle;
  return options;
}

constexpr ramify::quicksort_strategy strategies[] = {ramify::quicksort_strategy::sample_sort,
                                                     ramify::quicksort_strategy::binary};

}  // namespace

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
    // The executor has its own count; one grid reads the names.
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
  auto options = small_blast(taken, subcycle);
  options.trace = &trace;
  ramify::amr_simulation blast(options);
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
  BOOST_TEST(kernels.contains("advance_level") == (taken == route::device && subcycle));
}

// ---- the other families ----

constexpr route routes[] = {route::device, route::flat};

BOOST_DATA_TEST_CASE(every_grid_of_a_tree_search_is_recorded, data::make(routes), taken) {
  launch_trace trace;
  const ramify::tree_search_options options{{.route = taken, .trace = &trace},
                                            tests::backend_under_test()};
  const char* tree = tests::runs_on_cpu() ? "small" : "T1";
  const auto found = ramify::tree_search(ramify::parse_uts_tree(tree), options);
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
  ramify::rooted_tree_options options;
  options.backend = tests::backend_under_test();
  options.route = taken;
  options.trace = &trace;
  // 1. A numbering, which contains a sort, a separate run.
  std::vector<std::int32_t> levels(n);
  std::vector<std::int32_t> preorder(n);
  auto all =
      grids_of(ramify::rooted_tree(shape, {.levels = levels, .preorder = preorder}, options));
  BOOST_TEST(trace.count() == all);
  BOOST_TEST((trace.taken == taken));
  BOOST_TEST(kernels_of(trace).contains("make_edges_from_parents"));
  BOOST_TEST(kernels_of(trace).contains("write_numbers"));
  // 2. With folds.
  const std::vector<std::int64_t> values(n, 1);
  std::vector<std::int64_t> folds(n);
  using ramify::tree_operator;
  all += grids_of(ramify::leaffix<std::int64_t>(shape, values, folds, tree_operator::sum, options));
  all += grids_of(ramify::rootfix<std::int64_t>(shape, values, folds, tree_operator::sum, options));
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
  ramify::spatial_tree_options options;
  options.backend = tests::backend_under_test();
  options.route = taken;
  options.trace = &trace;
  const ramify::spatial_index<float, 3> index(points, options);
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
  options.backend = tests::backend_under_test();
  options.softening = 0.1;
  options.method = method;
  options.trace = &trace;
  ramify::nbody_simulation<double> cluster(positions, velocities, masses, options);
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
  ramify::traverse_config config;
  config.route = taken;
  config.strategy = ramify::traverse_strategy::task_per_node;
  config.trace = &trace;
  const auto found = ramify::traverse(2000u, halves{}, one{}, sum{}, 0u, nullptr, config);
  BOOST_TEST(found.value == 3999u);
  BOOST_TEST(trace.count() == grids_of(found.report));
  BOOST_TEST(broken_rule(trace) == "");
  for (const char* kernel : {"clear_totals", "visit_children", "reduce_totals"}) {
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

// ---- the capacity of a trace ----

BOOST_AUTO_TEST_CASE(child_grids_beyond_the_capacity_are_counted) {
  launch_trace trace;
  trace.capacity = 3;
  const auto n = static_cast<std::size_t>(tests::runs_on_cpu() ? 60'000 : 1'000'000);
  const auto report = sort_traced(&trace, n, route::device, ramify::quicksort_strategy::binary);
  BOOST_TEST(report.child_grids > 3u);
  BOOST_TEST(trace.lost == report.child_grids - 3);
  BOOST_TEST(trace.count() + trace.lost == grids_of(report));
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(host_grids_beyond_the_capacity_are_counted) {
  launch_trace trace;
  trace.capacity = 1;
  const auto report = sort_traced(&trace, 50'000, route::flat, strategies[0]);
  BOOST_TEST(trace.count() == 1u);
  BOOST_TEST(trace.lost == report.host_grids - 1);
}

BOOST_AUTO_TEST_CASE(one_run_after_another) {
  launch_trace trace;
  std::uint64_t all = 0;
  for (const auto strategy : strategies) {
    all += grids_of(sort_traced(&trace, 50'000, route::device, strategy));
    BOOST_TEST(trace.count() == all);
  }
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(two_runs_share_a_trace) {
  launch_trace trace;
  auto options = small_blast(route::device, false);
  options.trace = &trace;
  ramify::amr_simulation blast(options);
  const auto sort = grids_of(sort_traced(&trace, 50'000, route::device, strategies[0]));
  blast.advance(1);
  BOOST_TEST(trace.count() == grids_of(blast.report()) + sort);
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

// The run that began first may be read last.
BOOST_AUTO_TEST_CASE(two_runs_at_the_same_time,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  launch_trace trace;
  ramify::quicksort_config config;
  config.trace = &trace;
  const ramify::host_stream first_stream;
  const ramify::host_stream second_stream;
  auto first_keys = random_keys(20'000);
  auto second_keys = random_keys(30'000);
  const auto start = [&](std::vector<std::uint32_t>& keys, const ramify::host_stream& stream) {
    return ramify::quicksort_async(keys.data(), keys.size(), ramify::ascending{}, stream.get(),
                                   config);
  };
  auto first = start(first_keys, first_stream);
  ramify::check(cudaStreamSynchronize(first_stream.get()), "waiting");
  auto second = start(second_keys, second_stream);
  auto all = grids_of(second.get());
  BOOST_TEST(trace.count() == all);
  const std::uint64_t origin = trace.origin;
  all += grids_of(first.get());
  BOOST_TEST(trace.count() == all);
  BOOST_TEST(trace.origin < origin);
  BOOST_TEST(trace.grids[0].begin == 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

// The capacity limits the grids between two reads of the trace, not those of the whole simulation.
BOOST_AUTO_TEST_CASE(a_long_simulation_fits) {
  launch_trace trace;
  auto options = small_blast(route::device, false);
  options.trace = &trace;
  trace.capacity = 400;
  ramify::amr_simulation blast(options);
  while (trace.count() < 1000) blast.advance(1);
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST(trace.count() == grids_of(blast.report()));
}

BOOST_AUTO_TEST_CASE(a_trace_has_one_clock,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  launch_trace trace;
  static_cast<void>(sort_traced(&trace, 1'000, route::flat, strategies[0]));
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  BOOST_CHECK_THROW(static_cast<void>(sort_traced(&trace, 1'000, route::flat, strategies[0])),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_full_mesh_leaves_a_trace) {
  launch_trace trace;
  auto options = small_blast(route::device, false);
  options.mesh.max_level = 4;
  options.mesh.max_blocks = 60;
  options.trace = &trace;
  BOOST_CHECK_THROW(ramify::amr_simulation(options).advance(50), ramify::amr_error);
  BOOST_TEST(trace.count() > 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(an_invalid_capacity_is_rejected) {
  for (const std::size_t capacity : {std::size_t{0}, (std::size_t{1} << 24) + 1}) {
    launch_trace trace;
    trace.capacity = capacity;
    BOOST_CHECK_EXCEPTION(static_cast<void>(sort_traced(&trace, 100, route::flat, strategies[0])),
                          std::invalid_argument, [](const std::invalid_argument& e) {
                            return std::string_view(e.what()).starts_with("launch_trace.capacity");
                          });
  }
}

// ---- the negative control ----

BOOST_AUTO_TEST_CASE(a_falsified_trace_is_detected) {
  launch_trace honest;
  ramify::amr_options options = small_blast(route::device, true);
  options.trace = &honest;
  ramify::amr_simulation blast(options);
  blast.advance(1);
  BOOST_TEST(broken_rule(honest) == "");
  const auto first_with = [&](auto is_one) {
    return static_cast<std::size_t>(std::ranges::find_if(honest.grids, is_one) -
                                    honest.grids.begin());
  };
  const auto expect_found = [&](std::size_t i, auto falsify) {
    BOOST_REQUIRE(i < honest.grids.size());
    launch_trace trace = honest;
    falsify(trace.grids[i]);
    BOOST_TEST(broken_rule(trace) != "");
  };
  const auto tail =
      first_with([](const traced_grid& g) { return g.stream == launch_stream::tail; });
  const auto child = first_with([](const traced_grid& g) { return g.depth > 0; });
  expect_found(child, [](traced_grid& g) { g.kernel.clear(); });
  expect_found(child, [](traced_grid& g) { g.launched = g.begin + 1; });
  expect_found(child, [](traced_grid& g) { g.complete += 1'000'000'000'000; });
  expect_found(child, [](traced_grid& g) { ++g.depth; });
  expect_found(child, [](traced_grid& g) { g.parent_block += 1'000'000; });
  expect_found(tail, [&](traced_grid& g) {
    g.launched = honest.grids[g.parent].begin;
    g.begin = honest.grids[g.parent].end - 1;
  });
}

BOOST_AUTO_TEST_SUITE_END()
