// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tags of blocks to refine: their balance, and buffer cells.

#include <ramify/amr/run_view.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Adds a leaf to the list of tagged blocks, unless it is already tagged or is of the finest level.
/// Returns whether it did. Any thread may call it.
template <class View>
__device__ bool tag(const View& view, int node) {
  if (view.tree.place[node].level >= view.tree.max_level) return false;
  if (atomicExch(&view.lists.is_tagged[node], 1u) != 0) return false;
  view.lists.tagged[atomicAdd(&view.state->regrid.tagged, 1u)] = node;
  return true;
}

/// Balances the tags next to a tagged block, in one direction. The block will have children, which
/// require a neighbor of the block's level; so a coarser neighbor is tagged, too, and then
/// the same is done in all directions from it. Any thread may call it.
///
/// The mesh is balanced, so a neighbor is at most one level coarser, and tags spread only toward
/// coarser levels. The thread that tags a block balances the tags around it, so the set of tagged
/// blocks does not depend on the order of threads.
template <class View>
__device__ void balance_tags(const View& view, int node, int direction) {
  int path[max_levels];  // the recursion: blocks that this thread has tagged, each coarser
  int directions_done[max_levels];
  int depth = -1;
  for (;;) {
    const int neighbor = view.tree.balanced_neighbor(node, direction);
    const bool is_coarser =
        neighbor >= 0 && view.tree.place[neighbor].level < view.tree.place[node].level;
    if (is_coarser && tag(view, neighbor)) {
      ++depth;
      path[depth] = neighbor;
      directions_done[depth] = 0;
    }
    while (depth >= 0 && directions_done[depth] == view.tree.directions) --depth;
    if (depth < 0) return;
    node = path[depth];
    direction = directions_done[depth]++;
  }
}

/// Returns the block that block i of tag_blocks() evaluates.
template <class View>
[[nodiscard]] __device__ int block_to_tag(const View& view, unsigned i) {
  const regrid_state& regrid = view.state->regrid;
  if (regrid.refine_count == 0) return view.lists.leaves[i];
  const int parent = view.lists.tagged[regrid.refine_begin + i / view.tree.siblings];
  return view.tree.first_child[parent] + static_cast<int>(i % view.tree.siblings);
}

// ---- buffer cells ------------------------------------------------------------------------------

/// Marks the directions in which a leaf ends within the buffer of its cell `at`. Any thread may
/// call it.
template <class View>
__device__ void mark_near_sides(const View& view, int node, const int (&at)[View::dim]) {
  const int buffer = buffer_cells_of(view.criterion);
  constexpr int n = View::cells_along;
  using criterion = typename View::criterion_type;
  if constexpr (requires { typename std::bool_constant<(criterion::buffer_cells > 0)>; }) {
    static_assert(criterion::buffer_cells <= n,
                  "a buffer has at most as many cells as a block along its edge");
  }
  unsigned near = 0;
  for (int number = 0; number < view.tree.directions; ++number) {
    int step[View::dim];
    if (view.tree.direction(number, step) == 0) continue;
    bool is_near = true;
    for (int axis = 0; axis < View::dim; ++axis) {
      is_near = is_near && (step[axis] >= 0 || at[axis] < buffer) &&
                (step[axis] <= 0 || at[axis] >= n - buffer);
    }
    if (is_near) near |= 1u << number;
  }
  atomicOr(&view.near_sides[node], near);
}

/// Tags the leaves around those with cells to refine near their sides, unless they are finer, and
/// balances these tags. The leaves do not count the regrid as one in which they may be coarsened.
/// One thread for each direction of each of the `count` leaves that tag_blocks() has evaluated.
template <class View>
__global__ void tag_buffers(View view, unsigned count) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  if (view.state->next != phase::tag) return;
  constexpr unsigned directions = mesh_tree<View::dim>::directions;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i / directions >= count) return;
  const int node = block_to_tag(view, i / directions);
  const int number = static_cast<int>(i % directions);
  int step[View::dim];
  if (view.tree.direction(number, step) == 0 || (view.near_sides[node] >> number & 1) == 0) return;
  block_place<View::dim> there = view.tree.place[node];
  if (!view.tree.move(there, step)) return;
  const int neighbor = view.tree.find(there);
  if (!view.tree.is_leaf(neighbor)) return;
  view.lists.idle[neighbor] = 0;
  if (!tag(view, neighbor)) return;
  for (int direction = 0; direction < view.tree.directions; ++direction) {
    balance_tags(view, neighbor, direction);
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
