// SPDX-License-Identifier: BSD-3-Clause
#include "quadtree_image.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "common/text_file.hpp"

namespace common {
namespace {

constexpr unsigned margin = 8;
constexpr rgb paper{255, 255, 255};
constexpr rgb line_color{150, 165, 185};
constexpr rgb point_color{170, 40, 20};

/// An image whose coordinates are pixels from the lower left corner inside of the margin.
class canvas {
 public:
  explicit canvas(unsigned pixels) : pixels_(pixels) {
    image_.width = image_.height = pixels + 2 * margin;
    image_.pixels.assign(std::size_t{image_.width} * image_.height, paper);
  }

  /// Returns the pixel at a place in [0, 1] of an edge.
  [[nodiscard]] long at(double place) const {
    return std::lround(std::clamp(place, 0.0, 1.0) * double(pixels_ - 1));
  }
  void set(long x, long y, const rgb& color) {
    const auto row = std::size_t(long(pixels_ + margin) - 1 - y);
    image_.pixels[row * image_.width + std::size_t(x + margin)] = color;
  }
  void draw_horizontal(long from, long to, long y) {
    for (long x = from; x <= to; ++x) set(x, y, line_color);
  }
  void draw_vertical(long x, long from, long to) {
    for (long y = from; y <= to; ++y) set(x, y, line_color);
  }
  [[nodiscard]] rgb_image take() && { return std::move(image_); }

 private:
  unsigned pixels_;
  rgb_image image_;
};

/// Appends a number with at most three decimals.
void append(std::string& text, double number) {
  append_number(text, std::round(number * 1000) / 1000);
}

std::string hexadecimal(const rgb& color) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t part : color) (text += digits[part / 16]) += digits[part % 16];
  return text;
}

}  // namespace

rgb_image draw(const quadtree_picture& picture, unsigned pixels) {
  canvas to(pixels);
  for (const divided_cell& c : picture.cells) {
    const std::array<long, 3> x{to.at(c.x), to.at(c.x + c.side / 2), to.at(c.x + c.side)};
    const std::array<long, 3> y{to.at(c.y), to.at(c.y + c.side / 2), to.at(c.y + c.side)};
    for (const long i : y) to.draw_horizontal(x[0], x[2], i);
    for (const long i : x) to.draw_vertical(i, y[0], y[2]);
  }
  for (const auto& [px, py] : picture.points) {
    // Two by two pixels, inside of the margin or in it.
    for (const long i : {0, 1}) {
      for (const long j : {0, 1}) to.set(to.at(px) + i, to.at(py) + j, point_color);
    }
  }
  return std::move(to).take();
}

void write_svg(std::ostream& out, const quadtree_picture& picture, unsigned pixels) {
  const double scale = pixels;
  const std::string size = std::to_string(pixels + 2 * margin);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << size << "\" height=\"" << size
      << "\" viewBox=\"-" << margin << " -" << margin << ' ' << size << ' ' << size << "\">\n"
      << "<rect x=\"-" << margin << "\" y=\"-" << margin << "\" width=\"" << size << "\" height=\""
      << size << "\" fill=\"" << hexadecimal(paper) << "\"/>\n"
      << "<g fill=\"none\" stroke=\"" << hexadecimal(line_color) << "\" stroke-width=\"0.7\">\n";
  std::string text;
  const auto put = [&](const char* command, std::initializer_list<double> numbers) {
    text += command;
    const char* space = "";
    for (const double number : numbers) {
      text += space;
      append(text, number);
      space = " ";
    }
  };
  // One path for each cell: the outline, and the two lines that divide it.
  for (const divided_cell& c : picture.cells) {
    const double side = c.side * scale;
    const double left = c.x * scale;
    const double top = (1 - c.y) * scale - side;
    text.clear();
    put("<path d=\"M", {left, top});
    put("h", {side});
    put("v", {side});
    put("h", {-side});
    put("zm", {side / 2, 0});
    put("v", {side});
    put("m", {-side / 2, -side / 2});
    put("h", {side});
    out << text << "\"/>\n";
  }
  out << "</g>\n<g fill=\"" << hexadecimal(point_color) << "\">\n";
  for (const auto& [x, y] : picture.points) {
    text.clear();
    put("<circle cx=\"", {x * scale});
    put("\" cy=\"", {(1 - y) * scale});
    out << text << "\" r=\"1.2\"/>\n";
  }
  out << "</g>\n</svg>\n";
}

}  // namespace common
