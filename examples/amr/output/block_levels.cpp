// SPDX-License-Identifier: BSD-3-Clause
#include "block_levels.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace common {

using ramify::block_position;

void send_from_owners(const std::vector<mesh_block>& blocks, const mesh_ranks& ranks,
                      std::size_t count, const std::function<int(std::size_t)>& receiver,
                      const std::function<std::vector<double>(std::size_t)>& pack,
                      const std::function<void(std::size_t, const double*)>& unpack) {
  // 1. Pack what other ranks receive, in the order of the blocks.
  std::vector<std::vector<double>> out(std::size_t(ranks.size));
  std::vector<std::vector<double>> in(std::size_t(ranks.size));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const int to = receiver(i);
    if (blocks[i].owner == ranks.rank) {
      const std::vector<double> numbers = pack(i);
      if (to == ranks.rank) {
        unpack(i, numbers.data());
      } else {
        auto& message = out[std::size_t(to)];
        message.insert(message.end(), numbers.begin(), numbers.end());
      }
    } else if (to == ranks.rank) {
      auto& message = in[std::size_t(blocks[i].owner)];
      message.resize(message.size() + count);
    }
  }
  if (ranks.size == 1) return;
  // 2. Exchange the messages.
  ranks.exchange(out, in);
  // 3. Unpack what this rank has received, in the same order.
  std::vector<std::size_t> taken(in.size(), 0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].owner == ranks.rank || receiver(i) != ranks.rank) continue;
    const auto owner = std::size_t(blocks[i].owner);
    unpack(i, in[owner].data() + taken[owner]);
    taken[owner] += count;
  }
}

block_levels::block_levels(const ramify::mesh_snapshot& mesh, const mesh_ranks& ranks)
    : mesh_(mesh), ranks_(ranks), size_(mesh.fields.size() * mesh.cells_of_a_block()) {
  find_blocks();
  for (std::size_t level = levels_.size(); level-- > 1;) average(level);
}

void block_levels::find_blocks() {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t slots = 0;
  std::vector<std::size_t> leaf_slots;  // of the own leaves
  for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
    const block_position& place = mesh_.leaves[leaf];
    const int owner = ranks_.owners.empty() ? 0 : ranks_.owners[leaf];
    levels_.resize(std::max(levels_.size(), std::size_t(place.level) + 1));
    // In Morton order the leaves below a block follow one another.
    for (int level = 0; level <= place.level; ++level) {
      block_position above{level, place.index};
      for (std::uint32_t& index : above.index) index >>= unsigned(place.level - level);
      auto& blocks = levels_[std::size_t(level)];
      if (!blocks.empty() && blocks.back().place == above) continue;
      const std::size_t parent = level == 0 ? none : levels_[std::size_t(level) - 1].size() - 1;
      blocks.push_back({above, owner, parent, owner == ranks_.rank ? slots++ : none});
    }
    if (owner == ranks_.rank) {
      leaf_slots.push_back(levels_[std::size_t(place.level)].back().slot);
    }
  }
  values_.resize(slots * size_);
  for (std::size_t leaf = 0; leaf < leaf_slots.size(); ++leaf) {
    std::copy_n(mesh_.values.begin() + std::ptrdiff_t(leaf * size_), size_,
                values_.begin() + std::ptrdiff_t(leaf_slots[leaf] * size_));
  }
}

void block_levels::average(std::size_t level) {
  const auto& blocks = levels_[level];
  send_from_owners(
      blocks, ranks_, size_ >> unsigned(mesh_.dimensions),
      [&](std::size_t i) { return levels_[level - 1][blocks[i].parent].owner; },
      [&](std::size_t i) { return means_of(blocks[i]); },
      [&](std::size_t i, const double* means) { put(blocks[i], means); });
}

std::array<std::size_t, 3> block_levels::extent() const {
  const auto n = std::size_t(mesh_.cells);
  return {n, n, mesh_.dimensions == 3 ? n : 1};
}

template <class Use>
void block_levels::for_each_mean(Use use) const {
  const auto [nx, ny, nz] = extent();
  std::size_t number = 0;
  for (std::size_t field = 0; field < mesh_.fields.size(); ++field) {
    for (std::size_t z = 0; z < std::max<std::size_t>(nz / 2, 1); ++z) {
      for (std::size_t y = 0; y < ny / 2; ++y) {
        for (std::size_t x = 0; x < nx / 2; ++x) use(field, std::array{x, y, z}, number++);
      }
    }
  }
}

std::size_t block_levels::offset(std::size_t field, std::size_t x, std::size_t y,
                                 std::size_t z) const {
  const auto [nx, ny, nz] = extent();
  return ((field * nz + z) * ny + y) * nx + x;
}

std::vector<double> block_levels::means_of(const mesh_block& block) const {
  std::vector<double> means(size_ >> unsigned(mesh_.dimensions));
  const double* const from = values(block);
  const std::size_t depth = mesh_.dimensions == 3 ? 2 : 1;
  for_each_mean([&](std::size_t field, const auto& cell, std::size_t number) {
    double sum = 0;
    for (std::size_t z = 0; z < depth; ++z) {
      for (const std::size_t y : {0, 1}) {
        for (const std::size_t x : {0, 1}) {
          sum += from[offset(field, 2 * cell[0] + x, 2 * cell[1] + y, depth * cell[2] + z)];
        }
      }
    }
    means[number] = sum / double(4 * depth);
  });
  return means;
}

void block_levels::put(const mesh_block& child, const double* means) {
  const mesh_block& parent = levels_[std::size_t(child.place.level) - 1][child.parent];
  std::array<std::size_t, 3> first{};
  for (std::size_t axis = 0; axis < std::size_t(mesh_.dimensions); ++axis) {
    first[axis] = (child.place.index[axis] & 1) * extent()[axis] / 2;
  }
  double* const to = values_.data() + parent.slot * size_;
  for_each_mean([&](std::size_t field, const auto& cell, std::size_t number) {
    to[offset(field, first[0] + cell[0], first[1] + cell[1], first[2] + cell[2])] = means[number];
  });
}

}  // namespace common
