// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Curves, patches, options and report of tessellations; plain C++.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/version.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// A point of the plane.
struct curve_point {
  double x;  ///< first coordinate
  double y;  ///< second coordinate
  /// Compares all members.
  friend bool operator==(const curve_point&, const curve_point&) = default;
};

/// A cubic Bezier curve in the plane: its control points.
struct cubic_curve {
  curve_point points[4];  ///< the control points
};

/// A point of space.
struct surface_point {
  double x;  ///< first coordinate
  double y;  ///< second coordinate
  double z;  ///< third coordinate
  /// Compares all members.
  friend bool operator==(const surface_point&, const surface_point&) = default;
};

/// A bicubic Bezier patch: its control points. points[i][j] has the weight B_i(u) B_j(v), where B_i
/// are the Bernstein polynomials.
struct bicubic_patch {
  surface_point points[4][4];  ///< the control points
};

/// A triangle of a mesh: the indices of its vertices, in the orientation of the plane (u, v). The
/// smallest index is the first one.
struct mesh_triangle {
  std::uint32_t vertices[3];  ///< indices of vertices
  /// Compares all members.
  friend bool operator==(const mesh_triangle&, const mesh_triangle&) = default;
};

/// The maximum magnitude of a coordinate: squares of distances do not overflow.
inline constexpr double max_control_coordinate = 1e100;

/// Options of tessellations: those of the traversal that divides the pieces, and the accuracy.
struct tessellation_options : traverse_options {
  /// Maximum distance of the curve from its polyline, or of the surface from its mesh, in units of
  /// the control points. In [1e-100, 1e100].
  double flatness = 0.01;
  /// Parts of a curve, and edges in the parameter plane of a patch, are halved only if they are
  /// longer than 2^-max_depth. In [1, 31]. The report counts the pieces that may be too far from
  /// the curve or the surface for this reason.
  unsigned max_depth = 16;
  /// Maximum number of pieces, a piece being a line segment or a triangle. The division ends with
  /// std::length_error soon after there are more; 0: 2^39 segments or 2^30 triangles.
  std::size_t max_pieces = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const tessellation_options& options) {
  validate(static_cast<const traverse_options&>(options));
  // The comparison is false for NaN.
  const bool in_range = options.flatness >= 1e-100 && options.flatness <= 1e100;
  detail::check_field(in_range, "tessellation_options.flatness", options.flatness,
                      "in [1e-100, 1e100]");
  detail::check_field(options.max_depth >= 1 && options.max_depth <= 31,
                      "tessellation_options.max_depth", options.max_depth, "in [1, 31]");
}

/// Report of a tessellation. A piece is a line segment or a triangle.
struct tessellation_report : traverse_report {
  std::uint64_t pieces = 0;  ///< of the result
  std::uint64_t points = 0;  ///< of the result
  /// Pieces whose bound exceeds the flatness. They are not divided because of max_depth, or because
  /// they are triangles with two equal vertices.
  std::uint64_t limited = 0;
  std::uint64_t degenerate = 0;  ///< triangles with two equal vertices, which are left out
  std::uint64_t traversals = 0;  ///< 2 if the first list of pieces was too short, else 1
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const tessellation_report& r) {
  return out << static_cast<const traverse_report&>(r) << "pieces: " << r.pieces
             << "\npoints: " << r.points << "\npieces that may be too far: " << r.limited
             << "\ndegenerate triangles left out: " << r.degenerate
             << "\ntraversals: " << r.traversals << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::tessellation::inline RAMIFY_ABI {

/// Returns the number of coordinates of a curve or patch.
template <class Shape>
inline constexpr unsigned coordinates = sizeof(Shape) / sizeof(double);

/// Throws the exception for a curve or patch with an invalid coordinate. `name` is that of the
/// array, and `i` the index of the shape. \throws std::invalid_argument
template <class Shape>
[[noreturn]] void refuse_shape(const char* name, std::size_t i, const Shape& shape) {
  constexpr bool is_curve = coordinates<Shape> == 8;
  constexpr unsigned axes = is_curve ? 2 : 3;
  const auto* const values = reinterpret_cast<const double*>(&shape);
  unsigned k = 0;
  while (std::fabs(values[k]) <= max_control_coordinate) ++k;
  const std::string index =
      is_curve ? '[' + std::to_string(k / axes) + ']'
               : '[' + std::to_string(k / axes / 4) + "][" + std::to_string(k / axes % 4) + ']';
  std::ostringstream text;
  text << name << '[' << i << "].points" << index << '.' << "xyz"[k % axes] << " is " << values[k]
       << "; it must be finite and at most 1e100 in magnitude";
  throw std::invalid_argument(text.str());
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_ABI
