// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// rk_stage: a stage of a step, its clock, and the types of advance_blocks() by those of a view.

#include <ramify/amr/advance_tuning.cuh>
#include <ramify/amr/run_view.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

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
