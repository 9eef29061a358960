// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Images for the tests of mandelbrot(), with the checks of each one, and the views and options of
/// the tests.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <ramify/mandelbrot.cuh>
#include <ramify/mandelbrot.hpp>
#include <vector>

#include "device_vectors.cuh"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using ramify::environment;
using ramify::mandelbrot_method;
using ramify::mandelbrot_options;
using ramify::mandelbrot_report;
using ramify::mandelbrot_view;
using ramify::pixel_origin;
using ramify::route;

using complex = std::complex<double>;

inline constexpr std::uint32_t unwritten = ~0u;

struct image {
  std::vector<std::uint32_t> dwells;
  std::vector<pixel_origin> origins;
  mandelbrot_report report;
};

/// Checks that each pixel is written, that the report counts the origins of all pixels, and that
/// rectangles write only inside the border of the image.
inline void check_pixels(const mandelbrot_view& view, const mandelbrot_options& options,
                         const image& made) {
  const auto written = std::ranges::count(made.dwells, unwritten) == 0;
  BOOST_TEST(written);
  const auto filled = std::ranges::count(made.origins, pixel_origin::filled);
  BOOST_TEST(made.report.filled_pixels == std::uint64_t(filled));
  BOOST_TEST(made.report.iterated_pixels == made.origins.size() - std::size_t(filled));
  if (options.method == mandelbrot_method::exhaustive) return;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < view.pixels(); ++i) {
    const std::size_t x = i % view.width;
    const std::size_t y = i / view.width;
    const bool on_border = x == 0 || y == 0 || x == view.width - 1 || y == view.height - 1;
    if (on_border && made.origins[i] != pixel_origin::line) ++wrong;
  }
  BOOST_TEST(wrong == 0u);
}

/// Computes an image, by default on the automatic route.
inline image compute(const mandelbrot_view& view, const mandelbrot_options& options,
                     const environment& env = {}) {
  image made;
  const auto dwells = upload(std::vector(view.pixels(), unwritten));
  const auto origins = upload(std::vector(view.pixels(), pixel_origin(9)));
  made.report = with_grids_counted(
      [&] { return ramify::mandelbrot(view, dwells.data(), origins.data(), options, env); });
  made.dwells = download(dwells);
  made.origins = download(origins);
  check_pixels(view, options, made);
  return made;
}

inline image compute_all(const mandelbrot_view& view, mandelbrot_options options) {
  options.method = mandelbrot_method::exhaustive;
  image made = compute(view, options);
  BOOST_TEST(made.report.host_grids == 1u);
  BOOST_TEST(made.report.filled_pixels == 0u);
  return made;
}

inline std::size_t differing(const std::vector<std::uint32_t>& a,
                             const std::vector<std::uint32_t>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

/// The whole set, a part with filaments, a set that is small against a tile, and Julia sets: one
/// in one piece, and two that are dust, one of them with a large constant.
inline const mandelbrot_view views[] = {
    {.width = 280, .height = 260},
    {.width = 120, .height = 120, .center = {-0.7436, 0.1318}, .zoom = 200},
    {.width = 140, .height = 130, .center = {0.03, 0.02}, .zoom = 0.01},
    {.width = 160, .height = 100, .center = 0, .zoom = 0.9, .julia = complex(-0.1226, 0.7449)},
    {.width = 128, .height = 128, .center = 0, .julia = complex(-0.6, 0.6)},
    {.width = 200, .height = 160, .center = 0, .zoom = 0.075, .julia = complex(0, 100)},
};

/// The options of a deep recursion on a small image: one tile, and the smallest tasks.
inline mandelbrot_options deep() {
  mandelbrot_options options;
  options.max_iterations = 200;
  options.tile = 4096;
  options.launches.threshold = 1;
  return options;
}

}  // namespace tests::inline RAMIFY_BUILD
