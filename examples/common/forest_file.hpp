// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Files of rooted forests, and tables of what is known of their nodes.

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "forests.hpp"

namespace common {

enum class forest_format {
  parents,  ///< a line a node: the number of its parent, -1 for a root
  edges,    ///< a line an edge: parent and child; the nodes are 0 to the largest number
};

[[nodiscard]] std::string_view to_string(forest_format);
/// \throws std::invalid_argument naming the choices
[[nodiscard]] forest_format parse_forest_format(std::string_view);

/// The parents of all nodes. That they are nodes, and make no cycle, is not looked at.
/// \throws bad_input with the number of the first line that is malformed, or that gives a node a
/// second parent
[[nodiscard]] std::vector<std::int32_t> read_forest(const std::filesystem::path&, forest_format);

/// Writes "node,parent,level,size,preorder,postorder" and a line a node.
void write_forest_table(std::ostream&, std::span<const std::int32_t> parents,
                        const forest_numbers&);

}  // namespace common
