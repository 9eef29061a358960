// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How spatial_index makes its tree on one backend. Each backend's implementation is compiled
/// separately, for the GPU and for the CPU executor.

#include <memory>
#include <ramify/spatial_tree.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// Builds a tree on the backend `where`. One definition per build.
template <build where, class Real, int dim>
std::unique_ptr<spatial_backend<Real, dim>> make_spatial_on(
    std::span<const std::array<Real, dim>> points, const spatial_tree_options& options);

}  // namespace ramify::detail::facade
