// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// summarize(): something about every node of a tree, from its points and its children's summaries.
///
///     a leaf        of_point(p) for each of its points, combined in the tree's order
///     an inner node its children's summaries, combined in order
///
/// Children before parents, and no launch in between: the last child to be done goes on with the
/// parent (Karras, 2012). Each node is combined in the same order every time, so that sums come out
/// with the same bits.

#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A thread for each leaf, and for all nodes above it whose other children were done before.
/// `arrived` counts the children of each node that are done.
template <class Real, int dim, class Fold>
__global__ void summarize_nodes(spatial_tree_view<Real, dim> tree, Fold fold, unsigned* arrived,
                                trace_ticket trace) {
  const traced here(trace, __func__);
  std::uint32_t node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= tree.node_count || !tree.nodes[node].is_leaf()) return;

  // 1. The leaf: its points.
  const auto& leaf = tree.nodes[node];
  auto sum = fold.of_point(leaf.begin);
  for (std::uint32_t i = leaf.begin + 1; i < leaf.end; ++i) {
    sum = fold.combine(sum, fold.of_point(i));
  }
  fold.at(node) = sum;

  // 2. Up, as long as this thread is the last one to come. Join: what the others wrote lies behind
  //    their fence and atomic, and this thread reads it behind its own.
  while (node != 0) {
    node = tree.parents[node];
    const std::uint32_t first = tree.nodes[node].first_child;
    const unsigned children = tree.nodes[node].children;
    __threadfence();
    if (atomicAdd(&arrived[node], 1u) != children - 1) return;
    __threadfence();
    sum = fold.at(first);
    for (unsigned c = 1; c < children; ++c) sum = fold.combine(sum, fold.at(first + c));
    fold.at(node) = sum;
  }
}

/// Puts the summaries of all nodes into `stream`, in one grid, or none if the tree is empty: returns
/// how many. Fold is a struct of device functions, copied bit by bit:
///
///     struct fold {
///       mass_and_center of_point(std::uint32_t position) const;  // in the tree's order
///       mass_and_center combine(mass_and_center a, mass_and_center b) const;
///       mass_and_center& at(std::uint32_t node) const;           // where it is kept: device memory
///     };
///
/// Scratch: a word a node, from the pool. \throws cuda_error
template <class Real, int dim, class Fold>
unsigned summarize(const spatial_tree_view<Real, dim>& tree, const Fold& fold, cudaStream_t stream,
                   const trace_ticket& trace = {}) {
  if (tree.node_count == 0) return 0;
  constexpr unsigned threads = RAMIFY_ON_CUDA ? 256 : 1024;
  const device_buffer<unsigned> arrived(tree.node_count, stream);
  check(cudaMemsetAsync(arrived.data(), 0, arrived.size() * sizeof(unsigned), stream),
        "clearing the nodes' counters");
  check(launch(summarize_nodes<Real, dim, Fold>, {(tree.node_count - 1) / threads + 1, threads},
               stream, tree, fold, arrived.data(), trace)
            .code(),
        "summarizing a tree");
  return 1;
}

}  // namespace ramify::inline RAMIFY_BUILD
