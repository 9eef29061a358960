// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// graph_rounds(): the operators of a caller as phases of graph_program.
///
///     initialize   clears the stamps of vertices
///     edges        an operator over edges: for_edges() calls it
///     vertices     an operator over vertices. After an operator over edges that may have child
///                  grids, it visits no vertex: its last block calls next() when all child grids
///                  are complete
///
/// A vertex has a stamp, the number of the last frontier that an operator over edges appended it
/// to. So a frontier has each vertex at most once, and its list has space for all of them. An
/// operator with distinct_targets needs no stamps; if no other one appends targets, there are none.
///
/// Join: see rounds.cuh. The last block of an operator calls next(), and stores the operator that
/// is due.

#include <cstddef>
#include <cstdint>
#include <ramify/graph/operators.cuh>
#include <ramify/graph/rounds.cuh>
#include <ramify/graph/run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The part of a caller's algorithm in the state of the chain.
template <class Algorithm>
struct operator_state {
  unsigned frontiers = 0;  ///< frontiers that operators made; number f is in list f % 2
  std::uint16_t due = 0;   ///< index of the operator that is due
  bool is_open = false;    ///< an operator's child grids may run: next() was not called yet
};

/// The state of the chain, with the frontier of the operator that is due.
template <class Algorithm>
struct operator_round_state : round_state<operator_state<Algorithm>> {
  using operators = typename argument_types<Algorithm>::operators;
  using base = round_state<operator_state<Algorithm>>;

  /// Fills the line of the cache that has the sizes of the frontiers. Atomic additions to the sizes
  /// remove the line from caches, and operators read `user` for each edge.
  unsigned char gap[128 - sizeof(base) % 128]{};
  typename Algorithm::state user{};  ///< of the caller

  /// Returns the frontier that operators have made.
  [[nodiscard]] __host__ __device__ frontier_size made() const {
    return this->sizes[this->own.frontiers % 2];
  }
  /// Returns the size of what the operator that is due visits.
  [[nodiscard]] __host__ __device__ frontier_size frontier() const {
    return operators::is_over_frontier_at(this->own.due)
               ? made()
               : frontier_size::of(this->vertices, this->edges);
  }
};

/// Clears the stamps.
template <class Algorithm>
struct initialize_operators {
  static constexpr graph_phase phase = graph_phase::initialize;
  static __device__ const char* name() { return "initialize_operators"; }
  static __host__ __device__ unsigned count(const operator_round_state<Algorithm>& s) {
    return argument_types<Algorithm>::operators::edges_repeat ? s.vertices : 0;
  }

  template <class Program>
  __device__ explicit initialize_operators(const Program& program)
      : stamps(program.search.stamps) {}

  __device__ void visit(bool has, unsigned v) const {
    if (has) stamps[v] = 0;
  }

  unsigned* stamps;
};

/// Calls an operator over vertices.
template <class Algorithm>
struct operate_on_vertices {
  using operators = typename argument_types<Algorithm>::operators;
  static constexpr graph_phase phase = graph_phase::vertices;
  static __device__ const char* name() { return "operate_on_vertices"; }
  static __host__ __device__ unsigned count(const operator_round_state<Algorithm>& s) {
    return s.own.is_open ? 0 : s.frontier().vertices();
  }

  template <class Program>
  __device__ explicit operate_on_vertices(const Program& program)
      : algorithm(program.search.algorithm),
        state(&program.state->user),
        due(program.state->own.due),
        from(program.search.frontier(program)),
        next(program.writer_of(from.round + 1)) {}

  __device__ void visit(bool has, unsigned i) const {
    const unsigned v = has ? from.vertex(i) : 0;
    bool appends = false;
    if (has) appends = operators::call(algorithm, due, *state, static_cast<std::int32_t>(v));
    if constexpr (operators::vertices_append) next.append(appends, v);
  }

  const Algorithm& algorithm;  // not a copy: a copy with an array would be in local memory
  typename Algorithm::state* state;
  unsigned due;
  edge_frontier from;
  frontier_writer next;
};

/// Visits an edge: calls an operator over edges.
template <class Algorithm>
struct operate_on_edge {
  using operators = typename argument_types<Algorithm>::operators;

  const Algorithm& algorithm;
  typename Algorithm::state* state;
  unsigned due;
  unsigned* stamps;
  frontier_writer next;
  edge_frontier from;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    bool appends = false;
    unsigned v = 0;
    if (has) {
      v = next.out.target(e);
      appends =
          operators::call(algorithm, due, *state,
                          graph_edge{static_cast<std::int32_t>(from.vertex(i)),
                                     static_cast<std::int32_t>(v), static_cast<std::int64_t>(e)});
    }
    if constexpr (operators::edges_repeat) {
      const unsigned stamp = from.round + 1;
      if (appends && !operators::is_distinct_at(due)) {
        appends = load_relaxed(stamps[v]) != stamp && atomicExch(&stamps[v], stamp) != stamp;
      }
    }
    if constexpr (operators::edges_append) next.append(appends, v);
  }
};

/// The loop of a caller's operators, the Search of graph_program.
template <class Algorithm>
struct operator_rounds {
  using state = operator_round_state<Algorithm>;
  using step = typename Algorithm::step;
  using operators = typename argument_types<Algorithm>::operators;
  using phases = vertex_phases<initialize_operators<Algorithm>, operate_on_vertices<Algorithm>>;

