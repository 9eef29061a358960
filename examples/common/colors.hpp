// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Interpolation of colors.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "png_image.hpp"

namespace common {

/// Returns the linear interpolation of two colors: `from` at share 0, `to` at share 1.
[[nodiscard]] inline rgb mixed(const rgb& from, const rgb& to, double share) {
  rgb color;
  for (std::size_t c = 0; c < 3; ++c) {
    color[c] = std::uint8_t(std::lround(std::lerp(from[c], to[c], share)));
  }
  return color;
}

/// Returns the color at position `share`, in [0, 1], of a gradient through equidistant colors.
[[nodiscard]] inline rgb color_along(std::span<const rgb> colors, double share) {
  const double place = share * double(colors.size() - 1);
  const auto below = std::min(std::size_t(place), colors.size() - 2);
  return mixed(colors[below], colors[below + 1], place - double(below));
}

}  // namespace common
