// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The requirements on the physics and the criterion of a run, each with its sentence for the
/// compiler.

#include <concepts>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/regrid.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <type_traits>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// States which requirements a physics meets.
template <class Physics>
struct physics_types {
  using real = typename Physics::real;
  using values = typename Physics::values;
  using position = const real (&)[Physics::dimensions];
  static constexpr bool converts = requires(const Physics& p, const values& u) {
    { p.to_primitive(u) } -> std::convertible_to<values>;
    { p.to_conserved(u) } -> std::convertible_to<values>;
  };
  static constexpr bool checks = requires(const Physics& p, const values& u) {
    { p.is_valid(u) } -> std::convertible_to<bool>;
    { p.is_positive(u) } -> std::convertible_to<bool>;
  };
  static constexpr bool has_speed =
      requires(const Physics& p, const values& u, position where, real time) {
    { p.max_wave_speed(u, 0, where, time) } -> std::convertible_to<real>;
  };
  static constexpr bool has_flux =
      requires(const Physics& p, const values& u, position where, real time) {
    { p.flux(u, u, 0, where, time) } -> std::convertible_to<values>;
  };
  static constexpr bool reflects = requires(const Physics& p, const values& u) {
    { p.reflected(u, 0) } -> std::convertible_to<values>;
  };
  static constexpr bool are_valid = converts && checks && has_speed && has_flux && reflects;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Physics>
struct checked_physics : physics_types<Physics> {
  using types = physics_types<Physics>;
  static_assert(types::converts,
                "amr_run: Physics needs values to_primitive(values) const and values "
                "to_conserved(values) const");
  static_assert(types::checks,
                "amr_run: Physics needs bool is_valid(values) const and bool "
                "is_positive(values) const");
  static_assert(types::has_speed,
                "amr_run: Physics needs real max_wave_speed(values, int axis, const "
                "real (&where)[dimensions], real time) const");
  static_assert(types::has_flux,
                "amr_run: Physics needs values flux(values left, values right, int axis, "
                "const real (&where)[dimensions], real time) const");
  static_assert(types::reflects, "amr_run: Physics needs values reflected(values, int axis) const");
};

/// States whether a criterion meets its requirement.
template <class Physics, class Criterion>
struct criterion_types {
  static constexpr int dim = Physics::dimensions;
  using values = typename Physics::values;
  using stencil = cell_stencil<typename sampling<Criterion, values>::type, dim>;
  static constexpr bool are_valid =
      is_callable<typename Physics::real, Criterion, const stencil&, const block_place<dim>&,
                  typename physics_types<Physics>::position>;
};
/// Reports a criterion that does not meet its requirement by a sentence of the compiler.
template <class Physics, class Criterion>
struct checked_criterion : criterion_types<Physics, Criterion> {
  static_assert(criterion_types<Physics, Criterion>::are_valid,
                "amr_run: the criterion needs real operator()(const cell_stencil<values, "
                "dim>&, const block_place<dim>&, const real (&where)[dim]) const");
};

/// Whether a run can simulate `Physics` on a mesh that `Criterion` refines.
template <class Physics, class Criterion>
concept simulable =
    checked_physics<Physics>::are_valid && checked_criterion<Physics, Criterion>::are_valid;

/// Whether `Initial` returns the values of a cell at a position.
template <class Physics, class Initial>
inline constexpr bool is_initial_state =
    is_callable<typename Physics::values, Initial, typename physics_types<Physics>::position>;

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
