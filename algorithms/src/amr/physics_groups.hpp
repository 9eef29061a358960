// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The groups of physics, each of which is compiled in a unit of its own.

#include <cstddef>
#include <ramify/amr.hpp>
#include <ramify/version.hpp>

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Physics that a backend compiles in one unit: the PARTS in algorithms/CMakeLists.txt. nvcc would
/// take minutes for all of them in one unit.
enum class physics_group {
  unforced,      ///< advection and euler; in two dimensions also shallow_water and mhd
  forced_gas,    ///< euler with prescribed sides or gravity
  positive_gas,  ///< a gas that stays positive; in two dimensions also one with a solid body
};

/// Returns whether the problem is one of a concentration.
[[nodiscard]] inline bool is_scalar(amr_problem problem) {
  return problem == amr_problem::advect_gaussian || problem == amr_problem::vortex_in_box;
}
/// Returns whether the problem is one of a plasma.
[[nodiscard]] inline bool is_plasma(amr_problem problem) {
  return problem == amr_problem::brio_wu || problem == amr_problem::orszag_tang ||
         problem == amr_problem::rotor;
}
/// Returns whether the problem exists in two dimensions only.
[[nodiscard]] inline bool is_flat(amr_problem problem) {
  return problem == amr_problem::double_mach || problem == amr_problem::dam_break ||
         problem == amr_problem::forward_step || is_plasma(problem);
}
/// Returns whether the problem is one of a gas.
[[nodiscard]] inline bool is_gas(amr_problem problem) {
  return !is_scalar(problem) && !is_plasma(problem) && problem != amr_problem::dam_break;
}

/// Returns whether a gas has prescribed sides or gravity.
[[nodiscard]] inline bool is_forced(const amr_setup& setup) {
  for (std::size_t axis = 0; axis < std::size_t(setup.dimensions); ++axis) {
    if (setup.gravity[axis] != 0) return true;
    for (const boundary side : setup.options.mesh.sides[axis]) {
      if (side == boundary::prescribed) return true;
    }
  }
  return false;
}

/// Returns the group of the physics that solves the problem of a setup.
[[nodiscard]] inline physics_group group_of(const amr_setup& setup) {
  if (!is_gas(setup.problem)) return physics_group::unforced;
  if (setup.keep_positive) return physics_group::positive_gas;
  return is_forced(setup) ? physics_group::forced_gas : physics_group::unforced;
}

/// Calls `use` with the dimensions and the group_of() a setup, which must be valid, as template
/// arguments.
template <class Use>
auto with_group(const amr_setup& setup, Use use) {
  const auto with_dimensions = [&]<physics_group group>() {
    return setup.dimensions == 2 ? use.template operator()<2, group>()
                                 : use.template operator()<3, group>();
  };
  switch (group_of(setup)) {
    case physics_group::forced_gas:
      return with_dimensions.template operator()<physics_group::forced_gas>();
    case physics_group::positive_gas:
      return with_dimensions.template operator()<physics_group::positive_gas>();
    default: return with_dimensions.template operator()<physics_group::unforced>();
  }
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
