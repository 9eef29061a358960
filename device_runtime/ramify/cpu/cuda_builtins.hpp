// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CUDA built-ins and runtime calls that Ramify uses, for a C++ compiler.
///
/// Each one does what the CUDA C++ Programming Guide says. The CPU executor (executor.hpp) takes
/// the place of the device. The threads of a block are fibers on one operating-system thread.
/// Therefore `__shared__` variables are thread-local, and an operating-system thread holds at most
/// one live block.

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
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999,
};

[[nodiscard]] const char* cudaGetErrorName(cudaError_t);
[[nodiscard]] const char* cudaGetErrorString(cudaError_t);

// ---- barriers, fences, warp votes, arithmetic -------------------------------------------------

using site = std::source_location;

/// Waits for all threads of the block. Throws rule_violation if some of them never call it.
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

/// Shifts (high:low) left by `shift` mod 32 and returns the upper 32 bits.
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

// Host calls return after their work has finished, so host streams and events order nothing. The
// time of a host event is the time of its record. In a kernel, streams and events order child grids
// as the device runtime does.
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

/// In a kernel, each of these two calls is a launch: it takes a slot of the pending-launch pool.
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

/// A launch, independent of the kernel's type.
struct launch_request {
  std::function<void()> thread;  ///< the body of one thread: the kernel and copies of its arguments
  const void* kernel;            ///< the kernel's address, from which messages get its name
  builtins::dim3 grid;
  builtins::dim3 block;
  std::size_t dynamic_shared;  ///< bytes
  builtins::site site;         ///< the source location of the launch
};

/// Launches a grid.
///
/// A call from the host returns when the grid and all its descendants are complete. A call from a
/// kernel passes the grid to the executor and returns. The rule checker searches `arguments` for
/// pointers that a child must not get. \throws rule_violation
builtins::cudaError_t submit(launch_request, builtins::cudaStream_t,
                             std::span<const std::span<const std::byte>> arguments);

/// Allows launches of `kernel` with up to `bytes` bytes of dynamic shared memory, as
/// cudaFuncSetAttribute does on a GPU.
void allow_shared(const void* kernel, std::size_t bytes);

/// The device clock in nanoseconds. Under a reproducible schedule, a counter of the calls.
std::uint64_t device_time();

/// The running block's dynamic shared memory.
std::byte* dynamic_shared_memory();

/// Waits for all threads of the calling thread's team of `threads` consecutive threads.
void wait_for_team(unsigned threads, builtins::site);

/// The values that the lanes of a warp contribute to an exchange.
struct warp_values {
  std::uint64_t of_lane[32];
  unsigned not_zero;  ///< mask of the lanes whose value is not zero
};

/// Waits for the lanes in `mask`, then returns the values of all of them.
///
/// `builtin` names the calling built-in in messages. The result is valid until the calling thread
/// waits again.
const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* builtin,
                                 builtins::site);

/// Allocates from the device heap of cudaLimitMallocHeapSize bytes. Returns null when it is used
/// up.
void* heap_allocate(std::size_t bytes);
void heap_free(void*);

/// Throws the rule_violation for a failed launch whose status the program did not read.
[[noreturn]] void report_ignored_failure(builtins::cudaError_t, const void* kernel, builtins::site);

}  // namespace ramify::cpu

#include <ramify/cpu/atomics.hpp>
#include <ramify/cpu/shuffles.hpp>
