// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points in two or three dimensions: generators, and a reader of text files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace common {

/// Points of one file or generator. In two dimensions the third coordinate is 0.
struct point_set {
  int dimensions = 2;
  std::vector<std::array<double, 3>> points{};
  std::string columns{};  ///< the names or numbers of the columns that were read, such as "x,y"
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

/// The columns of a table that are read: two or three names, or numbers from 1 on.
using column_list = std::vector<std::string>;

/// Returns the columns of a list such as "x,y,z" or "3,4,5". \throws std::invalid_argument
[[nodiscard]] column_list parse_columns(std::string_view);

/// Reads one point from each line: `x,y` or `x,y,z`, or the columns x, y and possibly z of a header
/// line, or the given columns. All lines must have as many columns as the first one. A file whose
/// first line is one whole number has the format .xyz: that number of points, a line of comment,
/// and a line "element x y z" for each point. A file without points has two dimensions.
/// \throws bad_input naming the file and the line
[[nodiscard]] point_set read_points(const std::filesystem::path&, const column_list& columns = {});

}  // namespace common
