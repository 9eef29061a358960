// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's rooted trees on one backend.

#include <ramify/rooted_tree.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Numbers and folds a forest on one backend. All arrays are the caller's, in any memory. nvcc and
/// the C++ compiler each compile it once.
template <build where, class T>
rooted_tree_report rooted_tree_on(const tree_shape& shape, const tree_number_arrays& numbers,
                                  const tree_folds<T, tree_operator>& folds,
                                  const rooted_tree_options& options, const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
