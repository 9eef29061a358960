// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Bezier curves and patches: generators, a reader of text files, and writers of their
/// tessellations.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <ramify/tessellation.hpp>
#include <string_view>
#include <vector>

namespace common {

enum class shape_kind {
  curves,   ///< cubic, in the plane
  patches,  ///< bicubic, in space
};

[[nodiscard]] std::string_view to_string(shape_kind);
/// Returns the kind with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] shape_kind parse_shape_kind(std::string_view);

/// Shapes of one kind. The vector of the other kind is empty.
struct bezier_shapes {
  shape_kind kind = shape_kind::curves;
  std::vector<ramify::cubic_curve> curves{};
  std::vector<ramify::bicubic_patch> patches{};

  [[nodiscard]] std::size_t size() const { return curves.size() + patches.size(); }
};

/// Returns `n` shapes. Curves have random places and sizes. Patches are a smooth terrain: rows of
/// patches that share their border curves, with hills of different heights. The same arguments give
/// the same shapes.
[[nodiscard]] bezier_shapes make_shapes(shape_kind kind, std::size_t n, std::uint64_t seed);

/// Reads one shape from each line: 8 numbers are the points "x y" of a curve, 48 the points "x y z"
/// of a patch, row by row. All lines must be of one kind.
/// \throws bad_input naming the file, the line and the number
[[nodiscard]] bezier_shapes read_shapes(const std::filesystem::path&);

/// Writes polylines as SVG, in the coordinates of their points, each of which is drawn as a dot.
void write_svg(std::ostream& out, const ramify::polylines& lines);

/// Writes a mesh as binary PLY, little endian: vertices of three doubles, and triangles.
void write_ply(std::ostream& out, const ramify::triangle_mesh& mesh);

}  // namespace common
