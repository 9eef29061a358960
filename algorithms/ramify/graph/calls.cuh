// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Breadth-first searches that kernels call: called_graph, bfs_calls, which is the plan of such
/// calls in a call_arena, and the function that a thread calls.
///
///     using searches = ramify::bfs_calls<>;
///     ramify::call_arena arena(searches(max_vertices));
///     ...                                                                       // in a kernel:
///     const ramify::called_graph graph{offsets, targets, vertices, edges};
///     status = ramify::breadth_first_search(graph, source, {.levels = levels}, calls);
///
/// Options      those of the plan, which hold for all its calls. The strategies that launch child
///              grids are for the host.
/// Rounds       as in a search that the host starts (chain_call.cuh).
/// Faults       Of a faulty graph no output is written. The call ends as others do, and
///              call_report::faulty counts it.

#include <ramify/graph/bfs.cuh>
#include <ramify/graph/run.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A graph in compressed sparse rows, for a call from a kernel; see graph_view. All arrays are in
/// device memory.
struct called_graph {
  const std::int64_t* offsets;  ///< vertices + 1 elements
  const std::int32_t* targets;  ///< `edges` elements
  std::size_t vertices;         ///< number of vertices
  std::size_t edges;            ///< number of edges
  /// The edges by target, or null. A symmetric graph may have `offsets` and `targets` here.
  const std::int64_t* in_offsets = nullptr;
  const std::int32_t* in_sources = nullptr;  ///< the source of each edge that ends at a vertex
};

template <class = void>
class bfs_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// Returns a search with these options, without its arguments.
[[nodiscard]] inline breadth_first search_of(const bfs_options& options) {
  breadth_first search{};
  search.direction = options.direction;
  search.alpha = options.alpha;
  search.beta = options.beta;
  return search;
}

/// A search that a kernel has called. chain_call.cuh describes its members.
template <class T>
struct bfs_call : runtime::chain_call<bfs_call<T>> {
  using plan = bfs_calls<T>;
  using program_type = graph_program<breadth_first, false>;
  using ticket_type = runtime::call_ticket;
  static constexpr unsigned nested_grids = 6;

  called_graph graph;
  std::int64_t source;
  bfs_arrays results;

  [[nodiscard]] __device__ __forceinline__ bool fits(const plan& p) const {
    const bool has_in_edges = graph.in_offsets != nullptr;
    return graph.vertices <= p.max_vertices() && graph.edges <= p.max_edges() && source >= 0 &&
           static_cast<std::size_t>(source) < graph.vertices &&
           (has_in_edges || !p.needs_in_edges());
  }
  [[nodiscard]] __device__ bool is_empty() const { return false; }

