// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch chains of the graph algorithms. A phase is one grid, which is a round of the chain. A
/// round of an algorithm visits the edges of a frontier and makes the next frontier.
///
///     1 check        reads the arrays once, and records the smallest faulty index of each
///     2 initialize   writes the algorithm's arrays and the first frontier
///     3 rounds       grids over the edges of a frontier, or over vertices, as the algorithm
///                    decides from the state. One block alone runs consecutive thin rounds
///
/// Join: the last block of a phase writes the state from which every block of the next phase
/// computes the phase that is due. Strategies that launch child grids are joined by a driver's tail
/// launch; the children may still append to the next frontier when that last block writes.
/// Therefore due() reads only values that no running phase changes.

#include <ramify/graph/for_edges.cuh>
#include <ramify/graph/state.cuh>
#include <ramify/graph/visit_words.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The list of an algorithm's kernels over vertices. Each is a class with
///
///     static constexpr graph_phase phase;
///     static const char* name();            // __device__, for traces
///     explicit Phase(const Program&);       // __device__, as are the following; full warps call
///     void visit(bool has, unsigned v);     // all lanes have the same word and different vertices
///
/// and may have
///
///     unsigned vertices_of(unsigned word);  // returns the bits of the vertices to visit among the
///                                           // 32 of a word; each lane has another word. Without
///                                           // it, all vertices are visited
///     unsigned groups_of(unsigned k);       // returns the bits of the groups to visit among 32
///                                           // groups of 32 words; all lanes have the same k
///     void end_group(unsigned g, unsigned); // after the visits of a group; each lane passes
///                                           // vertices_of() of another word
///     void end();                           // after all visits of a warp
///     unsigned count(const State&);         // static, __host__ __device__: returns the number of
///                                           // items that are visited instead of all vertices
///     static constexpr bool ends_run = true;  // nothing follows the phase
template <class... Phases>
struct vertex_phases {
  /// Calls call(static_cast<Phase*>(nullptr)) for the class of a phase, if there is one.
  template <class Call>
  static __host__ __device__ void with(graph_phase due, const Call& call) {
    ((due == Phases::phase ? call(static_cast<Phases*>(nullptr)) : void()), ...);
  }
};

/// The program of a launch chain. `Search` is the algorithm, with the members
///
///     using state = round_state<...>;     // with its part of the state
///     using phases = vertex_phases<...>;
///     graph_phase due(const state&) const;              // __host__ __device__
///     void end_round(state&) const;                     // __device__, one thread: after `edges`,
///                                                       // before the round is counted
///     void end_phase(state&, graph_phase) const;        // the same, after a phase over vertices
///     Visitor visitor(const Program&, const edge_frontier&) const;  // __device__, for for_edges()
///     void begin(state&) const;         // __host__ __device__, optional: writes what depends on
///                                       // the numbers of vertices and of edges
///     void complete_edges(state&, bool may_have_children) const;  // __device__, optional: instead
///                                       // of end_round(), completes a round itself
///     edge_frontier frontier(const Program&) const;  // __device__, optional: of the next round
///
/// and, for the host: report_type; has_lists, which is false if the frontier is the whole graph;
/// take(), which takes its scratch memory; complete(), which completes the report.
template <class Search_, bool has_children_>
struct graph_program : runtime::chain_link {
  using search_type = Search_;
  using state_type = typename Search_::state;
  using due_type = state_type;
  static constexpr bool has_children = has_children_;
  /// Whether rounds may be thin: those of a search, unless the strategy launches child grids.
  static constexpr bool has_thin_rounds = !has_children && requires(Search_ of) { of.thin_edges; };
  static constexpr auto join =
      has_children ? runtime::chain_join::tail_launch : runtime::chain_join::last_block;

  state_type* state = nullptr;
  csr out{};
  csr in{};  ///< null pointers: the graph has no edges by target
  frontier_list lists[2];
  edge_strategy strategy{};
  child_grids children{};
  bool checks_graph = true;
  Search_ search{};

  __device__ auto visitor(const edge_frontier& from) const { return search.visitor(*this, from); }
  /// Returns the frontier of the next round.
  [[nodiscard]] __device__ edge_frontier frontier() const {
    if constexpr (requires { this->search.frontier(*this); }) return this->search.frontier(*this);
    const unsigned round = state->round;
    const frontier_size size = state->sizes[round % 2];
    const frontier_list& list = lists[round % 2];
    return {out.offsets,  list.vertices, list.first_edge, 0, size.vertices(), 0,
            size.edges(), round};
  }

  /// Returns the writer of the frontier that round number `round` visits.
  [[nodiscard]] __device__ frontier_writer writer_of(unsigned round) const {
    return {out, lists[round % 2], &state->sizes[round % 2]};
  }

