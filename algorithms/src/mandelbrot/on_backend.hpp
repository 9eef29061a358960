// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's mandelbrot() on one backend.

#include <ramify/mandelbrot.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Computes an image on one backend and returns the report. It is compiled once by nvcc and once by
/// the C++ compiler.
template <build where>
mandelbrot_report mandelbrot_on(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                                std::span<pixel_origin> origins, const mandelbrot_options& options,
                                const environment& env);

/// Starts the call of mandelbrot_on(). The arrays must be in memory that kernels can access.
template <build where>
started_call<mandelbrot_report> start_mandelbrot_on(const mandelbrot_view& view,
                                                    std::span<std::uint32_t> dwells,
                                                    std::span<pixel_origin> origins,
                                                    const mandelbrot_options& options,
                                                    const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
