// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Generators of rooted forests as parent arrays, and a serial reference for their numbers and
/// folds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace common {

enum class forest_kind {
  random,       ///< uniform recursive: the parent is any earlier node; the height is about e ln n
  path,         ///< each node is the only child of the previous node
  star,         ///< all nodes are children of the first node
  caterpillar,  ///< a path of every other node, with one leaf at each
  complete,     ///< a complete binary tree, level by level
  forest,       ///< as random, but about one node in a hundred is a root
};

[[nodiscard]] std::string_view to_string(forest_kind);
/// Returns the kind with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] forest_kind parse_forest_kind(std::string_view);

/// Returns the parents of `n` nodes, -1 for a root. The result depends only on the arguments, not
/// on the machine.
[[nodiscard]] std::vector<std::int32_t> make_parents(forest_kind, std::size_t n,
                                                     std::uint64_t seed);

/// Returns the same forest with a random permutation of the node numbers.
[[nodiscard]] std::vector<std::int32_t> relabeled(std::span<const std::int32_t> parents,
                                                  std::uint64_t seed);

/// Node v has the children [offsets[v], offsets[v + 1]) of `children`.
struct child_lists {
  std::vector<std::int32_t> offsets, children;
};

/// Returns the children of each node, in order of their index.
[[nodiscard]] child_lists child_lists_of(std::span<const std::int32_t> parents);

/// The numbers of each node of a forest.
struct forest_numbers {
  std::vector<std::int32_t> levels, subtree_sizes, preorder, postorder;
  friend bool operator==(const forest_numbers&, const forest_numbers&) = default;
};

/// Calls enter(v) and exit(v) for each node of a forest, depth first, roots in order of their
/// index. It does not recurse, because a long path would overflow the program's stack.
template <class Enter, class Exit>
void visit_depth_first(const child_lists& lists, std::span<const std::int32_t> parents, Enter enter,
                       Exit exit) {
  std::vector<std::int32_t> next(lists.offsets.begin(), lists.offsets.end());
  for (std::size_t root = 0; root < parents.size(); ++root) {
    if (parents[root] != -1) continue;
    auto at = static_cast<std::int32_t>(root);
    enter(root);
    while (at != -1) {
      const auto v = static_cast<std::size_t>(at);
      if (next[v] < lists.offsets[v + 1]) {
        at = lists.children[static_cast<std::size_t>(next[v]++)];
        enter(static_cast<std::size_t>(at));
      } else {
        exit(v);
        at = parents[v];
      }
    }
  }
}

/// Returns the numbers of a forest without cycles, by one serial depth-first traversal.
[[nodiscard]] forest_numbers serial_numbers(const child_lists& lists,
                                            std::span<const std::int32_t> parents);

/// Returns for each node its value combined with the folds of its children in their order.
template <class T, class Combine>
[[nodiscard]] std::vector<T> serial_leaffix(const child_lists& lists,
                                            std::span<const std::int32_t> parents,
                                            std::vector<T> values, Combine combine) {
  visit_depth_first(
      lists, parents, [](std::size_t) {},
      [&](std::size_t v) {
        if (parents[v] == -1) return;
        T& above = values[static_cast<std::size_t>(parents[v])];
        above = combine(above, values[v]);
      });
  return values;
}

/// Returns for each node the combined values from the root down to the node.
template <class T, class Combine>
[[nodiscard]] std::vector<T> serial_rootfix(const child_lists& lists,
                                            std::span<const std::int32_t> parents,
                                            std::vector<T> values, Combine combine) {
  visit_depth_first(
      lists, parents,
      [&](std::size_t v) {
        if (parents[v] == -1) return;
        values[v] = combine(values[static_cast<std::size_t>(parents[v])], values[v]);
      },
      [](std::size_t) {});
  return values;
}

}  // namespace common
