// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 6: the grids of rung 5, launched by the host (flat), for comparison.
///
/// Changed      Kernels launch nothing. The host reads the number of nodes found and launches the
///              next level.
/// Why          It needs no device runtime, no launch slots and no last block. It is the version
///              that dynamic parallelism has to beat.
/// Launch tree  None: a sequence of grids.
/// Join         The host's stream.
/// Cost         One launch and one host round trip per level, 12 us (H200), as much as a nested
///              launch. With many nodes it is still 1.6 times as fast as rung 5 (H200). The most
///              likely reason is that fewer blocks of a grid run at a time if a kernel launched it
///              (device_runtime/README.md).

#include "5_grid_per_level.cuh"

namespace ladder::rung_6 {

__global__ void __launch_bounds__(rung_5::threads) visit_level(unsigned count, tree_run run) {
  const traced here(run.trace, __func__);
  // No other thread reads the length of the list that this grid reads. The next grid fills the
  // list.
  if (blockIdx.x == 0 && threadIdx.x == 0) run.state->waiting[run.filled] = 0;
  rung_5::visit_nodes(count, run);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.swap_lists()) {
    const launch_shape shape{(count - 1) / rung_5::threads + 1, rung_5::threads};
    run.launch_grid(visit_level, shape, count, run.view());
  }
  static_cast<void>(run.finish_lists());  // reads the count and checks for errors
  return run.nodes();
}

}  // namespace ladder::rung_6
