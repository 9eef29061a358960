// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// for_edges(): calls a functor for every edge of a frontier, the irregular nested loop of all
/// graph algorithms:
///
///     for (each vertex v of the frontier)          // thousands
///       for (each edge e of v) visit(v, e);        // 0 to millions
///
/// The strategies differ in the threads that run the inner loop:
///
///     thread      one thread. A warp waits for its vertex with the most edges, and reads of
///                 different lanes are far apart
///     warp        a warp. Reads are coalesced. Vertices with few edges leave lanes idle
///     block       a block, for vertices with thousands of edges
///     child_grid  as `thread`, but a vertex with many edges gets a child grid: one launch a vertex
///     aggregated  as `child_grid`, with one child grid for all such vertices of a block
///     balanced    each block takes the same number of consecutive edges of the whole frontier, and
///                 consecutive threads take consecutive edges. A thread finds the vertex of its
///                 edge by binary search
///
/// Join: a phase is complete when its child grids are complete (chain_join::tail_launch). If no
/// launch slot is free, and on the flat route, the warp or the block that found a heavy vertex
/// visits its edges.
///
/// The functor is called as visit(has, i, e) by all lanes of a warp together, so that it may use
/// warp functions: e is an index of the graph's edges, i the index of its vertex in the frontier,
/// and `has` is false in lanes without an edge.
///
/// Sources: Merrill, Garland, Grimshaw, "Scalable GPU graph traversal", PPoPP 2012. Li, Wu, Becchi,
/// "Nested parallelism on GPU: exploring parallelization templates for irregular loops and
/// recursive computations", ICPP 2015. Wang, Yalamanchili, IISWC 2014. El Hajj et al., "KLAP:
/// kernel launch aggregation and promotion", MICRO 2016. Davidson, Baxter, Garland, Owens, IPDPS
/// 2014.

#include <ramify/graph/config.hpp>
#include <ramify/graph/frontier.cuh>
#include <ramify/runtime/detail/round_team.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The parameters of child grids; a member of every program.
struct child_grids {
  unsigned heavy_degree;     ///< vertices with at least this number of edges get a child grid
  unsigned max_blocks;       ///< of a grid
  frontier_list aggregated;  ///< the heavy vertices that blocks found in this round
};

using runtime::round_part;

/// Returns the number of blocks that can share `edges` edges with the strategy `balanced`.
[[nodiscard]] __host__ __device__ inline unsigned blocks_for_edges(edge_count edges) {
  constexpr unsigned tile = tuning::threads * tuning::edges_per_thread;
  return edges == 0 ? 1 : static_cast<unsigned>((edges + tile - 1) / tile);
}

/// Visits the edges of the frontier's vertex i. All lanes of a warp must call it with the same i.
template <class Visit>
__device__ void visit_by_warp(const edge_frontier& from, unsigned i, const Visit& visit) {
  const unsigned v = from.vertex(i);
  const auto end = static_cast<edge_count>(from.offsets[v + 1]);
  const unsigned lane = threadIdx.x % 32;
  for (auto e = static_cast<edge_count>(from.offsets[v]); e < end; e += 32) {
    visit(e + lane < end, i, e + lane);
  }
}

/// Visits a block's part of a frontier with one thread per vertex, without the edges of heavy
/// vertices. All threads of the block call heavy(is_heavy, i, degree) together, once for each
/// vertex of a thread.
template <class Visit, class Heavy>
__device__ void visit_by_thread(const edge_frontier& from, const round_part& part,
                                edge_count heavy_degree, const Visit& visit, const Heavy& heavy) {
  const edge_count stride = edge_count{part.count} * tuning::threads;
  for (edge_count base = from.begin + edge_count{part.rank} * tuning::threads; base < from.end;
       base += stride) {
    const auto i = static_cast<unsigned>(base + threadIdx.x);
    edge_count e = 0;
    edge_count end = 0;
    if (base + threadIdx.x < from.end) {
      const unsigned v = from.vertex(i);
      e = static_cast<edge_count>(from.offsets[v]);
      end = static_cast<edge_count>(from.offsets[v + 1]);
    }
    const edge_count degree = end - e;
    const bool is_heavy = degree >= heavy_degree;
    if (is_heavy) end = e;
    for (; __any_sync(full_warp_mask, e < end) != 0; ++e) visit(e < end, i, e);
    heavy(is_heavy, i, degree);
  }
}

/// The vertices of a tile of consecutive edges.
template <unsigned threads>
struct edge_tile {
  static constexpr unsigned capacity = threads * tuning::edges_per_thread;
  static_assert(capacity < 1u << 16);
  edge_count base[capacity];       ///< edge index minus position of the edge in the frontier
  unsigned short start[capacity];  ///< first edge in the tile

  /// Returns the index, below `count`, of the vertex that has edge j of the tile. Of vertices with
  /// the same start, only the last one has edges in the tile.
  [[nodiscard]] __device__ unsigned owner_of(unsigned j, unsigned count) const {
    unsigned low = 0;
    for (unsigned high = count; high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (start[middle] <= j ? low : high) = middle;
    }
    return low;
  }
};

