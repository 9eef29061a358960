// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How grids record themselves: the kernels' side of <ramify/runtime/launch_trace.hpp>.
///
///     struct context { ...; trace_ticket trace; };  // what the kernel is launched with
///
///     __global__ void kernel(context c) {
///       const traced here(c.trace, __func__);     // first line: records when the grid runs
///       ...
///       launch(kernel, {1, 1}, tail_launch(), c);  // the child's copy of c gets a ticket of its own
///     }
///
/// A grid's record is made by who launches it: launch() finds the ticket among the arguments, which is
/// one of them or the member `trace` of one. A kernel without the first line is missing from the trace, and
/// its children seem to have no parent. The first lane of a warp writes when it ends, so it should not leave
/// the kernel long before the others.
///
/// In a build without RAMIFY_TRACE tickets are empty, and kernels are as if there were none. (What it costs
/// to ask a ticket at run time is in benchmarks/README.md.)

#include <cstddef>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// The device's clock in nanoseconds. Under a reproducible schedule of the CPU executor it is a number
/// that rises by one with each call. The host has none: 0.
[[nodiscard]] __host__ __device__ inline unsigned long long device_time() {
#if !RAMIFY_ON_CUDA
  return cpu::device_time();
#elif defined(__CUDA_ARCH__)
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
#else
  return 0;
#endif
}

/// What is known of a grid when it is launched.
struct launched_grid {
  unsigned parent;  ///< id, or trace_memory::no_grid
  unsigned depth;
  unsigned parent_block;
  uint3 grid;
  uint3 block;
  unsigned dynamic_shared;
  launch_stream stream;
  unsigned long long launched;  ///< device_time(); of the host's, 0
};

/// What a grid writes when it runs. Zeros at first.
struct running_grid {
  unsigned long long not_before;  ///< ~begin, so that zero is later than all times
  unsigned long long end;
  const char* kernel;  ///< its name, in device memory
  unsigned turns;      ///< times that it ran
};

/// A trace in device memory. Grids that kernels launch have ids below `capacity`; those of the host go
/// on from there.
struct trace_memory {
  static constexpr unsigned no_grid = ~0u;

  unsigned capacity;
  launched_grid* by_kernels;    ///< `capacity` of them, by id
  running_grid* running;        ///< 2 * `capacity`, by id
  unsigned long long launches;  ///< by kernels; may be more than there is room for
};

/// The host's part of a trace.
struct host_launches {
  unsigned capacity = 0;
  running_grid* running = nullptr;  ///< in device memory
  std::vector<launched_grid> grids;
  std::size_t lost = 0;
};

/// What a launch looks like to a trace.
struct launch_facts {
  uint3 grid;
  uint3 block;
  unsigned dynamic_shared;
};

/// Makes the record of a grid that this kernel launches; null if there is no room. `parent` is the
/// launching grid's, which has depth `depth`. By the launching thread.
__device__ inline running_grid* record_launch(trace_memory* memory, const running_grid* parent,
                                              unsigned depth, const launch_facts& facts,
                                              cudaStream_t stream) {
  const unsigned long long id = atomicAdd(&memory->launches, 1ull);
  if (id >= memory->capacity) return nullptr;
  launched_grid& child = memory->by_kernels[id];
  child.parent =
      parent == nullptr ? trace_memory::no_grid : static_cast<unsigned>(parent - memory->running);
  child.depth = depth + 1;
  child.parent_block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  child.grid = facts.grid;
  child.block = facts.block;
  child.dynamic_shared = facts.dynamic_shared;
  child.stream = stream == cudaStreamFireAndForget ? launch_stream::fire_and_forget
                 : stream == cudaStreamTailLaunch  ? launch_stream::tail
                 : stream == nullptr               ? launch_stream::null
                                                   : launch_stream::named;
  child.launched = device_time();
  return memory->running + id;
}

/// The same for a grid that the host launches.
inline running_grid* record_launch(host_launches& by_host, const launch_facts& facts) {
  const std::size_t id = by_host.grids.size();
  if (id == by_host.capacity) {
    ++by_host.lost;
    return nullptr;
  }
  by_host.grids.push_back({trace_memory::no_grid, 0, 0, facts.grid, facts.block,
                           facts.dynamic_shared, launch_stream::host, 0});
  return by_host.running + id;
}

