// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The rules of dynamic parallelism that kernels check on a GPU, in a build with -DRAMIFY_CHECK=1.
///
/// The CPU executor always checks the rules (ramify/cpu/executor.hpp); a GPU checks a part of them,
/// with the same messages. A kernel that breaks a rule at a launch prints the message and stops all
/// kernels of the device by a trap: the host's next CUDA call fails, and only cudaDeviceReset()
/// makes the device usable again. A failed launch whose status no kernel reads stops no kernel. It
/// is counted, and check_ignored_launches() reports it.
///
/// In a message, the kernel is the function that contains the launch, and the argument counts from
/// 1. Without the definition, this header adds no code to kernels.

#include <ramify/runtime/check.cuh>

#if RAMIFY_CHECK
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The place of a launch in the source.
struct launch_site {
  const char* function;
  unsigned line;
};

/// Prints the message of a broken rule and stops all kernels of the device. `argument` is the
/// number of a kernel argument, which is printed after `what`; 0: none.
__device__ inline void break_rule(const char* rule, const char* kernel, const char* what,
                                  unsigned argument = 0) {
  if (argument == 0) {
    printf("%s: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s\n", rule, kernel, blockIdx.x,
           blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, what);
  } else {
    printf("%s: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): %s %u\n", rule, kernel, blockIdx.x,
           blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, what, argument);
  }
  __trap();
}

// ---- arguments ----------------------------------------------------------------------------------

/// Checks that an address is neither in shared nor in local memory. `argument` is the number of the
/// kernel argument that holds it.
__device__ inline void check_address(const void* address, const char* kernel, unsigned argument) {
  if (address == nullptr) return;
  if (__isShared(address) != 0) {
    break_rule("shared pointer passed to a child", kernel,
               "passes its child a pointer to shared memory in argument", argument);
  }
  if (__isLocal(address) != 0) {
    break_rule("local pointer passed to a child", kernel,
               "passes its child a pointer to local memory in argument", argument);
  }
}

/// True if the bytes of a type are searched for pointers: a class without padding and without
/// floating-point members. Padding may hold stale pointers, and device code cannot clear it.
template <class T>
inline constexpr bool is_searched =
    std::is_class_v<T> && sizeof(T) >= sizeof(void*) && std::has_unique_object_representations_v<T>;

