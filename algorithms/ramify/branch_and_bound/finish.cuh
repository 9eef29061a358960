// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The end of a search: the checks of its leaves, and the solution.

#include <cstddef>
#include <cstdint>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/search_tree.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// What a search has found.
template <class Node>
struct branch_and_bound_result {
  bool found = false;                ///< whether a leaf has a value of at most range.upper
  std::int64_t value = no_solution;  ///< the smallest value
  Node solution{};                   ///< the first leaf, depth first, with this value
  search_proof proof;                ///< if a limit ended the search, the leaf may not be the first
  branch_and_bound_report report;    ///< the report of the run
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// Initializes the incumbent: there is no solution and no unexplored node. Asynchronous.
inline void clear_incumbent(shared_incumbent* shared, cudaStream_t stream) {
  static_assert(offsetof(shared_incumbent, open) == sizeof shared->code);
  clear_memory(shared, 1, stream, "clearing the counts");
  check(cudaMemsetAsync(shared, 0xff, sizeof shared->code + sizeof shared->open, stream),
        "clearing the incumbent");
}

/// Returns what the search has proved about its best value, which is no_solution if there is none.
[[nodiscard]] inline search_proof proof_of(std::int64_t value, const shared_incumbent& shared,
                                           const value_range& range) {
  if (shared.open == ~bits64{0}) return {true, value};
  const std::int64_t open = incumbent_packing(range).value(shared.open);
  return {open >= value, open < value ? open : value};
}

/// Checks the leaves of a complete search. \throws std::length_error, std::domain_error
inline void check_leaves(const search_total& all, const shared_incumbent& shared,
                         const value_range& range) {
  if (shared.too_deep != 0) {
    throw std::length_error(
        "branch_and_bound: a path is too long: the product of its degrees must be less than 2^64");
  }
  if (all.value < range.lower) {
    throw std::domain_error("branch_and_bound: a leaf has the value " + std::to_string(all.value) +
                            "; no value may be less than value_range.lower, which is " +
                            std::to_string(range.lower));
  }
}

/// Returns the result of a complete search; in its report only the counts of nodes and updates. If
/// there is a solution, it launches a grid of one thread, which writes the solution to `leaf`, and
/// waits for the stream of `env`. \throws std::length_error, std::domain_error, cuda_error
template <class Node, class Problem>
[[nodiscard]] branch_and_bound_result<Node> finish_search(const Node& root, const Problem& problem,
                                                          const search_total& all,
                                                          const shared_incumbent& shared,
                                                          const value_range& range, Node* leaf,
                                                          const environment& env) {
  branch_and_bound_result<Node> result;
  result.report.expanded = all.expanded;
  result.report.pruned = all.pruned - shared.unexplored;
  result.report.unexplored = shared.unexplored;
  result.report.leaves = all.leaves;
  result.report.incumbent_updates = shared.updates;
  check_leaves(all, shared, range);
  result.proof = proof_of(all.value, shared, range);
  if (all.value == no_solution) return result;
  const auto stream = env.stream.as<cudaStream_t>();
  trace_recorder recorder(env.trace, stream);
  check(launch(follow_path<Node, Problem>, {1, 1}, stream, root, problem, all.path, leaf,
               recorder.ticket())
            .code(),
        "launching follow_path");
  result.solution = read_back(leaf, stream, "reading the solution");
  recorder.read();
  result.found = true;
  result.value = all.value;
  return result;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