  [[nodiscard]] __host__ __device__ bool finished(const state_type& s) const {
    return search.due(s) == graph_phase::done;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const state_type& s) const {
    return search.due(s) != graph_phase::check;
  }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const state_type&) const { return 1; }
  /// The phases; see runtime/detail/phases.cuh. The host launches the phase after `check`
  /// without a read of the state. A loop follows them.
  template <class Row>
  __host__ __device__ void phase_table(const state_type& s, Row& row) const;
  [[nodiscard]] static bool expects(const state_type&, const state_type&) { return true; }
  [[nodiscard]] bool is_complete_ahead() const { return false; }
  template <class Grids>
  void launch_repeated(const state_type&, Grids& grids) const;

  /// Returns the shape of a grid over `items` items, of which a block takes `per_block` at a time.
  [[nodiscard]] __host__ __device__ launch_shape shape_over(edge_count items,
                                                            unsigned per_block) const {
    const edge_count blocks = (items + per_block - 1) / per_block;
    const unsigned most = children.max_blocks;
    return {blocks < 1 ? 1 : blocks < most ? static_cast<unsigned>(blocks) : most, tuning::threads};
  }
};

/// Completes a round. One thread calls it.
template <class Program>
__device__ void complete_round(const Program& program) {
  auto& state = *program.state;
  if constexpr (requires { program.search.complete_edges(state, Program::has_children); }) {
    return program.search.complete_edges(state, Program::has_children);
  } else {
    program.search.end_round(state);
  }
  state.sizes[state.round % 2] = {};
  state.aggregated = {};
  ++state.round;
}

/// Ends a block's part of a phase. All threads must call it. One thread of the last block writes
/// the state. Then it launches the next phase, or ends the iteration of a graph's loop. If
/// `ends_run`, nothing follows the phase: the kernel then contains no launch, and needs fewer
/// registers.
template <bool launches, bool ends_run = false, class Program>
__device__ void end_block(const Program& program, graph_phase phase, const char* kernel) {
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  auto& state = *program.state;
  if (phase == graph_phase::edges) {
    complete_round(program);
  } else if (phase != graph_phase::done) {
    program.search.end_phase(state, phase);
  }
  if (phase != graph_phase::done && phase != graph_phase::thin) state.last = phase;
  if constexpr (!launches) {
    end_iteration(program);
  } else if constexpr (ends_run) {
    program.progress->launched = 0;
  } else if constexpr (Program::has_children) {
    // Child grids may still append to the state's frontier, so this thread must not copy it.
    end_round(program, typename Program::state_type{}, kernel);
  } else {
    end_round(program, kernel);
  }
}

/// Writes the numbers of vertices and of edges of a graph, which only the device has, to the state
/// and to `read`. If one exceeds its upper bound, or there are no vertices, or the source is not a
/// vertex, no phase is due. Launched with one thread.
template <class Program>
__global__ void read_graph_size(Program program, runtime::element_count vertices,
                                std::uint64_t most_edges, graph_size* read) {
  const traced here(program.trace, __func__);
  auto& state = *program.state;
  const auto n = static_cast<unsigned>(vertices.get());
  const auto m = n == 0 ? 0 : static_cast<std::uint64_t>(program.out.offsets[n]);
  *read = {vertices.raw(), m};
  bool has_work = n > 0 && m <= most_edges;
  if constexpr (requires { program.search.source; }) {
    has_work = has_work && program.search.source < n;
  }
  if (!has_work) state.last = graph_phase::done;
  state.vertices = has_work ? n : 0;
  state.edges = has_work ? m : 0;
  if constexpr (requires { program.search.begin(state); }) program.search.begin(state);
}

/// Checks the edges by source or by target. `offset` and `target` receive the minimum of their
/// value and the smallest faulty index.
__device__ inline void check_csr(const csr& edges, unsigned vertices, edge_count count,
                                 edge_count& offset, edge_count& target) {
  const edge_count first = edge_count{blockIdx.x} * tuning::threads + threadIdx.x;
  const edge_count stride = edge_count{gridDim.x} * tuning::threads;
  const auto end = static_cast<std::int64_t>(count);
  for (edge_count i = first; i <= vertices; i += stride) {
    const std::int64_t here = edges.offsets[i];
    const bool valid = here >= (i == 0 ? 0 : edges.offsets[i - 1]) && (i > 0 || here == 0) &&
                       here <= end && (i < vertices || here == end);
    if (!valid) atomicMin(&offset, i);
  }
  for (edge_count e = first; e < count; e += stride) {
    if (edges.target(e) >= vertices) atomicMin(&target, e);
  }
}

/// 1. Check: reads the arrays of the graph, and the weights if the algorithm has them.
template <class Program>
__global__ void __maxnreg__(max_registers(tuning::threads, tuning::resident_blocks))
    check_graph(Program program) {
  const traced here(program.trace, __func__);
  if (program.search.due(*program.state) != graph_phase::check) return;
  graph_faults& faults = program.state->faults;
  const unsigned vertices = program.state->vertices;
  const edge_count edges = program.state->edges;
  check_csr(program.out, vertices, edges, faults.offset, faults.target);
  const bool is_symmetric =
      program.in.offsets == program.out.offsets && program.in.targets == program.out.targets;
  if (program.in.offsets != nullptr && !is_symmetric) {
    check_csr(program.in, vertices, edges, faults.in_offset, faults.in_source);
  }
  if constexpr (requires { program.search.weights; }) {
    using length = std::remove_cvref_t<decltype(*program.search.weights)>;
    if constexpr (std::is_floating_point_v<length>) {
      const edge_count stride = edge_count{gridDim.x} * tuning::threads;
      for (edge_count e = edge_count{blockIdx.x} * tuning::threads + threadIdx.x; e < edges;
           e += stride) {
        if (!(program.search.weights[e] >= 0)) atomicMin(&faults.weight, e);
      }
    }
  }
  end_block<true>(program, graph_phase::check, __func__);
}

/// 2. Initialize, and 3. rounds over vertices. If the graph is faulty, another phase is due in a
/// grid that the host launched ahead; the grid then does nothing.
template <class Phase, class Program>
__global__ void __maxnreg__(max_registers(tuning::threads, tuning::resident_blocks))
    visit_vertices(Program program) {
  const traced here(program.trace, Phase::name());
  if (program.search.due(*program.state) != Phase::phase) return;
  visit_words<Phase>(program);
  constexpr bool ends_run = requires { requires Phase::ends_run; };
  end_block<true, ends_run>(program, Phase::phase, Phase::name());
}

/// 3. A round over the edges of a frontier.
template <class Program>
__global__ void __maxnreg__(max_registers(tuning::threads, tuning::resident_blocks))
    visit_edges(Program program) {
  const traced here(program.trace, __func__);
  __shared__ edge_loop_memory<Program::has_children> shared;
  for_edges<true>(program, program.frontier(), shared);
  end_block<true>(program, graph_phase::edges, __func__);
}

/// 3. Consecutive rounds over the edges of thin frontiers, by one block.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(tuning::thin_threads)) visit_thin_edges(Program program) {
  const traced here(program.trace, __func__);
  if (program.search.due(*program.state) != graph_phase::thin) return;
  __shared__ edge_tile<tuning::thin_threads> tile;
  do {
    const edge_frontier from = program.frontier();
    // The frontier of a thin round has edges, so all threads wait at the end of this call.
    visit_balanced(from, 0, 1, program.visitor(from), tile);
    if (threadIdx.x == 0) {
      complete_round(program);
      program.state->last = graph_phase::thin;
    }
    __syncthreads();
  } while (program.search.due(*program.state) == graph_phase::thin);
  // In the loop of a graph, visit_due() follows and ends the iteration.
  if constexpr (launches) end_block<true>(program, graph_phase::thin, __func__);
}

/// 3. Any round that is due, in the loop of a graph.
template <class Program>
__global__ void __maxnreg__(max_registers(tuning::threads, tuning::resident_blocks))
    visit_due(Program program) {
  const traced here(program.trace, __func__);
  const graph_phase due = program.search.due(*program.state);
  __shared__ edge_loop_memory<Program::has_children> shared;
  if (due == graph_phase::edges) for_edges<false>(program, program.frontier(), shared);
  Program::search_type::phases::with(
      due, [&](auto* phase) { visit_words<std::remove_pointer_t<decltype(phase)>>(program); });
  end_block<false>(program, due, __func__);
}

template <class Search_, bool has_children_>
template <class Row>
__host__ __device__ void graph_program<Search_, has_children_>::phase_table(const state_type& s,
                                                                            Row& row) const {
  using program = graph_program;
  switch (const graph_phase due = search.due(s)) {
    case graph_phase::check: {
      const edge_count items = s.edges > s.vertices ? s.edges : s.vertices + edge_count{1};
      state_type checked = s;
      checked.last = graph_phase::check;
      return row(check_graph<program>, shape_over(items, 4 * tuning::threads), checked);
    }
    case graph_phase::edges:
      return row(visit_edges<program>,
                 {blocks_for(strategy, s.frontier(), children.max_blocks), tuning::threads});
    case graph_phase::thin:
      if constexpr (has_thin_rounds)
        row(visit_thin_edges<true, program>, {1, tuning::thin_threads});
      return;
    default:
      Search_::phases::with(due, [&](auto* phase) {
        row(visit_vertices<std::remove_pointer_t<decltype(phase)>, program>,
            shape_over(items_of<std::remove_pointer_t<decltype(phase)>>(s),
                       tuning::threads * tuning::words_per_warp));
      });
  }
}

template <class Search_, bool has_children_>
template <class Grids>
void graph_program<Search_, has_children_>::launch_repeated(const state_type&, Grids& grids) const {
  grids(visit_thin_edges<false, graph_program>, {1, tuning::thin_threads}, *this);
  grids(visit_due<graph_program>, {children.max_blocks, tuning::threads}, *this);
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
