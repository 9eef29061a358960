// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs variants of exercises under all schedules. The hole and the wrong answers must fail, and
/// the first failure must have the message that names the mistake. The solution must be right under
/// all.

#include <chrono>
#include <iomanip>
#include <sstream>

#include "exercise.hpp"

struct variant {
  std::string exercise;
  std::string name;     // hole, solution, or wrong_<number>
  std::string message;  // of a wrong answer
  int (*run)();
};

struct outcome {
  unsigned runs = 0;
  unsigned right = 0;
  std::string first_failure;  // what the first wrong run printed
};

inline void add_run(const variant& v, const std::string& schedule, outcome& all) {
  std::ostringstream printed;
  std::streambuf* const terminal = std::cout.rdbuf(printed.rdbuf());
#if !RAMIFY_ON_CUDA
  static_cast<void>(cudaDeviceReset());  // frees what an earlier run has not freed
#endif
  const int status = v.run();
  std::cout.rdbuf(terminal);
  ++all.runs;
  if (status == 0) ++all.right;
  if (status != 0 && all.first_failure.empty()) {
    all.first_failure = "under " + schedule + ": " + printed.str();
  }
}

inline outcome run_all([[maybe_unused]] const variant& v) {
  outcome all;
#if RAMIFY_ON_CUDA
  add_run(v, "a GPU", all);
#else
  std::vector<std::string> schedules{"eager", "late"};
  for (int i = 1; i <= 16; ++i) schedules.push_back("random:" + std::to_string(i));
  for (int i = 1; i <= 4; ++i) schedules.push_back("weak:" + std::to_string(i));
  // A wrong answer may have a data race, so it runs only where one block runs at a time.
  if (v.name == "solution") schedules.insert(schedules.end(), {"parallel", "parallel:1"});
  for (const std::string& schedule : schedules) {
    const ramify::cpu::scoped_executor_config order(ramify::cpu::parse_executor_config(schedule));
    add_run(v, schedule, all);
  }
#endif
  return all;
}

/// Returns the exit status for main(): 0 if all variants do what they should.
inline int check_variants(const std::vector<variant>& variants) {
  int status = 0;
  for (const variant& v : variants) {
    const auto begin = std::chrono::steady_clock::now();
    const outcome all = run_all(v);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const bool is_solution = v.name == "solution";
    const bool fails = all.right < all.runs;
    const bool good =
        is_solution ? !fails : fails && all.first_failure.find(v.message) != std::string::npos;
    const auto line = all.first_failure.substr(0, all.first_failure.find('\n'));
    std::cout << (good ? "" : "FAILED ") << v.exercise << ' ' << v.name << ": right under "
              << all.right << " of " << all.runs << ' ' << line << std::fixed
              << std::setprecision(2) << " (" << seconds.count() << " s)" << std::endl;
    if (good) continue;
    status = 1;
    if (!is_solution) std::cout << "  expected: " << v.message << '\n';
    std::cout << all.first_failure;
  }
  return status;
}
