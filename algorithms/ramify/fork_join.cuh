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
/// Root       a node, or tree_roots: the roots of several trees (traverse/roots.cuh). Each tree has
///            a value, and fork_join() writes them to an array: a batch of small problems.
/// Node       trivially copyable, default-constructible, at most 752 bytes; 744 below tree_roots.
/// Value      what leaf() returns: trivially copyable, default-constructible. If it is a number
///            type that cannot hold what combine() returns, a static_assert refuses the call.
/// degree     degree(node): the number of subproblems, fewer than 2^31; 0 for a base case. It is
///            called once for a node, so it may read what other calls have written, to prune.
/// child      child(node, i): subproblem number i, 0 <= i < degree. A pure function.
/// leaf       leaf(node) -> Value: solves a base case. One thread calls it, once for each leaf.
/// combine    combine(node, results, degree) -> Value: computes the result of a node. results[i] is
///            the result of subproblem i. One thread calls it, once for each node with children,
///            when all of them are finished.
/// Join       by the last child to arrive: its thread calls combine and continues with the parent.
///            No grid waits, and none is launched for a join. The writes of the calls below a node
///            are visible to its combine.
/// Order      combine gets the results in the order of the children, so the value has the same bits
///            in each run, for all routes, strategies and limits.
/// Scratch    sizeof(Node) + sizeof(Value) + 16 bytes for each of options.max_nodes nodes, and the
///            scratch memory of a traversal (ramify/traverse.cuh). It comes from Ramify's
///            stream-ordered pool, or from the caller. fork_join_scratch_bytes() returns its size.
/// Stream     the run is ordered after earlier work in the stream; see fork_join_async().
/// Graphs     a stream that is being captured can record a run; see traverse_async().
/// Launches   as traverse() with the same options.
/// Kernels    A thread of a kernel calls fork_join(root, problem, result, calls) with a
///            kernel_environment; see fork_join/calls.cuh and <ramify/runtime/call_arena.cuh>.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if the tree has more nodes than options.max_nodes, or the frontier
///            exceeded options.capacity; unavailable, cuda_error, device_launch_error.
/// Complexity each node is visited once. At least one sequential step down for each level, and one
///            up: the thread of the last leaf may combine along the whole path to the root.
/// Not for    associative and commutative reductions over all nodes: traverse() needs no memory for
///            nodes. Nodes with very many children, because one thread combines them in a loop:
///            split such a node into a tree.
/// Source     Cilk's closures have such a join counter (Blumofe et al., PPoPP 1995). CUDA's sample
///            threadFenceReduction finds the last block in the same way.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/fork_join/calls.cuh>
#include <ramify/fork_join/config.hpp>
#include <ramify/fork_join/join_tree.cuh>
#include <ramify/traverse.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// The result of a recursion.
template <class Value>
struct fork_join_result {
  Value value;              ///< the result of the root
  fork_join_report report;  ///< the report of the run
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::fork_join::inline RAMIFY_BUILD {

/// The scratch memory of a run: the nodes, and the memory of the traversal.
template <class Node, class Problem>
struct fork_join_memory {
  using value = value_of<Node, Problem>;

  fork_join_memory(memory_layout& layout, const fork_join_options& options)
      : join(join_memory<Node, value>::taken_from(layout, options.max_nodes)),
        of_tree(layout.take_scratch(
            traverse_scratch_bytes<indexed_node<Node>, expand_node<Node, Problem>,
                                   visit_node<Node, Problem>, add_leaves, unsigned long long>(
                options))) {}

  join_memory<Node, value> join;
  memory_ref of_tree;
};

/// What get() returns: the value of the root or, for several roots, the report alone.
template <class Node, class Problem>
struct outcome_of {
  using type = fork_join_result<value_of<Node, Problem>>;
};
template <class Node, class Problem>
struct outcome_of<traverse::listed_node<Node>, problem_of_roots<Node, Problem>> {
  using type = fork_join_report;
};

/// A recursion: a traversal whose visits carry the values up.
template <class Node, class Problem>
class fork_join_run final
    : public memory_run<typename outcome_of<Node, Problem>::type, fork_join_memory<Node, Problem>> {
  using value = value_of<Node, Problem>;
  using result = typename outcome_of<Node, Problem>::type;
  using base = memory_run<result, fork_join_memory<Node, Problem>>;
  using leaves = traverse_result<unsigned long long>;
  static constexpr bool has_list = std::is_same_v<result, fork_join_report>;

 public:
  /// \param values  of several roots, or null
  /// \param roots   owns the copy of an array of roots, or null
  fork_join_run(const run_setup& setup, const Node& root, const Problem& problem,
                const fork_join_options& options, value* values = nullptr,
                std::shared_ptr<const void> roots = nullptr)
      : base(setup, options),
        problem_(problem),
        values_(values),
        roots_(std::move(roots)),
        of_tree_(start(root, problem, options)) {}

 private:
  async_run<leaves> start(const Node& root, const Problem& problem,
                          const fork_join_options& options) {
    const auto& join = this->parts.join;
    clear_memory(join.forked, 1, this->choices.stream, "clearing the count of nodes");
    return traverse_async(indexed_node<Node>{root, 0, 0},
                          expand_node<Node, Problem>{problem, join.frames},
                          visit_node<Node, Problem>{problem, join}, add_leaves{}, 0ULL, options,
                          this->choices.of_part(this->parts.of_tree));
  }

  result finish() override {
    const cudaStream_t stream = this->choices.stream;
    const auto& join = this->parts.join;
    if (!found_ || this->captured()) found_ = of_tree_.get();
    fork_join_report report;
    static_cast<traverse_report&>(report) = found_->report;
    report.nodes = 1 + read_back(join.forked, stream, "reading the count of nodes");
    report.leaves = found_->value;
    report.scratch_bytes = this->memory.scratch.size();
    if (report.nodes > join.max_nodes) {
      throw std::length_error("fork_join: the tree has at least " + std::to_string(report.nodes) +
                              " nodes; raise fork_join_options.max_nodes, which is " +
                              std::to_string(join.max_nodes));
    }
    if constexpr (has_list) {
      // The list has reserved its children's results first, so they follow its own.
      const std::size_t n = read_number("fork_join", problem_.roots.count, stream);
      copy_results(values_, join.results + 1, n, stream, "copying the values of the roots");
      report.nodes -= 1;  // the list
      if (n == 0) report.leaves = 0;
      return report;
    } else {
      return {read_back(join.results, stream, "reading the value of the root"), report};
    }
  }

  Problem problem_;
  value* values_;
  std::shared_ptr<const void> roots_;
  async_run<leaves> of_tree_;
  std::optional<leaves> found_;  // kept, because get() may be called again after it has thrown
};

/// The run for a root of this type.
template <class Root, class Problem>
struct run_of {
  using type = fork_join_run<Root, Problem>;
};
template <class Node, class Problem>
struct run_of<tree_roots<Node>, Problem> {
  using type = fork_join_run<traverse::listed_node<Node>, problem_of_roots<Node, Problem>>;
};

}  // namespace ramify::detail::fork_join::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts the recursion with this root. The functor is copied.
///
/// Returns without waiting, with one exception: the first call with the automatic route on a GPU
/// may measure launch costs (see choose_route()). get() returns the value. It waits, launches the
/// grids that kernels could not launch and, on the flat route, the remaining ones. It throws
/// std::length_error if the tree has too many nodes. Only get() returns a result, so the call does
/// not read environment::completion.
///
/// \param env  its memory: fork_join_scratch_bytes(). A stream that is being captured requires it.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::fork_join::argument_types<Node, Problem>,
               async_run<fork_join_result<detail::fork_join::value_of<Node, Problem>>>>
fork_join_async(const Node& root, const Problem& problem, const fork_join_options& options,
                const environment& env = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    validate(options);
    // Only get() returns results, so the stream need not complete them.
    const detail::run_setup setup("fork_join", detail::by_get(env));
    return std::make_unique<detail::fork_join::fork_join_run<Node, Problem>>(setup, root, problem,
                                                                             options);
  }
}
/// Overload with the default options.
template <class Node, class Problem>
auto fork_join_async(const Node& root, const Problem& problem, const environment& env = {}) {
  return fork_join_async(root, problem, fork_join_options{}, env);
}

