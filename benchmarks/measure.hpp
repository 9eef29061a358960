// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Medians of repeated runs, and tables of them in Markdown.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace benchmark {

/// The middle of some times, and how far they lie apart.
struct timing {
  double median_ms;
  double least_ms;
  double most_ms;
};

[[nodiscard]] inline timing summarize(std::vector<double> times_ms) {
  std::sort(times_ms.begin(), times_ms.end());
  return {times_ms[times_ms.size() / 2], times_ms.front(), times_ms.back()};
}

/// `value` with three significant digits or more.
[[nodiscard]] inline std::string number(double value) {
  char text[32];
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

[[nodiscard]] inline std::string spread(const timing& t) {
  return number(t.least_ms) + "–" + number(t.most_ms);
}

/// One row of a Markdown table.
inline void print_row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) std::cout << "| " << cell << ' ';
  std::cout << "|" << std::endl;
}

inline void print_header(const std::vector<std::string>& cells) {
  print_row(cells);
  print_row(std::vector<std::string>(cells.size(), "---"));
}

}  // namespace benchmark
