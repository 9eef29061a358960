// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How a mesh is divided among the ranks of a communicator. Host code without communication: each
/// rank has the whole tree and computes the same division.
///
/// The Morton curve is cut into one piece for each rank. An inner node and all its children that
/// are leaves belong to the same rank, so these children are averaged, coarsened and made without
/// communication.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/amr/mesh.cuh>
#include <utility>
#include <vector>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The arrays of a mesh_tree on the host.
template <int dim>
struct tree_copy {
  /// Copies the shape of a tree. The arrays have entries for `nodes` nodes.
  tree_copy(const mesh_tree<dim>& shape, std::vector<int> roots_in_order, std::size_t nodes)
      : tree(shape),
        roots(std::move(roots_in_order)),
        places(nodes),
        parents(nodes, -1),
        first_children(nodes, no_children),
        neighbors(nodes * mesh_tree<dim>::faces, no_neighbor) {
    tree.place = places.data();
    tree.parent = parents.data();
    tree.first_child = first_children.data();
    tree.neighbor = neighbors.data();
  }
  tree_copy(const tree_copy&) = delete;
  tree_copy& operator=(const tree_copy&) = delete;

  [[nodiscard]] int level_of(int node) const { return places[std::size_t(node)].level; }
  [[nodiscard]] int neighbor(int node, int face) const {
    return neighbors[std::size_t(node * mesh_tree<dim>::faces + face)];
  }
  /// Returns the coarser leaf across a face at which a node has no neighbor of its level.
  [[nodiscard]] int coarse_neighbor(int node, int face) const {
    return neighbor(parents[std::size_t(node)], face);
  }

  /// Calls use(node) for all nodes in Morton order, a parent before its children.
  template <class Use>
  void for_each(Use use) const {
    std::vector<int> due(roots.rbegin(), roots.rend());
    while (!due.empty()) {
      const int node = due.back();
      due.pop_back();
      use(node);
      if (tree.is_leaf(node)) continue;
      for (int child = tree.siblings - 1; child >= 0; --child) {
        due.push_back(first_children[std::size_t(node)] + child);
      }
    }
  }

  mesh_tree<dim> tree;     ///< with pointers to the arrays
  std::vector<int> roots;  ///< in Morton order
  std::vector<block_place<dim>> places;
  std::vector<int> parents;
  std::vector<int> first_children;
  std::vector<int> neighbors;  ///< [node][face]
};

/// The rank that each node belongs to, and the largest cost of a rank over the mean.
struct division {
  std::vector<int> owners;  ///< [node]; -1: the node number is not in use
  double imbalance = 1;
};

/// Divides the blocks among `ranks` ranks. The cost of a block is the number of its steps in a step
/// of level 0; without subcycling only leaves have a cost. O(nodes).
template <int dim>
[[nodiscard]] division divide(const tree_copy<dim>& copy, int ranks, bool subcycle) {
  const mesh_tree<dim>& tree = copy.tree;
  const auto steps = [&](int node) {
    return subcycle ? std::uint64_t{1} << copy.level_of(node) : std::uint64_t{1};
  };
  // A unit is an inner node with its children that are leaves, or a root that is a leaf.
  const auto cost_of_unit = [&](int node) {
    std::uint64_t cost = tree.is_leaf(node) || subcycle ? steps(node) : 0;
    for (int child = 0; !tree.is_leaf(node) && child < tree.siblings; ++child) {
      const int below = tree.first_child[node] + child;
      if (tree.is_leaf(below)) cost += steps(below);
    }
    return cost;
  };
  const auto is_unit = [&](int node) { return !tree.is_leaf(node) || tree.parent[node] < 0; };
  std::uint64_t all = 0;
  copy.for_each([&](int node) { all += is_unit(node) ? cost_of_unit(node) : 0; });

  division result;
  result.owners.assign(copy.places.size(), -1);
  std::vector<std::uint64_t> costs(std::size_t(ranks), 0);
  std::uint64_t before = 0;
  copy.for_each([&](int node) {
    int& owner = result.owners[std::size_t(node)];
    if (!is_unit(node)) {
      owner = result.owners[std::size_t(tree.parent[node])];
      return;
    }
    // The rank whose share of the curve contains the middle of the unit.
    const std::uint64_t cost = cost_of_unit(node);
    const std::uint64_t middle = (2 * before + cost) * std::uint64_t(ranks) / (2 * all);
    owner = std::min(ranks - 1, int(middle));
    costs[std::size_t(owner)] += cost;
    before += cost;
  });
  result.imbalance = double(*std::ranges::max_element(costs)) * ranks / double(all);
  return result;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
