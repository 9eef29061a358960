// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The recursion of both tessellations: traverse() visits a tree of pieces and lists its leaves.
///
///   1. Base case   a piece within the flatness is a leaf: its visit appends it to the list.
///   2. Split       any other piece is divided; the root is divided into all curves or patches.
///   3. Recurse     traverse() distributes the pieces over grids. Join: none; a later grid of the
///                  stream reads the list.
///
/// A tree has the members
///
///     node_type, leaf_type           trivially copyable
///     node_type root()
///     unsigned degree(node), node_type child(node, i)      as traverse() requires them
///     bool is_leaf(node, degree)     false for a root without children
///     bool is_limited(node)          whether a leaf is not divided only because it has max_depth
///     leaf_type leaf(node)

#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/next_index.cuh>
#include <ramify/tessellation/config.hpp>
#include <ramify/traverse.cuh>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// Counts of leaves.
struct leaf_count {
  unsigned long long leaves;
  unsigned long long limited;  ///< those for which is_limited() returns true
};

/// Adds the counts of two subtrees.
struct add_leaves {
  __device__ leaf_count operator()(const leaf_count& a, const leaf_count& b) const {
    return {a.leaves + b.leaves, a.limited + b.limited};
  }
};

/// Appends the leaves of a tree to a list, in any order, and counts them. Leaves beyond the
/// capacity of the list are only counted.
template <class Tree>
struct list_leaves {
  Tree tree;
  typename Tree::leaf_type* leaves;
  unsigned long long capacity;
  unsigned long long* listed;

  __device__ leaf_count operator()(const typename Tree::node_type& node, unsigned degree) const {
    if (!tree.is_leaf(node, degree)) return {0, 0};
    const unsigned long long i = next_index(listed);
    if (i < capacity) leaves[i] = tree.leaf(node);
    return {1, tree.is_limited(node) ? 1ULL : 0ULL};
  }
};

/// A tree whose pieces are no longer divided once the list has more than `most` leaves. So a call
/// with a far too small flatness ends early.
template <class Tree>
struct bounded_tree {
  Tree tree;
  unsigned long long* listed;
  unsigned long long most;

  [[nodiscard]] __device__ unsigned degree(const typename Tree::node_type& node) const {
    return load_relaxed(*listed) > most ? 0 : tree.degree(node);
  }
  [[nodiscard]] __device__ typename Tree::node_type child(const typename Tree::node_type& node,
                                                          unsigned i) const {
    return tree.child(node, i);
  }
};

/// The leaves of a tree, in device memory.
template <class Tree>
struct leaf_list {
  device_buffer<typename Tree::leaf_type> leaves;  ///< the first `count` are valid
  std::size_t count = 0;
};

/// Lists all leaves of a tree. If there are more than `expected`, a second traversal lists them.
/// Adds its grids and counts to the report. Waits for the stream of `env`.
/// \throws std::length_error if there are more than `most` leaves; as traverse()
template <class Tree>
leaf_list<Tree> find_leaves(const Tree& tree, std::size_t expected, std::size_t most,
                            const tessellation_options& options, const environment& env,
                            tessellation_report& report) {
  const auto stream = env.stream.as<cudaStream_t>();
  const device_buffer<unsigned long long> listed(1, stream);
  leaf_list<Tree> list;
  for (list.count = expected;;) {
    const std::size_t capacity = list.count;
    list.leaves = {};  // is freed before the longer list is allocated
    list.leaves = device_buffer<typename Tree::leaf_type>(capacity, stream);
    clear_memory(listed.data(), 1, stream, "clearing the number of leaves");
    const list_leaves<Tree> visit{tree, list.leaves.data(), capacity, listed.data()};
    const bounded_tree<Tree> bounded{tree, listed.data(), most};
    const auto all =
        ramify::traverse(tree.root(), bounded, visit, add_leaves{}, leaf_count{0, 0}, options, env);
    if (report.traversals++ == 0) {
      static_cast<traverse_report&>(report) = all.report;
    } else {
      add_part(report, all.report);
    }
    if (all.value.leaves > most) {
      throw std::length_error("tessellation: there are more than " + std::to_string(most) +
                              " pieces; tessellation_options.flatness or max_pieces is too small");
    }
    list.count = all.value.leaves;
    report.limited = all.value.limited;
    if (list.count <= capacity) break;
  }
  report.pieces = list.count;
  return list;
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
