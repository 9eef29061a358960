// SPDX-License-Identifier: BSD-3-Clause
// How many tasks share a child grid, from how large a task on a launch is worth it, and how many
// tasks a block of a shared grid does: what each choice does to three recursions. Prints Markdown
// tables; every result is checked before its time counts.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/recursion.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::number;
using benchmark::print_header;
using benchmark::print_row;
using benchmark::spread;

constexpr int repeats = 9;

/// The median of some calls by the host's clock, each after a `prepare` that does not count.
template <class Prepare, class Call>
benchmark::timing time_of(Prepare prepare, Call call) {
  std::vector<double> times;
  for (int i = -2; i < repeats; ++i) {
    prepare();
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) times.push_back(took.count());
  }
  return benchmark::summarize(times);
}

std::string name_of(const run_report& report, const launch_granularity& launches) {
  return report.taken == route::flat ? "flat" : std::string(to_string(launches.grain));
}

// ---- tasks that do nothing but spawn ------------------------------------------------------------

struct spawning;
__global__ void spawn_tree(task_source<unsigned> source, spawner<unsigned> spawn, spawning context);

struct spawning {
  __host__ __device__ static auto kernel() { return spawn_tree; }
  static constexpr unsigned fan = 32;  ///< threads of a block, children of an inner node

  unsigned* runs;  ///< of each task
  unsigned inner;  ///< tasks that have children
};

// A task is the number of a node of a complete tree, level by level.
__global__ void spawn_tree(task_source<unsigned> source, spawner<unsigned> spawn,
                           spawning context) {
  for (const auto [node, rank] : source.members()) {
    if (threadIdx.x == 0) atomicAdd(&context.runs[node], 1u);
    if (node < context.inner) {
      spawn.by_block(spawn_tree, true, node * spawning::fan + 1 + threadIdx.x, context, __func__);
    }
    if (threadIdx.x == 0) spawn.task_ends();
  }
  if (threadIdx.x == 0) spawn.block_ends(spawn_tree, source, context, __func__);
}

void measure_spawning(route wanted, const launch_granularity& launches, int levels) {
  unsigned tasks = 1;
  unsigned inner = 0;
  for (int i = 0; i < levels; ++i) {
    inner = tasks;
    tasks = tasks * spawning::fan + 1;
  }
  using tree = recursion<unsigned, spawning>;
  const device_buffer<unsigned> runs(tasks, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(tasks, launches), nullptr);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const std::size_t limit = *current_launch_limits().pending_launches;
  run_report report;
  const auto run = [&] {
    run_control control(status.data(), choose_route(wanted, limit, 1, {route::device, ""}), limit,
                        nullptr);
    tree spawned(lists.data(), tasks, control, spawning::fan, 0, child_streams::fire_and_forget,
                 spawning{runs.data(), inner}, launches);
    spawned.start(0, 1);
    spawned.finish();
    report = control.report();
  };
  check(cudaMemset(runs.data(), 0, tasks * sizeof(unsigned)), "clearing the counts");
  unsigned calls = 0;
  const auto expect_all = [&] {
    const auto seen = benchmark::download(runs.data(), tasks);
    if (std::ranges::count(seen, calls) != std::ptrdiff_t(tasks)) {
      throw std::runtime_error("a task did not run once in each run");
    }
  };
  ++calls;
  run();
  expect_all();
  const auto time = time_of([&] { ++calls; }, run);
  expect_all();
  print_row({name_of(report, launches), std::to_string(launches.coarsening), std::to_string(tasks),
             number(time.median_ms), spread(time), number(tasks / time.median_ms / 1e3),
             std::to_string(report.child_grids), std::to_string(report.spilled_tasks),
             std::to_string(report.peak_slots)});
}

void measure_spawning() {
  using enum granularity;
  std::cout << "Empty tasks, 32 spawned by a block of 32 threads; pending-launch limit 65,536\n\n";
  const launch_limits limits({.pending_launches = 65'536});
  print_header({"granularity", "coarsening", "tasks", "ms", "least–most", "Mtasks/s", "child grids",
                "spilled", "peak slots"});
  measure_spawning(route::device, {per_task, 0, 1}, 3);
  for (const unsigned coarsening : {1u, 8u}) {
    measure_spawning(route::device, {per_block, 0, coarsening}, 4);
  }
  for (const unsigned coarsening : {1u, 8u, 64u}) {
    measure_spawning(route::device, {per_grid, 0, coarsening}, 4);
  }
  measure_spawning(route::flat, {per_grid, 0, 8}, 4);
}

// ---- quicksort ----------------------------------------------------------------------------------

void measure_sorting() {
  using enum granularity;
  constexpr std::size_t n = std::size_t{1} << 22;
  constexpr unsigned leaf = quicksort_tuning<std::uint32_t, no_value>::leaf_size;
  std::cout << "\nQuicksort, binary, 2^22 uniform u32 keys; a leaf has " << leaf << "\n\n";
  std::vector<std::uint32_t> input(n);
  std::mt19937 random(1);
  for (auto& key : input) key = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> expected = input;
  std::ranges::sort(expected);
  const auto original = benchmark::upload(input);
  const device_buffer<std::uint32_t> keys(n, nullptr);
  print_header({"granularity", "threshold", "coarsening", "streams", "ms", "least–most",
                "child grids", "levels", "spilled", "peak slots"});

  const auto measure = [&](route wanted, const launch_granularity& launches,
                           child_streams streams = child_streams::fire_and_forget) {
    const quicksort_config config{quicksort_strategy::binary, wanted, streams, 0, launches};
    const device_buffer<std::byte> scratch(quicksort_scratch_bytes<std::uint32_t>(n, config),
                                           nullptr);
    quicksort_report report;
    const auto prepare = [&] {
      check(cudaMemcpyAsync(keys.data(), original.data(), n * sizeof(std::uint32_t),
                            cudaMemcpyDeviceToDevice, nullptr),
            "copying the keys");
    };
    const auto sort = [&] {
      report =
          quicksort(keys.data(), n, ascending{}, nullptr, config, {scratch.data(), scratch.size()});
    };
    prepare();
    sort();
    if (benchmark::download(keys.data(), n) != expected) throw std::runtime_error("not sorted");
    const auto time = time_of(prepare, sort);
    print_row({name_of(report, launches), std::to_string(launches.threshold),
               std::to_string(launches.coarsening),
               streams == child_streams::named ? "named" : "fire and forget",
               number(time.median_ms), spread(time), std::to_string(report.child_grids),
               std::to_string(report.deepest_level), std::to_string(report.spilled_tasks),
               std::to_string(report.peak_slots)});
  };
  measure(route::device, {per_task}, child_streams::named);
  for (const unsigned threshold : {0u, 2 * leaf, 8 * leaf}) {
    for (const auto grain : {per_task, per_block, per_grid}) {
      measure(route::device, {grain, threshold, 1});
    }
  }
  for (const unsigned coarsening : {2u, 4u}) {
    for (const auto grain : {per_block, per_grid}) measure(route::device, {grain, 0, coarsening});
  }
  measure(route::flat, {});
}

}  // namespace

int main() {
  try {
    measure_spawning();
    measure_sorting();
  } catch (const std::exception& e) {
    std::cerr << "granularity: " << e.what() << '\n';
    return 1;
  }
}
