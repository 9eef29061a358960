// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Recording of grids in kernels. The host side is trace_recorder.cuh, the result launch_trace.hpp.
///
///     struct context { ...; trace_ticket trace; };  // an argument of the kernel
///
///     __global__ void kernel(context c) {
///       const traced here(c.trace, __func__);     // first line: records when the grid runs
///       ...
///       launch(kernel, {1, 1}, tail_launch(), c);  // the child's copy of c gets its own ticket
///     }
///
/// launch() creates the record of the new grid. It finds the ticket among the kernel's arguments:
/// an argument of type trace_ticket, or the member `trace` of an argument. A kernel without the
/// first line is missing from the trace, and its children have no parent there. Lane 0 of each warp
/// records the end of the warp, so it should not exit long before the other lanes.
///
/// In a build without RAMIFY_TRACE, tickets are empty and add no code. benchmarks/launches.md gives
/// the cost of a ticket in the other builds.

#include <cstddef>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <type_traits>
#include <vector>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns the device clock in nanoseconds, or 0 in host code. Under a reproducible schedule of the
/// CPU executor it is a counter of the calls.
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

/// The launch parameters that a trace records.
struct launch_facts {
  uint3 grid;
  uint3 block;
  unsigned dynamic_shared;
};

/// The part of a grid's record that the launch writes.
struct launched_grid {
  unsigned parent;  ///< id, or trace_memory::no_grid
  unsigned depth;
  unsigned parent_block;
  launch_facts facts;
  launch_stream stream;
  unsigned long long launched;  ///< device_time() of the launch; 0 for a launch by the host
};

/// The part of a grid's record that the grid writes when it runs. All fields are 0 before.
struct running_grid {
  unsigned long long not_before;  ///< ~begin: atomicMax keeps the earliest begin, and 0 means none
  unsigned long long end;
  const char* kernel;  ///< the kernel's name, a string in device memory
  unsigned runs;       ///< times that it ran
};

/// A trace in device memory. Grids that kernels launch have ids below `capacity`. The ids of grids
/// that the host launches start at `capacity`.
struct trace_memory {
  static constexpr unsigned no_grid = ~0u;

  unsigned capacity;
  launched_grid* by_kernels;    ///< array of `capacity` records, by id
  running_grid* running;        ///< array of 2 * `capacity` records, by id
  unsigned long long launches;  ///< launches by kernels; may exceed `capacity`
};

/// The records of the grids that the host launches.
struct host_launches {
  unsigned capacity = 0;
  running_grid* running = nullptr;  ///< in device memory
  std::vector<launched_grid> grids;
  std::size_t lost = 0;
};

/// Creates the record of a grid that this kernel launches. Returns null if the trace is full.
///
/// The launching thread must call it. `parent` and `depth` are the record and the depth of its
/// grid.
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
  child.facts = facts;
  child.stream = stream == cudaStreamFireAndForget ? launch_stream::fire_and_forget
                 : stream == cudaStreamTailLaunch  ? launch_stream::tail
                 : stream == nullptr               ? launch_stream::null
                                                   : launch_stream::named;
  child.launched = device_time();
  return memory->running + id;
}

