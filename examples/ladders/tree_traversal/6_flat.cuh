// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 6: the same level by level, launched by the host (flat). For comparison.
///
/// Changed      against rung 5: kernels launch nothing. The host reads how many nodes were found and launches
///              the next level.
/// Why          It needs no device runtime, no launch slots, no last block; and it is what one would
///              have to beat.
/// Launch tree  none: a row of grids.
/// Join         the host's stream.
/// Cost         a launch and a look of the host for each level, 12 us (H200), which is what a nested launch
///              takes too. With many nodes it is 1.6 times as fast as rung 5 (H200) all the same, most likely
///              because of a grid that a kernel launched fewer blocks run at a time (device_runtime/README.md).

#include "5_grid_for_a_level.cuh"

namespace ladder::rung_6 {

__global__ void __launch_bounds__(rung_5::threads) visit_level(unsigned count, tree_run run) {
  const traced here(run.trace, __func__);
  // Nobody else looks at the length of the list that this grid reads. The next grid will fill it.
  if (blockIdx.x == 0 && threadIdx.x == 0) run.state->waiting[run.filled] = 0;
  rung_5::visit_nodes(count, run);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.other_list()) {
    const launch_shape shape{(count - 1) / rung_5::threads + 1, rung_5::threads};
    run.launch_grid(visit_level, shape, count, run.view());
  }
  static_cast<void>(run.next_list());  // all is done: what was counted, and whether all went well
  return run.nodes();
}

}  // namespace ladder::rung_6
