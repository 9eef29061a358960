// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// fork_join(): runs a recursion that returns a value. Each call splits its problem into
/// subproblems and combines their results.
///
///     struct maximum_below {  // a node is a range of numbers
///       const float* numbers;
///       __device__ unsigned degree(range r) const { return r.size() <= 32 ? 0 : 2; }
///       __device__ range child(range r, unsigned i) const { return i == 0 ? r.low() : r.high(); }
///       __device__ float leaf(range r) const { ... }            // the base case
///       __device__ float combine(range, const float* halves, unsigned) const {
///         return fmaxf(halves[0], halves[1]);
///       }
///     };
///     ramify::fork_join(range{0, n}, maximum_below{numbers}).value
///
/// Compiled by nvcc, it runs on the GPU: with grids that launch grids if -rdc=true is given, else
/// on the flat route. Compiled by a C++ compiler, it runs on the CPU executor.
///
/// Node       trivially copyable, default-constructible, at most 752 bytes.
/// Value      what leaf() returns: trivially copyable, default-constructible. If it is a number
///            type that cannot hold what combine() returns, a static_assert refuses the call.
/// degree     degree(node): the number of subproblems, fewer than 2^31; 0 for a base case.
/// child      child(node, i): subproblem number i, 0 <= i < degree. Like degree, a pure function.
/// leaf       leaf(node) -> Value: solves a base case. One thread calls it, once for each leaf.
/// combine    combine(node, results, degree) -> Value: computes the result of a node. results[i] is
///            the result of subproblem i. One thread calls it, once for each node with children,
///            when all of them are finished.
/// Join       by the last child to arrive: its thread calls combine and continues with the parent.
///            No grid waits, and none is launched for a join. The writes of the calls below a node
///            are visible to its combine.
/// Order      combine gets the results in the order of the children, so the value has the same bits
///            in each run, for all routes, strategies and limits.
/// Scratch    sizeof(Node) + sizeof(Value) + 16 bytes for each of config.max_nodes nodes, and the
///            scratch memory of a traversal (ramify/traverse.cuh). It comes from Ramify's
///            stream-ordered pool, or from the caller.
/// Stream     the run is ordered after earlier work in the stream; see fork_join_async().
/// Graphs     a stream that is being captured can record a run; see traverse_async().
/// Launches   as traverse() with the same configuration.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if the tree has more nodes than config.max_nodes, or the frontier
///            exceeded config.capacity; unavailable, cuda_error, device_launch_error.
/// Complexity each node is visited once. At least one sequential step down for each level, and one
///            up: the thread of the last leaf may combine along the whole path to the root.
/// Not for    associative and commutative reductions over all nodes: traverse() needs no memory for
///            nodes. Nodes with very many children, because one thread combines them in a loop:
///            split such a node into a tree.
/// Source     Cilk's closures have such a join counter (Blumofe et al., PPoPP 1995). CUDA's sample
///            threadFenceReduction finds the last block in the same way.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/fork_join/config.hpp>
#include <ramify/fork_join/join_tree.cuh>
#include <ramify/traverse.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// The result of a recursion.
template <class Value>
struct fork_join_result {
  Value value;  ///< the result of the root
  fork_join_report report;
};

/// A run that fork_join_async() has started. Movable; get() of a moved-from run throws
/// std::logic_error. Destroying a run before get() checks nothing.
template <class Node, class Problem>
class [[nodiscard("call get(): it waits, checks and returns the result")]] fork_join_run {
  using Value = detail::fork_join::value_of<Node, Problem>;
  using memory = detail::fork_join::join_memory<Node, Value>;
  using traversal = traverse_run<detail::fork_join::indexed_node<Node>,
                                 detail::fork_join::expand_node<Node, Problem>,
                                 detail::fork_join::visit_node<Node, Problem>,
                                 detail::fork_join::add_leaves, unsigned long long>;

