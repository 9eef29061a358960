// SPDX-License-Identifier: BSD-3-Clause
// Slices, lines and points of meshes as tables.
#include "amr/output/mesh_rows.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

#include "made_up_mesh.hpp"
#include "work_folder.hpp"

using common::mesh_rows;
using tests::says;

namespace {

/// A mesh of several levels whose field has the value 1 + x + 10 y + 100 z at centers of cells.
ramify::mesh_snapshot several_levels(int dimensions) {
  ramify::mesh_snapshot mesh;
  mesh.dimensions = dimensions;
  mesh.cells = 4;
  mesh.roots = {2, 1, 1};
  mesh.lower = {-1, 0, 0};
  mesh.upper = {1, 1, 1};
  return tests::refined_at_sphere(
      mesh, {0.2, 0.4, 0.5}, 0.3, 2,
      {{"value", [](const tests::place& p) { return 1 + p[0] + 10 * p[1] + 100 * p[2]; }}});
}

/// Returns the length of a cell of a row along the first axis, whose level is in column `level`.
double edge_of(const std::vector<double>& row, std::size_t level) {
  return 0.25 / std::exp2(row[level]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mesh_rows_of_parts)

BOOST_AUTO_TEST_CASE(a_slice_covers_the_plane_once) {
  for (const int dimensions : {2, 3}) {
    const auto mesh = several_levels(dimensions);
    for (int axis = 0; axis < dimensions; ++axis) {
      for (const double at : {0.0, 0.3, 0.5, 1.0}) {
        const mesh_rows table = common::rows_of_slice(mesh, {axis, at});
        BOOST_TEST(table.columns.size() == std::size_t(dimensions) + 2);
        BOOST_TEST(table.columns.front() == "x");
        BOOST_TEST(table.columns.back() == "value");
        const auto d = std::size_t(dimensions);
        double area = 0;
        for (const auto& row : table.rows) {
          const double h = edge_of(row, d);
          area += dimensions == 3 ? h * h : h;
          double value = 1;
          for (std::size_t i = 0; i < d; ++i) value += row[i] * std::pow(10, double(i));
          BOOST_TEST(std::abs(row[d + 1] - value) < 1e-12);
          const double off = row[std::size_t(axis)] - at;
          BOOST_TEST(std::abs(off) < h / 2 + 1e-12);
        }
        BOOST_TEST(std::abs(area - (axis == 0 ? 1 : 2)) < 1e-12);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_line_has_each_cell_once_and_its_whole_length) {
  const auto flat = several_levels(2);
  const auto solid = several_levels(3);
  const auto check = [](const ramify::mesh_snapshot& mesh, const common::mesh_line& line) {
    const mesh_rows table = common::rows_of_line(mesh, line);
    const auto d = std::size_t(mesh.dimensions);
    double length = 0;
    double end = 0;
    std::set<std::pair<double, double>> cells;
    for (const auto& row : table.rows) {
      BOOST_TEST(std::abs(row[0] - row[1 + d] / 2 - end) < 1e-9);  // it begins where the last ended
      end = row[0] + row[1 + d] / 2;
      length += row[1 + d];
      // The middle is in the cell that has the value.
      double value = 1;
      double most = 0;
      for (std::size_t i = 0; i < d; ++i) {
        value += row[1 + i] * std::pow(10, double(i));
        most += edge_of(row, d + 2) / 2 * std::pow(10, double(i)) * (1 + 1e-9);
      }
      BOOST_TEST(std::abs(row[d + 3] - value) <= most);
      BOOST_TEST(cells.emplace(row[d + 2], row[d + 3]).second);
    }
    double whole = 0;
    for (std::size_t i = 0; i < 3; ++i) whole = std::hypot(whole, line.to[i] - line.from[i]);
    BOOST_TEST(std::abs(length - whole) < 1e-9);
  };
  check(flat, {{-1, 0.4, 0}, {1, 0.4, 0}});
  check(flat, {{-0.9, 0.1, 0}, {0.8, 0.9, 0}});
  check(flat, {{0.8, 0.9, 0}, {-0.9, 0.1, 0}});
  check(flat, {{-1, 0.5, 0}, {1, 0.5, 0}});  // between cells of all levels
  check(flat, {{0, 0, 0}, {0, 1, 0}});       // between blocks
  check(flat, {{-1, 1, 0}, {1, 1, 0}});      // the upper side of the domain
  check(flat, {{-1, 0, 0}, {0, 1, 0}});      // through corners of cells
  check(solid, {{-0.9, 0.1, 0.05}, {0.8, 0.9, 0.77}});
  check(solid, {{-1, 0.5, 0.5}, {1, 0.5, 0.5}});
}

BOOST_AUTO_TEST_CASE(a_point_has_the_values_of_its_cell) {
  const auto mesh = several_levels(2);
  BOOST_TEST(common::values_at(mesh, {-0.9, 0.1, 0})[0] == 1 - 0.9375 + 0.625);
  for (const common::mesh_point& corner : {common::mesh_point{-1, 0, 0}, {1, 1, 0}, {0, 0.5, 0}}) {
    BOOST_TEST(common::values_at(mesh, corner).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(texts_are_parsed_or_rejected) {
  BOOST_TEST(common::parse_slice("y=-0.5", 2).axis == 1);
  BOOST_TEST(common::parse_slice("z=1e-3", 3).position == 1e-3);
  BOOST_TEST(common::parse_point("1,-2", 2)[1] == -2);
  BOOST_TEST(common::parse_line("0,0,0:1,2,3", 3).to[2] == 3);
  const auto rejected = [](auto parse, const char* text, const char* what) {
    BOOST_CHECK_EXCEPTION(static_cast<void>(parse(text, 2)), std::invalid_argument, says(what));
  };
  for (const char* text : {"", "x", "x=", "z=0.5", "x:1", "x=1,2", "x=nan", "=1", "xx=1"}) {
    rejected(common::parse_slice, text, "is no slice such as x=0.5 in 2D");
  }
  for (const char* text : {"", "1", "1,2,3", "1,", "1,x", "1,inf", "1;2"}) {
    rejected(common::parse_point, text, "is no point such as 0.5,0.5 in 2D");
  }
  rejected(common::parse_line, "0,0", "is no line such as");
  rejected(common::parse_line, "0,0:1", "is no point");
  rejected(common::parse_line, "0,1:0,1", "has no length");
}

BOOST_AUTO_TEST_CASE(tables_are_written_exactly) {
  const tests::work_folder folder;
  common::write_rows(folder / "t.csv", {{"x", "density"}, {{0.1, 1e-300}, {-2, 0.1 + 0.2}}});
  BOOST_TEST(tests::content(folder / "t.csv") == "x,density\n0.1,1e-300\n-2,0.30000000000000004\n");
}

BOOST_AUTO_TEST_SUITE_END()
