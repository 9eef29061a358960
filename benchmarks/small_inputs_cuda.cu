// SPDX-License-Identifier: BSD-3-Clause
// Small inputs, by the clock of the caller and by events: what a call takes beyond the work of the
// device, what starting it takes, and small sorts beside CUB's merge sort. Every result is checked
// before a time is reported.
//   benchmark_small_inputs_cuda --part calls,sorts
#include <chrono>
#include <cstdint>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <string_view>
#include <vector>

#include "quicksort_peers.hpp"
#include "small_calls.cuh"
#include "small_sort.cuh"

namespace {

using namespace ramify;
using benchmark::timing;

constexpr int repeats = 301;
constexpr int warm_up_calls = 5;

using time_point = std::chrono::steady_clock::time_point;

/// Returns the microseconds since `begin` by the clock of the host.
double microseconds_since(time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

// ---- sorts --------------------------------------------------------------------------------------

/// Measures a sort of random elements by CUB and by Ramify in turns, and adds a row.
template <class Key, class Value>
void sort_row(benchmark::recorder& out, std::string_view keys, std::uint32_t n) {
  const benchmark::small_sort<Key, Value> input(n);
  const host_stream stream;
  std::size_t bytes = 0;
  check(benchmark::cub_merge_sort(nullptr, bytes, input.arrays(), n, benchmark::natural_order{}),
        "querying the scratch size of CUB");
  const device_buffer<std::byte> cub_scratch(bytes, stream.get());
  const device_buffer<std::byte> scratch(input.scratch_bytes(), stream.get());
  const environment env{.stream = stream, .memory = scratch};

  std::vector<double> of_cub;
  std::vector<double> of_quicksort;
  quicksort_report report;
  for (int i = -warm_up_calls; i < repeats; ++i) {
    const auto measure = [&](std::vector<double>& times, const auto& sort) {
      input.restore(stream.get());
      stream.synchronize();
      const auto begin = std::chrono::steady_clock::now();
      sort();
      const double time = microseconds_since(begin);
      input.check_sorted();
      if (i >= 0) times.push_back(time);
      if (i == repeats - 1) input.compare_with_host();
    };
    measure(of_cub, [&] {
      check(benchmark::cub_merge_sort(cub_scratch.data(), bytes, input.arrays(), n,
                                      benchmark::natural_order{}, stream.get()),
            "merge sort");
      check(cudaStreamSynchronize(stream.get()), "waiting for a sort");
    });
    measure(of_quicksort, [&] { report = input.run(env); });
  }
  const timing cub = benchmark::summarize(of_cub);
  const timing ours = benchmark::summarize(of_quicksort);
  out.row({keys, n, cub, ours, cub.median_ms / ours.median_ms, to_string(report.taken),
           report.host_grids});
}

void measure_sorts(benchmark::recorder& out) {
  out.table("sorts",
            {"keys", "n", "cub::DeviceMergeSort, µs", "quicksort, µs", "CUB / quicksort", "took",
             "host grids"},
            "Sorts of uniform keys by the clock of the caller, memory handed in; CUB's and a wait "
            "for the stream, in turns with Ramify's; medians of " +
                std::to_string(repeats) + " (least–most)");
  constexpr std::uint32_t sizes[] = {1000, 2000, 5000, 10'000, 20'000, 50'000, 100'000, 200'000};
  for (const std::uint32_t n : sizes) sort_row<std::uint32_t, no_value>(out, "u32", n);
  for (const std::uint32_t n : sizes) sort_row<double, no_value>(out, "f64", n);
  for (const std::uint32_t n : sizes) {
    sort_row<std::uint32_t, std::uint32_t>(out, "u32, values u32", n);
  }
}

// ---- calls --------------------------------------------------------------------------------------

const run_report& report_of(const run_report& report) { return report; }
template <class Value>
const run_report& report_of(const traverse_result<Value>& result) {
  return result.report;
}
template <class Real, int dim>
const run_report& report_of(const spatial_tree<Real, dim>& tree) {
  return tree.report();
}

/// The times of a call in µs, and what its report states.
struct call_costs {
  timing by_clock;   ///< from the call of the function that waits until it has returned
  timing by_events;  ///< between events before and after the _async function, by completion::by_get
  timing start;      ///< the _async function, which completes the run in the stream, by the clock
  std::string took;
  std::uint64_t host_grids;
};

/// Restores the input of a call, and overwrites the memory that is handed in, so that no result of
/// an earlier call is found there. Waits for the stream, and returns the time after that.
template <class Call>
time_point prepare(const Call& call, const host_stream& stream, const memory_ref& memory) {
  call.restore(stream.get());
  if (!memory.empty()) {
    check(cudaMemsetAsync(memory.data(), 0xff, memory.bytes(), stream.get()),
          "overwriting the memory");
  }
  stream.synchronize();
  return std::chrono::steady_clock::now();
}

/// Measures a call in its three forms in turns.
template <class Call>
call_costs costs_of(const Call& call, const host_stream& stream, const environment& env) {
  std::vector<double> by_clock;
  std::vector<double> by_events;
  std::vector<double> start;
  call_costs costs{};
  host_event before;
  host_event after;
  environment by_get = env;  // the grids of a call that waits
  by_get.completion = completion::by_get;
  for (int i = -warm_up_calls; i < repeats; ++i) {
    if (i == 0) by_clock = by_events = start = {};
    {
      const time_point begin = prepare(call, stream, env.memory);
      const auto result = call.run(env);
      by_clock.push_back(microseconds_since(begin));
      call.check_result(result);
    }
    {
      prepare(call, stream, env.memory);
      before.record(stream.get());
      auto run = call.start(by_get);
      after.record(stream.get());
      call.check_result(run.get());
      by_events.push_back(1e3 * after.milliseconds_since(before));
    }
    const time_point begin = prepare(call, stream, env.memory);
    auto run = call.start(env);
    start.push_back(microseconds_since(begin));
    stream.synchronize();
    const auto result = run.get();
    call.check_result(result);
    const run_report& report = report_of(result);
    costs.took = to_string(report.taken);
    if (report.looped_by == flat_loop::graph) costs.took += ", by graph";
    costs.host_grids = report.host_grids;
  }
  costs.by_clock = benchmark::summarize(by_clock);
  costs.by_events = benchmark::summarize(by_events);
  costs.start = benchmark::summarize(start);
  costs.host_grids += call.uncounted_grids();
  return costs;
}

/// The costs of a call, with each kind of memory.
struct measured_call {
  std::string_view name;
  call_costs handed_in, from_pool;
};

template <class Call>
measured_call measure_call() {
  const Call call;
  const host_stream stream;
  const device_buffer<std::byte> scratch(call.scratch_bytes(), stream.get());
  return {Call::name, costs_of(call, stream, {.stream = stream, .memory = scratch}),
          costs_of(call, stream, {.stream = stream})};
}

void measure_calls(benchmark::recorder& out) {
  const measured_call calls[] = {
      measure_call<benchmark::sort_call>(), measure_call<benchmark::traverse_call>(),
      measure_call<benchmark::build_call>(), measure_call<benchmark::search_call>()};
  const std::string medians = "; medians of " + std::to_string(repeats) + " (least–most)";
  out.table("waiting",
            {"call", "memory", "took", "host grids", "by the clock, µs", "by events, µs",
             "host's part, µs"},
            "Calls that wait" + medians + ". The host's part is the difference of the medians");
  for (const measured_call& call : calls) {
    const auto row = [&](const char* memory, const call_costs& costs) {
      out.row({call.name, memory, costs.took, costs.host_grids, costs.by_clock, costs.by_events,
               costs.by_clock.median_ms - costs.by_events.median_ms});
    };
    row("handed in", call.handed_in);
    row("Ramify's pool", call.from_pool);
  }
  out.table("asynchronous", {"call", "took", "host grids", "call, µs", "µs a host grid"},
            "The _async functions alone, memory handed in, by the clock" + medians);
  for (const measured_call& call : calls) {
    const call_costs& costs = call.handed_in;
    out.row({call.name, costs.took, costs.host_grids, costs.start,
             costs.start.median_ms / static_cast<double>(costs.host_grids)});
  }
}

void measure(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("calls")) measure_calls(out);
  if (asked.has_part("sorts")) measure_sorts(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "small_inputs_cuda",
                         .about = "Calls with small inputs, by the caller's clock and by events.",
                         .machine = benchmark::this_gpu,
                         .parts = {"calls", "sorts"}},
                        argc, argv, measure);
}
