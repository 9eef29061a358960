// SPDX-License-Identifier: BSD-3-Clause
// Failed CUDA calls of the host. Each call of a run fails once, alone or with all later calls, as
// after a fault in a kernel. The run completes with the right result or throws cuda_error. It leaks
// nothing, no launch slot stays in use, and the next run is right.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "flood.cuh"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

namespace data = boost::unit_test::data;

namespace {

/// A function that does a run and returns whether its result is right.
using run = std::function<bool()>;

struct outcome {
  std::uint64_t calls = 0;       ///< CUDA calls of the host in one run without failures
  std::uint64_t exceptions = 0;  ///< runs that threw cuda_error
};

/// Runs once for each of its calls. That call fails, and, if `lasting`, all later ones.
outcome expect_safe(const run& once, bool lasting) {
  const auto normal = cpu::current_executor_config();
  const slot_lease other_run(2048);  // without a lease, the executor clears the count of slots
  outcome seen;
  BOOST_TEST(once());  // creates what the process keeps
  {
    const cpu::scoped_executor_config counting(normal);
    BOOST_TEST(once());
    seen.calls = cpu::host_calls();
  }
  for (std::uint64_t failing = 1; failing <= seen.calls; ++failing) {
    BOOST_TEST_CONTEXT("call " << failing << " of " << seen.calls) {
      const std::uint64_t before = cpu::live_objects();
      auto config = normal;
      config.failing_call = failing;
      config.device_stays_failed = lasting;
      bool right = false;
      {
        const cpu::scoped_executor_config scope(config);
        try {
          right = once();
        } catch (const cuda_error&) {
          ++seen.exceptions;
          right = true;
        }
      }
      BOOST_TEST(right);
      BOOST_TEST(cpu::live_objects() == before);
      if (!lasting) BOOST_TEST(slots_in_use() == 0u);
    }
    if (lasting) {
      // A failed device loses its memory, which includes the count of used slots. Reset it.
      const unsigned none = 0;
      check(cudaMemcpyAsync(other_run.slots().in_use, &none, sizeof none, cudaMemcpyHostToDevice,
                            nullptr),
            "resetting the device");
    }
  }
  BOOST_TEST(once());
  return seen;
}

bool run_tasks(route taken, granularity grain) {
  const flood_request request{
      .tasks = 60, .children = 7, .route = taken, .launches = {grain, 0, 1}};
  const flood_result result = run_flood(request, 2048);
  return std::ranges::count(result.runs, 1u) == std::ssize(result.runs);
}

bool copy_staged(unsigned threads) {
  std::vector<std::byte> source(10'000, std::byte{7});
  std::vector<std::byte> target(source.size());
  const host_stream stream;
  const device_buffer<std::byte> device(source.size(), stream.get());
  staging chunks({.chunk_bytes = 1000, .threads = threads});
  chunks.upload(device.data(), source.data(), source.size(), stream.get());
  chunks.download(target.data(), device.data(), source.size(), stream.get());
  return source == target;
}

/// Sets limits, and returns whether they are in force.
bool set_limits() {
  const launch_limits limits({.pending_launches = 100, .stack_bytes = 4096});
  return *current_launch_limits().pending_launches == 100 &&
         limits.granted().stack_bytes == std::size_t{4096};
}

bool time_events() {
  const host_stream stream;
  host_event begin;
  host_event end;
  begin.record(stream.get());
  end.record(stream.get());
  return end.milliseconds_since(begin) >= 0;
}

bool record_trace() {
  launch_trace trace;
  detail::trace_recorder recorder(&trace, nullptr);
  recorder.read();
  return trace.grids.empty();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failing_calls, *boost::unit_test::precondition(on_the_executor))

// The first lease of a process creates the count of slots. The test hides the present count.
BOOST_AUTO_TEST_CASE(the_first_lease_of_slots_is_safe) {
  auto& counters = ramify::detail::runtime::all_slot_counters<RAMIFY_ON_CUDA != 0>().of_context;
  auto present = std::exchange(counters, {});
  const std::uint64_t before = cpu::live_objects();
  auto config = cpu::current_executor_config();
  for (config.failing_call = 1;; ++config.failing_call) {
    const cpu::scoped_executor_config scope(config);
    try {
      const slot_lease lease(2048);
      BOOST_TEST(cpu::live_objects() == before + 1);
      break;
    } catch (const cuda_error&) {
      BOOST_TEST(cpu::live_objects() == before);
    }
  }
  BOOST_TEST(config.failing_call >= 5u);
  BOOST_TEST(slots_in_use() == 0u);
  if (present.empty()) return;
  for (const auto& [context, counter] : counters)
    check(cudaFree(counter.in_use), "freeing a count");
  counters = std::move(present);
}

BOOST_DATA_TEST_CASE(a_chain_of_grids_is_safe,
                     data::make({route::device, route::flat}) * data::make({false, true}), taken,
                     lasting) {
  const auto expect = [&]<class Program>(Program*) {
    const outcome seen = expect_safe([&] { return chains::run_chain<Program>(taken); }, lasting);
    // Negative control: some failures ended a run.
    BOOST_TEST(seen.exceptions >= seen.calls - 2);
    BOOST_TEST(seen.calls >= 10u);
  };
  chains::for_each_program(expect);
}

BOOST_DATA_TEST_CASE(a_recursion_is_safe,
                     data::make({route::device, route::flat}) *
                         data::make({granularity::per_task, granularity::per_block,
                                     granularity::per_grid}) *
                         data::make({false, true}),
                     taken, grain, lasting) {
  const outcome seen = expect_safe([&] { return run_tasks(taken, grain); }, lasting);
  BOOST_TEST(seen.exceptions >= 10u);
}

BOOST_DATA_TEST_CASE(a_staged_copy_is_safe, data::make({1u, 4u}) * data::make({false, true}),
                     threads, lasting) {
  const outcome seen = expect_safe([&] { return copy_staged(threads); }, lasting);
  BOOST_TEST(seen.exceptions >= 40u);
}

BOOST_DATA_TEST_CASE(limits_events_and_traces_are_safe, data::make({false, true}), lasting) {
  const auto former = *current_launch_limits().stack_bytes;
  const outcome limits = expect_safe(set_limits, lasting);
  BOOST_TEST(limits.exceptions >= 10u);
  // The calls that restore the limits fail too; their errors are ignored.
  BOOST_TEST(limits.exceptions < limits.calls);
  const launch_limits restored({.pending_launches = 2048, .stack_bytes = former});
  BOOST_TEST(expect_safe(time_events, lasting).exceptions >= 7u);
  BOOST_TEST(expect_safe(record_trace, lasting).exceptions >= 4u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
