// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Pictures of a quadtree and of its points, as SVG or PNG.

#include <array>
#include <ostream>
#include <vector>

#include "common/png_image.hpp"

namespace common {

/// A square cell that is divided into four, in units of the picture's side. (0, 0) is the lower
/// left corner of the picture, (1, 1) the upper right one.
struct divided_cell {
  double x, y;  ///< the lower left corner
  double side;

  auto operator<=>(const divided_cell&) const = default;
};

struct quadtree_picture {
  std::vector<divided_cell> cells{};
  std::vector<std::array<double, 2>> points{};
};

/// Draws the outlines of the cells, the lines that divide them, and then the points. The picture
/// has `pixels` pixels in each direction, and a margin of 8 around them.
[[nodiscard]] rgb_image draw(const quadtree_picture& picture, unsigned pixels);

/// Writes the same picture as SVG. \throws std::ios_base::failure if the stream throws
void write_svg(std::ostream& out, const quadtree_picture& picture, unsigned pixels);

}  // namespace common
