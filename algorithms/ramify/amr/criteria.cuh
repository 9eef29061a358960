// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Refinement criteria. They compute an indicator for each cell from its neighbors.
///
/// A criterion is a functor
///
///     real operator()(const cell_stencil<values, dim>&, const block_place<dim>&,
///                     const real (&where)[dim]) const;
///
/// that kernels call with primitive values. The largest result in a block is compared with
/// amr_regrid_config::refine_above and coarsen_below.

#include <ramify/amr/mesh.cuh>
#include <ramify/amr/rounding.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The values of a cell and of its neighbors along each axis.
template <class Values, int dim>
struct cell_stencil {
  Values here;
  Values left[dim];
  Values right[dim];
};

/// Returns values[which]. It selects among constant indices: an index in a register would put the
/// values into local memory.
template <class Values>
[[nodiscard]] __device__ auto entry_of(const Values& values, int which) {
  auto found = values[0];
  RAMIFY_UNROLL
  for (int v = 1; v < Values::size; ++v) {
    const auto other = values[v];
    found = v == which ? other : found;
  }
  return found;
}

/// The jump of one variable across a cell, relative to the variable's size:
///
///     max over axes of |right - left| / (2 |here| + floor)
///
/// `floor` suppresses noise around zero.
template <class Physics>
struct gradient_criterion {
  using real = typename Physics::real;
  static constexpr int dim = Physics::dimensions;

  int variable = 0;  ///< index of a primitive value
  real floor = real(1e-10);

  __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                             const block_place<dim>&, const real (&)[dim]) const {
    real largest = 0;
    const real here = entry_of(u.here, variable);
    for (int axis = 0; axis < dim; ++axis) {
      const real jump =
          std::fabs(entry_of(u.right[axis], variable) - entry_of(u.left[axis], variable));
      const real share = jump / (detail::amr::times(real(2), std::fabs(here)) + floor);
      largest = share > largest ? share : largest;
    }
    return largest;
  }
};

/// Loehner's estimator (R. Loehner, An adaptive finite element scheme for transient problems in
/// CFD, Comput. Methods Appl. Mech. Eng. 61 (1987) 323): the second difference of one variable
/// relative to its first differences, so that waves of any strength have similar indicators. The
/// result is in [0, 1].
///
///     |right - 2 here + left| / (|right - here| + |here - left|
///                                + filter (|right| + 2 |here| + |left|))
///
/// `filter` suppresses small ripples. The result is the maximum over the axes; mixed differences
/// are left out.
template <class Physics>
struct loehner_criterion {
  using real = typename Physics::real;
  static constexpr int dim = Physics::dimensions;

  int variable = 0;  ///< index of a primitive value
  real filter = real(0.01);

  __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                             const block_place<dim>&, const real (&)[dim]) const {
    using detail::amr::times;
    real largest = 0;
    const real here = entry_of(u.here, variable);
    for (int axis = 0; axis < dim; ++axis) {
      const real left = entry_of(u.left[axis], variable);
      const real right = entry_of(u.right[axis], variable);
      const real second = std::fabs((right - here) - (here - left));
      const real size = std::fabs(right) + std::fabs(left) + times(real(2), std::fabs(here));
      const real first = std::fabs(right - here) + std::fabs(here - left);
      const real share = first + size > real(0) ? second / (first + times(filter, size)) : real(0);
      largest = share > largest ? share : largest;
    }
    return largest;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
