// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Readers of knapsacks and of flow shops.

#include <cstddef>
#include <filesystem>
#include <ramify/branch_and_bound/flow_shop.hpp>
#include <ramify/branch_and_bound/knapsack.hpp>
#include <ramify/runtime/report.hpp>
#include <string>
#include <string_view>

namespace common {

/// How a file of numbers is read.
enum class number_format {
  automatic,  ///< the first line has the sizes if they are those of the other lines
  plain,      ///< each line is an item or a machine
  sizes,      ///< the first line has the sizes
};

[[nodiscard]] constexpr std::string_view to_string(number_format f) {
  return ramify::choice_name(f, {"automatic", "plain", "sizes"});
}

/// An instance, and a description of how its file was read.
template <class Instance>
struct instance_from_file {
  Instance instance{};
  std::string format{};
};

/// Reads a knapsack: one item a line. Its capacity is half of the weight of all items unless the
/// first line states it. \throws bad_input for a malformed file
[[nodiscard]] instance_from_file<ramify::knapsack_instance> read_knapsack(
    const std::filesystem::path& path, number_format format = number_format::automatic);

/// Reads a flow shop: one machine a line, or a file of Taillard. `number` is that of an instance
/// of Taillard's file, from 1 on; 0: the only one. \throws bad_input for a malformed file
[[nodiscard]] instance_from_file<ramify::flow_shop_instance> read_flow_shop(
    const std::filesystem::path& path, number_format format = number_format::automatic,
    std::size_t number = 0);

}  // namespace common
