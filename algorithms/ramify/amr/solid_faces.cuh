// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Fluxes through the faces of solid cells, for a physics with is_solid() (physics/solid.cuh).

#include <ramify/amr/keep_valid.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns whether a cell of a block is solid. It may be beyond a face of the block. Its center has
/// the same bits as in the block that has the cell, also beyond a periodic side.
template <class View>
[[nodiscard]] __device__ bool is_solid_near(const View& view, block_place<View::dim> block,
                                            int (&at)[View::dim], int axis) {
  constexpr int n = View::cells_along;
  if (at[axis] < 0 || at[axis] >= n) {
    int step[View::dim]{};
    step[axis] = at[axis] < 0 ? -1 : 1;
    if (view.tree.move(block, step)) at[axis] -= step[axis] * n;
  }
  typename View::real center[View::dim];
  view.center(block, at, center);
  return view.physics.is_solid(center);
}

/// Step 3. Replaces the flux through a face by 0 if both its cells are solid, and by that of a wall
/// if one of them is. The wall has the mirror image of the other cell beyond it. `at` is the first
/// cell of the line of the face, in a block at `place`.
template <class View>
__device__ void block_by_solid(const View& view, const block_place<View::dim>& place,
                               const int (&at)[View::dim], const cell_face<View>& face,
                               const stage_clock<typename View::real>& now,
                               typename View::values& flux) {
  using values = typename View::values;
  bool is_solid[2];
  for (int side = 0; side < 2; ++side) {
    int cell[View::dim];
    for (int a = 0; a < View::dim; ++a) cell[a] = at[a];
    cell[face.axis] = face.number - 1 + side;
    is_solid[side] = is_solid_near(view, place, cell, face.axis);
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
                           face.where, now.time);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
