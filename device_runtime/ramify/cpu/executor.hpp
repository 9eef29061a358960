// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CPU executor runs the same kernel sources on a CPU, by the rules of the device runtime.
///
/// Each thread is a fiber. The fibers of a block share one operating-system thread. A launch from a
/// kernel makes a child grid with CUDA's ordering: per-block NULL stream, named non-blocking
/// streams, fire-and-forget, tail launch, events, and nested completion (a grid is complete when
/// its children are complete). A launch takes a slot of the pending-launch pool. The slot is free
/// again when the grid and its children are complete; tail launches of the grid may still run then.
/// If no slot is free, a launch returns cudaErrorLaunchPendingCountExceeded.
///
/// A launch from the host returns when the grid and all its descendants are complete.

#include <cstdint>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::cpu::inline RAMIFY_ABI {

/// When a child grid begins, within what its stream allows.
///
/// A program that follows the rules gives the same result under every schedule. `parallel` is the
/// fast one. The others run one block at a time and are reproducible.
enum class schedule {
  parallel,  ///< blocks are distributed over the cores; a child may begin at once
  eager,     ///< a child runs before its parent's launch returns
  late,      ///< a child begins when no older grid has a block left to run
  random,    ///< the next block is drawn at each launch, barrier and block end; the order of the
             ///< threads of a block is drawn too
  /// As random, and the next block is also drawn at some atomic operations on global memory. The
  /// writes of a block to device memory reach other blocks late, and it reads values that others
  /// have replaced, except as CUDA's memory model forbids: at __threadfence(), atomic operations
  /// with an order (ramify::cpu::atomic_ref), launches, and the begin and the end of a block.
  /// Atomic functions alone order no other writes. So a missing fence changes results. It delays
  /// writes to the smallest allocations of cudaMalloc(), 1 MiB in all, not to variables. During a
  /// launch, other threads of the host access this memory by calls only, such as cudaMemcpy().
  weak,
};

/// Configuration of the executor.
struct executor_config {
  schedule order = schedule::parallel;  ///< in which order grids and blocks run
  std::uint64_t seed = 0;               ///< of schedule::random and schedule::weak
  /// Operating-system threads of schedule::parallel; 0: one per core. At most 256 are used, or one
  /// per core if there are more cores. A kernel has as many resident blocks.
  unsigned workers = 0;
  /// Maximum number of blocks of schedule::eager and schedule::random that have begun and are not
  /// complete.
  unsigned live_blocks = 8;
  /// If not 0: the number of the launch from a kernel, counted from 1 since the configuration was
  /// set, that fails with cudaErrorLaunchPendingCountExceeded. For tests.
  std::uint64_t failing_launch = 0;
  /// Whether all launches from kernels after failing_launch fail too, as on a GPU whose
  /// pending-launch pool stays full. For tests.
  bool pool_stays_full = false;
  /// If not 0: the number of the CUDA call of the host, counted from 1 since the configuration was
  /// set, that fails with cudaErrorUnknown. Launches are calls; calls that free or destroy are not
  /// counted. For tests.
  std::uint64_t failing_call = 0;
  /// Whether all calls after failing_call fail too, as they do on a GPU after a fault in a kernel.
  /// Their error is cudaErrorLaunchFailure. A call that frees or destroys still does so.
  /// cudaDeviceReset() ends the failure.
  bool device_stays_failed = false;
  /// Maximum depth of a grid in the launch tree; 0: no limit. A grid that the host launched has
  /// depth 0. A launch that exceeds the limit breaks rule::endless_recursion. The environment
  /// variable RAMIFY_CPU_MAX_DEPTH sets the initial value.
  std::uint64_t max_depth = 1'000'000;
  /// Whether functions of Ramify refuse arrays in ordinary host memory, as they do on a GPU: a
  /// program that runs with this setting does not rely on the executor's kernels accessing all
  /// memory of the process. Pointers in the arguments of a program's own launches are not checked.
  /// The functions for plain C++ (ramify/*.hpp) copy such arrays, as on a GPU. The environment
  /// variable RAMIFY_CPU_MEMORY, any or device, sets the initial value.
  bool refuse_host_memory = false;
};

/// Parses "parallel", "parallel:4" (workers), "eager", "late", "random", "random:42" (seed), "weak"
/// or "weak:42" (seed).
/// \throws std::invalid_argument if `text` is none of these
[[nodiscard]] executor_config parse_executor_config(std::string_view text);

/// Returns executor_config.refuse_host_memory. Thread-safe.
[[nodiscard]] bool refuses_host_memory();

/// Returns the current configuration. Its initial value comes from the environment variable
/// RAMIFY_CPU_SCHEDULE, or is executor_config{}.
[[nodiscard]] executor_config current_executor_config();

/// Sets the configuration, and restores the former one at the end of the scope.
///
/// It applies to the whole process. No other thread may launch grids during construction and
/// destruction.
class [[nodiscard]] scoped_executor_config {
 public:
  /// Applies the configuration until the object is destroyed.
  explicit scoped_executor_config(const executor_config&);
  ~scoped_executor_config();
  scoped_executor_config(const scoped_executor_config&) = delete;
  scoped_executor_config& operator=(const scoped_executor_config&) = delete;

 private:
  executor_config former_;
};

/// Returns the number of grids that have begun since the process started, launched by the host or
/// by kernels.
[[nodiscard]] std::uint64_t grids_begun();

/// Returns the number of CUDA calls of the host since the configuration was set, without calls that
/// free or destroy.
[[nodiscard]] std::uint64_t host_calls();

/// Returns the number of existing streams, events, and allocations of device and pinned memory.
[[nodiscard]] std::uint64_t live_objects();

/// Returns the number of calls of cudaDeviceReset() since the process started.
[[nodiscard]] std::uint64_t resets();

/// The rules of dynamic parallelism that the executor checks.
enum class rule {
  local_pointer,           ///< a child got a pointer to its parent's local memory
  shared_pointer,          ///< a child got a pointer to its parent's shared memory
  foreign_stream,          ///< a stream or event was used outside the grid that created it
  divergent_barrier,       ///< some threads of the block, or of the mask, never reach a barrier
  ignored_launch_failure,  ///< a launch failed and the program did not read its status
  host_only_call,          ///< a kernel called a function of the CUDA runtime for the host
  endless_recursion,       ///< a launch exceeded executor_config.max_depth
  shared_overrun,          ///< a block wrote after its dynamic shared memory
};
[[nodiscard]] std::string_view to_string(rule);  ///< Returns the name of the rule.

/// A launch from the host throws it if a kernel broke a rule, in the launched grid or in one of its
/// descendants. The executor abandons these grids and can run the next launch.
class rule_violation : public std::logic_error {
 public:
  /// Makes the error of a rule; `where` names block and thread.
  rule_violation(rule broken, std::string kernel, std::string where, const std::string& what);

  [[nodiscard]] rule broken() const { return broken_; }  ///< Returns the rule that was broken.
  /// Returns the kernel's name, or its address if the program exports no names (link with
  /// -rdynamic).
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  /// Returns the place of the violation: "block (1,0,0), thread (7,0,0)", or "host".
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  rule broken_;
  std::string kernel_;
  std::string where_;
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
