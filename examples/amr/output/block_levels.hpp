// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// All blocks of a mesh, also those that were refined, with their values.

#include <array>
#include <cstddef>
#include <functional>
#include <ramify/amr/snapshot.hpp>
#include <vector>

namespace common {

/// The ranks that have a mesh together. The default is one process.
struct mesh_ranks {
  int rank = 0;
  std::vector<int> owners;  ///< the rank of each leaf; empty: rank 0 has all
  int size = 1;
  /// Sends out[r] to each rank r, and fills in[r], which has the right size, with what rank r
  /// sends. Both are empty for the own rank. Collective.
  std::function<void(const std::vector<std::vector<double>>& out,
                     std::vector<std::vector<double>>& in)>
      exchange;
  std::function<void()> barrier;
};

/// A block of a level: a leaf, or a block that was refined.
struct mesh_block {
  ramify::block_position place;
  int owner;           ///< the rank of its first leaf
  std::size_t parent;  ///< in the next coarser level; not used on level 0
  std::size_t slot;    ///< of its values, on the owner
};

/// Sends `count` numbers of each block from its owner to the rank receiver(i), which may be the
/// owner. i is the index of the block. The owner calls pack(i), which returns the numbers, and the
/// receiver calls unpack(i, numbers). Collective, with the same blocks on all ranks.
void send_from_owners(const std::vector<mesh_block>& blocks, const mesh_ranks& ranks,
                      std::size_t count, const std::function<int(std::size_t)>& receiver,
                      const std::function<std::vector<double>(std::size_t)>& pack,
                      const std::function<void(std::size_t, const double*)>& unpack);

/// All blocks of a mesh, and the values of those of this rank. A block that was refined has the
/// means of the finer cells, with the same bits for any number of ranks.
///
/// 1 find the blocks of each level, 2 average from the finest level to the coarsest
class block_levels {
 public:
  /// `mesh` has all leaves, in Morton order, and the values of the own ones. Refined blocks have an
  /// even number of cells along an edge. Both arguments must outlive the object. Collective.
  block_levels(const ramify::mesh_snapshot& mesh, const mesh_ranks& ranks);

  /// Returns the blocks of each level, in Morton order.
  [[nodiscard]] const std::vector<std::vector<mesh_block>>& levels() const { return levels_; }
  /// Returns the values of an own block, [field][z][y][x].
  [[nodiscard]] const double* values(const mesh_block& block) const {
    return values_.data() + block.slot * size_;
  }

 private:
  void find_blocks();
  /// Writes the means of the cells of a level to their parents, which other ranks may have.
  void average(std::size_t level);
  /// Returns the number of cells along each axis of a block.
  [[nodiscard]] std::array<std::size_t, 3> extent() const;
  /// Calls use(field, cell, number) for each of the coarse cells that a block covers. `cell` has
  /// the coordinates among these.
  template <class Use>
  void for_each_mean(Use use) const;
  /// Returns the place of a value among those of a block.
  [[nodiscard]] std::size_t offset(std::size_t field, std::size_t x, std::size_t y,
                                   std::size_t z) const;
  [[nodiscard]] std::vector<double> means_of(const mesh_block& block) const;
  /// Writes the means of a block to its parent, which is an own block.
  void put(const mesh_block& child, const double* means);

  const ramify::mesh_snapshot& mesh_;
  const mesh_ranks& ranks_;
  std::size_t size_;  ///< values of a block
  std::vector<std::vector<mesh_block>> levels_;
  std::vector<double> values_;
};

}  // namespace common
