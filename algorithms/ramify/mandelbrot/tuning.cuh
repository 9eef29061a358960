// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes of blocks and tasks of the method of Mariani and Silver, and its launches.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ramify/mandelbrot/division.cuh>
#include <ramify/runtime/route_plan.hpp>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

/// Threads of a block. Most tasks are small, and more threads would be idle.
inline constexpr unsigned threads = 128;
/// Blocks of divide_rectangles() that fit on a multiprocessor: at most 80 registers per thread,
/// where the compiler would use 130 for the launches.
inline constexpr unsigned resident_blocks = 6;
/// The minimum number of pixels inside a rectangle that is a task. It has at least eight of them in
/// a row or in a column, so it can be divided.
inline constexpr unsigned min_inner_pixels = 64;

/// Returns the granularity with the threshold that applies.
[[nodiscard]] inline launch_granularity launches_of(const mandelbrot_options& options) {
  launch_granularity launches = options.launches;
  launches.threshold = std::max(launches.threshold, min_inner_pixels);
  return launches;
}

/// Returns the maximum number of tasks of which none descends from another: they share no pixels
/// inside their borders.
[[nodiscard]] inline std::size_t max_tasks(const mandelbrot_view& view,
                                           const mandelbrot_options& options) {
  return view.pixels() / launches_of(options).threshold + 1;
}

/// Returns the launches of a run on each route. A level divides the sides of rectangles by four.
[[nodiscard]] inline route_plans rectangle_plans(const division& tiles,
                                                 const mandelbrot_options& options, bool by_host) {
  const double inner = launches_of(options).threshold;
  const double side = double(tiles.columns.last) / tiles.columns.parts;
  const double levels = std::max(std::ceil(std::log2(side * side / inner) / 4), 0.0);
  route_plan device = plan_of_levels(levels, child_streams::fire_and_forget);
  device.host_launches = 1;  // the drain
  if (by_host) {
    return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::device};
  }
  // An iteration of the graph has a grid for each of two levels, and one that ends it.
  return {{.graph_iterations = 1.5 * levels, .graph_loops = 1}, device, route::device};
}

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD
