// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The requirements on the node and the functors of traverse(), each with its sentence for the
/// compiler. fork_join() and branch_and_bound() share those on a node's children.

#include <concepts>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/detail/result_types.hpp>
#include <ramify/traverse/traversal.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

template <class Node, class Expand>
inline constexpr bool has_degree = requires(const Expand& expand, const Node& node) {
  { expand.degree(node) } -> std::convertible_to<unsigned>;
};
template <class Node, class Expand>
inline constexpr bool has_child = requires(const Expand& expand, const Node& node, unsigned i) {
  { expand.child(node, i) } -> std::convertible_to<Node>;
};

/// Whether Visit is callable, with or without shared memory, and returns a Value or a visited with
/// such a value.
template <class Node, class Visit, class Value>
[[nodiscard]] consteval bool is_visit() {
  using shared = typename shared_memory_of<Visit>::type;
  using result = result_of_visit<Node, Visit>;
  if constexpr (result::may_end) {
    return std::is_convertible_v<typename result::value, Value> &&
           std::is_invocable_v<const Visit&, const Node&, unsigned> ==
               std::is_same_v<shared, no_shared_memory>;
  } else if constexpr (std::is_same_v<shared, no_shared_memory>) {
    return is_callable<Value, Visit, const Node&, unsigned>;
  } else {
    return is_callable<Value, Visit, const Node&, unsigned, shared&>;
  }
}

/// States which requirements the types of a call meet.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct argument_types {
  static constexpr bool expands = has_degree<Node, Expand> && has_child<Node, Expand>;
  static constexpr bool visits = is_visit<Node, Visit, Value>();
  static constexpr bool reduces = is_callable<Value, Reduce, const Value&, const Value&>;
  static constexpr bool are_copyable =
      is_kernel_argument<Expand> && is_kernel_argument<Visit> && is_kernel_argument<Reduce>;
  /// Whether Value can hold the results, also those of a visit with shared memory, or that may end
  /// the traversal.
  static constexpr bool holds_visits =
      holds_numbers_of<typename result_of_visit<Node, Visit>::value, Value>;
  static constexpr bool holds_sums = holds_combined<Value, Reduce>;
  static constexpr bool are_valid = is_plain<Node> && std::is_trivially_copyable_v<Value> &&
                                    expands && visits && reduces && are_copyable && holds_visits &&
                                    holds_sums;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct checked_types : argument_types<Node, Expand, Visit, Reduce, Value> {
  using types = argument_types<Node, Expand, Visit, Reduce, Value>;
  static_assert(is_plain<Node>,
                "traverse: Node must be trivially copyable and default-constructible");
  static_assert(std::is_trivially_copyable_v<Value>, "traverse: Value must be trivially copyable");
  static_assert(has_degree<Node, Expand>, "traverse: Expand needs unsigned degree(Node) const");
  static_assert(has_child<Node, Expand>, "traverse: Expand needs Node child(Node, unsigned) const");
  static_assert(types::visits,
                "traverse: Visit needs Value operator()(Node, unsigned degree) const, with a third "
                "parameter shared_memory& if it has the type shared_memory; a visit that may end "
                "the traversal returns visited<Value>");
  static_assert(types::reduces, "traverse: Reduce needs Value operator()(Value, Value) const");
  static_assert(types::are_copyable,
                "traverse: Expand, Visit and Reduce must be trivially copyable, because they are "
                "arguments of kernels");
  static_assert(types::holds_visits,
                "traverse: the type of identity decides the type of the total, which cannot hold "
                "the results of visit(); pass an identity of their type, for example 0ULL");
  static_assert(types::holds_sums,
                "traverse: the type of identity decides the type of the total, which cannot hold "
                "the results of reduce(); pass an identity of their type, for example 0ULL");
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