#if RAMIFY_TRACE

/// Says which record a grid writes to. Kernels get it as an argument, or in one.
class trace_ticket {
 public:
  /// Of a trace that is switched off.
  trace_ticket() = default;
  /// For the host's launches.
  trace_ticket(trace_memory* memory, host_launches* by_host)
      : memory_(memory), own_(by_host), depth_(the_host) {}

  [[nodiscard]] __host__ __device__ bool is_on() const { return memory_ != nullptr; }

  /// The grid's record; null if it has none, as one that was not launched by launch().
  [[nodiscard]] __device__ running_grid* record() const {
    return depth_ == the_host ? nullptr : static_cast<running_grid*>(own_);
  }

  /// Records a launch by the grid that holds this ticket, or by the host; the result is the new grid's.
  /// A record counts once its grid runs.
  [[nodiscard]] __host__ __device__ trace_ticket
  for_child(const launch_facts& facts, [[maybe_unused]] cudaStream_t stream) const {
    trace_ticket child;
    child.memory_ = memory_;
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
    if (depth_ == the_host) {
      child.own_ = record_launch(*static_cast<host_launches*>(own_), facts);
      return child;
    }
#endif
#if !RAMIFY_ON_CUDA || defined(__CUDA_ARCH__)
    child.own_ = record_launch(memory_, record(), depth_, facts, stream);
    child.depth_ = depth_ + 1;
#endif
    return child;
  }

 private:
  static constexpr unsigned the_host = ~0u;

  trace_memory* memory_ = nullptr;
  void* own_ = nullptr;  // the grid's record, or the host's host_launches
  unsigned depth_ = 0;
};

/// Records, for as long as it lives, that a thread's block runs. Every thread makes one, first thing in
/// the kernel; `kernel` is its __func__.
class traced {
 public:
  __device__ traced(const trace_ticket& ticket, const char* kernel) : record_(ticket.record()) {
    if (record_ == nullptr || thread() != 0) return;
    atomicMax(&record_->not_before, ~device_time());
    if (blockIdx.x + blockIdx.y + blockIdx.z != 0) return;
    record_->kernel = kernel;
    ++record_->turns;
  }
  /// The first lane speaks for its warp.
  __device__ ~traced() {
    if (record_ != nullptr && thread() % 32 == 0) atomicMax(&record_->end, device_time());
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;

 private:
  [[nodiscard]] __device__ static unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }

  running_grid* record_;
};

#else

/// Nothing, in a build without traces.
class trace_ticket {
 public:
  [[nodiscard]] __host__ __device__ bool is_on() const { return false; }
  [[nodiscard]] __host__ __device__ trace_ticket for_child(const launch_facts&,
                                                           cudaStream_t) const {
    return {};
  }
};
class traced {
 public:
  __device__ traced(const trace_ticket&, const char*) {}
};

#endif

/// What a kernel is launched with may have a ticket in its member `trace`.
template <class T>
inline constexpr bool holds_ticket = requires(T& t) {
  requires std::is_same_v<decltype((t.trace)), trace_ticket&>;
};
template <class T>
inline constexpr bool has_ticket = holds_ticket<T> || std::is_same_v<T, trace_ticket>;

/// The first ticket among arguments of a kernel.
template <class First, class... Rest>
[[nodiscard]] __host__ __device__ trace_ticket ticket_among(const First& first,
                                                            const Rest&... rest) {
  if constexpr (std::is_same_v<First, trace_ticket>) {
    return first;
  } else if constexpr (holds_ticket<First>) {
    return first.trace;
  } else {
    return ticket_among<Rest...>(rest...);
  }
}

/// An argument of a kernel, with that ticket if it has one.
template <class Parameter>
[[nodiscard]] __host__ __device__ Parameter with_ticket(Parameter argument,
                                                        const trace_ticket& ticket) {
  if constexpr (std::is_same_v<Parameter, trace_ticket>) {
    return ticket;
  } else {
    if constexpr (holds_ticket<Parameter>) argument.trace = ticket;
    return argument;
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
