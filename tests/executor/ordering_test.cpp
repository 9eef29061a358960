// SPDX-License-Identifier: BSD-3-Clause
// The order of grids (streams, events, tail launches, nested completion), and the schedules.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/stream.cuh>
#include <set>
#include <string>
#include <vector>

using namespace ramify;
namespace data = boost::unit_test::data;

namespace order_kernels {

/// The names of grids in the order in which they ran.
struct grid_log {
  unsigned size;
  char names[4096];
};

__global__ void note(grid_log* log, char name) { log->names[atomicAdd(&log->size, 1u)] = name; }

// Appends its child's name, then its own.
__global__ void note_after_child(grid_log* log, char name) {
  if (!launch(note, {1, 1}, tail_launch(), log, name)) log->size = 0;
  if (!launch(note, {1, 1}, fire_and_forget(), log, char(name + 32))) log->size = 0;
}

__global__ void null_stream_in_order(grid_log* log) {
  for (char name = 'A'; name <= 'H'; ++name) {
    if (!launch(note_after_child, {1, 1}, null_stream(), log, name)) log->size = 0;
  }
}

__global__ void named_stream_in_order(grid_log* log) {
  const device_stream stream;
  for (char name = 'A'; name <= 'H'; ++name) {
    if (!launch(note_after_child, {1, 1}, stream.get(), log, name)) log->size = 0;
  }
}

// An event orders A, in one stream, before B, in another one. C comes before B and is not ordered
// with A.
__global__ void event_between_streams(grid_log* log) {
  const device_stream first;
  const device_stream second;
  const device_event after_a;
  if (!launch(note_after_child, {1, 1}, first.get(), log, 'A')) log->size = 0;
  if (after_a.record(first) != cudaSuccess) log->size = 0;
  if (!launch(note, {1, 1}, second.get(), log, 'C')) log->size = 0;
  if (second.wait(after_a.get()) != cudaSuccess) log->size = 0;
  if (!launch(note, {1, 1}, second.get(), log, 'B')) log->size = 0;
}

// A and B in two streams, without an order.
__global__ void two_streams(grid_log* log) {
  const device_stream first;
  const device_stream second;
  if (!launch(note, {1, 1}, first.get(), log, 'A')) log->size = 0;
  if (!launch(note, {1, 1}, second.get(), log, 'B')) log->size = 0;
}

// Block 0 launches A and B into its NULL stream, block 1 launches C and D into its own.
__global__ void null_streams_of_two_blocks(grid_log* log) {
  const char first = blockIdx.x == 0 ? 'A' : 'C';
  if (!launch(note, {1, 1}, null_stream(), log, first)) log->size = 0;
  if (!launch(note, {1, 1}, null_stream(), log, char(first + 1))) log->size = 0;
}

__global__ void waits_for_unrecorded_event(grid_log* log) {
  const device_stream stream;
  const device_event never;
  if (stream.wait(never.get()) != cudaSuccess) log->size = 0;
  if (!launch(note, {1, 1}, stream.get(), log, 'A')) log->size = 0;
}

__global__ void tails_after_everything(grid_log* log) {
  if (!launch(note_after_child, {1, 1}, tail_launch(), log, 'Y')) log->size = 0;
  if (!launch(note, {1, 1}, tail_launch(), log, 'Z')) log->size = 0;
  for (int i = 0; i < 3; ++i) {
    if (!launch(note_after_child, {1, 1}, fire_and_forget(), log, 'A')) log->size = 0;
  }
  const device_stream stream;
  if (!launch(note_after_child, {1, 1}, stream.get(), log, 'B')) log->size = 0;
}

__global__ void memory_operations(unsigned* memory) {
  const device_stream stream;
  bool good = cudaMemsetAsync(memory, 0xff, 4 * sizeof(unsigned), stream.get()) == cudaSuccess;
  good = good && cudaMemcpyAsync(memory + 4, memory, 4 * sizeof(unsigned), cudaMemcpyDeviceToDevice,
                                 stream.get()) == cudaSuccess;
  good = good && cudaMemsetAsync(memory, 0, 2 * sizeof(unsigned), stream.get()) == cudaSuccess;
  if (!good) memory[8] = 1;
}

// A chain of `levels` grids, in which each grid launches the next one. The first launch that fails
// ends the chain.
enum class link { fire_and_forget, named_stream, tail, tail_every_other };
__global__ void chain(unsigned* deepest, cudaError_t* error, unsigned depth, unsigned levels,
                      link kind) {
  *deepest = depth;
  if (depth == levels) return;
  const bool tail = kind == link::tail || (kind == link::tail_every_other && depth % 2 == 1);
  const device_stream named;
  const cudaStream_t stream = tail                         ? tail_launch()
                              : kind == link::named_stream ? named.get()
                                                           : fire_and_forget();
  const auto status = launch(chain, {1, 1}, stream, deepest, error, depth + 1, levels, kind);
  if (!status) *error = status.code();
}

__global__ void parent_of_one(grid_log* log) {
  if (!launch(note, {1, 1}, fire_and_forget(), log, 'c')) log->size = 0;
  note(log, 'P');
}

__global__ void parent_of_two_blocks(grid_log* log) {
  note(log, 'P');
  if (!launch(note, {1, 1}, fire_and_forget(), log, 'c')) log->size = 0;
  __syncthreads();
  note(log, 'p');
}

__global__ void children_without_order(grid_log* log) {
  for (char name = 'a'; name < 'e'; ++name) {
    if (!launch(note, {1, 1}, fire_and_forget(), log, name)) log->size = 0;
  }
}

// The results of records and waits that the guide excludes, and the last error.
__global__ void uses_event_with(cudaStream_t stream, cudaError_t* results) {
  const device_event event;
  results[0] = cudaEventRecord(event.get(), stream);
  results[1] = cudaGetLastError();
  results[2] = cudaStreamWaitEvent(stream, event.get());
  results[3] = cudaEventRecord(nullptr, stream);
}

__global__ void nothing() {}

}  // namespace order_kernels

