// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gives inner nodes the averages of their children.

#include <ramify/amr/run_view.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The average of the fine cells in a cell of an inner node.
template <class View>
__device__ typename View::values average_of_children(
    const View& view, const block_values<typename View::physics_type, View::cells_along>& from,
    int node, const int (&at)[View::dim]) {
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  int below[dim];
  for (int axis = 0; axis < dim; ++axis) below[axis] = at[axis] % (n / 2) * 2;
  const int source = view.tree.first_child[node] + View::cells::child_over(at);
  const auto sum = sum_over_corners<1 << dim>([&](int part) {
    int cell[dim];
    for (int axis = 0; axis < dim; ++axis) cell[axis] = below[axis] + (part >> axis & 1);
    return from.load(source, View::cells::number(cell));
  });
  return sum * (typename View::real(1) / view.tree.siblings);
}

/// Averages down to the inner nodes of a list, one block each. The nodes must be of one level.
template <class View>
__global__ void average_down(View view,
                             block_values<typename View::physics_type, View::cells_along> u,
                             const int* nodes) {
  const traced here(view.trace, __func__);
  const int node = nodes[blockIdx.x];
  if (view.tree.is_leaf(node)) return;
  for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
       cell += static_cast<int>(blockDim.x)) {
    int at[View::dim];
    View::cells::position(cell, at);
    u.store(node, cell, average_of_children(view, u, node, at));
  }
}

/// Averages down to the interface nodes of all levels, one block each. Leaves of a node's level
/// read only its cells that are above leaves, so the others are left out. The grid reads leaves and
/// writes inner nodes; therefore the nodes need no order.
template <class View>
__global__ void average_down_to_interface(
    View view, block_values<typename View::physics_type, View::cells_along> u) {
  const traced here(view.trace, __func__);
  const int node = view.lists.interface_nodes[blockIdx.x];
  if (view.state->time.dt == 0) return;
  for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
       cell += static_cast<int>(blockDim.x)) {
    int at[View::dim];
    View::cells::position(cell, at);
    const int child = view.tree.first_child[node] + View::cells::child_over(at);
    if (!view.tree.is_leaf(child)) continue;
    u.store(node, cell, average_of_children(view, u, node, at));
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
