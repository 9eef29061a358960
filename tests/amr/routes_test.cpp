// SPDX-License-Identifier: BSD-3-Clause
// The bits of the results do not depend on the route, the schedule or the number of launch slots.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "mesh_checks.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::boundary;
using ramify::granularity;
using ramify::mesh_snapshot;
using ramify::route;
using namespace tests;

namespace {

setting busy(matter what, route taken, bool subcycle) {
  setting s = lively(what, subcycle);
  s.env.route = taken;
  return s;
}

/// Checks that the report counts exactly the grids that the executor began.
template <class Run>
std::unique_ptr<any_run> with_grids_counted(Run run) {
  const std::uint64_t before = ramify::cpu::grids_begun();
  auto ran = run();
  const std::uint64_t begun = ramify::cpu::grids_begun() - before;
  if (runs_on_cpu()) BOOST_TEST(ran->report().host_grids + ran->report().child_grids == begun);
  BOOST_TEST(launch_slots_in_use() == 0u);
  return ran;
}

std::unique_ptr<any_run> take(const setting& s, std::uint64_t steps) {
  return with_grids_counted([&] {
    auto run = start_run(s);
    run->advance(steps);
    return run;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(routes_and_schedules)

BOOST_DATA_TEST_CASE(both_routes_give_the_same_bits,
                     data::make({matter::scalar_2d, matter::scalar_3d, matter::gas_2d,
                                 matter::gas_3d}) *
                         data::make(subcycling),
                     what, subcycle) {
  if (effort() < 0.1 && what != matter::gas_2d) return;
  const setting by_kernels = busy(what, route::device, subcycle);
  const setting by_host = busy(what, route::flat, subcycle);
  const auto device = take(by_kernels, lively_steps(by_kernels));
  const auto flat = take(by_host, lively_steps(by_host));
  BOOST_TEST((device->report().taken == route::device));
  BOOST_TEST((flat->report().taken == route::flat));
  BOOST_TEST(device->report().route_reason == "requested");
  BOOST_TEST(device->report().child_grids > device->report().host_grids);
  BOOST_TEST(flat->report().child_grids == 0u);
  BOOST_TEST(device->report().refined > 0u);
  const bool is_coarsened = what != matter::gas_3d && effort() == 1;
  BOOST_TEST((device->report().coarsened > 0 || !is_coarsened));
  BOOST_TEST(device->report().cell_updates == flat->report().cell_updates);
  BOOST_TEST(same_bits(device->snapshot(), flat->snapshot()));
  BOOST_TEST(device->totals() == flat->totals());
}

// The children of refined blocks are made by child grids, by shared grids or, without a launch
// slot, by the launching grid, under any schedule.
BOOST_AUTO_TEST_CASE(launch_granularity_changes_no_bit) {
  const auto flat = take(busy(matter::gas_2d, route::flat, false), 4);
  const auto grids = [&](granularity grain, unsigned coarsening, std::size_t limit = 0) {
    setting s = busy(matter::gas_2d, route::device, false);
    s.options.regrid.launches = {grain, 0, coarsening};
    s.env.pending_launches = limit;
    const auto run = take(s, 4);
    BOOST_TEST((run->report().taken == route::device));
    BOOST_TEST(same_bits(run->snapshot(), flat->snapshot()));
    BOOST_TEST(run->report().refined > 0u);
    return run->report().child_grids;
  };
  for (const char* schedule : {"parallel", "eager", "late", "random:1"}) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    const auto by_grid = grids(granularity::per_grid, 5);
    BOOST_TEST(grids(granularity::per_block, 3) > by_grid);
    BOOST_TEST(grids(granularity::per_task, 1) > by_grid);
    if (effort() < 1 || !runs_on_cpu()) break;
  }
  // A limit with slots only for the driver, and a schedule that releases slots as late as possible.
  if (runs_on_cpu()) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
    const auto by_grid = grids(granularity::per_grid, 1);
    const auto with_slots = grids(granularity::per_task, 1);
    const auto without_slots = grids(granularity::per_task, 1, 160);
    BOOST_TEST(by_grid < with_slots);
    // ThreadSanitizer's mesh has so few children that the grids which resume the driver are more.
    if (effort() >= 0.1) BOOST_TEST(without_slots < with_slots);
  }
}

// The negative control: the comparison finds a changed last bit, and a changed configuration
// changes the bits.
BOOST_AUTO_TEST_CASE(other_runs_have_other_bits,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  setting s = busy(matter::gas_2d, route::flat, false);
  const mesh_snapshot mesh = take(s, 4)->snapshot();
  mesh_snapshot other = mesh;
  other.values[7] = std::nextafter(other.values[7], 100.0);
  BOOST_TEST(!same_bits(mesh, other));
  s.options.step.cfl *= 1 + 1e-15;
  BOOST_TEST(!same_bits(mesh, take(s, 4)->snapshot()));
}

BOOST_DATA_TEST_CASE(steps_may_be_taken_in_any_number_of_calls,
                     data::make(routes) * data::make(subcycling), taken, subcycle) {
  if (effort() < 0.1) return;
  const setting s = busy(matter::gas_2d, taken, subcycle);
  const mesh_snapshot at_once = take(s, 7)->snapshot();
  const auto run = start_run(s);
  for (const std::uint64_t steps : {1, 0, 2, 3, 1}) run->advance(steps);
  BOOST_TEST(run->steps() == 7u);
  BOOST_TEST(same_bits(at_once, run->snapshot()));
}

// On the flat route the host launches steps and regrids ahead. Those after the stop time do
// nothing.
BOOST_DATA_TEST_CASE(steps_after_the_stop_time_do_nothing, data::make(subcycling), subcycle) {
  if (effort() < 0.1) return;
  const double stop = take(busy(matter::gas_2d, route::flat, subcycle), 5)->time();
  const auto until = [&](route taken) {
    return with_grids_counted([&] {
      auto run = start_run(busy(matter::gas_2d, taken, subcycle));
      run->advance(2);
      run->advance_to(stop);
      return run;
    });
  };
  const auto device = until(route::device);
  const auto flat = until(route::flat);
  BOOST_TEST(flat->time() == stop);
  BOOST_TEST(flat->steps() == device->steps());
  BOOST_TEST(flat->report().regrids == device->report().regrids);
  BOOST_TEST(same_bits(flat->snapshot(), device->snapshot()));
}

// Before a stop time, a phase has about as many steps as are left.
BOOST_DATA_TEST_CASE(a_stop_time_adds_at_most_one_empty_step, data::make(subcycling), subcycle) {
  if (effort() < 1) return;
  setting s = busy(matter::scalar_2d, route::device, subcycle);
  s.options.regrid.every = 0;
  const auto after_one_step = [&](auto advance) {
    auto run = start_run(s);
    run->advance(1);
    advance(*run);
    return run;
  };
  const auto one = after_one_step([](any_run& run) { run.advance(1); });
  const auto two = after_one_step([](any_run& run) { run.advance(2); });
  const double stop = one->time();
  const auto until = after_one_step([&](any_run& run) { run.advance_to(stop); });
  BOOST_TEST(until->time() == stop);
  const std::uint64_t grids_of_step = two->report().child_grids - one->report().child_grids;
  BOOST_TEST(grids_of_step > (subcycle ? 12u : 2u));
  BOOST_TEST(until->report().child_grids <= one->report().child_grids + grids_of_step);
}

BOOST_AUTO_TEST_CASE(the_last_step_meets_the_stop_time,
                     *boost::unit_test::precondition(not_under_thread_sanitizer)) {
  setting s = busy(matter::gas_2d, route::flat, false);
  const auto run = start_run(s);
  run->advance_to(0.01);
  BOOST_TEST(run->time() == 0.01);
  const std::uint64_t steps = run->steps();
  run->advance_to(0.01);  // no step is left to take
  run->advance_to(0.005);
  BOOST_TEST(run->steps() == steps);
  BOOST_TEST(run->time() == 0.01);
}

BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_bits,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (const bool subcycle : subcycling) {
    if (effort() < 0.1 && !subcycle) continue;
    const setting of_default = busy(matter::gas_2d, route::device, subcycle);
    const std::uint64_t steps = subcycle ? 1 : 2;
    const mesh_snapshot expected = take(of_default, steps)->snapshot();
    BOOST_TEST(leaves_of_levels(expected).size() > 1u);
    int piece = 0;
    const auto check = [&](const std::string& schedule) {
      const ramify::cpu::scoped_executor_config config(
          ramify::cpu::parse_executor_config(schedule));
      BOOST_TEST_CONTEXT(schedule << ", subcycle " << subcycle) {
        // Some schedules with the flat route.
        const route taken = piece++ % 5 == 4 ? route::flat : route::device;
        const setting s = busy(matter::gas_2d, taken, subcycle);
        BOOST_TEST(same_bits(expected, take(s, steps)->snapshot()));
      }
    };
    if (effort() == 1) check("eager");
    if (effort() == 1) check("late");
    const int seeds = effort() < 1 ? 1 : 25;
    for (int seed = 0; seed < seeds; ++seed) {
      check("random:" + std::to_string(2 * seed + int(subcycle)));
    }
  }
}

// ---- launch slots ------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(no_limit_of_launches_changes_a_bit,
                     data::make({1u, 2u, 16u, 32u, 64u, 160u, 2048u}) * data::make(subcycling),
                     limit, subcycle) {
  if (effort() < 1 && (limit != 160 || (effort() < 0.1 && subcycle))) return;
  setting s = busy(matter::gas_2d, route::device, subcycle);
  const mesh_snapshot expected = take(s, lively_steps(s))->snapshot();
  s.env.pending_launches = limit;
  const auto run = take(s, lively_steps(s));
  BOOST_TEST(same_bits(expected, run->snapshot()));
  // A step of all levels needs 10 slots, a subcycled one of 3 levels 34; small pools have a 16th.
  const unsigned quota = limit >= 256 ? limit / 2 : limit / 16;
  const bool enough = quota >= (subcycle ? 34u : 10u);
  if (runs_on_cpu()) BOOST_TEST((run->report().taken == (enough ? route::device : route::flat)));
  if (run->report().taken == route::flat) {
    BOOST_TEST(run->report().route_reason.find("the pending-launch limit of") == 0u);
  }
  BOOST_TEST(run->report().peak_slots <= quota);
}

