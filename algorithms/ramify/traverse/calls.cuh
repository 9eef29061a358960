// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Traversals that kernels call: traverse_calls, which is their plan in a call_arena. tree_call.cuh
/// describes their grids.

#include <ramify/traverse/roots.cuh>
#include <ramify/traverse/tree_call.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Root, class Expand, class Visit, class Reduce, class Value>
class traverse_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The scratch memory of a call.
template <class Traversal>
struct traverse_call_memory : tree_call_memory<work_sharing_context<Traversal>> {
  __host__ __device__ traverse_call_memory(memory_layout& layout, const work_sharing_sizes& sizes)
      : tree_call_memory<work_sharing_context<Traversal>>(layout, sizes),
        ended(layout.take<unsigned>(may_end<Traversal> ? 1 : 0)) {}

  unsigned* ended;  ///< the flag of an ending_traversal
};

/// A traversal that a kernel has called.
template <class Root, class Expand, class Visit, class Reduce, class Value>
struct traverse_call : tree_call<traverse_call<Root, Expand, Visit, Reduce, Value>> {
  using plan = traverse_calls<Root, Expand, Visit, Reduce, Value>;
  using form = call_form<Root, Expand, Visit, Reduce, Value>;
  using traversal_type = typename form::traversal;
  using memory = traverse_call_memory<traversal_type>;

  typename traversal_type::node_type root_node;
  traversal_type functors;
  called_value<Value>* result;

  __device__ __forceinline__ traverse_call(const typename traversal_type::node_type& root,
                                           const traversal_type& tree, called_value<Value>* to)
      : root_node(root), functors(tree), result(to) {}

  [[nodiscard]] __device__ memory memory_in(const plan& p, const call_ticket& ticket) const {
    memory_layout layout(ticket.scratch());
    return {layout, p.sizes()};
  }
  [[nodiscard]] __device__ traversal_type tree(const memory& of_call) const {
    traversal_type made = functors;
    if constexpr (may_end<traversal_type>) made.ended = of_call.ended;
    return made;
  }
  __device__ void clear(const memory& of_call) const {
    if constexpr (may_end<traversal_type>) *of_call.ended = 0;
  }
  [[nodiscard]] __device__ const auto& root() const { return root_node; }

  __device__ void write_result(const plan& p, const call_ticket& ticket) const {
    const auto done = this->program(p, ticket);
    Value total = functors.identity;
    const unsigned totals = done.sizes.blocks * memory::context::tuning::warps;
    for (unsigned i = 0; i < totals; ++i) total = functors.reduce(total, done.totals[i]);
    *result = {total, this->has_all_nodes(done)};
    if constexpr (has_roots<traversal_type>) {
      if (functors.expand.roots.count.exceeds_bound()) result->is_complete = false;
    }
  }
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of traverse() by kernels, with these types.
template <class Root, class Expand, class Visit, class Reduce, class Value>
class traverse_calls
    : public detail::traverse::tree_plan<detail::traverse::work_sharing_context<
          typename detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>::traversal>> {
  using base = detail::traverse::tree_plan<typename detail::traverse::traverse_call<
      Root, Expand, Visit, Reduce, Value>::memory::context>;

 public:
  /// The call, for the runtime.
  using call = detail::traverse::traverse_call<Root, Expand, Visit, Reduce, Value>;
  static constexpr const char* name = "traverse";  ///< The name of the call in messages.

  /// Plans calls whose grids have up to `blocks` blocks, one for each multiprocessor. Each call
  /// has scratch memory for the stacks of so many blocks: some 400 KB a block.
  /// \throws std::invalid_argument if `blocks` is not in [1, 1024]
  explicit traverse_calls(unsigned blocks = 4) : base("traverse_calls: blocks", blocks) {}

  /// Returns the scratch memory of a call, in bytes, after prepare().
  [[nodiscard]] std::size_t scratch_bytes() const {
    return layout_bytes<typename call::memory>(this->sizes());
  }
};

/// Visits all nodes of the tree with this root: traverse() for a thread of a kernel. It returns
/// without waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param root    a node, or tree_roots in memory that the device can access
/// \param result  in device memory: the reduction over all nodes. It is an argument, because no
///                thread waits for the call. If the frontier exceeds the memory, or a device_count
///                of roots its upper bound, where the host throws std::length_error,
///                result->is_complete is false.
/// \param calls   a kernel_environment. The plan traverse_calls<Root, Expand, Visit, Reduce, Value>
///                is among those of its arena.
template <class Root, class Expand, class Visit, class Reduce, class Value, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
traverse(const Root& root, const Expand& expand, const Visit& visit, const Reduce& reduce,
         const Value& identity, called_value<Value>* result, const Calls& calls) {
  using form = detail::traverse::call_form<Root, Expand, Visit, Reduce, Value>;
  if constexpr (form::checked::are_valid) {
    return detail::start_call(
        detail::traverse::traverse_call<Root, Expand, Visit, Reduce, Value>(
            form::root(root), form::tree(root, expand, visit, reduce, identity), result),
        calls);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
