// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch(): one spelling for a launch from the host, from a kernel, and on the CPU executor.
///
///     const auto status = launch(kernel, {blocks, threads}, fire_and_forget(), arguments...);
///     if (!status) ...  // status.code() says why; the grid will never run
///
/// From the host the launch is asynchronous (on the CPU executor: complete on return). From a
/// kernel the child may begin at once or much later, sees all that the launching thread wrote
/// before the launch, and must be given no pointer to local or shared memory. No kernel can wait
/// for its children: what needs their results belongs in a tail launch.

#include <cstddef>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <type_traits>
#include <utility>

#if !RAMIFY_ON_CUDA
#include <array>
#include <exception>
#include <memory>
#include <tuple>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// When a grid that the host launches may begin.
enum class stream_serialization {
  /// After the previous grid in its stream is complete.
  full,
  /// Programmatic dependent launch: blocks may become resident before the previous grid is complete,
  /// which saves 1 to 2 us (H200). The kernel must call grid_dependency_synchronize() before it touches
  /// memory, and supports_programmatic_launch() must be true for it.
  programmatic,
};

/// The shape of a grid: blocks, threads a block, bytes of dynamic shared memory a block.
struct launch_shape {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared;
  stream_serialization serialization =
      stream_serialization::full;  ///< a launch from a kernel ignores it
#if RAMIFY_ON_CUDA
  __host__ __device__ launch_shape(dim3 grid, dim3 block, std::size_t dynamic_shared = 0)
      : grid(grid), block(block), dynamic_shared(dynamic_shared) {}
#else
  site written_at;  // for the rule checker's messages
  launch_shape(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
               site written_at = site::current())
      : grid(grid), block(block), dynamic_shared(dynamic_shared), written_at(written_at) {}
#endif
};

/// How a launch went. It cannot be dropped silently: the compiler warns, and on the CPU executor a
/// failure that nobody looked at ends the run with a rule_violation.
class [[nodiscard("a launch can fail; look at its status")]] launch_status {
 public:
  /// True if the grid was launched.
  __host__ __device__ explicit operator bool() const {
    inspect();
    return code_ == cudaSuccess;
  }
  __host__ __device__ cudaError_t code() const {
    inspect();
    return code_;
  }

#if RAMIFY_ON_CUDA
  __host__ __device__ explicit launch_status(cudaError_t code) : code_(code) {}

 private:
  __host__ __device__ void inspect() const {}
#else
  launch_status(cudaError_t code, const void* kernel, site written_at)
      : kernel_(kernel), written_at_(written_at), code_(code) {}
  launch_status(const launch_status&) = delete;
  launch_status& operator=(const launch_status&) = delete;
  ~launch_status() noexcept(false) {
    if (code_ != cudaSuccess && !inspected_ && std::uncaught_exceptions() == 0) {
      cpu::report_ignored_failure(code_, kernel_, written_at_);
    }
  }

 private:
  void inspect() const { inspected_ = true; }
  const void* kernel_;
  site written_at_;
  mutable bool inspected_ = false;
#endif
  cudaError_t code_;
};

/// Waits until the grid before this one in its stream has ended, and lets the one behind it take its place.
/// Every thread. Grids that did not start early have nothing to wait for.
__device__ inline void grid_dependency_synchronize() {
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
#endif
}

/// launch(), for a launch that nobody records, or that has been recorded.
template <class... Parameters, class... Arguments>
__host__ __device__ launch_status launch_untraced(void (*kernel)(Parameters...),
                                                  const launch_shape& shape, cudaStream_t stream,
                                                  Arguments&&... arguments) {
#if !RAMIFY_ON_CUDA
  const std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
  // An old pointer in padding is nobody's; the rule checker must not find it, so it looks through
  // copies whose padding is cleared. (Not those that the kernel gets: GCC 12 clears too much where
  // an array of structs is in a struct.) Where the compiler cannot clear padding (clang 16),
  // arguments that may have some are not looked through.
#if __has_builtin(__builtin_clear_padding)
  [[maybe_unused]] constexpr bool padding_is_cleared = true;
  std::tuple<Parameters...> looked_through = copies;
  std::apply([](auto&... a) { (__builtin_clear_padding(&a), ...); }, looked_through);
#else
  [[maybe_unused]] constexpr bool padding_is_cleared = false;
  const std::tuple<Parameters...>& looked_through = copies;
#endif
  const auto bytes = std::apply(
      []<class... T>(const T&... a) {
        return std::array<std::span<const std::byte>, sizeof...(T)>{std::span(
            reinterpret_cast<const std::byte*>(std::addressof(a)),
            padding_is_cleared || std::has_unique_object_representations_v<T> ? sizeof(T) : 0)...};
      },
      looked_through);
  const void* name = reinterpret_cast<const void*>(kernel);
  return launch_status(cpu::submit({[=] { std::apply(kernel, copies); }, name, shape.grid,
                                    shape.block, shape.dynamic_shared, shape.written_at},
                                   stream, bytes),
                       name, shape.written_at);
#elif !defined(__CUDA_ARCH__)
  // Not <<<>>>, whose error can only be had together with errors of whatever was called before.
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared;
  config.stream = stream;
  cudaLaunchAttribute early{};
  if (shape.serialization == stream_serialization::programmatic) {
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &early;
    config.numAttrs = 1;
  }
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());  // told here, and nowhere else
  return launch_status(error);
#elif RAMIFY_DEVICE_LAUNCH
  static_cast<void>(cudaGetLastError());  // of an earlier call: this launch is not to blame
  kernel<<<shape.grid, shape.block, shape.dynamic_shared, stream>>>(
      std::forward<Arguments>(arguments)...);
  return launch_status(cudaGetLastError());
#else
  return launch_status(cudaErrorNotSupported);
#endif
}

/// Launches `kernel` into `stream`.
///
/// Arguments are copied bit by bit. Errors: cudaErrorInvalidConfiguration for an impossible shape;
/// from a kernel also cudaErrorLaunchPendingCountExceeded when the pending-launch pool is used up
/// (launch_slots keeps that from happening), and cudaErrorNotSupported in a build without
/// -rdc=true. From the host, an error that broke the device earlier shows up here too.
///
/// If a trace is switched on in one of the arguments, the launch is recorded, and the kernel gets the
/// argument with a ticket of its own (grid_trace.cuh).
template <class... Parameters, class... Arguments>
__host__ __device__ launch_status launch(void (*kernel)(Parameters...), const launch_shape& shape,
                                         cudaStream_t stream, Arguments&&... arguments) {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                "kernel arguments are copied bit by bit");
  if constexpr (trace_available && (has_ticket<Parameters> || ...)) {
    const trace_ticket ours = ticket_among<Parameters...>(arguments...);
    const launch_facts facts{{shape.grid.x, shape.grid.y, shape.grid.z},
                             {shape.block.x, shape.block.y, shape.block.z},
                             static_cast<unsigned>(shape.dynamic_shared)};
    const trace_ticket childs = ours.is_on() ? ours.for_child(facts, stream) : ours;
    return launch_untraced(kernel, shape, stream,
                           with_ticket<Parameters>(std::forward<Arguments>(arguments), childs)...);
  } else {
    return launch_untraced(kernel, shape, stream, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
