// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mesh_physics: the members of a physics, those that are required and those that are optional.
/// physics/README.md describes them.

#include <concepts>
#include <ramify/runtime/cuda.hpp>
#include <string>
#include <type_traits>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// States which types and constants a physics has.
template <class P>
struct physics_types {
  static constexpr bool has_real = requires { requires std::floating_point<typename P::real>; };
  static constexpr bool has_dimensions = requires {
    requires P::dimensions == 2 || P::dimensions == 3;
  };
  static constexpr bool has_variables = requires { requires(P::variables >= 1); };
  static constexpr bool has_values = requires { typename P::values; };
  static constexpr bool is_plain =
      std::is_trivially_copyable_v<P> && std::is_default_constructible_v<P>;
  static constexpr bool are_valid =
      has_real && has_dimensions && has_variables && has_values && is_plain;
};

/// A point in a domain, as the members of a physics get it; also the edges of a cell.
template <class P>
using point_of = const typename P::real (&)[P::dimensions];

// ---- the optional members ----

/// Whether a physics replaces values below floors. is_above_floors(u) returns whether it leaves the
/// conserved values of a cell unchanged, and describe_floors(u) returns a text for an error.
template <class P>
concept has_floors = requires(const P& physics, const typename P::values& u) {
  { physics.is_above_floors(u) } -> std::convertible_to<bool>;
  { physics.describe_floors(u) } -> std::convertible_to<std::string>;
};

/// Whether a physics has a speed of its own that follows from the time step, as the speed of
/// divergence cleaning.
template <class P>
concept has_step_speed = requires(P& physics) {
  physics.set_step_speed(typename P::real{});
};

/// Whether a physics has a magnetic field of three components and a cleaning field after them, as
/// mhd. Its velocity may have more components than the mesh has dimensions.
template <class P>
concept has_magnetic_field = requires {
  requires P::psi == P::first_magnetic + 3;
  requires P::velocity_components >= P::dimensions;
};

/// Whether the profiles of a physics in its cells are parabolas (with_ppm). Otherwise they are
/// linear.
template <class P>
concept has_parabolas = requires {
  requires P::has_parabolas;
};
/// The number of ghost cells beyond each face of a block that a stage of a step reads.
template <class P>
inline constexpr int ghost_layers = has_parabolas<P> ? 3 : 2;

/// Whether a physics is called back after each step.
template <class P>
concept has_after_step = requires(const P& physics, typename P::values& u, point_of<P> where) {
  physics.after_step(u, where, where, double{});
};
/// Whether it only reads the values then.
template <class P>
concept only_observes = has_after_step<P> &&
    requires(const P& physics, const typename P::values& u, point_of<P> where) {
  physics.after_step(u, where, where, double{});
};

/// Whether a physics has a flux of first order for cells that would become invalid.
template <class P>
concept has_fallback_flux = requires(const P& physics, const typename P::values& u,
                                     point_of<P> where) {
  {
    physics.fallback_flux(u, u, 0, where, typename P::real{})
    } -> std::convertible_to<typename P::values>;
};

/// Whether a physics raises conserved values that are below its floors during a run.
template <class P>
concept has_raising_floors = has_floors<P> &&
    requires(const P& physics, const typename P::values& u) {
  { physics.at_floors(u) } -> std::convertible_to<typename P::values>;
};

/// Whether a physics computes the ghost cells of sides that are boundary::prescribed.
template <class P>
concept has_ghost_state = requires(const P& physics, const typename P::values& u,
                                   point_of<P> where) {
  {
    physics.ghost_state(u, 0, 0, where, typename P::real{})
    } -> std::convertible_to<typename P::values>;
};

/// Whether a physics has solid cells.
template <class P>
concept has_solid = requires(const P& physics, point_of<P> where) {
  { physics.is_solid(where) } -> std::convertible_to<bool>;
};

/// Whether a physics has a source.
template <class P>
concept has_source = requires(const P& physics, const typename P::values& u, point_of<P> where) {
  {
    physics.source(u, where, where, typename P::real{})
    } -> std::convertible_to<typename P::values>;
};

/// Whether a physics has a source that it integrates implicitly.
template <class P>
concept has_implicit_source = requires(const P& physics, const typename P::values& u,
                                       point_of<P> where) {
  {
    physics.implicit_source(u, where, where, typename P::real{}, typename P::real{})
    } -> std::convertible_to<typename P::values>;
};

// ---- the required members ----

