// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The recursion that builds the nodes: grids that launch grids.
///
///     sorted codes of a node      0012 0013 0100 0101 0132 0200
///     first digit that differs     ^    ^    ^    ^    ^    ^
///     children                   [0012 0013][0100 0101 0132][0200]
///
/// A task is the set of children of one node; a child has one block. If it has few points, the
/// block builds its whole subtree. Otherwise the block splits the child and spawns a task for the
/// grandchildren. The tasks of a level share one grid.
///
/// Digits that all points of a node share are skipped, so every inner node has two or more
/// children. Points with equal codes are divided into equal parts instead. The depth is therefore
/// bounded, and a million copies of a point give a balanced tree.

#include <algorithm>
#include <cstdint>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/spawner.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/node_split.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The nodes of one task: consecutive nodes with the same parent.
struct siblings {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// The state that the grids of a build share with each other and the host, initially zero.
struct build_progress {
  unsigned long long node_count;  ///< greater than the capacity if there were too few nodes
  unsigned unsorted;              ///< not 0 if the sort of the codes was not complete
  std::uint32_t points;
  published_tree published;
};

template <class Real, int dim, class Codes>
struct build_context;

template <class Real, int dim, class Codes, class Spawner>
__global__ void build_subtrees(task_source<siblings> source, Spawner spawn,
                               build_context<Real, dim, Codes> context);

/// The data that all grids of a build share.
template <class Real, int dim, class Codes = point_codes>
struct build_context {
  __host__ __device__ static auto kernel() {
    return build_subtrees<Real, dim, Codes, spawner<siblings>>;
  }
  __host__ __device__ static auto flat_kernel() {
    return build_subtrees<Real, dim, Codes, spawner<siblings, false>>;
  }
  static constexpr unsigned max_children = 1;
  static constexpr bool may_be_thin = false;

#if RAMIFY_ON_CUDA
  static constexpr unsigned threads = 128;
#else
  static constexpr unsigned threads = 32;
#endif
  /// Resident blocks per multiprocessor, for __maxnreg__. With the registers that the compiler
  /// prefers for the launches, there would be 4: more blocks hide the latency of dependent loads.
  static constexpr unsigned resident_blocks = 10;
  /// Maximum number of nodes that a block splits on one level of a subtree.
  static constexpr unsigned queue_size = 256;

  /// Returns the maximum number of points of a subtree that a block builds.
  [[nodiscard]] static unsigned block_points_of(const spatial_tree_options& options) {
    return std::min(options.block_points, queue_size * (options.leaf_size + 1));
  }

