// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What both strategies share on the device: the caller's functors, and the kernels of the totals.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/traverse/config.hpp>
#include <type_traits>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The shared memory of a Visit that needs none.
struct no_shared_memory {};

template <class Visit>
struct shared_memory_of {
  using type = no_shared_memory;
};
template <class Visit>
requires requires { typename Visit::shared_memory; }
struct shared_memory_of<Visit> {
  using type = typename Visit::shared_memory;
};

/// Whether a warp donates its stack as late in the first rounds as in all others: the static member
/// donates_late of Expand, by default false.
template <class Expand>
inline constexpr bool donates_late = false;
template <class Expand>
requires requires { Expand::donates_late; }
inline constexpr bool donates_late<Expand> = Expand::donates_late;

/// Whether a warp takes neighbors of the list first: the static member takes_neighbors of Expand,
/// by default false.
template <class Expand>
inline constexpr bool takes_neighbors = false;
template <class Expand>
requires requires { Expand::takes_neighbors; }
inline constexpr bool takes_neighbors<Expand> = Expand::takes_neighbors;

/// The arguments of traverse() that define the tree and the reduction.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct traversal {
  using node_type = Node;
  using value_type = Value;
  using reduce_type = Reduce;
  using expand_type = Expand;
  /// A block's memory for its visits.
  using shared_memory = typename shared_memory_of<Visit>::type;

  Expand expand;
  Visit visit;
  Reduce reduce;
  Value identity;

  /// Visits a node, and adds its value to `total`. Returns the node's degree.
  __device__ unsigned visit_node(const Node& node, Value& total, shared_memory& shared) const {
    const unsigned degree = expand.degree(node);
    if constexpr (std::is_same_v<shared_memory, no_shared_memory>) {
      total = reduce(total, visit(node, degree));
    } else {
      total = reduce(total, visit(node, degree, shared));
    }
    return degree;
  }
};

/// The part of a visit's result that is added to the total, and whether the visit may end the
/// traversal.
template <class Result>
struct visit_result {
  using value = Result;
  static constexpr bool may_end = false;
};
template <class Value>
struct visit_result<visited<Value>> {
  using value = Value;
  static constexpr bool may_end = true;
};

/// The type that a visit returns; void if it cannot be called, or if the host does not have the
/// type.
template <class Node, class Visit>
[[nodiscard]] consteval auto type_of_visit() {
  using shared = typename shared_memory_of<Visit>::type;
  if constexpr (is_device_lambda<Visit>) {
    return std::type_identity<void>{};
  } else if constexpr (std::is_invocable_v<const Visit&, const Node&, unsigned>) {
    return std::type_identity<
        std::remove_cvref_t<std::invoke_result_t<const Visit&, const Node&, unsigned>>>{};
  } else if constexpr (std::is_invocable_v<const Visit&, const Node&, unsigned, shared&>) {
    return std::type_identity<
        std::remove_cvref_t<std::invoke_result_t<const Visit&, const Node&, unsigned, shared&>>>{};
  } else {
    return std::type_identity<void>{};
  }
}
template <class Node, class Visit>
using result_of_visit = visit_result<typename decltype(type_of_visit<Node, Visit>())::type>;

/// A traversal that a visit may end. Other traversals have no code for it.
///
/// The visit sets a flag, which each later visit reads first: it then does nothing, and its node
/// has no children. So the tasks that are left end by themselves, whatever grid runs them.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct ending_traversal : traversal<Node, Expand, Visit, Reduce, Value> {
  using base = traversal<Node, Expand, Visit, Reduce, Value>;

  unsigned* ended;  ///< 1: a visit has ended the traversal

  [[nodiscard]] __device__ bool has_ended() const { return load_relaxed(*ended) != 0; }

  /// Visits a node as traversal::visit_node() does. Returns 0 if the traversal has ended.
  __device__ unsigned visit_node(const Node& node, Value& total,
                                 typename base::shared_memory& shared) const {
    if (has_ended()) return 0;
    const unsigned degree = this->expand.degree(node);
    const auto found = [&] {
      if constexpr (std::is_same_v<typename base::shared_memory, no_shared_memory>) {
        return this->visit(node, degree);
      } else {
        return this->visit(node, degree, shared);
      }
    }();
    total = this->reduce(total, found.value);
    if (!found.ends) return degree;
    atomicExch(ended, 1u);
    return 0;
  }
};

/// Whether a visit may end a traversal of this type.
template <class Traversal>
inline constexpr bool may_end = requires(const Traversal& t) {
  t.ended;
};

/// The traversal of a call with these types.
template <class Node, class Expand, class Visit, class Reduce, class Value>
using traversal_of = std::conditional_t<result_of_visit<Node, Visit>::may_end,
                                        ending_traversal<Node, Expand, Visit, Reduce, Value>,
                                        traversal<Node, Expand, Visit, Reduce, Value>>;

/// When a traversal pauses, so that the host can change the list of frontier nodes.
struct round_limits {
  unsigned rounds;  ///< the traversal pauses when it has completed this number of rounds
  unsigned steps;   ///< of a warp in a round, at least 1; then it donates its nodes
};

/// A traversal that pauses. Without limits the kernels have no code for them.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct limited_traversal : traversal<Node, Expand, Visit, Reduce, Value> {
  round_limits limits;
};

/// The block size of the kernels below.
inline constexpr unsigned total_threads = 512;

/// Sets each total to the identity. Each thread sets one.
template <class Value>
__global__ void clear_totals(Value* totals, unsigned count, Value identity, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) totals[i] = identity;
}

/// Reduces all totals to `*result`. One block.
template <class Value, class Reduce>
__global__ void __launch_bounds__(total_threads)
    reduce_totals(const Value* totals, unsigned count, Value* result, Reduce reduce, Value identity,
                  trace_ticket trace) {
  const traced here(trace, __func__);
  using block_reduction = block_reduce<Value, total_threads>;
  __shared__ typename block_reduction::TempStorage storage;
  Value total = identity;
  for (unsigned i = threadIdx.x; i < count; i += total_threads) total = reduce(total, totals[i]);
  total = block_reduction(storage).Reduce(total, reduce);
  if (threadIdx.x == 0) *result = total;
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
