// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CUDA context that memory, streams and events belong to. cudaDeviceReset() destroys them with
/// the context of the current device.
///
/// What Ramify keeps for a device (memory pool, count of launch slots, pinned chunks) is kept by
/// context_id, so it is made again in a new context. If a run began in a destroyed context, its
/// completion throws std::logic_error. Owning objects of a destroyed context destroy nothing.

#include <map>
#include <memory>
#include <mutex>
#include <ramify/runtime/check.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#if RAMIFY_ON_CUDA
#include <cuda.h>
#else
#include <ramify/cpu/executor.hpp>
#include <ramify/version.hpp>
#endif

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Identifies a context. Each context of the process, on any device, has another number; 0: none.
using context_id = unsigned long long;

/// A small allocation that identifies a context. A reset frees it. The driver may then give its
/// address to another allocation, but never its buffer id.
struct context_marker {
  context_id id = 0;
  void* memory = nullptr;
  unsigned long long buffer_id = 0;
};
struct context_markers {
  std::mutex mutex;
  std::map<int, context_marker> of_device;
  context_id last = 0;
};

/// Returns the markers of the CUDA devices, which all CUDA builds of a program share. They are
/// never destroyed, because objects that live until the program ends use them.
template <bool on_cuda>
context_markers& all_context_markers() {
  static auto& all = *new context_markers;
  return all;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_BUILD {

/// Sets the capture mode of the calling thread to relaxed for the scope. The thread may then make
/// calls that a capture forbids, if they concern no captured stream: for example, allocate memory.
class [[nodiscard]] relaxed_capture_scope {
 public:
#if RAMIFY_ON_CUDA
  relaxed_capture_scope() { exchange(); }
  ~relaxed_capture_scope() { exchange(); }
  relaxed_capture_scope(const relaxed_capture_scope&) = delete;
  relaxed_capture_scope& operator=(const relaxed_capture_scope&) = delete;

 private:
  void exchange() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
#else
  relaxed_capture_scope() {}
#endif
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// Returns a function of the driver by its name. The program does not link the driver's library.
/// \throws cuda_error
[[nodiscard]] inline void* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found),
        "looking up a function of the driver");
#else
  check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found),
        "looking up a function of the driver");
#endif
  if (function == nullptr || found != cudaDriverEntryPointSuccess) {
    throw cuda_error(cudaErrorUnknown, std::string("the driver has no function ") + name);
  }
  return function;
}

/// Reads the buffer id of a marker's memory into `id`; ids are unique in the process. Returns the
/// driver's error. \throws cuda_error if the driver lacks the function
[[nodiscard]] inline CUresult read_buffer_id(const context_marker& marker, unsigned long long& id) {
  using function = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);
  static const auto get = reinterpret_cast<function>(driver_function("cuPointerGetAttribute"));
  return get(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, reinterpret_cast<CUdeviceptr>(marker.memory));
}

/// Returns whether the context of a marker exists. After a fault in a kernel it still exists.
[[nodiscard]] inline bool exists(const context_marker& marker) {
  if (marker.memory == nullptr) return false;
  unsigned long long now = 0;
  switch (read_buffer_id(marker, now)) {
    case CUDA_SUCCESS: return now == marker.buffer_id;
    case CUDA_ERROR_INVALID_VALUE:  // there is no allocation at the address
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED: return false;
    default: return true;  // the device has failed, and the next call of the caller reports it
  }
}

/// Returns the id of the context of `device`, which must be the current one. The id changes with
/// each cudaDeviceReset(). Thread-safe. \throws cuda_error
[[nodiscard]] inline context_id current_context(int device = current_device()) {
  context_markers& all = all_context_markers<true>();
  const std::lock_guard lock(all.mutex);
  context_marker& marker = all.of_device[device];
  if (exists(marker)) return marker.id;
  marker = {};
  const relaxed_capture_scope here;  // the marker belongs to no capture
  context_marker made;
  check(cudaMalloc(&made.memory, 1), "allocating the marker of a context");
  if (const CUresult failed = read_buffer_id(made, made.buffer_id); failed != CUDA_SUCCESS) {
    static_cast<void>(cudaFree(made.memory));
    throw cuda_error(static_cast<int>(failed), "reading the id of the marker of a context: error " +
                                                   std::to_string(static_cast<int>(failed)));
  }
  made.id = ++all.last;
  marker = made;
  return marker.id;
}

/// Returns whether the context with this id still exists. Thread-safe.
[[nodiscard]] inline bool context_exists(context_id id) {
  context_markers& all = all_context_markers<true>();
  const std::lock_guard lock(all.mutex);
  for (const auto& [device, marker] : all.of_device) {
    if (marker.id == id) return exists(marker);
  }
  return false;
}

#else

/// Returns the id of the executor's context. The id changes with each cudaDeviceReset().
/// Thread-safe.
[[nodiscard]] inline context_id current_context(int = 0) { return cpu::resets() + 1; }
/// Returns whether the context with this id still exists. Thread-safe.
[[nodiscard]] inline bool context_exists(context_id id) { return id == current_context(); }

#endif

/// Identifies what a result of once_per_context() belongs to: a context, and on the CPU executor
/// also the configured number of workers, which is the number of resident blocks.
using context_and_workers = std::pair<context_id, unsigned>;

/// Returns the current context and number of workers. Thread-safe. \throws cuda_error
[[nodiscard]] inline context_and_workers current_context_and_workers() {
#if RAMIFY_ON_CUDA
  return {current_context(), 0};
#else
  return {current_context(), cpu::current_executor_config().workers};
#endif
}

/// Returns the result of compute() in the current context. Each function object type is called once
/// in a context, on the CPU executor once for each number of workers; further calls return the
/// first result. Thread-safe. \throws what compute() throws; cuda_error
template <class Compute>
const std::invoke_result_t<Compute>& once_per_context(const Compute& compute) {
  // Never destroyed, because destructors of global objects may call.
  static std::mutex mutex;
  static auto& results = *new std::map<context_and_workers, std::invoke_result_t<Compute>>;
  const context_and_workers now = current_context_and_workers();
  const std::lock_guard lock(mutex);
  const auto known = results.find(now);
  return known != results.end() ? known->second : results[now] = compute();
}

/// Checks that the context `made_in`, in which an object was made, still exists. `object` names the
/// object in the message. \throws std::logic_error if a reset has destroyed the context
inline void require_context(context_id made_in, const char* object) {
  if (context_exists(made_in)) return;
  throw std::logic_error(std::string(object) +
                         " began before a cudaDeviceReset(), which has destroyed its memory; start "
                         "it again");
}

/// Destroys a handle with the CUDA function `destroy`, unless its context was destroyed before. A
/// destructor must not throw, so it ignores the error: the call fails only if the device has
/// failed, and then the next call reports it.
template <auto destroy>
struct destroyed_by {
  context_id made_in = 0;  ///< 0: the handle belongs to no context
  template <class T>
  void operator()(T* handle) const {
    if (made_in == 0 || context_exists(made_in)) static_cast<void>(destroy(handle));
  }
};

/// An owning, move-only handle or pointer to memory, which `destroy` destroys. A moved-from handle
/// is null.
template <class Handle, auto destroy>
using unique_handle = std::unique_ptr<std::remove_pointer_t<Handle>, destroyed_by<destroy>>;

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
