// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Kernels that look for the points in a ball, a thread for each ball.

#include <cstdint>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Calls found(begin, end) with stretches of the tree's order, one after another, that together are
/// the points p with distance2(query, p) <= radius2. A node that lies in the ball as a whole is one
/// stretch, and is not looked into.
template <class Real, int dim, class Found>
__device__ void for_each_within(const spatial_tree_view<Real, dim>& tree,
                                const point<Real, dim>& query, Real radius2, Found found) {
  std::uint32_t waiting[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.node_count > 0) waiting[count++] = 0;
  while (count > 0) {
    const auto& node = tree.nodes[waiting[--count]];
    if (node.bounds.nearest2(query) > radius2) continue;
    if (node.bounds.farthest2(query) <= radius2) {
      found(node.begin, node.end);
    } else if (node.is_leaf()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        if (distance2(query, tree.points[i]) <= radius2) found(i, i + 1);
      }
    } else {
      // The last child first, so that the first one is taken up next.
      for (unsigned c = node.children; c > 0; --c) waiting[count++] = node.first_child + c - 1;
    }
  }
}

template <class Real, int dim>
__global__ void count_within(spatial_tree_view<Real, dim> tree, const point<Real, dim>* queries,
                             unsigned long long n, Real radius2, std::uint32_t* counts) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint32_t count = 0;
  for_each_within(tree, queries[i], radius2,
                  [&](std::uint32_t begin, std::uint32_t end) { count += end - begin; });
  counts[i] = count;
}

/// Writes the list of query i from ids[offsets[i]] on.
template <class Real, int dim>
__global__ void list_within(spatial_tree_view<Real, dim> tree, const point<Real, dim>* queries,
                            unsigned long long n, Real radius2, const std::uint64_t* offsets,
                            std::uint32_t* ids) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint32_t* next = ids + offsets[i];
  for_each_within(tree, queries[i], radius2, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t at = begin; at < end; ++at) *next++ = tree.ids[at];
  });
}

}  // namespace ramify::inline RAMIFY_BUILD
