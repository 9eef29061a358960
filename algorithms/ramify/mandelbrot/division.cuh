// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rectangles of pixels, their division into parts, and the tiles of an image.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ramify/mandelbrot.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD {

/// A rectangle of pixels with its border, whose dwells are complete. All bounds are inclusive. The
/// root task has left > right.
struct rectangle {
  std::uint16_t left, top, right, bottom;

  [[nodiscard]] __host__ __device__ bool is_root() const { return left > right; }
  /// Returns the number of pixels inside the border in a row, in a column, and in all.
  [[nodiscard]] __host__ __device__ unsigned inner_width() const { return inner(left, right); }
  [[nodiscard]] __host__ __device__ unsigned inner_height() const { return inner(top, bottom); }
  [[nodiscard]] __host__ __device__ std::size_t inner_pixels() const {
    return std::size_t{inner_width()} * inner_height();
  }
  /// Returns the number of pixels of two opposite sides; corners count twice in both.
  [[nodiscard]] __device__ unsigned horizontal_sides() const { return 2 * (right - left + 1u); }
  [[nodiscard]] __device__ unsigned vertical_sides() const { return 2 * (bottom - top + 1u); }

 private:
  [[nodiscard]] static __host__ __device__ unsigned inner(unsigned first, unsigned last) {
    return last > first + 1 ? last - first - 1 : 0;
  }
};

/// Places along an axis that divide the range from `first` to `last` into equal parts.
struct axis_division {
  unsigned first;
  unsigned last;
  unsigned parts;

  /// Divides into at most four parts that are at least four pixels long, or into one.
  [[nodiscard]] static __device__ axis_division of(unsigned first, unsigned last) {
    const unsigned parts = (last - first) / 4;
    return {first, last, parts < 1 ? 1 : (parts > 4 ? 4 : parts)};
  }
  /// Returns the place of line number `i`, from 0 to `parts`.
  [[nodiscard]] __host__ __device__ unsigned line(unsigned i) const {
    return first + (last - first) * i / parts;
  }
  /// Returns the maximum number of pixels between two lines.
  [[nodiscard]] __device__ unsigned most_between_lines() const {
    const unsigned longest = (last - first + parts - 1) / parts;
    return longest > 1 ? longest - 1 : 0;
  }
  /// Returns whether a line is at `place`, which is in the range.
  [[nodiscard]] __device__ bool is_line(unsigned place) const {
    if (place == first) return true;
    // The first line that is not before `place`.
    const unsigned length = last - first;
    const unsigned i = ((place - first) * parts + length - 1) / length;
    return line(i) == place;
  }
};

/// The division of a rectangle into parts, which share their borders.
struct division {
  axis_division columns;
  axis_division rows;

  [[nodiscard]] static __device__ division of(const rectangle& r) {
    return {axis_division::of(r.left, r.right), axis_division::of(r.top, r.bottom)};
  }
  [[nodiscard]] __host__ __device__ unsigned parts() const { return columns.parts * rows.parts; }
  [[nodiscard]] __device__ rectangle part(unsigned i) const {
    const unsigned x = i % columns.parts;
    const unsigned y = i / columns.parts;
    return {static_cast<std::uint16_t>(columns.line(x)), static_cast<std::uint16_t>(rows.line(y)),
            static_cast<std::uint16_t>(columns.line(x + 1)),
            static_cast<std::uint16_t>(rows.line(y + 1))};
  }
};

/// Returns the tiles into which the image is divided before the recursion.
[[nodiscard]] inline division tiles_of(const mandelbrot_view& view,
                                       const mandelbrot_options& options) {
  unsigned side = options.tile;
  if (side == 0)
    side = std::clamp(std::bit_ceil(std::max(view.width, view.height) / 32), 64u, 256u);
  const auto along = [&](unsigned pixels) {
    return axis_division{0, pixels - 1, std::max((pixels - 1 + side - 1) / side, 1u)};
  };
  return {along(view.width), along(view.height)};
}

/// Returns the number of pixels on the lines of the tiles.
[[nodiscard]] inline std::uint64_t line_pixels(const mandelbrot_view& view, const division& tiles) {
  const auto lines = [](const axis_division& axis) {
    return axis.first == axis.last ? 1 : axis.parts + 1;
  };
  const std::uint64_t rows = lines(tiles.rows);
  return rows * view.width + lines(tiles.columns) * (view.height - rows);
}

}  // namespace ramify::detail::mandelbrot::inline RAMIFY_BUILD
