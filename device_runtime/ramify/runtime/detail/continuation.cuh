// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Continuations: launches that are written to a record and made later, by a kernel that does not
/// have their types.
///
/// On a GPU the record has the content of the kernel's parameter buffer, which the device runtime
/// launches (cudaGetParameterBufferV2, cudaLaunchDeviceV2: what nvcc makes of <<<>>>). A function
/// of the record could not launch it: a kernel whose registers are limited cannot call a function
/// that needs more, and any kernel may have to launch a continuation. The CPU executor calls a
/// function.

#include <new>
#include <ramify/runtime/detail/call_state.cuh>
#include <type_traits>

#if !RAMIFY_ON_CUDA
#include <tuple>
#endif

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The arguments of a kernel. (std::tuple has no functions for kernels.)
template <class... Parameters>
struct kernel_arguments {
  __device__ static kernel_arguments of() { return {}; }
  template <class Use, class... Before>
  __device__ decltype(auto) pass(const Use& use, const Before&... before) const {
    return use(before...);
  }
};
template <class First, class... Rest>
struct kernel_arguments<First, Rest...> {
  First first;
  [[no_unique_address]] kernel_arguments<Rest...> rest;

  __device__ static kernel_arguments of(const First& first, const Rest&... rest) {
    return {first, kernel_arguments<Rest...>::of(rest...)};
  }
  /// Returns use(before..., arguments...).
  template <class Use, class... Before>
  __device__ decltype(auto) pass(const Use& use, const Before&... before) const {
    return rest.pass(use, before..., first);
  }
};

/// A kernel that runs when a call is complete.
template <class... Parameters>
struct continuation {
  void (*kernel)(Parameters...);
  launch_shape shape;
  kernel_arguments<Parameters...> arguments;
};

/// Where the parameters of a kernel are: each at the next multiple of its alignment.
template <class... Parameters>
struct parameter_layout {
  static constexpr std::size_t bytes = [] {
    std::size_t end = 0;
    ((end = (end + alignof(Parameters) - 1) / alignof(Parameters) * alignof(Parameters) +
            sizeof(Parameters)),
     ...);
    return end;
  }();
  static constexpr unsigned tickets = (0u + ... + (has_ticket<Parameters> ? 1u : 0u));
};

/// A launch in a record.
struct kept_launch {
  static constexpr std::size_t capacity = 192;  ///< bytes of parameters
  static constexpr unsigned max_tickets = 4;

  const void* kernel;
  launch_shape shape;
  unsigned bytes;    ///< of the parameters
  unsigned tickets;  ///< among the parameters
  unsigned short ticket_at[max_tickets];
  /// On the CPU executor: launches the kernel with these parameters.
  launch_status (*launch)(const kept_launch&, const trace_ticket&);
  alignas(16) unsigned char parameters[capacity];

  __device__ explicit kept_launch(const launch_shape& of_grid) : shape(of_grid) {}

  /// Appends the next parameter.
  template <class Parameter>
  __device__ void add(const Parameter& parameter) {
    bytes = (bytes + unsigned{alignof(Parameter)} - 1) / alignof(Parameter) * alignof(Parameter);
    auto* const placed = new (static_cast<void*>(parameters + bytes)) Parameter(parameter);
    bytes += sizeof(Parameter);
    if constexpr (trace_available && has_ticket<Parameter>) {
      const unsigned char* at = reinterpret_cast<unsigned char*>(placed);
      if constexpr (holds_ticket<Parameter>) at = reinterpret_cast<unsigned char*>(&placed->trace);
      ticket_at[tickets++] = static_cast<unsigned short>(at - parameters);
    }
  }
};
static_assert(sizeof(kept_launch) <= call_record::capacity);

