// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The results of `spatial`: tables, and the report as text and as JSON.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <ramify/spatial_tree.hpp>
#include <string>
#include <vector>

#include "distance_statistics.hpp"
#include "spatial_command_line.hpp"

namespace common {

/// The results of a run.
struct spatial_results {
  ramify::spatial_tree_report build{};
  std::uint64_t queries = 0;
  double nearest_ms = 0, within_ms = 0, total_ms = 0;
  std::vector<std::uint32_t> ids{};  ///< rows of --nearest
  std::vector<double> distances{};
  std::vector<std::uint32_t> counts{};
  ramify::spatial_cluster_report clusters{};
  std::vector<std::uint32_t> labels{};
  std::optional<distance_statistics> statistics{};
  std::uint64_t verified = 0;  ///< queries
  std::string columns{};       ///< of the input file; empty for generated points
};

/// Writes the tables that the options name. \throws bad_output naming the file
void write_tables(const spatial_results& r, const spatial_command_line& o);

/// Returns the report as JSON.
[[nodiscard]] nlohmann::ordered_json to_json(const spatial_results& r, int dimensions,
                                             const spatial_command_line& o);

/// Prints one line "name: value" for each result.
void print(std::ostream& out, const spatial_results& r, int dimensions,
           const spatial_command_line& o);

}  // namespace common
