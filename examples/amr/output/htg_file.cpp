// SPDX-License-Identifier: BSD-3-Clause
#include "htg_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/output_file.hpp"
#include "mesh_check.hpp"
#include "vtk_arrays.hpp"
#include "xml_text.hpp"

namespace common {
namespace {

constexpr int deepest_htg_level = 19;

/// The leaves of a root block.
struct hyper_tree {
  std::uint64_t root;  ///< number of the root block, x fastest
  std::size_t first;   ///< its first leaf
  std::size_t count;   ///< of its leaves
  int deepest;         ///< level of its finest leaves
};

/// Returns the Morton code of a place, x lowest.
std::uint64_t morton_code(const std::array<std::uint64_t, 3>& at, int dimensions, int bits) {
  std::uint64_t code = 0;
  for (int bit = 0; bit < bits; ++bit) {
    for (int axis = 0; axis < dimensions; ++axis) {
      code |= (at[std::size_t(axis)] >> bit & 1) << (bit * dimensions + axis);
    }
  }
  return code;
}

/// The arrays of a file. The vertices of a tree are listed depth by depth. Vertices of one depth
/// are in Morton order, and so are the leaves of a mesh and the cells of a block after a
/// permutation: so loops over the leaves, one for each depth, meet the vertices in their order.
class htg_arrays {
 public:
  htg_arrays(const ramify::mesh_snapshot& mesh, vtu_numbers numbers)
      : mesh_(mesh),
        dim_(mesh.dimensions),
        inner_(std::countr_zero(unsigned(mesh.cells))),
        trees_(trees_of(mesh)) {
    order_cells();
    for (std::size_t axis = 0; axis < 3; ++axis) add_coordinates(axis);
    add_structure();
    for (std::size_t field = 0; field < mesh.fields.size(); ++field) {
      if (numbers == vtu_numbers::float32) {
        add_field<float>("Float32", field);
      } else {
        add_field<double>("Float64", field);
      }
    }
    add_levels();
  }

  void write(std::ostream& out) const {
    out << "<?xml version=\"1.0\"?>\n<VTKFile type=\"HyperTreeGrid\" version=\"2.0\" "
        << vtk_arrays::attributes
        << ">\n  <HyperTreeGrid BranchFactor=\"2\" TransposedRootIndexing=\"0\" Dimensions=\"";
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out << (axis == 0 ? "" : " ") << (axis < std::size_t(dim_) ? mesh_.roots[axis] + 1 : 1);
    }
    out << "\">\n";
    for (const char* const section : {"Grid", "Trees", "CellData"}) {
      arrays_.write_section(out, section);
    }
    out << "  </HyperTreeGrid>\n";
    arrays_.write_data(out);
    out << "</VTKFile>\n";
  }

 private:
  /// Returns the trees. \throws std::invalid_argument if leaves are not in Morton order or do not
  /// cover their root blocks, or a root block has none
  static std::vector<hyper_tree> trees_of(const ramify::mesh_snapshot& mesh) {
    const int dim = mesh.dimensions;
    const auto reject = [] {
      throw std::invalid_argument(
          "mesh_snapshot: the leaves do not cover the domain in Morton order");
    };
    std::vector<hyper_tree> trees;
    std::uint64_t covered = 0;  // of the current root block, in cells of the deepest level
    const std::uint64_t whole = std::uint64_t{1} << (dim * deepest_htg_level);
    for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
      const auto& [level, index] = mesh.leaves[leaf];
      std::uint64_t root = 0;
      std::array<std::uint64_t, 3> inside{};
      for (int axis = dim - 1; axis >= 0; --axis) {
        const auto a = std::size_t(axis);
        root = root * mesh.roots[a] + (index[a] >> level);
        inside[a] = (std::uint64_t{index[a]} << (deepest_htg_level - level)) &
                    ((std::uint64_t{1} << deepest_htg_level) - 1);
      }
      if (trees.empty() || covered == whole) {
        trees.push_back({root, leaf, 0, 0});
        covered = 0;
      }
      hyper_tree& tree = trees.back();
      if (tree.root != root || morton_code(inside, dim, deepest_htg_level) != covered) reject();
      ++tree.count;
      tree.deepest = std::max(tree.deepest, level);
      covered += whole >> (dim * level);
    }
    std::vector<std::uint64_t> roots;
    for (const hyper_tree& tree : trees) roots.push_back(tree.root);
    std::ranges::sort(roots);
    const bool has_twins = std::ranges::adjacent_find(roots) != roots.end();
    std::uint64_t expected = 1;
    for (int axis = 0; axis < dim; ++axis) expected *= mesh.roots[std::size_t(axis)];
    if (trees.size() != expected || has_twins || covered != whole) reject();
    return trees;
  }

