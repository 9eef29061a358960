// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's mandelbrot() for the backend of the compiler that reads this file.

#include <ramify/mandelbrot.cuh>

#include "facade/device_arrays.cuh"
#include "mandelbrot/on_backend.hpp"

namespace ramify::detail::facade {

template <>
mandelbrot_report mandelbrot_on<this_build>(const mandelbrot_view& view,
                                            std::span<std::uint32_t> dwells,
                                            const mandelbrot_options& options,
                                            std::span<pixel_origin> origins) {
  facade_call call(options.pending_launches);
  const on_device device_dwells(dwells, array_role::output, call, "dwells");
  const on_device device_origins(origins, array_role::output, call, "origins");
  const mandelbrot_report report = ramify::mandelbrot(view, device_dwells.data(), call.stream(),
                                                      options, {}, device_origins.data());
  return call.finish(report, device_dwells, device_origins);
}

}  // namespace ramify::detail::facade
