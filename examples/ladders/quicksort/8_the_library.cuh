// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 8: Ramify's quicksort.
///
/// Changed    Rung 7's idea, worked out. Blocks lay a tile out in shared memory before they write it; what is in
///            order already is seen by the first count, and left there; teams of a block sort leaves; how many
///            parts there are follows from n. It sorts keys of any type, with values, by any comparator, and
///            survives bad ones. What each of these gained: benchmarks/README.md. To read it, begin with
///            algorithms/README.md.
/// Tree       As in rung 7: the last block of a level launches the next level and the leaves.
/// Join       As in rung 7; what finds no slot, the host launches (`quicksort_run::get()`).
/// Cost       Two levels for 2^24 keys on an H200, and leaves.

#include <ramify/quicksort.cuh>

#include "sort_run.cuh"

namespace ladder::rung_8 {

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  quicksort_config config;
  config.route = route::device;  // with some 2^20 keys the flat one would be quicker
  config.trace = run.trace();
  run.did(quicksort(keys, n, ascending(), run.stream(), config));
}

}  // namespace ladder::rung_8
