// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tree_search() for CUDA code: Unbalanced Tree Search (Olivier et al., LCPC 2006) by traverse().
///
///     const auto found = ramify::tree_search(ramify::parse_uts_tree("T1"), stream);
///     found.value.nodes  // --> 4130071
///
/// The tree, its published counts and the cost of a node are described in ramify/tree_search.hpp.
/// Scratch, stream, graphs, launches and errors are those of ramify/traverse.cuh.

#include <ramify/runtime/requirements.hpp>

#include <ramify/traverse.cuh>
#include <ramify/tree_search/parameters.hpp>
#include <ramify/tree_search/uts.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A search that tree_search_async() has started; its get() returns traverse_result<uts_counts>.
using tree_search_run =
    traverse_run<detail::tree_search::uts_node, detail::tree_search::uts_expand,
                 detail::tree_search::uts_visit, detail::tree_search::uts_reduce, uts_counts>;

/// Starts counting the nodes and leaves of a tree, and finding its depth, in `stream`.
/// Parameters, graph capture and waiting are as of traverse_async().
/// \throws std::invalid_argument, unavailable, cuda_error
inline tree_search_run tree_search_async(const uts_parameters& tree, cudaStream_t stream,
                                         const traverse_config& config = {},
                                         scratch_memory scratch = {}) {
  using namespace detail::tree_search;
  validate(tree);
  return traverse_async(uts_root(tree), uts_expand(tree), uts_visit{}, uts_reduce{}, uts_counts{},
                        stream, config, scratch);
}

/// Counts the nodes and leaves of a tree, finds its depth, and waits for `stream`. The stream has
/// no default argument, because the compiled tree_search() of ramify/tree_search.hpp has only a
/// tree as required argument.
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
inline traverse_result<uts_counts> tree_search(const uts_parameters& tree, cudaStream_t stream,
                                               const traverse_config& config = {},
                                               scratch_memory scratch = {}) {
  return tree_search_async(tree, stream, config, scratch).get();
}

/// Returns the device memory that a search needs, in bytes.
/// \throws std::invalid_argument, unavailable, cuda_error
[[nodiscard]] inline std::size_t tree_search_scratch_bytes(const traverse_config& config = {}) {
  validate(config);
  return tree_search_run::scratch_bytes(config);
}

}  // namespace ramify::inline RAMIFY_BUILD
