// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The initial states of standard problems of a plasma, for mhd.cuh: plasma_tube, orszag_tang and
/// rotor. Each is a functor that returns the primitive values at a point. In three dimensions they
/// do not depend on z. <ramify/amr.cuh> does not include this header.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// Two plasmas side by side. The values are those of M. Brio, C. C. Wu, J. Comput. Phys. 75 (1988)
/// 400: from left to right a fast rarefaction, a compound wave, a contact, a slow shock and a fast
/// rarefaction. Domain 0 to 1, outflow, gamma 2, end 0.1.
template <class Real, int dim>
struct plasma_tube {
  using values = state<Real, 9>;  ///< the values of a cell

  int axis = 0;               ///< orthogonal to the plane between the two plasmas
  Real position = Real(0.5);  ///< position of that plane
  /// Primitive values, as for axis 0. For another axis the components along it and along x are
  /// exchanged.
  values left{1, 0, 0, 0, 1, Real(0.75), 1, 0, 0};
  /// The values on the other side.
  values right{Real(0.125), 0, 0, 0, Real(0.1), Real(0.75), -1, 0, 0};

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return side(where[axis] < position);
  }

  /// Returns the averages over a cell: exact, also if the plane cuts the cell.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    const Real part = detail::amr::part_below(cell, axis, position);
    return part * physics.to_conserved(side(true)) + (1 - part) * physics.to_conserved(side(false));
  }

 private:
  [[nodiscard]] __host__ __device__ values side(bool is_left) const {
    const values& from = is_left ? left : right;
    values to = from;
    for (const int first : {1, 5}) {
      to[first] = from[first + axis];
      to[first + axis] = from[first];
    }
    return to;
  }
};

/// A vortex that develops shocks and current sheets. S. A. Orszag, C.-M. Tang, J. Fluid Mech. 90
/// (1979) 129; the values of J. M. Stone et al., Astrophys. J. Suppl. 178 (2008) 137. Domain 0 to
/// 1, periodic, gamma 5/3, end 0.5.
template <class Real, int dim>
struct orszag_tang {
  using values = state<Real, 9>;  ///< the values of a cell

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    const Real field = 1 / std::sqrt(4 * pi);
    const Real sine_y = std::sin(2 * pi * where[1]);
    return {25 / (36 * pi),
            -sine_y,
            std::sin(2 * pi * where[0]),
            0,
            5 / (12 * pi),
            -field * sine_y,
            field * std::sin(4 * pi * where[0]),
            0,
            0};
  }
};

/// A dense disc spins in a light plasma at rest, with a field along x that it winds up and that
/// brakes it: torsional Alfven waves run out. D. S. Balsara, D. S. Spicer, J. Comput. Phys. 149
/// (1999) 270; the values of Toth's first rotor (J. Comput. Phys. 161 (2000) 605). Domain 0 to 1,
/// outflow, gamma 1.4, end 0.15.
template <class Real, int dim>
struct rotor {
  using values = state<Real, 9>;  ///< the values of a cell

  Real center[2] = {Real(0.5), Real(0.5)};  ///< of the disc
  Real radius = Real(0.1);                  ///< of its rigid part
  Real outer_radius = Real(0.115);          ///< where density and velocity are those outside
  Real density = 10;                        ///< of the disc; it is 1 outside
  Real speed = 2;                           ///< at `radius`
  Real pressure = 1;                        ///< everywhere
  Real field = Real(1.4104739588693907);    ///< 5 / sqrt(4 pi), along x

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    using detail::amr::times;
    const Real x = where[0] - center[0];
    const Real y = where[1] - center[1];
    const Real r = std::sqrt(times(x, x) + times(y, y));
    const Real taper = (outer_radius - r) / (outer_radius - radius);
    const Real share = taper > 1 ? Real(1) : taper < 0 ? Real(0) : taper;
    const Real rate = share * speed / (r > radius ? r : radius);
    return {1 + (density - 1) * share, -rate * y, rate * x, 0, pressure, field, 0, 0, 0};
  }

  /// Returns the averages over a cell, by 4 x 4 times 3 x 3 points: the edge of the disc is thin.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    int pieces[dim];
    for (int axis = 0; axis < dim; ++axis) pieces[axis] = axis < 2 ? 4 : 1;
    return average_by_points(*this, physics, cell, pieces);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
