// SPDX-License-Identifier: BSD-3-Clause
#include "vtu_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <stdexcept>

#include "common/output_file.hpp"
#include "mesh_check.hpp"
#include "vtk_arrays.hpp"
#include "xml_text.hpp"

namespace common {
namespace {

/// The arrays of a file, compressed.
class vtu_arrays {
 public:
  vtu_arrays(const ramify::mesh_snapshot& mesh, vtu_numbers numbers)
      : mesh_(mesh),
        is_3d_(mesh.dimensions == 3),
        edge_(std::size_t(mesh.cells)),
        cells_of_a_block_(mesh.cells_of_a_block()),
        points_of_a_block_((edge_ + 1) * (edge_ + 1) * (is_3d_ ? edge_ + 1 : 1)),
        corners_(is_3d_ ? 8 : 4) {
    add("FieldData", R"(type="Float64" Name="TimeValue" NumberOfTuples="1")",
        [this](std::ostream& out) { write_all(out, std::vector{mesh_.time}); });
    add("FieldData", R"(type="UInt64" Name="step" NumberOfTuples="1")",
        [this](std::ostream& out) { write_all(out, std::vector{mesh_.step}); });
    add("Points", R"(type="Float64" Name="Points" NumberOfComponents="3")",
        [this](std::ostream& out) { write_points(out); });
    add("Cells", R"(type="Int64" Name="connectivity")",
        [this](std::ostream& out) { write_connectivity(out); });
    add("Cells", R"(type="Int64" Name="offsets")",
        [this](std::ostream& out) { write_offsets(out); });
    constexpr std::uint8_t pixel = 8;
    constexpr std::uint8_t voxel = 11;
    add_of_each_leaf<std::uint8_t>("Cells", "UInt8", "types",
                                   [this](std::size_t) { return is_3d_ ? voxel : pixel; });
    for (std::size_t f = 0; f < mesh.fields.size(); ++f) {
      if (numbers == vtu_numbers::float32) {
        add_field<float>("Float32", f);
      } else {
        add_field<double>("Float64", f);
      }
    }
    add_of_each_leaf<std::uint8_t>("CellData", "UInt8", "level", [this](std::size_t leaf) {
      return std::uint8_t(mesh_.leaves[leaf].level);
    });
    add_of_each_leaf<std::uint32_t>("CellData", "UInt32", "block",
                                    [](std::size_t leaf) { return std::uint32_t(leaf); });
  }

  void write(std::ostream& out) const {
    out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
        << vtk_arrays::attributes << ">\n  <UnstructuredGrid>\n";
    arrays_.write_section(out, "FieldData");
    out << "  <Piece NumberOfPoints=\"" << points_of_all() << "\" NumberOfCells=\""
        << cells_of_all() << "\">\n";
    for (const char* const section : {"Points", "Cells", "CellData"}) {
      arrays_.write_section(out, section);
    }
    out << "  </Piece>\n  </UnstructuredGrid>\n";
    arrays_.write_data(out);
    out << "</VTKFile>\n";
  }

 private:
  [[nodiscard]] std::uint64_t cells_of_all() const {
    return mesh_.leaves.size() * cells_of_a_block_;
  }
  [[nodiscard]] std::uint64_t points_of_all() const {
    return mesh_.leaves.size() * points_of_a_block_;
  }

  void add(const char* section, const std::string& attributes,
           const std::function<void(std::ostream&)>& write) {
    arrays_.add(section, attributes, write);
  }

  /// An array that has one value, value_of(leaf), for all cells of a leaf.
  template <class T, class Of>
  void add_of_each_leaf(const char* section, const char* type, const char* name, Of value_of) {
    add(section, std::string("type=\"") + type + "\" Name=\"" + name + '"',
        [this, value_of](std::ostream& out) {
          for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
            write_all(out, std::vector<T>(cells_of_a_block_, value_of(leaf)));
          }
        });
  }

