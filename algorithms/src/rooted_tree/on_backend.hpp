// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ramify/rooted_tree.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::facade {

/// Numbers a forest on one backend. Defined in a file that is compiled once by nvcc and once by the C++
/// compiler.
template <build where>
rooted_tree_report number_tree_on(const tree_shape& shape, const tree_number_spans& numbers,
                                  const rooted_tree_options& options);

/// Folds on one backend, likewise; an empty result is not wanted.
template <build where, class T>
rooted_tree_report fold_tree_on(const tree_shape& shape, std::span<const T> values,
                                std::span<T> leaffix, std::span<T> rootfix, tree_operator combine,
                                const rooted_tree_options& options);

}  // namespace ramify::facade
