// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/cpu/cuda_builtins.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "block.hpp"
#include "device.hpp"

namespace ramify::cpu {

using namespace builtins;

namespace {

bool reserved(cudaStream_t stream) {
  return stream == cudaStreamTailLaunch || stream == cudaStreamFireAndForget;
}

// Returns the state of `handle` for block `here`. Throws if another grid created the handle.
template <class Handle>
auto& resolve(block& here, Handle handle, const char* kind) {
  const auto [state, fault] = device::instance().find(handle, here.owner()->id);
  if (state == nullptr)
    here.violate(rule::foreign_stream, std::string("uses ") + kind + ' ' + fault);
  return *state;
}

stream_state& resolve(block& here, cudaStream_t handle) {
  return resolve(here, handle == nullptr ? here.null_stream() : handle, "a stream");
}

event_state& resolve(block& here, cudaEvent_t handle) { return resolve(here, handle, "an event"); }

// A device-side copy or fill is a grid of one thread, as on a GPU.
cudaError_t submit_memory_operation(std::function<void()> operation, cudaStream_t stream,
                                    const void* name, site written_at,
                                    std::initializer_list<const void*> pointers) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  if (block::current() == nullptr) {
    operation();
    return cudaSuccess;
  }
  std::vector<std::span<const std::byte>> arguments;
  for (const void* const& pointer : pointers) {
    arguments.push_back(std::as_bytes(std::span(&pointer, 1)));
  }
  return submit({std::move(operation), name, dim3(1), dim3(1), 0, written_at}, stream, arguments);
}

}  // namespace

cudaError_t submit(launch_request request, cudaStream_t stream,
                   std::span<const std::span<const std::byte>> arguments) {
  block* here = block::current();
  device& d = device::instance();
  if (here == nullptr) return d.launch_from_host(std::move(request), stream);

  here->check_arguments(arguments);
  stream_state* const target = reserved(stream) ? nullptr : &resolve(*here, stream);
  const cudaError_t error =
      d.launch_from_block(*here, std::move(request), target, stream == cudaStreamTailLaunch);
  if (error == cudaSuccess) here->scheduling_point();
  return error;
}

void allow_shared(const void* kernel, std::size_t bytes) {
  device::instance().allow_shared(kernel, bytes);
}

void wait_for_team(unsigned threads, site s) { block::current()->team_barrier(threads, s); }

std::uint64_t device_time() {
  if (device::instance().order() == schedule::parallel) {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  static std::atomic<std::uint64_t> steps = 0;
  return ++steps;
}

std::byte* dynamic_shared_memory() { return block::current()->dynamic_shared(); }

const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* builtin, site s) {
  return block::current()->exchange(mask, value, builtin, s);
}

unsigned lane_index() { return block::current()->linear_thread() % 32; }

void* heap_allocate(std::size_t bytes) { return device::instance().heap_allocate(bytes); }
void heap_free(void* memory) { device::instance().heap_free(memory); }

void report_ignored_failure(cudaError_t error, const void* kernel, site s) {
  const std::string what = "did not read the status of the launch of " + kernel_name(kernel) +
                           " at line " + std::to_string(s.line()) + ", which failed with " +
                           cudaGetErrorName(error);
  if (block* here = block::current()) here->violate(rule::ignored_launch_failure, what);
  throw rule_violation(rule::ignored_launch_failure, s.function_name(), "host", what);
}

namespace {

template <class Handle>
cudaError_t destroy(Handle handle) {
  block* here = block::current();
  if (here != nullptr) resolve(*here, handle);
  const std::uint64_t user = here == nullptr ? 0 : here->owner()->id;
  if (!device::instance().destroy(handle, user)) return cudaErrorInvalidResourceHandle;
  return here == nullptr ? device::instance().lasting_failure() : cudaSuccess;
}

}  // namespace

