// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's tree search for the backend of the compiler that reads this file.

#include <ramify/tree_search.cuh>
#include <ramify/version.hpp>

#include "facade/facade_call.cuh"
#include "tree_search/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
traverse_report tree_search_on<this_build>(const uts_parameters& tree,
                                           const traverse_options& options, const environment& env,
                                           uts_counts& counts) {
  facade_call call(env);
  auto found = ramify::tree_search_async(tree, options, detail::waiting(env)).get();
  counts = found.value;
  return call.finish(found.report);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
