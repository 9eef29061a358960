// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's words for a C++ compiler: what a kernel and its host code spell, as far as Ramify uses
/// it.
///
/// Each word does what the CUDA C++ Programming Guide says of it; the executor (executor.hpp) plays
/// the device. A block's threads are fibers on one operating-system thread, so `__shared__`
/// variables are thread-local, and at most one block is alive on an operating-system thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>

#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

namespace ramify::cpu::builtins {

// ---- built-in variables ------------------------------------------------------------------------

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  [[nodiscard]] constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

inline constinit thread_local uint3 threadIdx{0, 0, 0};
inline constinit thread_local uint3 blockIdx{0, 0, 0};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;

// ---- errors, with CUDA's numbers ---------------------------------------------------------------

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorUnsupportedLimit = 215,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotSupported = 801,
};

[[nodiscard]] const char* cudaGetErrorName(cudaError_t);
[[nodiscard]] const char* cudaGetErrorString(cudaError_t);

// ---- barriers, fences, warp votes, arithmetic -------------------------------------------------

using site = std::source_location;

/// Waits for all threads of the block. Throws rule_violation if part of the block never comes here.
void __syncthreads(site = site::current());

/// Waits for the lanes in `mask`.
void __syncwarp(unsigned mask = 0xffffffffu, site = site::current());

[[nodiscard]] unsigned __ballot_sync(unsigned mask, int predicate, site = site::current());
[[nodiscard]] int __any_sync(unsigned mask, int predicate, site = site::current());
[[nodiscard]] int __all_sync(unsigned mask, int predicate, site = site::current());

void __threadfence();
inline void __threadfence_block() { __threadfence(); }

template <class T>
[[nodiscard]] constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
[[nodiscard]] constexpr T max(T a, T b) {
  return a < b ? b : a;
}

/// The upper word of (high:low) shifted left by `shift` mod 32.
[[nodiscard]] inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}

[[nodiscard]] inline int __popc(unsigned v) { return __builtin_popcount(v); }
[[nodiscard]] inline int __ffs(int v) { return __builtin_ffs(v); }
[[nodiscard]] inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
[[nodiscard]] inline int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}

// ---- streams and events ------------------------------------------------------------------------

using cudaStream_t = struct stream_handle*;
using cudaEvent_t = struct event_handle*;

/// The handles that the device runtime reserves; the NULL stream is the block's own.
inline const cudaStream_t cudaStreamTailLaunch = reinterpret_cast<cudaStream_t>(0x3);
inline const cudaStream_t cudaStreamFireAndForget = reinterpret_cast<cudaStream_t>(0x4);

inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;

// On the host all work has finished when its call returns, so streams and events order nothing
// there, and an event's time is that of its record; in a kernel they order child grids as the device
// runtime does.
[[nodiscard]] cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned flags);
[[nodiscard]] cudaError_t cudaStreamDestroy(cudaStream_t);
[[nodiscard]] cudaError_t cudaStreamSynchronize(cudaStream_t);
[[nodiscard]] cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
[[nodiscard]] cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
[[nodiscard]] cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
[[nodiscard]] cudaError_t cudaEventSynchronize(cudaEvent_t);
[[nodiscard]] cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end);
[[nodiscard]] cudaError_t cudaEventDestroy(cudaEvent_t);

// ---- memory ------------------------------------------------------------------------------------

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

[[nodiscard]] cudaError_t cudaMalloc(void**, std::size_t bytes);
[[nodiscard]] cudaError_t cudaFree(void*);
[[nodiscard]] cudaError_t cudaMallocHost(void**, std::size_t bytes);
[[nodiscard]] cudaError_t cudaFreeHost(void*);

/// In a kernel these two are launches: they take a slot of the pending-launch pool.
[[nodiscard]] cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                          cudaMemcpyKind, cudaStream_t = nullptr,
                                          site = site::current());
[[nodiscard]] cudaError_t cudaMemsetAsync(void*, int value, std::size_t bytes,
                                          cudaStream_t = nullptr, site = site::current());

// ---- devices and limits ------------------------------------------------------------------------

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
};

[[nodiscard]] cudaError_t cudaGetDevice(int*);
[[nodiscard]] cudaError_t cudaDeviceSynchronize();
[[nodiscard]] cudaError_t cudaDeviceGetLimit(std::size_t*, cudaLimit);
[[nodiscard]] cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t);

}  // namespace ramify::cpu::builtins

namespace ramify::cpu {

/// A launch as the executor sees it, whatever the kernel's type.
struct launch_request {
  std::function<void()> thread;  ///< what one thread runs: the kernel with copies of its arguments
  const void* kernel;            ///< for its name
  builtins::dim3 grid;
  builtins::dim3 block;
  std::size_t dynamic_shared;  ///< bytes
  builtins::site site;            ///< where the launch was written
};

/// Launches a grid: from the host, runs it and all that it launches to the end; from a kernel,
/// hands it to the executor. `arguments` are looked through for pointers that a child must not get.
/// \throws rule_violation
builtins::cudaError_t submit(launch_request, builtins::cudaStream_t,
                          std::span<const std::span<const std::byte>> arguments);

/// Lets a kernel be launched with so many bytes of dynamic shared memory, as cudaFuncSetAttribute does
/// on a GPU.
void allow_shared(const void* kernel, std::size_t bytes);

/// Nanoseconds; under a reproducible schedule a number that rises by one with each call.
std::uint64_t device_time();

/// The running block's dynamic shared memory.
std::byte* dynamic_shared_memory();

/// Waits for the `threads` consecutive threads of the block that the calling one belongs to.
void wait_for_team(unsigned threads, builtins::site);

/// What the lanes of a warp put into an exchange.
struct warp_values {
  std::uint64_t of_lane[32];
  unsigned not_zero;  ///< the lanes whose value is not
};

/// A warp-wide exchange: waits for the lanes in `mask`, then shows what each put in. To be read
/// before the thread waits anywhere else.
const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* word, builtins::site);

/// Device-side heap of cudaLimitMallocHeapSize bytes; null when it is used up.
void* heap_allocate(std::size_t bytes);
void heap_free(void*);

/// Breaks off the running block: a launch failed and nobody looked at the error.
[[noreturn]] void report_ignored_failure(builtins::cudaError_t, const void* kernel, builtins::site);

}  // namespace ramify::cpu

#include <ramify/cpu/atomics.hpp>
#include <ramify/cpu/shuffles.hpp>
