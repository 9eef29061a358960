// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's distributed branch and bound on one backend.

#include <ramify/distributed_branch_and_bound.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Solves a problem with all ranks on one backend, stores the solution, and returns the report.
/// Each is compiled once by nvcc and once by the C++ compiler.
template <build where>
distributed_branch_and_bound_report distributed_knapsack_on(
    communicator& comm, const knapsack_instance& instance, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env, knapsack_solution& solution);
template <build where>
distributed_branch_and_bound_report distributed_flow_shop_on(
    communicator& comm, const flow_shop_instance& shop, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env, flow_shop_solution& solution);
template <build where>
distributed_traverse_report distributed_count_queens_on(communicator& comm, unsigned n,
                                                        const queens_options& options,
                                                        const exchange_options& exchange,
                                                        const environment& env,
                                                        queens_counts& counts);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
