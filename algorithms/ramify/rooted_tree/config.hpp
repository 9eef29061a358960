// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Input, output, options and report of rooted_tree(). Plain C++.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/detail/result_types.hpp>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// A forest of n nodes in one of two forms. It refers to the arrays and does not own them.
///
///     0 ─ 1 ─ 3      parents   <-- [-1, 0, 0, 1, -1]
///       └ 2          offsets   <-- [0, 2, 3, 3, 3, 3]     (children of v: from offsets[v] on)
///     4              children  <-- [1, 2, 3]
struct tree_shape {
  /// parents[v] is the parent of v, or -1 if v is a root. Siblings are in order of their index.
  [[nodiscard]] static tree_shape of_parents(std::span<const std::int32_t> parents) {
    return {parents.size(), parents, {}, {}};
  }
  /// The same for a number of nodes that only the device has. The first `nodes` elements of
  /// `parents` are the forest; no element of an output beyond them changes.
  /// \throws std::invalid_argument if parents has fewer elements than the upper bound
  [[nodiscard]] static tree_shape of_parents(std::span<const std::int32_t> parents,
                                             const device_count& nodes) {
    if (parents.size() < nodes.upper_bound) {
      throw std::invalid_argument("tree_shape: " + std::to_string(parents.size()) +
                                  " parents, but the upper bound of the number of nodes is " +
                                  std::to_string(nodes.upper_bound));
    }
    return {nodes.upper_bound, parents.first(nodes.upper_bound), {}, {}, nodes};
  }
  /// Node v has the children [offsets[v], offsets[v + 1]) of `children`, in that order. A node that
  /// is not in `children` is a root. offsets has n + 1 elements.
  /// \throws std::invalid_argument if offsets is empty
  [[nodiscard]] static tree_shape of_children(std::span<const std::int32_t> offsets,
                                              std::span<const std::int32_t> children) {
    if (offsets.empty()) throw std::invalid_argument("tree_shape: offsets must not be empty");
    return {offsets.size() - 1, {}, offsets, children};
  }

  std::size_t nodes;                       ///< or their upper bound
  std::span<const std::int32_t> parents;   ///< empty in the form with children
  std::span<const std::int32_t> offsets;   ///< empty in the form with parents
  std::span<const std::int32_t> children;  ///< empty in the form with parents
  std::optional<device_count> count{};     ///< the number of nodes, if only the device has it
};

/// Maximum number of nodes of a forest.
inline constexpr std::size_t max_tree_nodes = (std::size_t{1} << 31) - 2;

