// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The results of `amr` at the end of a run, as text and as JSON.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <ramify/amr.hpp>
#include <ramify/cluster/report.hpp>
#include <vector>

#include "output/amr_checkpoint.hpp"

namespace common {

/// The results at the end.
struct amr_summary {
  amr_settings settings;
  ramify::amr_report report;
  std::uint64_t cell_updates = 0;  ///< of this program run alone
  double seconds = 0;              ///< time of its steps
  std::vector<std::uint64_t> leaves_of_level;
  std::vector<double> first_totals, last_totals;
  std::vector<double> errors;       ///< empty where the exact solution is not known
  nlohmann::ordered_json division;  ///< of the blocks among ranks; null: one process
  std::optional<ramify::cluster_report> cluster;
};

/// Returns whether the exact solution at this time is the initial state.
[[nodiscard]] bool has_returned(const ramify::amr_setup& flow, double time);

[[nodiscard]] nlohmann::ordered_json to_json(const amr_summary& all);

/// Prints one line "name: value" for each result.
void print(std::ostream& out, const amr_summary& all);

}  // namespace common