/// States which functions a physics has. The checks need its types; without them all are false.
template <class P, bool has_types = physics_types<P>::are_valid>
struct physics_functions {
  static constexpr bool are_valid = false;
};
template <class P>
struct physics_functions<P, true> {
  using real = typename P::real;
  using values = typename P::values;
  static constexpr bool to_primitive = requires(const P& p, const values& u) {
    { p.to_primitive(u) } -> std::convertible_to<values>;
  };
  static constexpr bool to_conserved = requires(const P& p, const values& u) {
    { p.to_conserved(u) } -> std::convertible_to<values>;
  };
  static constexpr bool is_valid = requires(const P& p, const values& u) {
    { p.is_valid(u) } -> std::convertible_to<bool>;
  };
  static constexpr bool is_positive = requires(const P& p, const values& u) {
    { p.is_positive(u) } -> std::convertible_to<bool>;
  };
  static constexpr bool max_wave_speed = requires(const P& p, const values& u, point_of<P> where) {
    { p.max_wave_speed(u, 0, where, real{}) } -> std::convertible_to<real>;
  };
  static constexpr bool flux = requires(const P& p, const values& u, point_of<P> where) {
    { p.flux(u, u, 0, where, real{}) } -> std::convertible_to<values>;
  };
  static constexpr bool reflected = requires(const P& p, const values& u) {
    { p.reflected(u, 0) } -> std::convertible_to<values>;
  };
  static constexpr bool field_name = requires {
    { P::field_name(0) } -> std::convertible_to<std::string>;
  };
  // A member that has the name of an optional one has its parameters, too.
  static constexpr bool ghost_state = has_ghost_state<P> || !requires { &P::ghost_state; };
  static constexpr bool is_solid = has_solid<P> || !requires { &P::is_solid; };
  static constexpr bool source = has_source<P> || !requires { &P::source; };
  static constexpr bool implicit_source = has_implicit_source<P> || !requires {
    &P::implicit_source;
  };
  static constexpr bool after_step = has_after_step<P> || !requires { &P::after_step; };
  static constexpr bool fallback_flux = has_fallback_flux<P> || !requires { &P::fallback_flux; };
  static constexpr bool set_step_speed = has_step_speed<P> || !requires { &P::set_step_speed; };
  static constexpr bool at_floors = has_raising_floors<P> || !requires { &P::at_floors; };
  static constexpr bool first_magnetic = has_magnetic_field<P> || !requires { P::first_magnetic; };
  static constexpr bool are_valid =
      to_primitive && to_conserved && is_valid && is_positive && max_wave_speed && flux &&
      reflected && field_name && ghost_state && is_solid && source && implicit_source &&
      after_step && fallback_flux && set_step_speed && at_floors && first_magnetic;
};

/// Reports each type or constant that a physics lacks by a sentence of the compiler.
template <class P>
struct checked_physics_types {
  using types = physics_types<P>;
  static_assert(types::has_real, "amr_run: Physics needs the type real, float or double");
  static_assert(types::has_dimensions,
                "amr_run: Physics needs static constexpr int dimensions, 2 or 3");
  static_assert(types::has_variables,
                "amr_run: Physics needs static constexpr int variables, at least 1");
  static_assert(types::has_values,
                "amr_run: Physics needs the type values, a state<real, variables>");
  static_assert(types::is_plain,
                "amr_run: Physics must be trivially copyable and have a default constructor, "
                "because kernels get copies of it");
};

/// Reports each function that a physics lacks by a sentence of the compiler.
template <class P, bool has_types = physics_types<P>::are_valid>
struct checked_physics_functions {
  using functions = physics_functions<P>;
  static_assert(functions::to_primitive,
                "amr_run: Physics needs values to_primitive(values) const");
  static_assert(functions::to_conserved,
                "amr_run: Physics needs values to_conserved(values) const");
  static_assert(functions::is_valid, "amr_run: Physics needs bool is_valid(values) const");
  static_assert(functions::is_positive, "amr_run: Physics needs bool is_positive(values) const");
  static_assert(functions::max_wave_speed,
                "amr_run: Physics needs real max_wave_speed(values, int axis, const "
                "real (&where)[dimensions], real time) const");
  static_assert(functions::flux,
                "amr_run: Physics needs values flux(values left, values right, int axis, "
                "const real (&where)[dimensions], real time) const");
  static_assert(functions::reflected,
                "amr_run: Physics needs values reflected(values, int axis) const");
  static_assert(functions::field_name,
                "amr_run: Physics needs static const char* field_name(int variable)");
  static_assert(functions::ghost_state,
                "amr_run: the optional member of Physics is values ghost_state(values inside, int "
                "axis, int side, const real (&where)[dimensions], real time) const");
  static_assert(functions::is_solid,
                "amr_run: the optional member of Physics is bool is_solid(const real "
                "(&where)[dimensions]) const");
  static_assert(functions::source,
                "amr_run: the optional member of Physics is values source(values, const real "
                "(&where)[dimensions], const real (&edges)[dimensions], real time) const");
  static_assert(functions::implicit_source,
                "amr_run: the optional member of Physics is values implicit_source(values, const "
                "real (&where)[dimensions], const real (&edges)[dimensions], real time, real dt) "
                "const");
  static_assert(functions::after_step,
                "amr_run: the optional member of Physics is void after_step(values&, const real "
                "(&where)[dimensions], const real (&edges)[dimensions], double time) const");
  static_assert(functions::fallback_flux,
                "amr_run: the optional member of Physics is values fallback_flux(values left, "
                "values right, int axis, const real (&where)[dimensions], real time) const");
  static_assert(functions::set_step_speed,
                "amr_run: the optional member of Physics is void set_step_speed(real)");
  static_assert(functions::at_floors,
                "amr_run: the optional member of Physics is values at_floors(values) const, beside "
                "bool is_above_floors(values) const and std::string describe_floors(values) const");
  static_assert(functions::first_magnetic,
                "amr_run: a Physics with first_magnetic needs static constexpr int psi, which is "
                "first_magnetic + 3, and int velocity_components, at least dimensions");
};
template <class P>
struct checked_physics_functions<P, false> {};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Whether a type has the members of a physics. amr_run reports each one that is missing.
template <class Physics>
concept mesh_physics = detail::amr::physics_functions<Physics>::are_valid;

}  // namespace ramify::inline RAMIFY_BUILD
