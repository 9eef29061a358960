// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Files of rooted forests, and tables of the numbers of their nodes.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "forests.hpp"

namespace common {

enum class forest_format {
  parents,  ///< one line per node: the number of its parent, -1 for a root
  edges,    ///< one line per edge: parent and child; the nodes are 0 to the largest number
};

[[nodiscard]] std::string_view to_string(forest_format);
/// Returns the format with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] forest_format parse_forest_format(std::string_view);

/// Reads the parents of all nodes. It does not check that parents are in range and form no cycle.
/// `nodes` is the number of nodes of a list of edges; without it, the largest node in the file is
/// the last one. It may then be at most 2^20, or 64 times the number of edges.
/// \throws bad_input naming the first line that is malformed, or else the first that gives a node a
///         second parent, or the line with the largest node if it exceeds the limit
[[nodiscard]] std::vector<std::int32_t> read_forest(const std::filesystem::path&, forest_format,
                                                    std::optional<std::size_t> nodes = {});

/// Writes "node,parent,level,size,preorder,postorder", then one line per node.
void write_forest_table(std::ostream&, std::span<const std::int32_t> parents,
                        const forest_numbers&);

}  // namespace common
