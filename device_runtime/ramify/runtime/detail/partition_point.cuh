// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Binary search.

#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns the first index of [low, high) for which `is_before` returns false, or `high` if there
/// is none. The indices for which it returns true must precede all others; otherwise the result may
/// be any index of [low, high]. Returns `low` for an empty range.
/// Complexity: about log2(high - low) calls.
template <class Index, class IsBefore>
[[nodiscard]] __device__ Index partition_point(Index low, Index high, IsBefore is_before) {
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
