// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a run on several ranks that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/amr/config.hpp>
#include <ramify/cluster/settings.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::detail::amr::inline RAMIFY_ABI {

/// Adds all fields, of the triples only the entries that are read.
inline void add_fields(shared_settings& settings, const amr_options::mesh_fields& mesh,
                       int dimensions) {
  const std::string owner = "amr_options.mesh.";
  const auto& [roots, lower, upper, sides, balance, max_level, max_blocks] = mesh;
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    const std::string which = "[" + std::to_string(axis) + "]";
    settings.add(owner + "roots" + which, roots[axis]);
    settings.add(owner + "lower" + which, lower[axis]);
    settings.add(owner + "upper" + which, upper[axis]);
    settings.add(owner + "sides" + which + "[0]", sides[axis][0]);
    settings.add(owner + "sides" + which + "[1]", sides[axis][1]);
  }
  settings.add(owner + "balance", balance);
  settings.add(owner + "max_level", max_level);
  settings.add(owner + "max_blocks", max_blocks);
}

/// Adds all fields.
inline void add_fields(shared_settings& settings, const amr_options::regrid_fields& regrid) {
  const std::string owner = "amr_options.regrid.";
  const auto& [refine_above, coarsen_below, patience, every, launches] = regrid;
  settings.add(owner + "refine_above", refine_above);
  settings.add(owner + "coarsen_below", coarsen_below);
  settings.add(owner + "patience", patience);
  settings.add(owner + "every", every);
  settings.add(owner + "launches", launches);
}

/// Adds all fields.
inline void add_fields(shared_settings& settings, const amr_options::step_fields& step) {
  const std::string owner = "amr_options.step.";
  const auto& [cfl, limiter, subcycle, reflux] = step;
  settings.add(owner + "cfl", cfl);
  settings.add(owner + "limiter", limiter);
  settings.add(owner + "subcycle", subcycle);
  settings.add(owner + "reflux", reflux);
}

/// Adds all fields.
inline void add_fields(shared_settings& settings, const amr_options& options, int dimensions) {
  const auto& [mesh, regrid, step] = options;
  add_fields(settings, mesh, dimensions);
  add_fields(settings, regrid);
  add_fields(settings, step);
}

/// Returns the settings of a run of cells with `variables` values of `value` bytes, in blocks of
/// `cells_along` cells along each axis. `continues`: the run continues from a state.
[[nodiscard]] inline shared_settings settings_of(const amr_options& options, const environment& env,
                                                 int dimensions, int variables, std::size_t value,
                                                 int cells_along, bool continues) {
  shared_settings settings("distributed_amr_run");
  settings.add("distributed_amr_run: dimensions", dimensions);
  settings.add("distributed_amr_run: variables", variables);
  settings.add("distributed_amr_run: the size of a value", value);
  settings.add("distributed_amr_run: the cells along a block", cells_along);
  settings.add("distributed_amr_run: whether it continues from a state", continues);
  add_fields(settings, options, dimensions);
  settings.add(env);
  return settings;
}

}  // namespace ramify::detail::amr::inline RAMIFY_ABI
