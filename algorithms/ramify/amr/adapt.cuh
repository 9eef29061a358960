// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The mesh follows the flow: kernels that mark, refine and coarsen blocks.
///
/// A look at the mesh marks blocks, lets the marks ripple until the refined mesh will be balanced,
/// and only then makes the children. While marks spread nothing but marks changes, and while
/// children are filled nobody sees them; so the outcome depends on no order of blocks, and neither
/// do the bits of the values. The marks are the least set that balance allows: every marked block
/// would have to be refined at last.

#include <ramify/amr/criteria.cuh>
#include <ramify/amr/view.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr int adapt_threads = 128;  ///< a block, of the kernels that look at cells

/// Puts a leaf on the list of those to refine, unless it is there or may not be. Any thread.
template <class View>
__device__ void mark(const View& view, int node) {
  if (view.tree.place[node].level >= view.tree.max_level) return;
  if (atomicExch(&view.lists.is_marked[node], 1u) != 0) return;
  view.lists.marked[atomicAdd(&view.clock->marked, 1u)] = node;
}

struct larger_one {
  template <class Real>
  __host__ __device__ Real operator()(Real a, Real b) const {
    return a > b ? a : b;
  }
};

/// The largest indicator of a block's cells, in thread 0.
template <class View>
__device__ typename View::real largest_indicator(const View& view, int node) {
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  using reduce = block_reduce<real, adapt_threads>;
  __shared__ typename reduce::TempStorage storage;

  const block_place<dim> place = view.tree.place[node];
  const auto around = view.around(view.now);
  real largest = 0;
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += adapt_threads) {
    int at[dim];
    cells::position(cell, at);
    cell_stencil<typename View::values, dim> stencil;
    stencil.here = view.physics.to_primitive(view.now.load(node, cell));
    for (int axis = 0; axis < dim; ++axis) {
      stencil.left[axis] = view.physics.to_primitive(around.beside(node, at, axis, 0));
      stencil.right[axis] = view.physics.to_primitive(around.beside(node, at, axis, 1));
    }
    real where[dim];
    view.centre(place, at, where);
    const real indicator = view.criterion(stencil, place, where);
    largest = indicator > largest ? indicator : largest;
  }
  return reduce(storage).Reduce(largest, larger_one{});
}

/// Examines leaves, a block each: all of them, or the children that were made last.
template <class View>
__global__ void examine_blocks(View view) {
  const traced here(view.trace, __func__);
  const amr_clock& clock = *view.clock;
  int node = 0;
  if (clock.creating == 0) {
    node = view.lists.leaves[blockIdx.x];
  } else {
    const int parent = view.lists.marked[clock.created + blockIdx.x / view.tree.siblings];
    node = view.tree.first_child[parent] + static_cast<int>(blockIdx.x % view.tree.siblings);
  }
  const auto indicator = largest_indicator(view, node);
  if (threadIdx.x != 0) return;
  if (indicator > view.regrid.refine_above) mark(view, node);
  unsigned& idle = view.lists.idle[node];
  idle = indicator < view.regrid.coarsen_below ? idle + 1 : 0;
}

/// Balance: a block that will have children needs neighbours of its own level. Those that are
/// coarser are marked too, and are the next to be looked at. A thread for each direction.
///
/// The mesh is balanced, so a neighbour is coarser by one level at most, and marks spread only
/// towards coarser levels.
template <class View>
__global__ void ripple_marks(View view) {
  const traced here(view.trace, __func__);
  constexpr int dim = View::dim;
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= view.clock->rippling * view.tree.directions) return;
  const int node = view.lists.marked[view.clock->rippled + item / view.tree.directions];
  int step[dim];
  const int axes = view.tree.direction(static_cast<int>(item % view.tree.directions), step);
  if (axes == 0 || axes > view.tree.reach) return;
  block_place<dim> there = view.tree.place[node];
  if (!view.tree.move(there, step)) return;
  const int neighbor = view.tree.find(there);
  if (view.tree.place[neighbor].level < there.level) mark(view, neighbor);
}

/// The family of the i-th marked block: one that is free, or a new one.
template <class View>
__device__ int first_child_for(const View& view, unsigned i) {
  const amr_clock& clock = *view.clock;
  return view.tree.first_of_family(i < clock.free_families
                                       ? view.lists.free_families[clock.free_families - 1 - i]
                                       : clock.families + (i - clock.free_families));
}

