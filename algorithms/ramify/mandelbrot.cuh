// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mandelbrot() for CUDA code: images of the Mandelbrot set and of Julia sets, by rectangles that
/// are filled or divided.
///
///     const ramify::mandelbrot_view view{.width = 8192, .height = 8192};
///     std::uint32_t* dwells;  // view.pixels() elements of device memory
///     const auto report =
///         ramify::mandelbrot(view, dwells, {.max_iterations = 10'000}, {.stream = s});
///     report.iterated_pixels  // --> a small part of all pixels
///
/// Dwell      the number of iterations z <- z^2 + c until |z| is more than 2, at most
///            max_iterations, in double precision. c is the pixel's place and z begins with 0. For
///            a Julia set, c is constant, z begins with the pixel's place, and the bound of |z| is
///            2 or |c|, the larger one.
/// Methods    mariani_silver: the border of a rectangle is iterated; if all its pixels have one
///            dwell, the rectangle is filled with it, else it is divided. Pixels differ from those
///            of the exhaustive method only where a part of the set, or of a band of one dwell, is
///            so thin that it passes between the pixels of a border. The test counts them.
///            exhaustive: each pixel is iterated.
/// Scratch    with granularity per_block 72 bytes for each 64 pixels (or launches.threshold pixels,
///            if that is larger); with the others 24 bytes. The exhaustive method needs a few
///            hundred bytes.
///            It comes from Ramify's stream-ordered pool, or from the caller.
///            mandelbrot_scratch_bytes() returns its size.
/// Stream     mandelbrot_async() returns before the image is complete, without waiting, except that
///            the first automatic route on a GPU measures launches (see choose_route()). Work
///            that enters the stream after the call sees the whole image: a loop in a graph follows
///            the first grids in the stream. It launches the grids that kernels could not launch
///            and, on the flat route, the remaining levels. get() waits for the stream and reports.
///            Where the stream cannot complete an image (environment::completion), the call waits.
///            With completion::by_get, get() launches what is left.
/// Capture    A graph can capture mandelbrot_async() if memory is handed in. Each launch of the
///            graph computes the image. With mariani_silver the graph has a WHILE node, except with
///            completion::by_get on the device route; such a graph cannot be a child graph. The run
///            must exist as long as the graph may be launched. get() may be called after each
///            launch.
/// Launches   one grid for the lines between the tiles of the image, one for the tiles, and child
///            grids for rectangles that are divided (ramify/mandelbrot/rectangles.cuh).
/// Errors     std::invalid_argument for a bad argument, before anything is launched; unavailable,
///            cuda_error, device_launch_error.
/// Complexity O(pixels * max_iterations). The method of Mariani and Silver iterates about as many
///            pixels as lie near the boundaries of the bands.
/// Not for    zooms beyond double precision (about 10^13).
/// Source     R. Mariani: The Mariani-Silver algorithm for drawing the Mandelbrot set, 2021.
///            A. Adinetz: Adaptive parallel computation with CUDA dynamic parallelism. NVIDIA,
///            2014.

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/mandelbrot.hpp>
#include <ramify/mandelbrot/division.cuh>
#include <ramify/mandelbrot/exhaustive.cuh>
#include <ramify/mandelbrot/rectangles.cuh>
#include <ramify/mandelbrot/tuning.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/recursion.cuh>
#include <utility>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

using rectangle_tree = recursion<rectangle, rectangle_context>;

/// The scratch memory of an image, in parts.
struct image_memory {
  image_memory(memory_layout& memory, const mandelbrot_view& view,
               const mandelbrot_options& options) {
    if (options.method == mandelbrot_method::exhaustive) return;
    arrived = memory.take<unsigned>(1);
    counts = memory.take<rectangle_counts>(1);
    tasks = memory.take<std::byte>(
        rectangle_tree::scratch_bytes(max_tasks(view, options), launches_of(options)));
  }
  unsigned* arrived = nullptr;
  rectangle_counts* counts = nullptr;
  std::byte* tasks = nullptr;
};

/// The computation of an image.
class image_run final : public runtime::device_run<mandelbrot_report, image_memory> {
 public:
  image_run(const runtime::run_setup& setup, const mandelbrot_view& view,
            const mandelbrot_options& options)
      : device_run(setup, view, options), view_(view), options_(options) {}

  /// Starts the method of Mariani and Silver.
  void divide(const dwell_image& image, const division& tiles, const runtime::loop_choice& loop) {
    const rectangle_context context{image, tiles, parts.arrived, parts.counts};
    clear_memory(parts.arrived, 1, control.stream(), "clearing a counter");
    clear_memory(parts.counts, 1, control.stream(), "clearing the counts");
    line_pixels_ = line_pixels(view_, tiles);
    // Enough blocks for any GPU; each thread iterates several pixels of a large image.
    constexpr std::uint64_t most = 8192;
    const auto blocks = static_cast<unsigned>(std::min(line_pixels_ / threads + 1, most));
    control.launch_grid("launching iterate_tile_lines", iterate_tile_lines<rectangle_context>,
                        {blocks, threads}, context, control.ticket());
    rectangles_.emplace(parts.tasks, max_tasks(view_, options_), control, threads, 0u,
                        child_streams::fire_and_forget, context, launches_of(options_), loop);
    rectangles_->start({1, 0, 0, 0}, tiles.parts());
    complete_in_stream(rectangles_->completes_in_stream());
  }

