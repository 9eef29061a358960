// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Puts the blocks in order: the lists that all other kernels go by.

#include <ramify/amr/view.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr int order_threads = 512;

/// How many before this thread have it, and how many of the block in all. By all threads.
__device__ inline unsigned count_before(bool has, unsigned& total) {
  using scan = block_scan<unsigned, order_threads>;
  __shared__ typename scan::TempStorage storage;
  unsigned before = 0;
  scan(storage).ExclusiveSum(has ? 1u : 0u, before, total);
  __syncthreads();  // the storage is used again
  return before;
}

/// Makes the lists of nodes, leaves and covered nodes of a tree whose neighbours are linked. One
/// block: there are a thousand cells to a node, so this is little work, and it needs many barriers.
///
/// The root blocks are in the list of nodes already, in Morton order; children follow in the order
/// of their parents, so every level's nodes are in Morton order too.
template <class View>
__global__ void order_blocks(View view) {
  const traced here(view.trace, __func__);
  const auto& tree = view.tree;
  const block_lists& lists = view.lists;
  amr_clock& clock = *view.clock;
  const unsigned siblings = tree.siblings;

  // 1. The nodes, level by level.
  unsigned begin = 0;
  unsigned end = tree.root_count();
  for (int level = 0; level <= tree.max_level; ++level) {
    if (threadIdx.x == 0) {
      clock.level_begin[level] = begin;
      clock.level_begin[level + 1] = end;
    }
    unsigned next = end;
    for (unsigned first = begin; first < end; first += order_threads) {
      const unsigned i = first + threadIdx.x;
      const bool inner = i < end && !tree.is_leaf(lists.nodes[i]);
      unsigned families = 0;
      const unsigned before = count_before(inner, families);
      for (unsigned child = 0; inner && child < siblings; ++child) {
        lists.nodes[next + before * siblings + child] =
            tree.first_child[lists.nodes[i]] + static_cast<int>(child);
      }
      next += families * siblings;
    }
    __syncthreads();
    begin = end;
    end = next;
  }

  // 2. How many leaves are below each node, from the finest level up.
  for (int level = tree.max_level; level >= 0; --level) {
    for (unsigned i = clock.level_begin[level] + threadIdx.x; i < clock.level_begin[level + 1];
         i += order_threads) {
      const int node = lists.nodes[i];
      unsigned count = tree.is_leaf(node) ? 1 : 0;
      for (unsigned child = 0; !tree.is_leaf(node) && child < siblings; ++child) {
        count += lists.leaves_below[tree.first_child[node] + static_cast<int>(child)];
      }
      lists.leaves_below[node] = count;
    }
    __syncthreads();
  }

  // 3. Each node's place among the leaves, from the roots down.
  if (threadIdx.x < most_levels) clock.leaves_of_level[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    unsigned leaves = 0;
    for (unsigned i = 0; i < tree.root_count(); ++i) {
      lists.first_leaf[lists.nodes[i]] = leaves;
      leaves += lists.leaves_below[lists.nodes[i]];
    }
    clock.leaves = leaves;
  }
  __syncthreads();
  for (int level = 0; level <= tree.max_level; ++level) {
    for (unsigned i = clock.level_begin[level] + threadIdx.x; i < clock.level_begin[level + 1];
         i += order_threads) {
      const int node = lists.nodes[i];
      unsigned leaf = lists.first_leaf[node];
      if (tree.is_leaf(node)) {
        lists.leaves[leaf] = node;
        atomicAdd(&clock.leaves_of_level[level], 1u);
        continue;
      }
      for (unsigned child = 0; child < siblings; ++child) {
        const int below = tree.first_child[node] + static_cast<int>(child);
        lists.first_leaf[below] = leaf;
        leaf += lists.leaves_below[below];
      }
    }
    __syncthreads();
  }

  // 4. The inner nodes that leaves of their own level look at.
  unsigned covered = 0;
  const unsigned nodes = clock.level_begin[tree.max_level + 1];
  for (unsigned first = 0; first < nodes; first += order_threads) {
    const unsigned i = first + threadIdx.x;
    bool seen = false;
    if (i < nodes && !tree.is_leaf(lists.nodes[i])) {
      for (int face = 0; face < tree.faces; ++face) {
        const int neighbor = tree.neighbor[lists.nodes[i] * tree.faces + face];
        seen = seen || (neighbor >= 0 && tree.is_leaf(neighbor));
      }
    }
    unsigned found = 0;
    const unsigned before = count_before(seen, found);
    if (seen) lists.covered[covered + before] = lists.nodes[i];
    covered += found;
  }
  if (threadIdx.x == 0) {
    clock.covered = covered;
    if (nodes > clock.peak_blocks) clock.peak_blocks = nodes;
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
