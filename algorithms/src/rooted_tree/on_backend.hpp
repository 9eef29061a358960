// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's rooted trees on one backend.

#include <ramify/rooted_tree.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Numbers and folds a forest on one backend. All arrays are the caller's, in any memory. nvcc and
/// the C++ compiler each compile it once.
template <build where, class T>
rooted_tree_report rooted_tree_on(const tree_shape& shape, const tree_number_arrays& numbers,
                                  const tree_folds<T, tree_operator>& folds,
                                  const rooted_tree_options& options, const environment& env);

/// Starts the call of rooted_tree_on(). The arrays must be in memory that kernels can access.
template <build where, class T>
started_call<rooted_tree_report> start_rooted_tree_on(const tree_shape& shape,
                                                      const tree_number_arrays& numbers,
                                                      const tree_folds<T, tree_operator>& folds,
                                                      const rooted_tree_options& options,
                                                      const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
