// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// branch_and_bound(): finds a leaf with the smallest value in a tree whose nodes have lower
/// bounds.
///
///     struct cheapest_tour {  // a node is the beginning of a tour
///       const int* length;
///       __device__ unsigned degree(const tour& t) const { return t.unvisited(); }  // 0: a leaf
///       __device__ tour child(const tour& t, unsigned i) const { return t.extended_by(i); }
///       __device__ std::int64_t bound(const tour& t) const { ... }  // no leaf below is cheaper
///       __device__ std::int64_t value(const tour& t) const { ... }  // of a leaf
///     };
///     const auto best = ramify::branch_and_bound(start, cheapest_tour{length});
///     best.value;     // the smallest value of all leaves
///     best.solution;  // the first leaf, depth first, that has it
///
/// Compiled by nvcc, it runs on the GPU: with grids that launch grids if -rdc=true is given, else
/// on the flat route. Compiled by a C++ compiler, it runs on the CPU executor.
///
/// Node       trivially copyable, default-constructible, at most 744 bytes.
/// degree     degree(node): the number of children, fewer than 2^32; 0 for a leaf.
/// child      child(node, i): child number i, 0 <= i < degree. Both are pure functions. Child 0
///            should be the most promising one: warps visit it first, to find a good incumbent.
/// bound      bound(node): a lower bound of the values of all leaves below the node. If it is too
///            large, solutions are lost. Called for nodes with children only.
/// value      value(leaf): the value, or no_solution. To maximize, return the negative value, or an
///            upper limit minus the value.
/// Result     the smallest value, and of all leaves that have it the first one in the order of a
///            depth-first search that visits the children in the order of their numbers. It is the
///            same in each run, for all routes, strategies and limits.
/// Incumbent  all grids share the best value that has been found, in one 64-bit number, and prune
///            the nodes that cannot lead to a better leaf. The number also has the first bits of
///            the leaf's path, so most nodes of equal bound are pruned, too.
/// Limits     config.limits ends a search early: result.solution is the best leaf so far, if there
///            is one, and result.proof.bound is a bound of the values of all leaves.
///            result.proof.is_optimal states whether the solution is optimal. The children of nodes
///            that were expanded before are still visited. A captured search has the limits in each
///            launch.
/// Paths      the product of the degrees of all nodes from the root to a leaf must be less than
///            2^64: for example 63 levels of two children, or all orders of 20 jobs.
/// Scratch    a few numbers, one Node, and the scratch memory of a traversal (ramify/traverse.cuh).
///            It comes from Ramify's stream-ordered pool, or from the caller.
/// Stream     the search is ordered after earlier work in the stream; see branch_and_bound_async().
/// Graphs     a stream that is being captured can record a search; see traverse_async().
/// Launches   as traverse() with the same configuration. If there is a solution, get() launches one
///            grid of one thread, which follows the path of the solution from the root.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if a path is too long or the frontier exceeded config.capacity;
///            std::domain_error if a leaf has a value less than config.lower; unavailable,
///            cuda_error, device_launch_error.
/// Complexity the number of visited nodes depends on the bound and, because an early incumbent
///            prunes more, on the order of the visits. At least one sequential step for each level.
/// Not for    values that are not whole numbers: scale and round them. Best-first search, which
///            visits fewer nodes and needs memory for all open nodes.
/// Source     A. H. Land, A. G. Doig: An automatic method of solving discrete programming problems,
///            1960. The shared incumbent is that of parallel branch and bound since the 1980s.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/finish.cuh>
#include <ramify/branch_and_bound/search_tree.cuh>
#include <ramify/traverse.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// A search that branch_and_bound_async() has started. Movable; get() of a moved-from run throws
/// std::logic_error. Destroying a run before get() checks nothing.
template <class Node, class Problem>
class [[nodiscard("call get(): it waits, checks and returns the result")]] branch_and_bound_run {
  using search_node = detail::branch_and_bound::search_node<Node>;
  using expand = detail::branch_and_bound::expand_node<Node, Problem>;
  using visit = detail::branch_and_bound::visit_node<Node, Problem>;
  using total = detail::branch_and_bound::search_total;
  using incumbent = detail::branch_and_bound::shared_incumbent;
  using traversal =
      traverse_run<search_node, expand, visit, detail::branch_and_bound::better_leaf, total>;

