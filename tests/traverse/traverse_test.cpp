// SPDX-License-Identifier: BSD-3-Clause
// The strategy work_sharing: extreme shapes, memory, launch limits, schedules, arguments.
#include <algorithm>
#include <bit>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <set>
#include <stdexcept>

#include "exceptions.hpp"
#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::device_buffer;
using ramify::flat_loop;
using ramify::memory_ref;
using ramify::route;
using ramify::traverse_report;
using enum numbered_tree::shape;

namespace {

/// A node of 700 bytes, the largest size under test. It is filled with 175 successive numbers.
struct page_node {
  unsigned words[175];
};

struct expand_page {
  numbered_tree numbers;

  [[nodiscard]] __host__ __device__ static page_node make(unsigned number) {
    page_node page{};
    for (unsigned i = 0; i < 175; ++i) page.words[i] = number * 175 + i;
    return page;
  }
  [[nodiscard]] __host__ __device__ static bool is_intact(const page_node& page) {
    for (unsigned i = 0; i < 175; ++i) {
      if (page.words[i] != page.words[0] + i) return false;
    }
    return page.words[0] % 175 == 0;
  }
  [[nodiscard]] __host__ __device__ unsigned degree(const page_node& page) const {
    return numbers.degree(page.words[0] / 175);
  }
  [[nodiscard]] __host__ __device__ page_node child(const page_node& page, unsigned i) const {
    return make(numbers.child(page.words[0] / 175, i));
  }
};

/// Counts the nodes whose contents are intact.
struct check_page {
  __host__ __device__ unsigned long long operator()(const page_node& page, unsigned) const {
    return expand_page::is_intact(page) ? 1 : 0;
  }
};

/// Records the worker of each visit except that of the root.
struct worker_visit {
  unsigned* workers;
  __device__ unsigned operator()(unsigned node, unsigned /*degree*/) const {
    if (node != 0) atomicOr(workers, 1u << (blockIdx.x * blockDim.x + threadIdx.x) / 32);
    return 1;
  }
};

struct number_visit {
  __host__ __device__ unsigned long long operator()(unsigned node, unsigned) const {
    return node + 1;
  }
};

/// A reduction that is neither commutative nor associative.
struct ordered_digest {
  __host__ __device__ unsigned long long operator()(unsigned long long a,
                                                    unsigned long long b) const {
    return a * 1'000'003 + b;
  }
};

/// Returns the least valid capacity of a traversal by mark().
std::size_t least_capacity() {
  const auto is_enough = [](std::size_t capacity) {
    try {
      (void)mark_scratch_bytes({.capacity = capacity});
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  std::size_t refused = 1;
  std::size_t enough = std::size_t{1} << 30;
  while (enough - refused > 1) {
    const std::size_t middle = (refused + enough) / 2;
    (is_enough(middle) ? enough : refused) = middle;
  }
  return enough;
}

struct count_as_short {
  __device__ short operator()(unsigned, unsigned) const { return 1; }
};
struct add_shorts {
  __device__ int operator()(short a, short b) const { return a + b; }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(slot_leaks_are_noticed);

BOOST_AUTO_TEST_SUITE(traverse)

// ---- shapes ------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(every_node_is_visited_once, data::make(routes), taken) {
  const traverse_setting setting{.env = {.route = taken}};
  const unsigned large = RAMIFY_ON_CUDA ? 2'000'000 : unsigned(sampled(200'000, 50'000, 2'000));
  int piece = 0;
  for (const unsigned n : {1u, 2u, 31u, 32u, 33u, 1000u, large}) {
    for (const auto& tree :
         {numbered_tree{star, n}, numbered_tree{complete, n, 2}, numbered_tree{complete, n, 7},
          numbered_tree{complete, n, 1000}, numbered_tree{caterpillar, n}}) {
      if (left_out_by_tsan(piece, 4)) continue;
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << n << ", arity " << tree.arity) {
        expect_each_visited_once(tree, setting);
      }
    }
  }
  expect_each_visited_once({combs, 50, RAMIFY_THREAD_SANITIZER ? 1 : unsigned(cut_down(300))},
                           setting);
  // Children of a wide node that are wide themselves: each is split into many pieces. Under
  // ThreadSanitizer, on one route.
  if (effort() < 0.1 && taken != route::device) return;
  const unsigned wide = unsigned(sampled(400'000, 100'000, 35'000));
  expect_each_visited_once({complete, wide, 33'000}, setting);
}

BOOST_DATA_TEST_CASE(a_long_path_is_one_round, data::make(routes), taken) {
  const int on_executor = RAMIFY_THREAD_SANITIZER ? 300 : sampled(50'000, 15'000);
  const unsigned n = RAMIFY_ON_CUDA ? 1'000'000 : unsigned(on_executor);
  const traverse_report report = expect_each_visited_once({path, n}, {.env = {.route = taken}});
  BOOST_TEST(report.rounds == 1u);  // one warp visits the path; there is no work to share
}

BOOST_DATA_TEST_CASE(nodes_may_be_large, data::make(routes), taken) {
  int piece = 0;
  for (const auto& tree :
       {numbered_tree{complete, unsigned(cut_down(5'000, 1'000)), 3}, numbered_tree{star, 3000},
        numbered_tree{path, 300}, numbered_tree{combs, 30, unsigned(cut_down(20, 4))}}) {
    if (left_out_by_tsan(piece, 3)) continue;
    std::uint64_t intact = 0;
    with_grids_counted([&] {
      const auto found = ramify::traverse(expand_page::make(0), expand_page{tree}, check_page{},
                                          sum{}, 0ull, {.route = taken});
      intact = found.value;
      return found.report;
    });
    BOOST_TEST(intact == tree.nodes());
  }
}

// ---- memory ------------------------------------------------------------------------------------

// With the shortest valid lists, steps visit fewer children, but still visit every node.
BOOST_DATA_TEST_CASE(short_lists_make_narrow_steps, data::make(routes), taken) {
  const traverse_setting setting{{.capacity = least_capacity()}, {.route = taken}};
  const auto wide = unsigned(cut_down(100'000, 10'000));
  int piece = 0;
  for (const auto& tree : {numbered_tree{complete, unsigned(sampled(500'000, 200'000)), 6},
                           numbered_tree{combs, 100, unsigned(cut_down(100, 2))},
                           numbered_tree{star, wide}, numbered_tree{complete, wide, 9'000}}) {
    if (left_out_by_tsan(piece, 3)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    BOOST_TEST(report.peak_frontier_nodes <= setting.options.capacity);
  }
}

// If the frontier is too large for the shortest valid lists, the traversal throws. (Thin rounds
// keep the frontier of this tree small.)
BOOST_AUTO_TEST_CASE(too_many_frontier_nodes_are_an_error,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const ramify::cpu::scoped_executor_config config(two_workers("parallel"));
  const late_tree tree{{combs, 5000, 40}};
  for (const route taken : routes) {
    const traverse_setting setting{{.capacity = least_capacity()}, {.route = taken}};
    std::vector<unsigned> visits;
    BOOST_CHECK_EXCEPTION((void)mark(tree, setting, visits), std::length_error,
                          names("raise traverse_options.capacity"));
    BOOST_TEST(slots_in_use() == 0u);
  }
}

// The lists are long enough for all workers, also if their number changes between two calls.
BOOST_AUTO_TEST_CASE(sizes_follow_the_number_of_workers,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto least_with = [](unsigned workers) {
    ramify::cpu::executor_config config;
    config.workers = workers;
    const ramify::cpu::scoped_executor_config scope(config);
    return least_capacity();
  };
  const std::size_t of_two = least_with(2);
  BOOST_TEST(least_with(6) > of_two);
  BOOST_TEST(least_with(2) == of_two);
}

// ---- launch limits -----------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(no_limit_loses_a_node,
                     data::make({1u, 2u, 16u, 32u, 64u, 2048u}) * data::make(routes), limit,
                     taken) {
  const traverse_setting setting{.env = {.route = taken, .pending_launches = limit}};
  for (const auto& tree : {numbered_tree{complete, unsigned(cut_down(20'000, 1'000)), 5},
                           numbered_tree{path, unsigned(cut_down(5000))},
                           numbered_tree{combs, 50, unsigned(cut_down(40))}}) {
    static int piece = 0;  // of all limits and routes
    if (left_out_by_tsan(piece, 5)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    expect_route(report.taken, taken, limit);
  }
}

// A chain of nested grids uses up the slots; the next chain begins after it. One path keeps one
// warp busy, which donates its leaves every 24 steps, so this small comb takes many wide rounds.
BOOST_AUTO_TEST_CASE(a_long_chain_is_resumed) {
  // A reproducible schedule: with others, the number of rounds depends on timing.
  const ramify::cpu::scoped_executor_config config(two_workers("random:1"));
  const unsigned long_enough = RAMIFY_THREAD_SANITIZER ? 100 : 120;
  const traverse_report report = expect_each_visited_once(
      late_tree{{combs, long_enough}}, {.env = {.route = route::device, .pending_launches = 32}});
  BOOST_REQUIRE(report.rounds > 3u);  // without resuming, there are as many rounds as slots
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.peak_slots <= 2u);
  BOOST_TEST(report.child_grids > report.rounds);  // by the tail launches of the driver
}

// ---- donations ---------------------------------------------------------------------------------

/// Sums the numbers of all nodes.
template <class Tree>
traverse_report number_all(const Tree& tree, route taken) {
  const auto found = ramify::traverse(0u, tree, number_visit{}, sum{}, 0ull, {.route = taken});
  const std::uint64_t n = tree.nodes();
  BOOST_TEST(found.value == n * (n + 1) / 2);
  return found.report;
}

/// Returns the workers that visit nodes other than the root, as a mask. Requires two blocks, so
/// that 32 bits suffice, and that the traversal takes one round.
template <class Tree>
unsigned workers_of_one_round(const Tree& tree, route taken) {
  std::vector<unsigned> workers(1, 0);
  const auto on_device = upload(workers);
  const auto found =
      ramify::traverse(0u, tree, worker_visit{on_device.data()}, sum{}, 0u, {.route = taken});
  download(on_device, workers);
  BOOST_TEST(found.value == tree.nodes());
  BOOST_TEST(found.report.rounds == 1u);
  return workers[0];
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(workers_of_a_thin_round_hand_over_nodes,
                     data::make(routes) * data::make({"random:1", "random:2", "random:3"}), taken,
                     schedule) {
  const ramify::cpu::scoped_executor_config config(two_workers(schedule));
  // A warp visits all nodes in fewer than 24 steps, so it donates nothing to another round.
  const numbered_tree tree{complete, 500, 30};
  BOOST_TEST(std::popcount(workers_of_one_round(tree, taken)) > 1);
  // The root is one node with 499 children, whose range is divided.
  BOOST_TEST(std::popcount(workers_of_one_round(numbered_tree{star, 500}, taken)) > 1);
  // The negative control: without thin rounds, one warp visits all nodes.
  BOOST_TEST(std::popcount(workers_of_one_round(late_tree{tree}, taken)) == 1);
}

// Many hand-overs under random schedules, in which any fiber may run next.
BOOST_AUTO_TEST_CASE(hand_overs_lose_no_node, *boost::unit_test::precondition(on_the_executor)) {
  const unsigned seeds = unsigned(cut_down(30, 2));
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const ramify::cpu::scoped_executor_config config(two_workers("random:" + std::to_string(seed)));
    BOOST_TEST_CONTEXT("seed " << seed) {
      for (const auto& tree : {numbered_tree{complete, 3'000, 3}, numbered_tree{star, 1'000},
                               numbered_tree{caterpillar, 300}, numbered_tree{combs, 20, 4}}) {
        expect_each_visited_once(tree, {.env = {.route = routes[seed % std::size(routes)]}});
      }
    }
  }
}

// All workers of the thin round have too much work, so wide rounds follow.
BOOST_DATA_TEST_CASE(a_wide_tree_ends_the_thin_round, data::make(routes), taken) {
  // This schedule switches between the warps of a block. In others, one warp may visit the tree.
  const ramify::cpu::scoped_executor_config config(two_workers("random:1"));
  const unsigned n = RAMIFY_ON_CUDA ? 50'000'000 : unsigned(cut_down(200'000, 20'000));
  BOOST_TEST(number_all(numbered_tree{complete, n, 3}, taken).rounds > 1u);
}

// ---- schedules of the executor -----------------------------------------------------------------

// The negative control: the schedules visit nodes in different orders, so a reduction that breaks
// the rules by depending on the order gives different results.
BOOST_AUTO_TEST_CASE(a_reduction_that_does_not_commute_is_noticed,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  std::set<std::uint64_t> results;
  for (int seed = 0; seed < 20 && results.size() < 2; ++seed) {
    const ramify::cpu::scoped_executor_config config(two_workers("random:" + std::to_string(seed)));
    const numbered_tree tree{complete, 20'000, 3};
    results.insert(ramify::traverse(0u, tree, number_visit{}, ordered_digest{}, 0ull).value);
  }
  BOOST_TEST(results.size() > 1u);
}

// ---- arguments ---------------------------------------------------------------------------------

// The sum of two shorts is an int, which counts as a short: the total may be one.
BOOST_AUTO_TEST_CASE(a_total_may_be_a_short) {
  const auto found = ramify::traverse(0u, numbered_tree{complete, 300, 3}, count_as_short{},
                                      add_shorts{}, short{0});
  BOOST_TEST(found.value == 300);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const device_buffer<std::byte> scratch(1000, nullptr);
  const device_buffer<unsigned> visits(10, nullptr);
  const auto expect = [&](const traverse_setting& setting, const std::string& text) {
    BOOST_CHECK_EXCEPTION((void)start_path(visits.data(), setting).get(), std::invalid_argument,
                          names(text));
  };
  expect({.env = {.memory = scratch}}, "traverse: environment.memory has 1000 bytes");
  expect({.env = {.memory = memory_ref(scratch.data() + 8, std::size_t{1} << 40)}},
         "traverse: environment.memory must be aligned");
  expect({.options = {.capacity = 10}}, "traverse_options.capacity is 10;");
  expect({.options = {.strategy = static_cast<ramify::traverse_strategy>(7)}},
         "traverse_options.strategy is none");
  expect({.env = {.flat_loop = static_cast<flat_loop>(7)}}, "environment.flat_loop is none");
}

BOOST_AUTO_TEST_SUITE_END()
