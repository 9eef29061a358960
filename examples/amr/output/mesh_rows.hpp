// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Parts of a mesh as tables: the cells in a plane, the cells along a line, the cell at a point.

#include <array>
#include <filesystem>
#include <ramify/amr/snapshot.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace common {

/// A plane of constant x, y or z.
struct mesh_slice {
  int axis = 0;
  double position = 0;
};
using mesh_point = std::array<double, 3>;
/// A line between two different points.
struct mesh_line {
  mesh_point from{}, to{};
};

/// Parses "z=0.5". \throws std::invalid_argument if the text is none of these for the dimensions
[[nodiscard]] mesh_slice parse_slice(std::string_view text, int dimensions);
/// Parses "0.1,0.5", with a number for each dimension. \throws std::invalid_argument
[[nodiscard]] mesh_point parse_point(std::string_view text, int dimensions);
/// Parses "0,0.5:1,0.5". \throws std::invalid_argument
[[nodiscard]] mesh_line parse_line(std::string_view text, int dimensions);

/// A table. All rows have a number for each column.
struct mesh_rows {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

/// Returns the cells that a plane cuts, leaf by leaf: their centers, their levels and their values.
/// A plane between two cells has the upper one. The plane must cut the domain.
[[nodiscard]] mesh_rows rows_of_slice(const ramify::mesh_snapshot& mesh, const mesh_slice& slice);

/// Returns the cells along a line, in its order: the distance from its first point to the middle of
/// the part in the cell, that middle, the length of the part, the level and the values. A line
/// between two cells has the upper one. The parts outside of the domain have no rows.
[[nodiscard]] mesh_rows rows_of_line(const ramify::mesh_snapshot& mesh, const mesh_line& line);

/// Returns the values of the cell that contains a point of the domain.
[[nodiscard]] std::vector<double> values_at(const ramify::mesh_snapshot& mesh,
                                            const mesh_point& point);

/// Writes a table as CSV, with the names of the columns; numbers are parsed to the same bits.
/// \throws bad_output
void write_rows(const std::filesystem::path& path, const mesh_rows& table);

}  // namespace common
