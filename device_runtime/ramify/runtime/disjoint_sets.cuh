// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// disjoint_sets: a parallel union-find over an array of parents. Public: families may include this
/// header.
///
/// Each element refers to an element with a smaller or the same index; an element that refers to
/// itself is a root. The root of a set is therefore its smallest element, for any order of calls.
/// Source: Jaiganesh, Burtscher, "A high-performance connected components implementation for GPUs",
/// HPDC 2018.

#include <ramify/runtime/residency.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Sets of the elements 0, 1, 2, ... Threads of a grid may call its functions at the same time.
struct disjoint_sets {
  unsigned* parents;  ///< device memory

  /// Returns the root of `v`, and shortens the path to it. Other threads may hook the root
  /// meanwhile.
  [[nodiscard]] __device__ unsigned root_of(unsigned v) const {
    unsigned before = v;
    unsigned at = load_relaxed(parents[v]);
    while (at != before) {
      const unsigned next = load_relaxed(parents[at]);
      if (next == at) break;
      atomicMin(&parents[before], next);
      before = at;
      at = next;
    }
    return at;
  }

  /// Unites the sets of `u` and `v`: hooks the larger root to the smaller one. Returns the smaller
  /// one, which other threads may have hooked meanwhile.
  __device__ unsigned unite(unsigned u, unsigned v) const {
    unsigned a = root_of(u);
    unsigned b = root_of(v);
    while (a != b) {
      const unsigned high = max(a, b);
      const unsigned low = min(a, b);
      const unsigned seen = atomicCAS(&parents[high], high, low);
      a = low;
      if (seen == high) break;
      b = root_of(seen);  // another thread has hooked `high`
    }
    return a;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
