// SPDX-License-Identifier: BSD-3-Clause
// run_recursion(): each task runs once on both routes, at all limits and after any failed launch;
// the trace is complete; errors name what is wrong.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/run_recursion.cuh>
#include <stdexcept>
#include <vector>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "flood.cuh"
#include "printing.hpp"
#include "run_checks.cuh"
#include "schedules.hpp"

namespace tests::inline RAMIFY_BUILD {

namespace data = boost::unit_test::data;

/// A flood of tasks on the device, and what a run of it needs.
struct tasks_to_run {
  explicit tasks_to_run(unsigned tasks, unsigned children = 20)
      : count(tasks),
        runs(zeros<unsigned>(tasks)),
        arrived(zeros<unsigned>(tasks)),
        context{runs.data(), arrived.data(), tasks, children, 1, false, false, false, false},
        options{.capacity = tasks} {}

  [[nodiscard]] bool all_ran(unsigned times = 1) const {
    return std::ranges::count(download(runs), times) == std::ptrdiff_t(count);
  }

  unsigned count;
  device_buffer<unsigned> runs;
  device_buffer<unsigned> arrived;
  flood_context context;
  recursion_options options;
};

/// Writes the number of tasks that have run once.
__global__ void count_runs(const unsigned* runs, unsigned tasks, unsigned* counted) {
  for (unsigned i = 0; i < tasks; ++i) *counted += runs[i] == 1 ? 1 : 0;
}

struct no_flat_kernel;
__global__ void run_root(task_source<unsigned> source, spawner<unsigned> spawn,
                         no_flat_kernel context);
struct no_flat_kernel {
  __host__ __device__ static auto kernel() { return run_root; }
  static constexpr unsigned max_children = 1;
  static constexpr bool may_be_thin = false;
};
__global__ void run_root(task_source<unsigned> source, spawner<unsigned> spawn,
                         no_flat_kernel context) {
  if (threadIdx.x != 0) return;
  spawn.task_ends();
  spawn.block_ends(run_root, source, context, __func__);
}

BOOST_AUTO_TEST_SUITE(recursion_in_one_call)

BOOST_DATA_TEST_CASE(every_task_runs_once,
                     data::make(routes) * data::make(grains) * data::make({1, 16, 32, 2048}), taken,
                     grain, limit) {
  tasks_to_run flood(500);
  flood.options.launches = {grain, 0, 2};
  const run_report report = with_grids_counted([&] {
    return run_recursion(0, flood.context, flood.options,
                         environment_on(taken, std::size_t(limit)));
  });
  BOOST_TEST(flood.all_ran());
  const bool by_host = taken == route::flat || (limit < 16 && !RAMIFY_ON_CUDA);
  BOOST_TEST(report.taken == (by_host ? route::flat : route::device));
  BOOST_TEST((report.child_grids > 0) == (report.taken == route::device));
  BOOST_TEST(report.scratch_bytes == recursion_scratch_bytes<flood_context>(flood.options));
  BOOST_TEST(report.pending_launch_limit >= std::size_t(limit));
}

BOOST_AUTO_TEST_CASE(a_call_needs_no_options) {
  tasks_to_run flood(500);
  const run_report report = run_recursion(0, flood.context);
  BOOST_TEST(flood.all_ran());
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.route_reason == "no level waits for the host");
}

BOOST_AUTO_TEST_CASE(tasks_wait_while_the_quota_is_exhausted) {
  tasks_to_run flood(500);
  const launch_limits limits({.pending_launches = 2048});
  run_report report;
  {
    const all_slots_taken other_user(2048);
    report = run_recursion(0, flood.context, flood.options, environment_on(route::device));
  }
  BOOST_TEST(flood.all_ran());
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.spilled_tasks >= 20u);  // those of the root
}

BOOST_AUTO_TEST_CASE(no_task_is_lost_after_any_failed_launch_or_in_any_schedule,
                     *boost::unit_test::precondition(on_the_executor)) {
  tasks_to_run flood(200);
  unsigned times = 0;
  const auto run = [&](std::uint64_t) {
    check(cudaMemsetAsync(flood.arrived.data(), 0, 200 * sizeof(unsigned), nullptr), "clearing");
    const run_report report =
        run_recursion(0, flood.context, flood.options, environment_on(route::device));
    BOOST_TEST(flood.all_ran(++times));
    BOOST_TEST(slots_in_use() == 0u);
    return report.spilled_tasks > 0;
  };
  const unsigned interrupted = tests::count_interrupted(12, cpu::current_executor_config(), run);
  BOOST_TEST(interrupted >= 2u);  // negative control: after some failures, tasks waited
  for (const auto& config : reproducible_schedules()) {
    const cpu::scoped_executor_config scope(config);
    BOOST_TEST(!run(0));
  }
}

