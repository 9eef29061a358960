// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Functions that the facade calls on a backend. nvcc and the C++ compiler each compile
/// on_backend.cuh, which defines them.

#include <ramify/rooted_tree.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// Numbers a forest on one backend.
template <build where>
rooted_tree_report number_tree_on(const tree_shape& shape, const tree_number_spans& numbers,
                                  const rooted_tree_options& options);

/// The arrays of a fold. An empty result is not computed.
template <class T>
struct tree_fold_spans {
  std::span<const T> values;
  std::span<T> leaffix;
  std::span<T> rootfix;
};

/// Folds a forest on one backend.
template <build where, class T>
rooted_tree_report fold_tree_on(const tree_shape& shape, const tree_fold_spans<T>& arrays,
                                tree_operator combine, const rooted_tree_options& options);

}  // namespace ramify::detail::facade
