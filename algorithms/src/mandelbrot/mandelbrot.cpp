// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/mandelbrot.hpp>

#include <stdexcept>
#include <string>

#include "facade/backend_choice.hpp"
#include "mandelbrot/on_backend.hpp"

namespace ramify {

mandelbrot_report mandelbrot(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                             const mandelbrot_options& options, std::span<pixel_origin> origins) {
  validate(options);
  validate(view);
  const auto check_size = [&](std::size_t size, const char* name) {
    if (size == view.pixels()) return;
    throw std::invalid_argument("mandelbrot: " + std::to_string(view.pixels()) + " pixels, but " +
                                std::to_string(size) + " " + name);
  };
  check_size(dwells.size(), "dwells");
  if (!origins.empty()) check_size(origins.size(), "origins");
  detail::mandelbrot::check_overlap(view, dwells.data(),
                                    origins.empty() ? nullptr : origins.data());
  return detail::facade::on_backend(options.backend, options.trace != nullptr, [&](auto where) {
    return detail::facade::mandelbrot_on<where>(view, dwells, options, origins);
  });
}

}  // namespace ramify
