// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reports as JSON, and the numbers and launch costs that example programs print.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <ramify/amr/config.hpp>
#include <ramify/cluster/report.hpp>
#include <ramify/launch_costs.hpp>
#include <ramify/quicksort/config.hpp>
#include <ramify/rooted_tree/config.hpp>
#include <string>

namespace common {

/// Returns the first fields of every report: the program and its version.
[[nodiscard]] nlohmann::ordered_json new_report(const char* program);

/// Prints a report as the option --report requests: "text", "json", or a file for the JSON.
/// `json()` returns the report, `print(stream)` prints it as text. \throws bad_output
void write_report(const std::string& requested, std::ostream& out,
                  const std::function<nlohmann::ordered_json()>& json,
                  const std::function<void(std::ostream&)>& print);

/// Prints one line for each number or list of numbers.
void print_numbers(std::ostream& out, const nlohmann::ordered_json& numbers);

/// Prints the launch costs of the GPU of a run as text, one line per field. Prints nothing if the
/// run was not on a GPU, or the costs cannot be measured.
void print_launch_costs(std::ostream& out, const ramify::run_report& r);

[[nodiscard]] nlohmann::ordered_json to_json(const ramify::run_report& r);
[[nodiscard]] nlohmann::ordered_json to_json(const ramify::quicksort_report& r);
[[nodiscard]] nlohmann::ordered_json to_json(const ramify::cluster_report& r);
[[nodiscard]] nlohmann::ordered_json to_json(const ramify::rooted_tree_report& r);
[[nodiscard]] nlohmann::ordered_json to_json(const ramify::amr_report& r);

}  // namespace common
