// SPDX-License-Identifier: BSD-3-Clause
// Traversals with several roots, and traversals that a visit ends.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "counts_on_device.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::device_count;
using ramify::route;
using ramify::traverse_report;
using ramify::tree_roots;
using enum numbered_tree::shape;

namespace {

/// Counts the visits of each node, and ends the traversal at one of them.
struct mark_until {
  unsigned* visits;
  unsigned last;
  __device__ ramify::visited<unsigned> operator()(unsigned node, unsigned /*degree*/) const {
    atomicAdd(&visits[node], 1u);
    return {1, node == last};
  }
};
constexpr unsigned no_node = ~0u;

/// An endless tree: a node is its level, and has two children. The traversal ends at a level.
struct endless_levels {
  static constexpr bool donates_late = true;
  __device__ unsigned degree(unsigned) const { return 2; }
  __device__ unsigned child(unsigned level, unsigned) const { return level + 1; }
};
/// A tree with a node that has as many children as possible, number 1. Each of them is number 9.
struct huge_node {
  static constexpr bool donates_late = true;  // of the whole stack, in one piece of work
  __device__ unsigned degree(unsigned node) const {
    return node == 0 ? 8 : node == 1 ? ~0u : node < 9 ? 1000 : 0;
  }
  __device__ unsigned child(unsigned node, unsigned i) const {
    return node == 0 ? i + 1 : node == 1 ? 9 : 10;
  }
};
struct end_at_level {
  unsigned last;
  __device__ ramify::visited<unsigned> operator()(unsigned level, unsigned) const {
    return {level, level == last};
  }
};
struct maximum {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a < b ? b : a; }
};

/// Traverses from several roots, and checks the number of visits of each node.
void expect_visits(const numbered_tree& tree, const tree_roots<unsigned>& roots,
                   const traverse_setting& setting, const std::vector<unsigned>& expected) {
  std::vector<unsigned> visits(tree.nodes(), 0);
  const auto on_device = upload(visits);
  const auto found = ramify::traverse(roots, tree, mark_visit{on_device.data()}, sum{}, 0u,
                                      setting.options, setting.env);
  download(on_device, visits);
  BOOST_TEST((visits == expected));
  unsigned all = 0;
  for (const unsigned v : expected) all += v;
  BOOST_TEST(found.value == all);
  BOOST_TEST(!found.report.ended_early);
  BOOST_TEST(slots_in_use() == 0u);
}

/// Returns how often the nodes are visited from these roots: a loop, in which parents come first.
std::vector<unsigned> visits_from(const numbered_tree& tree, const std::vector<unsigned>& roots) {
  std::vector<unsigned> visits(tree.nodes(), 0);
  for (const unsigned root : roots) ++visits[root];
  for (unsigned node = 0; node < tree.nodes(); ++node) {
    for (unsigned i = 0; i < tree.degree(node); ++i) visits[tree.child(node, i)] += visits[node];
  }
  return visits;
}

