// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points in two or three dimensions: generators, and a reader of CSV files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace common {

/// Points of one file or generator. In two dimensions the third coordinate is 0.
struct point_set {
  int dimensions = 2;
  std::vector<std::array<double, 3>> points{};
};

enum class cloud_kind {
  uniform,   ///< in the unit square or cube
  clusters,  ///< normally distributed around 32 centers; their radii differ by a factor of 25
  curve,     ///< near a Lissajous curve, which intersects itself
};

[[nodiscard]] std::string_view to_string(cloud_kind);
/// Returns the kind with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] cloud_kind parse_cloud_kind(std::string_view);

/// Returns `n` points. The same arguments give the same points.
[[nodiscard]] point_set make_cloud(cloud_kind kind, std::size_t n, int dimensions,
                                   std::uint64_t seed);

/// Reads one point `x,y` or `x,y,z` from each line; skips a first line with these names. All lines
/// must have as many numbers as the first one. A file without points has two dimensions.
/// \throws bad_input naming the file and the line
[[nodiscard]] point_set read_points(const std::filesystem::path&);

}  // namespace common