// A kernel launches up to 16 steps of the finest level: several steps of a mesh with 3 levels, and
// a part of a step of a mesh with 6 levels. Its launch slots suffice, however late they are free.
BOOST_DATA_TEST_CASE(a_kernel_launches_a_bounded_part_of_subcycled_steps, data::make({2, 5}),
                     max_level) {
  if (effort() < 1) return;
  setting s = busy(matter::scalar_2d, route::flat, true);
  s.options.mesh.roots = {1, 1, 1};
  s.options.mesh.max_level = max_level;
  s.options.regrid.every = 3;
  s.criterion = criterion_kind::point;
  const std::uint64_t steps = max_level == 2 ? 9 : 4;
  const mesh_snapshot expected = take(s, steps)->snapshot();
  BOOST_TEST(leaves_of_levels(expected).size() == std::size_t(max_level) + 1);
  s.env.route = route::device;
  BOOST_TEST(same_bits(expected, take(s, steps)->snapshot()));
  if (!runs_on_cpu()) return;
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  const auto with_pool = [&](std::size_t slots) {
    s.pool_shrinks_to = slots;
    const auto run = take(s, steps);
    BOOST_TEST(same_bits(expected, run->snapshot()));
    return run->report();
  };
  const auto whole = with_pool(0);
  BOOST_TEST(whole.peak_slots < 130u);  // a step of 6 levels has 190 grids
  BOOST_TEST(with_pool(whole.peak_slots).host_grids == whole.host_grids);
  // Negative control: launches fail in a pool that is too small.
  BOOST_TEST(with_pool(whole.peak_slots / 3).host_grids > whole.host_grids);
}