namespace {

const char* const schedules[] = {"parallel", "eager",    "late",     "random:1",
                                 "random:2", "weak:1",   "random:3", "random:4",
                                 "random:5", "random:6", "random:7"};

std::string run(void (*kernel)(order_kernels::grid_log*), const std::string& schedule,
                unsigned blocks = 1) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
  order_kernels::grid_log log{};
  BOOST_REQUIRE(bool(launch(kernel, {blocks, 1}, null_stream(), &log)));
  return {log.names, log.names + log.size};
}

// Returns the different logs of 300 random schedules.
std::set<std::string> orders_of(void (*kernel)(order_kernels::grid_log*), unsigned blocks = 1) {
  std::set<std::string> seen;
  for (int seed = 0; seed < 300; ++seed) {
    seen.insert(run(kernel, "random:" + std::to_string(seed), blocks));
  }
  return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ordering)

BOOST_DATA_TEST_CASE(the_null_stream_runs_grids_one_after_another, data::make(schedules), s) {
  BOOST_TEST(run(order_kernels::null_stream_in_order, s) == "aAbBcCdDeEfFgGhH");
}

BOOST_DATA_TEST_CASE(a_named_stream_runs_grids_one_after_another, data::make(schedules), s) {
  BOOST_TEST(run(order_kernels::named_stream_in_order, s) == "aAbBcCdDeEfFgGhH");
}

BOOST_DATA_TEST_CASE(an_event_orders_two_streams, data::make(schedules), s) {
  const std::string log = run(order_kernels::event_between_streams, s);
  BOOST_TEST(log.size() == 4u);
  BOOST_TEST(log.find('A') < log.find('B'));
  BOOST_TEST(log.find('a') < log.find('A'));
}

