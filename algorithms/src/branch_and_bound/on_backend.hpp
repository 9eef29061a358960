// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's branch and bound on one backend.

#include <ramify/branch_and_bound.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Solves a problem on one backend, stores the solution, and returns the report. Each is compiled
/// once by nvcc and once by the C++ compiler.
template <build where>
branch_and_bound_report knapsack_on(const knapsack_instance& instance,
                                    const branch_and_bound_options& options, const environment& env,
                                    knapsack_solution& solution);
template <build where>
branch_and_bound_report flow_shop_on(const flow_shop_instance& shop,
                                     const branch_and_bound_options& options,
                                     const environment& env, flow_shop_solution& solution);
template <build where>
traverse_report count_queens_on(unsigned n, const queens_options& options, const environment& env,
                                queens_counts& counts);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
