// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// region_lists: the regions of blocks that a rank sends to the others, and receives from them.
/// Plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_ABI {

/// A region of a block that is exchanged: the layers of cells at a face, or the flux register of a
/// face. If the whole block is exchanged, `face` is 0.
struct block_region {
  int node;
  int face;
};

/// The regions that a rank sends and receives, peer by peer in the order of the ranks. Both ranks
/// of a message have its regions in the same order.
struct region_lists {
  std::vector<block_region> send, receive;
  std::vector<unsigned> send_counts, receive_counts;  ///< for each rank
};

/// Collects the regions of messages between the ranks, from the view of one of them.
class region_collector {
 public:
  region_collector(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  /// Notes that the rank `to` reads a region whose values the rank `from` has.
  void add(int from, int to, const block_region& region) {
    if (from == to) return;
    if (from == rank_) sent_.push_back(entry_of(to, region));
    if (to == rank_) received_.push_back(entry_of(from, region));
  }
  /// Returns the regions without duplicates, in the order of rank, node and face.
  [[nodiscard]] region_lists lists() {
    region_lists result;
    order(sent_, result.send, result.send_counts);
    order(received_, result.receive, result.receive_counts);
    return result;
  }

 private:
  using entry = std::uint64_t;  // peer, node and face, in the order of their importance

  static constexpr unsigned face_bits = 4;
  static constexpr unsigned node_bits = 32;

  [[nodiscard]] static entry entry_of(int peer, const block_region& region) {
    const entry of_node = entry(unsigned(peer)) << node_bits | unsigned(region.node);
    return of_node << face_bits | unsigned(region.face);
  }

  void order(std::vector<entry>& entries, std::vector<block_region>& regions,
             std::vector<unsigned>& counts) const {
    std::ranges::sort(entries);
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    counts.assign(std::size_t(ranks_), 0);
    for (const entry e : entries) {
      const entry of_node = e >> face_bits;
      regions.push_back({int(of_node & ~std::uint32_t{0}), int(e & ((1u << face_bits) - 1))});
      ++counts[std::size_t(of_node >> node_bits)];
    }
  }

  int rank_;
  int ranks_;
  std::vector<entry> sent_, received_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_ABI
