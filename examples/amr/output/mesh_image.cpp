// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/colors.hpp"
#include "common/labeled_image.hpp"
#include "mesh_check.hpp"

namespace common {
namespace {

constexpr rgb not_finite{255, 0, 255};
constexpr rgb no_block{96, 96, 96};

/// Returns the color of an outline on a color: halfway to white or to black, whichever is farther.
rgb contrasting(const rgb& color) {
  const double lightness = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
  return lightness < 128 ? mixed(color, {255, 255, 255}, 0.5) : mixed(color, {0, 0, 0}, 0.5);
}

/// Maps values to shares of the range of colors.
class scale {
 public:
  scale(double least, double greatest, bool logarithmic)
      : logarithmic_(logarithmic), least_(on_scale(least)), greatest_(on_scale(greatest)) {}

  [[nodiscard]] rgb color(double value) const {
    if (!std::isfinite(value)) return not_finite;
    const double at = on_scale(value);
    if (!(at > least_)) return mesh_color(0);
    // Halved, because the whole range may overflow a double.
    return mesh_color((at / 2 - least_ / 2) / (greatest_ / 2 - least_ / 2));
  }

 private:
  [[nodiscard]] double on_scale(double value) const {
    if (!logarithmic_) return value;
    return value > 0 ? std::log(value) : -std::numeric_limits<double>::infinity();
  }

  bool logarithmic_;
  double least_;
  double greatest_;
};

/// Returns the first pixel whose center is in the i-th of `count` equal parts of an edge.
unsigned first_pixel(std::uint64_t i, std::uint64_t count, unsigned pixels) {
  // The center of pixel p is at (2 p + 1) / (2 pixels). Integers ensure that each pixel belongs to
  // exactly one of two neighboring blocks of any levels.
  return unsigned((2 * pixels * i + count - 1) / (2 * count));
}

class picture {
 public:
  picture(const ramify::mesh_snapshot& mesh, std::size_t field, const mesh_image_options& options)
      : mesh_(mesh), field_(field), options_(options) {
    if (mesh.dimensions == 3) {
      normal_ = std::size_t(options.normal);
      across_ = normal_ == 0 ? 1 : 0;
      up_ = normal_ == 2 ? 1 : 2;
      const double low = mesh.lower[normal_];
      const double high = mesh.upper[normal_];
      const double at = options.position.value_or(low + (high - low) / 2);
      if (!(at >= low && at <= high)) {
        throw std::invalid_argument("a cut at " + std::to_string(at) +
                                    ", outside the domain from " + std::to_string(low) + " to " +
                                    std::to_string(high));
      }
      position_ = at;
    }
    const double width = mesh.upper[across_] - mesh.lower[across_];
    const double height = mesh.upper[up_] - mesh.lower[up_];
    const double longer = std::max(width, height);
    const auto pixels = [&](double extent) {
      return unsigned(std::max(1L, std::lround(options.longer_edge * (extent / longer))));
    };
    image_.width = pixels(width);
    image_.height = pixels(height);
    image_.pixels.assign(std::size_t{image_.width} * image_.height, no_block);
  }

  /// Returns the values of the darkest and of the lightest color.
  [[nodiscard]] std::pair<double, double> range() const {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    const auto cells = std::size_t(mesh_.cells);
    for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
      const std::size_t cut = layer(leaf);
      if (cut == cells) continue;
      for (std::size_t j = 0; j < cells; ++j) {
        for (std::size_t i = 0; i < cells; ++i) {
          const double v = value(leaf, cut, i, j);
          if (!std::isfinite(v) || (options_.logarithmic && !(v > 0))) continue;
          least = std::min(least, v);
          greatest = std::max(greatest, v);
        }
      }
    }
    if (least > greatest) least = greatest = 1;  // there is no value
    // If a given end is beyond all values, the other end becomes equal to it.
    if (options_.least) greatest = std::max(greatest, least = *options_.least);
    if (options_.greatest) least = std::min(least, greatest = *options_.greatest);
    return {least, greatest};
  }

  rgb_image draw() && {
    const auto [least, greatest] = range();
    const scale colors(least, greatest, options_.logarithmic);
    for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) paint(leaf, colors);
    return std::move(image_);
  }

 private:
  /// Returns the layer of a leaf's cells that the plane cuts; `cells` if it does not.
  [[nodiscard]] std::size_t layer(std::size_t leaf) const {
    const auto cells = std::size_t(mesh_.cells);
    if (mesh_.dimensions == 2) return 0;
    const ramify::block_position& block = mesh_.leaves[leaf];
    const std::uint64_t at = cell_containing(mesh_, block.level, normal_, position_);
    return at / cells == block.index[normal_] ? std::size_t(at % cells) : cells;
  }

  /// Returns the value of a cell in a layer of a leaf, `i` cells to the right and `j` up.
  [[nodiscard]] double value(std::size_t leaf, std::size_t layer, std::size_t i,
                             std::size_t j) const {
    const auto cells = std::size_t(mesh_.cells);
    std::array<std::size_t, 3> at{};
    at[normal_] = layer;
    at[across_] = i;
    at[up_] = j;
    return mesh_.field(leaf, field_)[(at[2] * cells + at[1]) * cells + at[0]];
  }