/// Gives children the values of their parents, with limited slopes.
struct fill_from_parent {
  template <class View>
  __device__ typename View::values operator()(const View& view, int parent, int child,
                                              const int (&at)[View::dim]) const {
    constexpr int n = View::cells_along;
    int there[View::dim];
    bool upper[View::dim];
    for (int axis = 0; axis < View::dim; ++axis) {
      there[axis] = (child >> axis & 1) * (n / 2) + at[axis] / 2;
      upper[axis] = at[axis] % 2 == 1;
    }
    return view.around(view.now).part_of_cell(view.now, parent, there, upper);
  }
};

/// Gives cells the averages of the initial state: 3 points of Gauss along each axis, exact for
/// polynomials up to the fifth degree. `Initial` gives the primitive values at a point.
template <class Initial>
struct fill_from_state {
  Initial initial;

  template <class View>
  __device__ typename View::values at(const View& view, const block_place<View::dim>& block,
                                      const int (&cell)[View::dim]) const {
    using real = typename View::real;
    constexpr int dim = View::dim;
    constexpr int corners = 1 << dim;
    real centre[dim];
    view.centre(block, cell, centre);
    // The points lie in the middle, and beyond it along some of the axes, to both sides of each.
    return sum_over_corners<corners>([&](int axes) {
      real share = 1;
      for (int axis = 0; axis < dim; ++axis) share *= (axes >> axis & 1 ? real(5) : real(8)) / 18;
      return share * sum_over_corners<corners>([&](int sides) {
               if ((sides & ~axes) != 0) return typename View::values{};
               real where[dim];
               for (int axis = 0; axis < dim; ++axis) {
                 const real away = times(real(0.3872983346207417), view.spacing(block.level, axis));
                 where[axis] = (axes >> axis & 1) == 0    ? centre[axis]
                               : (sides >> axis & 1) == 0 ? centre[axis] - away
                                                          : centre[axis] + away;
               }
               return view.physics.to_conserved(initial(where));
             });
    });
  }

  template <class View>
  __device__ typename View::values operator()(const View& view, int parent, int child,
                                              const int (&cell)[View::dim]) const {
    return at(view, view.tree.place_of_child(view.tree.place[parent], child), cell);
  }
};

/// Makes a child of the i-th of the blocks marked last. It is in the tree when publish_children has
/// run. Every thread of the block.
template <class View, class Fill>
__device__ void create_child(const View& view, const Fill& fill, unsigned i, int child) {
  using cells = typename View::cells;
  const int parent = view.lists.marked[view.clock->created + i];
  const int node = first_child_for(view, i) + child;
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += adapt_threads) {
    int at[View::dim];
    cells::position(cell, at);
    view.now.store(node, cell, fill(view, parent, child, at));
  }
  if (threadIdx.x != 0) return;
  view.tree.place[node] = view.tree.place_of_child(view.tree.place[parent], child);
  view.tree.parent[node] = parent;
  view.tree.first_child[node] = no_children;
  view.lists.is_marked[node] = 0;
  view.lists.idle[node] = 0;
}

/// Makes the children of `count` of the blocks marked last, from the `first`-th on. Each block of the
/// grid makes as many of them as the others, neighbours in turn.
template <class View, class Fill>
__global__ void create_children(View view, Fill fill, unsigned first, unsigned count,
                                bool on_slot) {
  const traced here(view.trace, __func__);
  if (on_slot) view.slots.release_at_start();
  if (view.clock->fault != amr_fault::none) return;
  const unsigned siblings = view.tree.siblings;
  const unsigned all = count * siblings;
  const unsigned each = (all + gridDim.x - 1) / gridDim.x;
  const unsigned begin = blockIdx.x * each;
  for (unsigned i = begin; i < begin + each && i < all; ++i) {
    create_child(view, fill, first + i / siblings, static_cast<int>(i % siblings));
  }
}

/// How many blocks a grid of create_children has for `count` marked ones.
template <class View>
[[nodiscard]] __host__ __device__ unsigned blocks_to_create(const View& view, unsigned count) {
  const unsigned coarsening = view.regrid.launches.coarsening;
  return (count * view.tree.siblings + coarsening - 1) / coarsening;
}

