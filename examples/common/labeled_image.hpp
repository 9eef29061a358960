// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Images with a title and the scale of their colors.

#include <functional>
#include <string>
#include <string_view>

#include "png_image.hpp"

namespace common {

/// Returns a number in four digits.
[[nodiscard]] std::string short_number(double value);

/// What a share of the range of colors stands for, from 0 to 1.
struct color_scale {
  std::function<rgb(double)> color_at;
  std::function<double(double)> value_at;
};

/// Returns the image on a white background, in its size. The scale of its colors, with five values,
/// is on its right, and the title is above it. `size` is the edge of a dot of a letter in pixels.
[[nodiscard]] rgb_image labeled_image(const rgb_image&, std::string_view title, const color_scale&,
                                      unsigned size);

}  // namespace common
