// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exception that all ranks of a communicator throw if one of them fails.

#include <ramify/version.hpp>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// A rank of a communicator failed. All ranks throw this exception, with the same rank and cause.
/// On the failed rank the exception that communicator::run() caught is nested in it
/// (std::rethrow_if_nested).
class cluster_error : public std::runtime_error {
 public:
  /// Makes the error of a rank, with the message of its exception.
  cluster_error(int rank, const std::string& cause)
      : std::runtime_error("rank " + std::to_string(rank) + ": " + cause),
        rank_(rank),
        cause_(cause) {}

  /// Returns the rank that failed. If several fail at the same time, it is the lowest one.
  [[nodiscard]] int rank() const { return rank_; }
  /// Returns the message of the exception on that rank.
  [[nodiscard]] const std::string& cause() const { return cause_; }

 private:
  int rank_;
  std::string cause_;
};

}  // namespace ramify::inline RAMIFY_ABI
