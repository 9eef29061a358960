// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The phases of a rooted tree's launch chains. A phase is one grid over a whole array.
///
/// Join: a phase needs all results of the phase before. The last block to arrive sees all of them,
/// so one of its threads writes the next phase into the chain's state and ends the phase. On the
/// device route the chain then launches the next phase (chain_link.cuh).
///
/// On the flat route the host launches all phases that are expected, before it reads the state. A
/// grid whose phase is not due returns at once: the input is faulty, or the chain is complete.

#include <algorithm>
#include <cstddef>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/tuning.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The kernel that a phase runs, by the kernel's name.
enum class phase_kind : unsigned {
  done,
  // numbering
  initialize_tour,     ///< makes each node a tour of its own: enter, exit
  link_tour,           ///< links these tours into one, siblings in order
  splice_tour,         ///< links these tours into one, siblings in any order
  reduce_sublists,     ///< level to level + 1: each sublist becomes one element
  rank_top_list,       ///< one block ranks the top level
  add_splitter_ranks,  ///< level + 1 to level
  write_numbers,       ///< writes the numbers, or finds the nodes on a cycle
  // folding
  permute_values,  ///< values in preorder
  fold_ranges,     ///< folds of 2, 4, 8, ... consecutive values
  fold_subtrees,   ///< leaffix: the fold of each subtree
  double_paths,    ///< rootfix: one round of pointer doubling
};

/// One grid of a chain.
struct tree_phase {
  phase_kind kind;
  unsigned level;  ///< of the list or of the range folds; in double_paths the round
  unsigned depth;  ///< grids in the chain before this one

  [[nodiscard]] __host__ __device__ tree_phase then(phase_kind next, unsigned at_level = 0) const {
    return {next, at_level, depth + 1};
  }
};

/// What the programs of both launch chains have. The chains are joined by last blocks.
template <class State>
struct tree_program : runtime::chain_link {
  using state_type = State;
  using due_type = tree_phase;
  static constexpr auto join = runtime::chain_join::last_block;

  State* state = nullptr;
  runtime::element_count nodes{};

  [[nodiscard]] __device__ unsigned node_count() const {
    return static_cast<unsigned>(nodes.get());
  }
  [[nodiscard]] __host__ __device__ bool finished(const State& now) const {
    return now.due.kind == phase_kind::done;
  }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const State&) const { return 1; }
  [[nodiscard]] __host__ __device__ static const tree_phase& due_in(const State& now) {
    return now.due;
  }
  /// Returns whether the host launches the phase `next` before it reads the state again: all but
  /// the rounds of pointer doubling after the first rounds_ahead ones.
  [[nodiscard]] static bool expects(const tree_phase& known, const tree_phase& next) {
    if (next.kind != phase_kind::double_paths) return next.kind != phase_kind::done;
    const unsigned first = known.kind == phase_kind::double_paths ? known.level : 0;
    return next.level - first < tuning::rounds_ahead;
  }
};

/// Returns whether the grid's phase is due; if not, the block must return. The result is the same
/// in all blocks of a grid, because the due phase changes only after the last block has arrived.
template <class Program>
__device__ bool is_due(const Program& program, const tree_phase& phase) {
  const tree_phase& due = program.state->due;
  return due.kind == phase.kind && due.depth == phase.depth;
}

/// Ends a block's part of a phase. All threads of the block must call it. One thread of the last
/// block calls `next`, which returns the phase that follows, and ends the phase. `kernel` is the
/// kernel's __func__.
template <class Program, class Next>
__device__ void end_block(const Program& program, const char* kernel, Next next) {
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  program.state->due = next();
  runtime::end_round(program, kernel);
}

/// Ends a block's part of a phase that the expected phase always follows.
template <class Program>
__device__ void end_block(const Program& program, const tree_phase& phase, const char* kernel) {
  end_block(program, kernel, [&] { return runtime::expected_after(program, phase); });
}

/// Calls `visit(i)` for each i of this block's tile of [0, count), distributed over its threads.
template <class Visit>
__device__ void for_each_in_tile(std::size_t count, Visit visit) {
  const std::size_t begin = std::size_t{blockIdx.x} * tuning::tile;
  const std::size_t end = begin + tuning::tile < count ? begin + tuning::tile : count;
  for (std::size_t i = begin + threadIdx.x; i < end; i += tuning::threads) visit(i);
}

/// Returns the shape of a grid with one block for each `per_block` elements of [0, count). The grid
/// has at least one block, because its last block launches the next grid.
[[nodiscard]] __host__ __device__ inline launch_shape grid_over(std::size_t count,
                                                                unsigned per_block = tuning::tile) {
  const std::size_t blocks = (count + per_block - 1) / per_block;
  return {static_cast<unsigned>(blocks > 0 ? blocks : 1), tuning::threads};
}

/// A launch chain with a run_control of its own. It does not move, because the chain refers to the
/// control.
template <class Program>
struct stage {
  stage(void* control_memory, const runtime::run_choices& choices, const Program& program)
      : control(control_memory, choices), chain(control, program, choices.loop) {}
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// Puts the chain into the stream, which writes the state before. `first` is the state in which
  /// the first phase is due.
  void start(const typename Program::state_type& first) {
    chain.launch_first_round(first);
    chain.start();
  }

  /// Waits until the chain is complete, and returns its report. \throws as launch_chain::finish()
  run_report finish() {
    chain.finish();
    control.read_trace();
    run_report& report = control.report();
    const unsigned grids = chain.state().due.depth;
    if (grids > 0) report.deepest_level = std::max(report.deepest_level, grids - 1);
    return report;
  }

  run_control control;
  runtime::launch_chain<Program> chain;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
