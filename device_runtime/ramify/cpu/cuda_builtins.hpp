// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CUDA built-ins and runtime calls, for a C++ compiler. device_runtime/README.md lists them.
///
/// Each one behaves as the CUDA C++ Programming Guide specifies. The CPU executor (executor.hpp)
/// replaces the device. The threads of a block are fibers on one operating-system thread.
/// Therefore `__shared__` variables are thread-local, and an operating-system thread completes a
/// block before it begins another.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ramify/cpu/arithmetic.hpp>
#include <ramify/cpu/atomics.hpp>
#include <ramify/cpu/runtime_api.hpp>
#include <ramify/cpu/vector_types.hpp>
#include <ramify/version.hpp>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
// clang-format off: the compiler prints this line, with its comment, for `extern __shared__`.
#define __shared__ static thread_local  // not `extern __shared__`: call ramify::dynamic_shared<T>()
// clang-format on
#define __forceinline__ inline __attribute__((always_inline))
// Empty: standard headers contain __attribute__((__noinline__)), which must stay valid.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// ---- built-in variables ------------------------------------------------------------------------

inline constinit thread_local uint3 threadIdx{0, 0, 0};
inline constinit thread_local uint3 blockIdx{0, 0, 0};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;

// ---- barriers, fences, warp votes, time --------------------------------------------------------

/// Waits for all threads of the block. Throws rule_violation if some of them never call it.
void __syncthreads(site = site::current());

/// Waits for the lanes in `mask`.
void __syncwarp(unsigned mask = 0xffffffffu, site = site::current());

[[nodiscard]] unsigned __ballot_sync(unsigned mask, int predicate, site = site::current());
[[nodiscard]] int __any_sync(unsigned mask, int predicate, site = site::current());
[[nodiscard]] int __all_sync(unsigned mask, int predicate, site = site::current());

/// Waits as __syncthreads() does. Returns the number of threads whose predicate is not 0.
[[nodiscard]] int __syncthreads_count(int predicate, site = site::current());
/// Waits as __syncthreads() does. Returns whether the predicate of every thread is not 0.
[[nodiscard]] int __syncthreads_and(int predicate, site = site::current());
/// Waits as __syncthreads() does. Returns whether the predicate of any thread is not 0.
[[nodiscard]] int __syncthreads_or(int predicate, site = site::current());

inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { __threadfence(); }

/// Returns a mask of the calling lane only, because on the executor the lanes of a warp run one
/// after another between two warp functions. A GPU may return any set of lanes that contains the
/// calling one.
[[nodiscard]] unsigned __activemask();

/// Returns device_time(). A GPU counts clock cycles instead.
[[nodiscard]] long long clock64();
/// Yields to another thread of the operating system. The argument is ignored.
void __nanosleep(unsigned nanoseconds);

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI

namespace ramify::cpu::inline RAMIFY_ABI {

/// Clears the padding of a copy of a kernel argument. Returns whether the compiler can: clang 16
/// cannot. GCC 12 clears wrong bytes in a struct where other members follow an array of structs of
/// more than 64 bytes: in such a struct the array comes last.
template <class T>
bool clear_padding([[maybe_unused]] void* copy) {
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(static_cast<T*>(copy));
  return true;
#else
  return false;
#endif
}

/// An argument of a launch, independent of its type. It refers to the value that the launch copies.
///
/// Padding may hold stale pointers, so the rule checker searches a copy with cleared padding. If
/// its padding cannot be cleared, an argument is not searched. The kernel gets another copy.
struct launch_argument {
  template <class T>
  launch_argument(const T& argument)
      : value(std::addressof(argument)), size(sizeof(T)), alignment(alignof(T)) {
    if constexpr (!std::has_unique_object_representations_v<T>) clear = &clear_padding<T>;
  }

