// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The main program of all ladders: it runs each rung, checks its result, measures its time, and
/// prints the results as text or as a table.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ramify/runtime/detail/counted.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/stream.cuh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

namespace ladder {

using namespace ramify;

/// The report and the time of one run of a rung with a correct result.
struct run_result {
  run_report report;
  double ms = 0;  ///< time between events in the stream; wall-clock time on the CPU executor
};

/// One rung. A Problem is constructed from a size and a stream, or from a size, a stream and the
/// name of an input; it has
///
///     using rung_function = ...;  // the type of a rung
///     std::size_t size() const;   // the actual size
///     run_result run(rung_function, cudaStream_t, launch_trace* or null);  // throws if wrong
///     double run_baseline();      // milliseconds of the baseline
template <class Problem>
struct rung {
  const char* name;
  const char* change;  ///< the change from the previous rung
  std::size_t most;    ///< the largest size to run
  typename Problem::rung_function function;
};

/// A kind of input.
struct ladder_input {
  const char* name;   ///< of --input
  std::size_t small;  ///< the size for all rungs
  std::size_t large;  ///< the second size, for rungs whose `most` allows it
};

template <class Problem>
struct ladder_description {
  const char* name;
  const char* unit;                             ///< unit of sizes
  const char* baseline;                         ///< describes run_baseline()
  std::vector<ladder_input> inputs;             ///< the first one is the default
  std::optional<std::size_t> pending_launches;  ///< size of the pool; none: unchanged
  std::vector<rung<Problem>> rungs;
};

/// Constructs the Problem of `n` of an input.
template <class Problem>
Problem make_problem(std::size_t n, cudaStream_t stream, const ladder_input& input) {
  if constexpr (std::is_constructible_v<Problem, std::size_t, cudaStream_t, std::string_view>) {
    return Problem(n, stream, input.name);
  } else {
    return Problem(n, stream);
  }
}

/// The measured result of a rung or of the baseline.
struct outcome {
  run_report report;
  double ms = 0;  ///< median
  unsigned runs = 0;
};

/// Returns the median of three to nine runs, limited to about one second, after one warm-up run.
template <class RunOnce>
outcome measure(RunOnce run_once) {
  outcome result;
  std::vector<double> times;
  double spent = 0;
  for (int i = 0; i < 4 || (i < 10 && spent < 1000); ++i) {
    const run_result once = run_once();
    result.report = once.report;
    if (i == 0) continue;
    times.push_back(once.ms);
    spent += once.ms;
  }
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  result.ms = times.size() % 2 != 0 ? times[half] : (times[half - 1] + times[half]) / 2;
  result.runs = static_cast<unsigned>(times.size());
  return result;
}

/// Measures the baseline.
template <class Problem>
outcome measure_baseline(Problem& problem) {
  return measure([&] { return run_result{{}, problem.run_baseline()}; });
}

/// Runs a rung once. \throws std::runtime_error that names the rung
template <class Problem>
run_result run_once(Problem& problem, const rung<Problem>& r, cudaStream_t stream,
                    launch_trace* trace = nullptr) {
  try {
    return problem.run(r.function, stream, trace);
  } catch (const std::exception& e) {
    throw std::runtime_error("rung '" + std::string(r.name) + "': " + e.what());
  }
}

/// Measures a rung.
template <class Problem>
outcome measure_rung(Problem& problem, const rung<Problem>& r, cudaStream_t stream) {
  return measure([&] { return run_once(problem, r, stream); });
}

/// Returns a number as text with three significant digits and without an exponent.
inline std::string digits(double value) {
  std::ostringstream out;
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  out << std::fixed << std::setprecision(decimals) << value;
  return out.str();
}

/// Returns a number as text with thousands separators.
inline std::string with_commas(std::size_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// Describes the machine of the measurements.
inline std::string machine() {
#if RAMIFY_ON_CUDA
  int device = 0;
  int driver = 0;
  int runtime = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "querying the current device");
  check(cudaGetDeviceProperties(&properties, device), "querying the device properties");
  check(cudaDriverGetVersion(&driver), "querying the driver version");
  check(cudaRuntimeGetVersion(&runtime), "querying the runtime version");
  const auto version = [](int v) {
    return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10);
  };
  return std::string("GPU: ") + properties.name + "; CUDA runtime " + version(runtime) +
         ", driver for " + version(driver);
#else
  const cpu::executor_config config = cpu::current_executor_config();
  std::string text = "CPU executor, ";
  if (config.order != cpu::schedule::parallel) return text + "a reproducible schedule";
  const unsigned all = std::thread::hardware_concurrency();
  return text + detail::runtime::counted(config.workers != 0 ? config.workers : all, "core");
#endif
}