  Codes codes;
  spatial_node<Real, dim>* nodes;  ///< without boxes, which are computed later
  std::uint32_t* parents;
  unsigned* arrived;  ///< completed blocks of a task, at the index of its first node
  build_progress* progress;
  unsigned long long capacity;  ///< of `nodes`
  unsigned leaf_size;
  unsigned block_points;  ///< at most queue_size * (leaf_size + 1)
  unsigned levels_ahead;  ///< of tasks, if the points are evenly distributed
};

/// The shared memory of a block of build_subtrees().
template <class Real, int dim>
struct build_shared {
  std::uint32_t queue[2][build_context<Real, dim>::queue_size];  ///< nodes of two levels
  unsigned queued[2];
  std::uint32_t begins[spatial_shape<dim>::arity];  ///< of the children of a large node
};

/// Creates a child of `node` with the points [begin, end) in each thread for which `mine` is true
/// and the range is not empty. The threads of a node are consecutive. If `next` is not null,
/// appends the children that must be split to it. All threads of a warp must call this function.
template <class Real, int dim, class Codes>
__device__ void create_children(const build_context<Real, dim, Codes>& context, std::uint32_t node,
                                bool mine, std::uint32_t begin, std::uint32_t end,
                                std::uint32_t* next, unsigned* next_count) {
  constexpr unsigned arity = spatial_shape<dim>::arity;
  const unsigned lane = threadIdx.x % 32;
  // 1. Reserve consecutive nodes for the children that have points, those of all nodes of the warp
  //    at once. If the array is full, the nodes stay leaves, and the host detects this from the
  //    count.
  const unsigned present = __ballot_sync(full_warp_mask, mine && begin < end);
  const auto created = static_cast<unsigned>(__popc(present));
  unsigned long long first = 0;
  if (lane == 0 && created > 0) {
    first = atomicAdd(&context.progress->node_count, static_cast<unsigned long long>(created));
  }
  first = __shfl_sync(full_warp_mask, first, 0);
  if (!mine || first + created > context.capacity) return;

  // 2. The first thread of a node writes the range of its children.
  const unsigned before = present & ((1u << lane) - 1);
  const std::uint32_t child =
      static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(__popc(before));
  if (lane % arity == 0) {
    context.nodes[node].first_child = child;
    context.nodes[node].children =
        static_cast<std::uint16_t>(__popc(present >> lane & ((1u << arity) - 1)));
  }

  // 3. Each thread writes its child.
  if (begin >= end) return;
  auto& made = context.nodes[child];
  made.begin = begin;
  made.end = end;
  made.first_child = 0;
  made.children = 0;
  made.level = static_cast<std::uint16_t>(context.nodes[node].level + 1);
  context.parents[child] = node;
  context.arrived[child] = 0;
  if (next != nullptr && end - begin > context.leaf_size) next[atomicAdd(next_count, 1u)] = child;
}

/// Creates the children of `count` nodes, and appends those that must be split to `next`. Each
/// thread creates at most one child at a time. All threads of the block must call this function.
template <class Real, int dim, class Codes>
__device__ void split_nodes(const build_context<Real, dim, Codes>& context,
                            const std::uint32_t* nodes, unsigned count, std::uint32_t* next,
                            unsigned* next_count) {
  constexpr unsigned arity = spatial_shape<dim>::arity;
  const unsigned digit = threadIdx.x % arity;

  // All threads run every iteration, even without a child, because the shuffles need full warps.
  for (unsigned base = 0; base < count; base += context.threads / arity) {
    const unsigned at = base + threadIdx.x / arity;
    const bool mine = at < count;
    const std::uint32_t node = nodes[mine ? at : base];
    const std::uint32_t node_end = context.nodes[node].end;
    std::uint32_t begin = node_end;
    if (mine) {
      begin = node_split<dim, Codes>(context.codes, context.nodes[node].begin, node_end,
                                     context.leaf_size)
                  .begin_of(digit);
    }
    const std::uint32_t next_begin = __shfl_down_sync(full_warp_mask, begin, 1, int{arity});
    const std::uint32_t end = digit == arity - 1 ? node_end : next_begin;
    create_children(context, node, mine, begin, end, next, next_count);
  }
}

/// Creates the children of one node. All threads of the block must call this function; they search
/// together, because a binary search in many points waits for one code after another. `begins` is
/// shared memory for an element per child.
template <class Real, int dim, class Codes>
__device__ void split_large_node(const build_context<Real, dim, Codes>& context, std::uint32_t node,
                                 std::uint32_t* begins) {
  constexpr unsigned arity = spatial_shape<dim>::arity;
  constexpr unsigned searchers = build_context<Real, dim>::threads / arity;
  const std::uint32_t node_end = context.nodes[node].end;
  const node_split<dim, Codes> split(context.codes, context.nodes[node].begin, node_end,
                                     context.leaf_size);
  const std::uint32_t found = split.template search<searchers>(threadIdx.x / searchers);
  if (threadIdx.x % searchers == 0) begins[threadIdx.x / searchers] = found;
  __syncthreads();
  const bool mine = threadIdx.x < arity;
  const std::uint32_t begin = mine ? begins[threadIdx.x] : node_end;
  const std::uint32_t end = threadIdx.x + 1 < arity ? begins[threadIdx.x + 1] : node_end;
  create_children(context, node, mine, begin, end, nullptr, nullptr);
}

/// Builds the descendants of a node of at most context.block_points points, level by level. All
/// threads of the block must call it. It ends with a barrier.
template <class Real, int dim, class Codes>
__device__ void build_subtree(std::uint32_t node, const build_context<Real, dim, Codes>& context,
                              build_shared<Real, dim>& shared) {
  auto& [queue, queued, begins] = shared;
  if (threadIdx.x == 0) {
    queue[0][0] = node;
    queued[0] = 1;
    queued[1] = 0;
  }
  __syncthreads();
  for (unsigned from = 0; queued[from] > 0; from = 1 - from) {
    split_nodes(context, queue[from], queued[from], queue[1 - from], &queued[1 - from]);
    __syncthreads();
    if (threadIdx.x == 0) queued[from] = 0;
    __syncthreads();
  }
}

/// Builds the descendants of a node, or spawns them. All threads of the block must call it.
template <class Real, int dim, class Codes, class Spawner>
__device__ void build_descendants(std::uint32_t node, Spawner& spawn,
                                  const build_context<Real, dim, Codes>& context,
                                  build_shared<Real, dim>& shared) {
  // 1. Base case: a leaf is complete.
  const std::uint32_t size = context.nodes[node].size();
  if (size <= context.leaf_size) return;
  // If the codes are not sorted, the host will complete the sort and run the build again.
  if (node == 0 && context.progress->unsorted != 0) return;
  // 2. Few points: build the whole subtree.
  if (size <= context.block_points) return build_subtree(node, context, shared);
  // 3. Recurse: split the node, and spawn a grid over its children. Join: none is needed. A child
  //    accesses only its own range, and the boxes are computed after all grids are complete.
  split_large_node(context, node, shared.begins);
  __threadfence();
  __syncthreads();
  const unsigned children = context.nodes[node].children;
  if (threadIdx.x == 0 && children > 0) {
    spawn(build_subtrees<Real, dim, Codes, Spawner>, {context.nodes[node].first_child, children},
          children, context, "build_subtrees");
  }
}

/// Builds the subtrees of the siblings of each task. One block works on one sibling.
template <class Real, int dim, class Codes, class Spawner>
__global__ void __maxnreg__(max_registers(build_context<Real, dim>::threads,
                                          build_context<Real, dim>::resident_blocks))
    build_subtrees(task_source<siblings> source, Spawner spawn,
                   build_context<Real, dim, Codes> context) {
  const traced here(spawn.trace, __func__);
  __shared__ build_shared<Real, dim> shared;
  for (const auto [mine, rank] : source.members()) {
    build_descendants(mine.first + rank, spawn, context, shared);
    // The last block of the task ends the task, and resets the counter for reduce_bottom_up().
    if (threadIdx.x == 0 && atomicAdd(&context.arrived[mine.first], 1u) == mine.count - 1) {
      context.arrived[mine.first] = 0;
      spawn.task_ends();
    }
  }
  if (threadIdx.x == 0) {
    spawn.block_ends(build_subtrees<Real, dim, Codes, Spawner>, source, context, __func__);
  }
}

/// Writes the root, which covers all n points. One thread calls it.
template <class Context>
__device__ void begin_nodes(const Context& context, std::uint32_t n) {
  auto& root = context.nodes[0];
  root.begin = 0;
  root.end = n;
  root.first_child = 0;
  root.children = 0;
  root.level = 0;
  context.parents[0] = 0;
  context.arrived[0] = 0;
  context.progress->points = n;
  context.progress->node_count = n > 0 ? 1 : 0;  // without points the root is not a node
}

/// Writes the numbers of nodes and of points for later kernels, or 0 if the tree is incomplete:
/// then they do nothing. Also writes the box around all points. `is_built` is whether the recursion
/// is complete. One thread calls it.
template <class Real, int dim>
__device__ void publish(const build_progress& progress, unsigned long long capacity, bool is_built,
                        const point_bounds<Real, dim>& found, published_tree& tree) {
  const bool complete = is_built && progress.unsorted == 0 && progress.node_count <= capacity &&
                        found.first_nonfinite == found.none;
  tree.is_complete = complete ? 1 : 0;
  tree.nodes = complete ? static_cast<std::uint32_t>(progress.node_count) : 0;
  tree.points = complete ? progress.points : 0;
  for (int axis = 0; axis < dim; ++axis) {
    tree.lower[axis] = found.bounds.lower.x[axis];
    tree.upper[axis] = found.bounds.upper.x[axis];
  }
  tree.least_nonzero = found.least_nonzero;
}

/// Writes the root. Launched with one thread, after the sort of the codes.
template <class Context>
__global__ void write_root(Context context, runtime::element_count count, trace_ticket trace) {
  const traced here(trace, __func__);
  begin_nodes(context, static_cast<std::uint32_t>(count.get()));
}

/// Publishes the nodes after the recursion. Launched with one thread.
template <class Real, int dim, class Context>
__global__ void publish_nodes(Context context, recursion_state recursion,
                              const point_bounds<Real, dim>* found, trace_ticket trace) {
  const traced here(trace, __func__);
  build_progress& progress = *context.progress;
  publish(progress, context.capacity, recursion.is_complete(), *found, progress.published);
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
