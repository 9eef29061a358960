// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Physics with additions: with_scalars adds variables, and with_boundary, with_inflow, with_source
/// and with_callback add an optional member (README.md) to any physics, euler for example. They can
/// be nested, with_scalars innermost:
///
///     using gas = euler<double, 2>;
///     using falling_gas = with_source<with_inflow<gas>, uniform_gravity<double, 2>>;

#include <cmath>
#include <limits>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/amr/state.cuh>
#include <string>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A gas with passive scalars, which it carries with it: dyes, fractions of species.
///
/// `Physics` is like euler: it has the constant `density`, which is the index of the density among
/// the conserved and the primitive values and of the flux of mass, and no source or ghost_state().
/// The scalars follow its values: amounts per volume among the conserved values, and concentrations
/// (amounts per mass) among the primitive ones. The flux of a scalar is the flux of mass times the
/// concentration on the side that the mass comes from. So a concentration that is 1 everywhere
/// stays 1 bit by bit.
template <class Physics, int count>
struct with_scalars : Physics {
  static_assert(1 <= count && count <= 8);
  using real = typename Physics::real;                          ///< the number type
  static constexpr int first_scalar = Physics::variables;       ///< index of the first scalar
  static constexpr int variables = Physics::variables + count;  ///< values of a cell
  using values = state<real, variables>;                        ///< the values of a cell

  /// Returns the name of a conserved value: scalar_1 is the first scalar.
  static constexpr const char* field_name(int which) {
    constexpr const char* names[] = {"scalar_1", "scalar_2", "scalar_3", "scalar_4",
                                     "scalar_5", "scalar_6", "scalar_7", "scalar_8"};
    return which < first_scalar ? Physics::field_name(which) : names[which - first_scalar];
  }

  /// Returns the primitive values, with the concentrations of the scalars.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    values primitive = joined(Physics::to_primitive(gas_of(conserved)), conserved);
    for (int v = first_scalar; v < variables; ++v) {
      primitive[v] = detail::amr::quotient(conserved[v], primitive[Physics::density]);
    }
    return primitive;
  }
  /// Returns the conserved values, with the amounts of the scalars.
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    values conserved = joined(Physics::to_conserved(gas_of(primitive)), primitive);
    for (int v = first_scalar; v < variables; ++v) {
      conserved[v] = detail::amr::times(primitive[v], conserved[Physics::density]);
    }
    return conserved;
  }
  /// Returns whether the gas is valid and all scalars are numbers.
  [[nodiscard]] __host__ __device__ bool is_valid(const values& conserved) const {
    for (int v = first_scalar; v < variables; ++v) {
      if (!std::isfinite(conserved[v])) return false;
    }
    return Physics::is_valid(gas_of(conserved));
  }
  /// Returns whether the gas is, as `Physics` states.
  [[nodiscard]] __host__ __device__ bool is_positive(const values& primitive) const {
    return Physics::is_positive(gas_of(primitive));
  }
  /// Returns whether the gas is, as `Physics` states.
  [[nodiscard]] __host__ __device__ bool is_above_floors(
      const values& conserved) const requires detail::amr::has_floors<Physics> {
    return Physics::is_above_floors(gas_of(conserved));
  }
  /// Describes the floors of the gas, for a message.
  [[nodiscard]] std::string describe_floors(
      const values& conserved) const requires detail::amr::has_floors<Physics> {
    return Physics::describe_floors(gas_of(conserved));
  }
  /// Returns the mirror image along `axis`. Scalars do not change.
  [[nodiscard]] __host__ __device__ values reflected(const values& conserved, int axis) const {
    return joined(Physics::reflected(gas_of(conserved), axis), conserved);
  }
  /// Returns the speed of the gas: scalars move with it.
  [[nodiscard]] __host__ __device__ real max_wave_speed(const values& primitive, int axis,
                                                        detail::amr::point_of<Physics> where,
                                                        real time) const {
    return Physics::max_wave_speed(gas_of(primitive), axis, where, time);
  }
  /// Returns the values after the implicit source of the gas. Scalars do not change.
  [[nodiscard]] __host__ __device__ values implicit_source(
      const values& u, detail::amr::point_of<Physics> where, detail::amr::point_of<Physics> edges,
      real time, real dt) const requires detail::amr::has_implicit_source<Physics> {
    return joined(Physics::implicit_source(gas_of(u), where, edges, time, dt), u);
  }
  /// Returns the flux of the gas and, with its mass, of the scalars.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                detail::amr::point_of<Physics> where,
                                                real time) const {
    values flow = joined(Physics::flux(gas_of(left), gas_of(right), axis, where, time), left);
    const real mass = flow[Physics::density];
    for (int v = first_scalar; v < variables; ++v) {
      flow[v] = detail::amr::times(mass, mass > 0 ? left[v] : right[v]);
    }
    return flow;
  }

 private:
  using gas_values = typename Physics::values;

  [[nodiscard]] __host__ __device__ static gas_values gas_of(const values& all) {
    gas_values gas;
    for (int v = 0; v < first_scalar; ++v) gas[v] = all[v];
    return gas;
  }
  /// Returns the values of the gas and the scalars of `others`.
  [[nodiscard]] __host__ __device__ static values joined(const gas_values& gas,
                                                         const values& others) {
    values all = others;
    for (int v = 0; v < first_scalar; ++v) all[v] = gas[v];
    return all;
  }
};

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
  using values = typename Physics::values;  ///< the values of a cell

  Condition condition;  ///< the condition at prescribed boundaries

  /// Returns the conserved values of a ghost cell, by the condition.
  [[nodiscard]] __host__ __device__ values ghost_state(const values& inside, int axis, int side,
                                                       detail::amr::point_of<Physics> where,
                                                       typename Physics::real time) const {
    return condition(static_cast<const Physics&>(*this), inside, axis, side, where, time);
  }
};

