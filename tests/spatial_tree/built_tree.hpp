// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A spatial tree in host memory, and the checks of its structure.

#include <algorithm>
#include <cstdint>
#include <ramify/spatial_tree.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "clouds.hpp"
#include "id_hash.cuh"

namespace tests {

template <class Real, int dim>
struct built_tree {
  struct node {
    coordinates<Real, dim> lower;
    coordinates<Real, dim> upper;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t first_child;
    std::uint32_t children;
    std::uint32_t level;
    std::uint32_t parent;
    std::uint64_t hash;  ///< of the node's ids: hash_of(), combined in order
    bool operator==(const node&) const = default;
  };
  std::vector<node> nodes;
  point_list<Real, dim> points;
  std::vector<std::uint32_t> ids;
  ramify::spatial_tree_report report;
};

template <int dim>
inline constexpr unsigned max_level = dim == 2 ? 31 + 16 : 21 + 11;

/// Checks that the tree's points are the caller's in another order. Returns the fault, or "".
template <class Real, int dim>
std::string check_points(const built_tree<Real, dim>& tree, const point_list<Real, dim>& points) {
  std::vector<bool> seen(points.size());
  for (std::size_t i = 0; i < tree.ids.size(); ++i) {
    const std::uint32_t id = tree.ids[i];
    if (id >= points.size() || seen[id]) {
      return "id " + std::to_string(id) + " is repeated or out of range";
    }
    seen[id] = true;
    if (tree.points[i] != points[id]) return "point " + std::to_string(i) + " is not its id's";
  }
  return {};
}

/// Checks the box and the hash of a node against its points. Returns the fault, or "".
template <class Real, int dim>
std::string check_values(const built_tree<Real, dim>& tree,
                         const typename built_tree<Real, dim>::node& node) {
  auto lower = tree.points[node.begin];
  auto upper = lower;
  std::uint64_t hash = hash_of(tree.ids[node.begin]);
  for (std::uint32_t i = node.begin + 1; i < node.end; ++i) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      lower[axis] = std::min(lower[axis], tree.points[i][axis]);
      upper[axis] = std::max(upper[axis], tree.points[i][axis]);
    }
    hash = combined_hash(hash, hash_of(tree.ids[i]));
  }
  if (node.lower != lower || node.upper != upper) return "the box is not tight";
  if (node.hash != hash) return "the hash";
  return {};
}

/// Checks a node's children and appends them to `stack`. Returns the fault, or "".
template <class Real, int dim>
std::string check_children(const built_tree<Real, dim>& tree, std::uint32_t index,
                           unsigned leaf_size, std::vector<std::uint32_t>& stack) {
  const auto& node = tree.nodes[index];
  const std::uint32_t size = node.end - node.begin;
  if (node.children == 0) return size > leaf_size ? "a leaf with too many points" : "";
  if (size <= leaf_size) return "a leaf was split";
  if (node.children < 2 || node.children > 1u << dim) return "the number of children";
  if (node.first_child + node.children > tree.nodes.size()) return "children";
  std::uint32_t next = node.begin;
  for (std::uint32_t c = node.first_child; c < node.first_child + node.children; ++c) {
    const auto& child = tree.nodes[c];
    if (child.begin != next) return "the children do not partition the points";
    if (child.level != node.level + 1) return "a child's level";
    if (child.parent != index) return "a child's parent";
    next = child.end;
    stack.push_back(c);
    if (stack.size() > tree.nodes.size()) return "the nodes are not a tree";
  }
  if (next != node.end) return "the children do not partition the points";
  return {};
}

/// Checks all guarantees of a tree over `points`. Returns the first fault, or "".
template <class Real, int dim>
std::string check_tree(const built_tree<Real, dim>& tree,
                       const std::type_identity_t<point_list<Real, dim>>& points,
                       unsigned leaf_size) {
  const auto n = static_cast<std::uint32_t>(points.size());
  if (tree.ids.size() != n || tree.points.size() != n) return "the number of points";
  if (tree.report.points != n || tree.report.nodes != tree.nodes.size()) return "the report";
  if (n == 0) return tree.nodes.empty() ? "" : "an empty tree has nodes";
  if (std::string fault = check_points<Real, dim>(tree, points); !fault.empty()) return fault;

  // Each node is reached once from the root, and fits its parent and its points.
  if (tree.nodes.empty()) return "there is no root";
  if (tree.nodes[0].begin != 0 || tree.nodes[0].end != n || tree.nodes[0].level != 0) return "root";
  std::vector<std::uint32_t> stack{0};
  std::size_t reached = 0;
  while (!stack.empty()) {
    const std::uint32_t index = stack.back();
    stack.pop_back();
    ++reached;
    const auto& node = tree.nodes[index];
    const std::string here = " at node " + std::to_string(index);
    if (node.begin >= node.end || node.end > n) return "no points" + here;
    if (node.level > max_level<dim>) return "too deep" + here;
    std::string fault = check_values(tree, node);
    if (fault.empty()) fault = check_children(tree, index, leaf_size, stack);
    if (!fault.empty()) return fault + here;
  }
  return reached == tree.nodes.size() ? "" : "a node is not reached";
}

/// Returns the tree with its nodes in preorder and without indices, which may change from run to
/// run.
template <class Real, int dim>
built_tree<Real, dim> in_preorder(const built_tree<Real, dim>& tree) {
  built_tree<Real, dim> ordered;
  ordered.points = tree.points;
  ordered.ids = tree.ids;
  std::vector<std::uint32_t> stack;
  if (!tree.nodes.empty()) stack.push_back(0);
  while (!stack.empty()) {
    auto node = tree.nodes[stack.back()];
    stack.pop_back();
    for (std::uint32_t c = node.children; c > 0; --c) stack.push_back(node.first_child + c - 1);
    node.first_child = 0;
    node.parent = 0;
    ordered.nodes.push_back(node);
  }
  return ordered;
}

template <class Real, int dim>
bool same_tree(const built_tree<Real, dim>& a, const built_tree<Real, dim>& b) {
  const auto x = in_preorder(a);
  const auto y = in_preorder(b);
  return x.nodes == y.nodes && x.points == y.points && x.ids == y.ids;
}

}  // namespace tests
