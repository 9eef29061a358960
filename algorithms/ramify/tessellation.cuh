// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Tessellation for CUDA code: polylines of cubic Bezier curves and triangle meshes of bicubic
/// patches, to a given accuracy.
///
///     const ramify::cubic_curve* curves;  // n curves in device memory
///     const auto lines = ramify::tessellate_curves(curves, n, {.flatness = 1e-3});
///     lines.points.data()    // --> all points of polyline 0, then those of polyline 1, ...
///     lines.offsets.data()   // --> polyline i has the points [offsets[i], offsets[i + 1])
///     const auto mesh = ramify::tessellate_patches(patches, m, {.flatness = 1e-3});
///     mesh.vertices.data()   // --> points of the surface, each once
///     mesh.triangles.data()  // --> three indices of vertices each
///
/// Curves     a part of a curve is halved at its middle parameter until a bound of the distance
///            between the part and its chord is at most options.flatness. The bound is a quarter of
///            the longer of the vectors 3 p1 - 2 p0 - p3 and 3 p2 - p0 - 2 p3 of the part's control
///            points; only their components across the chord count if p1 and p2 project onto it,
///            and if the chord is not a point.
/// Patches    two triangles of the parameter plane are divided at the middles of edges until a
///            bound by the second derivatives shows that each is within options.flatness of the
///            surface (ramify/tessellation/patch_bounds.cuh). The mesh has no cracks: both
///            triangles at an edge divide it alike, also if they belong to two patches whose border
///            curves have the same control points, in either direction. Corners of equal
///            coordinates are one vertex. A triangle with two equal vertices, as at a border that
///            is one point, is left out; so a patch that is a point or a line has no triangles. An
///            edge that returns to its beginning is split, unless it is a point.
/// Order      polylines are in the order of the curves, vertices in that of their x, y and z, and
///            triangles in that of their indices.
/// Result     in device memory, which is freed in the order of environment::stream. It has the same
///            bits in each run, on all routes: points depend on the curve or patch and the
///            parameters alone, and sorts give them their order.
/// Scratch    that of a traversal (ramify/traverse.cuh), of sorts (ramify/quicksort.cuh), and from
///            Ramify's stream-ordered pool: for curves 8 bytes for each piece, for patches 384
///            bytes for each patch and about 250 for each triangle. The list of pieces has twice
///            the expected size, at most 1 GiB, and is longer only if there are more pieces. The
///            report states that of the traversal. If environment::memory is a resource, that of
///            the traversal and of the sorts comes from it. It must not be a span, because the size
///            depends on the number of pieces.
/// Stream     the call is ordered after earlier work in environment::stream. The call waits for it,
///            because the size of the result is known only after the traversal. A graph cannot
///            capture the call.
/// Launches   traverse() with these options, sorts, and grids with one thread for each shape, piece
///            or point: two for curves, seven for patches. If there are more pieces than the list
///            has space for, a second traversal lists them.
/// Errors     std::invalid_argument for a bad argument, also for the first control point that is
///            not finite, before any result is written; std::length_error for too many pieces;
///            std::logic_error while the stream is being captured; unavailable, cuda_error,
///            device_launch_error.
/// Complexity O(pieces * log pieces), because of the sorts.
/// Not for    accuracies near the round-off of the coordinates: options.max_depth ends the division
///            then, and the report counts those pieces. Trimmed or rational surfaces.
/// Source     the bound of curves is that of R. Willcocks, in K. Fischer: Piecewise linear
///            approximation of Bezier curves, 2000; that of patches is by D. Filip, R. Magedson, R.
///            Markot: Surface algorithms using bounds on derivatives, 1986.

#include <ramify/runtime/detail/requirements.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.cuh>
#include <ramify/tessellation/config.hpp>
#include <ramify/tessellation/curves.cuh>
#include <ramify/tessellation/mesh.cuh>
#include <ramify/tessellation/patches.cuh>
#include <ramify/tessellation/run.cuh>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

// Functions are templates even without a type of the caller among their arguments: so a program
// compiles the kernels only of the functions that it calls.

/// Polylines in device memory.
struct device_polylines {
  device_buffer<curve_point> points;     ///< of all curves
  device_buffer<std::uint64_t> offsets;  ///< one more than there are curves, or none
  tessellation_report report;            ///< the report of the run
};

