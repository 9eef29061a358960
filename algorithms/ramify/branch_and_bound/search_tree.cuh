// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functors with which branch_and_bound() calls traverse().
///
///     1. bound     A node whose lower bound and path give a larger code than the incumbent has no
///                  better solution below it. It is pruned: traverse() gets the degree 0.
///     2. branch    Any other node has the children that the problem gives it. After a limit is
///                  reached it has none, so the traversal ends as soon as all open nodes are
///                  visited, on each route. Its bound is kept.
///     3. leaf      The value of a leaf and its path may replace the incumbent, by an atomicMin.
///
/// The reduction of the traversal is the best leaf of all. The result is the same in each run: no
/// ancestor of the best leaf is ever pruned. Its bound is at most the best value, and its path is
/// not after the best path, so its code is at most that of any incumbent.

#include <concepts>
#include <cstdint>
#include <ramify/branch_and_bound/incumbent.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/detail/result_types.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/traverse/argument_types.cuh>
#include <type_traits>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// A node of the tree, as traverse() visits it.
template <class Node>
struct search_node {
  Node node;
  path_range paths;
};

/// A node of one of the trees of a batch.
template <class Node>
struct batch_node {
  Node node;
  path_range paths;
  unsigned search;  ///< number of the search, which has an incumbent of its own
};

/// What traverse() reduces: the best leaf, and counts of nodes.
struct search_total {
  std::int64_t value;  ///< no_solution if there is none
  bits64 path;
  bits64 expanded;
  bits64 pruned;
  bits64 leaves;

  /// Returns the total of no nodes.
  [[nodiscard]] __host__ __device__ static search_total none() {
    return {no_solution, ~bits64{0}, 0, 0, 0};
  }
};

/// Whether Number is the type of whole numbers of at most 64 bits.
template <class Number>
inline constexpr bool is_whole =
    std::is_integral_v<std::remove_cvref_t<Number>>&& holds_numbers_of<Number, std::int64_t>;

/// States which requirements the types of a call meet.
template <class Node, class Problem>
struct argument_types {
  static constexpr bool branches =
      traverse::has_degree<Node, Problem> && traverse::has_child<Node, Problem>;
  static constexpr bool has_bound = requires(const Problem& p, const Node& n) {
    { p.bound(n) } -> std::convertible_to<std::int64_t>;
  };
  static constexpr bool has_value = requires(const Problem& p, const Node& n) {
    { p.value(n) } -> std::convertible_to<std::int64_t>;
  };
  static constexpr bool has_whole_bound = !has_bound || requires(const Problem& p, const Node& n) {
    requires is_whole<decltype(p.bound(n))>;
  };
  static constexpr bool has_whole_value = !has_value || requires(const Problem& p, const Node& n) {
    requires is_whole<decltype(p.value(n))>;
  };
  static constexpr bool are_valid = is_plain<Node> && std::is_trivially_copyable_v<Problem> &&
                                    branches && has_bound && has_value && has_whole_bound &&
                                    has_whole_value;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Node, class Problem>
struct checked_types : argument_types<Node, Problem> {
  using types = argument_types<Node, Problem>;
  static_assert(is_plain<Node>,
                "branch_and_bound: Node must be trivially copyable and default-constructible");
  static_assert(std::is_trivially_copyable_v<Problem>,
                "branch_and_bound: Problem must be trivially copyable, because it is an argument "
                "of kernels");
  static_assert(traverse::has_degree<Node, Problem>,
                "branch_and_bound: Problem needs unsigned degree(Node) const");
  static_assert(traverse::has_child<Node, Problem>,
                "branch_and_bound: Problem needs Node child(Node, unsigned) const");
  static_assert(types::has_bound, "branch_and_bound: Problem needs std::int64_t bound(Node) const");
  static_assert(types::has_value, "branch_and_bound: Problem needs std::int64_t value(Node) const");
  static_assert(types::has_whole_bound,
                "branch_and_bound: bound() must return a whole number of at most 64 bits; scale "
                "bounds that are not whole, and round them down");
  static_assert(types::has_whole_value,
                "branch_and_bound: value() must return a whole number of at most 64 bits; scale "
                "values that are not whole, and round them");
};

/// The problem and the incumbent.
template <class Problem>
struct search {
  Problem problem;
  incumbent_packing packing;
  device_limits limits;
  shared_incumbent* incumbent;  ///< of a batch: that of search 0, before the others

  /// Returns the incumbent of the search of a node.
  template <class Visited>
  [[nodiscard]] __device__ shared_incumbent* incumbent_of(const Visited& n) const {
    if constexpr (requires { n.search; }) {
      return incumbent + n.search;
    } else {
      return incumbent;
    }
  }

