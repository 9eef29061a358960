// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// breadth_first_searches(): up to 64 searches at once, by operators (operators.cuh). A bit of a
/// 64-bit word stands for a search, so each read of an edge serves all searches whose frontier
/// contains its source.
///
///     begin      seen <-- the searches that begin at the vertex
///     push       for every edge of the frontier: `arriving` of the target receives the searches
///                that are at the source and have not seen the target
///     settle     for every vertex of the frontier: these searches are at the vertex now, have seen
///                it, and get its level
///     settle_all the same for a frontier with many vertices: reads all vertices, so that the
///                threads of a warp write consecutive levels
///
/// Join: see operator_rounds.cuh. Source: Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper,
/// Neumann, Vo, "The more the merrier: efficient multi-source graph traversal", VLDB 2014.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/graph/operator_rounds.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/residency.cuh>
#include <span>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// A bit for each search.
using search_set = unsigned long long;

/// The algorithm for graph_rounds().
struct shared_searches {
  struct state {
    std::int32_t level = 1;  ///< of the vertices that `push` finds
  };
  struct begin : all_vertices {};
  struct push : frontier_edges {};
  struct settle : frontier_vertices {};
  struct settle_all : all_vertices {};
  using step = graph_step<begin, push, settle, settle_all>;

  std::int32_t* levels;  ///< rows of `stride` elements, one for each search; may be null
  std::size_t stride;
  unsigned count;  ///< number of searches
  std::int32_t sources[max_searches];
  search_set* seen;      ///< of each vertex: the searches that have reached it
  search_set* at;        ///< those that reached it in the last level
  search_set* arriving;  ///< those that reach it in this level

  __device__ bool operator()(begin, state&, std::int32_t v) const {
    search_set here = 0;
    for (unsigned i = 0; i < count; ++i) {
      const bool is_source = sources[i] == v;
      if (is_source) here |= search_set{1} << i;
      if (levels != nullptr) level_of(i, v) = is_source ? 0 : -1;
    }
    seen[v] = here;
    at[v] = here;
    arriving[v] = 0;
    return here != 0;
  }
  __device__ bool operator()(push, state&, const graph_edge& e) const {
    search_set& to = arriving[e.target];
    search_set added = at[e.source] & ~seen[e.target];
    // Most searches that arrive have arrived over another edge, and a read costs less than an
    // atomic operation.
    if (added != 0) added &= ~load_relaxed(to);
    return added != 0 && atomicOr(&to, added) == 0;
  }
  __device__ void operator()(settle, state& s, std::int32_t v) const {
    const search_set here = arriving[v];
    if (here == 0) return;
    arriving[v] = 0;
    at[v] = here;
    seen[v] |= here;
    if (levels == nullptr) return;
    for (unsigned i = 0; i < count; ++i) {
      if ((here >> i & 1) != 0) level_of(i, v) = s.level;
    }
  }
  __device__ void operator()(settle_all, state& s, std::int32_t v) const {
    (*this)(settle{}, s, v);
  }
  __device__ step next(state& s, const graph_round<step>& after) const {
    if (after.last == push{}) {
      if (after.frontier.vertices == 0) return step::done();
      return after.frontier.vertices > after.graph.vertices / 8 ? step(settle_all{}) : settle{};
    }
    if (after.last != begin{}) ++s.level;
    return push{};
  }

  [[nodiscard]] __device__ std::int32_t& level_of(unsigned search, std::int32_t v) const {
    return levels[search * stride + static_cast<std::size_t>(v)];
  }
};

/// The searches, the Search of graph_program.
struct many_searches : operator_rounds<shared_searches> {
  unsigned source;  ///< the largest source, which must be a vertex

  using report_type = searches_report;

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    operator_rounds::take(memory, n);
    for (search_set** set : {&algorithm.seen, &algorithm.at, &algorithm.arriving}) {
      *set = memory.take<search_set>(n);
    }
  }
  void complete(report_type& report, const state& s) const {
    report.levels = static_cast<std::uint64_t>(s.user.level - 1);
  }
};

/// Returns the searches from `sources`, which check_arguments() has checked, without their arrays
/// in scratch memory.
[[nodiscard]] inline many_searches searches_of(const graph_view& graph,
                                               std::span<const std::int64_t> sources,
                                               std::int32_t* levels) {
  many_searches made{};
  made.algorithm.levels = levels;
  made.algorithm.stride = graph.vertices();
  for (const std::int64_t source : sources) {
    made.algorithm.sources[made.algorithm.count++] = static_cast<std::int32_t>(source);
    made.source = std::max(made.source, static_cast<unsigned>(source));
  }
  return made;
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the scratch memory of breadth_first_searches(), in bytes of device memory: 52 for each
/// vertex. It reads no element of an array and launches nothing. \throws std::invalid_argument
template <class = void>
[[nodiscard]] std::size_t searches_scratch_bytes(const graph_view& graph,
                                                 const graph_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::many_searches>(graph, options);
}

/// Starts breadth-first searches from several sources, which share the reads of edges. Work that
/// enters the stream after the call sees the complete output; see <ramify/graph.cuh>. The searches
/// are top-down: graph.in_offsets and graph.in_sources are ignored. O(n + m) work for each level
/// that has all vertices in the frontier of some search, and n * k writes of levels.
///
/// \param sources  k vertices in host memory, 1 <= k <= 64, which are copied; they may repeat
/// \param levels   device array of k rows of n elements: levels[i * n + v] is the number of edges
///                 of a shortest path from sources[i] to v; -1: not reached. n is
///                 graph.vertices(). Null: not computed
/// \param env      its memory: searches_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, as <ramify/graph.cuh> states
template <class Options = graph_options>
async_run<searches_report> breadth_first_searches_async(
    const graph_view& graph, std::span<const std::int64_t> sources, std::int32_t* levels,
    const std::type_identity_t<Options>& options, const environment& env = {}) {
  const phase_range range("graph: breadth-first searches");
  const auto arrays = detail::graph::check_arguments(graph.outgoing(), sources, levels, options);
  const auto searches = detail::graph::searches_of(graph, sources, levels);
  return detail::graph::start_search("breadth_first_searches", arrays, graph.outgoing(), options,
                                     searches, env);
}
/// Overload with the default options.
template <class = void>
async_run<searches_report> breadth_first_searches_async(const graph_view& graph,
                                                        std::span<const std::int64_t> sources,
                                                        std::int32_t* levels,
                                                        const environment& env = {}) {
  return breadth_first_searches_async<detail::default_of<graph_options>>(graph, sources, levels, {},
                                                                         env);
}

/// Searches breadth-first from several sources at once, and waits for the searches:
/// breadth_first_searches_async() and get().
/// \param env  its memory: searches_scratch_bytes(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error, as
///         <ramify/graph.cuh> states
template <class Options = graph_options>
searches_report breadth_first_searches(const graph_view& graph,
                                       std::span<const std::int64_t> sources, std::int32_t* levels,
                                       const std::type_identity_t<Options>& options,
                                       const environment& env = {}) {
  return breadth_first_searches_async<Options>(graph, sources, levels, options,
                                               detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <class = void>
searches_report breadth_first_searches(const graph_view& graph,
                                       std::span<const std::int64_t> sources, std::int32_t* levels,
                                       const environment& env = {}) {
  return breadth_first_searches<detail::default_of<graph_options>>(graph, sources, levels, {}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
