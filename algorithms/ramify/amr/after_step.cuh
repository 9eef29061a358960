// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// call_after_step(), the last kernel of a step of a physics with a callback.

#include <ramify/amr/rk_stage.cuh>
#include <ramify/amr/time_step.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The grids that a callback adds to a step: its own, and if it may change values, averages.
template <class View>
inline constexpr unsigned callback_grids = !has_after_step<typename View::physics_type> ? 0
                                           : only_observes<typename View::physics_type> ? 1
                                                                                        : 2;

/// Calls after_step() of the physics for each cell of a leaf, at the end of a step of level 0. One
/// block per leaf.
template <class View>
__global__ void call_after_step(View view) {
  const traced here(view.trace, __func__);
  const int node = view.lists.leaves[blockIdx.x];
  grid_dependency_synchronize();
  const time_state& clock = view.state->clock;
  if (clock.dt == 0) return;
  const double time = end_of_step(clock);
  View::cells::for_each(step_threads, [&](int cell, const int(&)[View::dim]) {
    const cell_shape<View> shape(view, node, cell);
    auto u = view.u_new.load(node, cell);
    view.physics.after_step(u, shape.where, shape.edges, time);
    if constexpr (!only_observes<typename View::physics_type>) view.u_new.store(node, cell, u);
  });
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
