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
/// Root       a node, or tree_roots: a batch of searches, each of which has a solution.
/// Node       trivially copyable, default-constructible, at most 744 bytes; 728 below tree_roots.
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
/// Limits     options.limits ends a search early: result.solution is the best leaf so far, if there
///            is one, and result.proof.bound is a bound of the values of all leaves.
///            result.proof.is_optimal states whether the solution is optimal. The children of nodes
///            that were expanded before are still visited. A captured search has the limits in each
///            launch.
/// Paths      the product of the degrees of all nodes from the root to a leaf must be less than
///            2^64: for example 63 levels of two children, or all orders of 20 jobs.
/// Scratch    a few numbers, one Node, and the scratch memory of a traversal (ramify/traverse.cuh).
///            It comes from Ramify's stream-ordered pool, or from the caller.
///            branch_and_bound_scratch_bytes() returns its size.
/// Stream     the search is ordered after earlier work in the stream; see branch_and_bound_async().
/// Graphs     a stream that is being captured can record a search; see traverse_async().
/// Launches   as traverse() with the same options. If there is a solution, get() launches one
///            grid of one thread, which follows the path of the solution from the root.
/// Errors     std::invalid_argument for a bad argument, before anything is launched;
///            std::length_error if a path is too long or the frontier exceeded options.capacity;
///            std::domain_error if a leaf has a value less than range.lower; unavailable,
///            cuda_error, device_launch_error.
/// Complexity the number of visited nodes depends on the bound and, because an early incumbent
///            prunes more, on the order of the visits. At least one sequential step for each level.
/// Not for    values that are not whole numbers: scale and round them. Best-first search, which
///            visits fewer nodes and needs memory for all open nodes.
/// Source     A. H. Land, A. G. Doig: An automatic method of solving discrete programming problems,
///            1960. The shared incumbent is that of parallel branch and bound since the 1980s.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/branch_and_bound/batch.cuh>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/finish.cuh>
#include <ramify/branch_and_bound/search_tree.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/traverse.cuh>
#include <type_traits>
#include <utility>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The scratch memory of a search.
template <class Node>
struct search_memory {
  search_memory(memory_layout& layout, std::size_t traversal_bytes)
      : shared(layout.take<shared_incumbent>(1)),
        leaf(layout.take<Node>(1)),
        of_tree(layout.take_scratch(traversal_bytes)) {}

  shared_incumbent* shared;
  Node* leaf;
  memory_ref of_tree;
};

/// A search, which a traversal does.
template <class Node, class Problem>
class search_run final : public memory_run<branch_and_bound_result<Node>, search_memory<Node>> {
  using base = memory_run<branch_and_bound_result<Node>, search_memory<Node>>;
  using expand = expand_node<Node, Problem>;
  using visit = visit_node<Node, Problem>;

 public:
  search_run(const run_setup& setup, const Node& root, const Problem& problem,
             const value_range& range, const branch_and_bound_options& options)
      : base(setup, traversal_bytes(options)),
        root_(root),
        problem_(problem),
        range_(range),
        of_tree_(start_traversal(options)) {}

  /// Returns the device memory that a search needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const branch_and_bound_options& options) {
    return base::scratch_bytes(traversal_bytes(options));
  }

 private:
  [[nodiscard]] static std::size_t traversal_bytes(const traverse_options& options) {
    return traverse_scratch_bytes<search_node<Node>, expand, visit, better_leaf, search_total>(
        options);
  }

  /// Initializes the incumbent, and starts the traversal.
  async_run<traverse_result<search_total>> start_traversal(
      const branch_and_bound_options& options) {
    shared_incumbent* const shared = this->parts.shared;
    clear_incumbent(shared, this->choices.stream);
    const search<Problem> with_incumbent{problem_, incumbent_packing(range_),
                                         device_limits(options.limits), shared};
    return traverse_async(search_node<Node>{root_, path_range::all()}, expand{with_incumbent},
                          visit{with_incumbent}, better_leaf{}, search_total::none(), options,
                          this->choices.of_part(this->parts.of_tree));
  }

  branch_and_bound_result<Node> finish() override {
    if (!found_ || this->captured()) found_ = of_tree_.get();
    const shared_incumbent shared =
        read_back(this->parts.shared, this->choices.stream, "reading the incumbent");
    auto result = finish_search(root_, problem_, found_->value, shared, range_, this->parts.leaf,
                                this->choices.of_part({}));
    static_cast<traverse_report&>(result.report) = found_->report;
    result.report.scratch_bytes = this->memory.scratch.size();
    if (result.found) ++result.report.host_grids;  // follow_path
    return result;
  }

  Node root_;
  Problem problem_;
  value_range range_;
  async_run<traverse_result<search_total>> of_tree_;
  // Kept, because get() may be called again after it has thrown.
  std::optional<traverse_result<search_total>> found_;
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts the search of the tree with this root, in the stream of `env`. The functor is copied.
///
/// Returns without waiting, with one exception: the first call with the automatic route on a GPU
/// may measure launch costs (see choose_route()). get() returns the solution. It waits, launches
/// the grids that kernels could not launch and, on the flat route, the remaining ones. It throws
/// std::length_error and std::domain_error, too. Only get() returns a result, so the call does not
/// read environment::completion.
///
/// \param range  the values of the leaves that are solutions
/// \param env    its memory: branch_and_bound_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::branch_and_bound::argument_types<Node, Problem>,
               async_run<branch_and_bound_result<Node>>>
