// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functors with which fork_join() calls traverse(). The visit of a node with children forks;
/// the visit of a leaf joins.
///
///     1. fork    The visit of a node with children reserves consecutive results, one for each of
///                them, and writes a frame. It has the role of a function's stack frame on a CPU:
///                the state of a call that waits for the calls that it made.
///     2. leaf    A node without children writes its result.
///     3. join    Each finished node counts itself in its parent's frame. The last child to arrive
///                combines the results of all children, in their order. With that the parent is
///                finished, and the same thread continues with the parent's parent.
///
/// No thread waits: a thread that is not the last to arrive is done. The thread that finishes the
/// root completes the value. Which child is the last differs from run to run. The results and their
/// order do not, so the value has the same bits in each run.

#include <concepts>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/detail/result_types.hpp>
#include <ramify/traverse/argument_types.cuh>
#include <ramify/traverse/roots.cuh>
#include <type_traits>
#include <utility>

namespace ramify::detail::fork_join::inline RAMIFY_BUILD {

/// The index of a node without memory. The tree has more than max_nodes nodes then.
inline constexpr unsigned no_index = ~0u;

/// A node of the tree, as traverse() visits it.
template <class Node>
struct indexed_node {
  Node node;
  unsigned index;   ///< index of its result and of its frame; 0 for the root
  unsigned parent;  ///< index of its parent; not used for the root
};

/// A node with children, until all of them are finished.
template <class Node>
struct frame {
  Node node;
  unsigned parent;
  unsigned first_child;  ///< index of child 0; child i has first_child + i
  unsigned degree;
  unsigned arrived;  ///< number of children that are finished
};

template <class Node, class Problem>
concept returns_value = requires(const Problem& problem, const Node& node) {
  requires !std::is_void_v<decltype(problem.leaf(node))>;
};
template <class Node, class Problem>
struct leaf_value {
  using type = no_run;
};
template <class Node, class Problem>
requires returns_value<Node, Problem>
struct leaf_value<Node, Problem> {
  using type = std::remove_cvref_t<decltype(std::declval<const Problem&>().leaf(
      std::declval<const Node&>()))>;
};

/// The type of the results: what leaf() returns; no_run if it returns nothing or does not exist.
template <class Node, class Problem>
using value_of = typename leaf_value<Node, Problem>::type;

/// States which requirements the types of a call meet.
template <class Node, class Problem>
struct argument_types {
  static constexpr bool splits =
      traverse::has_degree<Node, Problem> && traverse::has_child<Node, Problem>;
  using value_type = value_of<Node, Problem>;
  static constexpr bool has_leaf = !std::is_same_v<value_type, no_run>;
  static constexpr bool has_plain_value = !has_leaf || is_plain<value_type>;
  static constexpr bool combines =
      !has_leaf || requires(const Problem& p, const Node& n, const value_type* results) {
    { p.combine(n, results, 0u) } -> std::convertible_to<value_type>;
  };
  /// Whether the type of the results can hold what combine() returns.
  static constexpr bool holds_combined =
      !has_leaf || !combines ||
      requires(const Problem& p, const Node& n, const value_type* results) {
    requires holds_numbers_of<decltype(p.combine(n, results, 0u)),
                              typename promoted<value_type>::type>;
  };
  static constexpr bool are_valid = is_plain<Node> && std::is_trivially_copyable_v<Problem> &&
                                    splits && has_leaf && has_plain_value && combines &&
                                    holds_combined;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Node, class Problem>
struct checked_types : argument_types<Node, Problem> {
  using types = argument_types<Node, Problem>;
  static_assert(is_plain<Node>,
                "fork_join: Node must be trivially copyable and default-constructible");
  static_assert(std::is_trivially_copyable_v<Problem>,
                "fork_join: Problem must be trivially copyable, because it is an argument of "
                "kernels");
  static_assert(traverse::has_degree<Node, Problem>,
                "fork_join: Problem needs unsigned degree(Node) const");
  static_assert(traverse::has_child<Node, Problem>,
                "fork_join: Problem needs Node child(Node, unsigned) const");
  static_assert(types::has_leaf, "fork_join: Problem needs Value leaf(Node) const");
  static_assert(types::has_plain_value,
                "fork_join: Value, which leaf() returns, must be trivially copyable and "
                "default-constructible");
  static_assert(types::combines,
                "fork_join: Problem needs Value combine(Node, const Value*, unsigned) const");
  static_assert(types::holds_combined,
                "fork_join: the type that leaf() returns decides the type of all results, which "
                "cannot hold what combine() returns; let leaf() return that type");
};

/// The problem of several roots: their list is one node more, whose value nothing reads.
template <class Node, class Problem>
struct problem_of_roots : traverse::expand_roots<Node, Problem> {
  using value = value_of<Node, Problem>;
  using node = traverse::listed_node<Node>;

