// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// dam_break: water on the two sides of a dam, for shallow_water.

#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A dam at `position` along x breaks at time 0: a wave runs down the shallow side, and a
/// rarefaction up the deep one. J. J. Stoker, Water Waves, Interscience 1957, ch. 10.8. The
/// physics is shallow_water with the same depth at rest and a tracer that marks the water of the
/// deep side. Domain: 0 to 1, reflecting; gravity 9.81; end 0.1.
template <class Real>
struct dam_break {
  using values = state<Real, 4>;  ///< conserved values of a cell

  Real position = Real(0.5);  ///< of the dam, along x
  Real depth_at_rest = 1;     ///< that of the physics
  Real deep = 1;              ///< depth for x < position
  Real shallow = Real(0.1);   ///< depth for x > position; > 0

  /// Returns the initial values at a point.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[2]) const {
    return side(where[0] < position);
  }

  /// Returns the averages over a cell: exact, also if the dam cuts the cell.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& /*physics*/,
                                          const initial_cell<Real, 2>& cell) const {
    const Real part = detail::amr::part_below(cell, 0, position);
    return part * side(true) + (1 - part) * side(false);
  }

 private:
  [[nodiscard]] __host__ __device__ values side(bool is_deep) const {
    return {(is_deep ? deep : shallow) - depth_at_rest, 0, 0, is_deep ? deep : Real(0)};
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