// Grids without an order run in every order: a stricter executor would hide errors.
BOOST_AUTO_TEST_CASE(unordered_grids_run_in_every_order) {
  const auto of_two_streams = orders_of(order_kernels::two_streams);
  BOOST_TEST((of_two_streams == std::set<std::string>{"AB", "BA"}));
  const auto of_two_blocks = orders_of(order_kernels::null_streams_of_two_blocks, 2);
  BOOST_TEST(
      (of_two_blocks == std::set<std::string>{"ABCD", "ACBD", "ACDB", "CABD", "CADB", "CDAB"}));
  const auto with_event = orders_of(order_kernels::event_between_streams);
  BOOST_TEST((with_event == std::set<std::string>{"CaAB", "aCAB", "aACB"}));
}

BOOST_DATA_TEST_CASE(a_wait_for_an_unrecorded_event_returns, data::make(schedules), s) {
  BOOST_TEST(run(order_kernels::waits_for_unrecorded_event, s) == "A");
}

BOOST_DATA_TEST_CASE(tail_launches_come_last_and_in_order, data::make(schedules), s) {
  const std::string log = run(order_kernels::tails_after_everything, s);
  BOOST_TEST(log.size() == 11u);
  BOOST_TEST(log.substr(8) == "yYZ");
}

BOOST_DATA_TEST_CASE(copies_and_fills_run_in_stream_order, data::make(schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  std::vector<unsigned> memory(9, 5u);
  BOOST_REQUIRE(
      bool(launch(order_kernels::memory_operations, {1, 1}, null_stream(), memory.data())));
  const std::vector<unsigned> expected{0, 0, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 5};
  BOOST_TEST(memory == expected, boost::test_tools::per_element());
}

struct chain_end {
  unsigned deepest = 0;
  cudaError_t error = cudaSuccess;
};

chain_end run_chain(order_kernels::link kind, unsigned levels) {
  chain_end end;
  BOOST_REQUIRE(bool(launch(order_kernels::chain, {1, 1}, null_stream(), &end.deepest, &end.error,
                            0u, levels, kind)));
  return end;
}

const char* const chain_schedules[] = {"parallel", "eager", "late", "random:1"};

BOOST_DATA_TEST_CASE(nesting_has_no_limit, data::make(chain_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  const launch_limits limits({.pending_launches = 20'000});
  BOOST_TEST(run_chain(order_kernels::link::tail_every_other, 20'000).deepest == 20'000u);
  BOOST_TEST(run_chain(order_kernels::link::fire_and_forget, 20'000).deepest == 20'000u);
}

// On an H200, 2,048 of 10,000 grids ran, and the next launch returned error 69, because a grid
// keeps its slot of the pool until its children are complete. A chain of 10,000 tail launches ran.
BOOST_DATA_TEST_CASE(a_chain_of_children_ends_at_the_launch_limit, data::make(chain_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  for (const auto kind :
       {order_kernels::link::fire_and_forget, order_kernels::link::named_stream}) {
    const chain_end end = run_chain(kind, 10'000);
    BOOST_TEST(end.error == cudaErrorLaunchPendingCountExceeded);
    BOOST_TEST(end.deepest == 2'048u);
  }
  const chain_end tails = run_chain(order_kernels::link::tail, 10'000);
  BOOST_TEST(tails.error == cudaSuccess);
  BOOST_TEST(tails.deepest == 10'000u);
  // All slots are free again.
  BOOST_TEST(run_chain(order_kernels::link::fire_and_forget, 2'048).deepest == 2'048u);
}

BOOST_AUTO_TEST_CASE(eager_runs_a_child_before_its_parent_continues) {
  BOOST_TEST(run(order_kernels::parent_of_one, "eager") == "cP");
  BOOST_TEST(run(order_kernels::parent_of_two_blocks, "eager", 2) == "PcpPcp");
}

BOOST_AUTO_TEST_CASE(late_runs_a_child_after_all_older_blocks) {
  BOOST_TEST(run(order_kernels::parent_of_one, "late") == "Pc");
  BOOST_TEST(run(order_kernels::parent_of_two_blocks, "late", 2) == "PpPpcc");
}

BOOST_AUTO_TEST_CASE(random_has_many_orders_and_is_reproducible) {
  std::set<std::string> seen;
  constexpr int seeds = 2000;
  for (int seed = 0; seed < seeds; ++seed) {
    const std::string schedule = "random:" + std::to_string(seed);
    const std::string log = run(order_kernels::children_without_order, schedule);
    BOOST_TEST(log == run(order_kernels::children_without_order, schedule));
    seen.insert(log);
  }
  BOOST_TEST(seen.size() == 24u);  // all orders of four

  std::set<std::string> interleavings;
  for (int seed = 0; seed < seeds; ++seed) {
    interleavings.insert(
        run(order_kernels::parent_of_two_blocks, "random:" + std::to_string(seed), 2));
  }
  // Both blocks may be suspended at a time, and a child may run at any time after its launch.
  BOOST_TEST(interleavings.count("PPppcc") == 1u);
  BOOST_TEST(interleavings.count("PcpPcp") == 1u);
  BOOST_TEST(interleavings.count("PpPpcc") == 1u);
}

BOOST_AUTO_TEST_CASE(schedules_are_parsed) {
  BOOST_TEST(cpu::parse_executor_config("random:42").seed == 42u);
  BOOST_TEST(cpu::parse_executor_config("weak:43").seed == 43u);
  BOOST_TEST((cpu::parse_executor_config("weak").order == cpu::schedule::weak));
  BOOST_TEST(cpu::parse_executor_config("parallel:3").workers == 3u);
  for (const char* bad :
       {"", "sometimes", "eager:1", "random:", "random:x", "weak:", "weak:x", "parallel:-1"}) {
    BOOST_CHECK_THROW(static_cast<void>(cpu::parse_executor_config(bad)), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(the_reserved_streams_take_no_events) {
  for (const cudaStream_t stream : {fire_and_forget(), tail_launch()}) {
    cudaError_t results[4] = {};
    BOOST_REQUIRE(bool(launch(order_kernels::uses_event_with, {1, 1}, null_stream(), stream,
                              static_cast<cudaError_t*>(results))));
    BOOST_TEST(results[0] == cudaErrorInvalidValue);
    BOOST_TEST(results[1] == cudaErrorInvalidValue);
    BOOST_TEST(results[2] == cudaErrorInvalidValue);
    BOOST_TEST(results[3] == cudaErrorInvalidResourceHandle);
  }
}

// Under the schedule late, a stream's work is complete at the second query, or after a wait.
BOOST_AUTO_TEST_CASE(a_stream_of_the_host_may_not_be_ready) {
  const host_stream stream;
  int memory = 0;
  for (const auto order : {cpu::schedule::parallel, cpu::schedule::late}) {
    const cpu::scoped_executor_config config({.order = order});
    const bool is_late = order == cpu::schedule::late;
    const auto unfinished = is_late ? cudaErrorNotReady : cudaSuccess;
    BOOST_TEST(cudaStreamQuery(stream.get()) == cudaSuccess);
    BOOST_TEST(cudaMemsetAsync(&memory, 1, sizeof memory, stream.get()) == cudaSuccess);
    BOOST_TEST(memory == 0x01010101);
    BOOST_TEST(cudaStreamQuery(stream.get()) == unfinished);
    BOOST_TEST(cudaGetLastError() == unfinished);
    BOOST_TEST(cudaStreamQuery(stream.get()) == cudaSuccess);
    BOOST_TEST(bool(launch(order_kernels::nothing, {1, 1}, stream.get())));
    BOOST_TEST(cudaStreamQuery(stream.get()) == unfinished);
    BOOST_TEST(bool(launch(order_kernels::nothing, {1, 1}, stream.get())));
    BOOST_TEST(cudaStreamSynchronize(stream.get()) == cudaSuccess);
    BOOST_TEST(cudaStreamQuery(stream.get()) == cudaSuccess);
    static_cast<void>(cudaGetLastError());
  }
}

BOOST_AUTO_TEST_SUITE_END()