  Algorithm algorithm;
  unsigned* stamps;  ///< of each vertex: the last frontier that edges appended it to; or null

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    const graph_phase first = due_first(s);
    // Without stamps, nothing is to be initialized.
    const bool begins_at_once = first == graph_phase::initialize && !operators::edges_repeat;
    if (first != graph_phase::nothing && !begins_at_once) return first;
    if (s.own.is_open) return graph_phase::vertices;
    if (s.own.due >= step::count) return graph_phase::done;
    return operators::is_over_edges_at(s.own.due) ? graph_phase::edges : graph_phase::vertices;
  }

  /// Completes an operator over edges, instead of end_round(). One thread calls it.
  __device__ void complete_edges(state& s, bool may_have_children) const {
    if (may_have_children) {
      s.own.is_open = true;
    } else {
      complete_operator(s);
    }
  }
  __device__ void end_phase(state& s, graph_phase phase) const {
    if (phase == graph_phase::vertices) complete_operator(s);
  }
  __device__ void complete_operator(state& s) const {
    const step last = step::at(s.own.due);
    if (operators::appends_at(s.own.due)) {
      s.sizes[s.own.frontiers % 2] = {};
      ++s.own.frontiers;
    }
    s.aggregated = {};
    s.own.is_open = false;
    ++s.round;
    const frontier_size made = s.made();
    const graph_round<step> after{
        last, {made.vertices(), made.edges()}, {s.vertices, s.edges}, s.round};
    s.own.due = static_cast<std::uint16_t>(algorithm.next(s.user, after).index());
  }

  /// Returns what the operator that is due visits.
  template <class Program>
  [[nodiscard]] __device__ edge_frontier frontier(const Program& program) const {
    const state& s = *program.state;
    const frontier_size size = s.frontier();
    frontier_list list{};  // of all vertices
    if (operators::is_over_frontier_at(s.own.due)) list = program.lists[s.own.frontiers % 2];
    return {program.out.offsets, list.vertices,  list.first_edge, 0, size.vertices(), 0,
            size.edges(),        s.own.frontiers};
  }
  template <class Program>
  [[nodiscard]] __device__ operate_on_edge<Algorithm> visitor(const Program& program,
                                                              const edge_frontier& from) const {
    return {algorithm,
            &program.state->user,
            program.state->own.due,
            stamps,
            program.writer_of(from.round + 1),
            from};
  }

  // ---- on the host ----

  using report_type = rounds_report<Algorithm>;
  static constexpr bool has_lists = operators::has_frontier;

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    if constexpr (operators::edges_repeat) stamps = memory.take<unsigned>(n);
  }
  void complete(report_type& report, const state& s) const { report.state = s.user; }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the scratch memory of graph_rounds() for an algorithm of this type, in bytes of device
/// memory. It reads no element of an array and launches nothing. \throws std::invalid_argument
template <class Algorithm>
[[nodiscard]] std::size_t graph_rounds_scratch_bytes(const graph_view& graph,
                                                     const graph_options& options = {}) {
  return detail::graph::scratch_bytes<detail::graph::operator_rounds<Algorithm>>(graph, options);
}

/// Starts a loop of operators; see graph/operators.cuh. Work that enters the stream after the call
/// sees all writes of the operators; see <ramify/graph.cuh>. Ignores graph.in_offsets and
/// graph.in_sources. The arrays of the algorithm are not checked.
///
/// \param algorithm  its operators and next(); it is copied
/// \param env        its memory: graph_rounds_scratch_bytes<Algorithm>(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, as <ramify/graph.cuh> states
template <class Algorithm, class Options = graph_options>
detail::run_if<detail::graph::argument_types<Algorithm>,
               async_run<detail::graph::rounds_report<Algorithm>>>
graph_rounds_async(const graph_view& graph, const Algorithm& algorithm,
                   const std::type_identity_t<Options>& options, const environment& env = {}) {
  if constexpr (detail::graph::checked_types<Algorithm>::are_valid) {
    const phase_range range("graph: rounds of operators");
    validate(options);
    const auto arrays = detail::graph::check_shape(graph.outgoing());
    const detail::graph::operator_rounds<Algorithm> rounds{algorithm, nullptr};
    return detail::graph::start_search("graph_rounds", arrays, graph.outgoing(), options, rounds,
                                       env);
  }
}
/// Overload with the default options.
template <class Algorithm>
auto graph_rounds_async(const graph_view& graph, const Algorithm& algorithm,
                        const environment& env = {}) {
  return graph_rounds_async<Algorithm, detail::default_of<graph_options>>(graph, algorithm, {},
                                                                          env);
}

/// Runs a loop of operators and waits for it: graph_rounds_async() and get(). Returns the state
/// after the last operator, too.
/// \param env  its memory: graph_rounds_scratch_bytes<Algorithm>(graph, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error, as
///         <ramify/graph.cuh> states
template <class Algorithm, class Options = graph_options>
detail::graph::rounds_report<Algorithm> graph_rounds(const graph_view& graph,
                                                     const Algorithm& algorithm,
                                                     const std::type_identity_t<Options>& options,
                                                     const environment& env = {}) {
  if constexpr (detail::graph::checked_types<Algorithm>::are_valid) {
    return graph_rounds_async<Algorithm, Options>(graph, algorithm, options, detail::waiting(env))
        .get();
  }
}
/// Overload with the default options.
template <class Algorithm>
detail::graph::rounds_report<Algorithm> graph_rounds(const graph_view& graph,
                                                     const Algorithm& algorithm,
                                                     const environment& env = {}) {
  return graph_rounds<Algorithm, detail::default_of<graph_options>>(graph, algorithm, {}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
