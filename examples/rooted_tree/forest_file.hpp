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
  edges,    ///< one line per edge: parent and child; the last node is the largest one
};

/// How a file describes a forest.
struct forest_notation {
  forest_format format = forest_format::parents;
  std::optional<std::size_t> nodes{};  ///< number of nodes of a list of edges
  std::int32_t first_node = 0;         ///< 0 or 1: the number of the first node in the file
  bool own_parents = false;            ///< a root may be its own parent
};

[[nodiscard]] std::string_view to_string(forest_format);
/// Returns the format with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] forest_format parse_forest_format(std::string_view);

/// Reads the parents of all nodes, which the result numbers from 0 on. A root has the parent -1,
/// and with first_node 1 also 0. It does not check that parents form no cycle. Without a number of
/// nodes, the largest node of a list of edges is the last one. It may then be at most 2^20, or 64
/// times the number of edges.
/// \throws bad_input naming the first line that is malformed, or else the first that gives a node a
///         second parent, or the line with the largest node if it exceeds the limit
[[nodiscard]] std::vector<std::int32_t> read_forest(const std::filesystem::path&,
                                                    const forest_notation&);

/// Writes "node,parent,level,size,preorder,postorder", then one line per node. Nodes are numbered
/// from `first_node` on; the parent of a root is -1.
void write_forest_table(std::ostream&, std::span<const std::int32_t> parents, const forest_numbers&,
                        std::int32_t first_node);

}  // namespace common