/// Prints a Markdown table of all rungs for the small size of an input, and for the large size
/// where a rung allows it.
template <class Problem>
void print_table(const ladder_description<Problem>& all, const ladder_input& input) {
  const host_stream stream;
  if (all.inputs.size() > 1) std::cout << "\nInput: " << input.name << "\n\n";
  std::string head = "| rung | change |";
  std::string line = "| --- | --- |";
  std::vector<std::string> rows{"| baseline | " + std::string(all.baseline) + " |"};
  for (const auto& r : all.rungs)
    rows.push_back("| " + std::string(r.name) + " | " + r.change + " |");
  for (const std::size_t n : {input.small, input.large}) {
    Problem problem = make_problem<Problem>(n, stream.get(), input);
    head +=
        ' ' + with_commas(problem.size()) + ' ' + all.unit + ": grids | deepest | ms | faster |";
    line += " ---: | ---: | ---: | ---: |";
    rows[0] += " | | " + digits(measure_baseline(problem).ms) + " | |";
    double previous = 0;
    for (std::size_t i = 0; i < all.rungs.size(); ++i) {
      std::string& row = rows[i + 1];
      if (all.rungs[i].most < n) {
        row += " | | | |";
        continue;
      }
      const outcome o = measure_rung(problem, all.rungs[i], stream.get());
      row += ' ' + with_commas(o.report.host_grids + o.report.child_grids) + " | " +
             std::to_string(o.report.deepest_level) + " | " + digits(o.ms) + " | " +
             (previous > 0 ? digits(previous / o.ms) : "") + " |";
      previous = o.ms;
    }
  }
  std::cout << head << '\n' << line << '\n';
  for (const std::string& row : rows) std::cout << row << '\n';
}

/// Prints a Markdown table of all rungs for each of the inputs.
template <class Problem>
void print_tables(const ladder_description<Problem>& all, const std::vector<ladder_input>& inputs) {
  std::cout << machine() << "; `ladder_" << all.name << " --table`; medians of three to nine runs; "
            << "pending-launch limit " << with_commas(*current_launch_limits().pending_launches)
            << "; faster: speed relative to the previous rung\n";
  if (all.inputs.size() == 1) std::cout << '\n';
  for (const ladder_input& input : inputs) print_table(all, input);
}

/// Prints the results of the small size of an input as text.
template <class Problem>
void print_rungs(const ladder_description<Problem>& all, const ladder_input& input,
                 std::optional<unsigned> only) {
  const host_stream stream;
  const std::size_t n = input.small;
  Problem problem = make_problem<Problem>(n, stream.get(), input);
  const outcome baseline = measure_baseline(problem);
  if (all.inputs.size() > 1) std::cout << input.name << ", ";
  std::cout << with_commas(problem.size()) << ' ' << all.unit << ", " << machine() << '\n'
            << "baseline: " << all.baseline << "\n   " << digits(baseline.ms) << " ms (median of "
            << baseline.runs << ")\n";
  double previous = 0;
  for (std::size_t i = 0; i < all.rungs.size(); ++i) {
    const auto& r = all.rungs[i];
    if (only && *only != i + 1) continue;
    std::cout << r.name << ": " << r.change << std::endl;
    if (r.most < n && !only) {
      std::cout << "   skipped: the largest size is " << with_commas(r.most) << '\n';
      continue;
    }
    const outcome o = measure_rung(problem, r, stream.get());
    std::cout << "   the result is right; grids launched: " << with_commas(o.report.host_grids)
              << " by the host, " << with_commas(o.report.child_grids)
              << " by kernels; deepest level: " << o.report.deepest_level
              << "; tasks without a launch slot: " << with_commas(o.report.spilled_tasks) << "\n   "
              << digits(o.ms) << " ms (median of " << o.runs << ')';
    if (previous > 0)
      std::cout << ", " << digits(previous / o.ms) << " times as fast as the previous rung";
    std::cout << std::endl;
    previous = o.ms;
  }
}

/// Runs a rung once and writes its launch tree or timeline.
/// \throws std::runtime_error if the rung does not record its launches
template <class Problem>
void write_trace(const rung<Problem>& r, const ladder_input& input,
                 const std::filesystem::path& file) {
  const host_stream stream;
  Problem problem = make_problem<Problem>(input.small, stream.get(), input);
  launch_trace trace;
  run_once(problem, r, stream.get(), &trace);
  if (trace.grids.empty())
    throw std::runtime_error("rung '" + std::string(r.name) + "' does not record its launches");
  write_trace_file(file, trace);
  std::cout << r.name << ", " << with_commas(problem.size()) << ": "
            << detail::runtime::counted(trace.count(), "grid") << " in " << file.string();
  if (trace.lost > 0) std::cout << "; not recorded: " << trace.lost;
  std::cout << '\n';
}

