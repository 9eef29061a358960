// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's tree search on one backend.

#include <ramify/tree_search.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Searches a tree on one backend. It is compiled once by nvcc and once by the C++ compiler.
template <build where>
traverse_report tree_search_on(const uts_parameters& tree, const traverse_options& options,
                               const environment& env, uts_counts& counts);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
