// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/mandelbrot.hpp>

#include "facade/backend_choice.hpp"
#include "facade/started_call.hpp"
#include "mandelbrot/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

namespace {

/// Checks the arguments of both functions. \throws std::invalid_argument
void check(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
           std::span<pixel_origin> origins, const mandelbrot_options& options,
           const environment& env) {
  validate(env);
  validate(options);
  validate(view);
  const detail::required_count pixels{"mandelbrot", view.pixels(), "pixels"};
  pixels.check(dwells.size(), "dwells");
  detail::mandelbrot::check_overlap(view, dwells.data(), pixels.data_of(origins, "origins"));
}

}  // namespace

mandelbrot_report mandelbrot(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                             std::span<pixel_origin> origins, const mandelbrot_options& options,
                             const environment& env) {
  check(view, dwells, origins, options, env);
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::mandelbrot_on<where>(view, dwells, origins, options, env);
  });
}

async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                              std::span<std::uint32_t> dwells,
                                              std::span<pixel_origin> origins,
                                              const mandelbrot_options& options,
                                              const environment& env) {
  check(view, dwells, origins, options, env);
  return detail::facade::start_on_backend("mandelbrot", env, [&](auto where) {
    return detail::facade::start_mandelbrot_on<where>(view, dwells, origins, options, env);
  });
}

}  // namespace ramify::inline RAMIFY_ABI
