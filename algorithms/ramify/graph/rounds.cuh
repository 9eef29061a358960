// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch chains of the graph algorithms. A phase visits the edges of a frontier, or vertices.
/// A round of an algorithm visits a frontier and makes the next one.
///
///     1 check        reads the arrays once, and records the smallest faulty index of each
///     2 initialize   writes the algorithm's arrays and the first frontier
///     3 rounds       phases over the edges of a frontier, or over vertices, as the algorithm
///                    decides from the state
///
/// A grid runs one phase after another without a launch:
///
///     visit_rounds()       a team of blocks (round_team). It runs the next phase if each of its
///                          blocks gets the work of at most four blocks, or if the team is full
///                          (it has all blocks that can be resident).
///                          Otherwise its last block launches a larger grid
///     visit_thin_rounds()  after several thin rounds of a team, one block of more threads, which
///                          needs no barriers with other blocks, until a round is not thin
///
/// Join: the last block of a phase writes the state from which every block of the next phase
/// computes the phase that is due. It lets the blocks that have stayed begin this phase, or
/// launches another grid. Strategies that launch child grids have one grid for each phase, which
/// are joined by a driver's tail launch; the children may still append to the next frontier when
/// that last block writes. Therefore due() reads only values that no running phase changes.

#include <ramify/graph/program.cuh>
#include <ramify/graph/visit_words.cuh>
#include <ramify/runtime/detail/round_team.cuh>
#include <ramify/runtime/residency.cuh>
#include <type_traits>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

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

/// Completes the phase that was due. One thread calls it, when all blocks have visited their parts.
template <class Program>
__device__ void complete_phase(const Program& program) {
  auto& state = *program.state;
  const graph_phase phase = program.search.due(state);
  if (phase == graph_phase::done) return;
  if (phase == graph_phase::edges) {
    complete_round(program);
  } else {
    program.search.end_phase(state, phase);
  }
  state.last = phase;
  state.thin_rounds = program.is_thin(state) ? state.thin_rounds + 1 : 0;
}