/// The same by child grids: one for each marked block, or one for all those that a block of this
/// grid has looked at, a thread each. Who finds no launch slot makes the children in place. Join:
/// nobody needs one here; what follows in the stream waits for the children of this grid too.
template <class View, class Fill>
__global__ void spawn_children(View view, Fill fill) {
  const traced here(view.trace, __func__);
  __shared__ bool launched[adapt_threads];  // for each marked block
  amr_clock& clock = *view.clock;
  if (clock.fault != amr_fault::none) return;
  const unsigned first = blockIdx.x * adapt_threads;
  const unsigned count = min(clock.creating - first, unsigned{adapt_threads});
  const bool alone = view.regrid.launches.grain == granularity::per_task;
  const unsigned me = threadIdx.x;
  // 1. One thread a grid: is there a slot, and was it launched?
  bool mine = false;
  if (me < (alone ? count : 1) && view.slots.acquire(*view.status)) {
    const unsigned together = alone ? 1 : count;
    const auto status =
        launch(create_children<View, Fill>, {blocks_to_create(view, together), adapt_threads},
               fire_and_forget(), view, fill, first + me, together, true);
    mine = bool(status);
    if (mine) {
      view.status->count_children(1, 2);
    } else {
      view.slots.release();
      view.status->record_failure(status.code(), __func__, 1);
    }
  }
  if (alone || me == 0) launched[me] = mine;
  __syncthreads();
  // 2. The others are refined here.
  for (unsigned i = 0; i < count; ++i) {
    if (launched[alone ? i : 0]) continue;
    for (int child = 0; child < view.tree.siblings; ++child) {
      create_child(view, fill, first + i, child);
    }
  }
}

/// Puts new children into the tree. A thread for each marked block.
template <class View>
__global__ void publish_children(View view) {
  const traced here(view.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= view.clock->creating || view.clock->fault != amr_fault::none) return;
  const int parent = view.lists.marked[view.clock->created + i];
  view.tree.first_child[parent] = first_child_for(view, i);
  view.lists.is_marked[parent] = 0;
}

/// Whether balance lets a node's children go: none of them has a neighbour with children that is
/// not their sibling.
template <class View>
__device__ bool may_lose_children(const View& view, int node) {
  constexpr int dim = View::dim;
  for (int child = 0; child < view.tree.siblings; ++child) {
    for (int number = 0; number < view.tree.directions; ++number) {
      int step[dim];
      const int axes = view.tree.direction(number, step);
      if (axes == 0 || axes > view.tree.reach) continue;
      block_place<dim> there = view.tree.place[view.tree.first_child[node] + child];
      const int level = there.level;
      if (!view.tree.move(there, step)) continue;
      const int neighbor = view.tree.find(there);
      if (view.tree.place[neighbor].level == level && !view.tree.is_leaf(neighbor)) return false;
    }
  }
  return true;
}

/// Finds the families that may go: leaves that have been idle for long enough, all of them. A
/// thread for each node that the mesh had before this look at it.
template <class View>
__global__ void judge_families(View view, unsigned nodes) {
  const traced here(view.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  const int node = view.lists.nodes[i];
  if (view.tree.is_leaf(node)) return;
  const int first = view.tree.first_child[node];
  for (int child = 0; child < view.tree.siblings; ++child) {
    if (!view.tree.is_leaf(first + child)) return;
    if (view.lists.idle[first + child] < view.regrid.patience) return;
  }
  if (!may_lose_children(view, node)) return;
  view.lists.leaving[atomicAdd(&view.clock->leaving, 1u)] = node;
}

/// The average of the cells below a cell of an inner node.
template <class View>
__device__ typename View::values average_below(
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

/// Makes families one block again, a block each.
template <class View>
__global__ void remove_children(View view) {
  const traced here(view.trace, __func__);
  using cells = typename View::cells;
  const int node = view.lists.leaving[blockIdx.x];
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += adapt_threads) {
    int at[View::dim];
    cells::position(cell, at);
    view.now.store(node, cell, average_below(view, view.now, node, at));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int first = view.tree.first_child[node];
  for (int child = 0; child < view.tree.siblings; ++child) {
    view.tree.place[first + child].level = -1;
  }
  view.tree.first_child[node] = no_children;
  view.lists.idle[node] = 0;
  view.lists.free_families[view.clock->free_families + blockIdx.x] = view.tree.family_of(first);
}

/// Finds the neighbours of all nodes: a thread for each node and face.
template <class View>
__global__ void link_neighbors(View view, unsigned nodes) {
  const traced here(view.trace, __func__);
  constexpr int dim = View::dim;
  const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= nodes * view.tree.faces || view.clock->fault != amr_fault::none) return;
  const int node = static_cast<int>(item / view.tree.faces);
  const int face = static_cast<int>(item % view.tree.faces);
  block_place<dim> there = view.tree.place[node];
  if (there.level < 0) return;
  int step[dim] = {};
  step[face / 2] = face % 2 == 0 ? -1 : 1;
  int found = no_neighbor;
  if (view.tree.move(there, step)) {
    found = view.tree.find(there);
    if (view.tree.place[found].level < there.level) found = coarser_neighbor;
  }
  view.tree.neighbor[item] = found;
}

}  // namespace ramify::inline RAMIFY_BUILD
