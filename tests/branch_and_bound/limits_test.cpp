// SPDX-License-Identifier: BSD-3-Clause
// Tests searches that end by a limit, knapsacks on which the bound of the search fails, and large
// flow shops.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <ramify/branch_and_bound/knapsack_lists.cuh>
#include <ramify/cpu/executor.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "branch_and_bound_checks.cuh"
#include "exceptions.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::branch_and_bound_options;
using ramify::knapsack_instance;
using ramify::no_solution;
using ramify::route;

BOOST_AUTO_TEST_SUITE(branch_and_bound_limits)

// ---- large flow shops ---------------------------------------------------------------------------

// The published lower bounds of all 120 instances: they confirm the sizes, the seeds, the generator
// and flow_shop_bound().
BOOST_AUTO_TEST_CASE(taillards_instances_have_the_published_bounds) {
  const std::int64_t bounds[] = {
      1232,  1290,  1073,  1268,  1198,  1180,  1226,  1170,  1206,  1082,  1448,  1479,
      1407,  1308,  1325,  1290,  1388,  1363,  1472,  1356,  1911,  1711,  1844,  1810,
      1899,  1875,  1875,  1880,  1840,  1900,  2712,  2808,  2596,  2740,  2837,  2793,
      2689,  2667,  2527,  2776,  2907,  2821,  2801,  2968,  2908,  2941,  3062,  2959,
      2795,  3046,  3480,  3424,  3351,  3336,  3313,  3460,  3427,  3383,  3457,  3438,
      5437,  5208,  5130,  4963,  5195,  5063,  5198,  5038,  5385,  5272,  5759,  5345,
      5623,  5732,  5431,  5246,  5523,  5556,  5779,  5830,  5851,  6099,  6099,  6072,
      6009,  6144,  5991,  6084,  5979,  6298,  10816, 10422, 10886, 10794, 10437, 10255,
      10761, 10663, 10348, 10616, 10979, 10947, 11150, 11127, 11132, 11085, 11194, 11126,
      10965, 11122, 25922, 26353, 26320, 26424, 26181, 26401, 26300, 26429, 25891, 26315,
  };
  for (std::size_t i = 0; i < ramify::taillard_instances; ++i) {
    BOOST_TEST(ramify::flow_shop_bound(ramify::taillard_instance(i + 1).shop()) == bounds[i]);
  }
  BOOST_CHECK_THROW((void)ramify::taillard_instance(0), std::out_of_range);
  BOOST_CHECK_THROW((void)ramify::taillard_instance(121), std::out_of_range);
}

// 20 machines, of which a search of few machines has no memory: an order of all permutations.
BOOST_AUTO_TEST_CASE(many_machines_have_the_first_best_order) {
  const auto shop = ramify::taillard_flow_shop(7, 20, 4711);
  const auto expected = best_order(shop);
  for (const route taken : routes) {
    const auto found = ramify::flow_shop(shop, environment_on(taken));
    BOOST_TEST(found.makespan == expected.makespan);
    BOOST_TEST(found.order == expected.order, boost::test_tools::per_element());
    BOOST_TEST(found.proof.is_optimal);
    BOOST_TEST(found.proof.bound == found.makespan);
  }
}

BOOST_AUTO_TEST_CASE(many_jobs_have_a_good_order_and_a_bound) {
  const auto shop = ramify::taillard_instance(31).shop();  // 50 jobs, 5 machines; optimum 2724
  const std::int64_t heuristic = neh_order(shop).makespan;
  std::vector<std::size_t> first_order;
  for (const route taken : routes) {
    const auto found = ramify::flow_shop(shop, environment_on(taken));
    BOOST_TEST(found.makespan <= heuristic);
    BOOST_TEST(found.makespan >= 2724);
    BOOST_TEST(found.proof.bound == 2712);
    BOOST_TEST(found.proof.is_optimal == (found.makespan == 2712));
    BOOST_TEST(makespan(shop, found.order) == found.makespan);
    std::vector<std::size_t> sorted = found.order;
    std::ranges::sort(sorted);
    for (std::size_t j = 0; j < shop.jobs; ++j) BOOST_TEST(sorted.at(j) == j);
    if (first_order.empty()) first_order = found.order;
    BOOST_TEST(found.order == first_order, boost::test_tools::per_element());
  }
}

