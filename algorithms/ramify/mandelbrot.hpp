// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mandelbrot() for plain C++: images of the Mandelbrot set and of Julia sets, on the CUDA backend
/// or on the CPU executor, with compiled kernels. Also the options and the report of both
/// interfaces.
///
///     const ramify::mandelbrot_view view{.width = 800, .height = 600};
///     std::vector<std::uint32_t> dwells(view.pixels());
///     const auto report = ramify::mandelbrot(view, dwells, {.max_iterations = 1000});
///     dwells[0]                 // --> 3: z leaves the disk in the third iteration
///     report.filled_pixels      // pixels that were not iterated
///
/// Dwell      the number of iterations z <- z^2 + c until |z| is more than 2, at most
///            max_iterations, which stands for the set. For a Julia set, 2 or |c|, the larger one.
/// Stream     A call is ordered after earlier work in the environment's stream.
/// Waits      mandelbrot() returns when the image is complete. mandelbrot_async() does not wait:
///            work that enters the stream after it sees the image, and get() waits. On the
///            CUDA backend its arrays must be in device, managed or pinned memory, and exist until
///            get() has returned. The CPU executor completes it before it returns.
/// Capture    A graph can capture mandelbrot_async(). Arrays and run must exist as long as the
///            graph may be launched. If no memory is handed in, the run has memory of its own.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is changed; cuda_error,
///            device_launch_error.
///
/// <ramify/mandelbrot.cuh>, for CUDA code, describes the methods.

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The maximum width and height of an image, in pixels.
inline constexpr std::uint32_t max_mandelbrot_side = 65536;

/// An image: its pixels, and the part of the complex plane that it shows. The real axis points to
/// the right, the imaginary axis up. Rows are stored from the top, pixels from the left.
struct mandelbrot_view {
  std::uint32_t width = 512;   ///< in pixels, in [1, 65536]
  std::uint32_t height = 512;  ///< in pixels, in [1, 65536]
  /// The point in the middle of the image. Both parts must be in [-1e6, 1e6].
  std::complex<double> center{-0.75, 0};
  /// The shorter side of the image is 3 / zoom long. At least 1e-6; at most so large that double
  /// precision distinguishes neighboring pixels.
  double zoom = 1;
  /// The constant c of a Julia set, both parts in [-1e6, 1e6]; none: the Mandelbrot set.
  std::optional<std::complex<double>> julia{};

  /// Returns the number of pixels.
  [[nodiscard]] std::size_t pixels() const { return std::size_t{width} * height; }
  /// Returns the distance of neighboring pixels in the plane.
  [[nodiscard]] double step() const { return 3 / zoom / std::min(width, height); }
};

/// How an image is computed.
enum class mandelbrot_method {
  mariani_silver,  ///< rectangles whose border has one dwell are filled, others are divided
  exhaustive,      ///< all pixels are iterated, by one grid
};

