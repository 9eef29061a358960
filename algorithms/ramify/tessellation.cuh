// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tessellation for CUDA code: polylines of cubic Bezier curves, to a given accuracy.
///
///     const ramify::cubic_curve* curves;  // n curves in device memory
///     const auto lines = ramify::tessellate_curves(curves, n, stream, {.flatness = 1e-3});
///     lines.points.data()   // --> all points of polyline 0, then those of polyline 1, ...
///     lines.offsets.data()  // --> polyline i has the points [offsets[i], offsets[i + 1])
///
/// Distance   a part of a curve is halved at its middle parameter until a bound of the distance
///            between the part and its chord is at most options.flatness. The bound is a quarter of
///            the longer of the vectors 3 p1 - 2 p0 - p3 and 3 p2 - p0 - 2 p3 of the part's control
///            points; only their components across the chord count if p1 and p2 project onto it.
/// Result     in device memory, which is freed in the order of the stream. It has the same bits in
///            each run, on all routes: points depend on the curve and the parameter alone, and a
///            sort gives them their order.
/// Scratch    that of a traversal (ramify/traverse.cuh) and of a sort (ramify/quicksort.cuh), and 8
///            bytes for each segment, from Ramify's stream-ordered pool.
/// Stream     earlier work in the stream is ordered before the call. The call waits for the stream,
///            because the size of the result is known only after the traversal. A graph cannot
///            capture it.
/// Launches   traverse() with this configuration, a sort, and two grids with one thread for each
///            curve or point. If there are more pieces than expected, a second traversal lists them.
/// Errors     std::invalid_argument for a bad argument, also for the first control point that is
///            not finite, before any result is written; std::length_error for too many pieces;
///            std::logic_error while the stream is being captured; unavailable, cuda_error,
///            device_launch_error.
/// Complexity O(pieces * log pieces), because of the sort.
/// Not for    accuracies near the round-off of the coordinates: options.max_depth ends the division
///            then, and the report counts those pieces.
/// Source     the bound is that of R. Willcocks, in K. Fischer: Piecewise linear approximation of
///            Bezier curves, 2000.

#include <ramify/runtime/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/tessellation/config.hpp>
#include <ramify/tessellation/curves.cuh>
#include <ramify/tessellation/leaves.cuh>
#include <ramify/tessellation/run.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Polylines in device memory.
struct device_polylines {
  device_buffer<curve_point> points;
  device_buffer<std::uint64_t> offsets;  ///< one more than there are curves, or none
  tessellation_report report;
};

/// Approximates each of n curves by a polyline, and waits for `stream`.
/// \param curves  n < 2^31 curves in device memory, which are read only
/// \throws std::invalid_argument naming the argument, or the control point that is not finite;
///         std::length_error, std::logic_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] inline device_polylines tessellate_curves(const cubic_curve* curves, std::size_t n,
                                                        cudaStream_t stream = nullptr,
                                                        const tessellation_options& options = {}) {
  namespace family = detail::tessellation;
  const phase_range range("tessellate_curves");
  family::tessellation_call call("tessellate_curves", "curves", curves, n, 31, stream, options);
  device_polylines lines;
  if (n == 0) {
    lines.report = call.finish();
    return lines;
  }
  // 1. Divide: list the parts of all curves.
  const family::curve_tree tree{curves, static_cast<unsigned>(n), options.flatness,
                                options.max_depth};
  constexpr std::size_t expected_parts = 16;  // of a curve
  const auto parts = call.leaves_of(tree, expected_parts * n, std::size_t{1} << 39);
  // 2. Sort the parts along the curves.
  add_part(call.report,
           quicksort(parts.leaves.data(), parts.count, ascending{}, stream, call.sort_config()),
           "the sort");
  // 3. Write the points.
  lines.points = device_buffer<curve_point>(parts.count + n, stream);
  lines.offsets = device_buffer<std::uint64_t>(n + 1, stream);
  call.launch("writing the points", family::write_polylines<family::part_place>, parts.count,
              curves, parts.leaves.data(), parts.count, lines.points.data(), lines.offsets.data());
  call.report.points = lines.points.size();
  lines.report = call.finish();
  return lines;
}

}  // namespace ramify::inline RAMIFY_BUILD
