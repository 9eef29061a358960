// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's mandelbrot() for the backend of the compiler that reads this file.

#include <ramify/mandelbrot.cuh>
#include <ramify/version.hpp>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "mandelbrot/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
mandelbrot_report mandelbrot_on<this_build>(const mandelbrot_view& view,
                                            std::span<std::uint32_t> dwells,
                                            std::span<pixel_origin> origins,
                                            const mandelbrot_options& options,
                                            const environment& env) {
  facade_call call(env);
  const on_device device_dwells(dwells, array_role::output, call, "dwells");
  const on_device device_origins(origins, array_role::output, call, "origins");
  const mandelbrot_report report =
      ramify::mandelbrot(view, device_dwells.data(), device_origins.data(), options, env);
  return call.finish(report, device_dwells, device_origins);
}

template <>
started_call<mandelbrot_report> start_mandelbrot_on<this_build>(const mandelbrot_view& view,
                                                                std::span<std::uint32_t> dwells,
                                                                std::span<pixel_origin> origins,
                                                                const mandelbrot_options& options,
                                                                const environment& env) {
  pixel_origin* const to_origins = origins.empty() ? nullptr : origins.data();
  return start_call<mandelbrot_report>(
      env, [&] { return mandelbrot_scratch_bytes(view, options); },
      [&](const environment& here) {
        return ramify::mandelbrot_async(view, dwells.data(), to_origins, options, here);
      });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
