// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the function that builds the tree of a spatial_index on one backend. Its definition is
/// compiled twice, for the GPU and for the CPU executor.

#include <memory>
#include <ramify/spatial_tree.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Builds a tree on the backend `where`. One definition per build.
template <build where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_tree_options& options,
    const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
