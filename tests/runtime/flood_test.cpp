// SPDX-License-Identifier: BSD-3-Clause
// Recursions that flood the device with tasks. Every task runs exactly once, even if launches fail
// or no launch slot is free.
#include <algorithm>
#include <atomic>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/error.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"
#include "flood.cuh"
#include "foreign_grids.cuh"
#include "printing.hpp"

namespace tests::inline RAMIFY_BUILD {

namespace data = boost::unit_test::data;

namespace {

/// A number of tasks that fills the small pools. (Tests with 3000 tasks also fill the largest.)
const auto many = static_cast<unsigned>(cut_down(3000, 600));

void expect_every_task_once(const flood_request& request, std::size_t pending_launches) {
  const flood_result result = run_flood(request, pending_launches);
  BOOST_TEST(std::ranges::count(result.runs, request.blocks) == std::ssize(result.runs));
  BOOST_TEST(result.slots_left_in_use == 0u);
  const run_report& r = result.report;
  if (r.taken == route::flat) {
    BOOST_TEST(r.child_grids == 0u);
    BOOST_TEST(r.spilled_tasks == 0u);
  } else {
    // Each task except the root was launched or spilled. Tasks of grids that the host launched are
    // neither, because these grids have no slots.
    const bool by_kernels = r.host_grids == 2;  // the root, the driver
    if (request.launches.grain == granularity::per_task && by_kernels) {
      BOOST_TEST(r.child_grids + r.spilled_tasks >= request.tasks - 1);
    }
    BOOST_TEST(r.peak_slots <= r.pending_launch_limit);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_DATA_TEST_CASE(no_task_is_lost_at_any_limit,
                     data::make({1, 2, 16, 2048}) * data::make({route::device, route::flat}) *
                         data::make({1u, 7u, 100u}),
                     pending_launches, taken, children) {
  expect_every_task_once({.tasks = many, .children = children, .route = taken},
                         std::size_t(pending_launches));
  expect_every_task_once({.tasks = 300, .children = children, .route = taken, .blocks = 3},
                         std::size_t(pending_launches));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_under_any_schedule,
                     data::make({16, 2048}) * data::xrange(cut_down(100, 10)), pending_launches,
                     seed) {
  const cpu::scoped_executor_config config(
      {.order = cpu::schedule::random, .seed = std::uint64_t(seed)});
  expect_every_task_once({.tasks = 300, .children = 20}, std::size_t(pending_launches));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_under_extreme_schedules, data::make({"eager", "late"}), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  expect_every_task_once({.tasks = 3000, .children = 20}, 16);
  expect_every_task_once({.tasks = 3000, .children = 20}, 2048);
}

// The pool is smaller than the quota assumes, so launches fail and their tasks go to the list. This
// runs on the executor only, because it hangs a GPU.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_when_launches_fail,
                     data::make({1, 2, 5}) * data::make({"parallel", "eager", "late", "random:1"}),
                     pending_launches, s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  const flood_request request{.tasks = many, .children = 20, .assumed_limit = 2048};
  expect_every_task_once(request, std::size_t(pending_launches));
}

#if !RAMIFY_ON_CUDA
// Grids of the user, which take no slots, hold places of the pool during the whole run.
BOOST_DATA_TEST_CASE(no_task_is_lost_beside_foreign_grids,
                     data::make({64u, 63u, 61u, 40u}) * data::make(grains), places, grain) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config("parallel:1"));
  const launch_limits limits({.pending_launches = 64});
  for (const route taken : {route::device, route::flat}) {
    held_places others(places);
    flood_request request{.tasks = 400, .children = 20, .route = taken};
    request.launches = {grain, 0, 1};
    expect_every_task_once(request, 64);
    const foreign_counts& counts = others.release();
    BOOST_TEST(counts.launched == places);
    BOOST_TEST(counts.ran == places);
  }
}

// Two threads of the host run recursions, and the kernels of a third launch grids without slots.
BOOST_AUTO_TEST_CASE(no_task_is_lost_in_concurrent_host_threads) {
  const launch_limits limits({.pending_launches = 64});
  const slot_lease all_the_time(64);  // without a lease, the executor clears the count of slots
  std::atomic<unsigned> runs_left = 2;
  std::string wrong[2];
  const auto recurse = [&](unsigned which) {
    try {
      for (int i = 0; i < cut_down(20, 6) && wrong[which].empty(); ++i) {
        flood_request request{.tasks = 400, .children = 20};
        request.launches = {grains[i % 3], 0, 1};
        const flood_result result = run_flood(request, 64);
        if (std::ranges::count(result.runs, 1u) != 400) wrong[which] = "a task was lost";
      }
    } catch (const std::exception& e) {
      wrong[which] = e.what();
    }
    --runs_left;
  };
  std::thread first(recurse, 0);
  std::thread second(recurse, 1);
  foreign_counts counts;
  counts.released = 1;
  while (runs_left > 0) run_foreign_grids(counts, 200);
  first.join();
  second.join();
  BOOST_TEST(wrong[0] == "");
  BOOST_TEST(wrong[1] == "");
  BOOST_TEST(counts.ran == counts.launched);
  BOOST_TEST(counts.failed > 0u);  // the pool was full
  BOOST_TEST(slots_in_use() == 0u);
}
#endif

BOOST_AUTO_TEST_CASE(no_task_is_lost_without_a_single_slot) {
  const flood_request request{.tasks = 3000, .children = 20, .slots_taken = true};
  const flood_result result = run_flood(request, 2048);
  BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
  BOOST_TEST(result.report.child_grids == 0u);
  // Spilled: the 20 children of the root, and one grid of the driver. The host launches the others.
  BOOST_TEST(result.report.spilled_tasks == 20u + 1);
  BOOST_TEST(result.report.host_grids == 4u);  // the root, the driver, and two levels
  BOOST_TEST(result.report.deepest_level == 2u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(an_abandoned_run_releases_its_slots) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config("late"));
  for (int i = 0; i < 5; ++i) {
    BOOST_CHECK_THROW(run_flood({.tasks = 100, .children = 99, .break_a_rule = true}, 32),
                      cpu::rule_violation);
  }
  const auto after = run_flood({.tasks = 10, .children = 1}, 32);
  BOOST_TEST(after.report.child_grids > 0u);
}

BOOST_DATA_TEST_CASE(no_task_is_lost_at_any_granularity,
                     data::make(grains) * data::make({1, 2, 16, 64, 2048}) * data::make({1u, 50u}),
                     grain, pending_launches, coarsening) {
  static int piece = 0;
  if (left_out(piece, effort() < 0.1 ? 13 : 7)) return;
  const auto limit = std::size_t(pending_launches);
  for (const bool by_block : {false, true}) {
    for (const auto taken : {route::device, route::flat}) {
      flood_request request{.tasks = 500, .children = 20, .route = taken, .by_block = by_block};
      request.launches = {grain, 0, coarsening};
      expect_every_task_once(request, limit);
      request.children = 200;  // more spawning blocks than chunks
      expect_every_task_once(request, limit);
      request.threads = 64;  // more than the capacity of a chunk
      expect_every_task_once(request, limit);
      request.slots_taken = true;
      expect_every_task_once(request, limit);
    }
  }
  flood_request of_blocks{.tasks = 300, .children = 20, .blocks = 3};
  of_blocks.launches = {grain, 0, coarsening};
  expect_every_task_once(of_blocks, limit);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_at_any_granularity_under_any_schedule,
                     data::make(grains) * data::make({"eager", "late", "random:1", "random:2",
                                                      "random:3", "random:4"}),
                     grain, s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  static int piece = 0;
  const auto expect = [](const flood_request& request, std::size_t limit) {
    if (!left_out_by_tsan(piece, 7)) expect_every_task_once(request, limit);
  };
  for (const std::size_t limit : {1, 2, 16, 64, 2048}) {
    flood_request request{.tasks = 200, .children = 9, .by_block = true};
    request.launches = {grain, 0, 3};
    expect(request, limit);
    request.by_block = false;
    request.blocks = 3;
    expect(request, limit);
    request.assumed_limit = 2048;  // launches fail
    expect(request, limit);
  }
}

BOOST_AUTO_TEST_CASE(tasks_share_grids) {
  // The root spawns 20 tasks, each of which spawns 14.
  flood_request request{.tasks = 301, .children = 20};
  const auto grids = [&](granularity grain, unsigned coarsening) {
    request.launches = {grain, 0, coarsening};
    const flood_result result = run_flood(request, 2048);
    BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
    BOOST_TEST(result.report.spilled_tasks == 0u);
    BOOST_TEST(result.report.deepest_level == 2u);
    BOOST_TEST(result.report.host_grids == 2u);  // the root, the driver
    return result.report.child_grids;
  };
  BOOST_TEST(grids(granularity::per_task, 1) == 300u);
  BOOST_TEST(grids(granularity::per_block, 1) == 1u + 20u);
  BOOST_TEST(grids(granularity::per_block, 4) == 1u + 5u);
  BOOST_TEST(grids(granularity::per_grid, 1) == 2u);
  BOOST_TEST(grids(granularity::per_grid, 4) == 2u);
}

// A kernel that does not call task_ends() for each task is detected.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(a_task_that_never_ends_is_detected) {
  flood_request request{.tasks = 300, .children = 20, .omits_an_end = true};
  const auto is_reported = names("did not call task_ends() for 1 of its tasks");
  BOOST_TEST(run_flood(request, 2048).slots_left_in_use == 1u);
  request.launches.grain = granularity::per_block;
  BOOST_TEST(run_flood(request, 2048).slots_left_in_use == 1u);
  request.launches.grain = granularity::per_grid;
  BOOST_CHECK_EXCEPTION(run_flood(request, 2048), std::logic_error, is_reported);
  request.route = route::flat;
  BOOST_CHECK_EXCEPTION(run_flood(request, 2048), std::logic_error, is_reported);
}

BOOST_DATA_TEST_CASE(a_grid_of_any_size_processes_a_list,
                     data::make({1u, 3u, 5u, 11u, 12u, 13u, 40u}), blocks) {
  const std::vector<unsigned> once(12, 1u);
  BOOST_TEST(visits_of_members(blocks) == once, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_flood_of_a_million_tasks_completes) {
  const auto tasks = static_cast<unsigned>(cut_down(1'000'000));
  for (const unsigned children : {100u, 1000u}) {
    const flood_result result =
        run_flood({.tasks = tasks, .children = children, .threads = 4}, 2048);
    BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
    BOOST_TEST(result.report.peak_slots <= 1024u);
    BOOST_TEST_MESSAGE(result.report);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_AUTO_TEST_CASE(tasks_spill_under_the_late_schedule) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config("late"));
  const auto few = run_flood({.tasks = 3000, .children = 2999}, 16);
  BOOST_TEST(few.report.spilled_tasks == 2999u - 1 + 1);  // the driver finds no slots either
  const auto many = run_flood({.tasks = 3000, .children = 2999}, 2048);
  BOOST_TEST(many.report.spilled_tasks == 2999u - 1024);
}

BOOST_DATA_TEST_CASE(a_short_list_is_an_error, data::make({route::device, route::flat}), taken) {
  const flood_request request{
      .tasks = 3000, .children = 2999, .route = taken, .capacity = 100, .slots_taken = true};
  BOOST_CHECK_EXCEPTION(run_flood(request, 2048), std::length_error, names("task list"));
}

BOOST_AUTO_TEST_CASE(the_first_failed_launch_is_reported_with_kernel_and_depth) {
  try {
    run_flood({.tasks = 10, .children = 3, .bad_launch = true}, 2048);
    BOOST_ERROR("no exception");
  } catch (const device_launch_error& e) {
    BOOST_TEST(e.code() == 9);  // cudaErrorInvalidConfiguration
    BOOST_TEST(e.kernel() == "flood_kernel");
    BOOST_TEST(e.depth() == 0u);
    BOOST_TEST_MESSAGE(e.what());
  }
  expect_every_task_once({.tasks = 10, .children = 3}, 2048);  // the device works after it
}

BOOST_AUTO_TEST_CASE(an_invalid_granularity_is_named) {
  for (const unsigned coarsening : {0u, 4097u}) {
    flood_request request;
    request.launches.coarsening = coarsening;
    BOOST_CHECK_EXCEPTION(run_flood(request, 2048), std::invalid_argument,
                          names("launches.coarsening is"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
