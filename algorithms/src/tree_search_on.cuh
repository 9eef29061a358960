// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's tree search on the backend of whichever compiler reads this.

#include <ramify/runtime/stream.cuh>
#include <ramify/tree_search/uts.cuh>

#include "device_arrays.cuh"
#include "tree_search_on.hpp"

namespace ramify::facade {

template <>
traverse_report tree_search_on<RAMIFY_ON_CUDA ? backend::cuda : backend::cpu>(
    const uts_parameters& tree, const tree_search_options& options, uts_counts& counts) {
  const auto limits = scoped_pending_launches(options.pending_launches);
  const host_stream stream;
  auto found = RAMIFY_BUILD::tree_search(tree, stream.get(),
                                         {.route = options.route, .capacity = options.capacity});
  counts = found.value;
  return found.report;
}

}  // namespace ramify::facade
