// SPDX-License-Identifier: BSD-3-Clause
// Rules that hold for the runs of all families: get(), handed-in memory, limits, traces, and graphs
// that capture a run.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <stdexcept>
#include <string>

#include "async_calls.cuh"
#include "exceptions.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace run_objects {

using tests::names;

namespace {

/// Calls `check` with each call of the table, in a context that names it.
template <class Check>
void for_each_call(const arrays& a, const Check& check) {
  for (const async_call& call : calls_of_all_families(a)) {
    BOOST_TEST_CONTEXT(call.name) { check(call); }
  }
}

/// Calls `check` with each call that takes memory.
template <class Check>
void for_each_call_with_memory(const arrays& a, const Check& check) {
  for_each_call(a, [&](const async_call& call) {
    if (call.scratch_bytes > 0) check(call);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_objects_of_all_families)

BOOST_AUTO_TEST_CASE(get_returns_once) {
  const arrays a;
  const slot_lease lease(2048);  // keeps the count of slots between runs
  const auto check_rule = [](const async_call& call) {
    const any_run run = call.start({});
    BOOST_CHECK_NO_THROW(run());
    BOOST_CHECK_EXCEPTION(run(), std::logic_error, names("get() was called before"));
    BOOST_CHECK_EXCEPTION(run(), std::logic_error, names("get() was called before"));
    BOOST_TEST(tests::slots_in_use() == 0u);
  };
  for_each_call(a, check_rule);
  for (const async_call& call : calls_without_work(a)) {
    BOOST_TEST_CONTEXT(call.name << " without work") { check_rule(call); }
  }
}

BOOST_AUTO_TEST_CASE(a_run_may_be_destroyed_unfinished) {
  const arrays a;
  const slot_lease lease(2048);  // keeps the count of slots between runs
  for_each_call(a, [](const async_call& call) {
    for (const route taken : all_choices<route>()) {
      { const any_run dropped = call.start({.route = taken}); }
      BOOST_TEST(tests::slots_in_use() == 0u);
    }
  });
}

BOOST_AUTO_TEST_CASE(the_route_and_the_loop_of_the_environment_are_taken) {
  const arrays a;
  for_each_call(a, [](const async_call& call) {
    for (const route taken : {route::device, route::flat}) {
      if (taken == route::device && !device_launch_available) continue;
      const run_report report = call.start({.route = taken, .flat_loop = flat_loop::host})();
      BOOST_TEST((report.looped_by != flat_loop::graph));
      if (call.has_route) BOOST_TEST(report.taken == taken);
    }
  });
}

BOOST_AUTO_TEST_CASE(bad_environments_are_refused) {
  const arrays a;
  constexpr backend other = RAMIFY_ON_CUDA ? backend::cpu : backend::cuda;
  for_each_call(a, [](const async_call& call) {
    const auto refuses = [&](const environment& env, const std::string& message) {
      BOOST_CHECK_EXCEPTION((void)call.start(env), std::invalid_argument, names(message));
    };
    refuses({.route = route(9)}, "environment.route is none");
    refuses({.flat_loop = flat_loop(9)}, "environment.flat_loop is none");
    refuses({.backend = backend(9)}, "environment.backend is none");
    BOOST_CHECK_EXCEPTION((void)call.start({.backend = other}), unavailable,
                          names("environment.backend is " + std::string(to_string(other))));
    launch_trace trace;
    trace.capacity = 0;
    if (trace_available) refuses({.trace = &trace}, "launch_trace.capacity is 0");
  });
}

BOOST_AUTO_TEST_CASE(memory_may_be_handed_in) {
  const arrays a;
  for_each_call_with_memory(a, [](const async_call& call) {
    const device_buffer<std::byte> memory(call.scratch_bytes, nullptr);
    const run_report report = call.start({.memory = memory})();
    BOOST_TEST(report.scratch_bytes == call.scratch_bytes);
    const std::size_t less = call.scratch_bytes - 1;
    BOOST_CHECK_EXCEPTION(
        (void)call.start({.memory = {memory.data(), less}}), std::invalid_argument,
        names("environment.memory has " + std::to_string(less) + " bytes; this run needs "));
    BOOST_CHECK_EXCEPTION((void)call.start({.memory = {memory.data() + 128, call.scratch_bytes}}),
                          std::invalid_argument,
                          names("environment.memory must be aligned to 256 bytes"));
  });
}

BOOST_AUTO_TEST_CASE(limits_are_in_force_until_get_returns) {
  const arrays a;
  const std::size_t before = current_pending_launch_limit();
  for_each_call(a, [&](const async_call& call) {
    {
      const any_run run = call.start({.pending_launches = 100});
      BOOST_TEST(current_pending_launch_limit() == 100u);
      BOOST_TEST(run().pending_launch_limit == 100u);
      BOOST_TEST(current_pending_launch_limit() == before);
    }
    BOOST_TEST(current_pending_launch_limit() == before);
  });
}

BOOST_AUTO_TEST_CASE(traces_get_the_grids_of_a_run) {
  if (!trace_available) return;
  const arrays a;
  for_each_call(a, [](const async_call& call) {
    launch_trace trace;
    const run_report report = call.start({.trace = &trace})();
    BOOST_TEST(trace.grids.size() >= report.host_grids + report.child_grids);
    BOOST_TEST(!trace.grids.empty());
  });
}

#if RAMIFY_ON_CUDA

// With each route and loop. A graph cannot capture grids that the host launches one by one: then
// route::automatic is the device route, and route::flat is refused.
BOOST_AUTO_TEST_CASE(graphs_capture_runs) {
  const arrays a;
  const slot_lease lease(2048);  // keeps the count of slots between runs
  const host_stream stream;
  const bool has_loops = graph_loop_obstacle().empty();
  for_each_call_with_memory(a, [&](const async_call& call) {
    const device_buffer<std::byte> memory(call.scratch_bytes, stream.get());
    for (const route wanted : all_choices<route>()) {
      for (const flat_loop loop : all_choices<flat_loop>()) {
        BOOST_TEST_CONTEXT(to_string(wanted) << ", " << to_string(loop)) {
          if (loop == flat_loop::graph && !has_loops) continue;
          const environment env{
              .stream = stream, .memory = memory, .route = wanted, .flat_loop = loop};
          const bool by_host = loop == flat_loop::host || !has_loops;
          std::optional<any_run> run;
          const auto capture = [&] {
            return captured_graph(stream.get(), [&] { run = call.start(env); });
          };
          const bool host_takes_part = by_host && call.has_route && call.has_loop;
          if (host_takes_part && wanted == route::flat) {
            BOOST_CHECK_EXCEPTION((void)capture(), unavailable, names("a graph cannot capture"));
            continue;
          }
          const captured_graph graph = capture();
          for (int launches = 0; launches < 2; ++launches) {
            graph.launch(stream.get());
            const run_report report = (*run)();
            if (host_takes_part) BOOST_TEST(report.taken == route::device);
            BOOST_TEST(tests::slots_in_use() == 0u);
          }
        }
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(captured_runs_refuse_traces_limits_and_missing_memory) {
  const arrays a;
  const host_stream stream;
  for_each_call(a, [&](const async_call& call) {
    const device_buffer<std::byte> memory(call.scratch_bytes, stream.get());
    const auto capture = [&](const environment& env) {
      static_cast<void>(captured_graph(stream.get(), [&] { (void)call.start(env); }));
    };
    launch_trace trace;
    BOOST_CHECK_EXCEPTION(capture({.stream = stream, .memory = memory, .trace = &trace}),
                          unavailable, names("a graph cannot capture the recording of a trace"));
    BOOST_CHECK_EXCEPTION(capture({.stream = stream, .memory = memory, .pending_launches = 100}),
                          unavailable, names("a graph cannot capture a change of the"));
    if (call.scratch_bytes == 0) return;
    BOOST_CHECK_EXCEPTION(capture({.stream = stream}), std::invalid_argument,
                          names("environment.memory is empty; a run in a stream that is being"));
  });
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace run_objects