  const void* value;
  std::size_t size;
  std::size_t alignment;
  bool (*clear)(void* copy) = nullptr;  ///< clear_padding(); null: there is no padding
};

/// Returns the argument, converted to the type of the kernel's parameter as in a call.
template <class Parameter>
__forceinline__ const Parameter& as_parameter(const std::type_identity_t<Parameter>& argument) {
  return argument;
}

/// Calls a kernel with these parameters, whose addresses are in `arguments`.
template <class... Parameters>
void call_kernel(const void* kernel, const void* const* arguments) {
  const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel));
  const auto call = [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    function(*static_cast<const Parameters*>(arguments[i])...);
  };
  call(std::make_integer_sequence<int, sizeof...(Parameters)>());
}

/// A launch, independent of the kernel's type.
struct launch_request {
  void (*thread)(const void* kernel, const void* const* arguments);  ///< the body of one thread
  const void* kernel;  ///< the kernel's address, from which messages get its name
  builtins::dim3 grid;
  builtins::dim3 block;
  std::size_t dynamic_shared;  ///< bytes
  builtins::site site;         ///< the source location of the launch
};

/// Launches a grid with copies of the arguments.
///
/// A call from the host returns when the grid and all its descendants are complete. A call from a
/// kernel passes the grid to the executor and returns. The rule checker searches the arguments for
/// pointers that a child must not get. \throws rule_violation
builtins::cudaError_t submit(const launch_request&, builtins::cudaStream_t,
                             std::initializer_list<launch_argument>);

/// As submit(), and keeps an error for cudaGetLastError(): a launch by `<<<>>>`. If no call of the
/// launching thread reads the error of a launch by a kernel, the error is printed when the run is
/// complete.
void submit_and_keep_error(const launch_request&, builtins::cudaStream_t,
                           std::initializer_list<launch_argument>);

/// Prints a warning, once for each argument of a launch in the source, if the host passes a kernel
/// the address of memory that a GPU may not be able to access: of none that a CUDA function or a
/// kernel allocated, and of no variable of the program. `number` counts the arguments from 1.
void warn_of_host_memory(const launch_request&, int number, const void* address);

/// Searches the arguments of a later launch as submit() does. Only a kernel calls it. \throws
/// rule_violation
void check_arguments(std::initializer_list<launch_argument>);

/// Allows launches of `kernel` with up to `bytes` bytes of dynamic shared memory, as
/// cudaFuncSetAttribute does on a GPU.
void allow_shared(const void* kernel, std::size_t bytes);

/// Returns the device clock in nanoseconds; under a reproducible schedule, the number of calls.
std::uint64_t device_time();

/// Returns the dynamic shared memory of the running block.
inline std::byte* dynamic_shared_memory() { return running_shared.begin; }

/// Waits as __syncthreads() does. The last thread to arrive calls work(state) before any thread
/// continues.
void wait_then_call(void (*work)(void* state), void* state, builtins::site);

/// Waits for all threads of the calling thread's team, which has `threads` consecutive threads.
void wait_for_team(unsigned threads, builtins::site);

/// Waits until no other thread of the block can run. Returns the mask of the lanes of the calling
/// warp that wait with it, at the same line.
unsigned converged_lanes(builtins::site);

/// The values that the lanes of a warp contribute to an exchange.
struct warp_values {
  std::uint64_t of_lane[32];
  unsigned not_zero;  ///< mask of the lanes whose value is not zero
  unsigned lanes;     ///< mask of the lanes that took part: a block may end within a warp
};

/// Waits for the lanes in `mask`, then returns the values of all of them.
///
/// `builtin` names the calling built-in in messages. The result is valid until the calling thread
/// waits again.
const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* builtin,
                                 builtins::site);

/// Allocates from the device heap of cudaLimitMallocHeapSize bytes. Returns null if the heap has no
/// such memory left.
void* heap_allocate(std::size_t bytes);
void heap_free(void*);

/// Throws the rule_violation for a failed launch whose status the program did not read.
[[noreturn]] void report_ignored_failure(builtins::cudaError_t, const void* kernel, builtins::site);

}  // namespace ramify::cpu::inline RAMIFY_ABI

#include <ramify/cpu/shuffles.hpp>
#include <ramify/cpu/unsupported.hpp>
