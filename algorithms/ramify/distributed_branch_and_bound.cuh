// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_branch_and_bound(): finds the best leaf of a tree with all ranks of a communicator,
/// for CUDA code.
///
///     ramify::mpi_session session;
///     ramify::communicator comm;
///     const auto best = ramify::distributed_branch_and_bound(comm, root, problem);
///     best.value;     // the smallest value of all leaves, on all ranks
///     best.solution;  // the first leaf, depth first, that has it, on all ranks
///
/// Arguments      As for branch_and_bound(). All ranks must pass the same root and an equal
///                problem, which may point to memory of the rank. A node must not point to memory
///                of one rank.
/// Algorithm      The traversal is that of distributed_traverse(). In a round a rank prunes with
///                its own incumbent. When the ranks compare their numbers of nodes, all get the
///                best incumbent.
/// Result         That of branch_and_bound(), in each run and for each number of ranks.
/// Limits         Those of options.limits hold for the sum of all ranks, but a rank gets the
///                numbers of the others only when the ranks compare. So more nodes may be expanded,
///                at most options.limits.max_nodes on each rank.
/// Collective     All ranks must call the function. It runs in communicator::run().
/// Waiting, stream, scratch   As for distributed_traverse(). The incumbent and a node, on each
///                rank, come from Ramify's stream-ordered pool.
/// Errors         std::invalid_argument for a bad argument or another backend than that of the
///                communicator, and, on all ranks, if a rank has another range or other options
///                than rank 0, nodes of another size, or another root that is a number; else
///                cluster_error with the rank and the cause. Other roots, and problems, are not
///                compared.
/// Complexity     The number of visited nodes differs from run to run. It grows with the number of
///                ranks, because a rank gets the incumbents of others late.
/// Link           ramify::cluster

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ramify/branch_and_bound/finish.cuh>
#include <ramify/branch_and_bound/search_tree.cuh>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/kernel_backend.cuh>
#include <ramify/distributed_branch_and_bound/config.hpp>
#include <ramify/distributed_branch_and_bound/settings.hpp>
#include <ramify/distributed_traverse/shared_rounds.cuh>
#include <ramify/runtime/buffer.cuh>
#include <type_traits>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The traversal of a search whose rounds end by a limit of steps.
template <class Node, class Problem>
using limited_search =
    traverse::limited_traversal<search_node<Node>, expand_node<Node, Problem>,
                                visit_node<Node, Problem>, better_leaf, search_total>;

