// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/stream.cuh>
#include <span>
#include <thread>
#include <utility>

#include "cases.hpp"
#include "slot_checks.cuh"

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

// ---- a flood of tasks ---------------------------------------------------------------------------

struct flood_context;
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned> spawn,
                             flood_context context);

struct flood_context {
  __host__ __device__ static auto kernel() { return flood_kernel; }
  static constexpr unsigned fan = 32;
  static constexpr bool may_be_thin = false;

  unsigned* runs;
  unsigned* arrived;  ///< blocks of a task that are done
  unsigned tasks;
  unsigned children;  ///< of the root
  unsigned blocks;
  bool bad_launch;
  bool break_a_rule;
  bool by_block;
  bool forgets_an_end;
};

#if !RAMIFY_ON_CUDA
__global__ void take_pointer(unsigned*) {}
#endif

// Task 0 spawns tasks 1 to c; task t of those spawns t + c, t + 2 c, ...
__global__ void flood_kernel(task_source<unsigned> source, spawner<unsigned> spawn,
                             flood_context context) {
  const unsigned c = context.children;
  for (const auto [task, rank] : source.members()) {
    unsigned first = task == 0 ? 1 : task + c;
    const unsigned step = task == 0 ? 1 : c;
    const unsigned end = task == 0 ? min(c + 1, context.tasks) : task <= c ? context.tasks : 0;
    if (context.by_block) {
      for (; first < end; first += step * blockDim.x) {
        const unsigned child = first + step * threadIdx.x;
        spawn.by_block(flood_kernel, child < end, child, context, __func__);
      }
    }
    if (threadIdx.x != 0) continue;
    atomicAdd(&context.runs[task], 1u);
    if (atomicAdd(&context.arrived[task], 1u) != context.blocks - 1) continue;
    for (; first < end; first += step) {
      const unsigned blocks = context.bad_launch && first == 2 ? 0 : context.blocks;
      spawn(flood_kernel, first, blocks, context, __func__);
    }
#if !RAMIFY_ON_CUDA  // nvcc sees through it
    if (context.break_a_rule && task == 0) {
      unsigned local = 0;
      static_cast<void>(bool(launch(take_pointer, {1, 1}, fire_and_forget(), &local)));
    }
#endif
    if (context.forgets_an_end && task == 1) continue;
    spawn.task_ends();
  }
  if (threadIdx.x == 0) spawn.block_ends(flood_kernel, source, context, __func__);
}

inline flood_result run_flood(const flood_request& request, std::size_t pending_launches) {
  const launch_limits limits({.pending_launches = pending_launches});
  const std::size_t capacity = request.capacity == 0 ? request.tasks : request.capacity;
  using tree = recursion<unsigned, flood_context>;
  const auto runs = zeros<unsigned>(request.tasks);
  const auto arrived = zeros<unsigned>(request.tasks);
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const device_buffer<std::byte> lists(tree::scratch_bytes(capacity, request.launches), nullptr);

  const std::size_t limit =
      request.believed_limit == 0 ? *limits.granted().pending_launches : request.believed_limit;
  std::optional<all_slots_taken> somebody_else;
  if (request.slots_taken) somebody_else.emplace(limit);
  run_control control(status.data(), choose_route(request.route, limit, 1, {route::flat, ""}),
                      limit, nullptr);
  tree flood(lists.data(), capacity, control, request.threads, 0, child_streams::fire_and_forget,
             flood_context{runs.data(), arrived.data(), request.tasks, request.fan, request.blocks,
                           request.bad_launch, request.break_a_rule, request.by_block,
                           request.forgets_an_end},
             request.launches);
  flood.start(0u, request.blocks);
  flood.finish();
  somebody_else.reset();
  return {read(runs), control.report(), slots_in_use()};
}

// ---- a list of tasks and a grid of any size -----------------------------------------------------

__global__ void push_teams(task_list<unsigned> list) {
  const unsigned teams[] = {2, 1, 3, 1, 5};
  for (unsigned first = 0, i = 0; i < 5; first += teams[i++]) list.push(first, teams[i]);
}

// A task is the number of its first member.
__global__ void visit_members(task_source<unsigned> source, unsigned* visits) {
  for (const auto [first, rank] : source.members()) {
    if (threadIdx.x == 0) atomicAdd(&visits[first + rank], 1u);
  }
}

