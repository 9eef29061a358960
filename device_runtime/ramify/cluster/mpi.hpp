// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A communicator for programs that use MPI themselves. Declares nothing where there is no <mpi.h>.

#include <ramify/cluster/communicator.hpp>
#include <ramify/version.hpp>

#if __has_include(<mpi.h>)
#include <mpi.h>

namespace ramify::inline RAMIFY_ABI {

/// Returns a communicator of the ranks of `ranks`, which it duplicates. Collective over `ranks`.
/// \throws as the constructor of communicator
[[nodiscard]] communicator communicator_of(MPI_Comm ranks, const cluster_options& options = {});

}  // namespace ramify::inline RAMIFY_ABI
#endif
