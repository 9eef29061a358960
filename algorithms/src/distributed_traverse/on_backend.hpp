// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's distributed tree search on one backend.

#include <ramify/distributed_traverse.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Searches a tree with all ranks on one backend. It is compiled once by nvcc and once by the C++
/// compiler.
template <build where>
distributed_traverse_report distributed_tree_search_on(communicator& comm,
                                                       const uts_parameters& tree,
                                                       const traverse_options& options,
                                                       const exchange_options& exchange,
                                                       const environment& env, uts_counts& counts);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
