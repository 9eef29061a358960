// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Determines which values the ranks of a divided mesh (division.cuh) exchange. This is host code
/// that does not communicate.
///
/// The *halo* of a rank consists of the blocks of other ranks that its kernels read:
///
///   | reader                       | reads, at the faces that it touches                       |
///   |------------------------------|-----------------------------------------------------------|
///   | a block that is advanced,    | the neighbor of its level; or the coarser leaf and, for   |
///   | tagged or refined            | slopes, the neighbors of this leaf                        |
///   | reflux(), of a coarse leaf   | flux registers of the finer blocks at its faces           |
///   | average_down(), of a node    | its children                                              |
///
/// A ghost cell and its slopes are in the two layers of cells of the other block that are next to
/// the face, with parabolas (with_ppm) in three. Therefore a message has these layers of cells of a
/// block for each face that is read.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/mesh.cuh>
#include <ramify/distributed_amr/division.cuh>
#include <ramify/distributed_amr/region_lists.hpp>
#include <vector>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A range of part_plan::stage_nodes: the blocks of one level, or of all levels.
struct stage_range {
  unsigned begin;
  unsigned interior;  ///< how many blocks at the beginning read no values of other ranks
  unsigned count;
};

/// What a rank has of a mesh, and what it exchanges. An array `[level]` has one entry for each
/// level with subcycling, else a single entry for all levels.
struct part_plan {
  int finest = 0;
  bool has_interface = false;  ///< whether the whole mesh has coarse-fine faces

  // ---- the rank's own blocks ----
  std::vector<int> leaves;                ///< in Morton order
  std::vector<unsigned> leaf_numbers;     ///< their numbers among all leaves
  std::vector<int> nodes;                 ///< level by level, each level in Morton order
  std::vector<unsigned> level_begin;      ///< where each level's nodes begin in `nodes`
  std::vector<int> averaged_leaves;       ///< as block_lists::averaged_leaves
  std::vector<int> corrected_faces;       ///< as block_lists::corrected_faces
  std::vector<unsigned> corrected_begin;  ///< where each level's faces begin in `corrected_faces`
  std::vector<int> stage_nodes;           ///< the blocks that stages advance
  std::vector<stage_range> stages;        ///< [level]

  // ---- all blocks ----
  std::vector<int> leaf_owners;  ///< [leaf]
  std::vector<int> present;      ///< the nodes whose values this rank has: own ones and the halo

  // ---- messages ----
  region_lists halo;                     ///< layers that own leaves read
  std::vector<region_lists> same_level;  ///< [level] layers that blocks of the same level read
  std::vector<region_lists> finer;       ///< [level] layers that blocks of finer levels read
  std::vector<region_lists> registers;   ///< [level of the coarse leaf] flux registers
  std::vector<region_lists> children;    ///< [level of the parent] blocks; also without subcycling
};

/// Calls use(node, face) for the layers of other blocks from which a block's ghost cells are
/// computed. ghost_reader::ghost() and its slopes read no other values.
template <int dim, class Use>
void for_each_layer_read(const tree_copy<dim>& copy, int node, Use use) {
  for (int face = 0; face < mesh_tree<dim>::faces; ++face) {
    const int neighbor = copy.neighbor(node, face);
    if (neighbor >= 0) use(neighbor, opposite(face));
    if (neighbor != coarser_neighbor) continue;
    const int coarse = copy.coarse_neighbor(node, face);
    use(coarse, opposite(face));
    for (int of_coarse = 0; of_coarse < mesh_tree<dim>::faces; ++of_coarse) {
      if (of_coarse == face) continue;  // the far side: its layer is in the coarse block
      const int next = copy.neighbor(coarse, of_coarse);
      if (next >= 0) use(next, opposite(of_coarse));
      if (next == coarser_neighbor) {
        use(copy.coarse_neighbor(coarse, of_coarse), opposite(of_coarse));
      }
    }
  }
}

/// Makes the plan of a rank. O(nodes of the whole mesh).
template <int dim>
class part_planner {
 public:
  /// Finds what the rank has and exchanges. `owners` is that of divide(), for nodes of the copy.
  part_planner(const tree_copy<dim>& copy, const std::vector<int>& owners, int rank, int ranks,
               bool subcycle)
      : copy_(copy), owners_(owners), rank_(rank), ranks_(ranks), subcycle_(subcycle) {
    find_border();
    list_blocks();
    collect_layers();
    collect_registers();
    collect_children();
    list_present();
  }
  [[nodiscard]] part_plan take() { return std::move(plan_); }

