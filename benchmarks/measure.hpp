// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Medians of repeated runs, written as tables: Markdown to the terminal, and JSON to a file.
///
///     int main(int argc, char** argv) {
///       return benchmark::run({.name = "quicksort_cpu", .machine = benchmark::this_cpu}, argc,
///                               argv,
///                             [](benchmark::recorder& out, const benchmark::command_line&) {
///                               out.table("uniform", {"n", "sort", "ms"});
///                               out.row({n, "std::sort", benchmark::summarize(times_ms)});
///                             });
///     }

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benchmark {

/// The median of repeated times, their minimum and their maximum.
struct timing {
  double median_ms;
  double least_ms;
  double most_ms;
  std::size_t repeats = 0;
};

/// Returns the median, the minimum and the maximum of `times_ms`.
/// \throws std::invalid_argument if there are no times
[[nodiscard]] inline timing summarize(std::vector<double> times_ms) {
  if (times_ms.empty()) throw std::invalid_argument("summarize: there are no times");
  std::sort(times_ms.begin(), times_ms.end());
  return {times_ms[times_ms.size() / 2], times_ms.front(), times_ms.back(), times_ms.size()};
}

/// Returns `value` as text with at least three significant digits.
[[nodiscard]] inline std::string number(double value) {
  char text[32];
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// Returns the minimum and the maximum as text.
[[nodiscard]] inline std::string spread(const timing& t) {
  return number(t.least_ms) + "–" + number(t.most_ms);
}

/// Prints one row of a Markdown table without recording it.
inline void print_row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) std::cout << "| " << cell << ' ';
  std::cout << "|" << std::endl;
}

inline void print_header(const std::vector<std::string>& cells) {
  print_row(cells);
  print_row(std::vector<std::string>(cells.size(), "---"));
}

/// One cell of a table: empty, text, a number, or a time with its spread.
class cell {
 public:
  cell() = default;
  cell(std::string words) : value_(std::move(words)) {}
  cell(std::string_view words) : value_(std::string(words)) {}
  cell(const char* words) : value_(std::string(words)) {}
  cell(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}
  cell(double number) : value_(number) {}
  cell(const timing& time) : value_(time) {}

  using value_type = std::variant<std::monostate, std::string, std::int64_t, double, timing>;
  [[nodiscard]] const value_type& value() const { return value_; }
  /// Returns the printed text. A time is printed as "median (least–most)".
  [[nodiscard]] std::string text() const;

 private:
  value_type value_;
};

/// Properties of the machine as pairs of name and value, in the order of printing.
using facts = std::vector<std::pair<std::string, cell>>;

/// Returns the processor and its number of cores.
[[nodiscard]] facts this_cpu();

/// A benchmark program and its options, besides --json FILE and --help.
struct program {
  std::string_view name;   ///< the name in run.sh and plot.py, such as "quicksort_cuda"
  std::string_view about;  ///< a line for --help
  facts (*machine)();      ///< describes the machine
  std::vector<std::string> parts = {};  ///< choices of --part A,B,...; no such option if empty
  bool has_quick = false;               ///< true if there is an option --quick
  std::string_view words = {};  ///< the meaning of positional arguments; empty: none allowed
  unsigned scale = 0;           ///< default of --scale N, log2 of a size; no such option if 0
  unsigned least_scale = 1;     ///< the smallest value of --scale
  unsigned most_scale = 30;     ///< the largest value of --scale
};

/// The parsed command line.
struct command_line {
  std::string text = {};            ///< the command without the program's folder and --json FILE
  std::filesystem::path json = {};  ///< output file; empty: none
  std::vector<std::string> parts = {};
  std::vector<std::string> words = {};
  bool quick = false;  ///< few sizes and repeats
  unsigned scale = 0;  ///< log2 of a size

  /// Returns true if the command line selects `part`.
  [[nodiscard]] bool has_part(std::string_view part) const {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }
  /// Returns the first positional argument as a whole number of at least one, or `otherwise` if
  /// there is none. \throws std::invalid_argument
  [[nodiscard]] std::size_t number_or(std::size_t otherwise) const;
};

/// Prints tables row by row, and keeps them for a JSON file:
///
///     {"program": "quicksort_cpu", "command": "...", "date": "2026-11-21",
///      "machine": {"CPU": "..."},
///      "tables": [{"name": "uniform", "caption": "", "columns": ["n", "sort", "ms"], "rows": [
///        [4194304, "std::sort", {"median": 352, "least": 341, "most": 357, "repeats": 7}]]}]}
class recorder {
 public:
  /// Prints the date, the machine and the command.
  recorder(std::string_view program, std::string_view command, facts machine);

  /// Begins a table. `caption` is a line above it. \throws std::logic_error if the name is taken
  void table(std::string_view name, const std::vector<std::string>& columns,
             std::string_view caption = {});
  /// Begins a table that is only written to the JSON file.
  void quiet_table(std::string_view name, const std::vector<std::string>& columns);
  /// Adds a row to the table that was begun last.
  /// \throws std::logic_error if there is no table or the number of cells is not that of columns
  void row(const std::vector<cell>& cells);

  /// Returns all tables as JSON text that ends with a newline.
  [[nodiscard]] std::string json() const;

 private:
  struct stored_table {
    std::string name, caption;
    bool printed;
    std::vector<std::string> columns;
    std::vector<std::vector<cell>> rows;
  };
  void begin(std::string_view name, std::string_view caption, bool printed,
             const std::vector<std::string>& columns);

  std::string program_, command_, date_;
  facts machine_;
  std::vector<stored_table> tables_;
};

/// The main function of a benchmark: reads the command line, runs `body`, and writes the JSON file
/// completely or not at all. Returns the exit status: 0, 1 after an exception, or 2 after a bad
/// option; the error is one line on stderr.
int run(const program& what, int argc, char** argv,
        const std::function<void(recorder&, const command_line&)>& body);

}  // namespace benchmark
