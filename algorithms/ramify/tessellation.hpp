// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tessellation for plain C++: polylines of cubic Bezier curves and triangle meshes of bicubic
/// patches, to a given accuracy, on the CUDA backend or on the CPU executor, with compiled kernels.
///
///     const std::vector<ramify::cubic_curve> curves{{{{0, 0}, {0, 0.55}, {0.45, 1}, {1, 1}}}};
///     const auto lines = ramify::tessellate_curves(curves, {.flatness = 1e-3});
///     lines.points     // the points of all polylines, each in the order of its curve
///     lines.offsets    // --> [0, lines.points.size()]
///     const auto mesh = ramify::tessellate_patches(ramify::utah_teapot(), {.flatness = 1e-3});
///     mesh.vertices, mesh.triangles   // without cracks
///
/// Stream     the call is ordered after earlier work in environment::stream.
/// Waits      until the result is complete.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run; std::length_error for too many pieces;
///            cuda_error, device_launch_error.
///
/// <ramify/tessellation.cuh>, for CUDA code, describes the algorithms.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/environment.hpp>
#include <ramify/tessellation/config.hpp>
#include <ramify/tessellation/teapot.hpp>
#include <ramify/version.hpp>
#include <span>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// Polylines, one for each curve.
struct polylines {
  std::vector<curve_point> points;     ///< of all polylines
  std::vector<std::uint64_t> offsets;  ///< polyline i has the points [offsets[i], offsets[i + 1])
  tessellation_report report;          ///< the report of the run

  /// Returns the points of polyline i.
  [[nodiscard]] std::span<const curve_point> line(std::size_t i) const {
    return std::span(points).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

/// Approximates each curve by a polyline whose distance from it is at most options.flatness, and
/// waits.
/// \param env  its memory: empty, or a resource
/// \throws std::invalid_argument naming the field, or the control point that is not finite;
///         std::length_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] polylines tessellate_curves(std::span<const cubic_curve> curves,
                                          const tessellation_options& options,
                                          const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline polylines tessellate_curves(std::span<const cubic_curve> curves,
                                                 const environment& env = {}) {
  return tessellate_curves(curves, {}, env);
}

/// A triangle mesh in host memory.
struct triangle_mesh {
  std::vector<surface_point> vertices;   ///< all different, in the order of their coordinates
  std::vector<mesh_triangle> triangles;  ///< in the order of their indices
  tessellation_report report;            ///< the report of the run
};

/// Approximates the surface of the patches by a triangle mesh whose distance from it is at most
/// options.flatness, and waits. The mesh has no cracks where patches have the same border curve. A
/// patch without area, which is a point or a line, has no triangles.
/// \param env  its memory: empty, or a resource
/// \throws std::invalid_argument naming the field, or the control point that is not finite;
///         std::length_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] triangle_mesh tessellate_patches(std::span<const bicubic_patch> patches,
                                               const tessellation_options& options,
                                               const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline triangle_mesh tessellate_patches(std::span<const bicubic_patch> patches,
                                                      const environment& env = {}) {
  return tessellate_patches(patches, {}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
