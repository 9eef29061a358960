// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Whether a tree is one, and over the points that it was built over.

#include <algorithm>
#include <string>
#include <type_traits>

#include "cases.hpp"

namespace tests {

template <int dim>
inline constexpr unsigned deepest_level = dim == 2 ? 31 + 16 : 21 + 11;

/// Empty if `tree` keeps all that is promised of it, else what is wrong.
template <class Real, int dim>
std::string check_tree(const built_tree<Real, dim>& tree,
                       const std::type_identity_t<point_list<Real, dim>>& points,
                       unsigned leaf_size) {
  const auto n = static_cast<std::uint32_t>(points.size());
  if (tree.ids.size() != n || tree.points.size() != n) return "the number of points";
  if (tree.report.points != n || tree.report.nodes != tree.nodes.size()) return "the report";
  if (n == 0) return tree.nodes.empty() ? "" : "an empty tree has nodes";

  // The points are the caller's, in another order.
  std::vector<bool> seen(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t id = tree.ids[i];
    if (id >= n || seen[id]) return "id " + std::to_string(id) + " comes twice or is none";
    seen[id] = true;
    if (tree.points[i] != points[id]) return "point " + std::to_string(i) + " is not its id's";
  }

  // Each node is reached once from the root, and is what its parent and its points make it.
  if (tree.nodes.empty()) return "there is no root";
  if (tree.nodes[0].begin != 0 || tree.nodes[0].end != n || tree.nodes[0].level != 0) return "root";
  std::vector<std::uint32_t> waiting{0};
  std::size_t reached = 0;
  while (!waiting.empty()) {
    const std::uint32_t index = waiting.back();
    waiting.pop_back();
    ++reached;
    const auto& node = tree.nodes[index];
    const std::string here = " at node " + std::to_string(index);
    if (node.begin >= node.end || node.end > n) return "no points" + here;
    if (node.level > deepest_level<dim>) return "too deep" + here;

    auto lower = tree.points[node.begin];
    auto upper = lower;
    std::uint64_t summary = summary_of(tree.ids[node.begin]);
    for (std::uint32_t i = node.begin + 1; i < node.end; ++i) {
      for (std::size_t axis = 0; axis < dim; ++axis) {
        lower[axis] = std::min(lower[axis], tree.points[i][axis]);
        upper[axis] = std::max(upper[axis], tree.points[i][axis]);
      }
      summary = summary_of_both(summary, summary_of(tree.ids[i]));
    }
    if (node.lower != lower || node.upper != upper) return "the box is not tight" + here;
    if (node.summary != summary) return "the summary" + here;

    const std::uint32_t size = node.end - node.begin;
    if (node.children == 0) {
      if (size > leaf_size) return "a leaf with too many points" + here;
      continue;
    }
    if (size <= leaf_size) return "a leaf was split" + here;
    if (node.children < 2 || node.children > 1u << dim) return "the number of children" + here;
    if (node.first_child + node.children > tree.nodes.size()) return "children" + here;
    std::uint32_t next = node.begin;
    for (std::uint32_t c = node.first_child; c < node.first_child + node.children; ++c) {
      const auto& child = tree.nodes[c];
      if (child.begin != next) return "the children do not share out the points" + here;
      if (child.level != node.level + 1) return "a child's level" + here;
      if (child.parent != index) return "a child's parent" + here;
      next = child.end;
      waiting.push_back(c);
      if (waiting.size() > tree.nodes.size()) return "the nodes are no tree";
    }
    if (next != node.end) return "the children do not share out the points" + here;
  }
  return reached == tree.nodes.size() ? "" : "a node is not reached";
}

/// The tree without what may change from run to run: its nodes in preorder, not by index.
template <class Real, int dim>
built_tree<Real, dim> in_preorder(const built_tree<Real, dim>& tree) {
  built_tree<Real, dim> ordered;
  ordered.points = tree.points;
  ordered.ids = tree.ids;
  std::vector<std::uint32_t> waiting;
  if (!tree.nodes.empty()) waiting.push_back(0);
  while (!waiting.empty()) {
    auto node = tree.nodes[waiting.back()];
    waiting.pop_back();
    for (std::uint32_t c = node.children; c > 0; --c) waiting.push_back(node.first_child + c - 1);
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