  /// Computes the Morton order of the cells of a block.
  void order_cells() {
    const auto along = std::size_t(mesh_.cells);
    place_of_cell_.resize(mesh_.cells_of_a_block());
    for (std::size_t cell = 0; cell < place_of_cell_.size(); ++cell) {
      place_of_cell_[cell] =
          morton_code({cell % along, cell / along % along, cell / along / along}, dim_, inner_);
    }
  }

  template <class T>
  void add(const std::string& section, const std::string& type, const std::string& name,
           const std::vector<T>& values, std::size_t count = 0) {
    arrays_.add(section,
                "type=\"" + type + "\" Name=\"" + xml_escaped(name) + "\" NumberOfTuples=\"" +
                    std::to_string(count == 0 ? values.size() : count) + '"',
                [&](std::ostream& out) { write_all(out, values); });
  }

  void add_coordinates(std::size_t axis) {
    std::vector<double> along{0};
    if (axis < std::size_t(dim_)) {
      along.clear();
      const double roots = mesh_.roots[axis];
      for (std::uint32_t i = 0; i < mesh_.roots[axis]; ++i) {
        along.push_back(mesh_.lower[axis] + (mesh_.upper[axis] - mesh_.lower[axis]) * (i / roots));
      }
      along.push_back(mesh_.upper[axis]);
    }
    add("Grid", "Float64", std::string(1, char('X' + axis)) + "Coordinates", along);
  }

  /// Calls `of_ancestor(leaf, depth)` for each vertex that stands for a refined block, with its
  /// first leaf, and `of_block(leaf, depth in the block)` for each block, whose vertices of this
  /// depth follow one another; in the order of the file.
  template <class OfAncestor, class OfBlock>
  void for_each_depth(const hyper_tree& tree, int depth, OfAncestor of_ancestor,
                      OfBlock of_block) const {
    for (std::size_t leaf = tree.first; leaf < tree.first + tree.count; ++leaf) {
      const auto& [level, index] = mesh_.leaves[leaf];
      if (depth >= level) {
        if (depth - level <= inner_) of_block(leaf, depth - level);
        continue;
      }
      std::uint32_t below = 0;  // the bits of the place in the vertex
      for (int axis = 0; axis < dim_; ++axis) below |= index[std::size_t(axis)];
      if ((below & ((1u << (level - depth)) - 1)) == 0) of_ancestor(leaf, depth);
    }
  }

  [[nodiscard]] std::uint64_t vertices_in_block(int depth) const {
    return std::uint64_t{1} << (dim_ * depth);
  }

  /// Adds the bits that state whether a vertex has children, without the deepest vertices of each
  /// tree, and the numbers of vertices.
  void add_structure() {
    std::vector<std::uint8_t> bits;
    std::vector<std::int64_t> counts, roots;
    std::vector<std::uint32_t> depths;
    std::size_t used = 0;
    const auto put = [&](bool bit) {
      if (used % 8 == 0) bits.push_back(0);
      if (bit) bits.back() = std::uint8_t(bits.back() | 0x80u >> used % 8);
      ++used;
    };
    for (const hyper_tree& tree : trees_) {
      const int last = tree.deepest + inner_;
      for (int depth = 0; depth <= last; ++depth) {
        std::uint64_t count = 0;
        for_each_depth(
            tree, depth,
            [&](std::size_t, int) {
              ++count;
              put(true);
            },
            [&](std::size_t, int inside) {
              count += vertices_in_block(inside);
              if (depth == last) return;
              for (std::uint64_t i = 0; i < vertices_in_block(inside); ++i) put(inside < inner_);
            });
        counts.push_back(std::int64_t(count));
      }
      roots.push_back(std::int64_t(tree.root));
      depths.push_back(std::uint32_t(last + 1));
    }
    arrays_.add("Trees",
                "type=\"Bit\" Name=\"Descriptors\" NumberOfTuples=\"" + std::to_string(used) + '"',
                [&](std::ostream& out) { write_all(out, bits); });
    add("Trees", "Int64", "NumberOfVerticesPerDepth", counts);
    add("Trees", "Int64", "TreeIds", roots);
    add("Trees", "UInt32", "DepthPerTree", depths);
    vertices_ = 0;
    for (const std::int64_t count : counts) vertices_ += std::uint64_t(count);
  }

