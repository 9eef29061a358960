// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A recursion that floods the device with tasks, and a grid that processes a list of tasks.

#include <cstddef>
#include <optional>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/recursion.cuh>
#include <vector>

#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

inline constexpr granularity grains[] = {granularity::per_task, granularity::per_block,
                                         granularity::per_grid};

// ---- a flood of tasks ---------------------------------------------------------------------------

struct flood_request {
  unsigned tasks = 1000;  ///< total number of tasks
  /// Tasks that the root spawns; each of them spawns its share of the rest.
  unsigned children = 10;
  ramify::route route = ramify::route::device;
  unsigned threads = 32;     ///< per block
  unsigned blocks = 1;       ///< per task
  std::size_t capacity = 0;  ///< of the task lists; 0: enough
  bool bad_launch = false;   ///< a task requests an impossible number of blocks
  /// The pending-launch limit that the run assumes; 0: the real one.
  std::size_t assumed_limit = 0;
  bool break_a_rule = false;  ///< task 0 passes a local pointer to a child
  bool slots_taken = false;   ///< another user holds all slots
  launch_granularity launches{};
  bool by_block = false;      ///< all threads spawn; only for tasks of one block
  bool omits_an_end = false;  ///< task 1 does not call task_ends()
  flat_loop loop = flat_loop::host;
};

struct flood_result {
  std::vector<unsigned> runs;  ///< by task: number of blocks that have run
  run_report report;
  unsigned slots_left_in_use = 0;
};

struct flood_context;
template <bool can_launch>
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned, can_launch> spawn,
                             flood_context context);

struct flood_context {
  __host__ __device__ static auto kernel() { return flood_kernel<true>; }
  __host__ __device__ static auto flat_kernel() { return flood_kernel<false>; }
  static constexpr unsigned max_children = 32;
  static constexpr bool may_be_thin = false;

  unsigned* runs;
  unsigned* arrived;  ///< by task: number of blocks that are done
  unsigned tasks;
  unsigned children;  ///< of the root
  unsigned blocks;
  bool bad_launch;
  bool break_a_rule;
  bool by_block;
  bool omits_an_end;
};

#if !RAMIFY_ON_CUDA
inline __global__ void take_pointer(unsigned*) {}
#endif

// Task 0 spawns tasks 1 to c; task t of those spawns t + c, t + 2 c, ...
template <bool can_launch>
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned, can_launch> spawn,
                             flood_context context) {
  const traced here(spawn.trace, __func__);
  const unsigned c = context.children;
  for (const auto [task, rank] : source.members()) {
    unsigned first = task == 0 ? 1 : task + c;
    const unsigned step = task == 0 ? 1 : c;
    const unsigned end = task == 0 ? min(c + 1, context.tasks) : task <= c ? context.tasks : 0;
    if (context.by_block) {
      for (; first < end; first += step * blockDim.x) {
        const unsigned child = first + step * threadIdx.x;
        spawn.by_block(flood_kernel<can_launch>, child < end, child, context, __func__);
      }
    }
    if (threadIdx.x != 0) continue;
    atomicAdd(&context.runs[task], 1u);
    if (atomicAdd(&context.arrived[task], 1u) != context.blocks - 1) continue;
    for (; first < end; first += step) {
      const unsigned blocks = context.bad_launch && first == 2 ? 0 : context.blocks;
      spawn(flood_kernel<can_launch>, first, blocks, context, __func__);
    }
#if !RAMIFY_ON_CUDA  // nvcc rejects it
    if (context.break_a_rule && task == 0) {
      unsigned local = 0;
      static_cast<void>(bool(launch(take_pointer, {1, 1}, fire_and_forget(), &local)));
    }
#endif
    if (context.omits_an_end && task == 1) continue;
    spawn.task_ends();
  }
  if (threadIdx.x == 0) spawn.block_ends(flood_kernel<can_launch>, source, context, __func__);
}

/// Runs a flood under a pending-launch limit.
inline flood_result run_flood(const flood_request& request, std::size_t pending_launches) {
  const launch_limits limits({.pending_launches = pending_launches});
  const std::size_t capacity = request.capacity == 0 ? request.tasks : request.capacity;
  using tree = recursion<unsigned, flood_context>;
  const auto runs = zeros<unsigned>(request.tasks);
  const auto arrived = zeros<unsigned>(request.tasks);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(capacity, request.launches), nullptr);

  const std::size_t limit =
      request.assumed_limit == 0 ? *limits.granted().pending_launches : request.assumed_limit;
  std::optional<all_slots_taken> other_user;
  if (request.slots_taken) other_user.emplace(limit);
  run_control control(status.data(), choose_route(request.route, limit, 1, {route::flat, ""}),
                      limit, nullptr);
  tree flood(lists.data(), capacity, control, request.threads, 0, child_streams::fire_and_forget,
             flood_context{runs.data(), arrived.data(), request.tasks, request.children,
                           request.blocks, request.bad_launch, request.break_a_rule,
                           request.by_block, request.omits_an_end},
             request.launches, detail::runtime::choose_loop(request.loop, "flat_loop"));
  flood.start(0u, request.blocks);
  flood.finish();
  other_user.reset();
  return {download(runs), control.report(), slots_in_use()};
}

// ---- a list of tasks and a grid of any size -----------------------------------------------------

inline __global__ void push_tasks(task_list<unsigned> list) {
  const unsigned members[] = {2, 1, 3, 1, 5};
  for (unsigned first = 0, i = 0; i < 5; first += members[i++]) list.push(first, members[i]);
}

// A task is the number of its first member.
inline __global__ void visit_members(task_source<unsigned> source, unsigned* visits) {
  for (const auto [first, rank] : source.members()) {
    if (threadIdx.x == 0) atomicAdd(&visits[first + rank], 1u);
  }
}

/// Returns how often a grid of `blocks` blocks visits each member of a list of tasks with 2, 1, 3,
/// 1 and 5 members.
inline std::vector<unsigned> visits_of_members(unsigned blocks) {
  const auto tasks = zeros<unsigned>(5);
  const auto first_block = zeros<unsigned>(5);
  const auto head = zeros<list_head>(1);
  const auto visits = zeros<unsigned>(12);
  const task_list<unsigned> list{tasks.data(), first_block.data(), &head.data()->count_and_blocks,
                                 5, &head.data()->ended};
  check(launch(push_tasks, {1, 1}, nullptr, list).code(), "launching");
  check(launch(visit_members, {blocks, 32}, nullptr, task_source<unsigned>{{}, list, true},
               visits.data())
            .code(),
        "launching");
  return download(visits);
}

}  // namespace tests::inline RAMIFY_BUILD
