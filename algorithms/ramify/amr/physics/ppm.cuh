// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// with_ppm: parabolic profiles in the cells (PPM) in place of linear ones. <ramify/amr.cuh>
/// includes this header.
///
///     using gas = with_ppm<euler<double, 2>>;
///     amr_run run(gas{}, gradient_criterion<gas>{}, initial, options);
///
/// The values at faces have errors of at least third order instead of second (parabola.cuh), also
/// at smooth extrema, and contacts stay sharper. amr_options::step.limiter then only limits what
/// new children and ghost cells get from coarser cells. The order in time is two: for an error of
/// third order the length of a step must fall faster than that of a cell. The flux at the center of
/// a face stands for its mean, and primitive values are those of averages. So a gas in several
/// dimensions has errors of second order, which are smaller than with linear profiles.
///
/// Blocks      At least 6 cells along an edge; the default is 16 or 8.
/// Cost        Three ghost cells instead of two beyond each face, in shared memory and in messages
///             between ranks.

#include <ramify/amr/physics_members.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A physics with parabolic profiles.
template <class Physics>
struct with_ppm : Physics {
  static constexpr bool has_parabolas = true;  ///< read by the run
};

}  // namespace ramify::inline RAMIFY_BUILD
