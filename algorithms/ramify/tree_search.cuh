// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tree_search_async() for CUDA code: Unbalanced Tree Search (Olivier et al., LCPC 2006) by
/// traverse().
///
///     auto search = ramify::tree_search_async(ramify::parse_uts_tree("T1"), {.stream = s});
///     search.get().value.nodes  // --> 4130071
///
/// <ramify/tree_search.hpp> describes the tree, its published counts and the cost of a node. The
/// function that waits is tree_search() of that header, which is compiled; a second one with the
/// same parameters would be ambiguous. Scratch, stream, graphs, launches and errors are those of
/// <ramify/traverse.cuh>.

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/traverse.cuh>
#include <ramify/tree_search/parameters.hpp>
#include <ramify/tree_search/uts.cuh>

namespace ramify::inline RAMIFY_BUILD {

// Functions are templates even without a type of the caller among their arguments: so a program
// compiles the kernels only of the functions that it calls.

/// Starts counting the nodes and leaves of a tree, and finding its depth. Graph capture and waiting
/// are as of traverse_async().
/// \param env  its memory: tree_search_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class = void>
async_run<traverse_result<uts_counts>> tree_search_async(const uts_parameters& tree,
                                                         const traverse_options& options,
                                                         const environment& env = {}) {
  using namespace detail::tree_search;
  validate(tree);
  return traverse_async(uts_root(tree), uts_expand(tree), uts_visit{}, uts_reduce{}, uts_counts{},
                        options, env);
}
/// Overload with the default options.
template <class = void>
async_run<traverse_result<uts_counts>> tree_search_async(const uts_parameters& tree,
                                                         const environment& env = {}) {
  return tree_search_async(tree, {}, env);
}

/// Returns the device memory that a search needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class = void>
[[nodiscard]] std::size_t tree_search_scratch_bytes(const traverse_options& options = {}) {
  using namespace detail::tree_search;
  return traverse_scratch_bytes<uts_node, uts_expand, uts_visit, uts_reduce, uts_counts>(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