branch_and_bound_async(const Node& root, const Problem& problem, const value_range& range,
                       const branch_and_bound_options& options, const environment& env = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    validate(range);
    validate(options);
    // Only get() returns results, so the stream need not complete them.
    const detail::run_setup setup("branch_and_bound", detail::by_get(env));
    return std::make_unique<detail::branch_and_bound::search_run<Node, Problem>>(
        setup, root, problem, range, options);
  }
}
/// Overload with the default options.
template <class Node, class Problem>
auto branch_and_bound_async(const Node& root, const Problem& problem, const value_range& range,
                            const environment& env = {}) {
  return branch_and_bound_async(root, problem, range, branch_and_bound_options{}, env);
}
/// Overload with the default range of values and the default options.
template <class Node, class Problem>
auto branch_and_bound_async(const Node& root, const Problem& problem, const environment& env = {}) {
  return branch_and_bound_async(root, problem, value_range{}, env);
}

/// Searches the tree with this root, waits, and returns the smallest value and its first leaf:
/// branch_and_bound_async() and get().
///
/// \param range  the values of the leaves that are solutions
/// \param env    its memory: branch_and_bound_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, std::domain_error, unavailable, cuda_error,
///         device_launch_error
template <class Node, class Problem>
branch_and_bound_result<Node> branch_and_bound(const Node& root, const Problem& problem,
                                               const value_range& range,
                                               const branch_and_bound_options& options,
                                               const environment& env = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    return branch_and_bound_async(root, problem, range, options, env).get();
  }
}
/// Overload with the default options.
template <class Node, class Problem>
branch_and_bound_result<Node> branch_and_bound(const Node& root, const Problem& problem,
                                               const value_range& range,
                                               const environment& env = {}) {
  return branch_and_bound(root, problem, range, branch_and_bound_options{}, env);
}
/// Overload with the default range of values and the default options.
template <class Node, class Problem>
branch_and_bound_result<Node> branch_and_bound(const Node& root, const Problem& problem,
                                               const environment& env = {}) {
  return branch_and_bound(root, problem, value_range{}, env);
}

/// Starts the searches of the trees with these roots, all in one traversal: a batch of small
/// problems. The functor is copied; a node states which problem it belongs to.
///
/// Returns without waiting, as branch_and_bound_async() with one root does. get() visits a few
/// nodes of each tree once more, to find the first best leaves, writes solutions[i] for root i, and
/// waits until they are written. Each search has its own incumbent, and the solution that a call
/// for this root alone returns. The report counts the nodes of all trees. A graph cannot capture a
/// batch.
///
/// \param solutions  an array with an element for each root, in device or host memory
/// \param range      the values of the leaves that are solutions, in each tree
/// \param options    options.limits must have no limit
/// \param env        its memory: branch_and_bound_scratch_bytes<Node, Problem>(n, options)
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
detail::run_if<detail::branch_and_bound::argument_types<Node, Problem>,
               async_run<branch_and_bound_report>>