inline std::vector<unsigned> visits_of_members(unsigned blocks) {
  const auto tasks = zeros<unsigned>(5);
  const auto first_block = zeros<unsigned>(5);
  const auto head = zeros<list_head>(1);
  const auto visits = zeros<unsigned>(12);
  const task_list<unsigned> list{tasks.data(), first_block.data(), &head.data()->count_and_blocks,
                                 5, &head.data()->unfinished};
  check(launch(push_teams, {1, 1}, nullptr, list).code(), "launching");
  check(launch(visit_members, {blocks, 32}, nullptr, task_source<unsigned>{{}, list, true},
               visits.data())
            .code(),
        "launching");
  return read(visits);
}

// ---- limits -------------------------------------------------------------------------------------

inline limits_seen see_limits(limit which, std::size_t wanted) {
  const auto pick = [&](const launch_limit_values& values) {
    switch (which) {
      case limit::pending_launches: return *values.pending_launches;
      case limit::malloc_heap_bytes: return *values.malloc_heap_bytes;
      default: return *values.stack_bytes;
    }
  };
  launch_limit_values values;
  if (which == limit::pending_launches) values.pending_launches = wanted;
  if (which == limit::malloc_heap_bytes) values.malloc_heap_bytes = wanted;
  if (which == limit::stack_bytes) values.stack_bytes = wanted;

  limits_seen seen{};
  seen.before = pick(current_launch_limits());
  {
    const launch_limits limits(values);
    seen.inside = pick(limits.granted());
    seen.reserved_bytes = limits.reserved_bytes();
  }
  seen.after = pick(current_launch_limits());
  return seen;
}

// ---- streams ------------------------------------------------------------------------------------

struct grid_log {
  unsigned size;
  char names[64];
};

__device__ inline void write_down(grid_log* log, char name) {
  log->names[atomicAdd(&log->size, 1u)] = name;
}

__global__ void note(grid_log* log, char name) { write_down(log, name); }

__global__ void nothing() {}

__global__ void note_after_child(grid_log* log, char name) {
  const bool launched = launch(note, {1, 1}, tail_launch(), log, name) &&
                        launch(note, {1, 1}, fire_and_forget(), log, char(name + 32));
  if (!launched) write_down(log, '!');
}

// A and B in a named stream; C after B's end, by an event, in another one; Z last of all.
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

__global__ void note_in_null_stream(grid_log* log) {
  for (char name = 'A'; name < 'F'; ++name) {
    if (!launch(note_after_child, {1, 1}, null_stream(), log, name)) write_down(log, '!');
  }
}

inline std::string order_after(void (*kernel)(grid_log*)) {
  const auto log = zeros<grid_log>(1);
  check(launch(kernel, {1, 1}, nullptr, log.data()).code(), "launching");
  const grid_log seen = read(log)[0];
  return {seen.names, seen.names + seen.size};
}

// ---- objects that own something -----------------------------------------------------------------

inline std::string handles() {
  // Move-only, empty when moved from, and usable all along.
  host_stream first;
  host_stream second = std::move(first);
  if (first.get() != nullptr) return "a moved-from stream is not empty";
  first = std::move(second);
  if (second.get() != nullptr) return "a stream that was assigned from is not empty";

  pinned_buffer<int> source(3);
  for (int i = 0; i < 3; ++i) source[i] = i + 5;
  pinned_buffer<int> target(3);
  device_buffer<int> memory(3, first.get());
  host_event copied;
  check(cudaMemcpyAsync(memory.data(), source.data(), 3 * sizeof(int), cudaMemcpyHostToDevice,
                        first.get()),
        "copying");
  check(cudaMemcpyAsync(target.data(), memory.data(), 3 * sizeof(int), cudaMemcpyDeviceToHost,
                        first.get()),
        "copying back");
  copied.record(first.get());
  const host_event moved = std::move(copied);
  moved.synchronize();
  if (target[0] != 5 || target[2] != 7) return "pinned memory did not come back";

  device_buffer<int> elsewhere(1, first.get());
  elsewhere = std::move(memory);
  if (memory.data() != nullptr || memory.size() != 0) return "a moved-from buffer is not empty";
  if (elsewhere.size() != 3) return "a buffer was not moved";
  source = std::move(target);
  if (target.data() != nullptr || source[1] != 6) return "a pinned buffer was not moved";
  elsewhere = {};
  release_scratch();
  return {};
}

inline bool launch_after_failed_call() {
  try {
    const device_buffer<std::byte> too_much(std::size_t{1} << 50, nullptr);
    return false;
  } catch (const cuda_error&) {
  }
  if (!launch(nothing, {1, 1}, nullptr)) return false;
  const auto log = zeros<grid_log>(1);
  return bool(launch(note, {1, 1}, nullptr, log.data(), 'A')) && read(log)[0].size == 1;
}

