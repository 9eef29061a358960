// SPDX-License-Identifier: BSD-3-Clause
// Batches of searches, compared with dynamic programming and with exhaustive searches.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "branch_and_bound_checks.cuh"
#include "counts_on_device.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "search/knapsacks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::branch_and_bound_options;
using ramify::no_solution;
using ramify::route;
using ramify::tree_roots;
using ramify::value_range;

namespace {

using solution = ramify::branch_and_bound_solution<cost_node>;

const cost_tree small{.levels = 6, .arity = 3};

/// Returns the roots of n trees.
std::vector<cost_node> roots_of(unsigned n) {
  std::vector<cost_node> roots;
  for (unsigned seed = 1; seed <= n; ++seed) roots.push_back({0, seed, std::int64_t(seed % 7)});
  return roots;
}
best_leaf best_below(const cost_node& root) {
  best_leaf best;
  visit_all(small, root, best);
  return best;
}
/// Returns whether a solution is the first best leaf below a root, or none if that exceeds `upper`.
bool is_best(const solution& found, const cost_node& root, std::int64_t upper) {
  const best_leaf best = best_below(root);
  if (best.value > upper) return !found.found && found.value == no_solution;
  return found.found && found.value == best.value && found.solution == best.leaf;
}

/// Searches n trees, and checks each solution.
ramify::branch_and_bound_report expect_best_of_each(unsigned n, const value_range& range,
                                                    const branch_and_bound_options& options,
                                                    const environment& env = {}) {
  const auto roots = roots_of(n);
  std::vector<solution> found(n);
  const auto report = with_grids_counted([&] {
    return ramify::branch_and_bound(tree_roots(roots.data(), n), small, found.data(), range,
                                    options, env);
  });
  for (unsigned i = 0; i < n; ++i) BOOST_TEST(is_best(found[i], roots[i], range.upper));
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(branch_and_bound_batches)

BOOST_DATA_TEST_CASE(many_knapsacks_are_one_call, data::make(routes), taken) {
  const auto problems = static_cast<unsigned>(cut_down(40, 5));
  constexpr unsigned items = 18;
  constexpr unsigned capacity = 150;
  std::mt19937 random(7);
  std::vector<examples::knapsack_item> all;
  for (unsigned i = 0; i < problems * items; ++i) {
    const auto weight = static_cast<unsigned>(random() % 40 + 1);
    all.push_back({weight, weight + static_cast<unsigned>(random() % 10)});
  }
  const auto on_device = upload(all);
  const auto roots = examples::roots_of_knapsacks(problems, capacity);
  std::vector<ramify::branch_and_bound_solution<examples::partial_knapsack>> best(problems);
  const auto report = ramify::branch_and_bound(tree_roots(roots.data(), problems),
                                               examples::fill_knapsacks<items>{on_device.data()},
                                               best.data(), {.route = taken});
  for (unsigned p = 0; p < problems; ++p) {
    const auto* const mine = &all[std::size_t{p} * items];
    BOOST_TEST(best[p].found);
    BOOST_TEST(best[p].value == examples::least_loss(mine, items, capacity));
    BOOST_TEST(best[p].solution.problem == p);
    BOOST_TEST(best[p].solution.lost == best[p].value);
  }
  // Each problem has about 2^18 leaves without pruning.
  BOOST_TEST(report.expanded < problems * 100'000ull);
  BOOST_TEST(report.incumbent_updates >= problems);
}

BOOST_DATA_TEST_CASE(each_search_has_its_first_best_leaf,
                     data::make(routes) * data::make({1, 32, 2048}), taken, limit) {
  static int piece = 0;
  const auto env = environment_on(taken, std::size_t(limit));
  for (const branch_and_bound_options& options : all_options) {
    for (const unsigned n : {1u, 2u, 33u}) {
      if (left_out(piece, 5)) continue;
      expect_best_of_each(n, {}, options, env);
      // The values of some trees exceed the range. A short range leaves bits for the path, and the
      // widest one leaves hardly any.
      expect_best_of_each(n, {.lower = 0, .upper = 8}, options, env);
      expect_best_of_each(n, {-(std::int64_t{1} << 61), (std::int64_t{1} << 61) - 1}, options, env);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_search_has_its_first_best_leaf_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  for (const branch_and_bound_options& options : all_options) {
    (void)count_interrupted(5, ramify::cpu::current_executor_config(), [&](std::uint64_t) {
      expect_best_of_each(5, {}, options, {.route = route::device});
      return true;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_batch_may_have_its_size_and_its_arrays_on_the_device) {
  const auto roots = roots_of(9);
  const auto on_device = upload(roots);
  const auto solutions = upload(std::vector<solution>(9, {true, 77, {}}));
  const ramify::device_buffer<std::byte> memory(
      ramify::branch_and_bound_scratch_bytes<cost_node, cost_tree>(9), nullptr);
  for (const unsigned n : {0u, 4u, 9u}) {
    const device_number<std::uint32_t> number(n);
    const auto report = ramify::branch_and_bound(tree_roots(on_device.data(), number.up_to(9)),
                                                 small, solutions.data(), {.memory = memory});
    BOOST_TEST(report.scratch_bytes == memory.size());
    const auto found = download(solutions);
    for (unsigned i = 0; i < n; ++i) BOOST_TEST(is_best(found[i], roots[i], no_solution - 1));
    if (n == 4) BOOST_TEST(found[4].value == 77);  // not written
  }
  check_exceeding_counts(9, "branch_and_bound", [&](const ramify::device_count& n) {
    (void)ramify::branch_and_bound(tree_roots(on_device.data(), n), small, solutions.data());
  });
}

BOOST_AUTO_TEST_CASE(bad_batches_are_named) {
  const auto roots = roots_of(3);
  std::vector<solution> found(3);
  const tree_roots three(roots.data(), 3);
  const auto expect = [](const char* text, auto call) {
    BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(text));
  };
  const value_range any{};
  expect("branch_and_bound: solutions is null",
         [&] { return ramify::branch_and_bound(three, small, nullptr, any); });
  expect("branch_and_bound: roots is null", [&] {
    return ramify::branch_and_bound(tree_roots<cost_node>(nullptr, 3), small, found.data());
  });
  expect("branch_and_bound: the number of roots is 4294967296; it must be less than 2^32", [&] {
    return ramify::branch_and_bound(tree_roots(roots.data(), std::size_t{1} << 32), small,
                                    found.data());
  });
  expect("value_range.upper", [&] {
    return ramify::branch_and_bound(three, small, found.data(), {.lower = 1, .upper = 0});
  });
  expect("branch_and_bound_options.limits.max_nodes is 5; it must be 0, because the searches", [&] {
    return ramify::branch_and_bound(three, small, found.data(), any,
                                    branch_and_bound_options{{}, {.max_nodes = 5}});
  });
  expect("branch_and_bound_options.limits.max_seconds", [&] {
    return ramify::branch_and_bound(three, small, found.data(), any,
                                    branch_and_bound_options{{}, {.max_seconds = 1}});
  });
  const auto none = ramify::branch_and_bound(tree_roots(roots.data(), 0), small, found.data());
  BOOST_TEST(none.host_grids == 0u);
  // A further get() reports the error again, and no solution is written.
  auto run = ramify::branch_and_bound_async(three, small, found.data(),
                                            value_range{.lower = 1'000, .upper = 2'000});
  for (int i = 0; i < 2; ++i) {
    BOOST_CHECK_EXCEPTION((void)run.get(), std::domain_error,
                          names("no value may be less than value_range.lower, which is 1000"));
  }
  const cost_tree deep{.levels = 70, .arity = 2, .is_comb = true};
  const cost_node root = deep.root();
  BOOST_CHECK_EXCEPTION((void)ramify::branch_and_bound(tree_roots(&root, 1), deep, found.data(),
                                                       value_range{.lower = 0, .upper = 3}),
                        std::length_error, names("a path is too long"));
  for (const solution& each : found) BOOST_TEST(!each.found);
}

BOOST_AUTO_TEST_SUITE_END()
