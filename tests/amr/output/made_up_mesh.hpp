// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Meshes without a simulation, for tests of output files.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ramify/amr/snapshot.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tests {

using place = std::array<double, 3>;
using named_function = std::pair<std::string, std::function<double(const place&)>>;

/// The corners of a block.
inline std::pair<place, place> box_of(const ramify::mesh_snapshot& mesh,
                                      const ramify::block_position& block) {
  place low{};
  place high{};
  for (int axis = 0; axis < mesh.dimensions; ++axis) {
    const auto a = std::size_t(axis);
    const double edge = mesh.spacing(block.level, axis) * mesh.cells;
    low[a] = mesh.lower[a] + block.index[a] * edge;
    high[a] = low[a] + edge;
  }
  return {low, high};
}

/// Refines the blocks that meet the sphere around `center`, down to level `deepest`, and sets each
/// field to its function at the centers of the cells. `mesh` has the domain and its roots.
inline ramify::mesh_snapshot refined_at_sphere(ramify::mesh_snapshot mesh, const place& center,
                                               double radius, int deepest,
                                               const std::vector<named_function>& fields) {
  const std::function<void(const ramify::block_position&)> visit =
      [&](const ramify::block_position& block) {
        const auto [low, high] = box_of(mesh, block);
        double nearest = 0;
        double farthest = 0;
        for (std::size_t a = 0; a < std::size_t(mesh.dimensions); ++a) {
          const double inside = std::clamp(center[a], low[a], high[a]) - center[a];
          const double corner = std::max(center[a] - low[a], high[a] - center[a]);
          nearest += inside * inside;
          farthest += corner * corner;
        }
        if (block.level == deepest || nearest > radius * radius || farthest < radius * radius) {
          mesh.leaves.push_back(block);
          return;
        }
        for (unsigned child = 0; child < (mesh.dimensions == 3 ? 8u : 4u); ++child) {
          visit({block.level + 1,
                 {2 * block.index[0] + (child & 1), 2 * block.index[1] + (child >> 1 & 1),
                  mesh.dimensions == 3 ? 2 * block.index[2] + (child >> 2) : 0}});
        }
      };
  for (std::uint32_t z = 0; z < (mesh.dimensions == 3 ? mesh.roots[2] : 1); ++z) {
    for (std::uint32_t y = 0; y < mesh.roots[1]; ++y) {
      for (std::uint32_t x = 0; x < mesh.roots[0]; ++x) visit({0, {x, y, z}});
    }
  }
  for (const auto& [name, function] : fields) mesh.fields.push_back(name);
  for (const ramify::block_position& leaf : mesh.leaves) {
    const place low = box_of(mesh, leaf).first;
    for (const auto& [name, function] : fields) {
      for (int z = 0; z < (mesh.dimensions == 3 ? mesh.cells : 1); ++z) {
        for (int y = 0; y < mesh.cells; ++y) {
          for (int x = 0; x < mesh.cells; ++x) {
            const std::array<int, 3> cell{x, y, z};
            place at{};
            for (int axis = 0; axis < mesh.dimensions; ++axis) {
              const auto a = std::size_t(axis);
              at[a] = low[a] + (cell[a] + 0.5) * mesh.spacing(leaf.level, axis);
            }
            mesh.values.push_back(function(at));
          }
        }
      }
    }
  }
  return mesh;
}

}  // namespace tests
