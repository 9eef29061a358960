// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The rules of dynamic parallelism that kernels check on a GPU, in a build with -DRAMIFY_CHECK=1.
///
/// The CPU executor always checks the rules (ramify/cpu/executor.hpp); a GPU checks a part of them,
/// with the same messages. A launch that breaks a rule is not made; its status is
/// cudaErrorNotPermitted. Kernels count broken rules and describe the first one, which
/// check_rules() reports. No kernel stops, because after a trap the process could not use the
/// device again.
///
/// In a message, the kernel is the function that contains the launch, and the argument counts from
/// 1. Without the definition, this header adds no code to kernels.

#include <ramify/runtime/check.cuh>

#if RAMIFY_CHECK
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#endif

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// What a kernel did.
enum class broken_rule {
  passes_local_pointer,
  passes_shared_pointer,
  passes_stream,
  passes_event,
  uses_foreign_stream,
  uses_foreign_event,
  ignores_failed_launch,
};

#if RAMIFY_CHECK

/// The place of a launch in the source.
struct launch_site {
  const char* function;
  unsigned line;
};

/// The number of broken rules, and a description of the first one.
struct broken_rules {
  static constexpr int name_capacity = 64;

  unsigned count;
  broken_rule rule;
  unsigned argument;  ///< number of the kernel argument; 0: none
  int error;          ///< of an ignored launch
  unsigned line;      ///< of an ignored launch
  uint3 block;
  uint3 thread;
  char kernel[name_capacity];
};

/// The count of the device, which all translation units of a device link share.
inline __device__ broken_rules broken_rules_of_device;

/// Counts a broken rule. The first one also writes its description.
__device__ inline void count_broken_rule(broken_rule rule, const char* kernel,
                                         unsigned argument = 0, int error = 0, unsigned line = 0) {
  broken_rules& all = broken_rules_of_device;
  if (atomicAdd(&all.count, 1u) != 0) return;
  all.rule = rule;
  all.argument = argument;
  all.error = error;
  all.line = line;
  all.block = blockIdx;
  all.thread = threadIdx;
  int i = 0;
  for (; i < broken_rules::name_capacity - 1 && kernel[i] != '\0'; ++i) all.kernel[i] = kernel[i];
  all.kernel[i] = '\0';
}

// ---- arguments ----------------------------------------------------------------------------------

