// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the facade computes from the values of a mesh on the host, for one process and for several.

#include <ramify/amr.hpp>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// Converts the conserved values of a snapshot to the requested fields. It may have values of some
/// leaves only, or none.
void convert_to(amr_fields kind, const amr_setup& setup, mesh_snapshot& mesh);

/// Implements amr_simulation::change_since_start() for a snapshot with conserved values.
[[nodiscard]] std::vector<double> change_since_start(const mesh_snapshot& mesh,
                                                     const amr_setup& setup);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
