// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's quadrature on one backend.

#include <ramify/quadrature.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Integrates `f` on one backend, stores the result, and returns its report. It is compiled once by
/// nvcc and once by the C++ compiler.
template <build where>
quadrature_report quadrature_on(const genz_integrand& f, const quadrature_options& options,
                                const environment& env, quadrature_result& result);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
