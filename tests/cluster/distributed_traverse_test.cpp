// SPDX-License-Identifier: BSD-3-Clause
// Traversals by all ranks. Each rank runs these test cases, and counts the visits of each node over
// all ranks.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/distributed_traverse.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "../traverse/traverse_checks.cuh"
#include "../tree_search/tree_search_checks.cuh"
#include "exceptions.hpp"

namespace tests::distributed {
namespace {

using ramify::communicator;
using ramify::distributed_traverse_report;
using ramify::environment;
using ramify::exchange_options;
using ramify::traverse_options;
using enum numbered_tree::shape;

const ramify::cluster_options cpu_ranks{.backend = ramify::backend::cpu};

/// The visits of one traversal.
struct marks {
  std::vector<std::uint32_t> visits;   ///< of each node, by all ranks
  std::vector<std::uint64_t> by_rank;  ///< of all nodes, by each rank
  distributed_traverse_report report;
};

/// Returns "", or what is wrong with the visits.
std::string fault_of(const std::vector<std::uint32_t>& visits) {
  const auto wrong = std::ranges::find_if(visits, [](std::uint32_t v) { return v != 1; });
  if (wrong == visits.end()) return "";
  return "node " + std::to_string(wrong - visits.begin()) + " has " + std::to_string(*wrong) +
         " visits";
}

marks mark_on_ranks(communicator& comm, const numbered_tree& tree, const exchange_options& exchange,
                    const environment& env = {}) {
  marks found;
  const auto on_device = zeros<std::uint32_t>(tree.nodes());
  found.report = with_grids_counted([&] {
    const auto result = ramify::distributed_traverse(comm, 0u, tree, mark_visit{on_device.data()},
                                                     sum{}, 0u, {}, exchange, env);
    BOOST_TEST(result.value == tree.nodes());
    return result.report;
  });
  found.visits = download(on_device);
  found.by_rank =
      comm.all_gather(std::accumulate(found.visits.begin(), found.visits.end(), std::uint64_t{0}));
  comm.all_reduce(found.visits.data(), found.visits.size(), ramify::reduction::sum);
  BOOST_TEST(fault_of(found.visits) == "");
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(distributed_traverse)

// The negative control: the check finds nodes that are lost or visited twice.
BOOST_AUTO_TEST_CASE(the_check_finds_wrong_visits) {
  BOOST_TEST(fault_of({1, 0, 1}) == "node 1 has 0 visits");
  BOOST_TEST(fault_of({1, 1, 2}) == "node 2 has 2 visits");
}

// All ranks have long lists, of which each gets parts of all others. More workers visit more nodes
// before the lists are compared, so their number does not depend on the machine.
BOOST_AUTO_TEST_CASE(long_lists_are_divided_anew) {
  auto executor = ramify::cpu::current_executor_config();
  executor.workers = 2;
  const ramify::cpu::scoped_executor_config scope(executor);
  communicator comm(cpu_ranks);
  const numbered_tree tree{complete, 300'000, 40};
  const marks found = mark_on_ranks(comm, tree, {.steps = 2, .rounds = 2});
  const auto shares = found.by_rank;
  const std::uint64_t mean = tree.nodes() / std::uint64_t(comm.size());
  BOOST_TEST(std::ranges::min(shares) > mean * 8 / 10);
  BOOST_TEST(std::ranges::max(shares) < mean * 12 / 10);
}

BOOST_AUTO_TEST_CASE(every_node_is_visited_once) {
  communicator comm(cpu_ranks);
  for (const ramify::route route : routes) {
    // Most other cases take the device route, with few steps.
    const exchange_options exchange{.steps = route == ramify::route::flat ? 1u : 20u, .rounds = 3};
    for (const auto& tree :
         {numbered_tree{path, 1}, numbered_tree{path, 60}, numbered_tree{star, 5'000},
          numbered_tree{complete, 5'000, 2}, numbered_tree{complete, 3'000, 1000},
          numbered_tree{caterpillar, 200}, numbered_tree{combs, 10, 9}}) {
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << tree.n) {
        const auto found = mark_on_ranks(comm, tree, exchange, {.route = route});
        BOOST_TEST((found.report.taken == route));
      }
    }
  }
}

/// A node of 700 bytes. A block has one warp for such nodes, and its stack has few entries.
struct large_node {
  unsigned number;
  unsigned copies[174];

  [[nodiscard]] __host__ __device__ static large_node make(unsigned number) {
    large_node node{number, {}};
    for (unsigned& copy : node.copies) copy = number;
    return node;
  }
};

struct large_nodes {
  numbered_tree tree;

  [[nodiscard]] __host__ __device__ unsigned degree(const large_node& n) const {
    return tree.degree(n.number);
  }
  [[nodiscard]] __host__ __device__ large_node child(const large_node& n, unsigned i) const {
    return large_node::make(tree.child(n.number, i));
  }
};

/// Marks intact nodes.
struct mark_large {
  mark_visit mark;
  __device__ unsigned operator()(const large_node& n, unsigned degree) const {
    for (const unsigned copy : n.copies) {
      if (copy != n.number) return 0;
    }
    return mark(n.number, degree);
  }
};

// The list has more nodes than the warps take at first. The limit of steps ends rounds before all
// of them are taken; the others go to the list of the next round.
BOOST_AUTO_TEST_CASE(a_round_may_end_before_all_shares_are_taken) {
  communicator comm(cpu_ranks);
  const numbered_tree tree{complete, 40'000, 200};
  auto visits = zeros<std::uint32_t>(tree.nodes());
  const auto found =
      ramify::distributed_traverse(comm, large_node::make(0), large_nodes{tree},
                                   mark_large{{visits.data()}}, sum{}, 0u, {}, {.steps = 4});
  BOOST_TEST(found.value == tree.nodes());
  std::vector<std::uint32_t> all = download(visits);
  comm.all_reduce(all.data(), all.size(), ramify::reduction::sum);
  BOOST_TEST(fault_of(all) == "");
}

BOOST_AUTO_TEST_CASE(all_ranks_work_on_a_large_tree) {
  communicator comm(cpu_ranks);
  const numbered_tree tree{complete, 60'000, 3};
  const marks found = mark_on_ranks(comm, tree, {.steps = 16});
  const std::uint64_t mean = tree.nodes() / std::uint64_t(comm.size());
  BOOST_TEST(std::ranges::min(found.by_rank) > mean / 4);
  BOOST_TEST(std::ranges::max(found.by_rank) < 3 * mean);
  BOOST_TEST((found.report.exchanges > 0) == (comm.size() > 1));
  BOOST_TEST((found.report.moved_nodes > 0) == (comm.size() > 1));
  // Fields that are the same on all ranks.
  const auto& report = found.report;
  for (const std::uint64_t value : {report.comparisons, report.exchanges, report.moved_nodes}) {
    const auto all = comm.all_gather(value);
    BOOST_TEST(std::ranges::count(all, value) == comm.size());
  }
}

// A path is never divided. The other ranks wait, and compare seldom.
BOOST_AUTO_TEST_CASE(a_path_stays_on_one_rank) {
  communicator comm(cpu_ranks);
  const unsigned nodes = 3'000;
  const marks found = mark_on_ranks(comm, {path, nodes}, {.steps = 20, .rounds = 8});
  BOOST_TEST(found.by_rank[0] == nodes);
  BOOST_TEST(found.report.exchanges == 0u);
  // 150 rounds of 20 nodes, after 1, 2, 4 and then 8 at a time.
  BOOST_TEST(found.report.comparisons == 4u + (nodes - 1 - 15 * 20 + 159) / 160);
  if (comm.rank() == 0) BOOST_TEST(found.report.rounds == (nodes - 1 + 19) / 20);
}

/// Numbers whose sum depends on the order of additions, in its low bits.
struct inverse_number {
  __host__ __device__ double operator()(unsigned node, unsigned) const {
    return 1.0 / (1.0 + node);
  }
};

BOOST_AUTO_TEST_CASE(the_result_has_the_same_bits_on_all_ranks) {
  communicator comm(cpu_ranks);
  const unsigned nodes = 10'000;
  const auto found = ramify::distributed_traverse(comm, 0u, numbered_tree{complete, nodes, 2},
                                                  inverse_number{}, sum{}, 0.0, {}, {.steps = 8});
  double expected = 0;
  for (unsigned i = 0; i < nodes; ++i) expected += 1.0 / (1.0 + i);
  BOOST_TEST(found.value == expected, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(std::ranges::count(comm.all_gather(found.value), found.value) == comm.size());
}

BOOST_AUTO_TEST_CASE(unbalanced_trees_have_their_counts) {
  namespace family = ramify::detail::tree_search;
  communicator comm(cpu_ranks);
  const auto search = [&](const uts_parameters& tree, unsigned steps) {
    return ramify::distributed_traverse(comm, family::uts_root(tree), family::uts_expand(tree),
                                        family::uts_visit{}, family::uts_reduce{}, uts_counts{}, {},
                                        {.steps = steps})
        .value;
  };
  expect_counts(search(named("small").parameters, 4), named("small").counts);
  const uts_parameters binomial{.type = uts_type::binomial,
                                .root_branches = 200,
                                .probability = 0.12,
                                .branches = 8,
                                .seed = 42};
  expect_counts(search(binomial, 16), counts_of(binomial));
}

// ---- errors -------------------------------------------------------------------------------------

/// A tree that has no end on one rank.
struct endless_on_a_rank {
  numbered_tree tree;
  bool is_endless;

  [[nodiscard]] __host__ __device__ unsigned degree(unsigned node) const {
    return is_endless ? 2 : tree.degree(node);
  }
  [[nodiscard]] __host__ __device__ unsigned child(unsigned node, unsigned i) const {
    return is_endless ? node : tree.child(node, i);
  }
};

BOOST_AUTO_TEST_CASE(an_overflow_on_one_rank_reaches_all_ranks) {
  communicator comm(cpu_ranks);
  const int last = comm.size() - 1;
  const endless_on_a_rank tree{{complete, 60'000, 3}, comm.rank() == last};
  const auto is_right = [&](const ramify::cluster_error& e) {
    return e.rank() == last && names("raise traverse_options.capacity")(e);
  };
  BOOST_CHECK_EXCEPTION(
      ramify::distributed_traverse(comm, 0u, tree, inverse_number{}, sum{}, 0.0, {},
                                   {.steps = 1 << 20}, {.route = ramify::route::device}),
      ramify::cluster_error, is_right);
  BOOST_TEST(slots_in_use() == 0u);
}

// Each of some CUDA calls of the last rank fails once.
BOOST_AUTO_TEST_CASE(a_failing_call_of_one_rank_reaches_all_ranks) {
  const numbered_tree tree{complete, 2'000, 2};
  int failures = 0;
  for (std::uint64_t call = 1;; call += 6) {
    communicator comm(cpu_ranks);
    ramify::cpu::executor_config executor;
    if (comm.rank() == comm.size() - 1) executor.failing_call = call;
    bool failed = false;
    try {
      const ramify::cpu::scoped_executor_config scope(executor);
      const auto found = ramify::distributed_traverse(comm, 0u, tree, inverse_number{}, sum{}, 0.0,
                                                      {}, {.steps = 8});
      BOOST_TEST(found.value > 1);
    } catch (const ramify::cluster_error& e) {
      BOOST_TEST(e.rank() == comm.size() - 1);
      failed = true;
    }
    BOOST_TEST(slots_in_use() == 0u);
    if (!failed) break;
    ++failures;
  }
  BOOST_TEST(failures > 2);
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  communicator comm(cpu_ranks);
  const auto expect_refused = [&](const char* field, const traverse_options& options,
                                  const exchange_options& exchange, const environment& env = {}) {
    BOOST_CHECK_EXCEPTION(
        ramify::distributed_traverse(comm, 0u, numbered_tree{path, 3}, inverse_number{}, sum{}, 0.0,
                                     options, exchange, env),
        std::invalid_argument, names(field));
  };
  expect_refused("exchange_options.steps is 0", {}, {.steps = 0});
  expect_refused("exchange_options.steps", {}, {.steps = (1 << 20) + 1});
  expect_refused("exchange_options.rounds is 0", {}, {.rounds = 0});
  expect_refused("exchange_options.rounds", {}, {.rounds = 1025});
  expect_refused("traverse_options.strategy",
                 {.strategy = ramify::traverse_strategy::task_per_node}, {});
  expect_refused("environment.flat_loop", {}, {}, {.flat_loop = ramify::flat_loop::graph});
  expect_refused("environment.route", {}, {}, {.route = static_cast<ramify::route>(9)});
}

// The report states the size of the memory that a rank has used.
BOOST_AUTO_TEST_CASE(memory_of_the_caller_is_used) {
  communicator comm(cpu_ranks);
  const std::size_t bytes =
      ramify::distributed_traverse_scratch_bytes<unsigned, numbered_tree, inverse_number, sum,
                                                 double>();
  const ramify::device_buffer<std::byte> memory(bytes, nullptr);
  const auto search = [&](const ramify::memory_ref& given) {
    return ramify::distributed_traverse(comm, 0u, numbered_tree{complete, 500, 2}, inverse_number{},
                                        sum{}, 0.0, {.memory = given});
  };
  BOOST_TEST(search(memory).report.scratch_bytes == bytes);
  BOOST_CHECK_EXCEPTION(search({memory.data(), bytes - 1}), ramify::cluster_error,
                        names("environment.memory has " + std::to_string(bytes - 1) + " bytes"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::distributed