/// Returns whether an address is neither in shared nor in local memory, and counts it if not.
/// `argument` is the number of the kernel argument that holds it.
__device__ inline bool check_address(const void* address, const char* kernel, unsigned argument) {
  if (address == nullptr) return true;
  const bool is_shared = __isShared(address) != 0;
  if (!is_shared && __isLocal(address) == 0) return true;
  count_broken_rule(
      is_shared ? broken_rule::passes_shared_pointer : broken_rule::passes_local_pointer, kernel,
      argument);
  return false;
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

/// Returns whether an argument of a launch in the function `kernel` is allowed, and counts it if
/// not. `argument` is its number.
template <class T>
__device__ bool check_argument([[maybe_unused]] const T& value, [[maybe_unused]] const char* kernel,
                               [[maybe_unused]] unsigned argument) {
  if constexpr (std::is_same_v<T, cudaStream_t> || std::is_same_v<T, cudaEvent_t>) {
    if (is_reserved(value)) return true;
    count_broken_rule(
        std::is_same_v<T, cudaStream_t> ? broken_rule::passes_stream : broken_rule::passes_event,
        kernel, argument);
    return false;
  } else if constexpr (std::is_pointer_v<T>) {
    if constexpr (!std::is_function_v<std::remove_pointer_t<T>>) {
      return check_address(const_cast<const void*>(static_cast<const volatile void*>(value)),
                           kernel, argument);
    }
  } else if constexpr (is_searched<T>) {
    bool allowed = true;
    for (unsigned at = 0; at + sizeof(void*) <= sizeof(T); at += sizeof(void*)) {
      const void* address = nullptr;
      memcpy(&address, reinterpret_cast<const char*>(&value) + at, sizeof address);
      allowed = check_address(address, kernel, argument) && allowed;
    }
    return allowed;
  }
  return true;
}

// ---- streams and events -------------------------------------------------------------------------

/// Returns the number of the running grid. No other grid has this number at the same time.
[[nodiscard]] __device__ inline unsigned long long grid_number() {
  unsigned long long number = 0;
  asm("mov.u64 %0, %%gridid;" : "=l"(number));
  return number;
}

/// The grid that created a stream or an event.
class handle_creator {
 public:
  __device__ handle_creator() : grid_(grid_number()) {}
  /// Returns whether that grid is running, and counts the broken rule if not.
  __device__ bool is_running(broken_rule rule, const char* function) const {
    if (grid_ == grid_number()) return true;
    count_broken_rule(rule, function);
    return false;
  }

 private:
  unsigned long long grid_;
};

// ---- messages -----------------------------------------------------------------------------------

/// Returns the message for a failed launch whose status was not read. `where` is the thread of the
/// launch, or "host".
[[nodiscard]] inline std::string ignored_launch_message(const std::string& kernel,
                                                        const std::string& where, unsigned line,
                                                        cudaError_t error) {
  return "failed launch ignored: kernel " + kernel + ", " + where +
         ": did not read the status of the launch at line " + std::to_string(line) +
         ", which failed with " + cudaGetErrorName(error);
}

/// Returns the message for the first broken rule.
[[nodiscard]] inline std::string message(const broken_rules& seen) {
  const auto text = [](const uint3& i) {
    return '(' + std::to_string(i.x) + ',' + std::to_string(i.y) + ',' + std::to_string(i.z) + ')';
  };
  const std::string where = "block " + text(seen.block) + ", thread " + text(seen.thread);
  const auto broken = [&](const char* rule, const std::string& what) {
    return std::string(rule) + ": kernel " + seen.kernel + ", " + where + ": " + what;
  };
  const auto passes = [&](const char* rule, const std::string& what) {
    return broken(rule,
                  "passes its child " + what + " in argument " + std::to_string(seen.argument));
  };
  constexpr auto outside = "stream or event used outside its grid";
  switch (seen.rule) {
    case broken_rule::passes_local_pointer:
      return passes("local pointer passed to a child", "a pointer to local memory");
    case broken_rule::passes_shared_pointer:
      return passes("shared pointer passed to a child", "a pointer to shared memory");
    case broken_rule::passes_stream: return passes(outside, "a stream");
    case broken_rule::passes_event: return passes(outside, "an event");
    case broken_rule::uses_foreign_stream:
      return broken(outside, "uses a stream that another grid created");
    case broken_rule::uses_foreign_event:
      return broken(outside, "uses an event that another grid created");
    case broken_rule::ignores_failed_launch: break;
  }
  return ignored_launch_message(seen.kernel, where, seen.line,
                                static_cast<cudaError_t>(seen.error));
}

#else

/// Without -DRAMIFY_CHECK=1 nothing is recorded or checked.
struct handle_creator {
  __device__ bool is_running(broken_rule, const char*) const { return true; }
};

#endif
}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Waits for the work in `stream`. Then checks that since the last call no kernel has broken a rule
/// of dynamic parallelism. Kernels of other streams count, too. The stream must not be captured.
///
/// Only a build for GPUs with -DRAMIFY_CHECK=1 does this. In other builds the function does
/// nothing. On the CPU executor, the host's launch of the faulty kernel throws instead.
/// \throws std::logic_error naming the first broken rule; cuda_error
inline void check_rules([[maybe_unused]] cudaStream_t stream = nullptr) {
#if RAMIFY_CHECK
  detail::broken_rules seen{};
  check(cudaMemcpyFromSymbolAsync(&seen, detail::broken_rules_of_device, sizeof seen, 0,
                                  cudaMemcpyDeviceToHost, stream),
        "reading the broken rules");
  check(cudaStreamSynchronize(stream), "waiting for kernels before reading the broken rules");
  if (seen.count == 0) return;
  const detail::broken_rules none{};
  check(cudaMemcpyToSymbolAsync(detail::broken_rules_of_device, &none, sizeof none, 0,
                                cudaMemcpyHostToDevice, stream),
        "clearing the broken rules");
  check(cudaStreamSynchronize(stream), "clearing the broken rules");
  std::string what = detail::message(seen);
  if (seen.count > 1) what += " (the first of " + std::to_string(seen.count) + ")";
  throw std::logic_error(what);
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD
