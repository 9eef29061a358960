// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which frontier nodes move between ranks; plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace ramify::detail::distributed_traverse {

/// Nodes that move from one rank to another.
struct node_transfer {
  int from, to;
  std::uint64_t count;

  friend bool operator==(const node_transfer&, const node_transfer&) = default;
};

/// Returns the transfers after which each rank has the mean of `counts`, rounded up or down. The
/// result is empty if each rank has at least half of the mean, or if no transfer helps: one node
/// stays where it is. No transfer raises a rank above `most` nodes. A rank sends or receives, but
/// not both. O(ranks).
///
///     counts 9, 0, 0   -->   0 to 1: 3, 0 to 2: 3
[[nodiscard]] inline std::vector<node_transfer> plan_transfers(
    std::span<const std::uint64_t> counts, std::uint64_t most) {
  const std::size_t ranks = counts.size();
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (2 * ranks * std::ranges::min(counts) >= total) return {};
  // 1. The number of nodes that each rank should have. Ranks with more than the mean keep one of
  //    the nodes that remain after the division.
  std::vector<std::uint64_t> wanted(ranks, total / ranks);
  std::uint64_t left = total % ranks;
  for (const bool has_more : {true, false}) {
    for (std::size_t r = 0; r < ranks && left > 0; ++r) {
      if ((counts[r] > total / ranks) != has_more) continue;
      ++wanted[r];
      --left;
    }
  }
  // 2. The surplus of the lowest ranks that have one moves to the lowest ranks with a deficit.
  std::vector<node_transfer> plan;
  std::size_t from = 0;
  std::uint64_t sent = 0;
  for (std::size_t to = 0; to < ranks; ++to) {
    const std::uint64_t target = std::min(wanted[to], most);
    std::uint64_t deficit = target > counts[to] ? target - counts[to] : 0;
    while (deficit > 0) {
      while (from < ranks && counts[from] <= wanted[from] + sent) {
        ++from;
        sent = 0;
      }
      if (from == ranks) return plan;
      const std::uint64_t n = std::min(deficit, counts[from] - wanted[from] - sent);
      plan.push_back({static_cast<int>(from), static_cast<int>(to), n});
      sent += n;
      deficit -= n;
    }
  }
  return plan;
}

}  // namespace ramify::detail::distributed_traverse