// ---- limits -------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_limit_of_nodes_ends_a_search_with_a_bound, data::make(routes), taken) {
  const best_leaf expected = exhaustive_search(bushy);
  const ramify::environment env = environment_on(taken);
  for (branch_and_bound_options options : all_options) {
    for (const std::uint64_t nodes : {1, 10, 300}) {
      options.limits.max_nodes = nodes;
      const auto found = ramify::branch_and_bound(bushy.root(), bushy, {}, options, env);
      BOOST_TEST(found.report.expanded <= nodes);
      BOOST_TEST(found.proof.bound <= expected.value);
      BOOST_TEST(found.value >= expected.value);  // no_solution is the largest number
      BOOST_TEST(found.found == (found.value != no_solution));
      BOOST_TEST(found.proof.is_optimal == (found.value == found.proof.bound));
      if (nodes <= 10) BOOST_TEST(found.report.unexplored > 0u);
      BOOST_TEST(slots_in_use() == 0u);
    }
    // A limit that is not reached changes nothing.
    options.limits = {.max_nodes = expected.nodes, .max_seconds = 1e9};
    expect_best(bushy, expected, {}, options, env);
    const auto whole = ramify::branch_and_bound(bushy.root(), bushy, {}, options, env);
    BOOST_TEST(whole.proof.is_optimal);
    BOOST_TEST(whole.proof.bound == expected.value);
    BOOST_TEST(whole.report.unexplored == 0u);
  }
}

