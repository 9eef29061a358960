// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Recursions that kernels call: fork_join_calls, which is their plan in a call_arena.
/// traverse/tree_call.cuh describes their grids.

#include <ramify/fork_join/join_tree.cuh>
#include <ramify/traverse/tree_call.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Node, class Problem>
class fork_join_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::fork_join::inline RAMIFY_BUILD {

/// The traversal of a recursion.
template <class Node, class Problem>
using join_traversal =
    traverse::traversal<indexed_node<Node>, expand_node<Node, Problem>, visit_node<Node, Problem>,
                        add_leaves, unsigned long long>;

/// The scratch memory of a call.
template <class Node, class Problem>
struct fork_join_call_memory
    : traverse::tree_call_memory<traverse::work_sharing_context<join_traversal<Node, Problem>>> {
  using value = value_of<Node, Problem>;

  __host__ __device__ fork_join_call_memory(memory_layout& layout,
                                            const traverse::work_sharing_sizes& sizes,
                                            unsigned max_nodes)
      : traverse::tree_call_memory<traverse::work_sharing_context<join_traversal<Node, Problem>>>(
            layout, sizes),
        join(join_memory<Node, value>::taken_from(layout, max_nodes)) {}

  join_memory<Node, value> join;
};

/// A recursion that a kernel has called.
template <class Node, class Problem>
struct fork_join_call : traverse::tree_call<fork_join_call<Node, Problem>> {
  using plan = fork_join_calls<Node, Problem>;
  using memory = fork_join_call_memory<Node, Problem>;
  using value = value_of<Node, Problem>;

  Node root_node;
  Problem problem;
  called_value<value>* result;

  __device__ __forceinline__ fork_join_call(const Node& root, const Problem& of_root,
                                            called_value<value>* to)
      : root_node(root), problem(of_root), result(to) {}

  [[nodiscard]] __device__ memory memory_in(const plan& p, const call_ticket& ticket) const {
    memory_layout layout(ticket.scratch());
    return {layout, p.sizes(), p.max_nodes()};
  }
  [[nodiscard]] __device__ join_traversal<Node, Problem> tree(const memory& of_call) const {
    return {{problem, of_call.join.frames}, {problem, of_call.join}, {}, 0};
  }
  __device__ void clear(const memory& of_call) const { *of_call.join.forked = 0; }
  [[nodiscard]] __device__ indexed_node<Node> root() const { return {root_node, 0, 0}; }

  __device__ void write_result(const plan& p, const call_ticket& ticket) const {
    const auto join = memory_in(p, ticket).join;
    const bool fits = 1 + *join.forked <= join.max_nodes;
    result->is_complete = fits && this->has_all_nodes(this->program(p, ticket));
    if (result->is_complete) result->value = join.results[0];
  }
};

}  // namespace ramify::detail::fork_join::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of fork_join() by kernels, with these types.
template <class Node, class Problem>
class fork_join_calls : public detail::traverse::tree_plan<detail::traverse::work_sharing_context<
                            detail::fork_join::join_traversal<Node, Problem>>> {
  using memory = detail::fork_join::fork_join_call_memory<Node, Problem>;
  using base = detail::traverse::tree_plan<typename memory::context>;

 public:
  using call = detail::fork_join::fork_join_call<Node, Problem>;  ///< the call, for the runtime
  static constexpr const char* name = "fork_join";  ///< the name of the call in messages

  /// Plans calls whose trees have up to `max_nodes` nodes each, and whose grids have up to `blocks`
  /// blocks, as in traverse_calls. Each call has scratch memory for all nodes.
  /// \throws std::invalid_argument if max_nodes is not in [1, 2^31], or blocks not in [1, 1024]
  explicit fork_join_calls(std::size_t max_nodes, unsigned blocks = 4)
      : base("fork_join_calls: blocks", blocks), max_nodes_(static_cast<unsigned>(max_nodes)) {
    detail::check_field(max_nodes >= 1 && max_nodes <= std::size_t{1} << 31,
                        "fork_join_calls: max_nodes", max_nodes, "in [1, 2^31]");
  }

  /// Returns the scratch memory of a call, in bytes, after prepare().
  [[nodiscard]] std::size_t scratch_bytes() const {
    return layout_bytes<memory>(this->sizes(), max_nodes_);
  }

  /// Returns the maximum number of nodes of a call.
  [[nodiscard]] __host__ __device__ unsigned max_nodes() const { return max_nodes_; }

 private:
  unsigned max_nodes_;
};

/// Runs the recursion with this root: fork_join() for a thread of a kernel. It returns without
/// waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param result  in device memory: the value of the root. It is an argument, because no thread
///                waits for the call. If the tree has too many nodes, where the host throws
///                std::length_error, result->is_complete is false.
/// \param calls   a kernel_environment. The plan fork_join_calls<Node, Problem> is among those of
///                its arena.
template <class Node, class Problem, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
fork_join(const Node& root, const Problem& problem,
          called_value<detail::fork_join::value_of<Node, Problem>>* result, const Calls& calls) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    return detail::start_call(
        detail::fork_join::fork_join_call<Node, Problem>(root, problem, result), calls);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