/// Returns whether a handle is null or one of CUDA's predefined streams, such as fire_and_forget().
__device__ inline bool is_reserved(const void* handle) {
  // Predefined streams are the numbers up to 4. Those of graphs differ in the most significant byte
  // only.
  return (reinterpret_cast<std::uintptr_t>(handle) & 0x00ff'ffff'ffff'ffffull) <= 4;
}

/// Checks one argument of a launch in the function `kernel`. `argument` is its number.
template <class T>
__device__ void check_argument([[maybe_unused]] const T& value, [[maybe_unused]] const char* kernel,
                               [[maybe_unused]] unsigned argument) {
  if constexpr (std::is_same_v<T, cudaStream_t> || std::is_same_v<T, cudaEvent_t>) {
    if (is_reserved(value)) return;
    break_rule("stream or event used outside its grid", kernel,
               std::is_same_v<T, cudaStream_t> ? "passes its child a stream in argument"
                                               : "passes its child an event in argument",
               argument);
  } else if constexpr (std::is_pointer_v<T>) {
    if constexpr (!std::is_function_v<std::remove_pointer_t<T>>) {
      check_address(const_cast<const void*>(static_cast<const volatile void*>(value)), kernel,
                    argument);
    }
  } else if constexpr (is_searched<T>) {
    for (unsigned at = 0; at + sizeof(void*) <= sizeof(T); at += sizeof(void*)) {
      const void* address = nullptr;
      memcpy(&address, reinterpret_cast<const char*>(&value) + at, sizeof address);
      check_address(address, kernel, argument);
    }
  }
}

// ---- streams and events -------------------------------------------------------------------------

/// Returns the number of the running grid. No other grid has this number at the same time.
[[nodiscard]] __device__ inline unsigned long long grid_number() {
  unsigned long long number = 0;
  asm("mov.u64 %0, %%gridid;" : "=l"(number));
  return number;
}

/// Checks that the running grid is the one that created a stream or event. `what` is "uses a stream
/// that another grid created", or the same for an event.
__device__ inline void check_creator(unsigned long long creator, const char* what,
                                     const char* function) {
  if (creator == grid_number()) return;
  break_rule("stream or event used outside its grid", function, what);
}

// ---- failed launches whose status is not read ---------------------------------------------------

/// Counts the failed launches by kernels whose status was not read, and describes the first one.
struct ignored_launches {
  static constexpr int name_capacity = 64;

  unsigned count;
  int error;
  unsigned line;  ///< of the launch
  uint3 block;
  uint3 thread;
  char kernel[name_capacity];
};

/// The count of the device, which all translation units of a device link share.
inline __device__ ignored_launches ignored_launches_of_device;

/// Counts a failed launch whose status was not read. The first one also writes its description.
__device__ inline void count_ignored_launch(cudaError_t error, const launch_site& site) {
  ignored_launches& all = ignored_launches_of_device;
  if (atomicAdd(&all.count, 1u) != 0) return;
  all.error = static_cast<int>(error);
  all.line = site.line;
  all.block = blockIdx;
  all.thread = threadIdx;
  int i = 0;
  for (; i < ignored_launches::name_capacity - 1 && site.function[i] != '\0'; ++i) {
    all.kernel[i] = site.function[i];
  }
  all.kernel[i] = '\0';
}

/// Returns the message for a failed launch whose status was not read. `where` is the thread of the
/// launch, or "host".
[[nodiscard]] inline std::string ignored_launch_message(const std::string& kernel,
                                                        const std::string& where, unsigned line,
                                                        cudaError_t error) {
  return "failed launch ignored: kernel " + kernel + ", " + where +
         ": did not read the status of the launch at line " + std::to_string(line) +
         ", which failed with " + cudaGetErrorName(error);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Waits for the work in `stream`. Then checks that since the last call no kernel has ignored a
/// failed launch(). Kernels of other streams count, too. The stream must not be captured.
///
/// Only a build for GPUs with -DRAMIFY_CHECK=1 does this. In other builds the function does
/// nothing. On the CPU executor, the host's launch of the faulty kernel throws instead.
/// \throws std::logic_error naming the first ignored launch; cuda_error
inline void check_ignored_launches([[maybe_unused]] cudaStream_t stream = nullptr) {
#if RAMIFY_CHECK
  detail::ignored_launches seen{};
  check(cudaMemcpyFromSymbolAsync(&seen, detail::ignored_launches_of_device, sizeof seen, 0,
                                  cudaMemcpyDeviceToHost, stream),
        "reading the launches that were ignored");
  check(cudaStreamSynchronize(stream), "waiting for kernels before reading ignored launches");
  if (seen.count == 0) return;
  const detail::ignored_launches none{};
  check(cudaMemcpyToSymbolAsync(detail::ignored_launches_of_device, &none, sizeof none, 0,
                                cudaMemcpyHostToDevice, stream),
        "clearing the launches that were ignored");
  check(cudaStreamSynchronize(stream), "clearing the launches that were ignored");
  const auto text = [](const uint3& i) {
    return '(' + std::to_string(i.x) + ',' + std::to_string(i.y) + ',' + std::to_string(i.z) + ')';
  };
  std::string what = detail::ignored_launch_message(
      seen.kernel, "block " + text(seen.block) + ", thread " + text(seen.thread), seen.line,
      static_cast<cudaError_t>(seen.error));
  if (seen.count > 1) what += " (the first of " + std::to_string(seen.count) + ")";
  throw std::logic_error(what);
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD
