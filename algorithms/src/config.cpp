// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quicksort/config.hpp>

#include <ostream>
#include <stdexcept>
#include <string>

namespace ramify {

std::string_view to_string(quicksort_strategy s) {
  switch (s) {
    case quicksort_strategy::multiway: return "multiway";
    case quicksort_strategy::binary: return "binary";
  }
  return "?";
}

quicksort_strategy parse_quicksort_strategy(std::string_view text) {
  for (const auto s : {quicksort_strategy::multiway, quicksort_strategy::binary}) {
    if (text == to_string(s)) return s;
  }
  throw std::invalid_argument("strategy '" + std::string(text) + "' is neither multiway nor binary");
}

void validate(const quicksort_config& config) {
  if (to_string(config.strategy) == "?") {
    throw std::invalid_argument("quicksort_config.strategy is none of the enumerators");
  }
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("quicksort_config.route is none of the enumerators");
  }
  if (config.streams != child_streams::named && config.streams != child_streams::fire_and_forget) {
    throw std::invalid_argument("quicksort_config.streams is none of the enumerators");
  }
  if (config.depth_limit > 255) {
    throw std::invalid_argument("quicksort_config.depth_limit is " +
                                std::to_string(config.depth_limit) +
                                "; it must be 0 (automatic) or in [1, 255]");
  }
}

std::ostream& operator<<(std::ostream& out, const quicksort_report& r) {
  return out << "strategy: " << to_string(r.strategy) << "\nkeys: " << r.keys << '\n'
             << static_cast<const run_report&>(r)
             << "segments merge-sorted at the depth limit: " << r.merge_sorted_segments << '\n';
}

}  // namespace ramify
