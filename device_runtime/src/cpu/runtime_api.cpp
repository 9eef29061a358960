// SPDX-License-Identifier: BSD-3-Clause
// The calls of the CUDA runtime, by the host and by kernels.
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>
#include <ramify/cpu/cuda_builtins.hpp>
#include <string>
#include <thread>
#include <vector>

#include "block.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "kernel_heap.hpp"
#include "weak_memory.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

namespace {

cudaError_t& last_error() {
  static thread_local cudaError_t of_host = cudaSuccess;
  block* const here = block::current();
  return here == nullptr ? of_host : here->last_error();
}

cudaError_t& read_last_error() {
  if (block* const here = block::current()) here->error_was_read();
  return last_error();
}

/// Keeps a failure for cudaGetLastError(). Returns `error`.
cudaError_t keep(cudaError_t error) {
  if (error != cudaSuccess) last_error() = error;
  return error;
}

/// Counts a call of the host. Returns the error that executor_config.failing_call requests for it,
/// or cudaSuccess. Calls that free or destroy do not call it.
cudaError_t begin_call() { return keep(device::instance().begin_call()); }

/// Throws if a kernel calls. `call` is the name of the function.
void require_host(const char* call = __builtin_FUNCTION()) {
  block* const here = block::current();
  if (here == nullptr) return;
  std::string what = "calls " + std::string(call) + "(), which nvcc does not compile in a kernel";
  if (what.find("Synchronize") != std::string::npos) {
    what +=
        ": a kernel cannot wait for its children (CDP2); launch the work that needs their results "
        "into cudaStreamTailLaunch";
  }
  here->violate(rule::host_only_call, what);
}

cudaError_t begin_host_call(const char* call = __builtin_FUNCTION()) {
  require_host(call);
  return begin_call();
}

/// Returns the result of `make`, or cudaErrorMemoryAllocation if it throws std::bad_alloc.
template <class Make>
cudaError_t keep_result(Make make) {
  try {
    return keep(make());
  } catch (const std::bad_alloc&) {
    if (block::current() != nullptr) throw;  // it ends the run
    return keep(cudaErrorMemoryAllocation);
  }
}

template <class Handle>
cudaError_t destroy(Handle handle) {
  block* const here = block::current();
  if (here != nullptr) resolve(*here, handle);
  const std::uint64_t user = here == nullptr ? 0 : here->owner()->id;
  if (!device::instance().destroy(handle, user)) return cudaErrorInvalidResourceHandle;
  return here == nullptr ? device::instance().lasting_failure() : cudaSuccess;
}

// More than any device has. A sanitizer would end the program on a larger request.
constexpr std::size_t max_allocation = std::size_t{1} << 39;

cudaError_t release(void* memory) {
  if (memory != nullptr && !device::instance().release(memory)) {
    return keep(cudaErrorInvalidValue);
  }
  return keep(device::instance().lasting_failure());
}

/// Returns whether an address is in the heap of kernels, which no call of the host can access.
bool in_heap(const void* address) { return kernel_heap::holds(address); }

/// An operation on memory, by the interface of call_kernel().
using memory_operation = decltype(launch_request::thread);

template <class T>
T value_of(const void* argument) {
  return *static_cast<const T*>(argument);
}

// A device-side copy or fill is a grid of one thread, as on a GPU.
cudaError_t submit_memory_operation(memory_operation operation, cudaStream_t stream,
                                    const void* name, site written_at,
                                    const std::array<launch_argument, 3>& arguments) {
  const auto& [to, from, bytes] = arguments;
  return submit({operation, name, dim3(1), dim3(1), 0, written_at}, stream, {to, from, bytes});
}

// Copies and fills by the host, at once and without memory.
cudaError_t copy_by_host(void* to, const void* from, std::size_t bytes) {
  if (const cudaError_t failure = begin_call()) return failure;
  if (in_heap(to) || in_heap(from)) return keep(cudaErrorInvalidValue);
  const weak_memory::host_access access;
  if (bytes != 0) std::memmove(access.at(to, bytes), access.at(from, bytes), bytes);
  return cudaSuccess;
}
cudaError_t fill_by_host(void* memory, int value, std::size_t bytes) {
  if (const cudaError_t failure = begin_call()) return failure;
  if (in_heap(memory)) return keep(cudaErrorInvalidValue);
  const weak_memory::host_access access;
  if (bytes != 0) std::memset(access.at(memory, bytes), value, bytes);
  return cudaSuccess;
}

/// Notes that work of the host has entered a stream, unless it failed. Returns `error`.
cudaError_t put_into(cudaStream_t stream, cudaError_t error) {
  if (error == cudaSuccess) static_cast<void>(device::instance().set_has_new_work(stream, true));
  return error;
}

/// Returns the error of a kernel that uses this event with this stream, or cudaSuccess. The guide
/// states that neither of the reserved streams takes part in records and waits.
cudaError_t error_of(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return reserved(stream) ? cudaErrorInvalidValue : cudaSuccess;
}

/// Returns whether the host may use a stream or an event, as an error code. All its work is done.
template <class Handle>
cudaError_t status_of(Handle handle, const char* call = __builtin_FUNCTION()) {
  if (const cudaError_t failure = begin_host_call(call)) return failure;
  const bool is_null_stream = std::is_same_v<Handle, cudaStream_t> && handle == nullptr;
  const bool valid = is_null_stream || device::instance().find(handle, 0).state != nullptr;
  return keep(valid ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

}  // namespace

void submit_and_keep_error(const launch_request& request, cudaStream_t stream,
                           std::initializer_list<launch_argument> arguments) {
  const cudaError_t earlier = last_error();  // a launch that succeeds does not clear it
  const cudaError_t error = submit(request, stream, arguments);
  last_error() = error == cudaSuccess ? earlier : error;
  block* const here = block::current();
  if (error != cudaSuccess && here != nullptr) {
    here->keep_failed_launch(request.kernel, request.site);
  }
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// ---- errors ----

cudaError_t cudaGetLastError() { return std::exchange(read_last_error(), cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return read_last_error(); }

// ---- streams and events ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t failure = begin_call()) return failure;
  block* here = block::current();
  if (here != nullptr && flags != cudaStreamNonBlocking) return keep(cudaErrorInvalidValue);
  return keep_result([&] {
    *stream = device::instance().make_stream(here == nullptr ? nullptr : here->owner().get());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  require_host();
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || reserved(stream)) return keep(cudaErrorInvalidResourceHandle);
  return keep(destroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t failure = status_of(stream)) return failure;
  static_cast<void>(device::instance().set_has_new_work(stream, false));
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t failure = status_of(stream)) return failure;
  const bool has_new_work = device::instance().set_has_new_work(stream, false);
  const bool is_late = device::instance().order() == schedule::late;
  return keep(has_new_work && is_late ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t failure = begin_call()) return failure;
  block* here = block::current();
  if (here == nullptr) return cudaSuccess;
  if (const cudaError_t error = error_of(event, stream)) return keep(error);
  device::instance().wait(resolve(*here, stream), resolve(*here, event));
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t failure = begin_call()) return failure;
  block* here = block::current();
  if (here != nullptr && flags != cudaEventDisableTiming) return keep(cudaErrorInvalidValue);
  return keep_result([&] {
    *event = device::instance().make_event(here == nullptr ? nullptr : here->owner().get(),
                                           (flags & cudaEventDisableTiming) == 0);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  require_host();
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t failure = begin_call()) return failure;
  block* here = block::current();
  if (here == nullptr) return keep(device::instance().record_now(event));
  if (const cudaError_t error = error_of(event, stream)) return keep(error);
  device::instance().record(resolve(*here, event), resolve(*here, stream));
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return status_of(event); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return status_of(event); }

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  return keep(device::instance().elapsed(begin, end, *ms));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return keep(cudaErrorInvalidResourceHandle);
  return keep(destroy(event));
}

// ---- memory ----

cudaError_t allocate_untyped(void** memory, std::size_t bytes, std::size_t element,
                             cudaMemoryType type, const char* host_only) {
  if (host_only != nullptr) require_host(host_only);
  if (const cudaError_t failure = begin_call()) return failure;
  if (bytes > max_allocation) return keep(cudaErrorMemoryAllocation);
  device& d = device::instance();
  void* const allocated = bytes == 0                    ? nullptr
                          : block::current() != nullptr ? d.heap_allocate(bytes)
                                                        : d.allocate(bytes, type, element);
  if (allocated == nullptr && bytes != 0) return keep(cudaErrorMemoryAllocation);
  *memory = allocated;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  if (block::current() == nullptr) return release(memory);
  const bool is_freed = memory == nullptr || device::instance().heap_free(memory);
  return keep(is_freed ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* memory) {
  require_host();
  return release(memory);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  require_host();
  return release(memory);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  require_host();
  return copy_by_host(to, from, bytes);
}

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  require_host();
  return fill_by_host(memory, value, bytes);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream, site written_at) {
  if (bytes == 0) return cudaSuccess;
  if (block::current() == nullptr) return put_into(stream, copy_by_host(to, from, bytes));
  return keep(submit_memory_operation(
      [](const void*, const void* const* a) {
        std::memmove(value_of<void*>(a[0]), value_of<const void*>(a[1]),
                     value_of<std::size_t>(a[2]));
      },
      stream, reinterpret_cast<const void*>(&cudaMemcpyAsync), written_at, {to, from, bytes}));
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream,
                            site written_at) {
  if (bytes == 0) return cudaSuccess;
  if (block::current() == nullptr) return put_into(stream, fill_by_host(memory, value, bytes));
  return keep(submit_memory_operation(
      [](const void*, const void* const* a) {
        std::memset(value_of<void*>(a[0]), value_of<int>(a[1]), value_of<std::size_t>(a[2]));
      },
      stream, reinterpret_cast<const void*>(&cudaMemsetAsync), written_at, {memory, value, bytes}));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  const cudaMemoryType type = device::instance().type_of(pointer);
  const bool is_registered = type != cudaMemoryTypeUnregistered;
  void* const memory = is_registered ? const_cast<void*>(pointer) : nullptr;
  *attributes = {type, is_registered ? 0 : -1, memory,
                 type == cudaMemoryTypeDevice ? nullptr : memory};
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  *free = page * static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
  *total = page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return cudaSuccess;
}

// ---- the device and its limits ----

cudaError_t cudaGetDevice(int* number) {
  if (const cudaError_t failure = begin_call()) return failure;
  *number = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (const cudaError_t failure = begin_call()) return failure;
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  return keep(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  if (device != 0) return keep(cudaErrorInvalidDevice);
  *properties = {.name = "Ramify CPU executor",
                 .totalGlobalMem = 0,
                 .sharedMemPerBlock = std::size_t{48} << 10,
                 .sharedMemPerBlockOptin = std::size_t{227} << 10,
                 .warpSize = warpSize,
                 .maxThreadsPerBlock = 1024,
                 .maxThreadsDim = {1024, 1024, 64},
                 .maxGridSize = {2'147'483'647, 65'535, 65'535},
                 .multiProcessorCount = static_cast<int>(std::thread::hardware_concurrency()),
                 .major = 0,
                 .minor = 0};
  std::size_t free = 0;
  return cudaMemGetInfo(&free, &properties->totalGlobalMem);
}

cudaError_t cudaDeviceSynchronize() { return begin_host_call(); }

cudaError_t cudaDeviceReset() {
  require_host();
  device::instance().reset();
  last_error() = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit which) {
  if (const cudaError_t failure = begin_call()) return failure;
  return keep(device::instance().limit(which, *value));
}

cudaError_t cudaDeviceSetLimit(cudaLimit which, std::size_t value) {
  if (const cudaError_t failure = begin_host_call()) return failure;
  return keep(device::instance().set_limit(which, value));
}

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
