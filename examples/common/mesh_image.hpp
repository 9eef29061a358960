// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Pictures of a field on a block-structured mesh.

#include <optional>
#include <ramify/amr/snapshot.hpp>
#include <string_view>

#include "png_image.hpp"

namespace common {

struct mesh_image_options {
  unsigned longer_edge = 1024;     ///< pixels, 1 to 32768; the other edge is in proportion
  int normal = 2;                  ///< in 3D: the axis, 0 to 2, across which the mesh is cut
  std::optional<double> position;  ///< in 3D: where it is cut on that axis; else in the middle
  std::optional<double> least;     ///< what is drawn darkest; else the least value in the picture
  std::optional<double> greatest;  ///< what is drawn lightest; else the greatest
  bool logarithmic = false;        ///< of values greater than 0; all others are darkest
  bool outlines = true;            ///< of blocks, where these are large enough to be seen inside
};

/// A two-dimensional mesh, or a cut through a three-dimensional one along a plane of constant x, y
/// or z: the first of the axes in the plane to the right, the second one up. Each pixel has the
/// colour of the cell that its centre lies in, from dark violet over blue and green to light yellow
/// in steps of equal lightness. Values that are not finite are magenta, and pixels in no block are
/// grey.
///
/// A plane between two cells shows the upper one. Outlines are a pixel wide, lighter than what is
/// dark and darker than what is light, and are drawn of blocks of at least 12 pixels.
/// \throws std::invalid_argument no such field, an option out of range, a cut outside the domain,
///   or a mesh that contradicts itself
[[nodiscard]] rgb_image draw_mesh(const ramify::mesh_snapshot&, std::string_view field,
                                  const mesh_image_options& = {});

/// The colour of a share of the range, 0 to 1; less is as 0, more as 1, and NaN is magenta.
[[nodiscard]] rgb mesh_color(double share);

}  // namespace common
