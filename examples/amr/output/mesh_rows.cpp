// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "common/output_file.hpp"
#include "common/text_file.hpp"
#include "mesh_check.hpp"

namespace common {
namespace {

using ramify::mesh_snapshot;

/// Returns the number of a cell in its block if the block contains the point, else none.
std::optional<std::size_t> cell_at(const mesh_snapshot& mesh, const ramify::block_position& block,
                                   const mesh_point& point) {
  const auto along = std::size_t(mesh.cells);
  std::size_t number = 0;
  std::size_t stride = 1;
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    const std::uint64_t at = cell_containing(mesh, block.level, axis, point[axis]);
    if (at / along != block.index[axis]) return std::nullopt;
    number += at % along * stride;
    stride *= along;
  }
  return number;
}

/// Appends the values of a cell.
void append_values(const mesh_snapshot& mesh, std::size_t leaf, std::size_t cell,
                   std::vector<double>& row) {
  for (std::size_t field = 0; field < mesh.fields.size(); ++field) {
    row.push_back(mesh.field(leaf, field)[cell]);
  }
}

/// Appends the names of the axes, and then `more` and the fields.
void append_columns(const mesh_snapshot& mesh, std::vector<std::string> more,
                    std::vector<std::string>& columns) {
  for (int axis = 0; axis < mesh.dimensions; ++axis) columns.emplace_back(1, char('x' + axis));
  columns.insert(columns.end(), more.begin(), more.end());
  columns.insert(columns.end(), mesh.fields.begin(), mesh.fields.end());
}

mesh_point point_of_line(const mesh_line& line, double share) {
  mesh_point point;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    point[axis] = std::lerp(line.from[axis], line.to[axis], share);
  }
  return point;
}

/// Returns the shares of the line at which it enters and leaves a block, and crosses the faces of
/// its cells, in order. Returns nothing if the line does not cross the block.
std::vector<double> crossings(const mesh_snapshot& mesh, const ramify::block_position& block,
                              const mesh_line& line) {
  double begin = 0;
  double end = 1;
  std::vector<double> shares;
  for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
    const double h = mesh.spacing(block.level, int(axis));
    const double low = mesh.lower[axis] + double(block.index[axis]) * mesh.cells * h;
    const double from = line.from[axis];
    const double extent = line.to[axis] - from;
    if (extent == 0) {
      // cell_at() decides on a line between two blocks; rounding must not lose it.
      if (from < low - 1e-9 * h || from > low + (mesh.cells + 1e-9) * h) return {};
      continue;
    }
    const double first = (low - from) / extent;
    const double last = (low + mesh.cells * h - from) / extent;
    begin = std::max(begin, std::min(first, last));
    end = std::min(end, std::max(first, last));
    for (int i = 1; i < mesh.cells; ++i) shares.push_back((low + i * h - from) / extent);
  }
  if (!(begin < end)) return {};
  std::erase_if(shares, [&](double share) { return share <= begin || share >= end; });
  shares.push_back(begin);
  shares.push_back(end);
  std::ranges::sort(shares);
  return shares;
}

std::vector<double> numbers_of(std::string_view text, int dimensions, std::string_view what) {
  std::vector<double> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    double value = 0;
    if (parse_number(trimmed(rest.substr(0, end)), value) != number_error::none ||
        !std::isfinite(value)) {
      break;
    }
    numbers.push_back(value);
    if (end == rest.size()) {
      if (numbers.size() == std::size_t(dimensions)) return numbers;
      break;
    }
    rest.remove_prefix(end + 1);
  }
  throw std::invalid_argument(in_quotes(text) + " is no " + std::string(what) + " in " +
                              std::to_string(dimensions) + "D");
}

}  // namespace

mesh_slice parse_slice(std::string_view text, int dimensions) {
  const std::string_view axes = dimensions == 2 ? "xy" : "xyz";
  const std::size_t axis = axes.find(text.substr(0, 1));
  double position = 0;
  if (text.size() < 3 || axis == axes.npos || text[1] != '=' ||
      parse_number(text.substr(2), position) != number_error::none || !std::isfinite(position)) {
    throw std::invalid_argument(in_quotes(text) + " is no slice such as x=0.5 in " +
                                std::to_string(dimensions) + "D");
  }
  return {int(axis), position};
}

