// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The calls of the CUDA runtime on the CPU executor: errors, streams, events, memory, the device.
///
/// A call that only the host may make throws rule_violation in a kernel; nvcc does not compile it.

#include <cstddef>
#include <ramify/version.hpp>
#include <source_location>
#include <type_traits>

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

using site = std::source_location;

// ---- errors, with CUDA's numbers ---------------------------------------------------------------

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorLaunchPendingCountExceeded = 69,
  cudaErrorInvalidDevice = 101,
  cudaErrorUnsupportedLimit = 215,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999,
};

[[nodiscard]] const char* cudaGetErrorName(cudaError_t);
[[nodiscard]] const char* cudaGetErrorString(cudaError_t);

/// Returns the last error of a call by this thread of the host or of a grid, and clears it. A
/// launch() by a kernel clears it, too; the status of the launch has the error of the launch.
cudaError_t cudaGetLastError();
[[nodiscard]] cudaError_t cudaPeekAtLastError();

// ---- streams and events ------------------------------------------------------------------------

using cudaStream_t = struct stream_handle*;
using cudaEvent_t = struct event_handle*;

/// The handles that the device runtime reserves. In a kernel, each block has its own NULL stream.
inline const cudaStream_t cudaStreamTailLaunch = reinterpret_cast<cudaStream_t>(0x3);
inline const cudaStream_t cudaStreamFireAndForget = reinterpret_cast<cudaStream_t>(0x4);

inline constexpr unsigned cudaStreamDefault = 0;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;

// Host calls return after their work has finished, so host streams and events order nothing. The
// time of a host event is the time of its record. In a kernel, streams and events order child grids
// as the device runtime does.
[[nodiscard]] cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned flags);
[[nodiscard]] cudaError_t cudaStreamDestroy(cudaStream_t);
[[nodiscard]] cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
[[nodiscard]] cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
[[nodiscard]] cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
[[nodiscard]] cudaError_t cudaEventDestroy(cudaEvent_t);
// For the host only.
[[nodiscard]] cudaError_t cudaStreamCreate(cudaStream_t*);
[[nodiscard]] cudaError_t cudaStreamSynchronize(cudaStream_t);
/// Under schedule::late, the first query of a named stream after a launch or copy into it returns
/// cudaErrorNotReady, unless cudaStreamSynchronize() was called meanwhile.
[[nodiscard]] cudaError_t cudaStreamQuery(cudaStream_t);
[[nodiscard]] cudaError_t cudaEventCreate(cudaEvent_t*);
[[nodiscard]] cudaError_t cudaEventSynchronize(cudaEvent_t);
[[nodiscard]] cudaError_t cudaEventQuery(cudaEvent_t);
[[nodiscard]] cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end);

// ---- memory ------------------------------------------------------------------------------------

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;           ///< 0, or -1 if no call of the executor allocated the memory
  void* devicePointer;  ///< null for such memory
  void* hostPointer;    ///< null for memory of cudaMalloc() and cudaMallocAsync()
};

inline constexpr unsigned cudaMemAttachGlobal = 1;
inline constexpr unsigned cudaHostAllocDefault = 0;

// All memory of the executor can be accessed by the host and by kernels, but for the heap of
// kernels: cudaMalloc() and device_malloc() in a kernel return memory of this heap. A kernel frees
// it.
[[nodiscard]] cudaError_t cudaFree(void*);
// For the host only.
[[nodiscard]] cudaError_t cudaFreeHost(void*);
[[nodiscard]] cudaError_t cudaFreeAsync(void*, cudaStream_t);
[[nodiscard]] cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind);
[[nodiscard]] cudaError_t cudaMemset(void*, int value, std::size_t bytes);
[[nodiscard]] cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

/// The memory is cudaMemoryTypeUnregistered unless a call of the executor allocated it.
[[nodiscard]] cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);

/// In a kernel, each of these two calls is a launch: it takes a slot of the pending-launch pool.
[[nodiscard]] cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                          cudaMemcpyKind, cudaStream_t = nullptr,
                                          site = site::current());
