// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The requirements on the criterion and the initial state of a run, with their sentences for the
/// compiler. physics_members.cuh has those on the physics.

#include <ramify/amr/mesh.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/regrid.cuh>
#include <ramify/runtime/detail/functor_types.hpp>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// States whether a criterion meets its requirement.
template <class Physics, class Criterion>
struct criterion_types {
  static constexpr int dim = Physics::dimensions;
  using values = typename Physics::values;
  using stencil = cell_stencil<typename sampling<Criterion, values>::type, dim>;
  static constexpr bool are_valid = is_callable<typename Physics::real, Criterion, const stencil&,
                                                const block_place<dim>&, point_of<Physics>>;
};
/// Whether a run can simulate `Physics` on a mesh that `Criterion` refines.
template <class Physics, class Criterion>
concept simulable = mesh_physics<Physics> && criterion_types<Physics, Criterion>::are_valid;

/// Reports a criterion that does not meet its requirement by a sentence of the compiler.
template <class Physics, class Criterion>
struct checked_criterion {
  static_assert(!mesh_physics<Physics> || simulable<Physics, Criterion>,
                "amr_run: the criterion needs real operator()(const cell_stencil<values, "
                "dim>&, const block_place<dim>&, const real (&where)[dim]) const");
};

/// A run with types that are not simulable. It reports each member that they lack.
template <class Physics, class Criterion>
struct refused_run : checked_physics_types<Physics>,
                     checked_physics_functions<Physics>,
                     checked_criterion<Physics, Criterion> {
  template <class... Arguments>
  explicit refused_run(const Arguments&...) {}
};

/// Whether `Initial` returns the values of a cell at a position.
template <class Physics, class Initial>
inline constexpr bool is_initial_state =
    is_callable<typename Physics::values, Initial, point_of<Physics>>;

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
