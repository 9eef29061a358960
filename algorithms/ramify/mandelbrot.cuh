// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mandelbrot() for CUDA code: images of the Mandelbrot set and of Julia sets, by rectangles that
/// are filled or divided.
///
///     const ramify::mandelbrot_view view{.width = 8192, .height = 8192};
///     std::uint32_t* dwells;  // view.pixels() elements of device memory
///     const auto report = ramify::mandelbrot(view, dwells, stream, {.max_iterations = 10'000});
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
/// Scratch    72 bytes for each 64 pixels, or for as many as launches.threshold, with granularity
///            per_block; 24 bytes with the others. The exhaustive method needs a few hundred bytes.
///            It comes from Ramify's stream-ordered pool, or from the caller:
///            mandelbrot_scratch_bytes().
/// Stream     mandelbrot_async() returns before the image is complete; get() waits for the stream.
///            A graph can capture it if scratch memory is passed in.
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

#include <ramify/runtime/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/mandelbrot.hpp>
#include <ramify/mandelbrot/division.cuh>
#include <ramify/mandelbrot/exhaustive.cuh>
#include <ramify/mandelbrot/rectangles.cuh>
#include <ramify/mandelbrot/tuning.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// An image that mandelbrot_async() has started. Movable; a moved-from run may only be destroyed.
/// Destroying a run before get() checks nothing.
class [[nodiscard("call get(): it waits, checks and returns the report")]] mandelbrot_run {
  using tree = recursion<detail::mandelbrot::rectangle, detail::mandelbrot::rectangle_context>;

 public:
  /// Starts a run; see mandelbrot_async().
  mandelbrot_run(const mandelbrot_view& view, std::uint32_t* dwells, cudaStream_t stream,
                 const mandelbrot_options& options, scratch_memory scratch, pixel_origin* origins) {
    const phase_range range("mandelbrot: start");
    validate(options);
    validate(view);
    const relaxed_capture_scope relaxed;  // the driver queries below concern no captured stream
    check_device_access(dwells, "mandelbrot: dwells");
    if (origins != nullptr) check_device_access(origins, "mandelbrot: origins");
    detail::mandelbrot::check_overlap(view, dwells, origins);
    const bool captured = is_being_captured(stream);
    const std::size_t bytes = scratch_bytes(view, options);
    check_scratch(scratch, bytes, captured, "mandelbrot");
    const auto loop =
        detail::runtime::choose_loop(options.flat_loop, "mandelbrot_options.flat_loop");
    const std::size_t limit = *current_launch_limits().pending_launches;
    const route_choice choice = route_of(view, options, loop, limit, stream);
    const bool divides = options.method == mandelbrot_method::mariani_silver;
    if (captured && divides && choice.taken == route::flat) {
      detail::runtime::require_capturable(loop, tree::has_loop);
    }
    state_ = std::make_unique<run_state>(view, options, stream, scratch, bytes, choice, limit);
    const detail::mandelbrot::dwell_image image(view, options, dwells, origins);
    if (divides) {
      state_->divide(image, loop);
    } else {
      state_->iterate_all(image);
    }
  }

  /// Waits for the image and returns the report. Launches the grids that kernels could not launch
  /// and, on the flat route, the remaining levels.
  ///
  /// Must be called once only. For a captured run, call it after a launch of the graph; it may be
  /// called again after another launch.
  /// \throws cuda_error, device_launch_error; std::logic_error while the stream is being captured
  mandelbrot_report get() {
    const phase_range range("mandelbrot: get");
    return state_->finish();
  }

  /// Returns the device memory that a run needs, in bytes. Requires valid arguments.
  [[nodiscard]] static std::size_t scratch_bytes(const mandelbrot_view& view,
                                                 const mandelbrot_options& options) {
    memory_layout sizing(nullptr);
    const pieces measured(sizing, view, options);
    return sizing.size();
  }

 private:
  /// The parts of the scratch memory.
  struct pieces {
    pieces(memory_layout& memory, const mandelbrot_view& view, const mandelbrot_options& options)
        : control(memory.take<std::byte>(run_control::scratch_bytes)) {
      if (options.method == mandelbrot_method::exhaustive) return;
      arrived = memory.take<unsigned>(1);
      counts = memory.take<detail::mandelbrot::rectangle_counts>(1);
      tasks = memory.take<std::byte>(tree::scratch_bytes(
          detail::mandelbrot::max_tasks(view, options), detail::mandelbrot::launches_of(options)));
    }
    std::byte* control;
    unsigned* arrived = nullptr;
    detail::mandelbrot::rectangle_counts* counts = nullptr;
    std::byte* tasks = nullptr;
  };

  static route_choice route_of(const mandelbrot_view& view, const mandelbrot_options& options,
                               const detail::runtime::loop_choice& loop, std::size_t limit,
                               cudaStream_t stream) {
    if (options.method == mandelbrot_method::exhaustive) {
      return {route::flat, "the exhaustive method launches one grid"};
    }
    const auto tiles = detail::mandelbrot::tiles_of(view, options);
    return choose_route(
        options.route, limit, 1,
        detail::mandelbrot::rectangle_plans(tiles, options, loop.wanted == flat_loop::host),
        stream);
  }