/// Approximates each of n curves by a polyline, and waits for the stream.
/// \param curves  n < 2^31 - 1 curves in device memory, which are read only
/// \param env     its memory: empty, or a resource
/// \throws std::invalid_argument naming the argument, or the control point that is not finite;
///         std::length_error, std::logic_error, unavailable, cuda_error, device_launch_error
template <class = void>
[[nodiscard]] device_polylines tessellate_curves(const cubic_curve* curves, std::size_t n,
                                                 const tessellation_options& options,
                                                 const environment& env = {}) {
  namespace family = detail::tessellation;
  const phase_range range("tessellate_curves");
  family::tessellation_call call("tessellate_curves", "curves", curves, n, options, env);
  device_polylines lines;
  if (n == 0) {
    lines.report = call.finish();
    return lines;
  }
  // 1. Divide: list the parts of all curves.
  const family::curve_tree tree{curves, static_cast<unsigned>(n), options.flatness,
                                options.max_depth};
  constexpr std::size_t max_expected = std::size_t{1} << 27;  // a list of 1 GiB
  const auto parts = call.leaves_of(tree, max_expected, std::size_t{1} << 39);
  // 2. Sort the parts along the curves.
  add_part(call.report, quicksort(parts.leaves.data(), parts.count, ascending{}, call.of_part()),
           "the sort");
  // 3. Write the points.
  lines.points = device_buffer<curve_point>(parts.count + n, call.stream());
  lines.offsets = device_buffer<std::uint64_t>(n + 1, call.stream());
  call.launch("writing the points", family::write_polylines<family::part_place>, parts.count,
              curves, parts.leaves.data(), parts.count, lines.points.data(), lines.offsets.data());
  call.report.points = lines.points.size();
  lines.report = call.finish();
  return lines;
}
/// Overload with the default options.
template <class = void>
[[nodiscard]] device_polylines tessellate_curves(const cubic_curve* curves, std::size_t n,
                                                 const environment& env = {}) {
  return tessellate_curves(curves, n, {}, env);
}

/// A triangle mesh in device memory.
struct device_mesh {
  device_buffer<surface_point> vertices;   ///< of all patches
  device_buffer<mesh_triangle> triangles;  ///< of all patches
  tessellation_report report;              ///< the report of the run
};

/// Approximates the surface of n patches by a triangle mesh, and waits for the stream.
/// \param patches  n < 2^31 - 1 patches in device memory, which are read only
/// \param env      its memory: empty, or a resource
/// \throws std::invalid_argument naming the argument, or the control point that is not finite;
///         std::length_error, std::logic_error, unavailable, cuda_error, device_launch_error
template <class = void>
[[nodiscard]] device_mesh tessellate_patches(const bicubic_patch* patches, std::size_t n,
                                             const tessellation_options& options,
                                             const environment& env = {}) {
  namespace family = detail::tessellation;
  const phase_range range("tessellate_patches");
  family::tessellation_call call("tessellate_patches", "patches", patches, n, options, env);
  device_mesh mesh;
  if (n == 0) {
    mesh.report = call.finish();
    return mesh;
  }
  // 1. Divide: list the triangles of all patches.
  const device_buffer<family::patch_differences> differences(n, call.stream());
  call.launch("differencing the patches", family::difference_patches<bicubic_patch>, n, patches, n,
              differences.data());
  const family::triangle_tree<family::border_rule> tree{patches, differences.data(),
                                                        static_cast<unsigned>(n), options.flatness,
                                                        std::ldexp(1.0, -int(options.max_depth))};
  constexpr std::size_t max_expected = std::size_t{1} << 24;  // a list of 0.9 GiB
  constexpr std::size_t most = std::size_t{1} << 30;          // the indices of corners have 32 bits
  const auto triangles = call.leaves_of(tree, max_expected, most);
  // 2. Find the vertices.
  family::welded_corners corners =
      family::weld_corners(call, patches, triangles.leaves.data(), triangles.count);
  mesh.vertices = std::move(corners.vertices);
  call.report.points = mesh.vertices.size();
  // 3. Write the triangles.
  mesh.triangles = family::triangles_of(call, corners);
  mesh.report = call.finish();
  return mesh;
}
/// Overload with the default options.
template <class = void>
[[nodiscard]] device_mesh tessellate_patches(const bicubic_patch* patches, std::size_t n,
                                             const environment& env = {}) {
  return tessellate_patches(patches, n, {}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