// ---- words --------------------------------------------------------------------------------------

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

// ---- copies -------------------------------------------------------------------------------------

using bytes = std::vector<unsigned char>;

__global__ void add_one(unsigned char* data, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < n; i += std::size_t{gridDim.x} * blockDim.x) ++data[i];
}

/// There and back. The host's arrays are longer, and `target` must keep what is beside the copy.
template <class Upload, class Download>
std::string there_and_back(std::span<unsigned char> source, std::span<unsigned char> target,
                           std::size_t n, bool spoil, Upload upload, Download download) {
  constexpr std::size_t before_source = 1;
  constexpr std::size_t before_target = 3;
  constexpr unsigned char guard = 0xa5;
  const auto value = [](std::size_t i) { return static_cast<unsigned char>(i * 31 + i / 251); };
  std::ranges::fill(target, guard);
  for (std::size_t i = 0; i < n; ++i) source[before_source + i] = value(i);
  const host_stream stream;
  const device_buffer<unsigned char> device(n, stream.get());
  upload(device.data(), source.data() + before_source, n, stream.get());
  if (n > 0) {
    check(launch(add_one, {4, 64}, stream.get(), device.data(), n).code(), "adding");
    if (spoil) {
      check(launch(add_one, {1, 1}, stream.get(), device.data() + n / 2, std::size_t{1}).code(),
            "spoiling");
    }
  }
  download(target.data() + before_target, device.data(), n, stream.get());
  stream.synchronize();
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool is_copied = i >= before_target && i < before_target + n;
    const auto copy = static_cast<unsigned char>(value(i - before_target) + 1);
    if (target[i] != (is_copied ? copy : guard)) {
      return "byte " + std::to_string(i) + " of " + std::to_string(n) + " is wrong";
    }
  }
  return {};
}

inline std::string staged(staging& chunks, std::size_t n, bool spoil = false) {
  bytes source(n + 8);
  bytes target(n + 8);
  return there_and_back(
      source, target, n, spoil,
      [&](auto... arguments) {
        chunks.upload(arguments...);
        std::ranges::fill(source, 0);  // it has been read
      },
      [&](auto... arguments) { chunks.download(arguments...); });
}

inline std::string staged_copies() {
  constexpr std::size_t chunk = 1000;
  for (const unsigned threads : {1u, 2u, 5u}) {
    staging chunks({.chunk_bytes = chunk, .threads = threads});
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1,
                                2 * chunk, 7 * chunk + 5, 100 * chunk + 3}) {
      const std::string fault = staged(chunks, n);
      if (!fault.empty()) return std::to_string(threads) + " threads: " + fault;
    }
  }
#if RAMIFY_ON_CUDA
  // A copy that fails says so, and the chunks are as good as before.
  staging chunks({.chunk_bytes = chunk, .threads = 3});
  const bytes source(50 * chunk);
  try {
    chunks.upload(nullptr, source.data(), source.size(), nullptr);
    return "a copy to nowhere did not fail";
  } catch (const cuda_error&) {
  }
  return staged(chunks, 50 * chunk);
#else
  return {};
#endif
}

inline std::string staged_copies_of_two_threads() {
  constexpr std::size_t n = 20'000;
  staging chunks({.chunk_bytes = 1000, .threads = 2});
  std::array<bytes, 2> sources{bytes(n, 1), bytes(n, 2)};
  std::array<bytes, 2> targets;
  const auto copy = [&](std::size_t which) {
    const host_stream stream;
    const device_buffer<unsigned char> device(n, stream.get());
    for (int i = 0; i < 5; ++i) {
      targets[which].assign(n, 0);
      chunks.upload(device.data(), sources[which].data(), n, stream.get());
      chunks.download(targets[which].data(), device.data(), n, stream.get());
    }
  };
  std::thread other(copy, 1);
  copy(0);
  other.join();
  return targets == sources ? "" : "copies of two threads are mixed up";
}

inline std::string spoilt_staged_copy() {
  staging chunks({.chunk_bytes = 1000, .threads = 2});
  return staged(chunks, 10'000, true);
}

/// Ordinary and pinned memory, either side of the size from which the former is staged.
inline std::string copies_of_any_memory() {
  const auto there = [](auto... arguments) { copy_to_device(arguments...); };
  const auto back = [](auto... arguments) { copy_to_host(arguments...); };
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, staged_from_bytes - 1,
                              staged_from_bytes, staged_from_bytes + 1}) {
    bytes source(n + 8);
    bytes target(n + 8);
    std::string fault = there_and_back(source, target, n, false, there, back);
    if (!fault.empty()) return "ordinary memory: " + fault;
    const pinned_buffer<unsigned char> pinned_source(n + 8);
    const pinned_buffer<unsigned char> pinned_target(n + 8);
    fault = there_and_back({pinned_source.data(), n + 8}, {pinned_target.data(), n + 8}, n, false,
                           there, back);
    if (!fault.empty()) return "pinned memory: " + fault;
  }
  return {};
}