  __device__ void write_state(const plan& p, const ticket_type& ticket) const {
    clear_state(ticket);
    const program_type search = program(p, ticket);
    breadth_first::state& state = *search.state;
    state = p.first_state();
    state.vertices = static_cast<unsigned>(graph.vertices);
    state.edges = graph.edges;
    search.search.begin(state);
  }
  [[nodiscard]] __device__ bool is_faulty(const plan& p, const ticket_type& ticket) const {
    return program(p, ticket).state->faults.any();
  }
  [[nodiscard]] __device__ program_type program(const plan& p, const ticket_type& ticket) const {
    memory_layout layout(ticket.scratch());
    layout.take<runtime::chain_call_state>(1);
    const graph_memory<breadth_first> parts(layout, graph.vertices, p.strategy(), p.search());
    program_type made;
    made.state = parts.state;
    made.out = {graph.offsets, graph.targets};
    made.in = {graph.in_offsets, graph.in_sources};
    made.lists[0] = parts.lists[0];
    made.lists[1] = parts.lists[1];
    made.strategy = p.strategy();
    made.children.max_blocks = p.max_blocks();
    made.search = parts.search;
    made.search.to = results;
    made.search.source = static_cast<unsigned>(source);
    if (made.search.direction == bfs_direction::automatic) {
      made.search.direction =
          graph.in_offsets != nullptr ? bfs_direction::optimizing : bfs_direction::top_down;
    }
    link_to_call(made, ticket);
    return made;
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of breadth_first_search() by kernels. (A template, so that
/// only a program that calls compiles the kernels.)
template <class T>
class bfs_calls {
  using state = detail::graph::breadth_first::state;

 public:
  using call = detail::graph::bfs_call<T>;                     ///< the call, for the runtime
  static constexpr const char* name = "breadth_first_search";  ///< the name of the call in messages
  static constexpr unsigned batches = 0;  ///< batches of calls, for the runtime

  /// Plans calls of graphs of up to `max_vertices` vertices. Calls of more are refused.
  /// \throws std::invalid_argument for too many vertices, for bad options, and for a strategy that
  ///         launches child grids
  explicit bfs_calls(std::size_t max_vertices, const bfs_options& options = {})
      : max_vertices_(max_vertices), strategy_(options.strategy) {
    detail::check_field(max_vertices <= max_graph_vertices, "bfs_calls: max_vertices", max_vertices,
                        "at most 2^31 - 1");
    validate(options);
    detail::check_field(!detail::graph::has_child_grids(options.strategy),
                        "bfs_calls: graph_options.strategy", to_string(options.strategy),
                        "thread, warp, block or balanced");
    search_ = detail::graph::search_of(options);
    if (!options.check_graph) first_state_.last = detail::graph::graph_phase::check;
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws cuda_error
  void prepare() { max_blocks_ = detail::graph::max_blocks_of<typename call::program_type>(); }

  /// Returns the scratch memory of any call, in bytes.
  [[nodiscard]] std::size_t scratch_bytes() const {
    memory_layout layout(nullptr);
    layout.take<detail::runtime::chain_call_state>(1);
    static_cast<void>(detail::graph::graph_memory<detail::graph::breadth_first>(
        layout, max_vertices_, strategy_, search_));
    return layout.size();
  }

  /// Returns the maximum number of vertices of the graph of a call.
  [[nodiscard]] __host__ __device__ std::size_t max_vertices() const { return max_vertices_; }
  /// Returns the maximum number of edges of the graph of a call.
  [[nodiscard]] __device__ static std::size_t max_edges() { return max_graph_edges; }
  /// Returns whether calls must have the edges that end at each vertex.
  [[nodiscard]] __device__ bool needs_in_edges() const {
    return search_.direction == bfs_direction::bottom_up ||
           search_.direction == bfs_direction::optimizing;
  }

  // What the calls read in kernels.
  /// Returns the strategy of all calls.
  [[nodiscard]] __device__ edge_strategy strategy() const { return strategy_; }
  /// Returns the maximum number of blocks of a grid.
  [[nodiscard]] __device__ unsigned max_blocks() const { return max_blocks_; }
  /// Returns the search, for the runtime.
  [[nodiscard]] __device__ const detail::graph::breadth_first& search() const { return search_; }
  /// Returns the first state of the search, for the runtime.
  [[nodiscard]] __device__ const state& first_state() const { return first_state_; }

 private:
  std::size_t max_vertices_;
  edge_strategy strategy_;
  unsigned max_blocks_ = 0;
  detail::graph::breadth_first search_{};
  state first_state_{};
};

/// Searches breadth-first from `source`: breadth_first_search() for a thread of a kernel. It
/// returns without waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param graph    refused if it has more vertices than the plan, or if the plan's direction needs
///                 the edges by target and the graph has none
/// \param source   refused if it is no vertex
/// \param results  arrays of an element for each vertex, in device memory; null: not computed
/// \param calls    a kernel_environment. The plan bfs_calls<> is among those of its arena.
template <class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
breadth_first_search(const called_graph& graph, std::int64_t source, const bfs_arrays& results,
                     const Calls& calls) {
  return detail::start_call(detail::graph::bfs_call<void>{{}, graph, source, results}, calls);
}

}  // namespace ramify::inline RAMIFY_BUILD
