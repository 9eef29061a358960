// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Traversals with several roots: tree_roots, and the tree that has these roots as the children of
/// one node more, their list.
///
///     list of roots    root 0   root 1   ...    no visit
///     below a root     as in a traversal of one root
///
/// So several roots need no kernel of their own. The list is divided between the workers like any
/// node with many children.

#include <cstddef>
#include <memory>
#include <ramify/runtime/detail/any_memory.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/traverse/argument_types.cuh>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// The roots of several trees, for traverse() and fork_join(): an array of fewer than 2^32 nodes.
///
/// The array is in memory that the device can access, and must not change before get() returns; or
/// it is in ordinary host memory. The call copies such an array to memory of Ramify's pool, and has
/// read it when it returns. A stream that is being captured requires device memory. The number of
/// nodes may be a device_count.
template <class Node>
struct tree_roots {
  using node_type = Node;  ///< the type of a node

  const Node* nodes = nullptr;  ///< device array
  detail::element_count count;  ///< number of roots

  /// Refers to n roots.
  __host__ __device__ tree_roots(const Node* roots, std::size_t n) : nodes(roots), count(n) {}
  /// Refers to as many roots as the device has counted.
  __host__ __device__ tree_roots(const Node* roots, const device_count& n)
      : nodes(roots), count(n) {}
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// A node below a list of roots, or the list itself.
template <class Node>
struct listed_node {
  Node node;
  unsigned is_list;  ///< 1: the list
};

/// Returns the list.
template <class Node>
[[nodiscard]] __host__ __device__ listed_node<Node> list_of_roots() {
  return {Node{}, 1};
}

/// The functor that computes the children of a node, or the roots of the list.
template <class Node, class Expand>
struct expand_roots {
  static constexpr bool donates_late = traverse::donates_late<Expand>;
  static constexpr bool takes_neighbors = traverse::takes_neighbors<Expand>;

  Expand expand;
  tree_roots<Node> roots;

  [[nodiscard]] __device__ unsigned degree(const listed_node<Node>& n) const {
    return n.is_list != 0 ? static_cast<unsigned>(roots.count.get()) : expand.degree(n.node);
  }
  [[nodiscard]] __device__ listed_node<Node> child(const listed_node<Node>& n, unsigned i) const {
    if (n.is_list != 0) return {roots.nodes[i], 0};
    return {expand.child(n.node, i), 0};
  }
};

/// The functor that visits a node. The list has the value `identity`.
template <class Node, class Visit, class Value>
struct visit_below {
  using given = result_of_visit<Node, Visit>;
  using result = std::conditional_t<given::may_end, visited<Value>, Value>;

  Visit visit;
  Value identity;

  template <class... Shared>
  __device__ result operator()(const listed_node<Node>& n, unsigned degree,
                               Shared&... shared) const {
    if constexpr (given::may_end) {
      if (n.is_list != 0) return {identity, false};
      const auto found = visit(n.node, degree, shared...);
      return {static_cast<Value>(found.value), found.ends};
    } else {
      if (n.is_list != 0) return identity;
      return visit(n.node, degree, shared...);
    }
  }
};
template <class Node, class Visit, class Value>
struct shared_memory_of<visit_below<Node, Visit, Value>> : shared_memory_of<Visit> {};

/// Returns the roots in memory that the device can access. `copy` owns it, if the array is in
/// ordinary host memory. \throws std::invalid_argument for a bad array or number; cuda_error
template <class Node>
[[nodiscard]] tree_roots<Node> roots_on_device(const run_setup& setup, tree_roots<Node> roots,
                                               std::shared_ptr<const void>& copy) {
  const std::size_t most = roots.count.upper_bound;
  check_field(most < std::size_t{1} << 32, std::string(setup.algorithm) + ": the number of roots",
              most, "less than 2^32");
  setup.check_count(roots.count);
  roots.nodes = input_on_device(setup, roots.nodes, most, "roots", copy);
  return roots;
}

/// The same for a call with one root, which needs no memory.
template <class Node>
[[nodiscard]] const Node& roots_on_device(const run_setup&, const Node& root,
                                          std::shared_ptr<const void>&) {
  return root;
}

/// What traverse() passes to a run for its root: here a single node.
template <class Root, class Expand, class Visit, class Reduce, class Value>
struct call_form {
  using types = argument_types<Root, Expand, Visit, Reduce, Value>;
  using checked = checked_types<Root, Expand, Visit, Reduce, Value>;
  using traversal = traversal_of<Root, Expand, Visit, Reduce, Value>;

  [[nodiscard]] static __host__ __device__ traversal tree(const Root&, const Expand& expand,
                                                          const Visit& visit, const Reduce& reduce,
                                                          const Value& identity) {
    if constexpr (may_end<traversal>) {
      return {{expand, visit, reduce, identity}, nullptr};
    } else {
      return {expand, visit, reduce, identity};
    }
  }
  [[nodiscard]] static __host__ __device__ const Root& root(const Root& given) { return given; }
};

/// For several roots: their list.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct call_form<tree_roots<Node>, Expand, Visit, Reduce, Value> {
  using types = argument_types<Node, Expand, Visit, Reduce, Value>;
  using checked = checked_types<Node, Expand, Visit, Reduce, Value>;
  using expand_type = expand_roots<Node, Expand>;
  using visit_type = visit_below<Node, Visit, Value>;
  using list = call_form<listed_node<Node>, expand_type, visit_type, Reduce, Value>;
  using traversal = typename list::traversal;

  [[nodiscard]] static __host__ __device__ traversal tree(const tree_roots<Node>& roots,
                                                          const Expand& expand, const Visit& visit,
                                                          const Reduce& reduce,
                                                          const Value& identity) {
    return list::tree(root(roots), {expand, roots}, {visit, identity}, reduce, identity);
  }
  [[nodiscard]] static __host__ __device__ listed_node<Node> root(const tree_roots<Node>&) {
    return list_of_roots<Node>();
  }
};

/// Whether a traversal has several roots.
template <class Traversal>
inline constexpr bool has_roots = requires(const Traversal& t) {
  t.expand.roots.count;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
