// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Where levels meet: flux correction and averages; and the length of the next step.

#include <cstring>
#include <ramify/amr/adapt.cuh>
#include <ramify/amr/view.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr int synchronize_threads = 128;

/// Flux correction (Berger & Colella, J. Comput. Phys. 82 (1989) 64): where finer blocks are behind
/// a face, what flowed through it is what they say, not what the coarse leaf took it for. A block
/// for each of the nodes. Each cell gathers, so the sums have one order.
template <class View>
__global__ void correct_fluxes(View view, const int* nodes) {
  const traced here(view.trace, __func__);
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  constexpr int variables = View::physics_type::variables;
  constexpr int half = n / 2;
  constexpr int parts = 1 << (dim - 1);  // of a coarse cell's face
  const auto& tree = view.tree;

  if (view.clock->time_step == 0) return;
  const int node = nodes[blockIdx.x];
  if (!tree.is_leaf(node)) return;
  unsigned finer = 0;  // a bit for each face with finer blocks behind it
  for (int face = 0; face < tree.faces; ++face) {
    const int neighbor = tree.neighbor[node * tree.faces + face];
    if (neighbor >= 0 && !tree.is_leaf(neighbor)) finer |= 1u << face;
  }
  if (finer == 0) return;
  for (int item = static_cast<int>(threadIdx.x); item < variables * cells::count;
       item += static_cast<int>(blockDim.x)) {
    const int v = item / cells::count;
    const int cell = item % cells::count;
    int at[dim];
    cells::position(cell, at);
    real change = 0;  // first of all faces: a cell in a corner has several
    for (int axis = 0; axis < dim; ++axis) {
      if (at[axis] != 0 && at[axis] != n - 1) continue;
      const int side = at[axis] == 0 ? 0 : 1;
      const int face = face_of(axis, side);
      if ((finer >> face & 1) == 0) continue;
      // 1. The child of the neighbour that is behind this cell's face, and the four (two) of its
      //    cells there.
      int child = side == 0 ? 1 << axis : 0;
      int first[dim];
      for (int a = 0; a < dim; ++a) {
        if (a != axis && at[a] >= half) child |= 1 << a;
        first[a] = a == axis ? 0 : at[a] % half * 2;
      }
      const int neighbor = tree.neighbor[node * tree.faces + face];
      const real* fine = view.flow(tree.first_child[neighbor] + child, opposite(face), v);
      const real sum = sum_over_corners<parts>([&](int part) {
        int there[dim];
        for (int a = 0, bit = 0; a < dim; ++a) {
          there[a] = a == axis ? 0 : first[a] + (part >> bit++ & 1);
        }
        return fine[cells::line_of(axis, cells::number(there))];
      });
      // 2. The difference goes to the cell.
      const real difference =
          view.flow(node, face, v)[cells::line_of(axis, cell)] - times(sum, real(1) / parts);
      change += (side == 0 ? -difference : difference) / view.spacing(tree.place[node].level, axis);
    }
    view.now.data[view.now.offset(node, v, cell)] += change;
  }
}

/// Gives inner nodes the averages of what is below them, a block each.
template <class View>
__global__ void average_nodes(View view,
                              block_values<typename View::physics_type, View::cells_along> in,
                              const int* nodes) {
  const traced here(view.trace, __func__);
  const int node = nodes[blockIdx.x];
  if (view.tree.is_leaf(node)) return;
  for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
       cell += static_cast<int>(blockDim.x)) {
    int at[View::dim];
    View::cells::position(cell, at);
    in.store(node, cell, average_below(view, in, node, at));
  }
}

/// The same for nodes that leaves of their level look at, of which these see only what is below in
/// leaves. Without an order among the nodes: it reads leaves and writes inner nodes.
template <class View>
__global__ void average_covered(View view,
                                block_values<typename View::physics_type, View::cells_along> in) {
  const traced here(view.trace, __func__);
  const int node = view.lists.covered[blockIdx.x];
  if (view.clock->time_step == 0) return;
  for (int cell = static_cast<int>(threadIdx.x); cell < View::cells::count;
       cell += static_cast<int>(blockDim.x)) {
    int at[View::dim];
    View::cells::position(cell, at);
    const int child = view.tree.first_child[node] + View::cells::child_over(at);
    if (!view.tree.is_leaf(child)) continue;
    in.store(node, cell, average_below(view, in, node, at));
  }
}

/// Looks at all cells of all leaves: whether they are sound, and how fast waves cross them. A block
/// for each leaf.
template <class View>
__global__ void measure_cells(View view) {
  const traced here(view.trace, __func__);
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  using reduce = block_reduce<double, synchronize_threads>;
  __shared__ typename reduce::TempStorage storage;
  amr_clock& clock = *view.clock;
  const int node = view.lists.leaves[blockIdx.x];
  const auto place = view.tree.place[node];
  double fastest = 0;
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += synchronize_threads) {
    const auto u = view.now.load(node, cell);
    if (!view.physics.sound(u)) {
      atomicMin(&clock.unsound, 1ull * blockIdx.x * cells::count + static_cast<unsigned>(cell));
      continue;
    }
    const auto primitive = view.physics.to_primitive(u);
    int at[dim];
    cells::position(cell, at);
    real where[dim];
    view.centre(place, at, where);
    double rate = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real speed =
          view.physics.fastest(primitive, axis, where, static_cast<real>(clock.time));
      rate += static_cast<double>(times(speed, reciprocal(view.spacing(place.level, axis))));
    }
    fastest = rate > fastest ? rate : fastest;
  }
  fastest = reduce(storage).Reduce(fastest, larger_one{});
  if (threadIdx.x == 0) {
    unsigned long long bits;
    static_assert(sizeof bits == sizeof fastest);
    std::memcpy(&bits, &fastest, sizeof bits);
    atomicMax(&clock.rate[place.level], bits);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
