// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Physics with additions: with_boundary, with_inflow and with_source add an optional member
/// (README.md) to any physics, euler for example. They can be nested:
///
///     using gas = euler<double, 2>;
///     using falling_gas = with_source<with_inflow<gas>, uniform_gravity<double, 2>>;

#include <cmath>
#include <limits>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A physics with a boundary condition for the sides that are boundary::prescribed.
///
/// `Condition` is a functor, callable on host and device,
///
///     values operator()(const Physics& physics, const values& inside, int axis, int side,
///                       const real (&where)[dimensions], real time) const;
///
/// It returns the conserved values of the ghost cell with the center `where`, which is beyond the
/// lower (`side` 0) or the upper side (1) along `axis`. `inside` are the conserved values of the
/// cell at its mirror image, and `time` is the time of these values.
template <class Physics, class Condition>
struct with_boundary : Physics {
  using values = typename Physics::values;

  Condition condition;

  [[nodiscard]] __host__ __device__ values ghost_state(const values& inside, int axis, int side,
                                                       detail::amr::point_of<Physics> where,
                                                       typename Physics::real time) const {
    return condition(static_cast<const Physics&>(*this), inside, axis, side, where, time);
  }
};

/// A physics with a fixed state beyond each side that is boundary::prescribed.
template <class Physics>
struct with_inflow : Physics {
  using values = typename Physics::values;
  static constexpr int dim = Physics::dimensions;

  /// [axis][0: the lower side, 1: the upper side] primitive values. A prescribed side whose state
  /// is not set has NaN, which ends the run with amr_error.
  values inflow[dim][2];

  /// Sets no state.
  with_inflow() : with_inflow(Physics{}) {}
  /// Sets no state.
  explicit with_inflow(const Physics& physics) : Physics(physics) {
    for (auto& sides : inflow) {
      for (values& state_of_side : sides) {
        for (int v = 0; v < Physics::variables; ++v) {
          state_of_side[v] = std::numeric_limits<typename Physics::real>::quiet_NaN();
        }
      }
    }
  }

  [[nodiscard]] __host__ __device__ values ghost_state(const values& /*inside*/, int axis, int side,
                                                       detail::amr::point_of<Physics> /*where*/,
                                                       typename Physics::real /*time*/) const {
    return this->to_conserved(inflow[axis][side]);
  }
};

/// A physics with a source, which is added to one that it may have.
///
/// `Source` is a functor, callable on host and device,
///
///     values operator()(const Physics& physics, const values& u, const real (&where)[dimensions],
///                       const real (&edges)[dimensions], real time) const;
///
/// It returns how fast the conserved values `u` of a cell change, per time. `where` is the center
/// of the cell, and `edges` are the lengths of its edges.
template <class Physics, class Source>
struct with_source : Physics {
  using values = typename Physics::values;

  Source added;

  [[nodiscard]] __host__ __device__ values source(const values& u,
                                                  detail::amr::point_of<Physics> where,
                                                  detail::amr::point_of<Physics> edges,
                                                  typename Physics::real time) const {
    const auto& physics = static_cast<const Physics&>(*this);
    const values more = added(physics, u, where, edges, time);
    if constexpr (detail::amr::has_source<Physics>) {
      return physics.source(u, where, edges, time) + more;
    } else {
      return more;
    }
  }
};

/// The source of a gas in a uniform field of gravity: force and work. A physics like euler, with
/// the constants density, first_momentum and energy, is required.
template <class Real, int dim>
struct uniform_gravity {
  Real acceleration[dim];

  template <class Physics>
  [[nodiscard]] __host__ __device__ typename Physics::values operator()(
      const Physics& /*physics*/, const typename Physics::values& u, const Real (&/*where*/)[dim],
      const Real (&/*edges*/)[dim], Real /*time*/) const {
    using detail::amr::times;
    typename Physics::values rate{};
    for (int axis = 0; axis < dim; ++axis) {
      const int momentum = Physics::first_momentum + axis;
      rate[momentum] = times(u[Physics::density], acceleration[axis]);
      rate[Physics::energy] += times(u[momentum], acceleration[axis]);
    }
    return rate;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
