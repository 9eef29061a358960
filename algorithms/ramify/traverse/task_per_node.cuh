// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a traversal in which each frontier node is a task.
///
///     a node with 3 children    lanes 0, 1, 2 visit them    those with children are the next tasks
///
/// This is the plain recursion, as it would be written for a CPU. A thin or unbalanced tree gives
/// many small tasks. The caller's `launches` decides whether each is a grid of its own, or all
/// tasks of a block or of a grid share one. Work sharing is faster, because it creates tasks for
/// other warps only when they are idle.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/traverse/frontier.cuh>
#include <ramify/traverse/traversal.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Partial totals to which the blocks of many grids add, each block once at its end. A block locks
/// one cell for the addition. There are far more cells than co-resident blocks, so a block seldom
/// finds its cell locked.
template <class Value>
struct total_cells {
  static constexpr unsigned count = 4096;

  Value* values;
  unsigned* locked;  ///< one flag for each cell, initially 0
  unsigned* blocks;  ///< number of blocks that have begun to add, which assigns them to cells

  /// Adds `value` to a cell. Called by one thread of a block.
  template <class Reduce>
  __device__ void add(const Value& value, const Reduce& reduce) const {
    unsigned i = atomicAdd(blocks, 1u) % count;
    while (atomicExch(&locked[i], 1u) != 0) i = (i + 1) % count;
    __threadfence();
    values[i] = reduce(values[i], value);
    __threadfence();
    atomicExch(&locked[i], 0u);
  }
};

template <class Context>
using task_of = frontier_node<typename Context::node_type>;

template <bool can_launch, class Context>
__global__ void visit_children(task_source<task_of<Context>> source,
                               spawner<task_of<Context>, can_launch> spawn, Context context);

/// The arguments that all grids of a run share.
template <class Traversal>
struct task_per_node_context {
  using node_type = typename Traversal::node_type;
  using value_type = typename Traversal::value_type;
  using shared_memory = typename Traversal::shared_memory;

  __host__ __device__ static auto kernel() { return visit_children<true, task_per_node_context>; }
  __host__ __device__ static auto flat_kernel() {
    return visit_children<false, task_per_node_context>;
  }
  static constexpr unsigned threads = 32;  ///< of a block: a lane for each child
  static constexpr unsigned max_children = threads;
  static constexpr bool may_be_thin = true;
  /// Frontier nodes that a lane may hold itself.
  static constexpr unsigned max_held = 4;

  total_cells<value_type> totals;
  Traversal tree;
};

/// Returns the task of an unvisited root. Its range of children is invalid: `next` is after `end`.
template <class Node>
[[nodiscard]] __host__ __device__ frontier_node<Node> root_task(const Node& root) {
  return {root, 1, 0};
}

/// Visits a range of at most 32 children. A lane also visits the subtrees of children with few
/// children itself; the other children that have children are spawned. Called by all lanes.
template <bool can_launch, class Context>
__device__ void visit_range(const task_of<Context>& range, typename Context::value_type& total,
                            typename Context::shared_memory& shared,
                            spawner<task_of<Context>, can_launch>& spawn, const Context& context) {
  using Node = typename Context::node_type;
  frontier_node<Node> stack[Context::max_held];
  unsigned size = 0;
  if (threadIdx.x < range.remaining()) {
    const unsigned mine = range.next + threadIdx.x;
    stack[size++] = {range.node, mine, mine + 1};
  }
  while (__ballot_sync(full_warp_mask, size > 0) != 0) {
    Node child{};
    unsigned degree = 0;
    if (size > 0) {
      frontier_node<Node>& top = stack[size - 1];
      child = context.tree.expand.child(top.node, top.next++);
      if (top.next == top.end) --size;
      degree = context.tree.visit_node(child, total, shared);
    }
    const bool holds = degree > 0 && spawn.too_small(degree) && size < Context::max_held;
    if (holds) stack[size++] = {child, 0, degree};
    const bool spawns = degree > 0 && !holds;
    if (__ballot_sync(full_warp_mask, spawns) != 0) {
      spawn.by_block(visit_children<can_launch, Context>, spawns, {child, 0, degree}, context,
                     "visit_children");
    }
  }
}

/// Runs the tasks of a grid, each in one block of 32 threads. If it cannot launch, it is the flat
/// kernel, which the loop of a graph launches.
template <bool can_launch, class Context>
__global__ void __maxnreg__(max_registers(Context::threads))
    visit_children(task_source<task_of<Context>> source,
                   spawner<task_of<Context>, can_launch> spawn, Context context) {
  const traced here(spawn.trace, __func__);
  using Value = typename Context::value_type;
  __shared__ typename Context::shared_memory shared;
  constexpr auto kernel = visit_children<can_launch, Context>;
  constexpr unsigned threads = Context::threads;
  const unsigned lane = threadIdx.x;
  Value total = context.tree.identity;
  bool has_tasks = false;
  for (const auto& [task, rank] : source.members()) {
    has_tasks = true;
    if constexpr (may_end<decltype(context.tree)>) {
      // A visit has ended the traversal: drop the task.
      if (__any_sync(full_warp_mask, context.tree.has_ended() ? 1 : 0) != 0) {
        if (lane == 0) spawn.task_ends();
        continue;
      }
    }
    if (task.next > task.end) {
      // 1. Base case: the root, which has to be visited itself.
      const unsigned degree = lane == 0 ? context.tree.visit_node(task.node, total, shared) : 0;
      spawn.by_block(kernel, degree > 0, {task.node, 0, degree}, context, __func__);
    } else if (task.remaining() > threads) {
      // 2. Split the work: a node of more than 32 children becomes 32 tasks.
      const unsigned long long children = task.remaining();
      const auto bound = [&](unsigned i) {
        return task.next + static_cast<unsigned>(children * i / threads);
      };
      spawn.by_block(kernel, true, {task.node, bound(lane), bound(lane + 1)}, context, __func__);
    } else {
      // 3. Recurse into the children. Join: none; the caller's stream waits for all grids.
      visit_range(task, total, shared, spawn, context);
    }
    if (lane == 0) spawn.task_ends();
  }
  // 4. Reduce the totals of the block, and add the sum to a cell. Blocks without tasks skip this; a
  //    graph's loop launches many of them.
  if (has_tasks) {
    using block_reduction = block_reduce<Value, int{threads}>;
    __shared__ typename block_reduction::TempStorage storage;
    total = block_reduction(storage).Reduce(total, context.tree.reduce);
    if (lane == 0) context.totals.add(total, context.tree.reduce);
  }
  if (lane == 0) spawn.block_ends(kernel, source, context, __func__);
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
