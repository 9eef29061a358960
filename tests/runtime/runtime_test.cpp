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
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::route;
using tests::flood_request;

namespace {

const tests::runtime_cases& cases() {
  return tests::backend_under_test() == ramify::backend::cuda ? *tests::runtime_cases_on_cuda()
                                                              : *tests::runtime_cases_on_cpu();
}

bool on_cpu() { return tests::backend_under_test() == ramify::backend::cpu; }

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
    BOOST_TEST(r.child_grids + r.spilled_tasks >= request.tasks - 1);
    BOOST_TEST(r.peak_slots <= r.pending_launch_limit);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_DATA_TEST_CASE(no_task_is_lost_whatever_the_limit,
                     data::make({1, 2, 16, 2048}) * data::make({route::device, route::flat}) *
                         data::make({1u, 7u, 100u}),
                     pending_launches, taken, fan) {
  expect_every_task_once({.tasks = 3000, .fan = fan, .route = taken},
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
  const flood_request request{.tasks = 3000, .fan = 20, .believed_limit = 2048};
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

BOOST_AUTO_TEST_CASE(a_flood_of_a_million_tasks_ends) {
  const auto tasks = static_cast<unsigned>(tests::cut_down(1'000'000));
  for (const unsigned fan : {100u, 1000u}) {
    const tests::flood_result result = cases().flood({.tasks = tasks, .fan = fan}, 2048);
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
  BOOST_TEST((seen.reserved_bytes > (100 << 20)) == !on_cpu());
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

BOOST_AUTO_TEST_CASE(names_of_choices_are_read_back) {
  for (const auto b : {ramify::backend::automatic, ramify::backend::cuda, ramify::backend::cpu}) {
    BOOST_TEST((ramify::parse_backend(ramify::to_string(b)) == b));
  }
  for (const auto r : {route::automatic, route::device, route::flat}) {
    BOOST_TEST((ramify::parse_route(ramify::to_string(r)) == r));
  }
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_backend("gpu")), std::invalid_argument);
  BOOST_CHECK_THROW(static_cast<void>(ramify::parse_route("")), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