/// Returns the name of the enumerator, or "?" if `m` is none.
[[nodiscard]] constexpr std::string_view to_string(mandelbrot_method m) {
  return choice_name(m, {"mariani_silver", "exhaustive"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline mandelbrot_method parse_mandelbrot_method(std::string_view text) {
  return parse_choice<mandelbrot_method>("method", text);
}

/// How the dwell of a pixel was found.
enum class pixel_origin : std::uint8_t {
  line,      ///< iterated, on the border of a rectangle
  filled,    ///< copied from the border of its rectangle
  iterated,  ///< iterated, in a small rectangle or by the exhaustive method
};

/// Options of mandelbrot(), for both interfaces.
struct mandelbrot_options {
  mandelbrot_method method = mandelbrot_method::mariani_silver;  ///< which pixels are iterated
  std::uint32_t max_iterations = 1000;                           ///< in [1, 10^9]
  /// Points of the main cardioid and of the disk of period 2 get max_iterations without an
  /// iteration, with both methods. They are nine tenths of the set. Julia sets ignore this option.
  bool skip_bulbs = false;
  /// Side in pixels of the rectangles into which the whole image is divided first. In [8, 65536],
  /// or 0: 64 to 256, so that a GPU gets enough of them.
  std::uint32_t tile = 0;
  /// How rectangles share child grids. The threshold is in pixels inside of a border: smaller
  /// rectangles are iterated pixel by pixel in the block that made them. Less than 64 counts as 64.
  launch_granularity launches{.grain = granularity::per_block};
};

/// Report of an image. Each pixel is either iterated or filled.
struct mandelbrot_report : run_report {
  std::uint64_t iterated_pixels = 0;     ///< pixels whose dwell was computed
  std::uint64_t filled_pixels = 0;       ///< pixels that got the dwell of a border
  std::uint64_t filled_rectangles = 0;   ///< rectangles with a uniform border
  std::uint64_t divided_rectangles = 0;  ///< rectangles that were divided
  std::uint64_t small_rectangles = 0;    ///< iterated pixel by pixel
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const mandelbrot_report& r) {
  return out << static_cast<const run_report&>(r) << "iterated pixels: " << r.iterated_pixels
             << "\nfilled pixels: " << r.filled_pixels
             << "\nfilled rectangles: " << r.filled_rectangles
             << "\ndivided rectangles: " << r.divided_rectangles
             << "\nsmall rectangles: " << r.small_rectangles << '\n';
}

/// Checks a view. \throws std::invalid_argument naming the field and its range
inline void validate(const mandelbrot_view& view) {
  const auto require = [](bool valid, const char* field, const auto& value,
                          const std::string& range) {
    if (valid) return;
    std::ostringstream text;
    text << "mandelbrot_view." << field << " is " << value << "; " << range;
    throw std::invalid_argument(text.str());
  };
  const std::string sides = "it must be in [1, " + std::to_string(max_mandelbrot_side) + "]";
  require(view.width >= 1 && view.width <= max_mandelbrot_side, "width", view.width, sides);
  require(view.height >= 1 && view.height <= max_mandelbrot_side, "height", view.height, sides);
  const auto in_range = [](const std::complex<double>& z) {
    return std::fabs(z.real()) <= 1e6 && std::fabs(z.imag()) <= 1e6;  // false for NaN
  };
  const std::string parts = "both parts must be in [-1e6, 1e6]";
  require(in_range(view.center), "center", view.center, parts);
  if (view.julia) require(in_range(*view.julia), "julia", *view.julia, parts);
  require(std::isfinite(view.zoom) && view.zoom >= 1e-6, "zoom", view.zoom,
          "it must be finite and at least 1e-6");
  // The coordinate of a pixel has a round-off of a few ulps.
  const double largest = std::max(std::fabs(view.center.real()) + view.step() / 2 * view.width,
                                  std::fabs(view.center.imag()) + view.step() / 2 * view.height);
  require(view.step() >= 0x1p-50 * largest, "zoom", view.zoom,
          "with this center and size, neighboring pixels have the same coordinates in double "
          "precision");
}

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const mandelbrot_options& options) {
  check_enumerator(options.method, "mandelbrot_options.method");
  detail::check_field(options.max_iterations >= 1 && options.max_iterations <= 1'000'000'000,
                      "mandelbrot_options.max_iterations", options.max_iterations,
                      "in [1, 1000000000]");
  detail::check_field(
      options.tile == 0 || (options.tile >= 8 && options.tile <= max_mandelbrot_side),
      "mandelbrot_options.tile", options.tile, "0 or in [8, 65536]");
  validate(options.launches, "mandelbrot_options.launches");
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::mandelbrot::inline RAMIFY_ABI {

/// Checks that the arrays of an image do not overlap. `origins` may be null.
/// \throws std::invalid_argument
inline void check_overlap(const mandelbrot_view& view, const std::uint32_t* dwells,
                          const pixel_origin* origins) {
  check_overlaps("mandelbrot", std::array{output_array(dwells, view.pixels(), "dwells"),
                                          output_array(origins, view.pixels(), "origins")});
}

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Computes the dwells of the pixels of `view`, and waits.
///
/// \param dwells   view.pixels() elements, which are written; the row of the top is the first
/// \param origins  empty, or view.pixels() elements, which are written: how each dwell was found.
///                 Must not overlap `dwells`.
/// \param env      its memory: mandelbrot_scratch_bytes() of <ramify/mandelbrot.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
mandelbrot_report mandelbrot(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                             std::span<pixel_origin> origins, const mandelbrot_options& options,
                             const environment& env = {});
/// Overload without origins.
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                                    const mandelbrot_options& options,
                                    const environment& env = {}) {
  return mandelbrot(view, dwells, std::span<pixel_origin>{}, options, env);
}
/// Overload with the default options.
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::span<std::uint32_t> dwells,
                                    const environment& env = {}) {
  return mandelbrot(view, dwells, mandelbrot_options{}, env);
}

/// Starts mandelbrot(), and does not wait. \throws std::invalid_argument, unavailable, cuda_error
async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                              std::span<std::uint32_t> dwells,
                                              std::span<pixel_origin> origins,
                                              const mandelbrot_options& options,
                                              const environment& env = {});
/// Overload without origins.
inline async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                                     std::span<std::uint32_t> dwells,
                                                     const mandelbrot_options& options,
                                                     const environment& env = {}) {
  return mandelbrot_async(view, dwells, std::span<pixel_origin>{}, options, env);
}
/// Overload with the default options.
inline async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                                     std::span<std::uint32_t> dwells,
                                                     const environment& env = {}) {
  return mandelbrot_async(view, dwells, mandelbrot_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