  /// The values of a field, as numbers of type T.
  template <class T>
  void add_field(const char* type, std::size_t field) {
    add("CellData",
        std::string("type=\"") + type + "\" Name=\"" + xml_escaped(mesh_.fields[field]) + '"',
        [this, field](std::ostream& out) {
          for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
            const double* const values = mesh_.field(leaf, field);
            std::vector<T> of_a_block(cells_of_a_block_);
            std::transform(values, values + cells_of_a_block_, of_a_block.begin(),
                           [](double value) { return static_cast<T>(value); });
            write_all(out, of_a_block);
          }
        });
  }

  void write_points(std::ostream& out) const {
    std::array<std::vector<double>, 3> along;  // the coordinates of a block's points on each axis
    std::vector<double> of_a_block;
    for (const ramify::block_position& block : mesh_.leaves) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        along[axis].assign(1, 0.0);
        if (axis == 2 && !is_3d_) continue;
        along[axis].resize(edge_ + 1);
        const double low = mesh_.lower[axis];
        const double extent = mesh_.upper[axis] - low;
        const auto all = double(blocks_along(mesh_, block.level, axis) * edge_);
        for (std::size_t i = 0; i <= edge_; ++i) {
          // Unlike a sum over cells, this quotient has the same bits in blocks of all levels.
          const double share = double(std::uint64_t{block.index[axis]} * edge_ + i) / all;
          along[axis][i] = share == 1 ? mesh_.upper[axis] : low + extent * share;
        }
      }
      of_a_block.clear();
      for (const double z : along[2]) {
        for (const double y : along[1]) {
          for (const double x : along[0]) of_a_block.insert(of_a_block.end(), {x, y, z});
        }
      }
      write_all(out, of_a_block);
    }
  }

  void write_connectivity(std::ostream& out) const {
    const std::size_t row = edge_ + 1;
    const std::size_t layer = row * row;
    std::vector<std::int64_t> of_a_block;
    for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
      of_a_block.clear();
      for (std::size_t z = 0; z < (is_3d_ ? edge_ : 1); ++z) {
        for (std::size_t y = 0; y < edge_; ++y) {
          for (std::size_t x = 0; x < edge_; ++x) {
            const std::size_t first = leaf * points_of_a_block_ + z * layer + y * row + x;
            for (std::size_t c = 0; c < corners_; ++c) {
              of_a_block.push_back(
                  std::int64_t(first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * layer));
            }
          }
        }
      }
      write_all(out, of_a_block);
    }
  }

  void write_offsets(std::ostream& out) const {
    std::vector<std::int64_t> of_a_block(cells_of_a_block_);
    std::uint64_t end = 0;
    for (std::size_t leaf = 0; leaf < mesh_.leaves.size(); ++leaf) {
      for (std::int64_t& offset : of_a_block) offset = std::int64_t(end += corners_);
      write_all(out, of_a_block);
    }
  }

  const ramify::mesh_snapshot& mesh_;
  bool is_3d_;
  std::size_t edge_;
  std::size_t cells_of_a_block_;
  std::size_t points_of_a_block_;
  std::size_t corners_;  // of a cell
  vtk_arrays arrays_;
};

}  // namespace

void write_vtu(const std::filesystem::path& path, const ramify::mesh_snapshot& mesh,
               vtu_numbers numbers) {
  check_mesh(mesh);
  if (mesh.leaves.size() >> 32 != 0) throw std::invalid_argument("mesh_snapshot: too many leaves");
  for (const std::string& field : mesh.fields) {
    if (field == "level" || field == "block") {
      throw std::invalid_argument("mesh_snapshot: a field '" + field +
                                  "', which is a name of VTK "
                                  "files' own");
    }
  }
  const vtu_arrays arrays(mesh, numbers);
  write_file(path, [&](std::ostream& out) { arrays.write(out); });
}

}  // namespace common