 private:
  using collectors = std::vector<region_collector>;

  [[nodiscard]] int owner(int node) const { return owners_[std::size_t(node)]; }
  [[nodiscard]] std::size_t entry_of(int level) const { return subcycle_ ? std::size_t(level) : 0; }
  [[nodiscard]] collectors collectors_for(std::size_t count) const {
    return collectors(count, region_collector(rank_, ranks_));
  }
  static std::vector<region_lists> lists_of(collectors& all) {
    std::vector<region_lists> lists;
    for (region_collector& one : all) lists.push_back(one.lists());
    return lists;
  }
  [[nodiscard]] std::size_t entries() const {
    return subcycle_ ? std::size_t(plan_.finest) + 1 : 1;
  }

  /// Calls use(node) for the nodes in use, in the order of their numbers.
  template <class Use>
  void for_each_number(Use use) const {
    for (std::size_t node = 0; node < owners_.size(); ++node) {
      if (owners_[node] >= 0) use(int(node));
    }
  }

  /// Finds the nodes that may read layers of other ranks. The passes below skip all others, which
  /// are most nodes of a large mesh.
  void find_border() {
    constexpr int faces = mesh_tree<dim>::faces;
    // 1. Nodes at whose faces there is a block of another rank.
    std::vector<char> touches(owners_.size(), 0);
    for_each_number([&](int node) {
      for (int face = 0; face < faces; ++face) {
        int other = copy_.neighbor(node, face);
        if (other == coarser_neighbor) other = copy_.coarse_neighbor(node, face);
        if (other >= 0 && owner(other) != owner(node)) touches[std::size_t(node)] = 1;
      }
    });
    // 2. Nodes that also read the neighbors of a coarser leaf.
    is_at_border_ = touches;
    for_each_number([&](int node) {
      for (int face = 0; face < faces; ++face) {
        if (copy_.neighbor(node, face) != coarser_neighbor) continue;
        if (touches[std::size_t(copy_.coarse_neighbor(node, face))] != 0) {
          is_at_border_[std::size_t(node)] = 1;
        }
      }
    });
  }
  [[nodiscard]] bool is_at_border(int node) const { return is_at_border_[std::size_t(node)] != 0; }

  /// Appends the faces of a leaf to finer blocks. Returns whether there are any.
  bool list_corrected(int leaf, std::vector<int>& faces) const {
    const std::size_t before = faces.size();
    for (int face = 0; face < mesh_tree<dim>::faces; ++face) {
      const int neighbor = copy_.neighbor(leaf, face);
      if (neighbor < 0 || copy_.tree.is_leaf(neighbor)) continue;
      faces.push_back(leaf * mesh_tree<dim>::faces + face);
    }
    return faces.size() > before;
  }
  [[nodiscard]] bool has_coarser_neighbor(int node) const {
    for (int face = 0; face < mesh_tree<dim>::faces; ++face) {
      if (copy_.neighbor(node, face) == coarser_neighbor) return true;
    }
    return false;
  }

  /// Writes lists one after another, and where each begins.
  static void join(const std::vector<std::vector<int>>& lists, std::vector<int>& joined,
                   std::vector<unsigned>& begins) {
    for (const std::vector<int>& list : lists) {
      begins.push_back(unsigned(joined.size()));
      joined.insert(joined.end(), list.begin(), list.end());
    }
    begins.push_back(unsigned(joined.size()));
  }

  void list_blocks() {
    std::vector<std::vector<int>> levels(std::size_t(copy_.tree.max_level) + 1);
    std::vector<std::vector<int>> corrected(levels.size());
    std::vector<int> of_others;
    unsigned leaf = 0;
    copy_.for_each([&](int node) {
      const bool own = owner(node) == rank_;
      const auto level = std::size_t(copy_.level_of(node));
      plan_.finest = std::max(plan_.finest, copy_.level_of(node));
      if (own) levels[level].push_back(node);
      if (!copy_.tree.is_leaf(node)) return;
      const bool is_corrected = list_corrected(node, own ? corrected[level] : of_others);
      plan_.has_interface = plan_.has_interface || is_corrected;
      plan_.leaf_owners.push_back(owner(node));
      if (own) {
        plan_.leaves.push_back(node);
        plan_.leaf_numbers.push_back(leaf);
        if (is_corrected && has_coarser_neighbor(node)) plan_.averaged_leaves.push_back(node);
      }
      ++leaf;
    });
    join(levels, plan_.nodes, plan_.level_begin);
    join(corrected, plan_.corrected_faces, plan_.corrected_begin);
    if (subcycle_) {
      for (int level = 0; level <= plan_.finest; ++level) add_stage(levels[std::size_t(level)]);
    } else {
      add_stage(plan_.leaves);
    }
  }

