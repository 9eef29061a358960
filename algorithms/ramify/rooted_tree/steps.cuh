// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A chain of grids: the last block of each grid launches the next grid.
///
/// A step of the work is one grid over a whole array. Join: a step needs all results of the step
/// before. The last block to arrive sees all of them, so it launches the next grid,
/// fire-and-forget, after it has taken a launch slot. If no slot is free, on the flat route, and if
/// the launch fails, the due step stays in the chain's state, and the host launches it. The host
/// also launches the steps that are expected after it, before it reads the state again. A grid
/// whose step is not due returns at once: the input is faulty, or the chain is complete.
///
/// A grid occupies its entry of the pending-launch pool until all grids nested in it are complete.
/// Therefore the chain keeps its slots, and a kernel after the chain releases them.

#include <algorithm>
#include <ramify/rooted_tree/tuning.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The kernel that a step runs, by the kernel's name.
enum class step_kind : unsigned {
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
struct tree_step {
  step_kind kind;
  unsigned level;  ///< of the list or of the range folds; in double_paths the round
  unsigned depth;  ///< grids in the chain before this one

  [[nodiscard]] __host__ __device__ tree_step then(step_kind next, unsigned at_level = 0) const {
    return {next, at_level, depth + 1};
  }
};

/// State that the blocks of all grids of a chain share, and that the host reads between grids.
struct chain_state {
  tree_step due;     ///< the step that runs, or the first step that was not launched
  unsigned arrived;  ///< blocks of the current grid that have arrived
  unsigned held;     ///< launch slots that the chain holds
};

/// Arguments that all grids of a chain share.
struct chain_context {
  chain_state* chain;
  run_status* status;
  launch_slots slots;
  trace_ticket trace;
};

/// Returns whether the grid's step is due; if not, the block must return. The result is the same in
/// all blocks of a grid, because the due step changes only after the last block has arrived.
__device__ inline bool is_due(const chain_context& context, const tree_step& step) {
  const tree_step& due = context.chain->due;
  return due.kind == step.kind && due.depth == step.depth;
}

/// Ends a block's part of a step. All threads of the block must call it. One thread of the last
/// block calls `next`, which returns the step that follows, and launches that step.
template <class Context, class Next>
__device__ void end_step(const Context& context, const tree_step& step, Next next,
                         const char* name) {
  if (!last_to_arrive(context.chain->arrived, gridDim.x) || threadIdx.x != 0) return;
  const tree_step due = next();
  context.chain->due = due;
  if (due.kind == step_kind::done || !context.slots.acquire(*context.status)) return;
  ++context.chain->held;
  const auto launched = launch_step(context, due, fire_and_forget());
  if (launched) {
    context.status->count_children(1, due.depth);
    return;
  }
  context.slots.release();
  --context.chain->held;
  context.status->record_failure(launched.code(), name, step.depth);
}

/// Releases the slots of a chain. It runs in one thread, in the stream of the chain's first grid.
/// (It is a template because nvcc accepts no inline kernels.)
template <class Slots>
__global__ void release_chain_slots(chain_state* chain, Slots slots, trace_ticket trace) {
  const traced here(trace, __func__);
  slots.release(chain->held);
  chain->held = 0;
}

/// Calls `visit(i)` for each i of this block's tile of [0, count), distributed over its threads.
template <class Visit>
__device__ void for_each_in_tile(std::size_t count, Visit visit) {
  const std::size_t begin = std::size_t{blockIdx.x} * tuning::tile;
  const std::size_t end = begin + tuning::tile < count ? begin + tuning::tile : count;
  for (std::size_t i = begin + threadIdx.x; i < end; i += tuning::threads) visit(i);
}

/// Returns the shape of a grid with one block per tile of [0, count). The grid has at least one
/// block, because its last block launches the next grid.
[[nodiscard]] __host__ __device__ inline launch_shape grid_of_tiles(std::size_t count) {
  const std::size_t tiles = (count + tuning::tile - 1) / tuning::tile;
  return {static_cast<unsigned>(tiles > 0 ? tiles : 1), tuning::threads};
}

/// Runs a chain that begins with step `first`, and waits for it. Returns the final step: its kind
/// is done, and its level is the one that the last step set. \throws cuda_error,
/// device_launch_error
template <class Context>
tree_step run_chain(run_control& control, const Context& context, const tree_step& first) {
  check(cudaMemcpyAsync(&context.chain->due, &first, sizeof first, cudaMemcpyHostToDevice,
                        control.stream()),
        "preparing a chain of grids");
  tree_step due = first;
  Context in_force = context;
  while (due.kind != step_kind::done) {
    // The device route takes one launch. After a grid that got no slot, the rest is flat.
    const bool flat = in_force.slots.in_use == nullptr;
    tree_step next = due;
    for (unsigned i = 0; i < (flat ? tuning::launched_ahead : 1); ++i) {
      if (next.kind == step_kind::done) break;
      control.launched(launch_step(in_force, next, control.stream()), "launching a tree step");
      next = expected_after(in_force, next);
    }
    if (!flat) {
      control.launched(launch(release_chain_slots<launch_slots>, {1, 1}, control.stream(),
                              context.chain, context.slots, context.trace),
                       "launching the release of the slots");
    }
    check(cudaMemcpyAsync(&due, &context.chain->due, sizeof due, cudaMemcpyDeviceToHost,
                          control.stream()),
          "reading the next tree step");
    control.wait();
    in_force.slots = {};
  }
  run_report& report = control.report();
  report.deepest_level = std::max(report.deepest_level, due.depth - 1);
  return due;
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
