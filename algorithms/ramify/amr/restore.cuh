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
  block_position position;
  position.level = place.level;
  for (std::size_t axis = 0; axis < dim; ++axis) position.index[axis] = place.index[axis];
  return position;
}

/// Checks that a state is of a run with these blocks and numbers.
/// \throws std::invalid_argument naming the member
template <class Physics, int n>
void check_kind(const amr_state& state, const amr_mesh_config& mesh) {
  using real = typename Physics::real;
  constexpr int dim = Physics::dimensions;
  constexpr int variables = Physics::variables;
  using cells = block_cells<dim, n>;
  const auto same = [](const char* what, auto found, auto wanted) {
    if (found == wanted) return;
    throw std::invalid_argument("amr_state." + std::string(what) + " is " + std::to_string(found) +
                                "; this run has " + std::to_string(wanted));
  };
  same("dimensions", state.dimensions, dim);
  same("cells", state.cells, n);
  same("variables", state.variables, variables);
  same("real_bytes", state.real_bytes, static_cast<int>(sizeof(real)));
  for (std::size_t axis = 0; axis < dim; ++axis) {
    same("roots", state.roots[axis], mesh.roots[axis]);
  }
  same("idle.size()", state.idle.size(), state.leaves.size());
  same("values.size()", state.values.size(),
       state.leaves.size() * variables * cells::count * sizeof(real));
  if (!std::isfinite(state.time)) {
    throw std::invalid_argument("amr_state.time is " + std::to_string(state.time));
  }
}

/// The arrays of a mesh_tree on the host, and the node of each leaf.
template <int dim>
class host_forest {
 public:
  /// \param shape  roots, sides, balance and max_level of the tree
  /// \throws std::invalid_argument naming the first leaf that is out of range or overlaps another
  ///         one, a block without a leaf, or two neighbors that are not balanced
  host_forest(const mesh_tree<dim>& shape, const std::vector<block_position>& leaves)
      : shape_(shape) {
    place_.resize(shape.root_count());
    for (unsigned root = 0; root < shape.root_count(); ++root) {
      place_[root] = shape.place_of_root(root);
    }
    parent_.assign(place_.size(), -1);
    first_child_.assign(place_.size(), no_children);
    listed_.assign(place_.size(), 0);
    for (std::size_t i = 0; i < leaves.size(); ++i) add(i, leaves[i]);
    for (std::size_t node = 0; node < place_.size(); ++node) {
      if (first_child_[node] == no_children && listed_[node] == 0) {
        fail("no leaf covers the block " + name(place_[node]));
      }
    }
    check_balance();
  }

  [[nodiscard]] const std::vector<block_place<dim>>& places() const { return place_; }
  [[nodiscard]] const std::vector<int>& parents() const { return parent_; }
  [[nodiscard]] const std::vector<int>& first_children() const { return first_child_; }
  /// The node of each leaf, in the order of the leaves.
  [[nodiscard]] const std::vector<int>& nodes_of_leaves() const { return nodes_; }
  [[nodiscard]] unsigned families() const {
    return (static_cast<unsigned>(place_.size()) - shape_.root_count()) / shape_.siblings;
  }

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

  void add(std::size_t number, const block_position& leaf) {
    const std::string which = "leaf " + std::to_string(number);
    if (leaf.level < 0 || leaf.level > shape_.max_level) {
      fail(which + " is of level " + std::to_string(leaf.level) + "; max_level is " +
           std::to_string(shape_.max_level));
    }
    block_place<dim> wanted{leaf.level, {}};
    for (int axis = 0; axis < dim; ++axis) {
      wanted.index[axis] = leaf.index[static_cast<std::size_t>(axis)];
      if (wanted.index[axis] >> leaf.level >= shape_.roots[axis]) {
        fail(which + " is outside of the domain: " + name(wanted));
      }
    }
    int node = tree().find(wanted);
    while (place(node).level < leaf.level) {
      if (listed_[static_cast<std::size_t>(node)] != 0) fail(which + " is inside another leaf");
      split(node);
      node = tree().find(wanted);
    }
    const auto entry = static_cast<std::size_t>(node);
    if (listed_[entry] != 0) fail(which + " occurs twice: " + name(wanted));
    if (first_child_[entry] != no_children) fail(which + " covers finer leaves: " + name(wanted));
    listed_[entry] = 1;
    nodes_.push_back(node);
  }

  [[nodiscard]] const block_place<dim>& place(int node) const {
    return place_[static_cast<std::size_t>(node)];
  }

  void split(int node) {
    const block_place<dim> above = place(node);
    first_child_[static_cast<std::size_t>(node)] = static_cast<int>(place_.size());
    for (int child = 0; child < shape_.siblings; ++child) {
      place_.push_back(shape_.place_of_child(above, child));
      parent_.push_back(node);
      first_child_.push_back(no_children);
      listed_.push_back(0);
    }
  }

  void check_balance() const {
    const mesh_tree<dim> all = tree();
    for (std::size_t node = 0; node < place_.size(); ++node) {
      if (first_child_[node] == no_children) continue;
      for (int number = 0; number < shape_.directions; ++number) {
        int step[dim];
        const int axes = shape_.direction(number, step);
        block_place<dim> there = place_[node];
        if (!shape_.is_balanced_across(axes) || !all.move(there, step)) continue;
        const block_place<dim>& neighbor = place(all.find(there));
        if (neighbor.level < there.level) {
          fail("leaf " + name(neighbor) + " is too coarse for the children of its neighbor " +
               name(place_[node]) + ": the mesh is not balanced as configured");
        }
      }
    }
  }

  /// A tree that reads the current arrays.
  [[nodiscard]] mesh_tree<dim> tree() const {
    mesh_tree<dim> all = shape_;
    all.place = const_cast<block_place<dim>*>(place_.data());  // find() and move() only read
    all.first_child = const_cast<int*>(first_child_.data());
    return all;
  }

  mesh_tree<dim> shape_;
  std::vector<block_place<dim>> place_;
  std::vector<int> parent_;
  std::vector<int> first_child_;
  std::vector<char> listed_;  ///< 1: the node is one of the leaves
  std::vector<int> nodes_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
