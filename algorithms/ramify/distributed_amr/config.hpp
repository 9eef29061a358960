// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Report and snapshots of a run on several ranks; plain C++.

#include <cstddef>
#include <cstdint>
#include <ramify/amr/config.hpp>
#include <ramify/amr/snapshot.hpp>
#include <ramify/cluster/report.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The report of a distributed run. All ranks have the same one, except the numbers of amr_report
/// that count grids and bytes of memory: these are of the own rank.
struct distributed_amr_report : amr_report {
  cluster_report cluster;          ///< of the communicator since its construction
  std::uint64_t moved_blocks = 0;  ///< blocks that regrids have moved to other ranks
  std::size_t halo_blocks = 0;     ///< blocks whose values two ranks have, summed over all ranks
  double cost_imbalance = 1;       ///< largest cost of a rank's blocks over the mean
};

/// The mesh of a distributed run, and the values of one rank: mesh_snapshot::leaves has all leaves,
/// and mesh_snapshot::values the values of the rank's leaves, in the same order.
struct mesh_part_snapshot : mesh_snapshot {
  std::vector<int> owners;  ///< the rank of each leaf
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::amr::inline RAMIFY_ABI {

/// Checks an environment, and that the host launches all grids of the run on several ranks.
/// \throws std::invalid_argument naming the field
inline void check_launches_of_ranks(const environment& env) {
  validate(env);
  const auto refuse = [](const std::string& field, const std::string& allowed) {
    throw std::invalid_argument("environment." + field + "; it must be automatic or " + allowed +
                                " on several ranks, because the host communicates between grids");
  };
  if (env.route == route::device) refuse("route is device", "flat");
  if (env.flat_loop == flat_loop::graph) refuse("flat_loop is graph", "host");
}

}  // namespace ramify::detail::amr::inline RAMIFY_ABI
