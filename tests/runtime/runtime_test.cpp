// SPDX-License-Identifier: BSD-3-Clause
// The device runtime layer, on the backend under test.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/error.hpp>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "exceptions.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::granularity;
using ramify::route;
using tests::flood_request;

namespace {

constexpr granularity grains[] = {granularity::per_task, granularity::per_block,
                                  granularity::per_grid};

const tests::runtime_cases& cases() {
  return tests::backend_under_test() == ramify::backend::cuda ? *tests::runtime_cases_on_cuda()
                                                              : *tests::runtime_cases_on_cpu();
}

bool runs_on_cpu() { return tests::backend_under_test() == ramify::backend::cpu; }

/// Tasks, far more than the small pools hold. (Tests that say 3000 fill the largest.)
constexpr auto many = static_cast<std::uint32_t>(tests::cut_down(3000, 600));

void expect_every_task_once(const flood_request& request, std::size_t pending_launches) {
  const tests::flood_result result = cases().flood(request, pending_launches);
  BOOST_TEST(std::ranges::count(result.runs, request.blocks) == std::ssize(result.runs));
  BOOST_TEST(result.slots_left_in_use == 0u);
  const ramify::run_report& r = result.report;
  if (r.taken == route::flat) {
    BOOST_TEST(r.child_grids == 0u);
    BOOST_TEST(r.spilled_tasks == 0u);
  } else {
    // Each task but the root was launched or spilled; a drain launches two grids for what spilled.
    if (request.launches.grain == granularity::per_task) {
      BOOST_TEST(r.child_grids + r.spilled_tasks >= request.tasks - 1);
    }
    BOOST_TEST(r.peak_slots <= r.pending_launch_limit);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_DATA_TEST_CASE(no_task_is_lost_whatever_the_limit,
                     data::make({1, 2, 16, 2048}) * data::make({route::device, route::flat}) *
                         data::make({1u, 7u, 100u}),
                     pending_launches, taken, fan) {
  expect_every_task_once({.tasks = many, .fan = fan, .route = taken},
                         std::size_t(pending_launches));
  expect_every_task_once({.tasks = 300, .fan = fan, .route = taken, .blocks = 3},
                         std::size_t(pending_launches));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_under_any_schedule,
                     data::make({16, 2048}) * data::xrange(tests::cut_down(100, 10)),
                     pending_launches, seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  expect_every_task_once({.tasks = 300, .fan = 20}, std::size_t(pending_launches));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules_lose_nothing_either, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  expect_every_task_once({.tasks = 3000, .fan = 20}, 16);
  expect_every_task_once({.tasks = 3000, .fan = 20}, 2048);
}

// A pool that is smaller than the quota believes: launches fail, and their tasks go to the list. On
// the executor alone, because that hangs a GPU.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_when_launches_fail,
                     data::make({1, 2, 5}) * data::make({"parallel", "eager", "late", "random:1"}),
                     pending_launches, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  const flood_request request{.tasks = many, .fan = 20, .believed_limit = 2048};
  expect_every_task_once(request, std::size_t(pending_launches));
}

BOOST_AUTO_TEST_CASE(no_task_is_lost_without_a_single_slot) {
  const flood_request request{.tasks = 3000, .fan = 20, .slots_taken = true};
  const tests::flood_result result = cases().flood(request, 2048);
  BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
  BOOST_TEST(result.report.child_grids == 0u);
  BOOST_TEST(result.report.spilled_tasks == 2999u);
  BOOST_TEST(result.report.host_grids == 4u);  // the root, the drain, and two levels
  BOOST_TEST(result.report.deepest_level == 2u);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(an_abandoned_run_gives_its_slots_back) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  for (int i = 0; i < 5; ++i) {
    BOOST_CHECK_THROW(cases().flood({.tasks = 100, .fan = 99, .break_a_rule = true}, 32),
                      ramify::cpu::rule_violation);
  }
  const auto after = cases().flood({.tasks = 10, .fan = 1}, 32);
  BOOST_TEST(after.report.child_grids > 0u);
}

BOOST_DATA_TEST_CASE(no_task_is_lost_at_any_granularity,
                     data::make(grains) * data::make({1, 2, 16, 64, 2048}) * data::make({1u, 50u}),
                     grain, pending_launches, coarsening) {
  static int piece = 0;
  if (tests::left_out(piece, tests::effort() < 0.1 ? 13 : 7)) return;
  const auto limit = std::size_t(pending_launches);
  for (const bool by_block : {false, true}) {
    for (const auto taken : {route::device, route::flat}) {
      flood_request request{.tasks = 500, .fan = 20, .route = taken, .by_block = by_block};
      request.launches = {grain, 0, coarsening};
      expect_every_task_once(request, limit);
      request.fan = 200;  // more blocks spawn than there are chunks
      expect_every_task_once(request, limit);
      request.threads = 64;  // more than a chunk may have room for
      expect_every_task_once(request, limit);
      request.slots_taken = true;
      expect_every_task_once(request, limit);
    }
  }
  flood_request teams{.tasks = 300, .fan = 20, .blocks = 3};
  teams.launches = {grain, 0, coarsening};
  expect_every_task_once(teams, limit);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(no_task_is_lost_at_any_granularity_under_any_schedule,
                     data::make(grains) * data::make({"eager", "late", "random:1", "random:2",
                                                      "random:3", "random:4"}),
                     grain, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  static int piece = 0;
  const auto expect = [](const flood_request& request, std::size_t limit) {
    if (!tests::left_out_by_tsan(piece, 7)) expect_every_task_once(request, limit);
  };
  for (const std::size_t limit : {1, 2, 16, 64, 2048}) {
    flood_request request{.tasks = 200, .fan = 9, .by_block = true};
    request.launches = {grain, 0, 3};
    expect(request, limit);
    request.by_block = false;
    request.blocks = 3;
    expect(request, limit);
    request.believed_limit = 2048;  // launches fail
    expect(request, limit);
  }
}

BOOST_AUTO_TEST_CASE(tasks_share_grids) {
  // The root spawns 20, which spawn 14 each.
  flood_request request{.tasks = 301, .fan = 20};
  const auto grids = [&](granularity grain, unsigned coarsening) {
    request.launches = {grain, 0, coarsening};
    const tests::flood_result result = cases().flood(request, 2048);
    BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
    BOOST_TEST(result.report.spilled_tasks == 0u);
    BOOST_TEST(result.report.deepest_level == 2u);
    BOOST_TEST(result.report.host_grids == 2u);  // the root, the drain
    return result.report.child_grids;
  };
  BOOST_TEST(grids(granularity::per_task, 1) == 300u);
  BOOST_TEST(grids(granularity::per_block, 1) == 1u + 20u);
  BOOST_TEST(grids(granularity::per_block, 4) == 1u + 5u);
  BOOST_TEST(grids(granularity::per_grid, 1) == 2u);
  BOOST_TEST(grids(granularity::per_grid, 4) == 2u);
}

// What a kernel must not do, and that it is noticed.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(a_task_that_never_ends_is_noticed) {
  flood_request request{.tasks = 300, .fan = 20, .forgets_an_end = true};
  const auto says_so = [](const std::logic_error& e) {
    return std::string(e.what()).find("1 of its tasks never said task_ends") != std::string::npos;
  };
  BOOST_TEST(cases().flood(request, 2048).slots_left_in_use == 1u);
  request.launches.grain = granularity::per_block;
  BOOST_TEST(cases().flood(request, 2048).slots_left_in_use == 1u);
  request.launches.grain = granularity::per_grid;
  BOOST_CHECK_EXCEPTION(cases().flood(request, 2048), std::logic_error, says_so);
  request.route = route::flat;
  BOOST_CHECK_EXCEPTION(cases().flood(request, 2048), std::logic_error, says_so);
}

BOOST_DATA_TEST_CASE(a_grid_of_any_size_does_a_list, data::make({1u, 3u, 5u, 11u, 12u, 13u, 40u}),
                     blocks) {
  const std::vector<unsigned> once(12, 1u);
  BOOST_TEST(cases().visits_of_members(blocks) == once, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_flood_of_a_million_tasks_ends) {
  const auto tasks = static_cast<unsigned>(tests::cut_down(1'000'000));
  for (const unsigned fan : {100u, 1000u}) {
    const tests::flood_result result =
        cases().flood({.tasks = tasks, .fan = fan, .threads = 4}, 2048);
    BOOST_TEST(std::ranges::count(result.runs, 1u) == std::ssize(result.runs));
    BOOST_TEST(result.report.peak_slots <= 1024u);
    BOOST_TEST_MESSAGE(result.report);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_late_schedule_makes_tasks_spill) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  const auto few = cases().flood({.tasks = 3000, .fan = 2999}, 16);
  BOOST_TEST(few.report.spilled_tasks == 2999u - 1);
  const auto many = cases().flood({.tasks = 3000, .fan = 2999}, 2048);
  BOOST_TEST(many.report.spilled_tasks == 2999u - 1024);
}

BOOST_DATA_TEST_CASE(a_short_list_is_an_error_that_says_so,
                     data::make({route::device, route::flat}), taken) {
  const flood_request request{
      .tasks = 3000, .fan = 2999, .route = taken, .capacity = 100, .slots_taken = true};
  BOOST_CHECK_EXCEPTION(cases().flood(request, 2048), std::length_error, [](const auto& e) {
    return std::string(e.what()).find("task list") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(the_first_failed_launch_is_told_with_kernel_and_depth) {
  try {
    cases().flood({.tasks = 10, .fan = 3, .bad_launch = true}, 2048);
    BOOST_ERROR("no exception");
  } catch (const ramify::device_launch_error& e) {
    BOOST_TEST(e.code() == 9);  // cudaErrorInvalidConfiguration
    BOOST_TEST(e.kernel() == "flood_kernel");
    BOOST_TEST(e.depth() == 0u);
    BOOST_TEST_MESSAGE(e.what());
  }
  expect_every_task_once({.tasks = 10, .fan = 3}, 2048);  // and nothing is broken after it
}

BOOST_AUTO_TEST_CASE(limits_are_set_for_a_scope) {
  using tests::limit;
  for (const auto& [which, wanted] : {std::pair{limit::pending_launches, std::size_t{4096}},
                                      std::pair{limit::malloc_heap_bytes, std::size_t{64} << 20},
                                      std::pair{limit::stack_bytes, std::size_t{4096}}}) {
    const tests::limits_seen seen = cases().limits(which, wanted);
    BOOST_TEST(seen.inside == wanted);
    BOOST_TEST(seen.inside != seen.before);
    BOOST_TEST(seen.after == seen.before);
  }
}

BOOST_AUTO_TEST_CASE(what_the_driver_clamps_is_told) {
  const tests::limits_seen seen = cases().limits(tests::limit::pending_launches, 100'000'000);
  BOOST_TEST(seen.inside < 100'000'000u);
  BOOST_TEST(seen.inside > 2048u);
  BOOST_TEST(seen.after == seen.before);
}

BOOST_AUTO_TEST_CASE(what_a_limit_costs_is_told) {
  (void)cases().flood({.tasks = 10}, 2048);  // the pool is made with the first such kernel
  const tests::limits_seen seen = cases().limits(tests::limit::pending_launches, 65'536);
  // On a GPU a slot takes kilobytes; on the executor it is a number.
  BOOST_TEST((seen.reserved_bytes > (100 << 20)) == !runs_on_cpu());
}

BOOST_AUTO_TEST_CASE(limits_that_do_not_exist_are_refused) {
  BOOST_CHECK_EXCEPTION(cases().sync_depth(), std::invalid_argument, [](const auto& e) {
    return std::string(e.what()).find("tail launch") != std::string::npos;
  });
  BOOST_CHECK_THROW(cases().no_pending_launches(), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(streams_events_and_tail_launches_order_grids) {
  BOOST_TEST(cases().order_of_streams() == "aAbBcCZ");
  BOOST_TEST(cases().order_in_null_stream() == "aAbBcCdDeE");
}

BOOST_AUTO_TEST_CASE(what_owns_something_can_be_moved) { BOOST_TEST(cases().handles() == ""); }

BOOST_AUTO_TEST_CASE(grids_that_start_early_wait) { BOOST_TEST(cases().early_grids(100) == 100u); }

BOOST_AUTO_TEST_CASE(events_tell_times) { BOOST_TEST(cases().times_of_events() == ""); }

BOOST_AUTO_TEST_CASE(a_launch_is_not_blamed_for_an_earlier_error) {
  BOOST_TEST(cases().launch_after_failed_call());
}

BOOST_AUTO_TEST_CASE(warps_and_dynamic_shared_memory) {
  const std::vector<int> expected{2016, 2080, 2144, 2208, 2272};
  BOOST_TEST(cases().warp_and_shared() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_device_heap_says_no) { BOOST_TEST(cases().heap_is_finite()); }

BOOST_AUTO_TEST_CASE(copies_and_fills_from_a_kernel) {
  const std::vector<int> expected{0, 8, 7, 8, 8, 0};
  BOOST_TEST(cases().memory_operations() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(copies_in_pieces_are_complete_and_in_order) {
  BOOST_TEST(cases().staged_copies() == "");
  BOOST_TEST(cases().staged_copies_of_two_threads() == "");
  BOOST_TEST(cases().spoilt_staged_copy() == "byte 5003 of 10000 is wrong");
}

BOOST_AUTO_TEST_CASE(any_memory_is_copied) { BOOST_TEST(cases().copies_of_any_memory() == ""); }

BOOST_AUTO_TEST_CASE(staging_needs_chunks_and_threads) {
  const auto names = [](const char* field) {
    return [=](const std::invalid_argument& e) {
      return std::string(e.what()).find(field) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(cases().staging_without_chunks(), std::invalid_argument,
                        names("chunk_bytes"));
  BOOST_CHECK_EXCEPTION(cases().staging_without_threads(), std::invalid_argument, names("threads"));
}

BOOST_AUTO_TEST_CASE(a_route_is_chosen_with_a_reason) {
  BOOST_TEST(cases().route_reason(route::flat, 2048) == "flat: asked for");
  BOOST_TEST(cases().route_reason(route::device, 2048) == "device: asked for");
  BOOST_TEST(cases().route_reason(route::automatic, 2048) == "device: preferred");
  BOOST_TEST(cases().route_reason(route::device, 48) == "device: asked for");
  BOOST_TEST(cases().route_reason(route::device, 47) ==
             "flat: the pending-launch limit of 47 gives 2 launch slots, and the device route "
             "needs 3");
}

// An iteration at least, as the condition is the body's to set; then as many as it takes.
BOOST_DATA_TEST_CASE(a_loop_ends_when_its_body_says_so,
                     data::make({ramify::flat_loop::host, ramify::flat_loop::automatic}) *
                         data::make({0u, 1u, 2u, 1000u}),
                     wanted, n) {
  for (const unsigned launches : {1u, 3u}) {
    const auto seen = cases().loop({.wanted = wanted, .n = n, .launches = launches});
    BOOST_TEST(seen.counted == n);
    BOOST_TEST(seen.iterations == launches * std::max(n, 1u));
    BOOST_TEST(seen.in_graph == (wanted != ramify::flat_loop::host && !runs_on_cpu()));
    BOOST_TEST(!seen.reason.empty());
  }
}

BOOST_AUTO_TEST_CASE(a_graph_loops_or_says_why_not) {
  if (runs_on_cpu()) {
    BOOST_CHECK_EXCEPTION((void)cases().loop({.n = 3}), ramify::unavailable,
                          tests::names("the CPU executor has no graphs"));
    return;
  }
  const auto seen = cases().loop({.n = 3});
  BOOST_TEST(seen.in_graph);
  BOOST_TEST(seen.iterations == 3u);
  BOOST_TEST(cases().loop_after_bad_body());
}

BOOST_AUTO_TEST_CASE(bad_granularity_is_named) {
  for (const unsigned coarsening : {0u, 4097u}) {
    flood_request request;
    request.launches.coarsening = coarsening;
    BOOST_CHECK_EXCEPTION(cases().flood(request, 2048), std::invalid_argument, [](const auto& e) {
      return std::string(e.what()).find("launches.coarsening is") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(names_of_choices_are_read_back) {
  for (const auto b : {ramify::backend::automatic, ramify::backend::cuda, ramify::backend::cpu}) {
    BOOST_TEST((ramify::parse_backend(ramify::to_string(b)) == b));
  }
  for (const auto r : {route::automatic, route::device, route::flat}) {
    BOOST_TEST((ramify::parse_route(ramify::to_string(r)) == r));
  }
  using ramify::flat_loop;
  for (const auto l : {flat_loop::automatic, flat_loop::graph, flat_loop::host}) {
    BOOST_TEST(ramify::parse_flat_loop(ramify::to_string(l)) == l);
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_flat_loop("while")), std::invalid_argument);
  for (const auto g : grains) BOOST_TEST((ramify::parse_granularity(to_string(g)) == g));
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_granularity("warp")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_backend("gpu")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_route("")), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
