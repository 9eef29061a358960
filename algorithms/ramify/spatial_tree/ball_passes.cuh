// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// visit_balls(): the kernel of all passes over balls, by threads or by packets; and the passes
/// that count and list the points in balls.

#include <cstdint>
#include <ramify/spatial_tree/ball_packet.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/packets.cuh>
#include <ramify/spatial_tree/radius.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Adds the number of threads of the block with `counted` to a total. All threads call it.
__device__ inline void add_by_block(unsigned long long& total, bool counted) {
  const auto sum = static_cast<unsigned long long>(__syncthreads_count(counted ? 1 : 0));
  if (threadIdx.x == 0 && sum > 0) atomicAdd(&total, sum);
}

/// Base of visitors that need all points of all balls.
struct whole_ball {
  static constexpr bool takes_leaves = false;
  static constexpr bool takes_ranges = true;  ///< whether a packet calls takes()
  [[nodiscard]] __device__ bool begins() const { return true; }
  template <class Node>
  [[nodiscard]] __device__ bool skips(const Node&) const {
    return false;
  }
};

/// How a warp visits the balls of a pass together: see ball_packet and visit_packet().
template <class Real, int dim, class Visitor>
struct packet_of {
  static constexpr bool is_whole = std::is_base_of_v<whole_ball, Visitor>;
  using memory = std::conditional_t<is_whole, packet_memory<Real, dim>, ball_stack<dim>>;

  template <class Metric>
  static __device__ void visit(const spatial_tree_view<Real, dim>& tree,
                               const point<Real, dim>& query, bool active, const Metric& metric,
                               Real radius2, memory& shared, Visitor& visitor) {
    if constexpr (is_whole) {
      ball_packet(tree, query, active, metric, radius2, shared, visitor).visit();
    } else {
      visit_packet(tree, query, active, metric, radius2, shared, visitor);
    }
  }
};

/// Visits the ball around each query. A thread visits one at a time, in whole warps. If `loops` is
/// false, there is a block for each block of queries: a kernel with the scaled metric has fewer
/// registers then.
///
/// Pass is a struct. Pass::visitor(i) returns the Visitor of query i (visit_region()), which also
/// has
///
///     bool begins();      // whether the ball must be visited
///     bool end();         // uses the result; whether the query is counted in *Pass::total
///
/// If Pass::total is not a member, nothing is counted.
template <bool by_packets, bool loops, class Real, int dim, class Metric, class Pass>
__global__ void visit_balls(spatial_tree_view<Real, dim> tree, query_batch<Real, dim> batch,
                            query_metric<Real, Metric> of_call, Pass pass, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!of_call.applies()) return;
  const query_metric<Real, Metric> balls = of_call.of_balls();
  const Metric& metric = balls.metric;
  const Real radius2 = balls.radius2;
  using packet = packet_of<Real, dim, decltype(pass.visitor(0))>;
  __shared__ std::conditional_t<by_packets, typename packet::memory, char>
      shared[by_packets ? packets_of_block : 1];
  for (unsigned block = blockIdx.x; batch.has_block(block); block += gridDim.x) {
    const auto [at, exists] = batch.of_block(block);
    auto visitor = pass.visitor(at);
    const bool begins = exists && visitor.begins();
    if constexpr (by_packets) {
      const point<Real, dim> query = metric.place(batch.queries[at]);
      packet::visit(tree, query, begins, metric, radius2, shared[threadIdx.x / 32], visitor);
      __syncwarp();  // before the next packet of this warp
    } else if (begins) {
      visit_region(tree, placed_ball{metric.place(batch.queries[at]), metric, radius2}, visitor);
    }
    const bool counted = exists && visitor.end();
    if constexpr (requires { pass.total; }) add_by_block(*pass.total, counted);
    if constexpr (!loops) return;
  }
}

/// Writes the number of points in each ball.
struct count_pass {
  std::uint32_t* counts;

  struct counter : whole_ball {
    std::uint32_t* to;
    std::uint32_t count = 0;

    __device__ explicit counter(std::uint32_t* result) : to(result) {}
    template <class Node>
    [[nodiscard]] __device__ bool takes(const Node& node) {
      count += node.size();
      return true;
    }
    __device__ void found(std::uint32_t) { ++count; }
    __device__ bool end() const {
      *to = count;
      return false;
    }
  };
  [[nodiscard]] __device__ counter visitor(unsigned long long i) const {
    return counter(counts + i);
  }
};

/// Writes the points in ball i to ids, starting at ids[offsets[i]].
struct list_pass {
  const std::uint32_t* ids_of_points;
  const std::uint64_t* offsets;
  std::uint32_t* ids;

  struct lister : whole_ball {
    const std::uint32_t* ids;
    std::uint32_t* next;

    __device__ lister(const std::uint32_t* from, std::uint32_t* to) : ids(from), next(to) {}
    template <class Node>
    [[nodiscard]] __device__ bool takes(const Node& node) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) found(i);
      return true;
    }
    __device__ void found(std::uint32_t i) { *next++ = ids[i]; }
    __device__ bool end() const { return false; }
  };
  [[nodiscard]] __device__ lister visitor(unsigned long long i) const {
    return {ids_of_points, ids + offsets[i]};
  }
};

/// Writes the first points in ball i to row i, and the number of points. Counts the balls with more
/// points than a row has elements.
struct row_pass {
  const std::uint32_t* ids_of_points;
  std::uint32_t* ids;
  std::uint32_t* counts;
  std::uint32_t capacity;
  unsigned long long* total;

  struct row_writer : whole_ball {
    const row_pass& pass;
    unsigned long long query;
    std::uint32_t* row;
    std::uint32_t count = 0;

    __device__ row_writer(const row_pass& all, unsigned long long i)
        : pass(all), query(i), row(all.ids + i * all.capacity) {}
    template <class Node>
    [[nodiscard]] __device__ bool takes(const Node& node) {
      const std::uint32_t space = count < pass.capacity ? pass.capacity - count : 0;
      const std::uint32_t taken = min(node.size(), space);
      for (std::uint32_t k = 0; k < taken; ++k) {
        row[count + k] = pass.ids_of_points[node.begin + k];
      }
      count += node.size();
      return true;
    }
    __device__ void found(std::uint32_t i) {
      if (count < pass.capacity) row[count] = pass.ids_of_points[i];
      ++count;
    }
    __device__ bool end() const {
      for (std::uint32_t k = count; k < pass.capacity; ++k) row[k] = no_neighbor;
      pass.counts[query] = count;
      return count > pass.capacity;
    }
  };
  [[nodiscard]] __device__ row_writer visitor(unsigned long long i) const { return {*this, i}; }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