/// The shared memory of a block that calls for_edges(). Kernels declare it, because nvlink adds the
/// shared memory of device functions to that of all kernels.
template <bool has_children>
struct edge_loop_memory {
  edge_tile<tuning::threads> tile;
};
template <>
struct edge_loop_memory<true> {
  using scan = block_scan<edge_count, tuning::threads>;
  edge_tile<tuning::threads> tile;
  // Of visit_with_aggregated_children():
  typename scan::TempStorage storage;
  frontier_size first;
  bool is_launched;
};

/// Returns, to all threads of the block, the last vertex of the list whose edges begin at or before
/// `edge`. The block probes `threads` vertices at a time.
template <unsigned threads>
__device__ unsigned owner_by_block(const edge_frontier& from, edge_count edge) {
  unsigned low = from.begin;
  unsigned high = from.end;
  while (high - low > 1) {
    const unsigned step = (high - low - 1) / threads + 1;
    const edge_count probe = low + edge_count{threadIdx.x} * step;
    const bool at_or_before = probe < high && from.first(static_cast<unsigned>(probe)) <= edge;
    const auto found = static_cast<unsigned>(__syncthreads_count(at_or_before));
    low += (found - 1) * step;  // the first probe is always at or before the edge
    high = min(low + step, high);
  }
  return low;
}

/// Visits share `block` of `blocks` equal shares of the edges. All threads of the block must call
/// it. `tile` is in shared memory.
template <unsigned threads, class Visit>
__device__ void visit_balanced(const edge_frontier& from, unsigned block, unsigned blocks,
                               const Visit& visit, edge_tile<threads>& tile) {
  using tile_type = edge_tile<threads>;
  const edge_count edges = from.edge_end - from.edge_begin;
  const auto share = [&](edge_count b) {
    return from.edge_begin + edges / blocks * b + edges % blocks * b / blocks;
  };
  const edge_count last = share(edge_count{block} + 1);
  edge_count begin = share(block);
  if (begin == last) return;
  unsigned first_vertex = owner_by_block<threads>(from, begin);
  while (begin < last) {
    // 1. Load the vertices that have the next edges.
    edge_count end = begin + tile_type::capacity < last ? begin + tile_type::capacity : last;
    unsigned count = 0;
    bool may_have_more = true;
    while (may_have_more && count < tile_type::capacity) {
      const unsigned k = count + threadIdx.x;
      const edge_count i = edge_count{first_vertex} + k;
      const edge_count first = i < from.end ? from.first(static_cast<unsigned>(i)) : end;
      if (first < end) {
        const unsigned v = from.vertex(static_cast<unsigned>(i));
        tile.base[k] = static_cast<edge_count>(from.offsets[v]) - first;
        tile.start[k] = static_cast<unsigned short>(first > begin ? first - begin : 0);
      }
      const auto loaded = static_cast<unsigned>(__syncthreads_count(first < end));
      count += loaded;
      may_have_more = loaded == threads;
    }
    // If many vertices have no edges, the tile ends before the first vertex that does not fit.
    const edge_count next = edge_count{first_vertex} + count;
    if (may_have_more && next < from.end) end = min(end, from.first(static_cast<unsigned>(next)));
    // 2. Visit the edges: consecutive threads have consecutive edges. Warps without edges wait.
    for (unsigned j = threadIdx.x; begin + (j - threadIdx.x % 32) < end; j += threads) {
      const bool has = begin + j < end;
      const unsigned k = tile.owner_of(j, count);
      visit(has, first_vertex + k, tile.base[k] + begin + j);
    }
    __syncthreads();
    begin = end;
    first_vertex += count - 1;
  }
}

/// A child grid: visits the edges of one part of a frontier. It releases its launch slot.
template <class Program>
__global__ void __maxnreg__(max_registers(tuning::threads))
    visit_child(Program program, edge_frontier part) {
  const traced here(program.trace, __func__);
  program.release_slot();
  __shared__ edge_tile<tuning::threads> tile;
  visit_balanced(part, blockIdx.x, gridDim.x, program.visitor(part), tile);
}

/// Launches a child grid over a part of a frontier; one thread calls it. Returns false if no grid
/// was launched: then the caller must visit the part.
template <bool launches, class Program>
[[nodiscard]] __device__ bool launch_part(const Program& program, const edge_frontier& part) {
  if constexpr (launches && Program::has_children && device_launch_available) {
    const unsigned blocks =
        min(blocks_for_edges(part.edge_end - part.edge_begin), program.children.max_blocks);
    if (launch_child("visit_edges", visit_child<Program>, {blocks, tuning::threads}, program,
                     part)) {
      return true;
    }
    if (program.slots.in_use != nullptr) atomicAdd(&program.status->spilled, 1ull);
  }
  return false;
}