  /// Returns the values of a field in a block and the means above them, depth by depth.
  [[nodiscard]] std::vector<std::vector<double>> means_in_block(std::size_t leaf,
                                                                std::size_t field) const {
    std::vector<std::vector<double>> means(std::size_t(inner_) + 1);
    means.back().resize(place_of_cell_.size());
    const double* const values = mesh_.field(leaf, field);
    for (std::size_t cell = 0; cell < place_of_cell_.size(); ++cell) {
      means.back()[place_of_cell_[cell]] = values[cell];
    }
    const std::size_t children = std::size_t{1} << dim_;
    for (int depth = inner_ - 1; depth >= 0; --depth) {
      const std::vector<double>& finer = means[std::size_t(depth) + 1];
      for (std::size_t first = 0; first < finer.size(); first += children) {
        double sum = 0;
        for (std::size_t child = 0; child < children; ++child) sum += finer[first + child];
        means[std::size_t(depth)].push_back(sum / double(children));
      }
    }
    return means;
  }

  /// The values of a field, as numbers of type T.
  template <class T>
  void add_field(const char* type, std::size_t field) {
    arrays_.add(
        "CellData",
        std::string("type=\"") + type + "\" Name=\"" + xml_escaped(mesh_.fields[field]) +
            "\" NumberOfTuples=\"" + std::to_string(vertices_) + '"',
        [&](std::ostream& out) {
          const auto put = [&](const std::vector<double>& values) {
            write_all(out, std::vector<T>(values.begin(), values.end()));
          };
          std::vector<std::vector<std::vector<double>>> means;  // of the leaves of a tree
          for (const hyper_tree& tree : trees_) {
            means.clear();
            for (std::size_t i = 0; i < tree.count; ++i) {
              means.push_back(means_in_block(tree.first + i, field));
            }
            for (int depth = 0; depth <= tree.deepest + inner_; ++depth) {
              for_each_depth(
                  tree, depth,
                  [&](std::size_t leaf, int level) { put({mean_below(tree, leaf, level, means)}); },
                  [&](std::size_t leaf, int inside) {
                    put(means[leaf - tree.first][std::size_t(inside)]);
                  });
            }
          }
        });
  }

  /// Returns the mean over a refined block of `level`, whose first leaf is `leaf`.
  [[nodiscard]] double mean_below(
      const hyper_tree& tree, std::size_t leaf, int level,
      const std::vector<std::vector<std::vector<double>>>& means) const {
    double sum = 0;
    for (double share = 0; share < 1; ++leaf) {
      const double size = std::ldexp(1.0, -dim_ * (mesh_.leaves[leaf].level - level));
      sum += size * means[leaf - tree.first].front().front();
      share += size;
    }
    return sum;
  }

  void add_levels() {
    std::vector<std::uint8_t> levels;
    levels.reserve(vertices_);
    for (const hyper_tree& tree : trees_) {
      for (int depth = 0; depth <= tree.deepest + inner_; ++depth) {
        for_each_depth(
            tree, depth, [&](std::size_t, int level) { levels.push_back(std::uint8_t(level)); },
            [&](std::size_t leaf, int inside) {
              levels.insert(levels.end(), vertices_in_block(inside),
                            std::uint8_t(mesh_.leaves[leaf].level));
            });
      }
    }
    add("CellData", "UInt8", "level", levels);
  }

  const ramify::mesh_snapshot& mesh_;
  int dim_;
  int inner_;  ///< depths of a tree below a block
  std::vector<hyper_tree> trees_;
  std::vector<std::size_t> place_of_cell_;  ///< of the cells of a block, in Morton order
  std::uint64_t vertices_ = 0;
  vtk_arrays arrays_;
};

}  // namespace

void write_htg(const std::filesystem::path& path, const ramify::mesh_snapshot& mesh,
               vtu_numbers numbers) {
  check_mesh(mesh);
  const auto reject = [](const std::string& what) {
    throw std::invalid_argument("mesh_snapshot: " + what + ", which a hyper tree grid cannot have");
  };
  if (!std::has_single_bit(unsigned(mesh.cells))) {
    reject("blocks of " + std::to_string(mesh.cells) + " cells along an edge");
  }
  for (const ramify::block_position& leaf : mesh.leaves) {
    if (leaf.level > deepest_htg_level) reject("a leaf of level " + std::to_string(leaf.level));
  }
  if (std::ranges::find(mesh.fields, "level") != mesh.fields.end()) {
    reject("a field 'level' of its own");
  }
  const htg_arrays arrays(mesh, numbers);
  write_file(path, [&](std::ostream& out) { arrays.write(out); });
}

}  // namespace common
