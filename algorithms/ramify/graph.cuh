// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms for CUDA code: breadth-first search of a graph in compressed sparse rows, in
/// device memory.
///
///     0 ─ 1 ─ 3      offsets  <-- [0, 2, 4, 5, 6, 6]      levels  --> [0, 1, 1, 2, -1]
///       └ 2     4    targets  <-- [1, 2, 0, 3, 0, 1]      parents --> [-1, 0, 0, 1, -1]
///
///     const auto graph = ramify::graph_view::symmetric({offsets, n + 1}, {targets, m});
///     ramify::breadth_first_search(graph, 0, {.levels = levels, .parents = parents});
///
/// Compiled by nvcc it runs on the GPU, compiled by a C++ compiler on the CPU executor.
///
/// Input         see graph_view; at most 2^31 - 1 vertices and 2^33 - 1 edges. Self-loops and
///               repeated edges are allowed. Device, managed or pinned memory.
/// Outputs       n elements each; a null output is not computed. Outputs must not overlap the input
///               or one another. Levels are the same in every run; of several shortest paths,
///               parents hold any one.
/// Strategies    for_edges.cuh lists them. They change the time, and not the levels.
/// Scratch       24.25 bytes per vertex, and 12 more with the strategy aggregated. From Ramify's
///               stream-ordered pool, or from the caller; bfs_scratch_bytes() returns the size.
/// Stream        ordered with the work before and after in the stream. breadth_first_search() waits
///               for its stream. breadth_first_search_async() does not wait; get() waits, checks
///               the graph, and launches what kernels could not launch: only then is the run
///               complete.
/// Graphs        a CUDA graph can capture breadth_first_search_async() if the caller provides the
///               scratch memory. The run must outlive the CUDA graph. get() may follow each launch.
///               The flat route cannot be captured with flat_loop::host.
/// Launches      a chain of grids, one for each level; the last block of each grid launches the
///               next. One block searches consecutive thin levels in one grid. Strategies with
///               child grids are joined by a driver's tail launches.
/// Errors        std::invalid_argument for a bad argument, for an offset that decreases, and for a
///               target that is no vertex. The message names the field or the smallest index, and
///               no output is written. unavailable if the device route is requested without
///               -rdc=true. cuda_error and device_launch_error: after these the outputs are
///               undefined.
/// Complexity    O(n + m) work. A check of the arrays reads each element once; check_graph = false
///               omits it. The search reads each edge at most once in each direction; bottom-up
///               levels skip most of them. The number of dependent steps is the number of levels.
/// Sources       Merrill, Garland and Grimshaw (2012); Beamer, Asanović and Patterson (2012).
/// Not for       graphs of a few thousand edges, where a loop on the host is faster; many sources
///               at once, which could share reads of the edges.

#include <cstddef>
#include <cstdint>
#include <ramify/graph/bfs.cuh>
#include <ramify/graph/config.hpp>
#include <ramify/graph/run.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A run of breadth_first_search_async().
using bfs_run = graph_run<detail::graph::breadth_first>;

/// Returns the scratch memory of a breadth-first search, in bytes of device memory. It reads no
/// element of an array and launches nothing.
[[nodiscard]] inline std::size_t bfs_scratch_bytes(const graph_view& graph,
                                                   const bfs_config& config = {}) {
  return detail::graph::scratch_bytes<detail::graph::breadth_first>(graph.vertices(),
                                                                    config.strategy);
}

/// Starts a breadth-first search from `source` in `stream`. The outputs are complete when get()
/// returns.
///
/// \param results  device arrays of n elements each; null: not computed
/// \param scratch  device memory of at least bfs_scratch_bytes(graph, config) bytes; by default the
///                 call allocates it in `stream`
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
inline bfs_run breadth_first_search_async(const graph_view& graph, std::int64_t source,
                                          const bfs_arrays& results, cudaStream_t stream = nullptr,
                                          const bfs_config& config = {},
                                          scratch_memory scratch = {}) {
  namespace internal = detail::graph;
  const phase_range range("graph: breadth-first search");
  const auto arrays = internal::check_arguments(graph, source, results, config);
  const relaxed_capture_scope here;
  internal::breadth_first search{};
  search.arrays.to = results;
  search.arrays.source = static_cast<unsigned>(source);
  search.direction = config.direction;
  if (config.direction == bfs_direction::automatic) {
    search.direction = graph.has_in_edges() ? bfs_direction::optimizing : bfs_direction::top_down;
  }
  search.alpha = config.alpha;
  search.beta = config.beta;
  search.vertices = static_cast<unsigned>(graph.vertices());
  // One block cannot show how the other strategies distribute the edges.
  const bool allows_thin = config.strategy == edge_strategy::balanced;
  search.thin_edges = allows_thin ? internal::tuning::thin_edges : 0;
  return bfs_run(
      internal::start(arrays, {graph, config, stream, scratch, "breadth_first_search"}, search));
}

/// Searches breadth-first from `source`, and waits for `stream`.
///
/// \param results  device arrays of n elements each; null: not computed
/// \param scratch  device memory of at least bfs_scratch_bytes(graph, config) bytes; by default the
///                 call allocates it in `stream`
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
inline bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                       const bfs_arrays& results, cudaStream_t stream = nullptr,
                                       const bfs_config& config = {}, scratch_memory scratch = {}) {
  return breadth_first_search_async(graph, source, results, stream, config, scratch).get();
}

}  // namespace ramify::inline RAMIFY_BUILD
