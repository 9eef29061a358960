// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The instances of `search`: read from a file, or generated.

#include <cstdint>
#include <ramify/branch_and_bound.hpp>
#include <string>

#include "search_command_line.hpp"

namespace common {

/// Returns the knapsack that the options describe. If it is read from a file, `format` gets a
/// description of how the file was read. \throws bad_input for a malformed file
[[nodiscard]] ramify::knapsack_instance knapsack_of(const search_command_line& o,
                                                    std::string& format);

/// Returns the flow shop that the options describe, and `format` as knapsack_of() does.
/// \throws bad_input for a malformed file; std::invalid_argument for an unsuitable --seed
[[nodiscard]] ramify::flow_shop_instance flow_shop_of(const search_command_line& o,
                                                      std::string& format);

/// Returns the largest profit, by dynamic programming over the weights.
/// \throws std::invalid_argument for a maximum weight of more than 10^7
[[nodiscard]] std::int64_t profit_by_dynamic_programming(const ramify::knapsack_instance& instance);

}  // namespace common
