// SPDX-License-Identifier: BSD-3-Clause
// Searches by all ranks. Each rank runs these test cases, and compares with an exhaustive search.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/branch_and_bound/knapsack.cuh>
#include <ramify/branch_and_bound/queens.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_branch_and_bound.cuh>
#include <ramify/distributed_traverse.cuh>
#include <stdexcept>

#include "../branch_and_bound/branch_and_bound_checks.cuh"
#include "exceptions.hpp"

namespace tests::distributed_search {
namespace {

using ramify::communicator;
using ramify::value_range;

const ramify::cluster_options cpu_ranks{.backend = ramify::backend::cpu};

/// Searches with all ranks, with this number of steps in a round.
template <class Node, class Problem>
auto search(communicator& comm, const Node& root, const Problem& problem, const value_range& range,
            unsigned steps, const ramify::search_limits& limits = {},
            const ramify::environment& env = {}) {
  return ramify::distributed_branch_and_bound(comm, root, problem, range, {{}, limits},
                                              {.steps = steps}, env);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distributed_branch_and_bound)

BOOST_AUTO_TEST_CASE(the_first_best_leaf_is_found) {
  communicator comm(cpu_ranks);
  for (const cost_tree& tree : {cost_tree{8, 3}, cost_tree{0, 3}, cost_tree{6, 4, 5, -1'000}}) {
    const best_leaf expected = exhaustive_search(tree);
    for (const ramify::route route : routes) {
      with_grids_counted([&] {
        const auto found =
            search(comm, tree.root(), tree, {.lower = tree.offset}, 4, {}, {.route = route});
        BOOST_TEST(found.found == (expected.value != ramify::no_solution));
        BOOST_TEST(found.value == expected.value);
        if (found.found) BOOST_TEST(bool(found.solution == expected.leaf));
        return found.report;
      });
    }
  }
  // No leaf has a value of at most `upper`.
  const cost_tree costly{5, 2, 1, 1};
  BOOST_TEST(!search(comm, costly.root(), costly, {.upper = 0}, 4).found);
}

/// The root, 0, has one leaf with a solution, and 63 long paths without one. Their bound does not
/// prune them before the solution is known.
struct one_solution {
  static constexpr unsigned path = 20'000;

  [[nodiscard]] __host__ __device__ unsigned degree(unsigned node) const {
    if (node == 0) return 64;
    return node == 1 || node == 2 + path ? 0 : 1;
  }
  [[nodiscard]] __host__ __device__ unsigned child(unsigned node, unsigned i) const {
    if (node == 0) return i == 0 ? 1 : 2;
    return node + 1;
  }
  [[nodiscard]] __host__ __device__ std::int64_t bound(unsigned node) const {
    return node == 0 ? 1 : 5;
  }
  [[nodiscard]] __host__ __device__ std::int64_t value(unsigned node) const {
    return node == 1 ? 1 : ramify::no_solution;
  }
};

// Nodes move after the first step, and one rank finds the solution in a later one. Without its
// incumbent, the other ranks visit all nodes of their paths.
BOOST_AUTO_TEST_CASE(ranks_prune_with_the_incumbents_of_others) {
  communicator comm(cpu_ranks);
  const auto found = search(comm, 0u, one_solution{}, {}, 1);
  BOOST_TEST(found.value == 1);
  BOOST_TEST((found.report.moved_nodes > 0) == (comm.size() > 1));
  BOOST_TEST(found.report.expanded < one_solution::path);
}

BOOST_AUTO_TEST_CASE(the_best_knapsack_is_found) {
  communicator comm(cpu_ranks);
  const ramify::knapsack_instance instance =
      ramify::random_knapsack({.items = 34, .largest = 1'000, .correlation = 100, .seed = 3});
  const ramify::detail::branch_and_bound::ordered_knapsack ordered(instance);
  const auto found =
      search(comm, ordered.root, ordered.problem, {.upper = ordered.lost_by_greedy()}, 8);
  BOOST_TEST(found.found);
  BOOST_TEST(ordered.solution(found.solution, instance).profit == best_profit(instance));
  BOOST_TEST(found.report.comparisons > 0u);
  // The counts are those of all ranks.
  BOOST_TEST(comm.all_reduce(found.report.expanded, ramify::reduction::max) ==
             found.report.expanded);
  BOOST_TEST(found.report.expanded + found.report.pruned + found.report.leaves > 0u);
}

BOOST_AUTO_TEST_CASE(a_limit_ends_the_search_of_all_ranks) {
  communicator comm(cpu_ranks);
  const cost_tree tree{8, 3};
  const best_leaf expected = exhaustive_search(tree);
  for (const double seconds : {0.0, 1e-9}) {
    const auto found =
        search(comm, tree.root(), tree, {}, 1, {.max_nodes = 20, .max_seconds = seconds});
    BOOST_TEST(found.value >= expected.value);
    BOOST_TEST(found.proof.bound <= expected.value);
    BOOST_TEST(found.proof.is_optimal == (found.proof.bound == found.value));
    BOOST_TEST(found.report.expanded <= 20 * std::uint64_t(comm.size()));
    BOOST_TEST(found.report.unexplored > 0u);
    BOOST_TEST(comm.all_reduce(found.proof.bound, ramify::reduction::max) == found.proof.bound);
  }
}

BOOST_AUTO_TEST_CASE(queens_are_counted) {
  namespace family = ramify::detail::branch_and_bound;
  communicator comm(cpu_ranks);
  const std::uint64_t solutions[] = {724, 2'680};
  for (unsigned n = 10; n <= 11; ++n) {
    const family::queens_expand tree(n, nullptr, 0, 3);
    const auto found = ramify::distributed_traverse(
        comm, family::empty_queens_board(n), tree, family::queens_visit{tree}, family::add_queens{},
        ramify::queens_counts{}, {}, {.steps = 8});
    BOOST_TEST(found.value.solutions == solutions[n - 10]);
    BOOST_TEST((found.report.moved_nodes > 0) == (comm.size() > 1));
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_of_a_distributed_search) {
  communicator comm(cpu_ranks);
  const cost_tree tree{3, 2};
  const auto expect = [&](const value_range& range, unsigned steps, const char* text) {
    BOOST_CHECK_EXCEPTION(static_cast<void>(search(comm, tree.root(), tree, range, steps)),
                          std::invalid_argument, names(text));
  };
  expect({}, 0, "exchange_options.steps");
  expect({.upper = -1}, 1, "value_range.upper");
  // A leaf has a smaller value.
  BOOST_CHECK_EXCEPTION(static_cast<void>(search(comm, tree.root(), tree, {.lower = 1'000}, 1)),
                        ramify::cluster_error, names("value_range.lower"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::distributed_search