#if !RAMIFY_ON_CUDA
/// Launches a kernel with the parameters of a kept_launch.
template <class... Parameters>
launch_status launch_kept(const kept_launch& kept, const trace_ticket& trace) {
  const auto kernel = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kept.kernel));
  std::size_t end = 0;
  const auto next = [&]<class Parameter>(const Parameter*) -> Parameter {
    end = (end + alignof(Parameter) - 1) / alignof(Parameter) * alignof(Parameter);
    const auto* const at = reinterpret_cast<const Parameter*>(kept.parameters + end);
    end += sizeof(Parameter);
    return with_ticket<Parameter>(*at, trace);
  };
  // The elements of a braced list are evaluated in order.
  const std::tuple<Parameters...> arguments{next(static_cast<const Parameters*>(nullptr))...};
  return std::apply(
      [&](const Parameters&... a) {
        return ramify::launch(kernel, kept.shape, fire_and_forget(), a...);
      },
      arguments);
}
#endif

/// Returns whether a grid may get the arguments of a continuation.
template <class... Parameters>
[[nodiscard]] __device__ bool may_be_kept(const continuation<Parameters...>& next) {
  return next.arguments.pass([&](const Parameters&... arguments) {
#if RAMIFY_CHECK
    return check_kept_arguments(next.shape.written_at.function, arguments...);
#else
    return check_kept_arguments("", arguments...);
#endif
  });
}

/// Writes the continuation of a call to a record. `plan` is the number of the call's plan.
template <class... Parameters>
__device__ __forceinline__ void write_continuation(call_record& record, unsigned plan,
                                                   const continuation<Parameters...>& next) {
  using layout = parameter_layout<Parameters...>;
  static_assert(!trace_available || layout::tickets <= kept_launch::max_tickets,
                "a continuation has at most four arguments with a ticket of a trace");
  record.keeps = call_record::a_continuation;
  record.plan = plan;
  auto& kept = *new (static_cast<void*>(record.content)) kept_launch(next.shape);
  kept.kernel = reinterpret_cast<const void*>(next.kernel);
  kept.bytes = kept.tickets = 0;
#if !RAMIFY_ON_CUDA
  kept.launch = launch_kept<Parameters...>;
#endif
  next.arguments.pass([&](const Parameters&... arguments) { (kept.add(arguments), ...); });
}

/// Launches what a record keeps. Returns the error. One thread calls it.
[[nodiscard]] __device__ __forceinline__ cudaError_t
launch_continuation(const kept_launch& kept, const trace_ticket& trace) {
#if !RAMIFY_ON_CUDA
  return kept.launch(kept, trace).code();
#elif defined(__CUDA_ARCH__) && RAMIFY_DEVICE_LAUNCH
  const launch_shape& shape = kept.shape;
  void* const buffer = cudaGetParameterBufferV2(const_cast<void*>(kept.kernel), shape.grid,
                                                shape.block, shape.dynamic_shared);
  if (buffer == nullptr) {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaErrorLaunchPendingCountExceeded : error;
  }
  memcpy(buffer, kept.parameters, kept.bytes);
  if constexpr (trace_available) {
    if (kept.tickets > 0 && trace.is_on()) {
      const launch_facts facts{{shape.grid.x, shape.grid.y, shape.grid.z},
                               {shape.block.x, shape.block.y, shape.block.z},
                               static_cast<unsigned>(shape.dynamic_shared)};
      const trace_ticket child = trace.for_child(facts, fire_and_forget());
      for (unsigned i = 0; i < kept.tickets; ++i) {
        memcpy(static_cast<unsigned char*>(buffer) + kept.ticket_at[i], &child, sizeof child);
      }
    }
  }
  return cudaLaunchDeviceV2(buffer, fire_and_forget());
#else
  return cudaErrorNotSupported;
#endif
}

/// Launches a continuation on a slot of its own, and releases its record. Returns false, with
/// nothing changed, if there is no slot or the launch fails.
[[nodiscard]] __device__ __forceinline__ bool resume_continuation(call_state& calls,
                                                                  unsigned record,
                                                                  const trace_ticket& trace) {
  if (!calls.acquire(1)) return false;
  const cudaError_t error = launch_continuation(calls.records[record].as<kept_launch>(), trace);
  if (!calls.conclude(error, "the continuation", calls.records[record].plan + 1)) {
    calls.release(1);
    return false;
  }
  calls.hold(1);
  calls.free_records.release(record);
  return true;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