BOOST_DATA_TEST_CASE(without_a_slot_the_host_continues, data::make(subcycling), subcycle) {
  if (effort() < 0.1 && !subcycle) return;
  const setting s = busy(matter::gas_2d, route::device, subcycle);
  const mesh_snapshot expected = take(s, lively_steps(s))->snapshot();
  const auto run = start_run(s);
  const std::uint64_t child_grids = run->report().child_grids;
  without_slots([&] { run->advance(lively_steps(s)); });
  BOOST_TEST(run->report().child_grids == child_grids);
  BOOST_TEST(run->report().spilled_tasks == 1u);
  BOOST_TEST(same_bits(expected, run->snapshot()));
  BOOST_TEST(launch_slots_in_use() == 0u);
}

// The launch pool shrinks during a run, which still uses the former limit: some launch fails, and
// the host continues after the last successful one.
BOOST_AUTO_TEST_CASE(when_a_launch_fails_the_host_continues_after_it,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (const bool subcycle : subcycling) {
    setting s = busy(matter::gas_2d, route::device, subcycle);
    const mesh_snapshot expected = take(s, lively_steps(s))->snapshot();
    int failed = 0;
    for (const std::size_t pool : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u}) {
      if (effort() < 1 && pool > (effort() < 0.1 ? 1u : 2u)) continue;
      for (const std::string schedule : {"parallel", "eager", "late"}) {
        if (schedule != "late" && (effort() < 1 || (pool % 3 != 1 && !all_cases()))) continue;
        const ramify::cpu::scoped_executor_config config(
            ramify::cpu::parse_executor_config(schedule));
        s.pool_shrinks_to = pool;
        BOOST_TEST_CONTEXT("pool " << pool << ", " << schedule << ", subcycle " << subcycle) {
          const auto run = take(s, lively_steps(s));
          BOOST_TEST((run->report().taken == route::device));
          BOOST_TEST(same_bits(expected, run->snapshot()));
          // More grids of the host than drivers, one for each call, show that a launch failed.
          failed += run->report().host_grids > 10;
          if (pool == 1 && schedule == "late") BOOST_TEST(run->report().host_grids > 10u);
        }
      }
    }
    BOOST_TEST(failed > (effort() < 1 ? 0 : 3));
  }
}

#if RAMIFY_ON_CUDA
// Both backends round products before sums, so their results hardly differ.
BOOST_DATA_TEST_CASE(a_gpu_and_the_executor_agree,
                     data::make({matter::scalar_2d, matter::gas_2d, matter::gas_3d}) *
                         data::make(subcycling),
                     what, subcycle) {
  const setting s = busy(what, route::automatic, subcycle);
  std::vector<mesh_snapshot> found;
  for (const auto start :
       {&tests::RAMIFY_VERSIONED(on_cpu)::start_run, &tests::RAMIFY_BUILD::start_run}) {
    const auto run = start(s);
    run->advance(lively_steps(s));
    found.push_back(run->snapshot());
  }
  BOOST_TEST(std::abs(found[0].time - found[1].time) <= 1e-12);
  BOOST_TEST((found[0].leaves == found[1].leaves));
  BOOST_REQUIRE(found[0].values.size() == found[1].values.size());
  double largest = 0;
  for (std::size_t i = 0; i < found[0].values.size(); ++i) {
    largest = std::max(largest, std::abs(found[0].values[i] - found[1].values[i]));
  }
  BOOST_TEST_MESSAGE("largest difference " << largest);
  BOOST_TEST(largest <= 1e-12);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
