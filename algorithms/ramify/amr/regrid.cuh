// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Regridding: the kernels that tag blocks to refine and families to coarsen, and that coarsen.
///
/// A regrid tags blocks such that the refined mesh will be balanced, and only then creates the
/// children (refine.cuh). While blocks are tagged, only tags change. While children are filled, no
/// kernel reads them. So neither the mesh nor the bits of the values depend on the order of blocks.
/// The tags are the smallest set that keeps the mesh balanced.

#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/amr/synchronize.cuh>
#include <ramify/amr/tags.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/shared.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int regrid_threads = 128;  ///< per block, for kernels with one block per node

/// What kernels keep of a cell for a criterion: its sample, or all primitive values.
template <class Criterion, class Values>
struct sampling {
  using type = Values;
  __device__ static type take(const Criterion&, const Values& primitive) { return primitive; }
};
template <class Criterion, class Values>
requires requires { typename Criterion::sample_type; }
struct sampling<Criterion, Values> {
  using type = typename Criterion::sample_type;
  static_assert(sizeof(type) <= sizeof(Values), "a sample must not be larger than all values");
  __device__ static type take(const Criterion& criterion, const Values& primitive) {
    return criterion.sample(primitive);
  }
};
template <class View>
using sampling_of = sampling<decltype(View::criterion), typename View::values>;

/// The shared memory of a block of tag_blocks(): samples of a block's cells, and of the ghost cells
/// next to its faces. It is smaller than an advance_storage.
template <class View>
struct tag_storage {
  static constexpr int dim = View::dim;
  using cells = typename View::cells;
  using sample = typename sampling_of<View>::type;
  static constexpr int ghosts = 2 * dim * cells::per_face;

  sample samples[cells::count + ghosts];

  /// Returns the entry of the neighbor of a cell, in the block or beyond its face.
  __device__ static int entry_of_neighbor(int cell, const int (&at)[dim], int axis, int side) {
    if (at[axis] == (side == 0 ? 0 : View::cells_along - 1)) {
      return cells::count + face_of(axis, side) * cells::per_face + cells::line_of(axis, cell);
    }
    return side == 0 ? cell - cells::stride(axis) : cell + cells::stride(axis);
  }
  /// Returns the samples of a cell and its neighbors.
  [[nodiscard]] __device__ cell_stencil<sample, dim> stencil_of(int cell,
                                                                const int (&at)[dim]) const {
    cell_stencil<sample, dim> stencil;
    stencil.here = samples[cell];
    for (int axis = 0; axis < dim; ++axis) {
      stencil.left[axis] = samples[entry_of_neighbor(cell, at, axis, 0)];
      stencil.right[axis] = samples[entry_of_neighbor(cell, at, axis, 1)];
    }
    return stencil;
  }
};

/// Samples a block's cells and ghost cells, each once.
template <class View>
__device__ void take_samples(const View& view, tag_storage<View>& shared, int node) {
  using cells = typename View::cells;
  const auto sample = [&](const typename View::values& u) {
    return sampling_of<View>::take(view.criterion, view.physics.to_primitive(u));
  };
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += regrid_threads) {
    shared.samples[cell] = sample(view.u_new.load(node, cell));
  }
  const auto ghosts =
      view.ghosts(view.u_new, static_cast<typename View::real>(view.state->clock.time));
  for (int i = static_cast<int>(threadIdx.x); i < shared.ghosts; i += regrid_threads) {
    const int face = i / cells::per_face;
    const int line = i % cells::per_face;
    int at[View::dim];
    cells::coordinates(cells::on_line(face / 2, line, face % 2 == 0 ? 0 : View::cells_along - 1),
                       at);
    shared.samples[cells::count + i] = sample(ghosts.ghost(node, at, face / 2, face % 2, 1));
  }
}

/// Returns the largest indicator of a thread's cells. A criterion with buffer cells marks the sides
/// near cells to refine (buffer.cuh).
template <class View>
__device__ typename View::real largest_indicator(const View& view, const tag_storage<View>& shared,
                                                 int node) {
  using real = typename View::real;
  const auto place = view.tree.place[node];
  real largest = 0;
  View::cells::for_each(regrid_threads, [&](int cell, const int(&at)[View::dim]) {
    real where[View::dim];
    view.center(place, at, where);
    const real indicator = view.criterion(shared.stencil_of(cell, at), place, where);
    largest = indicator > largest ? indicator : largest;
    if constexpr (has_buffer<typename View::criterion_type>) {
      const bool marks = indicator > view.regrid.refine_above && indicator != without_buffer<real>;
      if (marks && buffer_cells_of(view.criterion) > 0) mark_near_sides(view, node, at);
    }
  });
  return largest;
}

/// Evaluates the criterion in leaves, tags those to be refined, and balances the tags. The leaves
/// are all leaves, or the children that the previous round of this regrid created. One block per
/// leaf; it needs sizeof(tag_storage) bytes of dynamic shared memory.
template <class View>
__global__ void tag_blocks(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  using reduce = block_reduce<typename View::real, regrid_threads>;
  __shared__ typename reduce::TempStorage storage;
  if (view.state->next != phase::tag) return;  // launched ahead, and another phase is due
  const int node = block_to_tag(view, blockIdx.x);
  if (!view.owns(node)) return;
  auto& shared = dynamic_shared<tag_storage<View>>();
  take_samples(view, shared, node);
  if constexpr (has_buffer<typename View::criterion_type>) {
    if (threadIdx.x == 0) view.near_sides[node] = 0;
  }
  __syncthreads();
  const auto indicator = reduce(storage).Reduce(largest_indicator(view, shared, node), maximum{});
  int is_tagged = 0;
  if (threadIdx.x == 0) {
    is_tagged = indicator > view.regrid.refine_above && tag(view, node);
    unsigned& idle = view.lists.idle[node];
    idle = indicator < view.regrid.coarsen_below ? idle + 1 : 0;
  }
  if (__syncthreads_or(is_tagged) == 0) return;
  if (threadIdx.x < view.tree.directions) {
    balance_tags(view, node, static_cast<int>(threadIdx.x));
  }
}

/// Returns whether a node is a leaf without which the mesh stays balanced and which has been idle
/// for long enough: no neighbor of its level has children or will have them.
template <class View>
__device__ bool may_be_removed(const View& view, int node) {
  if (!view.tree.is_leaf(node) || view.lists.is_tagged[node] != 0) return false;
  if (view.lists.idle[node] < view.regrid.patience) return false;
  const int level = view.tree.place[node].level;
  for (int direction = 0; direction < view.tree.directions; ++direction) {
    const int neighbor = view.tree.balanced_neighbor(node, direction);
    if (neighbor < 0 || view.tree.place[neighbor].level < level) continue;
    if (!view.tree.is_leaf(neighbor) || view.lists.is_tagged[neighbor] != 0) return false;
  }
  return true;
}

/// Finds the families that may be coarsened: all siblings may be removed. One thread for each of
/// the `count` nodes that are not root blocks. Siblings are neighbors in the list of nodes, so the
/// threads of a family are in one warp.
template <class View>
__global__ void tag_for_coarsening(View view, unsigned count) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  if (view.state->next != phase::tag) return;
  constexpr unsigned siblings = mesh_tree<View::dim>::siblings;
  constexpr unsigned all = (1u << siblings) - 1;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int node = i < count ? view.lists.nodes[view.tree.root_count() + i] : -1;
  const bool removable = node >= 0 && may_be_removed(view, node);
  const unsigned family = threadIdx.x % 32 / siblings;
  const unsigned votes = __ballot_sync(full_warp_mask, removable) >> family * siblings & all;
  if (votes != all || threadIdx.x % siblings != 0) return;
  view.lists.coarsened[atomicAdd(&view.state->regrid.coarsen_count, 1u)] = view.tree.parent[node];
}

/// Replaces families by their parents, which get the averages. One block per family. It runs after
/// the refinement of the same regrid, which takes its families from the end of the free ones.
template <class View>
__global__ void coarsen_families(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  const run_state& state = *view.state;
  if (state.fault.code != fault::none) return;
  const int node = view.lists.coarsened[blockIdx.x];
  if (view.owns(node)) {
    View::cells::for_each(regrid_threads, [&](int cell, const int(&at)[View::dim]) {
      view.u_new.store(node, cell, average_of_children(view, view.u_new, node, at));
    });
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int first = view.tree.first_child[node];
  for (int child = 0; child < view.tree.siblings; ++child) {
    view.tree.place[first + child].level = -1;
  }
  view.tree.first_child[node] = no_children;
  view.lists.idle[node] = 0;
  view.lists.free_families[state.mesh.free_families - reused_families(state) + blockIdx.x] =
      view.tree.family_of(first);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
