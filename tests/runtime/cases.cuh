// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>

#include "cases.hpp"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

template <class T>
std::vector<T> read(const device_buffer<T>& buffer) {
  std::vector<T> host(buffer.size());
  check(cudaMemcpyAsync(host.data(), buffer.data(), buffer.size() * sizeof(T),
                        cudaMemcpyDeviceToHost, nullptr),
        "reading a result");
  check(cudaStreamSynchronize(nullptr), "waiting for a result");
  return host;
}

template <class T>
device_buffer<T> zeros(std::size_t n) {
  device_buffer<T> buffer(n, nullptr);
  check(cudaMemsetAsync(buffer.data(), 0, n * sizeof(T), nullptr), "clearing a buffer");
  return buffer;
}

// ---- a flood of tasks
// ------------------------------------------------------------------------------

struct flood_context;
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned> spawn,
                             flood_context context);

struct flood_context {
  __host__ __device__ static auto kernel() { return flood_kernel; }

  unsigned* runs;
  unsigned* arrived;  ///< blocks of a task that are done
  unsigned tasks;
  unsigned fan;
  unsigned blocks;
  bool bad_launch;
};

// Task 0 spawns tasks 1 to fan; task t of those spawns t + fan, t + 2 fan, ...
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned> spawn,
                             flood_context context) {
  const auto [task, rank] = source.mine();
  if (threadIdx.x != 0) return;
  atomicAdd(&context.runs[task], 1u);
  if (atomicAdd(&context.arrived[task], 1u) != context.blocks - 1) return;
  const unsigned fan = context.fan;
  if (task <= fan) {
    const unsigned end = task == 0 ? min(fan + 1, context.tasks) : context.tasks;
    for (unsigned child = task == 0 ? 1 : task + fan; child < end; child += task == 0 ? 1 : fan) {
      const unsigned blocks = context.bad_launch && child == 2 ? 0 : context.blocks;
      spawn(flood_kernel, child, blocks, fire_and_forget(), context, __func__);
    }
  }
  spawn.grid_ends();
}

inline flood_result run_flood(const flood_request& request, std::size_t pending_launches) {
  const launch_limits limits({.pending_launches = pending_launches});
  const std::size_t capacity = request.capacity == 0 ? request.tasks : request.capacity;
  using tree = recursion<unsigned, flood_context>;
  const auto runs = zeros<unsigned>(request.tasks);
  const auto arrived = zeros<unsigned>(request.tasks);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(capacity), nullptr);

  const std::size_t granted = *limits.granted().pending_launches;
  run_control control(status.data(), choose_route(request.route, granted, {route::flat, ""}),
                      granted, nullptr);
  tree flood(lists.data(), capacity, control, request.threads, 0, child_streams::fire_and_forget,
             flood_context{runs.data(), arrived.data(), request.tasks, request.fan, request.blocks,
                           request.bad_launch});
  flood.start(0u, request.blocks);
  flood.finish();
  return {read(runs), control.report()};
}

// ---- limits
// --------------------------------------------------------------------------------------

inline limits_seen see_pending_launches(std::size_t wanted) {
  limits_seen seen{};
  seen.before = *current_launch_limits().pending_launches;
  {
    const launch_limits limits({.pending_launches = wanted});
    seen.inside = *limits.granted().pending_launches;
  }
  seen.after = *current_launch_limits().pending_launches;
  return seen;
}

// ---- streams
// -------------------------------------------------------------------------------------

struct grid_log {
  unsigned size;
  char names[64];
};

__device__ inline void write_down(grid_log* log, char name) {
  log->names[atomicAdd(&log->size, 1u)] = name;
}

__global__ void note(grid_log* log, char name) { write_down(log, name); }

__global__ void note_after_child(grid_log* log, char name) {
  const bool launched = launch(note, {1, 1}, tail_launch(), log, name) &&
                        launch(note, {1, 1}, fire_and_forget(), log, char(name + 32));
  if (!launched) write_down(log, '!');
}

