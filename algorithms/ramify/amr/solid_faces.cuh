// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Fluxes through the faces of solid cells, for a physics with is_solid() (physics/solid.cuh).

#include <ramify/amr/keep_valid.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Step 3. Replaces the flux through a face by 0 if both its cells are solid, and by that of a wall
/// if one of them is. The wall has the mirror image of the other cell beyond it.
template <class View>
__device__ void block_by_solid(const View& view, const cell_face<View>& face,
                               typename View::real time, typename View::values& flux) {
  using real = typename View::real;
  using values = typename View::values;
  const real half = real(0.5) * view.spacing(face.level, face.axis);
  bool is_solid[2];
  for (int side = 0; side < 2; ++side) {
    real center[View::dim];
    for (int a = 0; a < View::dim; ++a) center[a] = face.where[a];
    center[face.axis] += side == 0 ? -half : half;
    is_solid[side] = view.physics.is_solid(center);
  }
  if (!is_solid[0] && !is_solid[1]) return;
  if (is_solid[0] && is_solid[1]) {
    flux = values{};
    return;
  }
  const values& gas = is_solid[0] ? face.upper : face.lower;
  const values image =
      view.physics.to_primitive(view.physics.reflected(view.physics.to_conserved(gas), face.axis));
  flux = view.physics.flux(is_solid[0] ? image : gas, is_solid[0] ? gas : image, face.axis,
                           face.where, time);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