  /// Starts the exhaustive method.
  void iterate_all(const dwell_image& image) {
    control.launch_grid("launching iterate_pixels", iterate_pixels<dwell_image>,
                        {exhaustive_blocks(image), block_pixels}, image, control.ticket());
    complete_in_stream();
  }

 private:
  mandelbrot_report finish() override {
    mandelbrot_report report;
    report.iterated_pixels = view_.pixels();
    if (rectangles_) {
      rectangles_->finish();
      const auto counts = read_back(parts.counts, control.stream(), "reading the counts");
      report.iterated_pixels = line_pixels_ + counts.iterated_pixels;
      report.filled_pixels = counts.filled_pixels;
      report.filled_rectangles = counts.filled;
      report.divided_rectangles = counts.divided;
      report.small_rectangles = counts.small;
    } else {
      control.wait();
    }
    static_cast<run_report&>(report) = end();
    return report;
  }

  mandelbrot_view view_;
  mandelbrot_options options_;
  std::uint64_t line_pixels_ = 0;
  std::optional<rectangle_tree> rectangles_;  // none: the exhaustive method
};

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts the computation of an image.
///
/// \param dwells   view.pixels() elements of device memory, which are written; the row of the top
///                 is the first
/// \param origins  null, or view.pixels() elements of device memory, which are written: how each
///                 dwell was found. Must not overlap `dwells`.
/// \param env      its memory: mandelbrot_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
inline async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                                     std::uint32_t* dwells, pixel_origin* origins,
                                                     const mandelbrot_options& options,
                                                     const environment& env = {}) {
  namespace family = detail::mandelbrot;
  const phase_range range("mandelbrot: start");
  validate(options);
  validate(view);
  detail::run_setup setup("mandelbrot", env);
  check_device_access(dwells, "mandelbrot: dwells");
  if (origins != nullptr) check_device_access(origins, "mandelbrot: origins");
  family::check_overlap(view, dwells, origins);
  const family::dwell_image image(view, options, dwells, origins);
  std::unique_ptr<family::image_run> run;
  if (options.method == mandelbrot_method::mariani_silver) {
    const family::division tiles = family::tiles_of(view, options);
    setup.choose_route(1, family::rectangle_plans(tiles, options, setup.by_host()));
    run = std::make_unique<family::image_run>(setup, view, options);
    run->divide(image, tiles, setup.loop);
  } else {
    setup.choice = {route::flat, "the exhaustive method launches one grid"};
    run = std::make_unique<family::image_run>(setup, view, options);
    run->iterate_all(image);
  }
  return async_run<mandelbrot_report>(std::move(run));
}
/// Overload without origins.
inline async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                                     std::uint32_t* dwells,
                                                     const mandelbrot_options& options,
                                                     const environment& env = {}) {
  return mandelbrot_async(view, dwells, nullptr, options, env);
}
/// Overload with the default options.
inline async_run<mandelbrot_report> mandelbrot_async(const mandelbrot_view& view,
                                                     std::uint32_t* dwells,
                                                     const environment& env = {}) {
  return mandelbrot_async(view, dwells, mandelbrot_options{}, env);
}

/// Computes an image and waits for it: mandelbrot_async() and get().
/// \param env  its memory: mandelbrot_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::uint32_t* dwells,
                                    pixel_origin* origins, const mandelbrot_options& options,
                                    const environment& env = {}) {
  return mandelbrot_async(view, dwells, origins, options, detail::waiting(env)).get();
}
/// Overload without origins.
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::uint32_t* dwells,
                                    const mandelbrot_options& options,
                                    const environment& env = {}) {
  return mandelbrot_async(view, dwells, options, detail::waiting(env)).get();
}
/// Overload with the default options.
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::uint32_t* dwells,
                                    const environment& env = {}) {
  return mandelbrot_async(view, dwells, detail::waiting(env)).get();
}

/// Returns the device memory that an image needs, in bytes.
/// \throws std::invalid_argument for arguments that are not valid
[[nodiscard]] inline std::size_t mandelbrot_scratch_bytes(const mandelbrot_view& view,
                                                          const mandelbrot_options& options = {}) {
  validate(options);
  validate(view);
  return detail::mandelbrot::image_run::scratch_bytes(view, options);
}

}  // namespace ramify::inline RAMIFY_BUILD
