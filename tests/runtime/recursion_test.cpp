// SPDX-License-Identifier: BSD-3-Clause
// Recursions on a launch chain: failed launches, the loop of the flat route, captured runs.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/error.hpp>
#include <stdexcept>
#include <vector>

#include "effort.hpp"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "flood.cuh"
#include "printing.hpp"

namespace tests::inline RAMIFY_BUILD {

namespace data = boost::unit_test::data;
using detail::runtime::choose_loop;
using detail::runtime::list_heads;
using detail::runtime::list_program;
using detail::runtime::round_launcher;

namespace {

[[nodiscard]] bool all_are(const std::vector<unsigned>& runs, unsigned times) {
  return std::ranges::count(runs, times) == std::ssize(runs);
}

/// A flood whose loop the host launches, iteration by iteration: the executor has no graphs.
struct loop_by_host {
  using program = list_program<unsigned, flood_context>;

  loop_by_host(unsigned tasks, unsigned children, unsigned blocks, unsigned capacity, bool by_block)
      : runs(zeros<unsigned>(tasks)),
        arrived(zeros<unsigned>(tasks)),
        memory(zeros<unsigned>(std::size_t{4} * capacity)),
        control(status.data(), {route::flat, "requested"}, 2048, nullptr) {
    list_heads* all = heads.data();
    p.state = all;
    for (unsigned i = 0; i < 2; ++i) {
      unsigned* const first = memory.data() + std::size_t{2} * i * capacity;
      p.lists[i] = {first, first + capacity, &all->list[i].count_and_blocks, capacity,
                    &all->list[i].ended};
    }
    p.spawn.threads = 32;
    p.context = {runs.data(), arrived.data(), tasks,    children, blocks,
                 false,       false,          by_block, false};
    static_cast<detail::runtime::chain_link&>(p) = control.link();
    static_cast<detail::runtime::chain_link&>(p.spawn) = control.link();
    spawner<unsigned> first = p.spawn;
    first.next = p.lists[0];
    check(launch(flood_context::kernel(), {blocks, 32}, nullptr,
                 task_source<unsigned>{0u, p.lists[1]}, first, p.context)
              .code(),
          "launching the first grid");
  }

  /// Launches iterations until the recursion is finished, and returns how many.
  unsigned run() {
    for (unsigned iterations = 1;; ++iterations) {
      round_launcher grids(nullptr);
      p.launch_repeated({}, grids);
      check(grids.error(), "launching an iteration");
      if (p.finished(download(heads)[0])) return iterations;
    }
  }

  device_buffer<std::byte> status{run_control::scratch_bytes, nullptr};
  device_buffer<list_heads> heads = zeros<list_heads>(1);
  device_buffer<unsigned> runs;
  device_buffer<unsigned> arrived;
  device_buffer<unsigned> memory;
  run_control control;
  program p{};
};

/// A context without a flat kernel.
struct no_loop;
__global__ void end_task(task_source<unsigned>, spawner<unsigned>, no_loop);
struct no_loop {
  __host__ __device__ static auto kernel() { return end_task; }
  static constexpr unsigned max_children = 1;
  static constexpr bool may_be_thin = false;
};
__global__ void end_task(task_source<unsigned> source, spawner<unsigned> spawn, no_loop context) {
  for ([[maybe_unused]] const auto& member : source.members()) spawn.task_ends();
  spawn.block_ends(end_task, source, context, __func__);
}

/// Tasks in the order of a binary heap. The host expects some levels after the root.
struct task_heap;
template <bool can_launch>
__global__ void run_heap_task(task_source<unsigned>, spawner<unsigned, can_launch>, task_heap);
struct task_heap {
  __host__ __device__ static auto kernel() { return run_heap_task<true>; }
  __host__ __device__ static auto flat_kernel() { return run_heap_task<false>; }
  static constexpr unsigned max_children = 2;
  static constexpr bool may_be_thin = false;

