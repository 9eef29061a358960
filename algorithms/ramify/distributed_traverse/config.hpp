// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of distributed_traverse(); plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/runtime/environment.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// How often the ranks of a distributed call exchange frontier nodes.
struct exchange_options {
  /// Steps of a warp in a round, from 1 to 2^20; then the warp donates its frontier nodes. A step
  /// visits up to 32 nodes. With many steps the ranks communicate seldom; with few they wait less.
  /// The first round has at most 64 steps, and the number doubles at each comparison of the ranks.
  unsigned steps = 512;
  /// Maximum number of rounds between two comparisons of the ranks, from 1 to 1,024. The number
  /// doubles from 1 to this; several ranks with long lists have at most 4 rounds.
  unsigned rounds = 8;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const exchange_options& exchange) {
  detail::check_field(exchange.steps >= 1 && exchange.steps <= 1u << 20, "exchange_options.steps",
                      exchange.steps, "in [1, 2^20]");
  detail::check_field(exchange.rounds >= 1 && exchange.rounds <= 1024, "exchange_options.rounds",
                      exchange.rounds, "in [1, 1024]");
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

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI {

/// Checks the arguments of a call, and refuses what a traversal by ranks cannot do.
/// \throws std::invalid_argument naming the field and its range
inline void check_arguments(const traverse_options& options, const exchange_options& exchange,
                            const environment& env) {
  validate(options);
  validate(exchange);
  validate(env);
  check_field(options.strategy == traverse_strategy::work_sharing, "traverse_options.strategy",
              to_string(options.strategy), "work_sharing");
  check_field(env.flat_loop != flat_loop::graph, "environment.flat_loop", to_string(env.flat_loop),
              "automatic or host, because the host communicates between rounds");
}

}  // namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI
