// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The points in a ball, for kernels of the caller and of Ramify, one thread per ball. Public:
/// <ramify/spatial_tree.cuh> includes this header.

#include <cstdint>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Calls found(begin, end) with ranges of the tree's order, in ascending order. Together they are
/// the points p with distance2(query, p) <= radius2. A node that lies entirely in the ball is one
/// range, and its children are not visited. For kernels of the caller:
///
///     for_each_within(tree, query, radius * radius, [&](std::uint32_t begin, std::uint32_t end) {
///       for (std::uint32_t i = begin; i < end; ++i) use(tree.points[i], tree.ids[i]);
///     });
///
/// One thread calls it; neighboring threads should have neighboring queries. `query` must be
/// finite. Scratch: a stack of at most 225 nodes in local memory. It neither synchronizes nor
/// fails.
/// Complexity: O(log n + ranges) for evenly distributed points; O(n) in the worst case.
template <class Real, int dim, class Found>
__device__ void for_each_within(const spatial_tree_view<Real, dim>& tree,
                                const point<Real, dim>& query, std::type_identity_t<Real> radius2,
                                Found found) {
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

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

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
