// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch(): launches a kernel from the host, from a kernel, and on the CPU executor.
///
///     const auto status = launch(kernel, {blocks, threads}, fire_and_forget(), arguments...);
///     if (!status) ...  // status.code() is the error; the grid will never run
///
/// A launch from the host is asynchronous; on the CPU executor it is complete on return. A grid
/// that a kernel launches may begin at once or later. It sees all writes of the launching thread
/// before the launch. Its arguments must not point to local or shared memory. On a GPU, a build
/// with -DRAMIFY_CHECK=1 checks this (rule_checks.cuh). A kernel cannot wait for its children
/// (CDP2): use a tail launch for work that needs their results.
///
/// CDP2 is the default device runtime since CUDA 12. Below compute capability 9.0,
/// -DCUDA_FORCE_CDP1_IF_SUPPORTED selects the former one (CDP1), which Ramify does not use.

#include <cstddef>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/rule_checks.cuh>
#include <type_traits>
#include <utility>

#if !RAMIFY_ON_CUDA || RAMIFY_CHECK
#include <exception>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// When a grid that the host launches may begin, relative to the previous grid in its stream.
enum class stream_serialization {
  /// After the previous grid in its stream is complete.
  full,
  /// Programmatic dependent launch: blocks may become resident before the previous grid is
  /// complete, which saves 1 to 2 us (H200). The kernel must call grid_dependency_synchronize()
  /// before it accesses memory, and supports_programmatic_launch() must be true for it.
  programmatic,
};

/// The shape of a grid: blocks, threads per block, bytes of dynamic shared memory per block.
struct launch_shape {
  dim3 grid;                   ///< blocks
  dim3 block;                  ///< threads of a block
  std::size_t dynamic_shared;  ///< bytes of a block
  /// For launches from the host. A launch from a kernel ignores it.
  stream_serialization serialization = stream_serialization::full;
#if RAMIFY_CHECK
  detail::launch_site written_at;  // for messages
  __host__ __device__ launch_shape(dim3 blocks, dim3 threads, std::size_t shared_bytes = 0,
                                   const char* function = __builtin_FUNCTION(),
                                   unsigned line_number = __builtin_LINE())
      : grid(blocks),
        block(threads),
        dynamic_shared(shared_bytes),
        written_at{function, line_number} {}
#elif RAMIFY_ON_CUDA
  /// Stores the shape. `shared_bytes` are the bytes of dynamic shared memory of a block.
  __host__ __device__ launch_shape(dim3 blocks, dim3 threads, std::size_t shared_bytes = 0)
      : grid(blocks), block(threads), dynamic_shared(shared_bytes) {}
#else
  site written_at;  // for the rule checker's messages
  launch_shape(dim3 blocks, dim3 threads, std::size_t shared_bytes = 0, site here = site::current())
      : grid(blocks), block(threads), dynamic_shared(shared_bytes), written_at(here) {}
#endif
};

/// The result of a launch. The program must read it: the compiler warns if it is discarded. On the
/// CPU executor an unread failure ends the run with a rule_violation. In a build for GPUs with
/// -DRAMIFY_CHECK=1, an unread failure in a kernel is counted (check_rules()), and the
/// destructor of an unread failure on the host throws std::logic_error.
class [[nodiscard("a launch can fail; check its status")]] launch_status {
 public:
  /// True if the grid was launched.
  __host__ __device__ explicit operator bool() const {
    inspect();
    return code_ == cudaSuccess;
  }
  /// Returns the error of the launch, or cudaSuccess if the grid was launched.
  __host__ __device__ cudaError_t code() const {
    inspect();
    return code_;
  }

#if RAMIFY_CHECK
  __host__ __device__ launch_status(cudaError_t code, const launch_shape& shape)
      : written_at_(shape.written_at), code_(code) {}
  launch_status(const launch_status&) = delete;
  launch_status& operator=(const launch_status&) = delete;
  __host__ __device__ ~launch_status() noexcept(false) {
    if (code_ == cudaSuccess || inspected_) return;
#if defined(__CUDA_ARCH__)
    detail::count_broken_rule(detail::broken_rule::ignores_failed_launch, written_at_.function, 0,
                              code_, written_at_.line);
#else
    if (std::uncaught_exceptions() != 0) return;
    throw std::logic_error(
        detail::ignored_launch_message(written_at_.function, "host", written_at_.line, code_));
#endif
  }

