// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mesh_snapshot: the leaves of a mesh and the values of their cells, on the host.
/// amr_state: the state that a run needs to continue with the same bits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/config.hpp>
#include <ramify/version.hpp>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The place of a block of cells. A block of level l is 2^-l times as wide as a root block.
struct block_position {
  int level = 0;                         ///< 0: a root block
  std::array<std::uint32_t, 3> index{};  ///< counted in blocks of that level, x first

  bool operator==(const block_position&) const = default;  ///< Compares all members.
};

/// A mesh and its values at one time. In two dimensions the third entry of `roots` is 1, and that
/// of each index is 0.
struct mesh_snapshot {
  int dimensions = 2;                           ///< 2 or 3
  int cells = 16;                               ///< cells along each edge of a block
  std::array<std::uint32_t, 3> roots{1, 1, 1};  ///< root blocks along each axis
  std::array<double, 3> lower{};                ///< corner of the domain
  std::array<double, 3> upper{1, 1, 1};         ///< the opposite corner
  double time = 0;                              ///< of the values
  std::uint64_t step = 0;                       ///< steps until then
  std::vector<block_position> leaves;           ///< in Morton order, root block by root block
  std::vector<std::string> fields;              ///< names, such as "density"
  std::vector<double> values;                   ///< [leaf][field][z][y][x], averages over the cells

  /// Returns the number of cells of each block.
  [[nodiscard]] std::size_t cells_of_a_block() const {
    return std::size_t(cells) * std::size_t(cells) * std::size_t(dimensions == 3 ? cells : 1);
  }
  /// Returns the values of a field in a leaf, x fastest.
  [[nodiscard]] const double* field(std::size_t leaf, std::size_t which) const {
    return values.data() + (leaf * fields.size() + which) * cells_of_a_block();
  }
  /// Returns the length of a cell along `axis` in a block of `level`.
  [[nodiscard]] double spacing(int level, int axis) const {
    const auto a = std::size_t(axis);
    return (upper[a] - lower[a]) / (double(roots[a]) * double(1u << level) * double(cells));
  }
};

/// The state of a run between two steps. A run that continues from it computes the same bits as the
/// original run if options and physics are the same.
struct amr_state : amr_progress {
  int dimensions = 2;                           ///< 2 or 3
  int cells = 16;                               ///< cells along each edge of a block
  int variables = 0;                            ///< variables of a cell
  int real_bytes = 8;                           ///< bytes of a number: 8 or 4
  std::array<std::uint32_t, 3> roots{1, 1, 1};  ///< root blocks along each axis
  std::uint64_t next_regrid = 0;                ///< the mesh is regridded before this step
  std::vector<block_position> leaves;           ///< in Morton order, root block by root block
  std::vector<std::uint32_t> idle;  ///< for each leaf: regrids in a row that found it too fine
  std::vector<std::byte> values;    ///< conserved values, [leaf][variable][z][y][x]
};

}  // namespace ramify::inline RAMIFY_ABI