/// Creates the record of a grid that the host launches. Returns null if the trace is full.
inline running_grid* record_launch(host_launches& by_host, const launch_facts& facts) {
  const std::size_t id = by_host.grids.size();
  if (id == by_host.capacity) {
    ++by_host.lost;
    return nullptr;
  }
  by_host.grids.push_back({trace_memory::no_grid, 0, 0, facts, launch_stream::host, 0});
  return by_host.running + id;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_TRACE

/// Identifies the record that a grid writes. A kernel gets it as an argument or in an argument.
class trace_ticket {
 public:
  /// Makes the ticket of a trace that is switched off.
  trace_ticket() = default;
  /// Makes the ticket for launches by the host.
  trace_ticket(detail::trace_memory* memory, detail::host_launches* by_host)
      : memory_(memory), own_(by_host), depth_(the_host) {}

  [[nodiscard]] __host__ __device__ bool is_on() const { return memory_ != nullptr; }

  /// Returns the grid's record, or null if launch() did not create one.
  [[nodiscard]] __device__ detail::running_grid* record() const {
    return depth_ == the_host ? nullptr : static_cast<detail::running_grid*>(own_);
  }

  /// Records a launch by the grid that holds this ticket, or by the host. Returns the new grid's
  /// ticket. A record counts only if its grid runs.
  [[nodiscard]] __host__ __device__ trace_ticket
  for_child(const detail::launch_facts& facts, [[maybe_unused]] cudaStream_t stream) const {
    trace_ticket child;
    child.memory_ = memory_;
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
    if (depth_ == the_host) {
      child.own_ = detail::record_launch(*static_cast<detail::host_launches*>(own_), facts);
      return child;
    }
#endif
#if !RAMIFY_ON_CUDA || defined(__CUDA_ARCH__)
    child.own_ = detail::record_launch(memory_, record(), depth_, facts, stream);
    child.depth_ = depth_ + 1;
#endif
    return child;
  }

 private:
  static constexpr unsigned the_host = ~0u;

  detail::trace_memory* memory_ = nullptr;
  // The running_grid of the grid; on the host, the host_launches.
  void* own_ = nullptr;
  unsigned depth_ = 0;
};

/// Records when the block begins and when each warp ends. Every thread must construct one as its
/// first step in the kernel; `kernel` is the kernel's __func__.
class traced {
 public:
  __device__ traced(const trace_ticket& ticket, const char* kernel) : record_(ticket.record()) {
    if (record_ == nullptr || thread() != 0) return;
    atomicMax(&record_->not_before, ~detail::device_time());
    if (blockIdx.x + blockIdx.y + blockIdx.z != 0) return;
    record_->kernel = kernel;
    ++record_->runs;
  }
  /// Lane 0 records the end of its warp.
  __device__ ~traced() {
    if (record_ != nullptr && thread() % 32 == 0) atomicMax(&record_->end, detail::device_time());
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;

 private:
  [[nodiscard]] __device__ static unsigned thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }

  detail::running_grid* record_;
};

#else

/// The empty ticket of a build without traces.
class trace_ticket {
 public:
  /// Returns false: this build records no traces.
  [[nodiscard]] __host__ __device__ bool is_on() const { return false; }
  /// Returns an empty ticket.
  [[nodiscard]] __host__ __device__ trace_ticket for_child(const detail::launch_facts&,
                                                           cudaStream_t) const {
    return {};
  }
};
/// Records nothing in kernels that are compiled without traces.
class traced {
 public:
  /// Does nothing.
  __device__ traced(const trace_ticket&, const char*) {}
};

#endif

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Whether a type has a ticket as its member `trace`.
template <class T>
inline constexpr bool holds_ticket = requires(T& t) {
  requires std::is_same_v<decltype((t.trace)), trace_ticket&>;
};
/// Whether a type is a ticket or has one.
template <class T>
inline constexpr bool has_ticket = holds_ticket<T> || std::is_same_v<T, trace_ticket>;

/// Returns the first ticket among the arguments of a kernel.
template <class First, class... Rest>
[[nodiscard]] __host__ __device__ __forceinline__ trace_ticket ticket_among(const First& first,
                                                                            const Rest&... rest) {
  if constexpr (std::is_same_v<First, trace_ticket>) {
    return first;
  } else if constexpr (holds_ticket<First>) {
    return first.trace;
  } else {
    return ticket_among<Rest...>(rest...);
  }
}

/// Returns a kernel argument with its ticket, if it has one, replaced by `ticket`.
template <class Parameter>
[[nodiscard]] __host__ __device__ __forceinline__ Parameter
with_ticket(Parameter argument, const trace_ticket& ticket) {
  if constexpr (std::is_same_v<Parameter, trace_ticket>) {
    return ticket;
  } else {
    if constexpr (holds_ticket<Parameter>) argument.trace = ticket;
    return argument;
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
