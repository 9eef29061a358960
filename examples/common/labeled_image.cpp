// SPDX-License-Identifier: BSD-3-Clause
#include "labeled_image.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "pixel_text.hpp"

namespace common {
namespace {

/// Draws the scale of the colors, `height` pixels high, with its values on the right.
void draw_scale(rgb_image& image, unsigned left, unsigned top, unsigned height, unsigned size,
                const color_scale& scale) {
  const unsigned width = 12 * size;
  for (unsigned y = 0; y < height; ++y) {
    const rgb color = scale.color_at(height < 2 ? 1.0 : 1 - double(y) / double(height - 1));
    std::fill_n(&image.pixels[std::size_t{top + y} * image.width + left], width, color);
  }
  constexpr int parts = 4;
  const unsigned line = text_height(size);
  for (int i = 0; i <= parts; ++i) {
    // Labels that would overlap are left out, except for the ends.
    if (i % parts != 0 && height < (parts + 1) * line) continue;
    const double share = double(i) / parts;
    const double middle = (1 - share) * double(height) - 0.5 * line;
    const double last = double(height > line ? height - line : 0);
    draw_text(image, left + width + 3 * size, top + unsigned(std::clamp(middle, 0.0, last)),
              short_number(scale.value_at(share)), size, {0, 0, 0});
  }
}

}  // namespace

std::string short_number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 4);
  return {digits.data(), end.ptr};
}

rgb_image labeled_image(const rgb_image& inner, std::string_view title, const color_scale& scale,
                        unsigned size) {
  const unsigned top = text_height(size) + 6 * size;
  const unsigned strip = 25 * size + text_width("-1.234e-100", size);
  const unsigned height = std::max(inner.height, 2 * text_height(size));  // of the scale
  rgb_image all;
  all.width = std::max(inner.width + strip, text_width(title, size) + 6 * size);
  all.height = top + height + 3 * size;
  all.pixels.assign(std::size_t{all.width} * all.height, {255, 255, 255});
  for (unsigned row = 0; row < inner.height; ++row) {
    std::copy_n(&inner.pixels[std::size_t{row} * inner.width], inner.width,
                &all.pixels[std::size_t{top + row} * all.width]);
  }
  draw_text(all, 3 * size, 3 * size, title, size, {0, 0, 0});
  draw_scale(all, inner.width + 4 * size, top, height, size, scale);
  return all;
}

}  // namespace common