/// Runs the recursion with this root, waits for it, and returns the value of the root:
/// fork_join_async() and get(). O(nodes) work, at least one sequential step for each level.
///
/// \param env  its memory: fork_join_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Node, class Problem>
fork_join_result<detail::fork_join::value_of<Node, Problem>> fork_join(
    const Node& root, const Problem& problem, const fork_join_options& options,
    const environment& env = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    return fork_join_async(root, problem, options, env).get();
  }
}
/// Overload with the default options.
template <class Node, class Problem>
fork_join_result<detail::fork_join::value_of<Node, Problem>> fork_join(
    const Node& root, const Problem& problem, const environment& env = {}) {
  return fork_join(root, problem, fork_join_options{}, env);
}

/// Starts the recursions with these roots, all in one traversal: a batch of small problems. The
/// functor is copied.
///
/// Returns without waiting, as fork_join_async() with one root does. get() writes values[i] for
/// root i, and waits until they are written. They have the bits that the calls for single roots
/// return. The report counts the nodes and leaves of all trees.
///
/// \param values   an array with an element for each root, in device or host memory
/// \param options  max_nodes is the sum of the nodes of all trees, and one for the list of roots,
///                 of which there are fewer
/// \param env      its memory: fork_join_scratch_bytes<tree_roots<Node>, Problem>()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::fork_join::argument_types<Node, Problem>, async_run<fork_join_report>>
fork_join_async(const tree_roots<Node>& roots, const Problem& problem,
                detail::fork_join::value_of<Node, Problem>* values,
                const fork_join_options& options, const environment& env = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    using detail::fork_join::problem_of_roots;
    validate(options);
    const detail::run_setup setup("fork_join", detail::by_get(env));
    const std::size_t most = roots.count.upper_bound;
    detail::check_field(
        roots.count.on_device() || most < options.max_nodes, "fork_join: the number of roots", most,
        "less than fork_join_options.max_nodes, which is " + std::to_string(options.max_nodes));
    detail::check_results("fork_join", values, most, "values");
    std::shared_ptr<const void> copy;
    const auto given = detail::traverse::roots_on_device(setup, roots, copy);
    using run = typename detail::fork_join::run_of<tree_roots<Node>, Problem>::type;
    return std::make_unique<run>(setup, detail::traverse::list_of_roots<Node>(),
                                 problem_of_roots<Node, Problem>{{problem, given}}, options, values,
                                 std::move(copy));
  }
}
/// Overload with the default options.
template <class Node, class Problem>
auto fork_join_async(const tree_roots<Node>& roots, const Problem& problem,
                     detail::fork_join::value_of<Node, Problem>* values,
                     const environment& env = {}) {
  return fork_join_async(roots, problem, values, fork_join_options{}, env);
}

