// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Kernels that find the points in a ball, one thread per ball.

#include <cstdint>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Calls found(begin, end) with ranges of the tree's order, in ascending order. Together they are
/// the points p with distance2(query, p) <= radius2. A node that lies entirely in the ball is one
/// range, and its children are not visited.
template <class Real, int dim, class Found>
__device__ void for_each_within(const spatial_tree_view<Real, dim>& tree,
                                const point<Real, dim>& query, Real radius2, Found found) {
  std::uint32_t stack[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.node_count > 0) stack[count++] = 0;
  while (count > 0) {
    const auto& node = tree.nodes[stack[--count]];
    if (node.bounds.min_distance2(query) > radius2) continue;
    if (node.bounds.max_distance2(query) <= radius2) {
      found(node.begin, node.end);
    } else if (node.is_leaf()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        if (distance2(query, tree.points[i]) <= radius2) found(i, i + 1);
      }
    } else {
      // Push the last child first, so that the first child is popped first.
      for (unsigned c = node.children; c > 0; --c) stack[count++] = node.first_child + c - 1;
    }
  }
}

/// Writes the number of points in each ball. One thread per query.
template <class Real, int dim>
__global__ void count_within(spatial_tree_view<Real, dim> tree, query_batch<Real, dim> batch,
                             Real radius2, std::uint32_t* counts) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batch.n) return;
  const unsigned long long at = batch.index_of(i);
  std::uint32_t count = 0;
  for_each_within(tree, batch.queries[at], radius2,
                  [&](std::uint32_t begin, std::uint32_t end) { count += end - begin; });
  counts[at] = count;
}

/// Writes the list of query i to ids, starting at ids[offsets[i]]. One thread per query.
template <class Real, int dim>
__global__ void list_within(spatial_tree_view<Real, dim> tree, query_batch<Real, dim> batch,
                            Real radius2, const std::uint64_t* offsets, std::uint32_t* ids) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batch.n) return;
  const unsigned long long at = batch.index_of(i);
  std::uint32_t* next = ids + offsets[at];
  for_each_within(tree, batch.queries[at], radius2, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t p = begin; p < end; ++p) *next++ = tree.ids[p];
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
