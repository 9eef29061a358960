// SPDX-License-Identifier: BSD-3-Clause
// Measures aggregation, thresholding and coarsening for three recursions: how many tasks share a
// child grid, the smallest task that is launched, and the tasks per block of a shared grid. The
// benchmark checks every result before it reports a time.
#include <algorithm>
#include <chrono>
#include <ramify/amr.cuh>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/run_recursion.cuh>
#include <ramify/tree_search.cuh>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::recorder;

constexpr int repeats = 9;

/// Returns the median wall-clock time of `call`. Each call follows a `prepare`, which is not timed.
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

// ---- tasks that only spawn ----------------------------------------------------------------------

struct spawning;
__global__ void spawn_tree(task_source<unsigned> source, spawner<unsigned> spawn, spawning context);

struct spawning {
  __host__ __device__ static auto kernel() { return spawn_tree; }
  static constexpr unsigned max_children = 32;  ///< threads of a block, children of an inner node
  static constexpr bool may_be_thin = false;

  unsigned* runs;  ///< runs of each task
  unsigned inner;  ///< tasks that have children
};

// A task is the number of a node of a complete tree, level by level.
__global__ void spawn_tree(task_source<unsigned> source, spawner<unsigned> spawn,
                           spawning context) {
  for (const auto [node, rank] : source.members()) {
    if (threadIdx.x == 0) atomicAdd(&context.runs[node], 1u);
    if (node < context.inner) {
      spawn.by_block(spawn_tree, true, node * spawning::max_children + 1 + threadIdx.x, context,
                     __func__);
    }
    if (threadIdx.x == 0) spawn.task_ends();
  }
  if (threadIdx.x == 0) spawn.block_ends(spawn_tree, source, context, __func__);
}