branch_and_bound_async(const tree_roots<Node>& roots, const Problem& problem,
                       std::type_identity_t<branch_and_bound_solution<Node>>* solutions,
                       const value_range& range, const branch_and_bound_options& options,
                       const environment& env = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    validate(range);
    validate(options);
    const search_limits& limits = options.limits;
    constexpr const char* none = "0, because the searches of a batch have no limits";
    detail::check_field(limits.max_nodes == 0, "branch_and_bound_options.limits.max_nodes",
                        limits.max_nodes, none);
    detail::check_field(limits.max_seconds == 0, "branch_and_bound_options.limits.max_seconds",
                        limits.max_seconds, none);
    const detail::run_setup setup("branch_and_bound", detail::by_get(env));
    if (setup.captured) throw unavailable("branch_and_bound: a graph cannot capture a batch");
    const std::size_t most = roots.count.upper_bound;
    detail::check_results(setup.algorithm, solutions, most, "solutions");
    std::shared_ptr<const void> copy;
    const auto given = detail::traverse::roots_on_device(setup, roots, copy);
    if (most == 0) {
      return detail::run_without_work(setup, branch_and_bound_report{}, "there are no roots");
    }
    return std::make_unique<detail::branch_and_bound::batch_run<Node, Problem>>(
        setup, given, problem, range, options, solutions, std::move(copy));
  }
}
/// Overload with the default options.
template <class Node, class Problem>
auto branch_and_bound_async(const tree_roots<Node>& roots, const Problem& problem,
                            std::type_identity_t<branch_and_bound_solution<Node>>* solutions,
                            const value_range& range, const environment& env = {}) {
  return branch_and_bound_async(roots, problem, solutions, range, branch_and_bound_options{}, env);
}
/// Overload with the default range of values and the default options.
template <class Node, class Problem>
auto branch_and_bound_async(const tree_roots<Node>& roots, const Problem& problem,
                            std::type_identity_t<branch_and_bound_solution<Node>>* solutions,
                            const environment& env = {}) {
  return branch_and_bound_async(roots, problem, solutions, value_range{}, env);
}

/// Searches the trees with these roots, waits, and writes solutions[i] for root i:
/// branch_and_bound_async() and get(), with the same parameters.
/// \throws std::invalid_argument, std::length_error, std::domain_error, unavailable, cuda_error,
///         device_launch_error
template <class Node, class Problem>
branch_and_bound_report branch_and_bound(
    const tree_roots<Node>& roots, const Problem& problem,
    std::type_identity_t<branch_and_bound_solution<Node>>* solutions, const value_range& range,
    const branch_and_bound_options& options, const environment& env = {}) {
  if constexpr (detail::branch_and_bound::checked_types<Node, Problem>::are_valid) {
    return branch_and_bound_async(roots, problem, solutions, range, options, env).get();
  }
}
/// Overload with the default options.
template <class Node, class Problem>
branch_and_bound_report branch_and_bound(
    const tree_roots<Node>& roots, const Problem& problem,
    std::type_identity_t<branch_and_bound_solution<Node>>* solutions, const value_range& range,
    const environment& env = {}) {
  return branch_and_bound(roots, problem, solutions, range, branch_and_bound_options{}, env);
}
/// Overload with the default range of values and the default options.
template <class Node, class Problem>
branch_and_bound_report branch_and_bound(
    const tree_roots<Node>& roots, const Problem& problem,
    std::type_identity_t<branch_and_bound_solution<Node>>* solutions, const environment& env = {}) {
  return branch_and_bound(roots, problem, solutions, value_range{}, env);
}

/// Returns the device memory that a batch of n searches with these types needs, in bytes.
/// \throws std::invalid_argument for bad options; unavailable, cuda_error
template <class Node, class Problem>
[[nodiscard]] std::size_t branch_and_bound_scratch_bytes(
    std::size_t n, const branch_and_bound_options& options = {}) {
  validate(options);
  return detail::branch_and_bound::batch_run<Node, Problem>::scratch_bytes(n, options);
}

/// Returns the device memory that a search with these types needs, in bytes.
/// \throws std::invalid_argument for bad options, also a capacity that is too small for this
///         device; unavailable, cuda_error
template <class Node, class Problem>
[[nodiscard]] std::size_t branch_and_bound_scratch_bytes(
    const branch_and_bound_options& options = {}) {
  validate(options);
  return detail::branch_and_bound::search_run<Node, Problem>::scratch_bytes(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