// A complete tree of 2^60 leaves whose bounds prune nothing.
BOOST_DATA_TEST_CASE(a_limit_of_time_ends_a_search, data::make(routes), taken) {
  const cost_tree endless{.levels = 60, .arity = 2, .seed = 2, .offset = 0, .excess = -1'000};
  branch_and_bound_options options;
  // With a reproducible schedule, the clock of the executor counts nodes as nanoseconds.
  const auto order = ramify::cpu::current_executor_config().order;
  options.limits.max_seconds = order == ramify::cpu::schedule::parallel ? 0.02 : 2e-6;
  const auto found = ramify::branch_and_bound(endless.root(), endless, {.lower = -1'000}, options,
                                              environment_on(taken));
  BOOST_TEST(!found.proof.is_optimal);
  BOOST_TEST(found.proof.bound < found.value);
  BOOST_TEST(found.report.unexplored > 0u);
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(searches_of_the_facade_end_by_limits) {
  const auto shop = ramify::taillard_instance(21).shop();  // optimum 2297: hours of search
  branch_and_bound_options options;
  options.limits.max_nodes = 1'000;
  const auto found = ramify::flow_shop(shop, options, environment_on());
  BOOST_TEST(!found.proof.is_optimal);
  BOOST_TEST(found.makespan <= neh_order(shop).makespan);
  BOOST_TEST(found.makespan >= 2297);
  BOOST_TEST(found.proof.bound <= 2297);
  BOOST_TEST(found.proof.bound >= 1911);  // that of one machine
  BOOST_TEST(makespan(shop, found.order) == found.makespan);
  BOOST_TEST(found.report.expanded <= 1'000u);
  const auto instance = ramify::random_knapsack({.items = 40, .correlation = 0, .seed = 5});
  options.limits.max_nodes = 3;
  const auto few = ramify::knapsack(instance, options, environment_on());
  BOOST_TEST(few.profit <= best_profit(instance));
  BOOST_TEST(few.proof.bound >= best_profit(instance));
  BOOST_TEST(few.weight <= instance.capacity);
  options.limits = {.max_nodes = 0, .max_seconds = NAN};
  BOOST_CHECK_EXCEPTION((void)ramify::knapsack(instance, options, environment_on()),
                        std::invalid_argument,
                        names("branch_and_bound_options.limits.max_seconds is nan"));
}

// ---- knapsacks whose bounds prune nothing -------------------------------------------------------

// All weights are even and the limit is odd: the reduced limit is the bound of the best choice.
BOOST_AUTO_TEST_CASE(even_weights_and_an_odd_limit_take_no_search) {
  knapsack_instance instance;
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    const auto weight = std::int64_t(2 * (1 + random() % 500));
    instance.items.push_back({weight, weight});
    instance.capacity += weight;
  }
  instance.capacity = instance.capacity / 2 | 1;
  const auto found = ramify::knapsack(instance, environment_on());
  BOOST_TEST(found.profit == best_profit(instance));
  BOOST_TEST(found.profit == instance.capacity - 1);
  BOOST_TEST(found.states == 0u);
}

// One odd weight, which is too large to be taken with the best others; profits that are the weights
// plus a constant; large weights, whose lists have at most 2^(n/2) choices.
BOOST_AUTO_TEST_CASE(dynamic_programming_finds_the_first_best_choice) {
  namespace family = ramify::detail::branch_and_bound;
  std::mt19937 random(3);
  std::uint64_t states = 0;
  for (int i = 0; i < cut_down(300, 20); ++i) {
    knapsack_instance instance;
    const auto items = std::size_t(random() % 16);
    const int kind = i % 4;
    std::int64_t sum = 0;
    for (std::size_t item = 0; item < items; ++item) {
      auto weight = std::int64_t(random() % (kind == 3 ? 1'000'000'000 : 12));
      if (kind == 0) weight = 2 * weight + (item == 3 ? 1 : 0);
      const std::int64_t more = kind == 1 ? 5 : kind == 2 ? std::int64_t(random() % 9) : 0;
      instance.items.push_back({weight, weight + more});
      sum += weight;
    }
    instance.capacity = sum / 2 | 1;
    const family::ordered_knapsack ordered(instance);
    const std::int64_t all = ordered.problem.profits[ordered.problem.items];
    family::knapsack_lists lists(ordered.problem, ordered.root.capacity,
                                 all - ordered.lost_by_greedy());
    BOOST_TEST_REQUIRE(lists.add_items(1'000'000, [] { return false; }));
    states += lists.states();
    const auto by_lists = ordered.solution(lists.best(), instance);
    // The search has another method. Both find the choice that is the first one depth first.
    const auto by_search = ramify::branch_and_bound(ordered.root, ordered.problem,
                                                    {.upper = ordered.lost_by_greedy()});
    BOOST_TEST(by_lists.chosen == ordered.solution(by_search.solution, instance).chosen,
               boost::test_tools::per_element());
    BOOST_TEST(by_lists.weight <= instance.capacity);
  }
  BOOST_TEST(states > 1'000u);
  // A list that is too long, and a caller that stops it.
  const auto long_one = ramify::random_knapsack({.items = 30, .largest = 1'000'000});
  const family::ordered_knapsack ordered(long_one);
  const auto add = [&](std::size_t most, bool stops) {
    return family::knapsack_lists(ordered.problem, ordered.root.capacity, 0).add_items(most, [&] {
      return stops;
    });
  };
  BOOST_TEST(!add(3, false));
  BOOST_TEST(!add(1'000'000, true));
}

// Only one weight is odd, and it fits with no other one: no choice has exactly the limit, to which
// the bound of the search rounds. So 2^20 nodes are expanded, and dynamic programming follows.
BOOST_AUTO_TEST_CASE(dynamic_programming_follows_a_search_that_fails,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  if (effort() < 1) return;
  knapsack_instance instance{{{39'999, 39'999}}, 40'001};
  for (int i = 0; i < 40; ++i) instance.items.push_back({2'000 + 2 * i * i, 2'000 + 2 * i * i});
  const auto found = ramify::knapsack(instance, environment_on());
  BOOST_TEST(found.profit == best_profit(instance));
  BOOST_TEST(found.proof.is_optimal);
  BOOST_TEST(found.proof.bound == found.profit);
  BOOST_TEST(found.states > 0u);
}

// Weights of 1000 and 1001: only ten of each have exactly the limit. The first such choice is found
// in each run, although its profit is known long before.
BOOST_AUTO_TEST_CASE(the_first_of_many_best_choices_is_found,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  if (effort() < 1) return;
  knapsack_instance instance{{}, 20'010};
  for (int i = 0; i < 40; ++i) instance.items.push_back({1'000 + i / 20, 1'000 + i / 20});
  const auto found = ramify::knapsack(instance, environment_on());
  BOOST_TEST(found.profit == 20'010);
  BOOST_TEST(found.proof.is_optimal);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 10; ++i) expected.push_back(i);
  for (std::size_t i = 20; i < 30; ++i) expected.push_back(i);
  BOOST_TEST(found.chosen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
