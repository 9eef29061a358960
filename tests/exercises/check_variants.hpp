// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs variants of exercises under all schedules. The hole and the wrong answers must fail, and
/// the first failure must have the message that names the mistake. The solution must be right under
/// all. Also writes which schedules show which mistake: rows of the table in mistakes.md.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <vector>

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
  std::string first_failure;       // what the first wrong run printed
  std::vector<std::string> wrong;  // schedules

  /// Returns the first line of the first failure.
  [[nodiscard]] std::string first_line() const {
    return first_failure.substr(0, first_failure.find('\n'));
  }
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
  if (status == 0) {
    ++all.right;
  } else {
    all.wrong.push_back(schedule);
  }
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

/// Writes a row: the exercise, the variant, its wrong runs under eager, late, random and weak, and
/// what the first one printed, without the place of a broken rule.
inline void write_row(std::ostream& rows, const variant& v, const outcome& all) {
  rows << v.exercise << '\t' << v.name;
  for (const char* const schedule : {"eager", "late", "random", "weak"}) {
    rows << '\t' << std::ranges::count_if(all.wrong, [&](const std::string& wrong) {
      return wrong.starts_with(schedule);
    });
  }
  std::string line = all.first_line();
  line.erase(0, line.find(": ") + 2);  // "under late: "
  if (line.starts_with("wrong: ")) line.erase(0, 7);
  rows << '\t' << line.substr(0, line.find(": kernel ")) << '\n';
}

/// Returns the exit status for main(): 0 if all variants do what they should.
inline int check_variants(const std::vector<variant>& variants, std::ostream& rows) {
  int status = 0;
  for (const variant& v : variants) {
    const auto begin = std::chrono::steady_clock::now();
    const outcome all = run_all(v);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const bool is_solution = v.name == "solution";
    const bool fails = all.right < all.runs;
    if (v.name.starts_with("wrong")) write_row(rows, v, all);
    const bool good =
        is_solution ? !fails : fails && all.first_failure.find(v.message) != std::string::npos;
    std::cout << (good ? "" : "FAILED ") << v.exercise << ' ' << v.name << ": right under "
              << all.right << " of " << all.runs << ' ' << all.first_line() << std::fixed
              << std::setprecision(2) << " (" << seconds.count() << " s)" << std::endl;
    if (good) continue;
    status = 1;
    if (!is_solution) std::cout << "  expected: " << v.message << '\n';
    std::cout << all.first_failure;
  }
  return status;
}

/// The main function of a program of variants. Without arguments it checks all variants; with the
/// name of a file it also writes their rows. With a variant and a number it runs this variant so
/// often, and prints how many runs were wrong, and what the first one of them printed.
inline int variants_main(const std::vector<variant>& variants,
                         const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) {
    std::ofstream rows;
    if (!arguments.empty()) rows.open(arguments[0]);
    const int status = check_variants(variants, rows);
    rows.close();
    if (arguments.empty() || rows) return status;
    std::cout << "FAILED: cannot write " << arguments[0] << '\n';
    return 1;
  }
  for (const variant& v : variants) {
    if (v.name != arguments[0]) continue;
    outcome all;
    for (int runs = std::stoi(arguments[1]); runs > 0; --runs) add_run(v, "this", all);
    std::cout << all.runs - all.right << '\t' << all.first_line() << '\n';
    return 0;
  }
  std::cout << "there is no variant " << arguments[0] << '\n';
  return 1;
}
