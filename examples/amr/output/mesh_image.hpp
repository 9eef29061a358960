// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Pictures of a field on a block-structured mesh.

#include <optional>
#include <ramify/amr/snapshot.hpp>
#include <string>
#include <string_view>

#include "common/png_image.hpp"

namespace common {

struct mesh_image_options {
  unsigned longer_edge = 1024;     ///< pixels, 1 to 32768; the other edge is in proportion
  int normal = 2;                  ///< in 3D: the axis, 0 to 2, orthogonal to the cut
  std::optional<double> position;  ///< in 3D: position of the cut on that axis; default: the middle
  std::optional<double> least;  ///< the darkest value; default: the smallest value in the picture
  std::optional<double> greatest;  ///< the lightest value; default: the largest value
  bool logarithmic = false;  ///< a logarithmic scale; values that are not positive are darkest
  bool outlines = true;      ///< draws outlines of blocks that are large enough
};

/// Draws a two-dimensional mesh, or a cut through a three-dimensional one along a plane of constant
/// x, y or z: the first axis in the plane goes to the right, the second one up. Each pixel has the
/// color of the cell that contains its center, from dark violet over blue and green to light yellow
/// in steps of equal lightness. Values that are not finite are magenta; pixels outside of all
/// blocks are gray.
///
/// A plane between two cells shows the upper one. Outlines are one pixel wide, lighter than dark
/// cells and darker than light ones, and drawn for blocks of at least 12 pixels.
/// \throws std::invalid_argument for an unknown field, an option out of range, a cut outside of the
///   domain, or an inconsistent mesh
[[nodiscard]] rgb_image draw_mesh(const ramify::mesh_snapshot&, std::string_view field,
                                  const mesh_image_options& = {});

/// What draw_labeled_mesh() writes beside numbers; both may be empty.
struct mesh_units {
  std::string field;  ///< such as "g/cm^3"
  std::string time;   ///< such as "s"
};

/// Draws the picture of draw_mesh(), on the right the scale of its colors with five values, and
/// above the name of the field and the time. The picture itself has the size of draw_mesh().
/// \throws std::invalid_argument as draw_mesh()
[[nodiscard]] rgb_image draw_labeled_mesh(const ramify::mesh_snapshot&, std::string_view field,
                                          const mesh_image_options& = {},
                                          const mesh_units& units = {});

/// Returns the color of a share of the range. Shares are clamped to [0, 1]; NaN is magenta.
[[nodiscard]] rgb mesh_color(double share);

}  // namespace common