/// Traverses a tree until node `last`. Checks that no node is visited twice, and that a traversal
/// which has not ended has visited all. Returns the number of visits.
std::size_t visit_until(const numbered_tree& tree, unsigned last, const traverse_setting& setting) {
  std::vector<unsigned> visits(tree.nodes(), 0);
  const auto on_device = upload(visits);
  ramify::traverse_result<unsigned> found{};
  with_grids_counted([&] {
    found = ramify::traverse(0u, tree, mark_until{on_device.data(), last}, sum{}, 0u,
                             setting.options, setting.env);
    return found.report;
  });
  download(on_device, visits);
  const auto seen = static_cast<std::size_t>(std::ranges::count(visits, 1u));
  BOOST_TEST(seen + static_cast<std::size_t>(std::ranges::count(visits, 0u)) == visits.size());
  BOOST_TEST(found.value == seen);
  BOOST_TEST(found.report.ended_early == (last != no_node));
  if (last == no_node) {
    BOOST_TEST(seen == visits.size());
  } else {
    BOOST_TEST(visits[last] == 1u);
  }
  return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

// ---- several roots -----------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(several_roots_are_one_traversal, data::make(routes), taken) {
  const numbered_tree tree{complete, unsigned(cut_down(3'000, 300)), 3};
  std::vector<unsigned> all(tree.nodes());
  for (unsigned node = 0; node < all.size(); ++node) all[node] = node;
  static int piece = 0;
  for (const traverse_setting& setting : all_settings(taken)) {
    for (const std::vector<unsigned>& roots :
         {std::vector<unsigned>{}, {7}, {1, 2, 3}, {5, 5, 0, unsigned(tree.nodes()) - 1}, all}) {
      if (left_out(piece, 5)) continue;
      const auto expected = visits_from(tree, roots);
      // In host memory, in device memory, and with a number that only the device has.
      expect_visits(tree, {roots.data(), roots.size()}, setting, expected);
      const auto on_device = upload(all);
      if (!roots.empty()) {
        ramify::check(cudaMemcpy(on_device.data(), roots.data(), roots.size() * sizeof(unsigned),
                                 cudaMemcpyHostToDevice),
                      "writing roots");
      }
      expect_visits(tree, {on_device.data(), roots.size()}, setting, expected);
      const device_number<> n(int(roots.size()));
      expect_visits(tree, {on_device.data(), n.up_to(all.size())}, setting, expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_roots_are_named) {
  const auto visits = zeros<unsigned>(10);
  const std::vector<unsigned> two{1, 2};
  const auto traverse_from = [&](const tree_roots<unsigned>& roots) {
    (void)ramify::traverse(roots, numbered_tree{path, 10}, mark_visit{visits.data()}, sum{}, 0u);
  };
  const auto expect = [&](const tree_roots<unsigned>& roots, const char* text) {
    BOOST_CHECK_EXCEPTION(traverse_from(roots), std::invalid_argument, names(text));
  };
  expect({nullptr, 2}, "traverse: roots is null");
  expect({two.data(), std::size_t{1} << 32},
         "traverse: the number of roots is 4294967296; it must be less than 2^32");
  const auto* const misaligned =
      reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(two.data()) + 1);
  expect({misaligned, 1}, "traverse: roots must be aligned to 4 bytes");
  expect({two.data(), device_count(static_cast<const int*>(nullptr), 2)},
         "traverse: the address of device_count is null");
  for (const int n : {3, -1}) {
    const device_number<> number(n);
    BOOST_CHECK_EXCEPTION(
        traverse_from({two.data(), number.up_to(2)}), std::length_error,
        names("traverse: the number of elements in device memory is " + std::to_string(n)));
  }
  BOOST_TEST(slots_in_use() == 0u);
}

// ---- an early end ------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_visit_ends_a_traversal, data::make({1u, 32u, 2048u}) * data::make(routes),
                     limit, taken) {
  static int piece = 0;
  for (const traverse_setting& setting : all_settings(taken, limit)) {
    for (const auto& tree : {numbered_tree{path, 30}, numbered_tree{star, 500},
                             numbered_tree{complete, unsigned(cut_down(2'000, 200)), 3},
                             numbered_tree{combs, 10, 4}}) {
      if (left_out(piece, 5)) continue;
      const auto last = static_cast<unsigned>(tree.nodes() - 1);
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", "
                                  << to_string(setting.options.strategy)) {
        visit_until(tree, no_node, setting);
        for (const unsigned end : {0u, 1u, last / 2, last}) visit_until(tree, end, setting);
      }
    }
  }
  // The nodes that are left are dropped: after the end, no warp or task visits one.
  const numbered_tree wide{complete, unsigned(cut_down(100'000, 5'000)), 3};
  const traverse_setting plain{.env = {.route = taken, .pending_launches = limit}};
  BOOST_TEST(visit_until(wide, 0, plain) == 1u);
  BOOST_TEST(visit_until(wide, 5, plain) < wide.nodes() / 2);
}

// Without the end, these traversals would run out of memory.
BOOST_DATA_TEST_CASE(a_visit_ends_an_endless_traversal,
                     data::make({"parallel", "eager", "late", "random:1", "random:2"}) *
                         data::make(routes),
                     schedule, taken) {
  const ramify::cpu::scoped_executor_config config(two_workers(schedule));
  for (const traverse_setting& setting : all_settings(taken)) {
    // The tree has 2^9 nodes in the last level that is visited as a whole.
    const auto found = ramify::traverse(0u, endless_levels{}, end_at_level{10}, maximum{}, 0u,
                                        setting.options, setting.env);
    BOOST_TEST(found.report.ended_early);
    BOOST_TEST(found.value >= 10u);
    BOOST_TEST(slots_in_use() == 0u);
  }
}

// A node of 2^32 - 1 children is not lost when a warp donates it with others.
BOOST_DATA_TEST_CASE(a_node_with_the_most_children_is_visited, data::make(routes), taken) {
  const auto found =
      ramify::traverse(0u, huge_node{}, end_at_level{9}, maximum{}, 0u, {.route = taken});
  BOOST_TEST(found.report.ended_early);
  BOOST_TEST(found.value >= 9u);
}

BOOST_AUTO_TEST_CASE(a_visit_ends_a_traversal_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const auto executor = two_workers("random:1");
  const numbered_tree tree{complete, 500, 3};
  for (const traverse_setting& setting : all_settings(route::device)) {
    (void)tests::count_interrupted(6, executor, [&](std::uint64_t) {
      visit_until(tree, 400, setting);
      return true;
    });
  }
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(each_launch_of_a_graph_ends_early, data::make(routes), taken) {
  const numbered_tree tree{complete, 100'000, 3};
  for (const traverse_setting& setting : all_settings(taken)) {
    const auto visits = zeros<unsigned>(tree.nodes());
    const std::vector<unsigned> root{0};
    const auto roots = upload(root);
    const mark_until visit{visits.data(), 300};
    const device_buffer<std::byte> scratch(
        ramify::traverse_scratch_bytes<tree_roots<unsigned>, numbered_tree, mark_until, sum,
                                       unsigned>(setting.options),
        nullptr);
    const ramify::host_stream stream;
    ramify::check(cudaDeviceSynchronize(), "preparing");
    ramify::environment env = setting.env;
    env.stream = stream;
    env.memory = scratch;
    std::optional<mark_run> run;
    const ramify::captured_graph graph(stream.get(), [&] {
      (void)run.emplace(traverse_async(tree_roots(roots.data(), 1), tree, visit, sum{}, 0u,
                                       setting.options, env));
    });
    for (int launches = 0; launches < 2; ++launches) {
      graph.launch(stream.get());
      const auto found = run->get();
      BOOST_TEST(found.report.ended_early);
      BOOST_TEST(found.value >= 6u);  // the path from the root to node 300
    }
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()