/// Output arrays of n elements each, in device memory. A null array is not computed.
struct tree_number_arrays {
  std::int32_t* levels = nullptr;         ///< distance to the root: 0 for a root
  std::int32_t* subtree_sizes = nullptr;  ///< number of nodes: 1 for a leaf
  std::int32_t* preorder = nullptr;       ///< from 0 on; roots are in order of their index
  std::int32_t* postorder = nullptr;      ///< from 0 on; roots are in order of their index
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::rooted_tree::inline RAMIFY_ABI {

/// States which requirements the types of a call meet.
template <class T, class Combine>
struct argument_types {
  static constexpr bool combines = is_callable<T, Combine, const T&, const T&>;
  static constexpr bool are_valid = combines && is_kernel_argument<Combine>;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class T, class Combine>
struct checked_types : argument_types<T, Combine> {
  using types = argument_types<T, Combine>;
  static_assert(types::combines,
                "rooted_tree: the operator needs T operator()(const T&, const T&) const");
  static_assert(is_kernel_argument<Combine>,
                "rooted_tree: the operator must be trivially copyable, because it is an argument "
                "of kernels");
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Values of the nodes, an associative operator, and the folds to compute. Each array has n
/// elements in device memory.
template <class T, class Combine>
struct tree_folds {
  static_assert(detail::is_plain<T>,
                "rooted_tree: values must be trivially copyable and default-constructible, because "
                "kernels copy them bit by bit");
  static_assert(detail::runtime::holds_combined<T, Combine>,
                "tree_folds: the type of values decides the type of the folds, which cannot hold "
                "what combine() returns; pass values of that type");
  const T* values;       ///< one value for each node
  Combine combine;       ///< device functor: T combine(const T&, const T&)
  T* leaffix = nullptr;  ///< fold of each subtree; null: not computed
  T* rootfix = nullptr;  ///< fold of each path from the root to the node; null: not computed

  /// Returns whether any fold is computed.
  [[nodiscard]] bool is_requested() const { return leaffix != nullptr || rootfix != nullptr; }
};

/// Returns tree_folds with deduced types.
template <class T, class Combine>
[[nodiscard]] tree_folds<T, Combine> make_tree_folds(const T* values, Combine combine,
                                                     std::type_identity_t<T>* leaffix,
                                                     std::type_identity_t<T>* rootfix) {
  return {values, combine, leaffix, rootfix};
}

/// Options of rooted_tree(), for both interfaces.
struct rooted_tree_options {
  bool single_root = false;  ///< a second root is an error
};

/// Report of rooted_tree().
struct rooted_tree_report : run_report {
  std::uint64_t nodes = 0;           ///< number of nodes
  std::uint32_t ranking_levels = 0;  ///< levels of list ranking; 1: one block ranked the tour
  std::uint32_t rootfix_rounds = 0;  ///< rounds of pointer doubling
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const rooted_tree_report& r) {
  return out << "nodes: " << r.nodes << '\n'
             << static_cast<const run_report&>(r) << "levels of list ranking: " << r.ranking_levels
             << '\n'
             << "rounds of pointer doubling: " << r.rootfix_rounds << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::rooted_tree::inline RAMIFY_ABI {

/// Checks the sizes of a forest. \throws std::invalid_argument
inline void check_shape(const tree_shape& shape, const rooted_tree_options& options) {
  const auto fail = [](const std::string& what) {
    throw std::invalid_argument("rooted_tree: " + what);
  };
  if (shape.nodes > max_tree_nodes) {
    fail(std::to_string(shape.nodes) + " nodes; the maximum is " + std::to_string(max_tree_nodes));
  }
  const bool by_parents = shape.offsets.empty() && shape.children.empty();
  if (by_parents ? shape.parents.size() != shape.nodes
                 : !shape.parents.empty() || shape.offsets.size() != shape.nodes + 1) {
    fail("the shape has " + std::to_string(shape.nodes) + " nodes, " +
         std::to_string(shape.parents.size()) + " parents and " +
         std::to_string(shape.offsets.size()) +
         " offsets; make it by tree_shape::of_parents() or of_children()");
  }
  if (shape.children.size() > shape.nodes) {
    fail(std::to_string(shape.children.size()) + " children, but only " +
         std::to_string(shape.nodes) + " nodes: at least one node is a child twice");
  }
  if (shape.nodes == 0 && options.single_root) fail("single_root is set, and there are no nodes");
}

/// Checks the sizes of the forest, and that no output shares memory with another array. Returns the
/// arrays of the call.
/// \throws std::invalid_argument naming the field, or two arrays that overlap
template <class T, class Combine>
std::vector<argument_array> check_arrays(const tree_shape& shape, const tree_number_arrays& numbers,
                                         const tree_folds<T, Combine>& folds,
                                         const rooted_tree_options& options) {
  check_shape(shape, options);
  std::vector<argument_array> arrays;
  add_input(arrays, shape.parents, "parents");
  add_input(arrays, shape.offsets, "offsets");
  add_input(arrays, shape.children, "children");
  if (folds.is_requested()) add_input(arrays, std::span(folds.values, shape.nodes), "values");
  add_output(arrays, folds.leaffix, shape.nodes, "leaffix");
  add_output(arrays, folds.rootfix, shape.nodes, "rootfix");
  add_output(arrays, numbers.levels, shape.nodes, "levels");
  add_output(arrays, numbers.subtree_sizes, shape.nodes, "subtree_sizes");
  add_output(arrays, numbers.preorder, shape.nodes, "preorder");
  add_output(arrays, numbers.postorder, shape.nodes, "postorder");
  check_overlaps("rooted_tree", arrays);
  return arrays;
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_ABI
