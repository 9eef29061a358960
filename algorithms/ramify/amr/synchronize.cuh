// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Synchronizes levels: inner nodes get the averages of their children, and coarse leaves get the
/// fluxes of finer blocks.

#include <ramify/amr/keep_valid.cuh>
#include <ramify/amr/rk_stage.cuh>
#include <ramify/amr/run_view.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the average of the fine cells in a cell of an inner node.
template <class View>
__device__ typename View::values average_of_children(const View& view,
                                                     const typename View::values_type& from,
                                                     int node, const int (&at)[View::dim]) {
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  int below[dim];
  for (int axis = 0; axis < dim; ++axis) below[axis] = at[axis] % (n / 2) * 2;
  const int source = view.tree.first_child[node] + View::cells::child_over(at);
  const auto sum = sum_over_corners<1 << dim>([&](int part) {
    int cell[dim];
    for (int axis = 0; axis < dim; ++axis) cell[axis] = below[axis] + (part >> axis & 1);
    return from.load(source, View::cells::cell_number(cell));
  });
  return sum * (typename View::real(1) / view.tree.siblings);
}

/// Returns the threads of a block that has `work` items: one for each item up to `most`, in whole
/// warps. On the CPU executor a core runs all threads of a block.
[[nodiscard]] constexpr unsigned threads_for(int work, int most) {
  if (!RAMIFY_ON_CUDA) return 128;
  return static_cast<unsigned>(work < most ? (work + 31) / 32 * 32 : most);
}
/// Threads of a block of average_down(): the latency of reads decides its speed.
template <class View>
inline constexpr unsigned average_threads = threads_for(View::cells::count, 512);
/// Threads of a block of reflux().
template <class View>
inline constexpr unsigned reflux_threads =
    threads_for(View::physics_type::variables* View::cells::per_face, 512);

/// Averages down to the inner nodes of a list, one block each. The nodes must be of one level.
template <class View>
__global__ void average_down(View view, typename View::values_type u, const int* nodes) {
  const traced here(view.trace, __func__);
  const int node = nodes[blockIdx.x];
  grid_dependency_synchronize();
  if (view.tree.is_leaf(node)) return;
  View::cells::for_each(static_cast<int>(blockDim.x), [&](int cell, const int(&at)[View::dim]) {
    u.store(node, cell, average_of_children(view, u, node, at));
  });
}

/// Averages a leaf down to its part of its parent. The threads of a block share the cells.
template <class View>
__device__ void average_leaf(const View& view, int leaf) {
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  const int parent = view.tree.parent[leaf];
  const block_place<dim> place = view.tree.place[leaf];
  for (int i = static_cast<int>(threadIdx.x); i < cells::count / view.tree.siblings;
       i += static_cast<int>(blockDim.x)) {
    int at[dim];
    cells::coordinates_in_child(i, at);
    for (int axis = 0; axis < dim; ++axis) {
      at[axis] += static_cast<int>(place.index[axis] & 1) * (View::cells_along / 2);
    }
    view.u_new.store(parent, cells::cell_number(at),
                     average_of_children(view, view.u_new, parent, at));
  }
}

/// Averages the leaves of a list that have coarser neighbors down to their parents, which the
/// neighbors read. One block per leaf.
template <class View>
__global__ void average_leaves(View view, const int* leaves) {
  const traced here(view.trace, __func__);
  const int leaf = leaves[blockIdx.x];
  const unsigned coarser = view.tree.at_interface[leaf].to_coarse;
  grid_dependency_synchronize();
  if (coarser != 0) average_leaf(view, leaf);
}

/// Returns the fine flux through the part of a coarse-fine face that belongs to one coarse cell:
/// the sum over the fine cells there, from the flux register of the neighbor's child.
template <class View>
__device__ typename View::real fine_flux(const View& view, int neighbor, const int (&at)[View::dim],
                                         int axis, int side, int variable) {
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  constexpr int half = View::cells_along / 2;
  int child = side == 0 ? 1 << axis : 0;
  int first[dim];
  for (int a = 0; a < dim; ++a) {
    if (a != axis && at[a] >= half) child |= 1 << a;
    first[a] = a == axis ? 0 : at[a] % half * 2;
  }
  const typename View::real* fine = view.flux_register_of(view.tree.first_child[neighbor] + child,
                                                          opposite(face_of(axis, side)), variable);
  return sum_over_corners<1 << (dim - 1)>([&](int part) {
    int there[dim];
    for (int a = 0, bit = 0; a < dim; ++a) {
      there[a] = a == axis ? 0 : first[a] + (part >> bit++ & 1);
    }
    return fine[cells::line_of(axis, cells::cell_number(there))];
  });
}