 private:
  __host__ __device__ void inspect() const { inspected_ = true; }
  detail::launch_site written_at_;
  mutable bool inspected_ = false;
#elif RAMIFY_ON_CUDA
  /// Makes the status of a launch of this shape.
  __host__ __device__ launch_status(cudaError_t code, const launch_shape&) : code_(code) {}

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

/// Waits for the previous grid in the stream, then allows the next one to be scheduled
/// (programmatic dependent launch). In a grid that was launched with stream_serialization::full it
/// returns at once.
///
/// Each thread must call it before it accesses what earlier grids in the stream access: only the
/// calling thread waits. Each block must have a thread that calls it, even if the block accesses
/// nothing of theirs. Otherwise the next grid, which waits only for this one, may run before the
/// previous one has ended.
__device__ inline void grid_dependency_synchronize() {
#if RAMIFY_ON_CUDA && defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns whether a grid may get these arguments of a later launch. Where the rules are checked,
/// it reports arguments that it must not get, as a launch does. `function` is the calling function.
template <class... Parameters>
[[nodiscard]] __device__ bool check_kept_arguments(
    [[maybe_unused]] const char* function, [[maybe_unused]] const Parameters&... arguments) {
  [[maybe_unused]] bool allowed = true;
#if !RAMIFY_ON_CUDA
  cpu::check_arguments({arguments...});
#elif RAMIFY_CHECK
  unsigned argument = 0;
  ((allowed = check_argument<Parameters>(arguments, function, ++argument) && allowed), ...);
#endif
  return allowed;
}

/// Launches a kernel without recording the launch in a trace. launch() calls it. Inlined, because
/// there are as many instances as kernels, and compilers without optimization compile each.
template <class... Parameters, class... Arguments>
__host__ __device__ __forceinline__ launch_status launch_untraced(void (*kernel)(Parameters...),
                                                                  const launch_shape& shape,
                                                                  cudaStream_t stream,
                                                                  Arguments&&... arguments) {
#if !RAMIFY_ON_CUDA
  const void* const name = reinterpret_cast<const void*>(kernel);
  return {cpu::submit({&cpu::call_kernel<Parameters...>, name, shape.grid, shape.block,
                       shape.dynamic_shared, shape.written_at},
                      stream, {cpu::as_parameter<Parameters>(arguments)...}),
          name, shape.written_at};
#elif !defined(__CUDA_ARCH__)
  // Not <<<>>>: cudaGetLastError() after it may return the error of an earlier call.
  cudaLaunchConfig_t config{shape.grid, shape.block, shape.dynamic_shared, stream, nullptr, 0};
  cudaLaunchAttribute programmatic{};
  if (shape.serialization == stream_serialization::programmatic) {
    programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    programmatic.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &programmatic;
    config.numAttrs = 1;
  }
  const cudaError_t error =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());  // clears the error
  return {error, shape};
#elif RAMIFY_DEVICE_LAUNCH
#if RAMIFY_CHECK
  unsigned argument = 0;
  bool allowed = true;
  ((allowed =
        check_argument<Parameters>(arguments, shape.written_at.function, ++argument) && allowed),
   ...);
  if (!allowed) return {cudaErrorNotPermitted, shape};
#endif
  static_cast<void>(cudaGetLastError());  // clears the error of an earlier call
  kernel<<<shape.grid, shape.block, shape.dynamic_shared, stream>>>(
      std::forward<Arguments>(arguments)...);
  return {cudaGetLastError(), shape};
#else
  return {cudaErrorNotSupported, shape};
#endif
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Launches `kernel` into `stream`, with bitwise copies of the arguments. It does not synchronize.
///
/// The status is cudaErrorInvalidConfiguration for an invalid shape; on the host of a GPU it may be
/// cudaErrorInvalidValue. In a kernel it may also be
/// cudaErrorLaunchPendingCountExceeded if the pending-launch pool is used up (launch_slots prevents
/// that), and cudaErrorNotSupported in a build without -rdc=true. On the host it may also be an
/// earlier error of the device.
///
/// If an argument holds the ticket of a trace that is on, launch() records the grid and passes the
/// kernel that argument with the grid's own ticket (grid_trace.cuh).
template <class... Parameters, class... Arguments>
__host__ __device__ launch_status launch(void (*kernel)(Parameters...), const launch_shape& shape,
                                         cudaStream_t stream, Arguments&&... arguments) {
  static_assert((detail::is_kernel_argument<Parameters> && ...),
                "kernel arguments are copied bit by bit");
  static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                "launch() passes another number of arguments than the kernel has parameters");
  if constexpr (sizeof...(Arguments) != sizeof...(Parameters)) {
    __builtin_unreachable();  // the assertion is the only message
  } else if constexpr (trace_available && (detail::has_ticket<Parameters> || ...)) {
    const trace_ticket ours = detail::ticket_among<Parameters...>(arguments...);
    const detail::launch_facts facts{{shape.grid.x, shape.grid.y, shape.grid.z},
                                     {shape.block.x, shape.block.y, shape.block.z},
                                     static_cast<unsigned>(shape.dynamic_shared)};
    const trace_ticket child = ours.is_on() ? ours.for_child(facts, stream) : ours;
    return detail::launch_untraced(
        kernel, shape, stream,
        detail::with_ticket<Parameters>(std::forward<Arguments>(arguments), child)...);
  } else {
    return detail::launch_untraced(kernel, shape, stream, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