 public:
  /// Starts a run; see fork_join_async().
  fork_join_run(const Node& root, const Problem& problem, cudaStream_t stream,
                const fork_join_config& config, scratch_memory scratch)
      : stream_(stream) {
    validate(config);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    result_ = detail::result_state("fork_join", is_being_captured(stream));
    run_ = std::make_unique<run>(scratch, stream, "fork_join", config);
    const memory& join = run_->parts.join;
    clear_memory(join.forked, 1, stream, "clearing the count of nodes");
    run_->of_tree = traversal({root, 0, 0}, {problem, join.frames}, {problem, join}, {}, 0, stream,
                              config, run_->parts.of_tree);
  }

  /// Waits for the run and returns the value of the root. Like traverse_run::get(), it launches the
  /// grids that kernels could not launch, and on the flat route the remaining ones.
  ///
  /// Must be called once only, except for a captured run; see traverse_run::get().
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured, for a further call, and for a moved-from run
  fork_join_result<Value> get() {
    const auto call = result_.begin_get();
    const memory& join = run_->parts.join;
    const auto leaves = run_->of_tree->get();
    fork_join_result<Value> result{};
    static_cast<traverse_report&>(result.report) = leaves.report;
    result.report.nodes = 1 + read_back(join.forked, stream_, "reading the count of nodes");
    result.report.leaves = leaves.value;
    result.report.scratch_bytes = run_->scratch.size();
    if (result.report.nodes > join.max_nodes) {
      throw std::length_error(
          "fork_join: the tree has at least " + std::to_string(result.report.nodes) +
          " nodes; raise fork_join_config.max_nodes, which is " + std::to_string(join.max_nodes));
    }
    result.value = read_back(join.results, stream_, "reading the value of the root");
    return result;
  }

  /// Returns the device memory that a run needs, in bytes. Requires a valid configuration.
  /// \throws std::invalid_argument for a capacity that is too small for this device; unavailable,
  ///         cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(const fork_join_config& config) {
    return layout_bytes<run_parts>(config);
  }

 private:
  /// The parts of the scratch memory.
  struct run_parts {
    run_parts(memory_layout& layout, const fork_join_config& config)
        : join{layout.take<detail::fork_join::frame<Node>>(config.max_nodes),
               layout.take<Value>(config.max_nodes), layout.take<unsigned long long>(1),
               static_cast<unsigned>(config.max_nodes)},
          of_tree(layout.take_scratch(traversal::scratch_bytes(config))) {}
    memory join;
    scratch_memory of_tree;
  };

  /// A run with its scratch memory. One pointer owns it, so that a move assignment destroys the
  /// members of the replaced run in the order of the destructor, too.
  struct run : run_memory<run_parts> {
    using run_memory<run_parts>::run_memory;
    std::optional<traversal> of_tree;  // destroyed before its memory
  };

  cudaStream_t stream_;
  std::unique_ptr<run> run_;
  detail::result_state result_{"fork_join"};
};

/// Starts the recursion with this root, in `stream`. The functor is copied.
///
/// Returns without waiting, with the one exception that traverse_async() states. The returned run's
/// get() waits.
///
/// \param scratch  fork_join_scratch_bytes() bytes of device memory, aligned to 256 bytes, which
///                 must stay allocated until get() has returned. The default allocates it in stream
///                 order. A stream that is being captured requires it.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::fork_join::argument_types<Node, Problem>, fork_join_run<Node, Problem>>
fork_join_async(const Node& root, const Problem& problem, cudaStream_t stream = nullptr,
                const fork_join_config& config = {}, scratch_memory scratch = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    return {root, problem, stream, config, scratch};
  }
}

/// Runs the recursion with this root, waits for `stream`, and returns the value of the root.
/// Parameters as of fork_join_async(). O(nodes) work, at least one sequential step for each level.
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Node, class Problem>
fork_join_result<detail::fork_join::value_of<Node, Problem>> fork_join(
    const Node& root, const Problem& problem, cudaStream_t stream = nullptr,
    const fork_join_config& config = {}, scratch_memory scratch = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    return fork_join_async(root, problem, stream, config, scratch).get();
  }
}

/// Returns the device memory that a run with these types needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
[[nodiscard]] std::size_t fork_join_scratch_bytes(const fork_join_config& config = {}) {
  validate(config);
  return fork_join_run<Node, Problem>::scratch_bytes(config);
}

}  // namespace ramify::inline RAMIFY_BUILD