// nvcc compiles kernels that record in the tests of traces only.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(a_trace_has_all_grids, data::make(routes), taken) {
  launch_trace trace;
  environment env = environment_on(taken);
  env.trace = &trace;
  tasks_to_run flood(300);
  const run_report report = run_recursion(0, flood.context, flood.options, env);
  BOOST_TEST(trace.count() == report.host_grids + report.child_grids);
  BOOST_TEST(trace.taken == taken);
  BOOST_TEST(std::ranges::count(trace.grids, "flood_kernel", &traced_grid::kernel) > 1);
  // Also if the run fails: a launch fails, or a kernel does not report the end of a task.
  trace.grids.clear();
  (taken == route::device ? flood.context.bad_launch : flood.context.omits_an_end) = true;
  check(cudaMemsetAsync(flood.arrived.data(), 0, 300 * sizeof(unsigned), nullptr), "clearing");
  BOOST_CHECK_THROW(run_recursion(0, flood.context, flood.options, env), std::exception);
  BOOST_TEST(std::ranges::count(trace.grids, "flood_kernel", &traced_grid::kernel) > 1);
}

BOOST_DATA_TEST_CASE(what_follows_in_the_stream_sees_all_tasks, data::make(routes), taken) {
  const host_stream stream;
  tasks_to_run flood(500);
  const auto counted = zeros<unsigned>(1);
  check(cudaDeviceSynchronize(), "preparing");
  const device_buffer<std::byte> memory(recursion_scratch_bytes<flood_context>(flood.options),
                                        stream.get());
  environment env = environment_on(taken);
  env.stream = stream.get();
  env.memory = memory;
  auto run = run_recursion_async(0, flood.context, flood.options, env);
  check(launch(count_runs, {1, 1}, stream.get(), flood.runs.data(), flood.count, counted.data())
            .code(),
        "counting");
  stream.synchronize();
  BOOST_TEST(download(counted)[0] == 500u);
  const run_report report = run.get();
  BOOST_TEST(report.scratch_bytes == memory.size());
  BOOST_CHECK_THROW(run.get(), std::logic_error);
  env.memory = memory_ref(memory.data(), memory.size() - 256);
  BOOST_CHECK_EXCEPTION(run_recursion(0, flood.context, flood.options, env), std::invalid_argument,
                        names("run_recursion"));
  BOOST_TEST(flood.all_ran());
}

BOOST_AUTO_TEST_CASE(errors_name_the_option) {
  tasks_to_run flood(300);
  const auto refuses = [&](const recursion_options& options, const char* what) {
    BOOST_CHECK_EXCEPTION(run_recursion(0, flood.context, options, environment_on()),
                          std::invalid_argument, names(what));
    BOOST_CHECK_THROW(static_cast<void>(recursion_scratch_bytes<flood_context>(options)),
                      std::invalid_argument);
  };
  refuses({.capacity = 0}, "recursion_options.capacity is 0; it must be in [1, 2^31 - 1]");
  refuses({.capacity = std::size_t{1} << 31}, "recursion_options.capacity");
  refuses({.threads = 0}, "recursion_options.threads is 0; it must be in [1, 1024]");
  refuses({.threads = 1025}, "recursion_options.threads");
  refuses({.root_blocks = 0}, "recursion_options.root_blocks");
  refuses({.streams = child_streams(7)}, "recursion_options.streams");
  refuses({.launches = {.coarsening = 0}}, "recursion_options.launches.coarsening");
  BOOST_TEST(flood.all_ran(0));  // nothing was launched

  flood.options.capacity = 10;
  BOOST_CHECK_EXCEPTION(run_recursion(0, flood.context, flood.options, environment_on(route::flat)),
                        std::length_error, names("raise recursion_options.capacity, which is 10"));
  BOOST_CHECK_EXCEPTION(
      run_recursion(0u, no_flat_kernel{},
                    {.backend = backend_under_test(), .flat_loop = flat_loop::graph}),
      unavailable, names("environment.flat_loop graph is not available"));
  tasks_to_run omits(300);
  omits.context.omits_an_end = true;
  BOOST_CHECK_EXCEPTION(run_recursion(0, omits.context, omits.options, environment_on(route::flat)),
                        std::logic_error, names("did not call task_ends() for 1 of its tasks"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
