// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// distributed_traverse(): visits every node of an implicit tree with all ranks of a communicator,
/// for CUDA code.
///
///     ramify::mpi_session session;
///     ramify::communicator comm;
///     // expand, visit and reduce as for ramify::traverse()
///     ramify::distributed_traverse(comm, 5u, halves{}, one{}, sum{}, 0u).value  // --> 9, on all
///
/// Arguments      As for traverse(). All ranks must pass the same root, expand, reduce and
///                identity. Each node is visited once, by one rank, so what `visit` writes is in
///                the memory of that rank. A node must not point to memory of one rank.
/// Algorithm      Each rank runs the rounds of work sharing on a list of its own. Rank 0 visits the
///                root. After one or a few rounds the ranks compare their numbers of frontier
///                nodes. While the lists are long (16 nodes for each warp), each rank gets an equal
///                part of each list at first, and when a list has less than 90 % of the mean. The
///                parts are samples, so their subtrees are of similar size. While the lists are
///                short, if a rank has less than half of the mean, nodes move from the ranks with
///                more than the mean to those with less.
/// Waiting        A rank without nodes waits at most for the rounds of the other ranks until the
///                next comparison: exchange.rounds rounds of exchange.steps steps of each warp, or
///                4 such rounds if the lists are long. If the list of a rank has more nodes than
///                its warps take at first, and the surplus is more than a quarter of the list's
///                capacity, this rank runs its next round without a limit of steps, as traverse()
///                does. The other ranks wait for that round.
/// Result         The reduction of the ranks' values, with the same bits on all ranks.
/// Scratch        As for traverse(), on each rank, with lists of twice the automatic capacity.
///                distributed_traverse_scratch_bytes() returns its size. A few bytes more for each
///                rank come from Ramify's stream-ordered pool.
/// Collective     All ranks must call the function. It runs in communicator::run(): if a rank
///                throws, all do.
/// Stream         The traversal is ordered after earlier work in the stream, and the function
///                returns when it is complete. The stream must not be captured.
/// Errors         std::invalid_argument for a bad argument or another backend than that of the
///                communicator, and, on all ranks, if a rank has other options than rank 0,
///                nodes of another size, or another root or identity that is a number; else
///                cluster_error with the rank and the cause, for example std::length_error if the
///                list of one rank overflowed. Other roots, identities and functors are not
///                compared.
/// Complexity     As for traverse(). A path is visited by one rank; the others wait.
/// Not for        Trees that one GPU visits in less than some milliseconds.
/// Source         Work sharing with transfers from busy to idle processors, between phases of
///                search: Karypis and Kumar, 1994.
/// Link           ramify::cluster

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/kernel_backend.cuh>
#include <ramify/distributed_traverse/config.hpp>
#include <ramify/distributed_traverse/settings.hpp>
#include <ramify/distributed_traverse/shared_rounds.cuh>
#include <ramify/traverse/argument_types.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The result of a traversal by several ranks.
template <class Value>
struct distributed_traverse_result {
  Value value;                         ///< the reduction over all nodes
  distributed_traverse_report report;  ///< the report of the run
};

/// Visits all nodes of the tree with this root, and returns the reduction on all ranks. Collective.
///
/// \param options   its strategy must be work_sharing
/// \param exchange  how often the ranks exchange nodes
/// \param env       its memory: distributed_traverse_scratch_bytes(). Its flat_loop must not be
///                  graph. All options, and the backend, route, loop and limit of the environment
///                  must be the same on all ranks.
/// \throws std::invalid_argument, cluster_error
template <class Node, class Expand, class Visit, class Reduce, class Value>
distributed_traverse_result<Value> distributed_traverse(communicator& comm, const Node& root,
                                                        const Expand& expand, const Visit& visit,
                                                        const Reduce& reduce, const Value& identity,
                                                        const traverse_options& options,
                                                        const exchange_options& exchange,
                                                        const environment& env = {}) {
  namespace family = detail::distributed_traverse;
  static_assert(detail::traverse::checked_types<Node, Expand, Visit, Reduce, Value>::are_valid);
  static_assert(!detail::traverse::result_of_visit<Node, Visit>::may_end,
                "distributed_traverse: a visit may not end the traversal; let it return Value");
  using traversal = detail::traverse::limited_traversal<Node, Expand, Visit, Reduce, Value>;
  shared_settings settings("distributed_traverse");
  settings.add("distributed_traverse: the size of a node", sizeof(Node));
  family::add_arguments(settings, options, exchange, env);
  family::add_number(settings, "distributed_traverse: root", root);
  family::add_number(settings, "distributed_traverse: identity", identity);
  comm.require_equal(settings);
  family::check_arguments(options, exchange, env);
  detail::cluster::check_kernel_backend(comm, "distributed_traverse");
  distributed_traverse_result<Value> result{identity, {}};
  comm.run([&] {
    const traversal tree{{expand, visit, reduce, identity}, family::first_limits(exchange)};
    result.value =
        family::traverse_on_ranks(root, tree, options, env, {comm, exchange, result.report, {}});
  });
  return result;
}
/// Overload with the default options.
template <class Node, class Expand, class Visit, class Reduce, class Value>
distributed_traverse_result<Value> distributed_traverse(communicator& comm, const Node& root,
                                                        const Expand& expand, const Visit& visit,
                                                        const Reduce& reduce, const Value& identity,
                                                        const environment& env = {}) {
  return distributed_traverse(comm, root, expand, visit, reduce, identity, {}, {}, env);
}

/// Returns the device memory that a rank needs for a traversal with these types, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Node, class Expand, class Visit, class Reduce, class Value>
[[nodiscard]] std::size_t distributed_traverse_scratch_bytes(const traverse_options& options = {}) {
  using traversal = detail::traverse::limited_traversal<Node, Expand, Visit, Reduce, Value>;
  validate(options);
  return detail::distributed_traverse::rank_run<traversal>::scratch_bytes(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