mesh_point parse_point(std::string_view text, int dimensions) {
  mesh_point point{};
  std::ranges::copy(numbers_of(text, dimensions, "point such as 0.5,0.5"), point.begin());
  return point;
}

mesh_line parse_line(std::string_view text, int dimensions) {
  const std::size_t middle = std::min(text.find(':'), text.size());
  if (middle == text.size()) {
    throw std::invalid_argument(in_quotes(text) + " is no line such as 0,0.5:1,0.5");
  }
  const mesh_line line{parse_point(text.substr(0, middle), dimensions),
                       parse_point(text.substr(middle + 1), dimensions)};
  if (line.from == line.to) throw std::invalid_argument(in_quotes(text) + " has no length");
  return line;
}

mesh_rows rows_of_slice(const mesh_snapshot& mesh, const mesh_slice& slice) {
  mesh_rows table;
  append_columns(mesh, {"level"}, table.columns);
  const auto along = std::size_t(mesh.cells);
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const ramify::block_position& block = mesh.leaves[leaf];
    const auto normal = std::size_t(slice.axis);
    const std::uint64_t layer = cell_containing(mesh, block.level, normal, slice.position);
    if (layer / along != block.index[normal]) continue;
    for (std::size_t cell = 0; cell < mesh.cells_of_a_block(); ++cell) {
      const std::array<std::size_t, 3> at{cell % along, cell / along % along, cell / along / along};
      if (at[normal] != layer % along) continue;
      std::vector<double> row;
      for (std::size_t axis = 0; axis < std::size_t(mesh.dimensions); ++axis) {
        const auto number = std::uint64_t{block.index[axis]} * along + at[axis];
        row.push_back(mesh.lower[axis] +
                      (double(number) + 0.5) * mesh.spacing(block.level, int(axis)));
      }
      row.push_back(block.level);
      append_values(mesh, leaf, cell, row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

mesh_rows rows_of_line(const mesh_snapshot& mesh, const mesh_line& line) {
  mesh_rows table;
  table.columns.emplace_back("distance");
  append_columns(mesh, {"length", "level"}, table.columns);
  double length = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    length = std::hypot(length, line.to[axis] - line.from[axis]);
  }
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const std::vector<double> shares = crossings(mesh, mesh.leaves[leaf], line);
    for (std::size_t i = 0; i + 1 < shares.size(); ++i) {
      // Rounding may separate two crossings at a corner.
      if (shares[i + 1] - shares[i] < 1e-12) continue;
      const double middle = 0.5 * (shares[i] + shares[i + 1]);
      const mesh_point point = point_of_line(line, middle);
      const auto cell = cell_at(mesh, mesh.leaves[leaf], point);
      if (!cell) continue;  // the line is between two blocks, and the other one has it
      std::vector<double> row{middle * length};
      row.insert(row.end(), point.begin(), point.begin() + mesh.dimensions);
      row.push_back((shares[i + 1] - shares[i]) * length);
      row.push_back(mesh.leaves[leaf].level);
      append_values(mesh, leaf, *cell, row);
      table.rows.push_back(std::move(row));
    }
  }
  std::ranges::sort(table.rows, {}, [](const std::vector<double>& row) { return row[0]; });
  return table;
}

std::vector<double> values_at(const mesh_snapshot& mesh, const mesh_point& point) {
  std::vector<double> values;
  for (std::size_t leaf = 0; leaf < mesh.leaves.size() && values.empty(); ++leaf) {
    if (const auto cell = cell_at(mesh, mesh.leaves[leaf], point)) {
      append_values(mesh, leaf, *cell, values);
    }
  }
  return values;
}

void write_rows(const std::filesystem::path& path, const mesh_rows& table) {
  write_file(path, [&](std::ostream& out) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      out << (i == 0 ? "" : ",") << table.columns[i];
    }
    out << '\n';
    std::string text;
    for (const std::vector<double>& row : table.rows) {
      text.clear();
      for (const double value : row) {
        if (!text.empty()) text += ',';
        append_number(text, value);
      }
      out << text << '\n';
    }
  });
}

}  // namespace common
