// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Code that all exercises share: run() checks an answer once, and says what is wrong with it. The
/// schedule of the CPU executor is that of RAMIFY_CPU_SCHEDULE.

#include <cstdlib>
#include <ramify/runtime/detail/counted.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "launch_tree.hpp"
#include "lesson.hpp"

namespace exercise {

using lesson::device_array;
using ramify::detail::runtime::counted;

/// The answer is wrong. The message says what happened instead.
struct wrong_answer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws wrong_answer if the condition does not hold.
inline void expect(bool holds, const std::string& message) {
  if (!holds) throw wrong_answer(message);
}

#if !RAMIFY_ON_CUDA
inline const ramify::cpu::grid_log* log_of_run = nullptr;
#endif

/// Calls `use` with the grids that have run so far. On a GPU there is no such record, so `use` is
/// not called.
template <class Use>
void with_grids([[maybe_unused]] Use use) {
#if !RAMIFY_ON_CUDA
  use(grid_list(log_of_run->trace()));
#endif
}

/// Returns whether this is the schedule under which a child begins only when no older grid has a
/// block left to run. Then grids that may overlap do so, if the first one waits for a child.
inline bool children_begin_late() {
#if RAMIFY_ON_CUDA
  return false;
#else
  return ramify::cpu::current_executor_config().order == ramify::cpu::schedule::late;
#endif
}

/// Calls `test` while launch number `first` of the kernels (counted from 1), and all later ones,
/// fail as in a full pool of pending launches. On a GPU `test` is not called.
template <class Test>
void with_full_pool([[maybe_unused]] unsigned first, [[maybe_unused]] Test test) {
#if !RAMIFY_ON_CUDA
  ramify::cpu::executor_config config = ramify::cpu::current_executor_config();
  config.failing_launch = first;
  config.pool_stays_full = true;
  const ramify::cpu::scoped_executor_config full(config);
  test();
#endif
}

/// Prints the result of a failed check and, on the CPU executor, the launch tree. The environment
/// variable RAMIFY_EXERCISE_TRACE names a file for the trace (.html, .json or .dot). Returns the
/// exit status for main().
inline int failed(std::string_view kind, const char* message) {
  std::cout << kind << ": " << message << '\n';
#if !RAMIFY_ON_CUDA
  const ramify::launch_trace trace = log_of_run->trace();
  print_launch_tree(std::cout, trace);
  const char* const file = std::getenv("RAMIFY_EXERCISE_TRACE");
  if (file != nullptr && *file != '\0') {
    try {
      ramify::write_trace_file(file, trace);
    } catch (const std::exception& e) {
      std::cout << "the launch tree could not be written: " << e.what() << '\n';
    }
  }
#endif
  return 1;
}

/// Runs the check of an exercise. Returns 0 if the answer is right, 1 if not, and lesson::skipped
/// if there is no device. A launch tree deeper than `max_depth` counts as an endless
/// recursion. A wide tree needs a small one: else its run fills the pool and hardly ends.
///
/// A right answer prints the value of RAMIFY_EXERCISE_PROOF, by which learn.sh sees that the check
/// ran to its end: an answer that calls exit(0) ends with status 0, too.
template <class Test>
int run(Test test, [[maybe_unused]] unsigned max_depth = 500) {
  if (!lesson::has_device()) return lesson::skip("there is no CUDA device");
#if !RAMIFY_ON_CUDA
  ramify::cpu::executor_config config = ramify::cpu::current_executor_config();
  config.max_depth = max_depth;
  const ramify::cpu::scoped_executor_config limited(config);
  const ramify::cpu::grid_log log;
  log_of_run = &log;
  try {
    test();
  } catch (const wrong_answer& wrong) {
    return failed("wrong", wrong.what());
  } catch (const ramify::cpu::rule_violation& broken) {
    return failed("broken rule", broken.what());
  } catch (const std::exception& e) {
    return failed("error", e.what());
  }
#else
  try {
    test();
  } catch (const wrong_answer& wrong) {
    return failed("wrong", wrong.what());
  } catch (const std::exception& e) {
    return failed("error", e.what());
  }
#endif
  const char* const proof = std::getenv("RAMIFY_EXERCISE_PROOF");
  std::cout << "right" << (proof == nullptr ? "" : " ") << (proof == nullptr ? "" : proof) << '\n';
  return 0;
}

}  // namespace exercise