void measure_spawning(recorder& out, route wanted, const launch_granularity& launches, int levels) {
  unsigned tasks = 1;
  unsigned inner = 0;
  for (int i = 0; i < levels; ++i) {
    inner = tasks;
    tasks = tasks * spawning::max_children + 1;
  }
  const recursion_options options{
      .capacity = tasks, .threads = spawning::max_children, .launches = launches};
  const device_buffer<unsigned> runs(tasks, nullptr);
  const device_buffer<std::byte> memory(recursion_scratch_bytes<spawning>(options), nullptr);
  run_report report;
  const auto run = [&] {
    report = run_recursion(0, spawning{runs.data(), inner}, options,
                           {.memory = memory, .route = wanted});
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
  out.row({name_of(report, launches), launches.coarsening, tasks, time,
           tasks / time.median_ms / 1e3, report.child_grids, report.spilled_tasks,
           report.peak_slots});
}

void measure_spawning(recorder& out) {
  using enum granularity;
  const launch_limits limits({.pending_launches = 65'536});
  out.table("spawning",
            {"granularity", "coarsening", "tasks", "ms", "Mtasks/s", "child grids", "spilled",
             "peak slots"},
            "Empty tasks, 32 spawned by a block of 32 threads; pending-launch limit 65,536");
  measure_spawning(out, route::device, {per_task, 0, 1}, 3);
  for (const unsigned coarsening : {1u, 8u}) {
    measure_spawning(out, route::device, {per_block, 0, coarsening}, 4);
  }
  for (const unsigned coarsening : {1u, 8u, 64u}) {
    measure_spawning(out, route::device, {per_grid, 0, coarsening}, 4);
  }
  measure_spawning(out, route::flat, {per_grid, 0, 8}, 4);
}

// ---- quicksort ----------------------------------------------------------------------------------

void measure_sorting(recorder& out) {
  using enum granularity;
  constexpr std::size_t n = std::size_t{1} << 22;
  constexpr unsigned leaf = detail::quicksort::quicksort_tuning<std::uint32_t, no_value>::leaf_size;
  std::vector<std::uint32_t> input(n);
  std::mt19937 random(1);
  for (auto& key : input) key = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> expected = input;
  std::ranges::sort(expected);
  const auto original = benchmark::upload(input);
  const device_buffer<std::uint32_t> keys(n, nullptr);
  out.table("quicksort",
            {"granularity", "threshold", "coarsening", "streams", "ms", "child grids", "levels",
             "spilled", "peak slots"},
            "Quicksort, binary, 2^22 uniform u32 keys; a leaf has " + std::to_string(leaf));

  const auto measure = [&](route wanted, const launch_granularity& launches,
                           child_streams streams = child_streams::fire_and_forget) {
    const quicksort_options options{
        .strategy = quicksort_strategy::binary, .streams = streams, .launches = launches};
    const device_buffer<std::byte> scratch(quicksort_scratch_bytes<std::uint32_t>(n, options),
                                           nullptr);
    quicksort_report report;
    const auto prepare = [&] {
      check(cudaMemcpyAsync(keys.data(), original.data(), n * sizeof(std::uint32_t),
                            cudaMemcpyDeviceToDevice, nullptr),
            "copying the keys");
    };
    const auto sort = [&] {
      report =
          quicksort(keys.data(), n, ascending{}, options, {.memory = scratch, .route = wanted});
    };
    prepare();
    sort();
    if (benchmark::download(keys.data(), n) != expected) throw std::runtime_error("not sorted");
    const auto time = time_of(prepare, sort);
    out.row({name_of(report, launches), launches.threshold, launches.coarsening,
             streams == child_streams::named ? "named" : "fire and forget", time,
             report.child_grids, report.deepest_level, report.spilled_tasks, report.peak_slots});
  };
  measure(route::device, {per_task, 1}, child_streams::named);
  for (const unsigned threshold : {1u, 2 * leaf, 8 * leaf}) {
    for (const auto grain : {per_task, per_block, per_grid}) {
      measure(route::device, {grain, threshold, 1});
    }
  }
  for (const unsigned coarsening : {2u, 4u}) {
    for (const auto grain : {per_block, per_grid}) measure(route::device, {grain, 1, coarsening});
  }
  for (const unsigned threshold : {1u, 2 * leaf}) measure(route::flat, {per_grid, threshold, 1});
}

// ---- tree search --------------------------------------------------------------------------------

void measure_search(recorder& out, std::string_view name) {
  using enum granularity;
  const uts_named_tree& tree = *std::ranges::find(uts_trees(), name, &uts_named_tree::name);
  const launch_limits limits({.pending_launches = 65'536});
  out.table("tree search, " + std::string(tree.name),
            {"granularity", "threshold", "coarsening", "ms", "Mnodes/s", "child grids", "levels",
             "spilled", "peak slots"},
            "Tree search, " + std::string(tree.name) + ": " + std::to_string(tree.counts.nodes) +
                " nodes, depth " + std::to_string(tree.counts.depth) +
                "; pending-launch limit 65,536");
  const auto measure = [&](const traverse_options& options, route wanted) {
    const device_buffer<std::byte> scratch(tree_search_scratch_bytes(options), nullptr);
    const environment env{.memory = scratch, .route = wanted};
    traverse_report report;
    const auto search = [&] {
      const auto found = tree_search_async(tree.parameters, options, env).get();
      if (!(found.value == tree.counts)) throw std::runtime_error("wrong counts");
      report = found.report;
    };
    const auto time = time_of([] {}, search);
    const bool shares = options.strategy == traverse_strategy::work_sharing;
    const benchmark::cell none;
    out.row({shares ? "work_sharing" : name_of(report, options.launches),
             shares ? none : options.launches.threshold,
             shares ? none : options.launches.coarsening, time,
             double(tree.counts.nodes) / time.median_ms / 1e3, report.child_grids,
             report.deepest_level, report.spilled_tasks, report.peak_slots});
  };
  const auto spawned = [&](route wanted, const launch_granularity& launches) {
    measure({.strategy = traverse_strategy::task_per_node, .launches = launches}, wanted);
  };
  measure({}, route::device);
  for (const auto grain : {per_task, per_block}) {
    for (const unsigned threshold : {0u, 6u}) spawned(route::device, {grain, threshold, 1});
  }
  spawned(route::device, {per_block, 0, 16});
  for (const unsigned threshold : {0u, 6u, 100u}) {
    for (const unsigned coarsening : {1u, 16u}) {
      spawned(route::device, {per_grid, threshold, coarsening});
    }
  }
  spawned(route::flat, {per_grid, 0, 16});
}

// ---- mesh refinement ----------------------------------------------------------------------------

/// A hot ball in a cold gas.
struct blast {
  __host__ __device__ state<double, 5> operator()(const double (&where)[3]) const {
    double distance2 = 0;
    for (const double x : where) distance2 += (x - 0.5) * (x - 0.5);
    state<double, 5> gas{};
    gas[0] = 1;
    gas[4] = distance2 < 0.01 ? 10 : 0.1;
    return gas;
  }
};

using gas_type = euler<double, 3>;

/// Refines the blocks that intersect a spherical shell while the flag is set, and no others.
struct shell_criterion {
  const int* wanted;  ///< device memory

  __host__ __device__ static bool contains(const double (&where)[3]) {
    double distance2 = 0;
    for (const double x : where) distance2 += (x - 0.5) * (x - 0.5);
    return distance2 > 0.25 * 0.25 && distance2 < 0.4 * 0.4;
  }
  __device__ double operator()(const cell_stencil<state<double, 5>, 3>&, const block_place<3>&,
                               const double (&where)[3]) const {
    return *wanted != 0 && contains(where) ? 1 : 0;
  }
};

/// Returns the number of blocks that have a cell center in the shell, in a mesh of `across` blocks
/// along each axis.
unsigned blocks_in_shell(unsigned across) {
  constexpr unsigned n = default_block_cells<gas_type>;
  std::vector<char> inside(std::size_t{across} * across * across);
  const unsigned cells = across * n;
  for (unsigned z = 0; z < cells; ++z) {
    for (unsigned y = 0; y < cells; ++y) {
      for (unsigned x = 0; x < cells; ++x) {
        const double where[3] = {(x + 0.5) / cells, (y + 0.5) / cells, (z + 0.5) / cells};
        if (shell_criterion::contains(where)) {
          inside[(std::size_t{z / n} * across + y / n) * across + x / n] = 1;
        }
      }
    }
  }
  return static_cast<unsigned>(std::ranges::count(inside, 1));
}

/// Times a step of a uniform mesh and a regrid that refines the blocks of a shell. Between two
/// timed calls, a step and a regrid coarsen them again, so their memory is already allocated.
void measure_refining(recorder& out) {
  using enum granularity;
  constexpr unsigned across = 24;
  const unsigned in_shell = blocks_in_shell(across);
  amr_options options;
  options.mesh.roots = {across, across, across};
  options.mesh.max_level = 1;
  options.regrid = {.patience = 1, .every = 1};
  device_buffer<int> wanted(1, nullptr);
  const auto want = [&](int fine) {
    check(cudaMemcpy(wanted.data(), &fine, sizeof fine, cudaMemcpyHostToDevice), "setting a flag");
  };
  const launch_limits limits({.pending_launches = 65'536});
  out.table("refining",
            {"granularity", "coarsening", "blocks refined", "ms", "child grids", "peak slots"},
            "A step of " + std::to_string(across * across * across) +
                " blocks of 8³ cells, and a regrid that refines " + std::to_string(in_shell) +
                " of them, or none; memory is already allocated; pending-launch limit 65,536");

  amr_state expected;  // after as many steps, on any route
  const auto measure = [&](route way, const launch_granularity& launches, bool refines) {
    options.regrid.launches = launches;
    want(0);
    amr_run<gas_type, shell_criterion> run(gas_type{}, {wanted.data()}, blast{}, options,
                                           {.route = way});
    amr_report before;
    std::uint64_t child_grids = 0;
    const auto time = time_of(
        [&] {
          want(0);
          run.advance(1);
          if (run.report().leaves != across * across * across) {
            throw std::runtime_error("blocks stayed refined");
          }
          want(refines ? 1 : 0);
          before = run.report();
        },
        [&] {
          run.advance(1);
          child_grids = run.report().child_grids - before.child_grids;
          if (run.report().refined - before.refined != (refines ? in_shell : 0)) {
            throw std::runtime_error("another number of blocks was refined");
          }
        });
    if (refines) {
      const amr_state reached = run.save();
      if (expected.leaves.empty()) expected = reached;
      if (reached.leaves != expected.leaves || reached.values != expected.values) {
        throw std::runtime_error("another mesh");
      }
    }
    out.row({name_of(run.report(), launches), launches.coarsening, refines ? in_shell : 0, time,
             child_grids, run.report().peak_slots});
  };
  measure(route::device, {per_grid, 0, 1}, false);
  for (const auto grain : {per_task, per_block, per_grid}) {
    for (const unsigned coarsening : {1u, 8u}) {
      measure(route::device, {grain, 0, coarsening}, true);
    }
  }
  measure(route::flat, {per_grid, 0, 1}, false);
  measure(route::flat, {per_grid, 0, 1}, true);
}

void measure_all(recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("spawning")) measure_spawning(out);
  if (asked.has_part("quicksort")) measure_sorting(out);
  if (asked.has_part("search")) {
    measure_search(out, "T1");
    measure_search(out, "T3");
  }
  if (asked.has_part("refining")) measure_refining(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "granularity_cuda",
                         .about = "How many tasks share a child grid.",
                         .machine = benchmark::this_gpu,
                         .parts = {"spawning", "quicksort", "search", "refining"}},
                        argc, argv, measure_all);
}