  /// Returns whether no solution below the node is better than the incumbent.
  template <class Visited>
  [[nodiscard]] __device__ bool prunes(const Visited& n) const {
    const std::int64_t bound = problem.bound(n.node);
    return bound > packing.upper ||
           packing.code(bound, n.paths.first) > load_relaxed(incumbent_of(n)->code);
  }

  /// Returns whether a limit forbids the expansion of a node, which prunes() does not prune. Its
  /// bound then is a bound of the result. A batch has no limits.
  template <class Visited>
  [[nodiscard]] __device__ bool leaves_unexplored(const Visited& n) const {
    if (!limits.any() || !limits.forbid(*incumbent)) return false;
    atomicMin(&incumbent->open, packing.code(problem.bound(n.node), n.paths.first));
    atomicAdd(&incumbent->unexplored, bits64{1});
    return true;
  }
};

/// The functor that computes the children of a node. Visited is search_node or batch_node.
template <class Node, class Problem, class Visited = search_node<Node>>
struct expand_node : search<Problem> {
  /// A warp that keeps its nodes finds a good solution sooner, and then prunes more: with early
  /// donations a search of 40 items visits 2 to 3 times as many nodes.
  static constexpr bool donates_late = true;
  /// With samples of the list, the first of Taillard's flow shops has 2.4 times as many nodes.
  static constexpr bool takes_neighbors = true;

  /// Returns 0 for a leaf and for a pruned node. The result depends on the incumbent; traverse()
  /// calls the function once for each node.
  [[nodiscard]] __device__ unsigned degree(const Visited& n) const {
    const unsigned degree = this->problem.degree(n.node);
    if (degree == 0 || this->prunes(n)) return 0;
    if (n.paths.child(0, degree).size > 0) return this->leaves_unexplored(n) ? 0 : degree;
    atomicAdd(&this->incumbent_of(n)->too_deep, bits64{1});
    return 0;
  }
  /// Returns the children in reverse order: a warp of traverse() pushes them on its stack, so that
  /// it continues with the last one, which is child 0 of the problem.
  [[nodiscard]] __device__ Visited child(const Visited& n, unsigned i) const {
    const unsigned degree = this->problem.degree(n.node);
    const unsigned mine = degree - 1 - i;
    if constexpr (requires { n.search; }) {
      return {this->problem.child(n.node, mine), n.paths.child(mine, degree), n.search};
    } else {
      return {this->problem.child(n.node, mine), n.paths.child(mine, degree)};
    }
  }
};

/// The functor that visits a node. Visited is search_node or batch_node.
template <class Node, class Problem, class Visited = search_node<Node>>
struct visit_node : search<Problem> {
  __device__ search_total operator()(const Visited& n, unsigned degree) const {
    search_total total = search_total::none();
    if (degree > 0) {
      total.expanded = 1;
    } else if (this->problem.degree(n.node) > 0) {
      total.pruned = 1;
    } else {
      total.leaves = 1;
      const std::int64_t value = this->problem.value(n.node);
      if (value > this->packing.upper) return total;  // no solution
      replace(*this->incumbent_of(n), this->packing.code(value, n.paths.first));
      total.value = value;
      total.path = n.paths.first;
    }
    return total;
  }

 private:
  __device__ static void replace(shared_incumbent& incumbent, bits64 code) {
    if (code >= load_relaxed(incumbent.code)) return;
    if (atomicMin(&incumbent.code, code) > code) atomicAdd(&incumbent.updates, bits64{1});
  }
};

/// The reduction of the traversal.
struct better_leaf {
  [[nodiscard]] __device__ search_total operator()(const search_total& a,
                                                   const search_total& b) const {
    const bool first = a.value < b.value || (a.value == b.value && a.path <= b.path);
    return {first ? a.value : b.value, first ? a.path : b.path, a.expanded + b.expanded,
            a.pruned + b.pruned, a.leaves + b.leaves};
  }
};

/// Follows a path from the root, and returns the leaf at its end.
template <class Node, class Problem>
[[nodiscard]] __device__ Node leaf_at(const Node& root, const Problem& problem, bits64 path) {
  Node node = root;
  path_range paths = path_range::all();
  for (unsigned degree = problem.degree(node); degree > 0; degree = problem.degree(node)) {
    const unsigned i = paths.child_with(path, degree);
    node = problem.child(node, i);
    paths = paths.child(i, degree);
  }
  return node;
}

/// Writes the leaf at the end of a path. Launched with one thread.
template <class Node, class Problem>
__global__ void follow_path(Node root, Problem problem, bits64 path, Node* leaf,
                            trace_ticket trace) {
  const traced here(trace, __func__);
  *leaf = leaf_at(root, problem, path);
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