  void paint(std::size_t leaf, const scale& colors) {
    const std::size_t cut = layer(leaf);
    const auto cells = std::size_t(mesh_.cells);
    if (cut == cells) return;
    const ramify::block_position& block = mesh_.leaves[leaf];
    const std::uint64_t blocks_across = blocks_along(mesh_, block.level, across_);
    const std::uint64_t blocks_up = blocks_along(mesh_, block.level, up_);
    const unsigned left = first_pixel(block.index[across_], blocks_across, image_.width);
    const unsigned right = first_pixel(block.index[across_] + 1ull, blocks_across, image_.width);
    const unsigned bottom = first_pixel(block.index[up_], blocks_up, image_.height);
    const unsigned top = first_pixel(block.index[up_] + 1ull, blocks_up, image_.height);
    const bool outlined = options_.outlines && std::min(right - left, top - bottom) >= 12;
    const auto cell = [&](unsigned pixel, std::uint64_t blocks, unsigned pixels) {
      return std::size_t((2 * std::uint64_t{pixel} + 1) * blocks * cells / (2ull * pixels) % cells);
    };
    for (unsigned row = bottom; row < top; ++row) {  // from the bottom
      const std::size_t j = cell(row, blocks_up, image_.height);
      rgb* line = &image_.pixels[std::size_t{image_.height - 1 - row} * image_.width];
      for (unsigned column = left; column < right; ++column) {
        const rgb color =
            colors.color(value(leaf, cut, cell(column, blocks_across, image_.width), j));
        // Left and lower edges; the next blocks, or the picture's edge, have the others.
        const bool edge = column == left || row == bottom || column + 1 == image_.width ||
                          row + 1 == image_.height;
        line[column] = outlined && edge ? contrasting(color) : color;
      }
    }
  }

  const ramify::mesh_snapshot& mesh_;
  std::size_t field_;
  const mesh_image_options& options_;
  std::size_t across_ = 0;  // the axes
  std::size_t up_ = 1;
  std::size_t normal_ = 2;
  double position_ = 0;  // of the cut
  rgb_image image_;
};

std::size_t find_field(const ramify::mesh_snapshot& mesh, std::string_view name) {
  const auto found = std::ranges::find(mesh.fields, name);
  if (found != mesh.fields.end()) return std::size_t(found - mesh.fields.begin());
  std::string known;
  for (const std::string& field : mesh.fields) known += ' ' + field;
  throw std::invalid_argument("field '" + std::string(name) + "' is none of" + known);
}

/// Returns the value at a share of the range of colors.
double value_on_scale(double least, double greatest, double share, bool logarithmic) {
  if (!logarithmic) return std::lerp(least, greatest, share);
  return least > 0 ? std::exp(std::lerp(std::log(least), std::log(greatest), share)) : least;
}

void check(const mesh_image_options& options) {
  if (options.longer_edge < 1 || options.longer_edge > 32768) {
    throw std::invalid_argument("a picture of " + std::to_string(options.longer_edge) +
                                " pixels, which is not 1 to 32768");
  }
  if (options.normal < 0 || options.normal > 2) {
    throw std::invalid_argument("axis " + std::to_string(options.normal) +
                                " is none of 0, 1 and 2");
  }
  for (const auto& end : {options.least, options.greatest}) {
    if (end && !std::isfinite(*end)) {
      throw std::invalid_argument("a range of values that is not finite");
    }
    if (end && options.logarithmic && !(*end > 0)) {
      throw std::invalid_argument("a logarithmic range of values that are not greater than 0");
    }
  }
  if (options.least && options.greatest && !(*options.least < *options.greatest)) {
    throw std::invalid_argument("a range of values whose end is not greater than its beginning");
  }
}

}  // namespace

rgb mesh_color(double share) {
  // Computed for this picture in Ottosson's OKLab space: lightness in equal steps from 0.16 to
  // 0.965, hue from violet (300 degrees) to yellow (100), and 92 % of the chroma that sRGB can
  // show, or 0.17.
  constexpr std::array<rgb, 11> colors{{{21, 0, 45},
                                        {26, 4, 93},
                                        {3, 46, 113},
                                        {14, 77, 113},
                                        {22, 104, 126},
                                        {30, 133, 138},
                                        {40, 162, 143},
                                        {47, 194, 132},
                                        {133, 215, 115},
                                        {204, 232, 104},
                                        {254, 245, 191}}};
  if (std::isnan(share)) return not_finite;
  return color_along(colors, std::clamp(share, 0.0, 1.0));
}

rgb_image draw_mesh(const ramify::mesh_snapshot& mesh, std::string_view field,
                    const mesh_image_options& options) {
  check_mesh(mesh);
  check(options);
  return picture(mesh, find_field(mesh, field), options).draw();
}

rgb_image draw_labeled_mesh(const ramify::mesh_snapshot& mesh, std::string_view field,
                            const mesh_image_options& options, const mesh_units& units) {
  check_mesh(mesh);
  check(options);
  picture plain(mesh, find_field(mesh, field), options);
  const auto [least, greatest] = plain.range();
  const rgb_image inner = std::move(plain).draw();
  const std::string title = std::string(field) +
                            (units.field.empty() ? "" : " (" + units.field + ')') + "  time " +
                            short_number(mesh.time) + (units.time.empty() ? "" : ' ' + units.time);
  const color_scale colors{mesh_color, [&, low = least, high = greatest](double share) {
                             return value_on_scale(low, high, share, options.logarithmic);
                           }};
  return labeled_image(inner, title, colors, std::max(1u, options.longer_edge / 512));
}

}  // namespace common
