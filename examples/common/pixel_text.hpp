// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Text in images, in letters of 5 x 8 pixels.

#include <string_view>

#include "png_image.hpp"

namespace common {

/// Returns the width of a text in pixels. `size` is the edge of a dot of a letter in pixels.
[[nodiscard]] unsigned text_width(std::string_view text, unsigned size);
/// Returns the height of a line in pixels.
[[nodiscard]] unsigned text_height(unsigned size);

/// Draws a line of text: digits, letters, which are all lower-case, and + - . = _ / ^ * ( ). Other
/// characters are question marks. Parts outside of the image are not drawn.
void draw_text(rgb_image& image, unsigned left, unsigned top, std::string_view text, unsigned size,
               const rgb& color);

}  // namespace common
