// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The report of a communicator: what its ranks exchanged, and how evenly they worked.

#include <cstdint>
#include <ostream>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// What the ranks of a communicator did. All ranks have the same report.
struct cluster_report {
  int ranks = 1;                     ///< number of ranks
  std::uint64_t bytes_sent = 0;      ///< content of messages to other ranks, sum over all ranks
  std::uint64_t bytes_received = 0;  ///< content of messages from other ranks, sum over all ranks
  /// The time in calls of the communicator, of the slowest rank. On the CUDA backend a call also
  /// waits for the kernels in its stream; this time counts as communication. Calls in the order of
  /// a stream wait for no kernels.
  double communication_ms = 0;
  /// The longest time outside of these calls over the mean of all ranks: 1 if all ranks computed
  /// for the same time.
  double imbalance = 1;
};

/// Writes one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const cluster_report& r) {
  return out << "ranks: " << r.ranks << '\n'
             << "bytes sent: " << r.bytes_sent << '\n'
             << "bytes received: " << r.bytes_received << '\n'
             << "milliseconds of communication: " << r.communication_ms << '\n'
             << "imbalance: " << r.imbalance << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
