// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Derived fields of a gas in kernels, and a refinement criterion for them. <ramify/amr.cuh>
/// includes this header.
///
///     options.regrid.refine_above = 0.05;   // where the entropy jumps: contacts, strong shocks
///     amr_run run(gas{}, derived_criterion<gas>{gas{}, derived_field::entropy}, initial, options);
///     run.derived_snapshot({derived_field::mach, derived_field::vorticity});

#include <cmath>
#include <ramify/amr/derived_field.hpp>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/rounding.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Whether a physics is a gas like euler, for which derived fields are defined.
template <class P>
concept has_derived_fields = requires(const P& physics) {
  P::density;
  P::first_momentum;
  P::pressure;
  physics.gamma;
};

/// Returns whether a field follows from the values of one cell.
[[nodiscard]] __host__ __device__ constexpr bool is_local(derived_field f) {
  return f != derived_field::vorticity && f != derived_field::divergence &&
         f != derived_field::magnetic_divergence;
}

/// The components of the velocity: as many as dimensions, unless the physics has others.
template <class P>
inline constexpr int velocity_components = P::dimensions;
template <class P>
requires has_magnetic_field<P>
inline constexpr int velocity_components<P> = P::velocity_components;

/// Returns B^2 / 2 of primitive values, or 0 without a magnetic field.
template <class Physics>
[[nodiscard]] __host__ __device__ typename Physics::real magnetic_pressure_of(
    [[maybe_unused]] const typename Physics::values& primitive) {
  using real = typename Physics::real;
  real squares = 0;
  if constexpr (has_magnetic_field<Physics>) {
    for (int v = Physics::first_magnetic; v < Physics::psi; ++v) {
      squares += times(primitive[v], primitive[v]);
    }
  }
  return real(0.5) * squares;
}

/// Returns a local field of a gas with these primitive values; 0 for another field.
template <class Physics>
[[nodiscard]] __host__ __device__ typename Physics::real local_field(
    const Physics& physics, derived_field f, const typename Physics::values& primitive) {
  using real = typename Physics::real;
  const real density = primitive[Physics::density];
  const real temperature = quotient(primitive[Physics::pressure], density);
  real speed = 0;
  for (int k = 0; k < velocity_components<Physics>; ++k) {
    const real along = primitive[Physics::first_momentum + k];
    speed += times(along, along);
  }
  speed = std::sqrt(speed);
  const real sound = std::sqrt(times(physics.gamma, temperature));
  switch (f) {
    case derived_field::speed: return speed;
    case derived_field::sound_speed: return sound;
    case derived_field::mach: return quotient(speed, sound);
    case derived_field::temperature: return temperature;
    case derived_field::entropy:
      return primitive[Physics::pressure] / std::pow(density, physics.gamma);
    case derived_field::magnetic_pressure: return magnetic_pressure_of<Physics>(primitive);
    default: return 0;
  }
}

/// Returns a field that is not local, by central differences of primitive values; 0 for the
/// divergence of a magnetic field that the physics does not have. `edges` are the lengths of the
/// edges of a cell.
template <class Physics>
[[nodiscard]] __host__ __device__ typename Physics::real differential_field(
    derived_field f, const cell_stencil<typename Physics::values, Physics::dimensions>& u,
    const typename Physics::real (&edges)[Physics::dimensions]) {
  using real = typename Physics::real;
  constexpr int dim = Physics::dimensions;
  const auto slope_of = [&](int v, int axis) {
    return quotient(u.right[axis][v] - u.left[axis][v], 2 * edges[axis]);
  };
  const auto divergence_of = [&](int first) {
    real sum = 0;
    for (int axis = 0; axis < dim; ++axis) sum += slope_of(first + axis, axis);
    return sum;
  };
  if (f == derived_field::magnetic_divergence) {
    if constexpr (has_magnetic_field<Physics>) {
      return divergence_of(Physics::first_magnetic);
    } else {
      return 0;
    }
  }
  if (f == derived_field::divergence) return divergence_of(Physics::first_momentum);
  const auto slope = [&](int component, int axis) {
    return slope_of(Physics::first_momentum + component, axis);
  };
  if constexpr (dim == 2) {
    return slope(1, 0) - slope(0, 1);
  } else {
    real squares = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const int next = (axis + 1) % dim;
      const int last = (axis + 2) % dim;
      const real component = slope(last, next) - slope(next, last);
      squares += times(component, component);
    }
    return std::sqrt(squares);
  }
}

/// Returns a derived field of a cell.
template <class Physics>
[[nodiscard]] __host__ __device__ typename Physics::real field_of_cell(
    const Physics& physics, derived_field f,
    const cell_stencil<typename Physics::values, Physics::dimensions>& u,
    const typename Physics::real (&edges)[Physics::dimensions]) {
  return is_local(f) ? local_field(physics, f, u.here) : differential_field<Physics>(f, u, edges);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A refinement criterion by a derived field of a gas, without a unit:
///
///     vorticity, divergence   how much the velocity changes across a cell by rotation or
///                             compression, relative to the speed of sound. Cells must have edges
///                             of equal length
///     magnetic_divergence     how much the field changes across a cell by its divergence, relative
///                             to the field
///     the other fields        the jump across a cell, relative to the field's size, as that of
///                             gradient_criterion
///
/// The run does not change `physics`, which must be that of the run.
template <class Physics>
requires detail::amr::has_derived_fields<Physics>
struct derived_criterion {
  using real = typename Physics::real;             ///< the number type
  static constexpr int dim = Physics::dimensions;  ///< dimensions of the mesh

  Physics physics{};  ///< of the run
  /// Whose changes refine. A magnetic one of a physics without a magnetic field refines nothing.
  derived_field field = derived_field::entropy;
  real floor = real(1e-10);  ///< suppresses noise around zero; far below the values of the field

  /// Returns the indicator of a cell.
  [[nodiscard]] __device__ real operator()(const cell_stencil<typename Physics::values, dim>& u,
                                           const block_place<dim>&, const real (&)[dim]) const {
    namespace amr = detail::amr;
    if (!amr::is_local(field)) {
      real unit_edges[dim];
      for (real& edge : unit_edges) edge = 1;
      const real change = amr::differential_field<Physics>(field, u, unit_edges);
      const bool is_of_field = field == derived_field::magnetic_divergence;
      const real size = is_of_field
                            ? std::sqrt(2 * amr::magnetic_pressure_of<Physics>(u.here)) + floor
                            : amr::local_field(physics, derived_field::sound_speed, u.here);
      return std::fabs(change) / size;
    }
    real largest = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real jump = std::fabs(amr::local_field(physics, field, u.right[axis]) -
                                  amr::local_field(physics, field, u.left[axis]));
      largest = jump > largest ? jump : largest;
    }
    const real size = std::fabs(amr::local_field(physics, field, u.here));
    return largest / (amr::times(real(2), size) + floor);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
