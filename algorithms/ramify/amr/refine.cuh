// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Refinement: creates the children of tagged blocks and fills them with values.

#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/regrid.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the first child of the i-th block that is refined: in a free family, or in a new one.
template <class View>
__device__ int first_child_for(const View& view, unsigned i) {
  const mesh_state& mesh = view.state->mesh;
  return view.tree.first_of_family(i < mesh.free_families
                                       ? view.lists.free_families[mesh.free_families - 1 - i]
                                       : mesh.families + (i - mesh.free_families));
}

/// Fills children by interpolation from their parents, with limited slopes.
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
    const auto time = static_cast<typename View::real>(view.state->clock.time);
    return view.ghosts(view.u_new, time).interpolate(view.u_new, parent, there, upper, time);
  }
};

/// Fills cells with the averages of the initial state (cell_average.cuh).
template <class Initial>
struct fill_from_initial_state {
  Initial initial;

  template <class View>
  __device__ typename View::values at(const View& view, const block_place<View::dim>& block,
                                      const int (&cell)[View::dim]) const {
    return average_of(initial, view.physics, initial_cell_of(view, block, cell));
  }

  template <class View>
  __device__ typename View::values operator()(const View& view, int parent, int child,
                                              const int (&cell)[View::dim]) const {
    return at(view, view.tree.place_of_child(view.tree.place[parent], child), cell);
  }
};

/// Initializes a node without children. One thread.
template <class View>
__device__ void init_node(const View& view, int node, const block_place<View::dim>& place,
                          int parent) {
  view.tree.place[node] = place;
  view.tree.parent[node] = parent;
  view.tree.first_child[node] = no_children;
  view.lists.is_tagged[node] = 0;
  view.lists.idle[node] = 0;
}

/// Creates the root blocks and fills them, one block each. `fill` is a fill_from_initial_state.
template <class View, class Fill>
__global__ void fill_roots(View view, Fill fill) {
  const traced here(view.trace, __func__);
  const int node = static_cast<int>(blockIdx.x);
  const block_place<View::dim> place = view.tree.place_of_root(blockIdx.x);
  if (view.owns(node)) {
    View::cells::for_each(regrid_threads, [&](int cell, const int(&at)[View::dim]) {
      view.u_new.store(node, cell, fill.at(view, place, at));
    });
  }
  if (threadIdx.x == 0) init_node(view, node, place, -1);
}

/// Reports a fault if there is no memory for the children. One thread.
template <class View>
__global__ void check_capacity(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  run_state& state = *view.state;
  const unsigned long long families = 1ull * state.mesh.families + new_families(state);
  const unsigned long long nodes = view.tree.root_count() + families * view.tree.siblings;
  if (nodes > view.tree.capacity) state.fault.code = fault::mesh_full;
}

/// Creates one child of the i-th block that is refined. attach_children() puts it into the tree.
/// All threads of the block must call it.
template <class View, class Fill>
__device__ void make_child(const View& view, const Fill& fill, unsigned i, int child) {
  const int parent = view.lists.tagged[view.state->regrid.refine_begin + i];
  const int node = first_child_for(view, i) + child;
  if (view.owns(parent)) {
    View::cells::for_each(regrid_threads, [&](int cell, const int(&at)[View::dim]) {
      view.u_new.store(node, cell, fill(view, parent, child, at));
    });
  }
  if (threadIdx.x != 0) return;
  init_node(view, node, view.tree.place_of_child(view.tree.place[parent], child), parent);
}

/// Creates the children of `count` of the blocks that are refined, from the `first`-th on. Each
/// block of the grid creates the same number of consecutive children; the last ones may create
/// fewer.
template <class View, class Fill>
__global__ void refine_blocks(View view, Fill fill, unsigned first, unsigned count) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  view.release_slot();
  if (view.state->fault.code != fault::none) return;
  const unsigned siblings = view.tree.siblings;
  const unsigned all = count * siblings;
  const unsigned each = (all + gridDim.x - 1) / gridDim.x;
  const unsigned begin = blockIdx.x * each;
  for (unsigned i = begin; i < begin + each && i < all; ++i) {
    make_child(view, fill, first + i / siblings, static_cast<int>(i % siblings));
  }
}

/// Returns the number of blocks of a grid of refine_blocks() for `count` tagged blocks.
template <class View>
[[nodiscard]] __host__ __device__ unsigned refine_grid_size(const View& view, unsigned count) {
  const unsigned coarsening = view.regrid.launches.coarsening;
  return (count * view.tree.siblings + coarsening - 1) / coarsening;
}

/// Creates the children by child grids. Each block of this grid processes regrid_threads tagged
/// blocks. It launches one child grid for each tagged block, or one for all of them. If there is no
/// launch slot, it creates the children itself. Join: none is needed; the next grid in the stream
/// waits for the child grids of this grid.
template <class View, class Fill>
__global__ void launch_refine_blocks(View view, Fill fill) {
  const traced here(view.trace, __func__);
  __shared__ bool launched[regrid_threads];  // for each tagged block
  const run_state& state = *view.state;
  if (state.fault.code != fault::none) return;
  const unsigned first = blockIdx.x * regrid_threads;
  const unsigned count = min(state.regrid.refine_count - first, unsigned{regrid_threads});
  const bool grid_per_task = view.regrid.launches.grain == granularity::per_task;
  const unsigned me = threadIdx.x;
  // 1. One thread per child grid launches it.
  bool mine = false;
  if (me < (grid_per_task ? count : 1)) {
    const unsigned tagged_of_grid = grid_per_task ? 1 : count;
    mine = runtime::launch_child(__func__, refine_blocks<View, Fill>,
                                 {refine_grid_size(view, tagged_of_grid), regrid_threads}, view,
                                 fill, first + me, tagged_of_grid);
  }
  if (grid_per_task || me == 0) launched[me] = mine;
  __syncthreads();
  // 2. This block refines the others.
  for (unsigned i = 0; i < count; ++i) {
    if (launched[grid_per_task ? i : 0]) continue;
    for (int child = 0; child < view.tree.siblings; ++child) {
      make_child(view, fill, first + i, child);
    }
  }
}

/// Puts new children into the tree. One thread per refined block.
template <class View>
__global__ void attach_children(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const run_state& state = *view.state;
  if (i >= state.regrid.refine_count || state.fault.code != fault::none) return;
  const int parent = view.lists.tagged[state.regrid.refine_begin + i];
  view.tree.first_child[parent] = first_child_for(view, i);
  view.lists.is_tagged[parent] = 0;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
