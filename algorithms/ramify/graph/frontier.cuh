// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Frontiers: lists of vertices whose edges a round visits. Each vertex is stored with the number
/// of edges before it, so that blocks can take equal shares of the edges without a scan.
///
///     vertices    <-- [4, 7, 2]     degrees 3, 0, 5
///     first_edge  <-- [0, 3, 3]
///     size        <-- 3 vertices, 8 edges
///
/// An append changes both counts of the size by one atomic operation. Therefore first_edge never
/// decreases along the list, in whatever order threads append.

#include <cstdint>
#include <ramify/graph/tuning.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/prefix_sum.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// A number of edges, or an index of an edge.
using edge_count = unsigned long long;

/// The edges of a graph by source, or by target.
struct csr {
  const std::int64_t* offsets;
  const std::int32_t* targets;

  [[nodiscard]] __device__ edge_count first(unsigned v) const {
    return static_cast<edge_count>(offsets[v]);
  }
  [[nodiscard]] __device__ edge_count degree(unsigned v) const {
    return static_cast<edge_count>(offsets[v + 1] - offsets[v]);
  }
  [[nodiscard]] __device__ unsigned target(edge_count e) const {
    return static_cast<unsigned>(targets[e]);
  }
};

/// The number of vertices (31 bits) and of edges (33 bits) of a frontier, in one 64-bit integer.
struct frontier_size {
  edge_count bits;

  static constexpr unsigned edge_bits = 33;
  [[nodiscard]] static __host__ __device__ frontier_size of(unsigned vertices, edge_count edges) {
    return {static_cast<edge_count>(vertices) << edge_bits | edges};
  }
  [[nodiscard]] __host__ __device__ unsigned vertices() const {
    return static_cast<unsigned>(bits >> edge_bits);
  }
  [[nodiscard]] __host__ __device__ edge_count edges() const {
    return bits & ((edge_count{1} << edge_bits) - 1);
  }
};

/// A frontier that threads append to. It has space for all vertices of the graph.
struct frontier_list {
  std::int32_t* vertices = nullptr;
  edge_count* first_edge = nullptr;

  __device__ void store(frontier_size position, unsigned vertex) const {
    vertices[position.vertices()] = static_cast<std::int32_t>(vertex);
    first_edge[position.vertices()] = position.edges();
  }

  /// Appends `vertex` with `degree` edges in each lane where `has` is true, and updates `size`.
  /// All lanes of a full warp must call it.
  __device__ void append(frontier_size& size, bool has, unsigned vertex, edge_count degree) const {
    __shared__ typename warp_scan<edge_count>::TempStorage storage[32];
    if (__any_sync(full_warp_mask, has) == 0) return;
    const edge_count own = has ? frontier_size::of(1, degree).bits : 0;
    edge_count before = 0;
    edge_count total = 0;
    warp_scan<edge_count>(storage[threadIdx.x / 32]).ExclusiveSum(own, before, total);
    edge_count first = 0;
    if (threadIdx.x % 32 == 0) first = atomicAdd(&size.bits, total);
    first = __shfl_sync(full_warp_mask, first, 0);
    if (has) store({first + before}, vertex);
  }
};

/// The next frontier: its list and its size. `out` gives the degrees of its vertices.
struct frontier_writer {
  csr out;
  frontier_list list;
  frontier_size* size;

  /// Appends `vertex` in each lane where `has` is true. All lanes of a full warp must call it.
  __device__ void append(bool has, unsigned vertex) const {
    list.append(*size, has, vertex, has ? out.degree(vertex) : 0);
  }
};

/// A range of a frontier whose edges a grid visits.
struct edge_frontier {
  const std::int64_t* offsets;   ///< of the graph
  const std::int32_t* vertices;  ///< null: all vertices of the graph, in order
  const edge_count* first_edge;  ///< unused if `vertices` is null
  unsigned begin;                ///< index of the first vertex in the list
  unsigned end;
  edge_count edge_begin;  ///< edges of the list before this range
  edge_count edge_end;
  unsigned round;

  [[nodiscard]] __device__ unsigned vertex(unsigned i) const {
    return vertices == nullptr ? i : static_cast<unsigned>(vertices[i]);
  }
  /// Returns the number of edges of the list before its vertex i.
  [[nodiscard]] __device__ edge_count first(unsigned i) const {
    return vertices == nullptr ? static_cast<edge_count>(offsets[i]) : first_edge[i];
  }
  /// Returns the range that consists of vertex i with `degree` edges.
  [[nodiscard]] __device__ edge_frontier only(unsigned i, edge_count degree) const {
    edge_frontier one = *this;
    one.begin = i;
    one.end = i + 1;
    one.edge_begin = first(i);
    one.edge_end = one.edge_begin + degree;
    return one;
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
