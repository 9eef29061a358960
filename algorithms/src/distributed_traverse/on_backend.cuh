// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's distributed tree search for the backend of the compiler that reads this
/// file.

#include <ramify/distributed_traverse.cuh>
#include <ramify/tree_search/uts.cuh>
#include <ramify/version.hpp>

#include "distributed_traverse/on_backend.hpp"
#include "facade/facade_call.cuh"

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
distributed_traverse_report distributed_tree_search_on<this_build>(
    communicator& comm, const uts_parameters& tree, const traverse_options& options,
    const exchange_options& exchange, const environment& env, uts_counts& counts) {
  using namespace ramify::detail::tree_search;
  facade_call call(env);
  const auto found =
      ramify::distributed_traverse(comm, uts_root(tree), uts_expand(tree), uts_visit{},
                                   uts_reduce{}, uts_counts{}, options, exchange, env);
  counts = found.value;
  return call.finish(found.report);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