/// Ends the search of all ranks if that of one has ended by a limit, or if all together have
/// reached the limit of nodes. Collective. Waits for the stream.
inline void share_limits(communicator& comm, shared_incumbent* shared, const search_limits& limits,
                         cudaStream_t stream) {
  const shared_incumbent now = read_back(shared, stream, "reading the limits");
  const bool stopped = comm.all_reduce(now.stopped, reduction::max) != 0;
  const bits64 expanded = comm.all_reduce(now.expanded, reduction::sum);
  if (!stopped && (limits.max_nodes == 0 || expanded < limits.max_nodes)) return;
  check(cudaMemsetAsync(&shared->stopped, 1, sizeof shared->stopped, stream), "ending a search");
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The result of a search by all ranks, which is the same on each of them.
template <class Node>
struct distributed_branch_and_bound_result {
  bool found = false;                ///< whether a leaf has a value of at most range.upper
  std::int64_t value = no_solution;  ///< the smallest value
  Node solution{};                   ///< the first leaf, depth first, with this value
  search_proof proof;                ///< as of branch_and_bound_result
  distributed_branch_and_bound_report report;  ///< the report of the run
};

/// Searches the tree with this root, and returns the smallest value and its first leaf on all
/// ranks. Collective.
///
/// \param options   its strategy must be work_sharing
/// \param exchange  how often the ranks exchange nodes
/// \param env       its memory: distributed_branch_and_bound_scratch_bytes(). Its flat_loop must
///                  not be graph. The range, all options, and the backend, route, loop and limit of
///                  the environment must be the same on all ranks.
/// \throws std::invalid_argument, cluster_error
template <class Node, class Problem>
distributed_branch_and_bound_result<Node> distributed_branch_and_bound(
    communicator& comm, const Node& root, const Problem& problem, const value_range& range,
    const branch_and_bound_options& options, const exchange_options& exchange,
    const environment& env = {}) {
  namespace search = detail::branch_and_bound;
  static_assert(search::checked_types<Node, Problem>::are_valid);
  namespace traversal = detail::distributed_traverse;
  using tree_type = search::limited_search<Node, Problem>;
  shared_settings settings = search::settings_of(range, options, exchange, env, sizeof(Node));
  traversal::add_number(settings, "distributed_branch_and_bound: root", root);
  comm.require_equal(settings);
  validate(range);
  search::check_arguments(options, exchange, env);
  detail::cluster::check_kernel_backend(comm, "distributed_branch_and_bound");
  distributed_branch_and_bound_result<Node> result;
  comm.run([&] {
    const detail::run_setup setup("distributed_branch_and_bound", detail::by_get(env));
    const cudaStream_t stream = setup.stream;
    const environment part = setup.of_part(env.memory);
    // 1. Initialize the incumbent of this rank. A code of all ones means no solution.
    const device_buffer<search::shared_incumbent> shared(1, stream);
    const device_buffer<Node> leaf(1, stream);
    search::clear_incumbent(shared.data(), stream);
    const search::search<Problem> with_incumbent{problem, search::incumbent_packing(range),
                                                 search::device_limits(options.limits),
                                                 shared.data()};
    // 2. Traverse. All ranks get the best incumbent when they compare.
    const tree_type tree{{{with_incumbent}, {with_incumbent}, {}, search::search_total::none()},
                         traversal::first_limits(exchange)};
    distributed_traverse_report report;
    const std::function<void()> share_incumbent = [&] {
      comm.all_reduce(&shared.data()->code, 1, reduction::min, stream);
      if (options.limits.any()) search::share_limits(comm, shared.data(), options.limits, stream);
    };
    const search::search_total all = traversal::traverse_on_ranks(
        search::search_node<Node>{root, search::path_range::all()}, tree, options, part,
        {comm, exchange, report, share_incumbent});
    // 3. Find the solution. Each rank follows the path of the best incumbent from the root.
    auto of_all = read_back(shared.data(), stream, "reading the incumbent");
    of_all.updates = comm.all_reduce(of_all.updates, reduction::sum);
    of_all.too_deep = comm.all_reduce(of_all.too_deep, reduction::sum);
    of_all.open = comm.all_reduce(of_all.open, reduction::min);
    of_all.unexplored = comm.all_reduce(of_all.unexplored, reduction::sum);
    const auto found = search::finish_search(root, problem, all, of_all, range, leaf.data(), part);
    result = {found.found, found.value, found.solution, found.proof, {}};
    static_cast<branch_and_bound_report&>(result.report) = found.report;
    static_cast<traverse_report&>(result.report) = report;
    if (found.found) ++result.report.host_grids;
    result.report.comparisons = report.comparisons;
    result.report.exchanges = report.exchanges;
    result.report.moved_nodes = report.moved_nodes;
  });
  return result;
}
/// Overload with the default options.
template <class Node, class Problem>
distributed_branch_and_bound_result<Node> distributed_branch_and_bound(
    communicator& comm, const Node& root, const Problem& problem, const value_range& range,
    const environment& env = {}) {
  return distributed_branch_and_bound(comm, root, problem, range, {}, {}, env);
}
/// Overload with the default range of values and the default options.
template <class Node, class Problem>
distributed_branch_and_bound_result<Node> distributed_branch_and_bound(
    communicator& comm, const Node& root, const Problem& problem, const environment& env = {}) {
  return distributed_branch_and_bound(comm, root, problem, value_range{}, env);
}

/// Returns the device memory that a rank needs for a search with these types, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Problem>
[[nodiscard]] std::size_t distributed_branch_and_bound_scratch_bytes(
    const branch_and_bound_options& options = {}) {
  namespace search = detail::branch_and_bound;
  validate(options);
  return detail::distributed_traverse::rank_run<
      search::limited_search<Node, Problem>>::scratch_bytes(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