  [[nodiscard]] __device__ value leaf(const node& n) const {
    return n.is_list != 0 ? value{} : this->expand.leaf(n.node);
  }
  [[nodiscard]] __device__ value combine(const node& n, const value* results,
                                         unsigned degree) const {
    return n.is_list != 0 ? value{} : this->expand.combine(n.node, results, degree);
  }
};

/// Pointers to the scratch memory of a run.
template <class Node, class Value>
struct join_memory {
  frame<Node>* frames;
  Value* results;
  unsigned long long* forked;  ///< number of nodes below the root; those without memory count, too
  unsigned max_nodes;

  [[nodiscard]] static __host__ __device__ join_memory taken_from(memory_layout& layout,
                                                                  std::size_t max_nodes) {
    return {layout.take<frame<Node>>(max_nodes), layout.take<Value>(max_nodes),
            layout.take<unsigned long long>(1), static_cast<unsigned>(max_nodes)};
  }
};

/// The functor that computes the children of a node. A node without memory has no children, so the
/// visits end soon after the memory is exhausted, whatever the size of the tree.
template <class Node, class Problem>
struct expand_node {
  Problem problem;
  const frame<Node>* frames;

  [[nodiscard]] __device__ unsigned degree(const indexed_node<Node>& n) const {
    return n.index == no_index ? 0 : problem.degree(n.node);
  }
  /// Returns child number `i`. Requires that the visit of `n` has written its frame. traverse()
  /// makes the writes of a visit visible to the threads that visit the children, like the node.
  [[nodiscard]] __device__ indexed_node<Node> child(const indexed_node<Node>& n, unsigned i) const {
    const unsigned first = frames[n.index].first_child;
    if (first == no_index) return {Node{}, no_index, n.index};
    return {problem.child(n.node, i), first + i, n.index};
  }
};

/// The functor that visits a node. It returns 1 for a leaf, else 0, so the sum is the number of
/// leaves.
template <class Node, class Problem>
struct visit_node {
  using value_type = value_of<Node, Problem>;

  Problem problem;
  join_memory<Node, value_type> memory;

  __device__ unsigned long long operator()(const indexed_node<Node>& n, unsigned degree) const {
    if (n.index == no_index) return 0;
    if (degree > 0) {
      fork(n, degree);
      return 0;
    }
    // 2. Base case: a leaf.
    memory.results[n.index] = problem.leaf(n.node);
    join(n.index, n.parent);
    return 1;
  }

 private:
  /// 1. Fork: reserves the results of the children and writes the frame.
  __device__ void fork(const indexed_node<Node>& n, unsigned degree) const {
    const unsigned long long before =
        atomicAdd(memory.forked, static_cast<unsigned long long>(degree));
    const bool fits = 1 + before + degree <= memory.max_nodes;  // the root has index 0
    memory.frames[n.index] = {n.node, n.parent, fits ? static_cast<unsigned>(1 + before) : no_index,
                              degree, 0};
  }

  /// 3. Join: counts the node in its parent's frame. The last child to arrive combines the results
  ///    and continues with the parent.
  __device__ void join(unsigned index, unsigned parent) const {
    while (index != 0) {
      frame<Node>& waiting = memory.frames[parent];
      // The first fence makes the result visible before the count. The second one keeps the last
      // thread to arrive from reading the other results before it has read the count.
      __threadfence();
      if (atomicAdd(&waiting.arrived, 1u) + 1 != waiting.degree) return;
      __threadfence();
      memory.results[parent] =
          problem.combine(waiting.node, memory.results + waiting.first_child, waiting.degree);
      index = parent;
      parent = waiting.parent;
    }
  }
};

/// The reduction of the traversal: adds numbers of leaves.
struct add_leaves {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const {
    return a + b;
  }
};

}  // namespace ramify::detail::fork_join::inline RAMIFY_BUILD
