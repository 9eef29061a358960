// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks a mesh_snapshot before it is drawn or written.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/snapshot.hpp>
#include <stdexcept>
#include <string>

namespace common {

/// The indices of blocks of deeper levels would not fit into 32 bits.
inline constexpr int deepest_mesh_level = 31;

/// Returns the number of blocks of a level along an axis.
[[nodiscard]] inline std::uint64_t blocks_along(const ramify::mesh_snapshot& mesh, int level,
                                                std::size_t axis) {
  // In two dimensions there is one layer on all levels.
  if (mesh.dimensions == 2 && axis == 2) return 1;
  return std::uint64_t{mesh.roots[axis]} << level;
}

/// Returns which cell of a level contains a position on an axis: the upper one if it is between
/// two. Positions outside of the domain have the first or the last cell.
[[nodiscard]] inline std::uint64_t cell_containing(const ramify::mesh_snapshot& mesh, int level,
                                                   std::size_t axis, double position) {
  const double low = mesh.lower[axis];
  const double share = (position - low) / (mesh.upper[axis] - low);
  const std::uint64_t all = blocks_along(mesh, level, axis) * std::uint64_t(mesh.cells);
  return share > 0 ? std::min(std::uint64_t(std::fmin(share, 1) * double(all)), all - 1) : 0;
}

/// Checks that sizes agree and all blocks are in the domain, but not that they cover it.
/// \throws std::invalid_argument naming the fault
inline void check_mesh(const ramify::mesh_snapshot& mesh) {
  const auto reject = [](const std::string& what) {
    throw std::invalid_argument("mesh_snapshot: " + what);
  };
  if (mesh.dimensions != 2 && mesh.dimensions != 3) {
    reject(std::to_string(mesh.dimensions) + " dimensions, which is neither 2 nor 3");
  }
  if (mesh.cells < 1) reject("blocks of " + std::to_string(mesh.cells) + " cells along an edge");
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    const double extent = mesh.upper[axis] - mesh.lower[axis];
    if (!(extent > 0) || !std::isfinite(extent)) {
      reject("a domain without extent along axis " + std::to_string(axis));
    }
    if (mesh.roots[axis] == 0) reject("no root blocks along axis " + std::to_string(axis));
  }
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const ramify::block_position& block = mesh.leaves[leaf];
    if (block.level < 0 || block.level > deepest_mesh_level) {
      reject("leaf " + std::to_string(leaf) + " is of level " + std::to_string(block.level));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (block.index[axis] >= blocks_along(mesh, block.level, axis)) {
        reject("leaf " + std::to_string(leaf) + " is outside of the domain");
      }
    }
  }
  for (std::size_t i = 0; i < mesh.fields.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (mesh.fields[i] == mesh.fields[j]) reject("two fields '" + mesh.fields[i] + "'");
    }
  }
  const std::size_t expected = mesh.leaves.size() * mesh.fields.size() * mesh.cells_of_a_block();
  if (mesh.values.size() != expected) {
    reject(std::to_string(mesh.values.size()) + " values instead of " + std::to_string(expected));
  }
}

}  // namespace common