/// Visits a frontier by threads, and launches one child grid for each heavy vertex. A warp visits
/// the heavy vertices that get no grid.
template <bool launches, class Program, class Visit>
__device__ void visit_with_children(const Program& program, const edge_frontier& from,
                                    const Visit& visit) {
  visit_by_thread(from, runtime::part_of_grid(), program.children.heavy_degree, visit,
                  [&](bool is_heavy, unsigned i, edge_count degree) {
                    bool left = is_heavy;
                    if (is_heavy) left = !launch_part<launches>(program, from.only(i, degree));
                    for (unsigned lanes = __ballot_sync(full_warp_mask, left); lanes != 0;
                         lanes &= lanes - 1) {
                      const int lane = __ffs(static_cast<int>(lanes)) - 1;
                      visit_by_warp(from, __shfl_sync(full_warp_mask, i, lane), visit);
                    }
                  });
}

/// Visits a frontier by threads, and launches one child grid for all heavy vertices that the block
/// finds in one iteration. The block visits them itself if no grid is launched.
template <bool launches, class Program, class Visit>
__device__ void visit_with_aggregated_children(const Program& program, const edge_frontier& from,
                                               const Visit& visit, edge_loop_memory<true>& shared) {
  const frontier_list list = program.children.aggregated;
  const auto heavy = [&](bool is_heavy, unsigned i, edge_count degree) {
    edge_count before = 0;
    edge_count total = 0;
    edge_loop_memory<true>::scan(shared.storage)
        .ExclusiveSum(is_heavy ? frontier_size::of(1, degree).bits : 0, before, total);
    if (total != 0) {  // the same in all threads
      if (threadIdx.x == 0) shared.first.bits = atomicAdd(&program.state->aggregated.bits, total);
      __syncthreads();
      const frontier_size first = shared.first;
      if (is_heavy) list.store({first.bits + before}, from.vertex(i));
      __threadfence();
      __syncthreads();
      const frontier_size all{total};
      const edge_frontier part{from.offsets,
                               list.vertices,
                               list.first_edge,
                               first.vertices(),
                               first.vertices() + all.vertices(),
                               first.edges(),
                               first.edges() + all.edges(),
                               from.round};
      if (threadIdx.x == 0) shared.is_launched = launch_part<launches>(program, part);
      __syncthreads();
      if (!shared.is_launched) visit_balanced(part, 0, 1, program.visitor(part), shared.tile);
    }
    __syncthreads();  // the shared memory may be used again
  };
  visit_by_thread(from, runtime::part_of_grid(), program.children.heavy_degree, visit, heavy);
}

/// Calls the program's visitor for the edges of a block's part of `from`. All threads of the block
/// must call it. Strategies that launch child grids require the part of the block in its grid. If
/// `launches` is false, the kernel contains no device launches.
template <bool launches, class Program>
__device__ void for_edges(const Program& program, const edge_frontier& from, const round_part& part,
                          edge_loop_memory<Program::has_children>& shared) {
  const auto visit = program.visitor(from);
  if constexpr (Program::has_children) {
    if (program.strategy == edge_strategy::child_grid) {
      visit_with_children<launches>(program, from, visit);
    } else {
      visit_with_aggregated_children<launches>(program, from, visit, shared);
    }
  } else {
    constexpr unsigned warps = tuning::threads / 32;
    switch (program.strategy) {
      case edge_strategy::thread:
        visit_by_thread(from, part, ~edge_count{0}, visit, [](bool, unsigned, edge_count) {});
        break;
      case edge_strategy::warp:
        for (edge_count i = from.begin + edge_count{part.rank} * warps + threadIdx.x / 32;
             i < from.end; i += edge_count{part.count} * warps) {
          visit_by_warp(from, static_cast<unsigned>(i), visit);
        }
        break;
      case edge_strategy::block:
        for (edge_count i = edge_count{from.begin} + part.rank; i < from.end; i += part.count) {
          const unsigned v = from.vertex(static_cast<unsigned>(i));
          const auto end = static_cast<edge_count>(from.offsets[v + 1]);
          for (auto e = static_cast<edge_count>(from.offsets[v]); e < end; e += tuning::threads) {
            visit(e + threadIdx.x < end, static_cast<unsigned>(i), e + threadIdx.x);
          }
        }
        break;
      default: visit_balanced(from, part.rank, part.count, visit, shared.tile);
    }
  }
}

/// Returns the number of blocks that can share the edges of a frontier by for_edges().
[[nodiscard]] __host__ __device__ inline unsigned blocks_for(edge_strategy strategy,
                                                             frontier_size size) {
  unsigned vertices_per_block = tuning::threads;
  switch (strategy) {
    case edge_strategy::balanced: return blocks_for_edges(size.edges());
    case edge_strategy::warp: vertices_per_block = tuning::threads / 32; break;
    case edge_strategy::block: vertices_per_block = 1; break;
    default: break;
  }
  const unsigned blocks = (size.vertices() + vertices_per_block - 1) / vertices_per_block;
  return blocks < 1 ? 1 : blocks;
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