/// Returns the names of all inputs.
inline std::string input_names(const std::vector<ladder_input>& inputs) {
  std::string names;
  for (const ladder_input& input : inputs)
    names += (names.empty() ? "" : ", ") + std::string(input.name);
  return names;
}

/// Returns the number that follows an option. \throws std::invalid_argument
inline std::size_t number_after(std::string_view option, const char* text) {
  char* end = nullptr;
  const unsigned long long value = text == nullptr ? 0 : std::strtoull(text, &end, 10);
  if (text == nullptr || end == text || *end != '\0' || *text == '-')
    throw std::invalid_argument(std::string(option) + " needs a number");
  return value;
}

/// The main() of a ladder. `check_all` runs all rungs on hard inputs, and throws if one is wrong.
/// Returns the exit status.
template <class Problem>
int run_program(int argc, char** argv, const ladder_description<Problem>& all,
                void (*check_all)()) {
  constexpr int skipped = 77;
  const std::string usage =
      "usage: ladder_" + std::string(all.name) +
      " [--rung N] [--n N] [--large N] [--input NAME] [--trace FILE] [--table] [--check]\n"
      "  [--pending-launches N]\n"
      "  --rung N              run only this rung\n"
      "  --n N                 the size\n"
      "  --large N             the second size of the table\n"
      "  --input NAME          the kind of input: " +
      input_names(all.inputs) +
      "\n"
      "  --trace FILE          record the grids of --rung: .html, .json, .dot\n"
      "  --table               print all rungs as a Markdown table\n"
      "  --check               check all rungs on hard inputs, without times\n"
      "  --pending-launches N  size of the pool of pending launches, half of which is used\n";
  std::optional<unsigned> only;
  std::optional<std::size_t> n;
  std::optional<std::size_t> large;
  std::vector<ladder_input> inputs = all.inputs;  // the chosen ones
  std::string trace;
  std::optional<std::size_t> pending_launches = all.pending_launches;
  bool table = false;
  bool checks = false;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      const auto value = [&] { return number_after(option, i + 1 < argc ? argv[++i] : nullptr); };
      const auto text = [&] {
        if (i + 1 == argc) throw std::invalid_argument(std::string(option) + " needs a name");
        return std::string(argv[++i]);
      };
      if (option == "--rung") {
        const std::size_t number = value();
        if (number < 1 || number > all.rungs.size()) {
          throw std::invalid_argument("rungs are 1 to " + std::to_string(all.rungs.size()));
        }
        only = static_cast<unsigned>(number);
      } else if (option == "--n" || option == "--large") {
        auto& size = option == "--n" ? n : large;
        size = value();
        if (*size < 1 || *size >> 31 != 0) {
          throw std::invalid_argument(std::string(option) + " must be in [1, 2^31 - 1]");
        }
      } else if (option == "--input") {
        const std::string name = text();
        std::erase_if(inputs, [&](const ladder_input& input) { return input.name != name; });
        if (inputs.empty()) {
          throw std::invalid_argument("--input must be one of: " + input_names(all.inputs));
        }
      } else if (option == "--trace") {
        trace = text();
        check_trace_file(trace);
      } else if (option == "--pending-launches") {
        pending_launches = value();
        if (*pending_launches == 0)
          throw std::invalid_argument("--pending-launches must be at least 1");
      } else if (option == "--table") {
        table = true;
      } else if (option == "--check") {
        checks = true;
      } else if (option == "--help") {
        std::cout << usage;
        return 0;
      } else {
        throw std::invalid_argument("unknown option " + std::string(option));
      }
    }
    if (!trace.empty() && !only) throw std::invalid_argument("--trace needs --rung");
    if ((only || n || table || inputs.size() != all.inputs.size()) && checks)
      throw std::invalid_argument("--check runs all rungs");
    if (only && table) throw std::invalid_argument("--table runs all rungs");
    if (large && !table) throw std::invalid_argument("--large needs --table");
  } catch (const std::invalid_argument& e) {
    std::cerr << "error: " << e.what() << '\n' << usage;
    return 2;
  }
  for (ladder_input& input : inputs) {
    input.small = n.value_or(input.small);
    input.large = large.value_or(input.large);
  }

#if RAMIFY_ON_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "skipped: there is no CUDA device\n";
    return skipped;
  }
#else
  static_cast<void>(skipped);
#endif
  try {
    const launch_limits limits({.pending_launches = pending_launches});
    if (checks) {
      check_all();
    } else if (!trace.empty()) {
      write_trace(all.rungs[*only - 1], inputs.front(), trace);
    } else if (table) {
      print_tables(all, inputs);
    } else {
      print_rungs(all, inputs.front(), only);
    }
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace ladder