/// A physics with a fixed state beyond each side that is boundary::prescribed.
template <class Physics>
struct with_inflow : Physics {
  using values = typename Physics::values;         ///< the values of a cell
  static constexpr int dim = Physics::dimensions;  ///< dimensions of space

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

  /// Returns the conserved values of a ghost cell: those of its side.
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
  using values = typename Physics::values;  ///< the values of a cell

  Source added;  ///< the functor of the source

  /// Returns the change per time: the source of `Physics`, if it has one, and the added one.
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

/// A physics with a callback between steps.
///
/// `Callback` is a functor, callable on the device,
///
///     void operator()(const Physics& physics, values& u, const real (&where)[dimensions],
///                     const real (&edges)[dimensions], double time) const;
///
/// The run calls it once for each cell of each leaf after each step, as after_step() of a physics.
template <class Physics, class Callback>
struct with_callback : Physics {
  using values = typename Physics::values;  ///< those of a cell

  Callback callback;  ///< called between steps

  /// Calls the callback for a cell.
  __device__ void after_step(values& u, detail::amr::point_of<Physics> where,
                             detail::amr::point_of<Physics> edges, double time) const {
    callback(static_cast<const Physics&>(*this), u, where, edges, time);
  }
  /// For a callback that takes const values: it only reads them.
  __device__ void after_step(const values&u, detail::amr::point_of<Physics> where,
                             detail::amr::point_of<Physics> edges,
                             double time) const requires std::is_invocable_v < const Callback &,
      const Physics &, const values &, detail::amr::point_of<Physics>,
      detail::amr::point_of<Physics>,
  double > { callback(static_cast<const Physics&>(*this), u, where, edges, time); }
};

/// The source of a gas in a uniform field of gravity: force and work. A physics like euler, with
/// the constants density, first_momentum and energy, is required.
template <class Real, int dim>
struct uniform_gravity {
  Real acceleration[dim];  ///< along each axis

  /// Returns the change of momentum and energy per time.
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