/// Returns the faces of a block, one bit each, at which the cell `at` is one of the last cells.
template <int n, int dim>
[[nodiscard]] __device__ unsigned faces_of_cell(const int (&at)[dim]) {
  unsigned found = 0;
  for (int axis = 0; axis < dim; ++axis) {
    if (at[axis] == 0) found |= 1u << face_of(axis, 0);
    if (at[axis] == n - 1) found |= 1u << face_of(axis, 1);
  }
  return found;
}

/// Returns the flux correction of a variable of one cell: the sum over the faces in `corrected`.
template <class View>
__device__ typename View::real flux_correction(const View& view, int node, int cell,
                                               const int (&at)[View::dim], unsigned corrected,
                                               int variable) {
  using real = typename View::real;
  constexpr int dim = View::dim;
  constexpr int parts = 1 << (dim - 1);  // fine cells at a coarse cell's face
  const int level = view.tree.place[node].level;
  real change = 0;
  if (is_solid_cell(view, node, cell)) return change;
  for (int axis = 0; axis < dim; ++axis) {
    const int side = at[axis] == 0 ? 0 : 1;
    const int face = face_of(axis, side);
    if ((corrected >> face & 1) == 0) continue;
    const int neighbor = view.tree.neighbor[node * view.tree.faces + face];
    const real sum = fine_flux(view, neighbor, at, axis, side, variable);
    const real own = view.flux_register_of(node, face, variable)[View::cells::line_of(axis, cell)];
    const real difference = own - times(sum, real(1) / parts);
    change += (side == 0 ? -difference : difference) / view.spacing(level, axis);
  }
  return change;
}

/// Raises the cells of a leaf at a face to the floors of the physics, except those that an earlier
/// face in `finer` has, too.
template <class View>
__device__ void raise_corrected_cells(const View& view, int leaf, int face, unsigned finer) {
  using cells = typename View::cells;
  kept_cells<typename View::physics_type> kept;
  for (int line = static_cast<int>(threadIdx.x); line < cells::per_face;
       line += static_cast<int>(blockDim.x)) {
    const int cell = cells::on_line(face / 2, line, face % 2 == 0 ? 0 : View::cells_along - 1);
    int at[View::dim];
    cells::coordinates(cell, at);
    if ((finer & faces_of_cell<View::cells_along>(at) & ((1u << face) - 1)) != 0) continue;
    auto u = view.u_new.load(leaf, cell);
    if (kept.raise(view.physics, u)) view.u_new.store(leaf, cell, u);
  }
  kept.add_to(view, leaf);
}

/// Flux correction (Berger & Colella, J. Comput. Phys. 82 (1989) 64): replaces the flux that a
/// coarse leaf computed at a coarse-fine face by the fluxes of the fine blocks. One block for each
/// entry of a list of faces. A cell at several such faces gathers its corrections at the first of
/// them, so that their sum has one order.
///
/// A physics with at_floors() then raises the corrected cells to its floors.
template <class View>
__global__ void reflux(View view, const int* faces) {
  const traced here(view.trace, __func__);
  using cells = typename View::cells;
  const int entry = faces[blockIdx.x];
  const int leaf = entry / view.tree.faces;
  const int face = entry % view.tree.faces;
  const unsigned finer = view.tree.at_interface[leaf].to_fine;
  grid_dependency_synchronize();
  if (view.state->clock.dt == 0) return;
  for (int item = static_cast<int>(threadIdx.x);
       item < View::physics_type::variables * cells::per_face;
       item += static_cast<int>(blockDim.x)) {
    const int v = item / cells::per_face;
    const int cell =
        cells::on_line(face / 2, item % cells::per_face, face % 2 == 0 ? 0 : View::cells_along - 1);
    int at[View::dim];
    cells::coordinates(cell, at);
    const unsigned corrected = finer & faces_of_cell<View::cells_along>(at);
    if ((corrected & ((1u << face) - 1)) != 0) continue;  // an earlier face has the cell, too
    view.u_new.data[view.u_new.offset(leaf, v, cell)] +=
        flux_correction(view, leaf, cell, at, corrected, v);
  }
  if constexpr (has_raising_floors<typename View::physics_type>) {
    __syncthreads();
    raise_corrected_cells(view, leaf, face, finer);
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
