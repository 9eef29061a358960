// SPDX-License-Identifier: BSD-3-Clause
// Launch chains on the backend under test: both joins, both routes, all loops, small launch quotas,
// failed launches, and graphs.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "failed_launches.hpp"
#include "foreign_grids.cuh"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace data = boost::unit_test::data;

namespace tests::inline RAMIFY_BUILD {
namespace chains {

/// Runs a chain once and returns its report.
template <class Program>
run_report run_once(const request& how) {
  const launch_limits limits({.pending_launches = how.limit});
  fixture<Program> memory(how);
  memory.start();
  memory.chain.finish();
  BOOST_TEST(memory.ran(1, how.taken == route::device || how.loop == flat_loop::host, how.last));
  BOOST_TEST(memory.chain.state().done == how.last);
  check(cudaStreamSynchronize(nullptr), "waiting");
  BOOST_TEST(slots_in_use() == 0u);
  return memory.control.report();
}

}  // namespace chains
}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;
using namespace tests::chains;

BOOST_AUTO_TEST_SUITE(launch_chain_of_grids)

BOOST_DATA_TEST_CASE(every_round_runs_once_at_any_limit,
                     data::make({1, 16, 32, 160, 2048}) *
                         data::make({ramify::route::device, ramify::route::flat}),
                     limit, taken) {
  for_each_program([&]<class Program>(Program*) {
    const auto report = run_once<Program>({.taken = taken, .limit = std::size_t(limit)});
    if (limit == 2048 && taken == ramify::route::device && ramify::device_launch_available) {
      BOOST_TEST(report.taken == ramify::route::device);
      BOOST_TEST(report.child_grids >= 3u * (rounds - 1));
      BOOST_TEST(report.spilled_tasks == 0u);
    }
    if (report.taken == ramify::route::flat) BOOST_TEST(report.child_grids == 0u);
  });
}

BOOST_AUTO_TEST_CASE(a_chain_that_is_finished_launches_no_step) {
  for_each_program([&]<class Program>(Program*) {
    const auto report = run_once<Program>({.last = 0});
    BOOST_TEST(report.child_grids == 0u);
  });
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  for_each_program([&]<class Program>(Program*) {
    const auto executor = ramify::cpu::current_executor_config();
    const unsigned interrupted = tests::count_interrupted(
        45, executor, [](std::uint64_t) { return run_once<Program>({}).host_grids > 3; });
    // Negative control: the failures did end the launches of kernels.
    BOOST_TEST(interrupted >= 30u);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_steps,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (const auto& config : reproducible_schedules()) {
    const ramify::cpu::scoped_executor_config scope(config);
    for_each_program([&]<class Program>(Program*) { run_once<Program>({}); });
  }
}

#if !RAMIFY_ON_CUDA
// Grids of the user, which take no slots, hold places of the pool during the whole run.
BOOST_DATA_TEST_CASE(every_round_runs_beside_foreign_grids,
                     data::make({64u, 63u, 62u, 61u, 60u, 55u, 40u}), places) {
  const ramify::cpu::scoped_executor_config config(
      ramify::cpu::parse_executor_config("parallel:1"));
  const launch_limits limits({.pending_launches = 64});
  held_places others(places);
  for_each_program([&]<class Program>(Program*) {
    const auto report = run_once<Program>({.limit = 64});
    BOOST_TEST(report.taken == ramify::route::device);
    if (places == 64) BOOST_TEST(report.child_grids == 0u);
  });
  BOOST_TEST(others.release().ran == places);
}
#endif

BOOST_AUTO_TEST_CASE(slots_that_are_taken_leave_the_steps_to_the_host) {
  for_each_program([&]<class Program>(Program*) {
    fixture<Program> memory({});
    {
      const all_slots_taken taken(2048);
      memory.start();
      memory.chain.finish();
    }
    BOOST_TEST(memory.ran(1, true));
    BOOST_TEST(memory.control.report().host_grids > 3u);
  });
}

BOOST_AUTO_TEST_CASE(a_graph_that_is_requested_and_not_available_is_refused,
                     *boost::unit_test::precondition(on_the_executor)) {
  BOOST_CHECK_THROW(
      static_cast<void>(choose_loop(ramify::flat_loop::graph, "some_config.flat_loop")),
      ramify::unavailable);
}

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(a_graph_launches_all_steps) {
  for (const auto loop : {ramify::flat_loop::graph, ramify::flat_loop::automatic}) {
    const auto report = run_once<by_last_block>({.taken = ramify::route::flat, .loop = loop});
    BOOST_TEST(report.looped_by == ramify::flat_loop::graph);
    BOOST_TEST(report.graph_grids == 2u * rounds);
    BOOST_TEST(report.host_grids == 1u);  // it writes the state
  }
}

BOOST_AUTO_TEST_CASE(a_captured_chain_runs_once_in_each_launch_of_its_graph) {
  for (const auto taken : {ramify::route::device, ramify::route::flat}) {
    for_each_program([&]<class Program>(Program*) {
      const launch_limits limits({.pending_launches = 2048});
      const host_stream stream;
      const bool by_graph = taken == ramify::route::flat;
      device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
      fixture<Program> memory({.taken = taken, .loop = flat_loop::automatic});
      std::optional<run_control> control;
      std::optional<launch_chain<Program>> chain;
      const counts first{0, width};
      check(cudaDeviceSynchronize(), "waiting");
      const captured_graph graph(
          stream.get(),
          [&] {
            control.emplace(status.data(), choose_route(taken, 2048, 1, {taken, ""}), 2048,
                            stream.get());
            chain.emplace(*control, memory.chain.program(),
                          choose_loop(flat_loop::automatic, "flat_loop"));
            chain->write_state(first);
            if (Program::releases_slots && !by_graph) chain->launch_first_round(first);
            chain->start();
            BOOST_CHECK_THROW(chain->finish(), std::logic_error);
          },
          cudaStreamCaptureModeRelaxed);
      for (unsigned launches = 1; launches <= 3; ++launches) {
        graph.launch(stream.get());
        chain->finish();
        BOOST_TEST(memory.ran(launches, !by_graph));
        BOOST_TEST(control->report().host_grids <= 5u);
      }
    });
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
