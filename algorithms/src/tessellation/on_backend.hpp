// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's tessellations on one backend.

#include <ramify/tessellation.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Tessellates on one backend, stores the result, and returns the report. Each is compiled once by
/// nvcc and once by the C++ compiler.
template <build where>
tessellation_report tessellate_curves_on(std::span<const cubic_curve> curves,
                                         const tessellation_options& options,
                                         const environment& env, polylines& result);
template <build where>
tessellation_report tessellate_patches_on(std::span<const bicubic_patch> patches,
                                          const tessellation_options& options,
                                          const environment& env, triangle_mesh& result);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