/// Ends a grid, whose last phase is complete: launches the next grid, or ends the iteration of a
/// graph's loop. One thread of the last block calls it.
template <bool launches, class Program>
__device__ void end_grid(const Program& program, const char* kernel) {
  if constexpr (!launches) {
    end_iteration(program);
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
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  complete_phase(program);
  end_grid<true>(program, __func__);
}

/// The phase over edges, beside the classes of vertex_phases.
struct edges_phase {
  static __device__ const char* name() { return "visit_edges"; }
};

/// Returns the name of a grid in traces and errors: that of the phase that is due, if the grid has
/// one phase, or that of the kernel.
template <bool launches, class Program>
__device__ const char* name_of_grid(const Program& program, const char* kernel) {
  const char* name = kernel;
  if constexpr (launches && Program::has_children) {
    name = edges_phase::name();
    Program::search_type::phases::with(program.search.due(*program.state), [&](auto* phase) {
      name = std::remove_pointer_t<decltype(phase)>::name();
    });
  }
  return name;
}

/// Visits a block's part of the phase that is due.
template <bool launches, class Program>
__device__ void visit_part(const Program& program, const round_part& part,
                           edge_loop_memory<Program::has_children>& shared) {
  const graph_phase due = program.search.due(*program.state);
  if (due == graph_phase::edges) {
    for_edges<launches>(program, program.frontier(), part, shared);
    return;
  }
  Program::search_type::phases::with(due, [&](auto* phase) {
    visit_words<std::remove_pointer_t<decltype(phase)>>(program, part);
  });
}

/// Completes a phase of which this block had all the work. Returns, to all threads, whether it has
/// all the work of the next one too. All threads of the block must call it.
template <class Program>
__device__ bool complete_alone(const Program& program) {
  __syncthreads();
  if (threadIdx.x == 0) complete_phase(program);
  __syncthreads();
  return program.blocks_of(*program.state) == 1 && !program.leaves_team(*program.state);
}

/// Lets the team begin the phase that is due, or ends the team and the grid. One thread of the last
/// block calls it.
template <bool launches, class Program>
__device__ void begin_or_end(const Program& program, runtime::round_team& team,
                             const char* kernel) {
  const auto& state = *program.state;
  const unsigned needed = program.blocks_of(state);
  const unsigned full = program.full_team();
  const bool suffices = team.size() >= full || needed <= tuning::work_of_block * team.size();
  if (needed != 0 && suffices && !program.leaves_team(state)) {
    const unsigned parts = program.parts_for(state, team.size());
    team.begin_round(parts, program.keeps_team ? max(parts, full) : parts);
  } else {
    team.end();
    end_grid<launches>(program, kernel);
  }
}

/// 2. and 3. The phase that is due, and those after it that need no larger grid:
///
///     a  the block's parts of the phase. If one part is the whole phase, the block completes the
///        phase, and continues alone while one block suffices
///     b  the last block to arrive completes the phase, and begins the next one or launches a grid
///     c  wait for the next phase
///
/// If the graph is faulty, none is due in a grid that the host launched ahead; the grid then does
/// nothing.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(tuning::threads, tuning::resident_blocks))
    visit_rounds(Program program) {
  const traced here(program.trace, name_of_grid<launches>(program, __func__));
  __shared__ edge_loop_memory<Program::has_children> shared;
  if constexpr (Program::has_children) {
    visit_part<launches>(program, runtime::part_of_grid(), shared);
    if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
    const char* const name = name_of_grid<launches>(program, __func__);
    complete_phase(program);
    end_grid<launches>(program, name);
  } else {
    __shared__ runtime::round_team::part_memory next_part;
    // All blocks of the grid read the state here, so none of several may complete the phase alone.
    const unsigned parts = max(program.parts_for(*program.state, gridDim.x), min(gridDim.x, 2u));
    runtime::round_team team(*program.progress, next_part, parts);
    do {
      for (bool visits = team.has_part(); visits;) {  // a
        visit_part<launches>(program, team.part(), shared);
        visits = team.is_alone() ? complete_alone(program) : team.take_part();
      }
      if (team.is_last() && threadIdx.x == 0) {  // b
        if (!team.is_alone()) complete_phase(program);
        begin_or_end<launches>(program, team, __func__);
      }
    } while (team.next());  // c
  }
}

/// 3. Consecutive thin rounds, by one block:
///
///     a  the whole round
///     b  the block completes the round. It continues while the frontier is thin
///     c  then it launches the grid of the due phase
///
/// In a graph's loop this is the first grid of an iteration, and ends at once if no thin round is
/// due. The second one, visit_rounds(), ends the iteration.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(tuning::thin_threads))
    visit_thin_rounds(Program program) {
  const traced here(program.trace, __func__);
  __shared__ edge_tile<tuning::thin_threads> tile;
  if (!program.is_thin(*program.state)) return;
  do {
    const edge_frontier from = program.frontier();
    visit_balanced(from, 0, 1, program.visitor(from), tile);  // a
    __syncthreads();
    if (threadIdx.x == 0) {  // b; complete_phase() would read the state to find this phase
      complete_round(program);
      program.state->last = graph_phase::edges;
    }
    __syncthreads();
  } while (program.is_thin(*program.state));
  __syncthreads();  // the next grid may change the state, which all threads have read now
  if (threadIdx.x != 0) return;
  program.state->thin_rounds = 0;
  if constexpr (launches) end_grid<true>(program, __func__);  // c
}

template <class Search_, bool has_children_>
template <class Row>
__host__ __device__ void graph_program<Search_, has_children_>::phase_table(const state_type& s,
                                                                            Row& row) const {
  if (search.due(s) == graph_phase::check) {
    const edge_count items = s.edges > s.vertices ? s.edges : s.vertices + edge_count{1};
    state_type checked = s;
    checked.last = graph_phase::check;
    return row(check_graph<graph_program>, shape_for((items - 1) / (4 * tuning::threads) + 1),
               checked);
  }
  if constexpr (has_thin_rounds) {
    if (leaves_team(s)) {
      return row(visit_thin_rounds<true, graph_program>, {1, tuning::thin_threads});
    }
  }
  if (const unsigned blocks = blocks_of(s); blocks != 0) {
    row(visit_rounds<true, graph_program>, shape_for(blocks));
  }
}

template <class Search_, bool has_children_>
template <class Grids>
void graph_program<Search_, has_children_>::launch_repeated(const state_type&, Grids& grids) const {
  if constexpr (has_thin_rounds) {
    grids(visit_thin_rounds<false, graph_program>, {1, tuning::thin_threads}, *this);
  }
  grids(visit_rounds<false, graph_program>, {children.max_blocks, tuning::threads}, *this);
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
