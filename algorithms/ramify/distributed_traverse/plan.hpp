// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which frontier nodes move between ranks; plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/version.hpp>
#include <span>
#include <utility>
#include <vector>

namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI {

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

/// Returns the transfers after which each rank has an equal part, up to one node, of each list.
/// Rank r gets part (r + s) modulo `ranks` of the list of rank s, so that the parts with one node
/// more go to different ranks. A rank may send and receive. O(ranks^2).
///
///     counts 9, 0, 3   -->   0 to 1: 3, 0 to 2: 3, 2 to 0: 1, 2 to 1: 1
[[nodiscard]] inline std::vector<node_transfer> plan_equal_parts(
    std::span<const std::uint64_t> counts) {
  const std::size_t ranks = counts.size();
  std::vector<node_transfer> plan;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const std::size_t part = (from + to) % ranks;
      const std::uint64_t n = counts[from] * (part + 1) / ranks - counts[from] * part / ranks;
      if (from != to && n > 0) plan.push_back({static_cast<int>(from), static_cast<int>(to), n});
    }
  }
  return plan;
}

/// Decides after each comparison which nodes move. All ranks have the same planner.
class transfer_planner {
 public:
  transfer_planner() = default;
  /// `warps`: of a rank, at most; `most`: nodes that a rank may have after a transfer.
  transfer_planner(std::uint64_t warps, std::uint64_t most)
      : long_list_(warps * nodes_of_warp), most_(most) {}

  /// Returns whether lists are long: their mean has 16 nodes for each warp of a rank. With shorter
  /// lists a round takes about as long as a transfer.
  [[nodiscard]] bool are_long(std::span<const std::uint64_t> counts) const {
    return mean_of(counts) >= long_list_;
  }

  /// Returns the transfers. If lists are long, a rank without nodes would wait for long rounds of
  /// the others. So each rank gets an equal part of each list, at first and whenever a list has
  /// less than 90 % of the mean: then the subtrees of the ranks are of similar size, too. If lists
  /// are short, few nodes move; see plan_transfers().
  [[nodiscard]] std::vector<node_transfer> plan(std::span<const std::uint64_t> counts) {
    const std::uint64_t mean = mean_of(counts);
    if (mean < long_list_ || mean + counts.size() > most_) return plan_transfers(counts, most_);
    const bool is_first = !std::exchange(were_equal_, true);
    const bool is_even = std::ranges::min(counts) >= mean - mean / 10;
    return is_even && !is_first ? std::vector<node_transfer>{} : plan_equal_parts(counts);
  }

 private:
  static constexpr std::uint64_t nodes_of_warp = 16;

  [[nodiscard]] static std::uint64_t mean_of(std::span<const std::uint64_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) / counts.size();
  }

  std::uint64_t long_list_ = nodes_of_warp;
  std::uint64_t most_ = 0;
  bool were_equal_ = false;  ///< the ranks have had equal parts of long lists
};

}  // namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI
