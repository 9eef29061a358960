// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms for CUDA code, on a graph in compressed sparse rows in device memory:
/// breadth-first search, shortest paths, connected components, PageRank, and algorithms of the
/// caller (graph_rounds(), which graph/operators.cuh describes).
///
///     0 ─ 1 ─ 3      offsets <-- [0, 2, 4, 5, 6, 6]    levels     --> [0, 1, 1, 2, -1]
///       └ 2     4    targets <-- [1, 2, 0, 3, 0, 1]    parents    --> [-1, 0, 0, 1, -1]
///                                                      components --> [0, 0, 0, 0, 4]
///
///     const auto graph = ramify::graph_view::symmetric({offsets, n + 1}, {targets, m});
///     ramify::breadth_first_search(graph, 0, {.levels = levels, .parents = parents});
///     ramify::breadth_first_searches(graph, sources, levels_of_each);  // up to 64, at once
///     ramify::shortest_paths(graph, {weights, m}, 0, {.distances = distances});
///     ramify::connected_components(graph, components);
///     ramify::pagerank(graph, ranks, {.stream = stream, .route = ramify::route::flat});
///
/// Compiled by nvcc they run on the GPU, compiled by a C++ compiler on the CPU executor. For host
/// memory, and for code that nvcc does not compile, use the facade <ramify/graph.hpp>.
///
/// Input         see graph_view; at most 2^31 - 1 vertices and 2^33 - 1 edges. Self-loops and
///               repeated edges are allowed. Device, managed or pinned memory.
/// Sizes         those of the spans. Or only the device has the number of edges, and perhaps that
///               of vertices: graph_view::with_edges_on_device(), with_vertices(). Outputs
///               and scratch memory then have the size of the upper bounds. One grid more reads the
///               numbers.
/// Weights       of type float, double or std::uint64_t; distances have the same type. Braced
///               weights, `{weights, m}` and `{}`, are of type float; std::span(weights, m) is of
///               any type. Weights are at least 0; an infinite one is no edge. Infinity is 2^64 - 1
///               for integers. Sums of float and of double are rounded, and a sum above their range
///               is infinite. Sums of integers are exact; a distance above 2^64 - 3 is an error.
///               float is the fastest.
/// Outputs       n elements each; a null output is not computed. Outputs must not overlap the input
///               or one another. Levels, distances, components and ranks are the same in every run
///               and with every strategy. Of several shortest paths, a run stores any one in
///               parents.
/// Strategies    for_edges.cuh lists them.
/// Scratch       bytes per vertex: search 24.25, paths 36.13, components 4, PageRank 24, searches
///               from many sources 52, operators 28 or less; the strategy aggregated needs 12 more.
///               The memory comes from Ramify's stream-ordered pool, or from the caller;
///               bfs_scratch_bytes() and its siblings return the size.
/// Stream        ordered with the work before and after in the stream. A function without _async
///               waits for its stream. One with _async does not wait, except that the first
///               automatic route on a GPU measures launches (see choose_route()). Work that
///               enters the stream after the call sees the complete outputs: a loop in a CUDA graph
///               follows the first grids in the stream, and launches those that are left. get()
///               waits, reports, and throws for a faulty graph. Where the stream cannot complete a
///               run (environment::completion), the call waits. With completion::by_get, get()
///               launches what is left, and the outputs are complete when it returns.
/// Capture       a CUDA graph can capture the _async functions if memory is handed in. Each of its
///               launches completes the run. It has a WHILE node, except with completion::by_get on
///               the device route, and then it cannot be a child graph. The run must exist as long
///               as the CUDA graph may be launched. get() may be called after each launch. The flat
///               route cannot be captured with flat_loop::host.
/// Launches      a chain of grids. The blocks that stay in a grid, its team, run the next phase if
///               each of them gets the work of at most four blocks, or if the team has all blocks
///               that can be resident. Otherwise, on the device route, its last block launches a
///               larger grid. Grids of other streams wait for the places of a team's blocks. With
///               the strategy balanced, a grid of one block runs many consecutive rounds over thin
///               frontiers. With child grids each phase is a grid, which a driver kernel launches
///               by a tail launch.
/// Errors        std::length_error for a number in device memory that exceeds its upper bound.
///               std::invalid_argument for a bad argument, an offset that decreases, a target that
///               is no vertex, a weight that is negative or not a number, and an integer distance
///               that is too large. The message names the field, the smallest index or the vertex,
///               and no output is written. unavailable if the device route is requested without
///               -rdc=true. cuda_error and device_launch_error: after these the outputs are
///               undefined.
/// Complexity    The check of the arrays reads each element once; check_graph = false omits it.
///               Search: O(n + m) work of top-down levels, in as many dependent steps as there are
///               levels; bottom-up levels stop at the first closed neighbor. Paths: O(n + m) work
///               if delta is well chosen; each bucket takes several steps, one of which reads n
///               bits on a GPU. With weights of 64 bits, parents take another pass over the edges.
///               Components: nearly O(n + m) work in one round. PageRank: O(n + m) in each
///               iteration.
/// In kernels    A thread of a kernel calls breadth_first_search() with a called_graph and a
///               kernel_environment. The call does not wait; see graph/calls.cuh and
///               <ramify/runtime/call_arena.cuh>.
/// Sources       bfs.cuh, sssp.cuh, components.cuh and pagerank.cuh name them.
/// Not for       graphs of a few thousand edges, where launches take longer than a loop on the
///               host.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/graph/bfs.cuh>
#include <ramify/graph/calls.cuh>
#include <ramify/graph/components.cuh>
#include <ramify/graph/config.hpp>
#include <ramify/graph/many_sources.cuh>
#include <ramify/graph/operator_rounds.cuh>
#include <ramify/graph/pagerank.cuh>
#include <ramify/graph/run.cuh>
#include <ramify/graph/sssp.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <span>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

// Functions are templates even without a type of the caller among their arguments: so a program
// compiles the kernels only of the functions that it calls. A call without options compiles no
// strategy that launches child grids.

// ---- breadth-first search ----

/// Returns the scratch memory of a breadth-first search, in bytes of device memory. It reads no
/// element of an array and launches nothing. \throws std::invalid_argument
template <class = void>
[[nodiscard]] std::size_t bfs_scratch_bytes(const graph_view& graph,
                                            const bfs_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::breadth_first>(graph, options);
}

/// Starts a breadth-first search from `source`. Work that enters the stream after the call sees the
/// complete outputs; see Stream above.
///
/// \param results  device arrays of n elements each; null: not computed
/// \param env      its memory: bfs_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <class Options = bfs_options>
async_run<bfs_report> breadth_first_search_async(const graph_view& graph, std::int64_t source,
                                                 const bfs_arrays& results,
                                                 const std::type_identity_t<Options>& options,
                                                 const environment& env = {}) {
  const phase_range range("graph: breadth-first search");
  const auto arrays = detail::graph::check_arguments(graph, source, results, options);
  detail::graph::breadth_first search = detail::graph::search_of(options);
  search.to = results;
  search.source = static_cast<unsigned>(source);
  if (options.direction == bfs_direction::automatic) {
    search.direction = graph.has_in_edges() ? bfs_direction::optimizing : bfs_direction::top_down;
  }
  return detail::graph::start_search("breadth_first_search", arrays, graph, options, search, env);
}
/// Overload with the default options.
template <class = void>
async_run<bfs_report> breadth_first_search_async(const graph_view& graph, std::int64_t source,
                                                 const bfs_arrays& results,
                                                 const environment& env = {}) {
  return breadth_first_search_async<detail::default_of<bfs_options>>(graph, source, results, {},
                                                                     env);
}

/// Searches breadth-first from `source` and waits for the search: breadth_first_search_async() and
/// get().
/// \param env  its memory: bfs_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <class Options = bfs_options>
bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_arrays& results,
                                const std::type_identity_t<Options>& options,
                                const environment& env = {}) {
  return breadth_first_search_async<Options>(graph, source, results, options, detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <class = void>
bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_arrays& results, const environment& env = {}) {
  return breadth_first_search<detail::default_of<bfs_options>>(graph, source, results, {}, env);
}

// ---- shortest paths ----

/// Returns the scratch memory of shortest_paths(), in bytes of device memory. It reads no element
/// of an array and launches nothing. \throws std::invalid_argument
template <edge_length T = float>
[[nodiscard]] std::size_t sssp_scratch_bytes(const graph_view& graph,
                                             const sssp_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::delta_stepping<T>>(graph, options);
}

/// Starts to compute the shortest paths from `source`. Work that enters the stream after the call
/// sees the complete outputs; see Stream above. Ignores graph.in_offsets and graph.in_sources.
///
/// \param weights  device array of m edge lengths, in the order of graph.targets; see Weights above
/// \param results  device arrays of n elements each; null: not computed
/// \param env      its memory: sssp_scratch_bytes<T>(graph, options), for lengths of type T
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <edge_lengths Weights = std::span<const float>, class Options = sssp_options>
async_run<sssp_report> shortest_paths_async(const graph_view& graph, const Weights& weights,
                                            std::int64_t source,
                                            const basic_sssp_arrays<length_in<Weights>>& results,
                                            const std::type_identity_t<Options>& options,
                                            const environment& env = {}) {
  using T = length_in<Weights>;
  const phase_range range("graph: shortest paths");
  const std::span<const T> lengths(weights);
  const auto arrays = detail::graph::check_arguments(graph, lengths, source, results, options);
  detail::graph::delta_stepping<T> search{};
  search.to = results;
  search.weights = lengths.data();
  search.source = static_cast<unsigned>(source);
  search.delta = options.delta == 0 ? T{0} : detail::graph::delta_of<T>(options.delta);
  search.adapts = options.delta == 0 && !detail::graph::has_child_grids(options.strategy);
  return detail::graph::start_search("shortest_paths", arrays, graph.outgoing(), options, search,
                                     env);
}
/// Overload with the default options.
template <edge_lengths Weights = std::span<const float>>
async_run<sssp_report> shortest_paths_async(const graph_view& graph, const Weights& weights,
                                            std::int64_t source,
                                            const basic_sssp_arrays<length_in<Weights>>& results,
                                            const environment& env = {}) {
  return shortest_paths_async<Weights, detail::default_of<sssp_options>>(graph, weights, source,
                                                                         results, {}, env);
}

/// Computes the shortest paths from `source` and waits for them: shortest_paths_async() and get().
/// \param env  its memory: sssp_scratch_bytes<T>(graph, options), for lengths of type T
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <edge_lengths Weights = std::span<const float>, class Options = sssp_options>
sssp_report shortest_paths(const graph_view& graph, const Weights& weights, std::int64_t source,
                           const basic_sssp_arrays<length_in<Weights>>& results,
                           const std::type_identity_t<Options>& options,
                           const environment& env = {}) {
  return shortest_paths_async<Weights, Options>(graph, weights, source, results, options,
                                                detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <edge_lengths Weights = std::span<const float>>
sssp_report shortest_paths(const graph_view& graph, const Weights& weights, std::int64_t source,
                           const basic_sssp_arrays<length_in<Weights>>& results,
                           const environment& env = {}) {
  return shortest_paths<Weights, detail::default_of<sssp_options>>(graph, weights, source, results,
                                                                   {}, env);
}

// ---- connected components ----

/// Returns the scratch memory of connected_components(), in bytes of device memory. It reads no
/// element of an array and launches nothing. \throws std::invalid_argument
template <class = void>
[[nodiscard]] std::size_t components_scratch_bytes(const graph_view& graph,
                                                   const graph_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::union_find>(graph, options);
}

/// Starts to compute the connected components. Work that enters the stream after the call sees the
/// complete output; see Stream above. The direction of edges is ignored: a directed graph gets its
/// weakly connected components.
///
/// \param components  device array of n elements: the smallest vertex of the component of each
///                    vertex; null: only the number of components is computed
/// \param env         its memory: components_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <class Options = graph_options>
async_run<components_report> connected_components_async(
    const graph_view& graph, std::int32_t* components, const std::type_identity_t<Options>& options,
    const environment& env = {}) {
  const phase_range range("graph: connected components");
  const auto arrays = detail::graph::check_arguments(graph, components, "components", options);
  detail::graph::union_find search{};
  search.to = components;
  search.is_symmetric = graph.is_symmetric();
  return detail::graph::start_search("connected_components", arrays, graph.outgoing(), options,
                                     search, env);
}
/// Overload with the default options.
template <class = void>
async_run<components_report> connected_components_async(const graph_view& graph,
                                                        std::int32_t* components,
                                                        const environment& env = {}) {
  return connected_components_async<detail::default_of<graph_options>>(graph, components, {}, env);
}

/// Computes the connected components and waits for them: connected_components_async() and get().
/// \param env  its memory: components_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <class Options = graph_options>
components_report connected_components(const graph_view& graph, std::int32_t* components,
                                       const std::type_identity_t<Options>& options,
                                       const environment& env = {}) {
  return connected_components_async<Options>(graph, components, options, detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <class = void>
components_report connected_components(const graph_view& graph, std::int32_t* components,
                                       const environment& env = {}) {
  return connected_components<detail::default_of<graph_options>>(graph, components, {}, env);
}

// ---- PageRank ----

/// Returns the scratch memory of pagerank(), in bytes of device memory. It reads no element of an
/// array and launches nothing. \throws std::invalid_argument
template <class = void>
[[nodiscard]] std::size_t pagerank_scratch_bytes(const graph_view& graph,
                                                 const pagerank_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::power_iteration>(graph, options);
}

/// Starts to compute the PageRank of all vertices. Work that enters the stream after the call sees
/// the complete output; see Stream above. Ignores graph.in_offsets and graph.in_sources.
///
/// \param ranks  device array of n elements, whose sum is about 1; null: not computed
/// \param env    its memory: pagerank_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error; see Errors above
template <class Options = pagerank_options>
async_run<pagerank_report> pagerank_async(const graph_view& graph, double* ranks,
                                          const std::type_identity_t<Options>& options,
                                          const environment& env = {}) {
  const phase_range range("graph: PageRank");
  const auto arrays = detail::graph::check_arguments(graph, ranks, "ranks", options);
  detail::graph::power_iteration search{};
  search.to = ranks;
  search.damping = options.damping;
  // The change of all ranks is at most 2.
  search.tolerance =
      static_cast<detail::graph::rank>((options.tolerance < 2 ? options.tolerance : 2) *
                                       static_cast<double>(detail::graph::rank_one));
  search.max_iterations = options.max_iterations;
  return detail::graph::start_search("pagerank", arrays, graph.outgoing(), options, search, env);
}
/// Overload with the default options.
template <class = void>
async_run<pagerank_report> pagerank_async(const graph_view& graph, double* ranks,
                                          const environment& env = {}) {
  return pagerank_async<detail::default_of<pagerank_options>>(graph, ranks, {}, env);
}

/// Computes the PageRank of all vertices and waits for it: pagerank_async() and get().
/// \param env  its memory: pagerank_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <class Options = pagerank_options>
pagerank_report pagerank(const graph_view& graph, double* ranks,
                         const std::type_identity_t<Options>& options,
                         const environment& env = {}) {
  return pagerank_async<Options>(graph, ranks, options, detail::waiting(env)).get();
}
/// Overload with the default options.
template <class = void>
pagerank_report pagerank(const graph_view& graph, double* ranks, const environment& env = {}) {
  return pagerank<detail::default_of<pagerank_options>>(graph, ranks, {}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