// A and B in the NULL stream; C after B's end, by an event, in a named one; Z last of all.
__global__ void note_in_streams(grid_log* log) {
  const device_stream first;
  const device_stream second;
  const device_event after_b;
  bool good = bool(launch(note, {1, 1}, tail_launch(), log, 'Z'));
  good = good && launch(note_after_child, {1, 1}, first.get(), log, 'A');
  good = good && launch(note_after_child, {1, 1}, first.get(), log, 'B');
  good = good && after_b.record(first) == cudaSuccess;
  good = good && second.wait(after_b.get()) == cudaSuccess;
  good = good && launch(note_after_child, {1, 1}, second.get(), log, 'C');
  if (!good) write_down(log, '!');
}

inline std::string order_of_streams() {
  const auto log = zeros<grid_log>(1);
  check(launch(note_in_streams, {1, 1}, nullptr, log.data()).code(), "launching");
  const grid_log seen = read(log)[0];
  return {seen.names, seen.names + seen.size};
}

// ---- words
// ---------------------------------------------------------------------------------------

// Sums of 64 numbers: in a warp by shuffles, across warps in dynamic shared memory.
__global__ void sum_numbers(int* out) {
  int* sums = &dynamic_shared<int>();
  int sum = static_cast<int>(threadIdx.x + blockIdx.x);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + sums[1];
}

inline std::vector<int> warp_and_shared() {
  const auto out = zeros<int>(5);
  check(launch(sum_numbers, {5, 64, 2 * sizeof(int)}, nullptr, out.data()).code(), "launching");
  return read(out);
}

__global__ void allocate_twice(int* outcome) {
  // More than the heap can hold, then little.
  void* much = device_malloc(std::size_t{1} << 40);
  void* little = device_malloc(100);
  *outcome = (much == nullptr ? 1 : 0) + (little != nullptr ? 2 : 0);
  device_free(much);
  device_free(little);
}

inline bool heap_is_finite() {
  const auto outcome = zeros<int>(1);
  check(launch(allocate_twice, {1, 1}, nullptr, outcome.data()).code(), "launching");
  return read(outcome)[0] == 3;
}

// Fills with zeros only: on an H200 (driver 580.159) a fill from a kernel ignores its value.
__global__ void copy_and_fill(int* memory) {
  const device_stream stream;
  bool good = cudaMemcpyAsync(memory + 2, memory, 2 * sizeof(int), cudaMemcpyDeviceToDevice,
                              stream.get()) == cudaSuccess;
  good = good && cudaMemcpyAsync(memory + 4, memory + 3, sizeof(int), cudaMemcpyDeviceToDevice,
                                 stream.get()) == cudaSuccess;
  good = good && cudaMemsetAsync(memory, 0, sizeof(int), stream.get()) == cudaSuccess;
  if (!good) memory[5] = 1;
}

inline std::vector<int> memory_operations() {
  const std::vector<int> before{7, 8, 0, 0, 0, 0};
  const device_buffer<int> memory(before.size(), nullptr);
  check(cudaMemcpyAsync(memory.data(), before.data(), before.size() * sizeof(int),
                        cudaMemcpyHostToDevice, nullptr),
        "uploading");
  check(launch(copy_and_fill, {1, 1}, nullptr, memory.data()).code(), "launching");
  return read(memory);
}

inline std::string route_reason(route wanted, std::size_t pending_launches) {
  const route_choice choice = choose_route(wanted, pending_launches, {route::device, "preferred"});
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

inline constexpr runtime_cases cases{
    run_flood,
    see_pending_launches,
    [] { const launch_limits limits({.sync_depth = 2}); },
    [] { const launch_limits limits({.pending_launches = 0}); },
    order_of_streams,
    warp_and_shared,
    heap_is_finite,
    memory_operations,
    route_reason,
};

}  // namespace tests::inline RAMIFY_BUILD
