// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Configuration and report of distributed_traverse(); plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/traverse/config.hpp>

namespace ramify {

/// Configuration of a distributed traversal. It must be the same on all ranks, except for `trace`.
/// `strategy` must be work_sharing, and `flat_loop` must not be graph.
struct distributed_traverse_config : traverse_config {
  /// Steps of a warp in a round, from 1 to 2^20; then the warp donates its frontier nodes. A step
  /// visits up to 32 nodes. With many steps the ranks communicate seldom; with few they wait less.
  /// The first round has at most 64 steps, and the number doubles at each comparison of the ranks.
  unsigned steps = 512;
  /// Maximum number of rounds between two comparisons of the ranks, from 1 to 1,024. The number
  /// doubles from 1 to this; several ranks with long lists have at most 4 rounds.
  unsigned rounds = 8;
};

/// Checks a configuration. \throws std::invalid_argument naming the field and its range
inline void validate(const distributed_traverse_config& config) {
  validate(static_cast<const traverse_config&>(config));
  detail::check_field(config.strategy == traverse_strategy::work_sharing,
                      "distributed_traverse_config.strategy", to_string(config.strategy),
                      "work_sharing");
  detail::check_field(config.flat_loop != flat_loop::graph, "distributed_traverse_config.flat_loop",
                      to_string(config.flat_loop),
                      "automatic or host, because the host communicates between rounds");
  detail::check_field(config.steps >= 1 && config.steps <= 1u << 20,
                      "distributed_traverse_config.steps", config.steps, "in [1, 2^20]");
  detail::check_field(config.rounds >= 1 && config.rounds <= 1024,
                      "distributed_traverse_config.rounds", config.rounds, "in [1, 1024]");
}

/// What a distributed traversal did. The fields of traverse_report are those of this rank; the
/// others are the same on all ranks.
struct distributed_traverse_report : traverse_report {
  std::uint64_t comparisons = 0;  ///< how often the ranks compared their numbers of frontier nodes
  std::uint64_t exchanges = 0;    ///< comparisons after which nodes moved
  std::uint64_t moved_nodes = 0;  ///< frontier nodes that moved between ranks, sum over all ranks
};

/// Prints one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const distributed_traverse_report& r) {
  return out << static_cast<const traverse_report&>(r) << "comparisons: " << r.comparisons
             << "\nexchanges: " << r.exchanges << "\nmoved nodes: " << r.moved_nodes << '\n';
}

}  // namespace ramify
