// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Small trees that kernels build: one block does a whole call (calls.cuh), in shared memory.

#include <cstdint>
#include <ramify/quicksort/leaf_sort.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/detail/call_ticket.cuh>
#include <ramify/spatial_tree/build.cuh>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <ramify/spatial_tree/tree_arrays.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The shared memory and the sizes of a block that builds a tree.
template <class Real, int dim>
struct small_build {
  using context = build_context<Real, dim, code_elements>;
  using bounds = point_bounds<Real, dim>;
  static constexpr int threads = static_cast<int>(context::threads);
  using sorter =
      quicksort::team_merge_sort<morton_code, no_value, threads, RAMIFY_ON_CUDA ? 11 : 16>;
  using reduce = block_reduce<bounds, threads>;

  /// Returns the maximum number of points of such a tree. At most one node in leaf_size + 1 points
  /// waits in a queue.
  [[nodiscard]] static constexpr unsigned max_points(unsigned leaf_size) {
    const unsigned of_queue = context::queue_size * (leaf_size + 1);
    return of_queue < unsigned{sorter::capacity} ? of_queue : unsigned{sorter::capacity};
  }

  typename sorter::storage sorted;
  typename reduce::TempStorage of_reduce;
  build_shared<Real, dim> of_nodes;
  unsigned arrived[2 * sorter::capacity];  ///< of the nodes
  build_progress progress;
  bounds found;
};

/// Writes the bounds of n points to shared.found. All threads of the block must call it. It ends
/// with a barrier.
template <class Real, int dim>
__device__ void find_bounds_in_block(const point<Real, dim>* points, std::uint32_t n,
                                     small_build<Real, dim>& shared) {
  using small = small_build<Real, dim>;
  using bounds = typename small::bounds;
  const typename bounds::combine combine;
  // A thread without points takes the last point again, which does not change the result.
  bounds mine{{}, bounds::none, bounds::greatest};
  if (n > 0) {
    std::uint32_t i = threadIdx.x < n ? threadIdx.x : n - 1;
    mine = bounds::of(points[i], i);
    for (i += small::threads; i < n; i += small::threads) {
      mine = combine(mine, bounds::of(points[i], i));
    }
  }
  const bounds found = typename small::reduce(shared.of_reduce).Reduce(mine, combine);
  if (threadIdx.x == 0) shared.found = found;
  __syncthreads();
}

/// Builds the tree of a call with one block, and ends the call. In a batch each block has its own
/// call, and `call` is any of them.
template <class Real, int dim, class Call>
__global__ void __maxnreg__(max_registers(small_build<Real, dim>::threads))
    build_in_block(Call call, const typename Call::plan* plan, runtime::call_ticket ticket,
                   runtime::call_batch batch) {
  const traced here(ticket.trace, __func__);
  using small = small_build<Real, dim>;
  using sorter = typename small::sorter;
  __shared__ small shared;
  const bool of_batch = batch.calls != nullptr;
  const Call mine = of_batch ? batch.template call<Call>(blockIdx.x) : call;
  const auto n = static_cast<std::uint32_t>(mine.n);
  const auto& tree = mine.tree;
  const unsigned leaf_size = plan->leaf_size();

  // 1. The bounds of the points.
  find_bounds_in_block(mine.points, n, shared);
  // 2. The sorted codes. As in encode_points(), they are 0 if a point is not finite.
  const bool finite = shared.found.first_nonfinite == shared.found.none;
  const morton_encoder<dim> encoder(shared.found.bounds);
  const auto sorted = shared.sorted.view();
  const auto code_of = [&](unsigned i) {
    return morton_code{finite ? encoder.encode(mine.points[i]) : 0, i};
  };
  sorter::sort_keys(block_team<small::threads, 1>(), sorted, code_of, n, morton_code::less());
  // 3. The points in order, and the nodes.
  const code_elements codes{sorted.keys};
  for (std::uint32_t i = threadIdx.x; i < n; i += small::threads) {
    tree.arrays.ids[i] = codes.id(i);
    tree.arrays.points[i] = mine.points[codes.id(i)];
  }
  const typename small::context context{codes,
                                        tree.arrays.nodes,
                                        tree.arrays.parents,
                                        shared.arrived,
                                        &shared.progress,
                                        tree.max_nodes,
                                        leaf_size,
                                        n,
                                        0};
  if (threadIdx.x == 0) {
    memset(static_cast<void*>(&shared.progress), 0, sizeof shared.progress);
    if (n > 0) begin_nodes(context, n);
  }
  __syncthreads();
  if (n > leaf_size) build_subtree(0, context, shared.of_nodes);
  if (threadIdx.x == 0) publish(shared.progress, tree.max_nodes, true, shared.found, *tree.built);
  __syncthreads();
  // 4. The boxes.
  const auto view = tree.view();
  const box_fold<Real, dim> boxes{tree.arrays.points, tree.arrays.nodes};
  for (std::uint32_t i = threadIdx.x; i < view.nodes_built(); i += small::threads) {
    if (view.nodes[i].is_leaf()) reduce_from_leaf(view, boxes, shared.arrived, i);
  }
  // 5. End the call.
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (of_batch) {
    const runtime::call_ticket own = batch.ticket(blockIdx.x, ticket.trace);
    batch.release(blockIdx.x);
    mine.end(*plan, own);
  } else {
    mine.end(*plan, ticket);
  }
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
