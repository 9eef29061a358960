// SPDX-License-Identifier: BSD-3-Clause
// Images of the Mandelbrot set and of Julia sets.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <optional>
#include <ramify/mandelbrot.hpp>
#include <string>

#include "arrays.hpp"

namespace ramify::python {

namespace {

/// With `starts`, it returns before the image is complete.
template <bool starts>
auto image(const output& dwells, std::complex<double> center, double zoom,
           const std::optional<std::complex<double>>& julia, const std::string& method,
           std::uint32_t max_iterations, bool skip_bulbs, std::uint32_t tile,
           const environment& env) {
  const mandelbrot_view view{.width = static_cast<std::uint32_t>(dwells.shape(1)),
                             .height = static_cast<std::uint32_t>(dwells.shape(0)),
                             .center = center,
                             .zoom = zoom,
                             .julia = julia};
  mandelbrot_options options;
  options.method = parse_mandelbrot_method(method);
  options.max_iterations = max_iterations;
  options.skip_bulbs = skip_bulbs;
  options.tile = tile;
  return outcome_of([&] {
    const auto to = elements<std::uint32_t>(dwells);
    if constexpr (starts) {
      return mandelbrot_async(view, to, options, env);
    } else {
      return mandelbrot(view, to, options, env);
    }
  });
}

}  // namespace

void add_mandelbrot(nb::module_& module) {
  const auto define = [&](const char* name, auto function) {
    module.def(name, function, nb::arg("dwells").noconvert(), nb::arg("center"), nb::arg("zoom"),
               nb::arg("julia").none(), nb::arg("method"), nb::arg("max_iterations"),
               nb::arg("skip_bulbs"), nb::arg("tile"), nb::arg("env"));
  };
  define("mandelbrot", &image<false>);
  define("mandelbrot_async", &image<true>);
}

}  // namespace ramify::python