[[nodiscard]] cudaError_t cudaMemsetAsync(void*, int value, std::size_t bytes,
                                          cudaStream_t = nullptr, site = site::current());

/// Allocates memory of `type`, whose elements have `element` bytes; in a kernel, memory of the heap
/// of cudaLimitMallocHeapSize bytes. `host_only` is the name of the call if a kernel must not make
/// it, else null.
[[nodiscard]] cudaError_t allocate_untyped(void** memory, std::size_t bytes, std::size_t element,
                                           cudaMemoryType type, const char* host_only);
template <class T>
cudaError_t allocate_typed(T** memory, std::size_t bytes, cudaMemoryType type,
                           const char* host_only) {
  void* untyped = nullptr;
  // Whether blocks write parts of an object of another type is unknown.
  std::size_t element = 1;
  if constexpr (std::is_scalar_v<T>) element = sizeof(T);
  const cudaError_t error = allocate_untyped(&untyped, bytes, element, type, host_only);
  if (error == cudaSuccess) *memory = static_cast<T*>(untyped);
  return error;
}
template <class T>
[[nodiscard]] cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
  return allocate_typed(memory, bytes, cudaMemoryTypeDevice, nullptr);
}
// For the host only.
template <class T>
[[nodiscard]] cudaError_t cudaMallocHost(T** memory, std::size_t bytes, unsigned /*flags*/ = 0) {
  return allocate_typed(memory, bytes, cudaMemoryTypeHost, __func__);
}
template <class T>
[[nodiscard]] cudaError_t cudaHostAlloc(T** memory, std::size_t bytes, unsigned /*flags*/) {
  return allocate_typed(memory, bytes, cudaMemoryTypeHost, __func__);
}
template <class T>
[[nodiscard]] cudaError_t cudaMallocManaged(T** memory, std::size_t bytes,
                                            unsigned /*flags*/ = cudaMemAttachGlobal) {
  return allocate_typed(memory, bytes, cudaMemoryTypeManaged, __func__);
}
template <class T>
[[nodiscard]] cudaError_t cudaMallocAsync(T** memory, std::size_t bytes, cudaStream_t) {
  return allocate_typed(memory, bytes, cudaMemoryTypeDevice, __func__);
}

/// Writes to a `__constant__` or `__device__` variable, from `offset` bytes after its begin.
template <class T>
[[nodiscard]] cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes,
                                             std::size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  static_assert(!std::is_const_v<T>, "cudaMemcpyToSymbol: the variable is const");
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
  return cudaMemcpy(reinterpret_cast<std::byte*>(&symbol) + offset, from, bytes, kind);
}
/// Reads from a `__constant__` or `__device__` variable, from `offset` bytes after its begin.
template <class T>
[[nodiscard]] cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                               std::size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
  return cudaMemcpy(to, reinterpret_cast<const std::byte*>(&symbol) + offset, bytes, kind);
}

// ---- the device and its limits -----------------------------------------------------------------

/// The properties of the executor's only device. Limits are those of an H200.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  std::size_t sharedMemPerBlockOptin;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int multiProcessorCount;  ///< the number of cores
  int major;                ///< of the compute capability; 0: no GPU
  int minor;
};

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
};

[[nodiscard]] cudaError_t cudaGetDevice(int*);
[[nodiscard]] cudaError_t cudaGetDeviceCount(int*);
[[nodiscard]] cudaError_t cudaDeviceGetLimit(std::size_t*, cudaLimit);
// For the host only.
[[nodiscard]] cudaError_t cudaSetDevice(int);
[[nodiscard]] cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int device);
[[nodiscard]] cudaError_t cudaDeviceSynchronize();
/// Frees all memory, destroys all streams and events, and sets all limits to their defaults. No
/// other thread may use the device meanwhile. Variables keep their values.
[[nodiscard]] cudaError_t cudaDeviceReset();
[[nodiscard]] cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t);

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