 public:
  /// Starts a run; see branch_and_bound_async().
  branch_and_bound_run(const Node& root, const Problem& problem, cudaStream_t stream,
                       const branch_and_bound_config& config, scratch_memory scratch) {
    validate(config);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    result_ = detail::result_state("branch_and_bound", is_being_captured(stream));
    run_ = std::make_unique<run>(root, problem, stream, config, scratch);
    incumbent* const shared = run_->parts.shared;
    detail::branch_and_bound::clear_incumbent(shared, stream);
    const detail::branch_and_bound::search<Problem> search{
        problem, detail::branch_and_bound::incumbent_packing(config),
        detail::branch_and_bound::device_limits(config.limits), shared};
    run_->of_tree =
        traversal({root, detail::branch_and_bound::path_range::all()}, expand{search},
                  visit{search}, {}, total::none(), stream, config, run_->parts.of_tree);
  }

  /// Waits for the search and returns its result. Like traverse_run::get(), it launches the grids
  /// that kernels could not launch, and on the flat route the remaining ones.
  ///
  /// Must be called once only, except for a captured run; see traverse_run::get().
  /// \throws cuda_error, device_launch_error, std::length_error, std::domain_error;
  ///         std::logic_error while the stream is being captured, for a further call, and for a
  ///         moved-from run
  branch_and_bound_result<Node> get() {
    const auto call = result_.begin_get();
    const auto all = run_->of_tree->get();
    const incumbent shared = read_back(run_->parts.shared, run_->stream, "reading the incumbent");
    auto result = detail::branch_and_bound::finish_search(
        run_->root, run_->problem, all.value, shared, run_->config, run_->parts.leaf, run_->stream);
    static_cast<traverse_report&>(result.report) = all.report;
    result.report.scratch_bytes = run_->scratch.size();
    if (result.found) ++result.report.host_grids;  // follow_path
    return result;
  }

  /// Returns the device memory that a run needs, in bytes. Requires a valid configuration.
  /// \throws std::invalid_argument for a capacity that is too small for this device; unavailable,
  ///         cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(const branch_and_bound_config& config) {
    return layout_bytes<run_parts>(config);
  }

 private:
  /// The parts of the scratch memory.
  struct run_parts {
    run_parts(memory_layout& layout, const branch_and_bound_config& config)
        : shared(layout.take<incumbent>(1)),
          leaf(layout.take<Node>(1)),
          of_tree(layout.take_scratch(traversal::scratch_bytes(config))) {}
    incumbent* shared;
    Node* leaf;
    scratch_memory of_tree;
  };

  /// A run with its scratch memory. One pointer owns it, so that a move assignment destroys the
  /// members of the replaced run in the order of the destructor, too.
  struct run : run_memory<run_parts> {
    run(const Node& root_node, const Problem& of, cudaStream_t in_stream,
        const branch_and_bound_config& how, const scratch_memory& given)
        : run_memory<run_parts>(given, in_stream, "branch_and_bound", how),
          root(root_node),
          problem(of),
          stream(in_stream),
          config(how) {}

    Node root;
    Problem problem;
    cudaStream_t stream;
    branch_and_bound_config config;
    std::optional<traversal> of_tree;  // destroyed before its memory
  };

  std::unique_ptr<run> run_;
  detail::result_state result_{"branch_and_bound"};
};

/// Starts the search of the tree with this root, in `stream`. The functor is copied.
///
/// Returns without waiting, with the one exception that traverse_async() states. The returned run's
/// get() waits.
///
/// \param scratch  branch_and_bound_scratch_bytes() bytes of device memory, aligned to 256 bytes,
///                 which must stay allocated until get() has returned. The default allocates it in
///                 stream order. A stream that is being captured requires it.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::branch_and_bound::argument_types<Node, Problem>,
               branch_and_bound_run<Node, Problem>>
branch_and_bound_async(const Node& root, const Problem& problem, cudaStream_t stream = nullptr,
                       const branch_and_bound_config& config = {}, scratch_memory scratch = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    return {root, problem, stream, config, scratch};
  }
}

/// Searches the tree with this root, waits for `stream`, and returns the smallest value and its
/// first leaf. Parameters as of branch_and_bound_async().
/// \throws std::invalid_argument, std::length_error, std::domain_error, unavailable, cuda_error,
///         device_launch_error
template <class Node, class Problem>
branch_and_bound_result<Node> branch_and_bound(const Node& root, const Problem& problem,
                                               cudaStream_t stream = nullptr,
                                               const branch_and_bound_config& config = {},
                                               scratch_memory scratch = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    return branch_and_bound_async(root, problem, stream, config, scratch).get();
  }
}

/// Returns the device memory that a search with these types needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
[[nodiscard]] std::size_t branch_and_bound_scratch_bytes(
    const branch_and_bound_config& config = {}) {
  validate(config);
  return branch_and_bound_run<Node, Problem>::scratch_bytes(config);
}

}  // namespace ramify::inline RAMIFY_BUILD
