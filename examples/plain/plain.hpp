// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What translated CUDA calls on the CPU executor. try.sh includes it before the source, as nvcc
/// includes cuda_runtime.h.

#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <ramify/runtime/cuda.hpp>
#include <type_traits>

#if !defined(__clang__)
// CUDA sources use `volatile` in ways that C++20 deprecates.
#pragma GCC diagnostic ignored "-Wvolatile"
#endif

namespace ramify::plain {

/// The launch of a kernel, without its arguments.
template <class... Parameters>
class pending_launch {
 public:
  pending_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared,
                 cudaStream_t stream, site written_at)
      : kernel_(kernel),
        grid_(grid),
        block_(block),
        shared_(shared),
        stream_(stream),
        written_at_(written_at) {}

  /// Launches. The error is that of the next cudaGetLastError().
  void operator()(Parameters... values) const {
    static_assert((std::is_trivially_copyable_v<Parameters> && ...),
                  "kernel arguments are copied bit by bit");
    const cpu::launch_request request{&cpu::call_kernel<Parameters...>,
                                      reinterpret_cast<const void*>(kernel_),
                                      grid_,
                                      block_,
                                      shared_,
                                      written_at_};
    int number = 0;
    (check_pointer(request, ++number, values), ...);
    cpu::submit_and_keep_error(request, stream_, {values...});
  }

 private:
  template <class T>
  static void check_pointer(const cpu::launch_request& request, int number, const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      constexpr bool is_handle = std::is_same_v<T, cudaStream_t> || std::is_same_v<T, cudaEvent_t>;
      constexpr bool is_function = std::is_function_v<std::remove_pointer_t<T>>;
      if constexpr (!is_handle && !is_function) {
        cpu::warn_of_host_memory(request, number,
                                 const_cast<const void*>(static_cast<const volatile void*>(value)));
      }
    }
  }

  void (*kernel_)(Parameters...);
  dim3 grid_;
  dim3 block_;
  std::size_t shared_;
  cudaStream_t stream_;
  site written_at_;
};

/// kernel<<<grid, block, shared, stream>>>
template <class... Parameters>
pending_launch<Parameters...> launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                     std::size_t shared = 0, cudaStream_t stream = nullptr,
                                     site written_at = site::current()) {
  return {kernel, grid, block, shared, stream, written_at};
}

/// The same for a kernel that only a call can choose: a template whose arguments are deduced, an
/// overloaded kernel, or one with default arguments. `call` calls it.
template <class Call>
auto launch_call(Call call, dim3 grid, dim3 block, std::size_t shared = 0,
                 cudaStream_t stream = nullptr, site written_at = site::current()) {
  return [=]<class... Arguments>(const Arguments&... arguments) {
    launch(static_cast<void (*)(std::decay_t<Arguments>...)>(call), grid, block, shared, stream,
           written_at)(arguments...);
  };
}

/// Returns the block's dynamic shared memory as a pointer: `extern __shared__ T name[]`.
template <class T>
T*& dynamic_shared() {
  return reinterpret_cast<T*&>(cpu::running_shared.begin);
}

/// The PTX instruction bfind.u32: the position of the highest bit that is set.
inline unsigned bfind(unsigned value) { return static_cast<unsigned>(std::bit_width(value)) - 1; }

/// As cudaGetDeviceProperties(), with the compute capability of an H200: programs compare it with
/// 3.5, the first one with dynamic parallelism.
inline cudaError_t device_properties(cudaDeviceProp* properties, int device) {
  const cudaError_t error = cudaGetDeviceProperties(properties, device);
  if (error == cudaSuccess) properties->major = 9;
  return error;
}

/// As cudaGetSymbolAddress(): a variable of the device is one of the program.
template <class T>
cudaError_t symbol_address(void** address, const T& variable) {
  *address = const_cast<void*>(static_cast<const volatile void*>(&variable));
  return cudaSuccess;
}

/// Ends a program that does not catch the report of a broken rule.
[[noreturn]] inline void print_and_exit() {
  std::fflush(stdout);
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    std::fputs("terminated\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
  } catch (...) {
    std::fputs("error: an exception that is not a std::exception\n", stderr);
  }
  std::quick_exit(1);  // writes the trace of RAMIFY_CPU_TRACE
}
inline const std::terminate_handler former_handler = std::set_terminate(print_and_exit);

}  // namespace ramify::plain

#define cudaGetDeviceProperties(...) ::ramify::plain::device_properties(__VA_ARGS__)
#define cudaGetSymbolAddress(...) ::ramify::plain::symbol_address(__VA_ARGS__)

// The translator replaces these words.
#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
