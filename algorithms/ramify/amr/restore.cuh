// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Builds the tree of blocks from its leaves, on the host, and validates a saved state.

#include <cmath>
#include <ramify/amr/block_cells.cuh>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/snapshot.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

template <int dim>
[[nodiscard]] block_position position_of(const block_place<dim>& place) {
  block_position position{place.level, {}};
  for (int axis = 0; axis < dim; ++axis) position.index[std::size_t(axis)] = place.index[axis];
  return position;
}

template <int dim>
[[nodiscard]] block_place<dim> place_of(const block_position& position) {
  block_place<dim> place{position.level, {}};
  for (int axis = 0; axis < dim; ++axis) place.index[axis] = position.index[std::size_t(axis)];
  return place;
}

/// Checks that a state belongs to a run with this physics, block size and mesh.
/// \throws std::invalid_argument naming the member
template <class Physics, int n>
void check_kind(const amr_state& state, const amr_options::mesh_fields& mesh) {
  using real = typename Physics::real;
  constexpr int dim = Physics::dimensions;
  const auto same = [](const std::string& what, auto found, auto wanted) {
    require(found == wanted, "amr_state." + what, found, std::to_string(wanted) + " in this run");
  };
  same("dimensions", state.dimensions, dim);
  same("cells", state.cells, n);
  same("variables", state.variables, Physics::variables);
  same("real_bytes", state.real_bytes, static_cast<int>(sizeof(real)));
  for (std::size_t axis = 0; axis < dim; ++axis) {
    same("roots", state.roots[axis], mesh.roots[axis]);
  }
  same("idle.size()", state.idle.size(), state.leaves.size());
  same("values.size()", state.values.size(),
       state.leaves.size() * Physics::variables * block_cells<dim, n>::count * sizeof(real));
  require(std::isfinite(state.time), "amr_state.time", state.time, "finite");
  require(state.steps >> 63 == 0, "amr_state.steps", state.steps, "below 2^63");
  std::size_t roots = 1;
  for (std::size_t axis = 0; axis < dim; ++axis) roots *= mesh.roots[axis];
  require(state.leaves.size() >= roots, "amr_state.leaves.size()", state.leaves.size(),
          "at least the number of root blocks");
}

/// The arrays of a mesh_tree on the host, and the node of each leaf.
template <int dim>
struct host_forest {
  /// \param shape  roots, sides, balance and max_level of the tree
  /// \throws std::invalid_argument naming the first leaf that is out of range or overlaps another
  ///         one, a block that no leaf covers, or two neighbors that are not balanced
  host_forest(const mesh_tree<dim>& shape, const std::vector<block_position>& leaves)
      : tree(shape) {
    for (unsigned root = 0; root < tree.root_count(); ++root) {
      add_node(tree.place_of_root(root), -1);
    }
    for (const block_position& leaf : leaves) add_leaf(leaf);
    for (std::size_t node = 0; node < places.size(); ++node) {
      if (first_children[node] == no_children && !is_listed[node]) {
        fail("no leaf covers the block " + name(places[node]));
      }
    }
    check_balance();
  }

  [[nodiscard]] unsigned families() const { return tree.family_of(int(places.size())); }

  mesh_tree<dim> tree;  ///< with pointers to the arrays
  std::vector<block_place<dim>> places;
  std::vector<int> parents;
  std::vector<int> first_children;
  std::vector<bool> is_listed;       ///< whether the node is one of the leaves
  std::vector<int> nodes_of_leaves;  ///< in the order of the leaves

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw std::invalid_argument("amr_state: " + what);
  }
  static std::string name(const block_place<dim>& place) {
    std::string text = "level " + std::to_string(place.level) + " (";
    for (int axis = 0; axis < dim; ++axis) {
      text += (axis == 0 ? "" : ", ") + std::to_string(place.index[axis]);
    }
    return text + ")";
  }

  void add_node(const block_place<dim>& place, int parent) {
    places.push_back(place);
    parents.push_back(parent);
    first_children.push_back(no_children);
    is_listed.push_back(false);
    tree.place = places.data();
    tree.first_child = first_children.data();
  }

  void add_leaf(const block_position& leaf) {
    const std::string which = "leaf " + std::to_string(nodes_of_leaves.size());
    if (leaf.level < 0 || leaf.level > tree.max_level) {
      fail(which + " is of level " + std::to_string(leaf.level) + "; max_level is " +
           std::to_string(tree.max_level));
    }
    const auto wanted = place_of<dim>(leaf);
    for (int axis = 0; axis < dim; ++axis) {
      if (wanted.index[axis] >> leaf.level >= tree.roots[axis]) {
        fail(which + " is outside of the domain: " + name(wanted));
      }
    }
    auto node = static_cast<std::size_t>(tree.find(wanted));
    while (places[node].level < leaf.level) {
      if (is_listed[node]) fail(which + " is inside another leaf");
      const block_place<dim> parent_place = places[node];
      first_children[node] = int(places.size());
      for (int child = 0; child < tree.siblings; ++child) {
        add_node(tree.place_of_child(parent_place, child), int(node));
      }
      node = static_cast<std::size_t>(tree.find(wanted));
    }
    if (is_listed[node]) fail(which + " occurs twice: " + name(wanted));
    if (!tree.is_leaf(int(node))) fail(which + " covers finer leaves: " + name(wanted));
    is_listed[node] = true;
    nodes_of_leaves.push_back(int(node));
  }

  void check_balance() const {
    for (std::size_t node = 0; node < places.size(); ++node) {
      if (first_children[node] == no_children) continue;
      for (int direction = 0; direction < tree.directions; ++direction) {
        const int neighbor = tree.balanced_neighbor(int(node), direction);
        if (neighbor < 0) continue;
        const auto& there = places[std::size_t(neighbor)];
        if (there.level == places[node].level) continue;
        fail("leaf " + name(there) + " is too coarse for the children of its neighbor " +
             name(places[node]) + ": the mesh is not balanced as configured");
      }
    }
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