  /// A run with its scratch memory. A move of the mandelbrot_run does not change its address, to
  /// which `rectangles` refers.
  struct run_state {
    run_state(const mandelbrot_view& shown, const mandelbrot_options& chosen, cudaStream_t stream,
              const scratch_memory& given, std::size_t bytes, const route_choice& choice,
              std::size_t limit)
        : view(shown),
          options(chosen),
          scratch(given, bytes, stream),
          memory(scratch.data()),
          parts(memory, shown, chosen),
          control(parts.control, choice, limit, stream, chosen.trace) {}

    /// Starts the method of Mariani and Silver.
    void divide(const detail::mandelbrot::dwell_image& image,
                const detail::runtime::loop_choice& loop) {
      namespace family = detail::mandelbrot;
      using context_type = family::rectangle_context;
      const cudaStream_t stream = control.stream();
      tiles = family::tiles_of(view, options);
      const context_type context{image, tiles, parts.arrived, parts.counts};
      check(cudaMemsetAsync(parts.arrived, 0, sizeof *parts.arrived, stream), "clearing a counter");
      check(cudaMemsetAsync(parts.counts, 0, sizeof *parts.counts, stream), "clearing the counts");
      // Enough blocks for any GPU; each thread iterates several pixels of a large image.
      constexpr std::uint64_t most = 8192;
      const std::uint64_t blocks = family::line_pixels(view, tiles) / family::threads + 1;
      control.launched(launch(family::iterate_tile_lines<context_type>,
                              {static_cast<unsigned>(std::min(blocks, most)), family::threads},
                              stream, context, control.ticket()),
                       "launching iterate_tile_lines");
      rectangles.emplace(parts.tasks, family::max_tasks(view, options), control, family::threads,
                         0u, child_streams::fire_and_forget, context, family::launches_of(options),
                         loop);
      rectangles->start(family::rectangle{1, 0, 0, 0}, tiles.parts());
    }

    /// Starts the exhaustive method.
    void iterate_all(const detail::mandelbrot::dwell_image& image) {
      namespace family = detail::mandelbrot;
      control.launched(launch(family::iterate_pixels<family::dwell_image>,
                              {family::exhaustive_blocks(image), family::block_pixels},
                              control.stream(), image, control.ticket()),
                       "launching iterate_pixels");
    }

    mandelbrot_report finish() {
      mandelbrot_report report;
      report.iterated_pixels = view.pixels();
      if (rectangles) {
        rectangles->finish();
        const auto counts = read_back(parts.counts, control.stream(), "reading the counts");
        report.iterated_pixels =
            detail::mandelbrot::line_pixels(view, tiles) + counts.iterated_pixels;
        report.filled_pixels = counts.filled_pixels;
        report.filled_rectangles = counts.filled;
        report.divided_rectangles = counts.divided;
        report.small_rectangles = counts.small;
      } else {
        detail::runtime::require_not_captured(control.stream());
        control.wait();
      }
      control.read_trace();
      static_cast<run_report&>(report) = control.report();
      report.scratch_bytes = scratch.size();
      return report;
    }

    mandelbrot_view view;
    mandelbrot_options options;
    detail::mandelbrot::division tiles{};
    scratch_space scratch;
    memory_layout memory;
    pieces parts;
    run_control control;
    std::optional<tree> rectangles;  // none: the exhaustive method
  };

  std::unique_ptr<run_state> state_;
};

/// Starts the computation of an image, in `stream`.
///
/// Returns without waiting. The one exception is the first call with the automatic route on a GPU,
/// which may measure launch costs (see choose_route()). On the flat route, unless options.flat_loop
/// is graph, get() launches the levels.
///
/// \param dwells   view.pixels() elements of device memory, which are written; the row of the top
///                 is the first
/// \param scratch  mandelbrot_scratch_bytes() bytes of device memory, aligned to 256 bytes, which
///                 must stay allocated until get() has returned. The default allocates it in stream
///                 order. A stream that is being captured requires it.
/// \param origins  null, or view.pixels() elements of device memory, which are written: how each
///                 dwell was found. Must not overlap `dwells`.
///
/// A stream that is being captured records a run. Each launch of the graph computes the image. The
/// run must live as long as the graph is launched.
///
/// \throws std::invalid_argument, unavailable, cuda_error
inline mandelbrot_run mandelbrot_async(const mandelbrot_view& view, std::uint32_t* dwells,
                                       cudaStream_t stream = nullptr,
                                       const mandelbrot_options& options = {},
                                       scratch_memory scratch = {},
                                       pixel_origin* origins = nullptr) {
  return {view, dwells, stream, options, scratch, origins};
}

/// Computes an image and waits for `stream`. Parameters as of mandelbrot_async().
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
inline mandelbrot_report mandelbrot(const mandelbrot_view& view, std::uint32_t* dwells,
                                    cudaStream_t stream = nullptr,
                                    const mandelbrot_options& options = {},
                                    scratch_memory scratch = {}, pixel_origin* origins = nullptr) {
  return mandelbrot_async(view, dwells, stream, options, scratch, origins).get();
}

/// Returns the device memory that an image needs, in bytes.
/// \throws std::invalid_argument for arguments that are not valid
[[nodiscard]] inline std::size_t mandelbrot_scratch_bytes(const mandelbrot_view& view,
                                                          const mandelbrot_options& options = {}) {
  validate(options);
  validate(view);
  return mandelbrot_run::scratch_bytes(view, options);
}

}  // namespace ramify::inline RAMIFY_BUILD
