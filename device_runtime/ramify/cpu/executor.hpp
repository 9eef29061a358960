// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The CPU executor: the device runtime's rules on a CPU, for the same kernel sources.
///
/// A thread is a fiber, a block is all its fibers on one operating-system thread, and a launch from
/// a kernel makes a child grid with CUDA's ordering: per-block NULL stream, named non-blocking
/// streams, fire-and-forget, tail launch, events, nested completion (a grid is complete when its
/// children are). A launch takes a slot of the pending-launch pool from the call until the grid
/// begins; an empty pool answers cudaErrorLaunchPendingCountExceeded.
///
/// A launch from the host returns when the grid and everything below it is complete.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::cpu {

/// When a child grid begins, among the moments that its stream allows.
///
/// A program that follows the rules gives the same result under all of them. `parallel` is the fast
/// one; the others run one block at a time and are reproducible.
enum class schedule {
  parallel,  ///< blocks spread over the cores; a child may begin at once
  eager,     ///< a child runs before its parent's launch returns
  late,      ///< a child begins when no older grid has a block left to run
  random,  ///< whose turn it is, is drawn at each launch, barrier and block end, as is the order of
           ///< a block's threads
};

struct executor_config {
  schedule order = schedule::parallel;
  std::uint64_t seed = 0;    ///< of schedule::random
  unsigned workers = 0;      ///< operating-system threads of schedule::parallel; 0: one per core
  unsigned live_blocks = 8;  ///< most blocks that eager and random hold half-run at a time
  /// Not 0: this launch from a kernel, counted from 1 since the configuration is in force, fails with
  /// cudaErrorLaunchPendingCountExceeded. Tests use it.
  std::uint64_t failing_launch = 0;
};

/// Reads "parallel", "parallel:4" (workers), "eager", "late", "random", "random:42" (seed).
/// \throws std::invalid_argument naming what is wrong
[[nodiscard]] executor_config parse_executor_config(std::string_view text);

/// The configuration in force. It starts as the environment variable RAMIFY_CPU_SCHEDULE says, or
/// as executor_config{}.
[[nodiscard]] executor_config current_executor_config();

/// Puts a configuration in force, and the former one back at the end of the scope. For the whole
/// process: not while another thread launches grids.
class [[nodiscard]] scoped_executor_config {
 public:
  explicit scoped_executor_config(const executor_config&);
  ~scoped_executor_config();
  scoped_executor_config(const scoped_executor_config&) = delete;
  scoped_executor_config& operator=(const scoped_executor_config&) = delete;

 private:
  executor_config former_;
};

/// Grids that have begun since the process did, launched from the host or from kernels.
[[nodiscard]] std::uint64_t grids_begun();

/// The rules of dynamic parallelism that the executor checks.
enum class rule {
  local_pointer,           ///< a child was handed a pointer to its parent's local memory
  shared_pointer,          ///< a child was handed a pointer to its parent's shared memory
  foreign_stream,          ///< a stream or event was used outside the grid that made it
  divergent_barrier,       ///< a barrier that part of a block, or of a mask, never reaches
  ignored_launch_failure,  ///< a launch failed and nobody looked at the error
};
[[nodiscard]] std::string_view to_string(rule);

/// Thrown by the host call that launched the grid in which a rule was broken. The grids of that
/// call are abandoned; the executor is ready for the next one.
class rule_violation : public std::logic_error {
 public:
  rule_violation(rule broken, std::string kernel, std::string where, const std::string& what);

  [[nodiscard]] rule broken() const { return broken_; }
  /// The kernel's name, or its address where the program exports no names (link with -rdynamic).
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  /// "block (1,0,0), thread (7,0,0)", or "host".
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  rule broken_;
  std::string kernel_;
  std::string where_;
};

}  // namespace ramify::cpu