  unsigned* runs;
  unsigned tasks;
  unsigned levels_ahead;
};
template <bool can_launch>
__global__ void run_heap_task(task_source<unsigned> source, spawner<unsigned, can_launch> spawn,
                              task_heap heap) {
  for (const auto [task, rank] : source.members()) {
    if (threadIdx.x != 0) continue;
    atomicAdd(&heap.runs[task], 1u);
    for (unsigned child = 2 * task + 1; child < min(2 * task + 3, heap.tasks); ++child) {
      spawn(run_heap_task<can_launch>, child, 1, heap, __func__);
    }
    spawn.task_ends();
  }
  if (threadIdx.x == 0) spawn.block_ends(run_heap_task<can_launch>, source, heap, __func__);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recursion_on_a_chain)

BOOST_AUTO_TEST_CASE(levels_are_launched_ahead) {
  constexpr unsigned tasks = 63;  // the root and five levels
  using tree = recursion<unsigned, task_heap>;
  for (const unsigned ahead : {0u, 1u, 4u, 5u, 8u}) {
    BOOST_TEST_CONTEXT(ahead << " levels ahead") {
      const auto runs = zeros<unsigned>(tasks);
      const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
      const device_buffer<std::byte> lists(tree::scratch_bytes(tasks), nullptr);
      run_control control(status.data(), {route::flat, "requested"}, 2048, nullptr);
      tree run(lists.data(), tasks, control, 32, 0, child_streams::fire_and_forget,
               task_heap{runs.data(), tasks, ahead});
      run.start(0u, 1);
      // A kernel that follows finds all levels complete if enough were expected.
      const unsigned last = download(runs)[tasks - 1];
      BOOST_TEST(last == (ahead >= 5 ? 1u : 0u));
      run.finish();
      BOOST_TEST(all_are(download(runs), 1));
      BOOST_TEST(control.report().host_grids == 1 + std::max(ahead, 5u));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_task_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  for (const granularity grain : grains) {
    BOOST_TEST_CONTEXT(to_string(grain)) {
      const auto executor = cpu::current_executor_config();
      const unsigned interrupted = tests::count_interrupted(12, executor, [&](std::uint64_t) {
        flood_request request{.tasks = 200, .children = 20, .loop = flat_loop::automatic};
        request.launches = {grain, 0, 1};
        const flood_result result = run_flood(request, 2048);
        BOOST_TEST(all_are(result.runs, 1));
        BOOST_TEST(result.slots_left_in_use == 0u);
        return result.report.spilled_tasks > 0;
      });
      // Negative control: after some failures, tasks waited in the list.
      BOOST_TEST(interrupted >= 2u);
    }
  }
}

BOOST_DATA_TEST_CASE(iterations_of_the_loop_run_each_task_once,
                     data::make({1u, 7u, 100u}) * data::make({1u, 3u}), children, blocks) {
  for (const unsigned tasks : {1u, 2u, 500u}) {
    loop_by_host flood(tasks, children, blocks, tasks, blocks == 1);
    const unsigned iterations = flood.run();
    BOOST_TEST(all_are(download(flood.runs), blocks));
    BOOST_TEST(iterations == 1u);  // two levels below the root
    flood.control.wait();
    BOOST_TEST(flood.control.report().deepest_level <= 2u);
    if (tasks == 500) BOOST_TEST(flood.control.report().deepest_level == 2u);
  }
}

BOOST_AUTO_TEST_CASE(a_list_that_overflows_ends_the_loop) {
  loop_by_host flood(1000, 10, 1, 100, false);  // the second level has 990 tasks
  BOOST_TEST(flood.run() == 1u);
  BOOST_TEST(std::ranges::all_of(download(flood.runs), [](unsigned n) { return n <= 1; }));
  BOOST_CHECK_THROW(flood.control.wait(), std::length_error);
}

BOOST_AUTO_TEST_CASE(a_graph_without_a_flat_kernel_is_refused) {
  using tree = recursion<unsigned, no_loop>;
  static_assert(!tree::has_loop);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(10), nullptr);
  run_control control(status.data(), {route::flat, ""}, 2048, nullptr);
  const auto make = [&](flat_loop wanted) {
    return tree(lists.data(), 10, control, 32, 0, child_streams::fire_and_forget, no_loop{}, {},
                {wanted, "requested"});
  };
  BOOST_CHECK_EXCEPTION(static_cast<void>(make(flat_loop::graph)), unavailable,
                        names("has no flat kernel"));
  tree run = make(flat_loop::automatic);
  run.start(0u, 1);
  run.finish();
  BOOST_TEST(control.report().host_grids == 1u);
}

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(a_graph_launches_the_levels) {
  for (const auto loop : {flat_loop::graph, flat_loop::automatic}) {
    for (const unsigned children : {1u, 7u, 100u}) {
      const flood_result result = run_flood(
          {.tasks = 3000, .children = children, .route = route::flat, .loop = loop}, 2048);
      BOOST_TEST(all_are(result.runs, 1));
      BOOST_TEST(result.report.looped_by == flat_loop::graph);
      BOOST_TEST(result.report.graph_grids == 3u);  // a grid over each list, and the end
      BOOST_TEST(result.report.host_grids == 1u);
      BOOST_TEST(result.report.deepest_level == 2u);
    }
    BOOST_CHECK_THROW(
        run_flood(
            {.tasks = 3000, .children = 2999, .route = route::flat, .capacity = 100, .loop = loop},
            2048),
        std::length_error);
  }
}

BOOST_DATA_TEST_CASE(a_captured_recursion_runs_with_each_launch_of_its_graph,
                     data::make({route::device, route::flat}) * data::make(grains) *
                         data::make({32, 2048}),
                     taken, grain, limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  using tree = recursion<unsigned, flood_context>;
  constexpr unsigned tasks = 2000;
  const launch_granularity launches{grain, 0, 2};
  const auto runs = zeros<unsigned>(tasks);
  const auto arrived = zeros<unsigned>(tasks);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(tasks, launches), nullptr);
  const host_stream stream;
  check(cudaDeviceSynchronize(), "preparing");
  std::optional<run_control> control;
  std::optional<tree> run;
  const captured_graph graph(
      stream.get(),
      [&] {
        check(cudaMemsetAsync(arrived.data(), 0, tasks * sizeof(unsigned), stream.get()),
              "clearing");
        control.emplace(status.data(), choose_route(taken, std::size_t(limit), 1, {taken, ""}),
                        std::size_t(limit), stream.get());
        run.emplace(
            lists.data(), tasks, *control, 32u, 0u, child_streams::fire_and_forget,
            flood_context{runs.data(), arrived.data(), tasks, 50, 1, false, false, false, false},
            launches, choose_loop(flat_loop::automatic, "flat_loop"));
        run->start(0u, 1);
        BOOST_CHECK_THROW(run->finish(), std::logic_error);
      },
      cudaStreamCaptureModeRelaxed);
  for (unsigned times = 1; times <= 3; ++times) {
    graph.launch(stream.get());
    run->finish();
    BOOST_TEST(all_are(download(runs), times));
    BOOST_TEST(control->report().taken == taken);
    BOOST_TEST(slots_in_use() == 0u);
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