namespace builtins {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorLaunchPendingCountExceeded: return "cudaErrorLaunchPendingCountExceeded";
    case cudaErrorUnsupportedLimit: return "cudaErrorUnsupportedLimit";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    case cudaErrorUnknown: return "cudaErrorUnknown";
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorLaunchPendingCountExceeded:
      return "the pending-launch pool of the device runtime is used up";
    case cudaErrorUnsupportedLimit: return "limit is not supported on this architecture";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotSupported: return "operation not supported";
    case cudaErrorUnknown: return "unknown error";
  }
  return "unrecognized error code";
}

// ---- barriers and votes ----

void __syncthreads(site s) { block::current()->barrier(s); }

void __syncwarp(unsigned mask, site s) {
  static_cast<void>(warp_exchange(mask, 0, "__syncwarp", s));
}

namespace {

unsigned ballot(unsigned mask, int predicate, const char* builtin, site s) {
  return warp_exchange(mask, predicate != 0 ? 1 : 0, builtin, s).not_zero;
}

}  // namespace

unsigned __ballot_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__ballot_sync", s);
}

int __any_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__any_sync", s) != 0 ? 1 : 0;
}

int __all_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate == 0 ? 1 : 0, "__all_sync", s) == 0 ? 1 : 0;
}

// ---- streams and events ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  block* here = block::current();
  if (here != nullptr && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
  *stream = device::instance().make_stream(here == nullptr ? nullptr : here->owner().get());
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || reserved(stream)) return cudaErrorInvalidResourceHandle;
  return destroy(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return device::instance().begin_call(); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  block* here = block::current();
  if (here == nullptr) return device::instance().begin_call();
  if (reserved(stream) || event == nullptr) return cudaErrorInvalidResourceHandle;
  device::instance().wait(resolve(*here, stream), resolve(*here, event));
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  block* here = block::current();
  if (here != nullptr && flags != cudaEventDisableTiming) return cudaErrorInvalidValue;
  *event = device::instance().make_event(here == nullptr ? nullptr : here->owner().get(),
                                         (flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  block* here = block::current();
  if (here == nullptr) return device::instance().record_now(event);
  if (reserved(stream) || event == nullptr) return cudaErrorInvalidResourceHandle;
  device::instance().record(resolve(*here, event), resolve(*here, stream));
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return device::instance().begin_call(); }

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  return device::instance().elapsed(begin, end, *ms);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return destroy(event);
}

// ---- memory ----

namespace {

constexpr std::align_val_t device_alignment{256};

// More than any device has. A sanitizer would end the program on a larger request.
constexpr std::size_t max_allocation = std::size_t{1} << 39;

cudaError_t allocate(void** memory, std::size_t bytes) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  if (bytes > max_allocation) return cudaErrorMemoryAllocation;
  *memory = bytes == 0 ? nullptr : ::operator new(bytes, device_alignment, std::nothrow);
  if (*memory != nullptr) device::instance().count_allocations(1);
  return *memory != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t release(void* memory) {
  if (memory != nullptr) device::instance().count_allocations(-1);
  ::operator delete(memory, device_alignment);
  return device::instance().lasting_failure();
}

}  // namespace

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFreeHost(void* memory) { return release(memory); }

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream, site written_at) {
  if (bytes == 0) return cudaSuccess;
  return submit_memory_operation([=] { std::memmove(to, from, bytes); }, stream,
                                 reinterpret_cast<const void*>(&cudaMemcpyAsync), written_at,
                                 {to, from});
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream,
                            site written_at) {
  if (bytes == 0) return cudaSuccess;
  return submit_memory_operation([=] { std::memset(memory, value, bytes); }, stream,
                                 reinterpret_cast<const void*>(&cudaMemsetAsync), written_at,
                                 {memory});
}

// ---- devices and limits ----

cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return device::instance().begin_call();
}

cudaError_t cudaDeviceSynchronize() { return device::instance().begin_call(); }

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit which) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  return device::instance().limit(which, *value);
}

cudaError_t cudaDeviceSetLimit(cudaLimit which, std::size_t value) {
  if (const cudaError_t failure = device::instance().begin_call()) return failure;
  return device::instance().set_limit(which, value);
}

}  // namespace builtins
}  // namespace ramify::cpu