// ---- routes -------------------------------------------------------------------------------------

inline std::string route_reason(route wanted, std::size_t pending_launches) {
  const route_choice choice =
      choose_route(wanted, pending_launches, 3, {route::device, "preferred"});
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

inline std::string planned_route(route wanted, std::size_t pending_launches,
                                 [[maybe_unused]] bool captured) {
  const host_stream stream;
  const route_plans plans{{.host_looks = 1000}, {.nested_levels = 1}, route::flat};
#if RAMIFY_ON_CUDA
  if (captured) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
  }
#endif
  const route_choice choice = choose_route(wanted, pending_launches, 3, plans, stream.get());
#if RAMIFY_ON_CUDA
  if (captured) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "capturing");
    check(cudaGraphDestroy(graph), "destroying a graph");
  }
#endif
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

#if RAMIFY_ON_CUDA
inline launch_costs load_or_measure_costs(const std::string& folder) {
  return load_or_measure_launch_costs(folder);
}
#else
inline constexpr launch_costs (*load_or_measure_costs)(const std::string&) = nullptr;
#endif

// ---- loops --------------------------------------------------------------------------------------

struct loop_counts {
  unsigned iterations;
  unsigned counted;
};

__global__ void begin_iteration(loop_counts* counts) { ++counts->iterations; }

__global__ void count_one(loop_counts* counts, unsigned n, loop_condition loop) {
  if (counts->counted < n) ++counts->counted;
  loop.again(counts->counted < n);
}

inline loop_seen run_loop(const loop_request& request) {
  const host_stream stream;
  const auto counts = zeros<loop_counts>(1);
  check(cudaStreamSynchronize(nullptr), "clearing the counts");
  const auto body = [&](cudaStream_t into, loop_condition condition) {
    check(launch(begin_iteration, {1, 1}, into, counts.data()).code(), "launching");
    check(launch(count_one, {1, 1}, into, counts.data(), request.n, condition).code(), "launching");
  };
  const auto look = [&] {
    loop_counts seen{};
    check(cudaMemcpyAsync(&seen, counts.data(), sizeof seen, cudaMemcpyDeviceToHost, stream.get()),
          "reading the counts");
    stream.synchronize();
    return seen;
  };
  loop_seen result;
  std::optional<graph_loop> loop =
      make_flat_loop(request.wanted, stream.get(), body, result.reason);
  result.in_graph = loop.has_value();
  for (unsigned i = 0; i < request.launches; ++i) {
    check(cudaMemsetAsync(&counts.data()->counted, 0, sizeof(unsigned), stream.get()), "clearing");
    if (loop) {
      loop->launch(stream.get());
    } else {
      do body(stream.get(), {});
      while (look().counted < request.n);
    }
  }
  loop.reset();  // while it may be under way
  const loop_counts seen = look();
  result.counted = seen.counted;
  result.iterations = seen.iterations;
  return result;
}

inline bool loop_after_bad_body() {
  std::string reason;
  try {
    (void)make_flat_loop(
        flat_loop::graph, nullptr,
        [](cudaStream_t, loop_condition) { throw std::length_error("the body's own"); }, reason);
    return false;
  } catch (const std::length_error&) {
  }
  return run_loop({.n = 5}).iterations == 5;
}

inline constexpr runtime_cases cases{
    run_flood,
    see_limits,
    [] { const launch_limits limits({.sync_depth = 2}); },
    [] { const launch_limits limits({.pending_launches = 0}); },
    [] { return order_after(note_in_streams); },
    [] { return order_after(note_in_null_stream); },
    handles,
    launch_after_failed_call,
    warp_and_shared,
    heap_is_finite,
    memory_operations,
    visits_of_members,
    route_reason,
    planned_route,
    load_or_measure_costs,
    run_loop,
    loop_after_bad_body,
    staged_copies,
    spoilt_staged_copy,
    copies_of_any_memory,
    staged_copies_of_two_threads,
    [] { const staging none({.chunk_bytes = 0}); },
    [] { const staging none({.threads = 0}); },
};

}  // namespace tests::inline RAMIFY_BUILD
