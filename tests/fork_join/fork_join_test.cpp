// SPDX-License-Identifier: BSD-3-Clause
// Compares fork_join() with a loop over the numbered nodes of the same trees.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/fork_join.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../traverse/traverse_checks.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::environment;
using ramify::fork_join_options;
using ramify::fork_join_report;
using ramify::granularity;
using ramify::route;
using ramify::traverse_options;
using ramify::traverse_strategy;
using enum numbered_tree::shape;

namespace {

/// The value of a node: a hash that depends on the order of the children, and a sum whose round-off
/// depends on it, too.
struct digest {
  std::uint64_t hash;
  float sum;
  bool operator==(const digest&) const = default;
};

/// Returns the digest of a leaf, or of a node to which no child has been added.
__host__ __device__ digest digest_of(unsigned node) {
  return {(node + 1) * 0x9E3779B97F4A7C15ull, 1.0f / static_cast<float>(node + 1)};
}

__host__ __device__ digest add_child(const digest& parent, const digest& child) {
  return {(parent.hash ^ child.hash) * 0x100000001B3ull, parent.sum + child.sum};
}

/// The problem under test. Counts the calls of leaf and combine for each node.
struct digest_tree {
  numbered_tree tree;
  unsigned* calls;

  [[nodiscard]] __device__ unsigned degree(unsigned node) const { return tree.degree(node); }
  [[nodiscard]] __device__ unsigned child(unsigned node, unsigned i) const {
    return tree.child(node, i);
  }
  [[nodiscard]] __device__ digest leaf(unsigned node) const {
    atomicAdd(&calls[node], 1u);
    return digest_of(node);
  }
  [[nodiscard]] __device__ digest combine(unsigned node, const digest* results,
                                          unsigned degree) const {
    atomicAdd(&calls[node], 1u);
    digest all = digest_of(node);
    for (unsigned i = 0; i < degree; ++i) all = add_child(all, results[i]);
    return all;
  }
};

using digest_run = ramify::async_run<ramify::fork_join_result<digest>>;

/// Returns the digest of a tree. Children have greater numbers than their parents, so a loop from
/// the last node to the first computes the digests of all children before that of their parent.
digest expected_digest(const numbered_tree& tree) {
  std::vector<digest> all(tree.nodes());
  for (auto node = static_cast<unsigned>(tree.nodes()); node-- > 0;) {
    all[node] = digest_of(node);
    for (unsigned i = 0; i < tree.degree(node); ++i) {
      all[node] = add_child(all[node], all[tree.child(node, i)]);
    }
  }
  return all[0];
}

/// Runs fork_join() on a tree. Checks the value, the counts, and that each node had one call of
/// leaf or combine.
fork_join_report expect_digest(const numbered_tree& tree, const traverse_options& options,
                               const environment& env) {
  const auto calls = zeros<unsigned>(tree.nodes());
  const auto report = with_grids_counted([&] {
    const auto found = ramify::fork_join(0u, digest_tree{tree, calls.data()},
                                         fork_join_options{options, tree.nodes()}, env);
    BOOST_TEST(bool(found.value == expected_digest(tree)));
    return found.report;
  });
  const auto seen = download(calls);
  BOOST_TEST(std::ranges::all_of(seen, [](unsigned c) { return c == 1; }));
  BOOST_TEST(report.nodes == tree.nodes());
  unsigned leaves = 0;
  for (unsigned node = 0; node < tree.nodes(); ++node) leaves += tree.degree(node) == 0 ? 1 : 0;
  BOOST_TEST(report.leaves == leaves);
  return report;
}

std::vector<numbered_tree> all_shapes() {
  return {numbered_tree{path, 1},
          numbered_tree{path, 40},
          numbered_tree{star, unsigned(cut_down(1'500, 100))},
          numbered_tree{complete, unsigned(cut_down(1'000, 100)), 3},
          numbered_tree{caterpillar, 60},
          numbered_tree{combs, 5, 3}};
}

/// Returns options for each strategy and granularity.
std::vector<traverse_options> all_options() {
  std::vector<traverse_options> all{{}};
  for (const auto grain : {granularity::per_task, granularity::per_block, granularity::per_grid}) {
    for (const ramify::launch_granularity launches :
         {ramify::launch_granularity{grain}, ramify::launch_granularity{grain, 3, 4}}) {
      all.push_back(
          {.capacity = 20'000, .strategy = traverse_strategy::task_per_node, .launches = launches});
    }
  }
  return all;
}

/// An infinite binary tree.
struct endless {
  [[nodiscard]] __device__ unsigned degree(unsigned) const { return 2; }
  [[nodiscard]] __device__ unsigned child(unsigned node, unsigned i) const { return 2 * node + i; }
  [[nodiscard]] __device__ unsigned leaf(unsigned) const { return 1; }
  [[nodiscard]] __device__ unsigned combine(unsigned, const unsigned* r, unsigned) const {
    return r[0] + r[1];
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fork_join)

BOOST_DATA_TEST_CASE(values_travel_up_under_every_limit,
                     data::make(routes) * data::make({1, 16, 32, 2048}), taken, limit) {
  static int piece = 0;
  for (const traverse_options& how : all_options()) {
    for (const numbered_tree& tree : all_shapes()) {
      if (left_out(piece)) continue;
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", " << to_string(how.strategy) << ", "
                                  << to_string(how.launches.grain)) {
        const auto report =
            expect_digest(tree, how, {.route = taken, .pending_launches = std::size_t(limit)});
        expect_route(report.taken, taken, std::size_t(limit));
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(values_travel_up_under_any_schedule,
                     data::make({"eager", "late", "random:1", "random:2", "random:3"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  static int piece = 0;
  for (const route taken : routes) {
    const environment env{.route = taken, .pending_launches = 64};
    for (const traverse_options& how : all_options()) {
      if (left_out(piece)) continue;
      expect_digest({complete, 100, 3}, how, env);
      expect_digest({caterpillar, 20}, how, env);
      expect_digest({star, 100}, how, env);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_travel_up_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  // A reproducible schedule, in which the tree takes several rounds on any machine.
  const auto executor = two_workers("random:1");
  const ramify::cpu::scoped_executor_config without_failures(executor);
  const numbered_tree tree{complete, 1'000, 3};
  const environment env{.route = route::device};
  for (const traverse_options& how : all_options()) {
    if (how.launches.coarsening > 1) continue;
    BOOST_TEST_CONTEXT(to_string(how.strategy) << ", " << to_string(how.launches.grain)) {
      const fork_join_report whole = expect_digest(tree, how, env);
      const unsigned interrupted = tests::count_interrupted(6, executor, [&](std::uint64_t) {
        const fork_join_report report = expect_digest(tree, how, env);
        return report.host_grids > whole.host_grids || report.spilled_tasks > 0;
      });
      // Negative control: the failures did end launches.
      BOOST_TEST(interrupted >= 2u);
    }
  }
}

// The last child combines along the whole path in a loop, so the depth needs no stack.
BOOST_DATA_TEST_CASE(a_deep_chain_returns_its_value, data::make(routes), taken) {
  // (100,000 levels also pass; a run takes three seconds.)
  expect_digest({path, unsigned(cut_down(15'000, 300))}, {}, {.route = taken});
  expect_digest({caterpillar, unsigned(cut_down(5'000, 100))}, {}, {.route = taken});
}

BOOST_AUTO_TEST_CASE(a_deep_chain_of_grids_returns_its_value) {
  for (const route taken : routes) {
    expect_digest({path, unsigned(cut_down(3'000, 100))},
                  {.capacity = 1'000,
                   .strategy = traverse_strategy::task_per_node,
                   .launches = {granularity::per_grid}},
                  {.route = taken});
  }
}

BOOST_DATA_TEST_CASE(wide_and_large_trees_return_their_values, data::make(routes), taken) {
  expect_digest({star, unsigned(cut_down(200'000, 1'000))}, {}, {.route = taken});
  expect_digest({complete, unsigned(cut_down(200'000, 1'000)), 3}, {}, {.route = taken});
  expect_digest({combs, unsigned(cut_down(200, 10)), 20}, {}, {.route = taken});
}

BOOST_DATA_TEST_CASE(too_many_nodes_are_an_error, data::make(routes), taken) {
  const numbered_tree tree{complete, 1'000, 3};
  const auto calls = zeros<unsigned>(tree.nodes());
  static int piece = 0;
  const environment env{.route = taken};
  for (const traverse_options& how : all_options()) {
    if (left_out(piece, 3)) continue;
    for (const std::size_t max_nodes : {std::size_t{1}, std::size_t{500}, tree.nodes() - 1}) {
      BOOST_CHECK_EXCEPTION(
          (void)ramify::fork_join(0u, digest_tree{tree, calls.data()},
                                  fork_join_options{how, max_nodes}, env),
          std::length_error,
          names("raise fork_join_options.max_nodes, which is " + std::to_string(max_nodes)));
      BOOST_TEST(slots_in_use() == 0u);
    }
    // The error ends an infinite recursion, too. A further get() reports it again.
    auto run = fork_join_async(1u, endless{}, fork_join_options{how, 1'000}, env);
    for (int i = 0; i < 2; ++i) {
      BOOST_CHECK_EXCEPTION((void)run.get(), std::length_error,
                            names("fork_join: the tree has at least"));
    }
  }
}

BOOST_AUTO_TEST_CASE(several_runs_are_started_before_the_first_result) {
  const numbered_tree tree{complete, 1'000, 3};
  const auto calls = zeros<unsigned>(tree.nodes());
  for (const route taken : routes) {
    const ramify::host_stream streams[2];
    ramify::check(cudaDeviceSynchronize(), "preparing");
    std::vector<digest_run> runs;
    for (const auto& stream : streams) {
      runs.push_back(fork_join_async(0u, digest_tree{tree, calls.data()},
                                     fork_join_options{{}, 2'000},
                                     {.stream = stream, .route = taken}));
    }
    for (unsigned i = 2; i-- > 0;) BOOST_TEST(bool(runs[i].get().value == expected_digest(tree)));
    BOOST_TEST(slots_in_use() == 0u);
  }
}

// The replaced run holds launch slots. A grid in its memory releases them, so the memory must be
// freed after this grid. The allocator of the executor unmaps so large a block when it is freed.
BOOST_DATA_TEST_CASE(a_move_assignment_ends_the_replaced_run, data::make(routes), taken) {
  const numbered_tree tree{complete, 100, 3};
  const auto calls = zeros<unsigned>(tree.nodes());
  const digest_tree problem{tree, calls.data()};
  const fork_join_options large{{}, std::size_t(cut_down(2'000'000, 200'000))};
  const environment env{.route = taken};
  auto run = fork_join_async(0u, problem, large, env);
  (void)(run = fork_join_async(0u, problem, fork_join_options{{}, tree.nodes()}, env));
  BOOST_TEST(bool(run.get().value == expected_digest(tree)));
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused_before_any_launch) {
  const auto calls = zeros<unsigned>(10);
  const digest_tree problem{{path, 10}, calls.data()};
  const auto start = [&](const fork_join_options& options, const environment& env = {}) {
    (void)fork_join_async(0u, problem, options, env);
  };
  const auto before = ramify::cpu::grids_begun();
  const auto expect = [&](const fork_join_options& options, const char* text) {
    BOOST_CHECK_EXCEPTION(start(options), std::invalid_argument, names(text));
    BOOST_CHECK_EXCEPTION((void)(ramify::fork_join_scratch_bytes<unsigned, digest_tree>(options)),
                          std::invalid_argument, names(text));
  };
  expect({{}, 0}, "fork_join_options.max_nodes is 0; it must be in [1, 2^31]");
  expect({{}, (std::size_t{1} << 31) + 1}, "fork_join_options.max_nodes is 2147483649");
  expect({{.capacity = (std::size_t{1} << 30) + 1}}, "traverse_options.capacity");
  const fork_join_options options{{}, 10};
  BOOST_CHECK_EXCEPTION(start(options, {.route = route(9)}), std::invalid_argument,
                        names("environment.route"));
  const std::size_t bytes = ramify::fork_join_scratch_bytes<unsigned, digest_tree>(options);
  const ramify::device_buffer<std::byte> memory(bytes + 1, nullptr);
  const auto with = [](std::byte* data, std::size_t size) {
    return environment{.memory = ramify::memory_ref(data, size)};
  };
  BOOST_CHECK_EXCEPTION(
      start(options, with(memory.data(), bytes - 1)), std::invalid_argument,
      names("fork_join: environment.memory has " + std::to_string(bytes - 1) + " bytes"));
  BOOST_CHECK_EXCEPTION(start(options, with(memory.data() + 1, bytes)), std::invalid_argument,
                        names("fork_join: environment.memory must be aligned"));
  BOOST_TEST(ramify::cpu::grids_begun() == before);
  const auto found = ramify::fork_join(0u, problem, options, with(memory.data(), bytes));
  BOOST_TEST(bool(found.value == expected_digest(problem.tree)));
  BOOST_TEST(found.report.scratch_bytes == bytes);
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(a_captured_run_returns_its_value_after_each_launch, data::make(routes),
                     taken) {
  const numbered_tree tree{complete, 10'000, 3};
  const auto calls = zeros<unsigned>(tree.nodes());
  for (const traverse_options& how : all_options()) {
    const fork_join_options options{how, tree.nodes()};
    const ramify::host_stream stream;
    const ramify::device_buffer<std::byte> scratch(
        ramify::fork_join_scratch_bytes<unsigned, digest_tree>(options), nullptr);
    ramify::check(cudaDeviceSynchronize(), "preparing");
    std::optional<digest_run> run;
    const ramify::captured_graph graph(stream.get(), [&] {
      (void)run.emplace(fork_join_async(0u, digest_tree{tree, calls.data()}, options,
                                        {.stream = stream, .memory = scratch, .route = taken}));
    });
    for (int launches = 0; launches < 2; ++launches) {
      graph.launch(stream.get());
      BOOST_TEST(bool(run->get().value == expected_digest(tree)));
    }
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()