/// Runs the recursions with these roots, waits for them, and writes values[i] for root i:
/// fork_join_async() and get(). O(nodes) work.
///
/// \param values   an array with an element for each root, in device or host memory
/// \param options  max_nodes is the sum of the nodes of all trees, and one for the list of roots,
///                 of which there are fewer
/// \param env      its memory: fork_join_scratch_bytes<tree_roots<Node>, Problem>()
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Node, class Problem>
fork_join_report fork_join(const tree_roots<Node>& roots, const Problem& problem,
                           detail::fork_join::value_of<Node, Problem>* values,
                           const fork_join_options& options, const environment& env = {}) {
  if constexpr (detail::fork_join::checked_types<Node, Problem>::are_valid) {
    return fork_join_async(roots, problem, values, options, env).get();
  }
}
/// Overload with the default options.
template <class Node, class Problem>
fork_join_report fork_join(const tree_roots<Node>& roots, const Problem& problem,
                           detail::fork_join::value_of<Node, Problem>* values,
                           const environment& env = {}) {
  return fork_join(roots, problem, values, fork_join_options{}, env);
}

/// Returns the device memory that a run with these types needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Root, class Problem>
[[nodiscard]] std::size_t fork_join_scratch_bytes(const fork_join_options& options = {}) {
  validate(options);
  return detail::fork_join::run_of<Root, Problem>::type::scratch_bytes(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
