// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// rk_stage: a stage of a step, and its clock. The types of advance_blocks() by those of a view,
/// and the shape of a cell.

#include <ramify/amr/advance_tuning.cuh>
#include <ramify/amr/run_view.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The center of a cell and the lengths of its edges.
template <class View>
struct cell_shape {
  typename View::real where[View::dim];
  typename View::real edges[View::dim];

  __device__ cell_shape(const View& view, int node, int cell) {
    const auto place = view.tree.place[node];
    int at[View::dim];
    View::cells::coordinates(cell, at);
    view.center(place, at, where);
    for (int axis = 0; axis < View::dim; ++axis) edges[axis] = view.spacing(place.level, axis);
  }
};

/// Returns whether a cell is solid: then a step does not change it.
template <class View>
[[nodiscard]] __device__ bool is_solid_cell([[maybe_unused]] const View& view,
                                            [[maybe_unused]] int node, [[maybe_unused]] int cell) {
  if constexpr (has_solid<typename View::physics_type>) {
    return view.physics.is_solid(cell_shape<View>(view, node, cell).where);
  } else {
    return false;
  }
}

/// A stage of the Runge-Kutta method on one level.
struct rk_stage {
  int index;               ///< 0: first stage, 1: second stage
  double begin;            ///< when this level's step begins, counted in steps of level 0
  double length;           ///< length of this level's step, counted in steps of level 0
  double elapsed;          ///< share of the next coarser level's step that has elapsed
  bool first;              ///< whether it is the first stage within the next coarser level's step
  bool keeps_old = false;  ///< whether finer levels read the values before this step
};

/// The length of a level's step, and the time of the values that a stage of it reads.
template <class Real>
struct stage_clock {
  Real dt;
  Real time;

  __device__ stage_clock(const time_state& clock, const rk_stage& stage)
      : dt(static_cast<Real>(clock.dt * stage.length)),
        time(static_cast<Real>(clock.time +
                               clock.dt * (stage.begin + stage.index * stage.length))) {}
};

template <class View>
using tuning_of = advance_tuning<typename View::physics_type, View::cells_along>;
/// The shared memory of a block.
template <class View>
using storage_of = advance_storage<typename View::physics_type, View::cells_along>;
template <class View>
using line_of = line_of_cells<typename View::physics_type, View::cells_along>;
template <class View>
using ghosts_of = typename View::ghosts_type;

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
