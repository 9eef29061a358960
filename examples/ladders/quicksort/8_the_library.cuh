// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 8: Ramify's quicksort.
///
/// Changed    Rung 7's idea with all optimizations. A block orders a tile in shared memory before
///            it writes the tile. The first count detects keys that are in order, and they stay in
///            place. Teams of threads in a block sort leaves. The number of parts depends on n. The
///            library sorts keys of any type, with values, by any comparator; with one that is
///            no strict weak order, the result is some permutation of the keys.
///            benchmarks/quicksort.md lists the gain of each optimization. To read the code, begin
///            with algorithms/README.md.
/// Tree       As in rung 7: the last block of a level launches the next level and the leaves.
/// Join       As in rung 7. The host launches the levels without a launch slot. For
///            `quicksort_async()`, a grid in the stream merge-sorts them.
/// Cost       For 2^24 keys on an H200: two levels and their leaf grids.

#include <ramify/quicksort.cuh>

#include "sort_run.cuh"

namespace ladder::rung_8 {

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  // At about 2^20 keys the flat route would be faster.
  run.set_report(quicksort(keys, n, ascending(),
                           {.stream = run.stream(), .route = route::device, .trace = run.trace()}));
}

}  // namespace ladder::rung_8
