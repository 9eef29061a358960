// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Synchronizes levels: inner nodes get the averages of their children, and coarse leaves get the
/// fluxes of finer blocks.

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

/// Averages down to the inner nodes of a list, one block each. The nodes must be of one level.
template <class View>
__global__ void average_down(View view, typename View::values_type u, const int* nodes) {
  const traced here(view.trace, __func__);
  const int node = nodes[blockIdx.x];
  if (view.tree.is_leaf(node)) return;
  View::cells::for_each(static_cast<int>(blockDim.x), [&](int cell, const int(&at)[View::dim]) {
    u.store(node, cell, average_of_children(view, u, node, at));
  });
}

/// Averages down to the interface nodes of all levels, one block each. Leaves of a node's level
/// read only those of its cells whose children are leaves, so the other cells are left out. The
/// grid reads leaves and writes inner nodes; therefore the nodes need no order.
template <class View>
__global__ void average_down_to_interface(View view, typename View::values_type u) {
  const traced here(view.trace, __func__);
  const int node = view.lists.interface_nodes[blockIdx.x];
  if (view.state->clock.dt == 0) return;
  View::cells::for_each(static_cast<int>(blockDim.x), [&](int cell, const int(&at)[View::dim]) {
    const int child = view.tree.first_child[node] + View::cells::child_over(at);
    if (view.tree.is_leaf(child)) u.store(node, cell, average_of_children(view, u, node, at));
  });
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

/// Flux correction (Berger & Colella, J. Comput. Phys. 82 (1989) 64): replaces the flux that a
/// coarse leaf computed at a coarse-fine face by the fluxes of the fine blocks. One block per node.
/// Each cell gathers its corrections, so that the sums have one order.
template <class View>
__global__ void reflux(View view, const int* nodes) {
  const traced here(view.trace, __func__);
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  constexpr int variables = View::physics_type::variables;
  constexpr int parts = 1 << (dim - 1);  // fine cells at a coarse cell's face
  const auto& tree = view.tree;

  if (view.state->clock.dt == 0) return;
  const int node = nodes[blockIdx.x];
  if (!tree.is_leaf(node)) return;
  const unsigned finer = tree.coarse_fine_faces_of(node).to_fine;
  if (finer == 0) return;
  for (int item = static_cast<int>(threadIdx.x); item < variables * cells::count;
       item += static_cast<int>(blockDim.x)) {
    const int v = item / cells::count;
    const int cell = item % cells::count;
    int at[dim];
    cells::coordinates(cell, at);
    real change = 0;  // the sum over all faces: a cell in a corner has several
    for (int axis = 0; axis < dim; ++axis) {
      if (at[axis] != 0 && at[axis] != n - 1) continue;
      const int side = at[axis] == 0 ? 0 : 1;
      const int face = face_of(axis, side);
      if ((finer >> face & 1) == 0) continue;
      const int neighbor = tree.neighbor[node * tree.faces + face];
      const real sum = fine_flux(view, neighbor, at, axis, side, v);
      const real difference = view.flux_register_of(node, face, v)[cells::line_of(axis, cell)] -
                              times(sum, real(1) / parts);
      change += (side == 0 ? -difference : difference) / view.spacing(tree.place[node].level, axis);
    }
    view.u_new.data[view.u_new.offset(node, v, cell)] += change;
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