  /// Appends the blocks of a stage, the interior ones first.
  void add_stage(const std::vector<int>& blocks) {
    const auto reads_others = [&](int node) {
      if (!is_at_border(node)) return false;
      bool found = false;
      for_each_layer_read(copy_, node, [&](int read, int) {
        // With subcycling, the values of coarser levels were exchanged earlier.
        const bool in_stage = !subcycle_ || copy_.level_of(read) == copy_.level_of(node);
        found = found || (in_stage && owner(read) != rank_);
      });
      return found;
    };
    const auto begin = std::ptrdiff_t(plan_.stage_nodes.size());
    plan_.stage_nodes.insert(plan_.stage_nodes.end(), blocks.begin(), blocks.end());
    const auto first = plan_.stage_nodes.begin() + begin;
    const auto others = std::stable_partition(first, plan_.stage_nodes.end(),
                                              [&](int node) { return !reads_others(node); });
    plan_.stages.push_back({unsigned(begin), unsigned(others - first), unsigned(blocks.size())});
  }

  void collect_layers() {
    region_collector halo(rank_, ranks_);
    collectors same = collectors_for(subcycle_ ? entries() : 0);
    collectors finer = collectors_for(subcycle_ ? entries() : 0);
    for_each_number([&](int node) {
      const bool is_leaf = copy_.tree.is_leaf(node);
      if (!is_at_border(node) || (!is_leaf && !subcycle_)) return;
      for_each_layer_read(copy_, node, [&](int read, int face) {
        const block_region region{read, face};
        if (is_leaf) halo.add(owner(read), owner(node), region);
        if (!subcycle_) return;
        const int level = copy_.level_of(read);
        collectors& of_level = level == copy_.level_of(node) ? same : finer;
        of_level[std::size_t(level)].add(owner(read), owner(node), region);
      });
    });
    plan_.halo = halo.lists();
    plan_.same_level = lists_of(same);
    plan_.finer = lists_of(finer);
  }

  void collect_registers() {
    collectors registers = collectors_for(entries());
    for_each_number([&](int node) {
      if (!is_at_border(node)) return;
      for (int face = 0; face < mesh_tree<dim>::faces; ++face) {
        if (copy_.neighbor(node, face) != coarser_neighbor) continue;
        const int coarse = copy_.coarse_neighbor(node, face);
        registers[entry_of(copy_.level_of(coarse))].add(owner(node), owner(coarse), {node, face});
      }
    });
    plan_.registers = lists_of(registers);
  }

  void collect_children() {
    collectors children = collectors_for(std::size_t(plan_.finest) + 1);
    for_each_number([&](int node) {
      const int parent = copy_.parents[std::size_t(node)];
      if (parent < 0) return;
      children[std::size_t(copy_.level_of(parent))].add(owner(node), owner(parent), {node, 0});
    });
    plan_.children = lists_of(children);
  }

  void list_present() {
    std::vector<char> is_present(owners_.size(), 0);
    for (const int node : plan_.nodes) is_present[std::size_t(node)] = 1;
    const auto add = [&](const region_lists& lists) {
      for (const block_region& region : lists.receive) is_present[std::size_t(region.node)] = 1;
    };
    add(plan_.halo);
    for (const auto* lists : {&plan_.same_level, &plan_.finer, &plan_.registers, &plan_.children}) {
      for (const region_lists& one : *lists) add(one);
    }
    for (std::size_t node = 0; node < is_present.size(); ++node) {
      if (is_present[node] != 0) plan_.present.push_back(int(node));
    }
  }

  const tree_copy<dim>& copy_;
  const std::vector<int>& owners_;
  int rank_;
  int ranks_;
  bool subcycle_;
  std::vector<char> is_at_border_;  // [node]
  part_plan plan_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
