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
/// amr_options::regrid.refine_above and coarsen_below.
///
/// A criterion that reads less than all values may have a type `sample_type`, not larger than
/// `values`, and a member `sample_type sample(const values&) const`. Then kernels keep only the
/// sample of each cell, and call the functor with a cell_stencil<sample_type, dim>.
///
/// A criterion may have a member `int buffer_cells`, static or not: the number of buffer cells, as
/// in with_buffer. A run throws std::invalid_argument if it is negative or greater than the number
/// of cells along a block's edge.

#include <limits>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The values or samples of a cell and of its neighbors along each axis.
template <class Values, int dim>
struct cell_stencil {
  Values here;        ///< of the cell
  Values left[dim];   ///< of the lower neighbor along each axis
  Values right[dim];  ///< of the upper neighbor along each axis
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Whether a criterion may also refine blocks that are within `buffer_cells` cells of a cell that
/// it refines: a member, static or not.
template <class Criterion>
concept has_buffer = requires(const Criterion& criterion) {
  criterion.buffer_cells;
};

/// The indicator of cells that are refined without a buffer around them: with_boxes returns it for
/// the cells of its boxes. Cells for which another criterion returns it have no buffer, either.
template <class Real>
inline constexpr Real without_buffer = std::numeric_limits<Real>::max();

/// Returns the number of buffer cells of a criterion.
template <class Criterion>
[[nodiscard]] __host__ __device__ int buffer_cells_of(const Criterion& criterion) {
  if constexpr (has_buffer<Criterion>) return criterion.buffer_cells;
  return 0;
}

/// Returns the stencil of the samples that a criterion takes of primitive values.
template <class Criterion, class Values, int dim>
[[nodiscard]] __device__ cell_stencil<typename Criterion::sample_type, dim> sample_stencil(
    const Criterion& criterion, const cell_stencil<Values, dim>& u) {
  cell_stencil<typename Criterion::sample_type, dim> samples;
  samples.here = criterion.sample(u.here);
  for (int axis = 0; axis < dim; ++axis) {
    samples.left[axis] = criterion.sample(u.left[axis]);
    samples.right[axis] = criterion.sample(u.right[axis]);
  }
  return samples;
}

/// Returns values[which]. It selects among constant indices: an index in a register would put the
/// values into local memory.
template <class Real, int count>
[[nodiscard]] __device__ Real entry_of(const state<Real, count>& values, int which) {
  Real found = values[0];
  RAMIFY_UNROLL
  for (int v = 1; v < count; ++v) {
    const Real other = values[v];
    found = v == which ? other : found;
  }
  return found;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The jump of one variable across a cell, relative to the variable's size:
///
///     max over axes of |right - left| / (2 |here| + floor)
///
/// `floor` suppresses noise around zero. It has the unit of the variable, and must be far below its
/// values in the flow: below a large floor no block is refined.
template <class Physics>
struct gradient_criterion {
  using real = typename Physics::real;             ///< the number type
  using sample_type = real;                        ///< what the criterion reads of each cell
  static constexpr int dim = Physics::dimensions;  ///< dimensions of space

  int variable = 0;          ///< index of a primitive value
  real floor = real(1e-10);  ///< suppresses noise around zero; in the unit of the variable

  /// Returns the sample of a cell.
  [[nodiscard]] __device__ sample_type sample(const typename Physics::values& primitive) const {
    return detail::amr::entry_of(primitive, variable);
  }
  /// Returns the indicator of a cell, from samples.
  __device__ real operator()(const cell_stencil<real, dim>& u, const block_place<dim>&,
                             const real (&)[dim]) const {
    real largest = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real jump = std::fabs(u.right[axis] - u.left[axis]);
      largest = jump > largest ? jump : largest;
    }
    return largest / (detail::amr::times(real(2), std::fabs(u.here)) + floor);
  }
  /// Returns the indicator of a cell, from all values.
  __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                             const block_place<dim>& place, const real (&where)[dim]) const {
    return (*this)(detail::amr::sample_stencil(*this, u), place, where);
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
  using real = typename Physics::real;             ///< the number type
  using sample_type = real;                        ///< what the criterion reads of each cell
  static constexpr int dim = Physics::dimensions;  ///< dimensions of space

  int variable = 0;          ///< index of a primitive value
  real filter = real(0.01);  ///< suppresses small ripples

  /// Returns the sample of a cell.
  [[nodiscard]] __device__ sample_type sample(const typename Physics::values& primitive) const {
    return detail::amr::entry_of(primitive, variable);
  }
  /// Returns the indicator of a cell, from samples.
  __device__ real operator()(const cell_stencil<real, dim>& u, const block_place<dim>&,
                             const real (&)[dim]) const {
    using detail::amr::times;
    real largest = 0;
    const real here = u.here;
    for (int axis = 0; axis < dim; ++axis) {
      const real left = u.left[axis];
      const real right = u.right[axis];
      const real second = std::fabs((right - here) - (here - left));
      const real size = std::fabs(right) + std::fabs(left) + times(real(2), std::fabs(here));
      const real first = std::fabs(right - here) + std::fabs(here - left);
      const real share = first + size > real(0) ? second / (first + times(filter, size)) : real(0);
      largest = share > largest ? share : largest;
    }
    return largest;
  }
  /// Returns the indicator of a cell, from all values.
  __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                             const block_place<dim>& place, const real (&where)[dim]) const {
    return (*this)(detail::amr::sample_stencil(*this, u), place, where);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
