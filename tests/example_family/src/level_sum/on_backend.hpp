// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares level_sum_on(), which the facade's level_sum() calls on a backend.

#include <ramify/level_sum.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Sums `numbers` on the backend `where`, stores the result in `sum`, and returns the report. It is
/// compiled once by nvcc and once by the C++ compiler.
template <build where>
level_sum_report level_sum_on(std::span<const std::uint64_t> numbers,
                              const level_sum_options& options, const environment& env,
                              std::uint64_t& sum);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
