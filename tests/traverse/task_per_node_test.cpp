// SPDX-License-Identifier: BSD-3-Clause
// The strategy task_per_node: every frontier node is a task.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::route;
using enum numbered_tree::shape;

namespace {

constexpr ramify::granularity grains[] = {
    ramify::granularity::per_task, ramify::granularity::per_block, ramify::granularity::per_grid};

traverse_setting task_per_node(route taken, ramify::launch_granularity launches,
                               std::size_t pending_launches) {
  return {.options = {.capacity = 100'000,
                      .strategy = ramify::traverse_strategy::task_per_node,
                      .launches = launches},
          .env = {.route = taken, .pending_launches = pending_launches}};
}

void expect_every_shape_visited(const traverse_setting& setting) {
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{path, 40},
                           numbered_tree{star, unsigned(cut_down(1'500, 100))},
                           numbered_tree{complete, unsigned(cut_down(1'000, 100)), 3},
                           numbered_tree{caterpillar, 60}, numbered_tree{combs, 5, 3}}) {
    expect_each_visited_once(tree, setting);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

BOOST_DATA_TEST_CASE(tasks_visit_each_node_once,
                     data::make(grains) * data::make({1, 2, 16, 64, 2048}), grain,
                     pending_launches) {
  static int piece = 0;
  if (left_out(piece, 7)) return;
  for (const auto taken : routes) {
    const auto limit = std::size_t(pending_launches);
    expect_every_shape_visited(task_per_node(taken, {grain, 0, 1}, limit));
    expect_every_shape_visited(task_per_node(taken, {grain, 3, 4}, limit));
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(tasks_visit_each_node_once_under_any_schedule,
                     data::make(grains) * data::make({"eager", "late", "random:1", "random:2"}),
                     grain, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  static int piece = 0;
  for (const std::size_t limit : {2, 64, 2048}) {
    if (left_out(piece, 5)) continue;
    const auto setting = task_per_node(route::device, {grain, 2, 2}, limit);
    expect_each_visited_once({complete, 100, 3}, setting);
    expect_each_visited_once({star, 100}, setting);
    expect_each_visited_once({caterpillar, 20}, setting);
  }
}

BOOST_AUTO_TEST_CASE(tasks_share_grids) {
  // Levels of 1, 4, 16 and 64 frontier nodes. The first grid visits the root; leaves are no tasks.
  const numbered_tree tree{complete, 1 + 4 + 16 + 64 + 256, 4};
  const auto grids = [&](ramify::launch_granularity launches) {
    return expect_each_visited_once(tree, task_per_node(route::device, launches, 2048)).child_grids;
  };
  using ramify::granularity;
  BOOST_TEST(grids({granularity::per_task}) == 1u + 4 + 16 + 64);
  BOOST_TEST(grids({granularity::per_block}) == 1u + 1 + 4 + 16);
  BOOST_TEST(grids({granularity::per_grid}) == 4u);
  BOOST_TEST(grids({granularity::per_task, 5}) < 1u + 4 + 16 + 64);
}

// A chain of nested grids occupies the pool until it is complete, so no grid may release its slot.
BOOST_DATA_TEST_CASE(a_path_of_tasks_keeps_its_slots, data::make(grains), grain) {
  const traverse_setting setting = task_per_node(route::device, {grain, 0, 1}, 64);
  const auto report = expect_each_visited_once({path, 300}, setting);
  BOOST_TEST(report.spilled_tasks > 300u / 6);  // 4 slots, of which a drain takes 2
  BOOST_TEST(report.peak_slots <= 4u);
}

BOOST_AUTO_TEST_CASE(too_many_tasks_are_an_error) {
  for (const route taken : routes) {
    auto setting = task_per_node(taken, {ramify::granularity::per_grid, 0, 1}, 2048);
    setting.options.capacity = 10;
    std::vector<unsigned> visits;
    BOOST_CHECK_EXCEPTION((void)mark({complete, 100, 4}, setting, visits), std::length_error,
                          names("raise traverse_options.capacity, which is 10"));
    BOOST_TEST(slots_in_use() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
