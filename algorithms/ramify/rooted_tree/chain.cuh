// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A chain of grids: the last block of each launches the next.
///
/// A step of the work is one grid over all of an array. Join: the step that comes next needs all of
/// the one before, and the last block to arrive knows that all others are done. So it launches the
/// next grid, fire-and-forget, on a launch slot. Without a slot, as on the flat route, or if the
/// launch fails, the step that is due stays written in the chain's state, and the host launches it.
/// It launches those that are expected to follow too, and looks only then: a grid whose step is not
/// due, because the input is faulty or nothing is left to do, ends at once.
///
/// A grid has its place in the pending-launch pool until all that is nested in it is complete, so the
/// slots are kept along the chain, and a kernel behind it gives them back.

#include <algorithm>
#include <ramify/rooted_tree/tuning.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>

namespace ramify::inline RAMIFY_BUILD {

enum class tree_step : unsigned {
  done,
  // numbering
  open,    ///< makes each node a tour of its own: enter, exit
  link,    ///< links the tours into one, siblings in order
  push,    ///< likewise, siblings in any order
  walk,    ///< level to level + 1: walkers add up stretches of the list
  rank,    ///< one block ranks the top level
  expand,  ///< level + 1 to level
  number,  ///< writes the numbers, or finds who is on a cycle
  // folding
  gather,   ///< values in preorder
  fold,     ///< folds of 2, 4, 8, ... neighbours
  leaffix,  ///< the fold of each subtree
  rootfix,  ///< one round of pointer doubling
};

/// What a grid of a chain does.
struct tree_stage {
  tree_step step;
  unsigned level;  ///< of the list, of the folds; the round
  unsigned depth;  ///< grids in the chain before this one

  [[nodiscard]] __host__ __device__ tree_stage then(tree_step next, unsigned at_level = 0) const {
    return {next, at_level, depth + 1};
  }
};

/// What the blocks of a chain's grids share, and the host reads between them.
struct chain_state {
  tree_stage due;    ///< the step that runs, or the first one that was not launched
  unsigned arrived;  ///< blocks of the grid that runs
  unsigned held;     ///< launch slots in the hands of the chain
};

/// What all grids of a chain know.
struct chain_context {
  chain_state* chain;
  run_status* status;
  launch_slots slots;
  trace_ticket trace;
};

/// Whether a grid's stage is to be done; if not, all its blocks end here. The same for all of them:
/// the step that is due changes when the last block has arrived.
__device__ inline bool is_due(const chain_context& context, const tree_stage& stage) {
  const tree_stage& due = context.chain->due;
  return due.step == stage.step && due.depth == stage.depth;
}

/// Ends a block's part of a stage. Every thread of the block calls this; `next` is called in one
/// thread of the last block and names the stage that follows.
template <class Context, class Next>
__device__ void end_stage(const Context& context, const tree_stage& stage, Next next,
                          const char* name) {
  if (!last_to_arrive(context.chain->arrived, gridDim.x) || threadIdx.x != 0) return;
  const tree_stage due = next();
  context.chain->due = due;
  if (due.step == tree_step::done || !context.slots.acquire(*context.status)) return;
  ++context.chain->held;
  const auto launched = launch_stage(context, due, fire_and_forget());
  if (launched) {
    context.status->count_children(1, due.depth);
    return;
  }
  context.slots.release();
  --context.chain->held;
  context.status->record_failure(launched.code(), name, stage.depth);
}

/// Gives the slots of a chain back, in the stream behind its first grid. One thread. (A template, as
/// nvcc takes no inline kernels.)
template <class Slots>
__global__ void give_slots_back(chain_state* chain, Slots slots, trace_ticket trace) {
  const traced here(trace, __func__);
  slots.release(chain->held);
  chain->held = 0;
}

/// The part of [0, count) that a block works on: `visit(i)` for each, in its threads.
template <class Visit>
__device__ void for_each_of_tile(std::size_t count, Visit visit) {
  const std::size_t begin = std::size_t{blockIdx.x} * tree_tuning::tile;
  const std::size_t end = begin + tree_tuning::tile < count ? begin + tree_tuning::tile : count;
  for (std::size_t i = begin + threadIdx.x; i < end; i += tree_tuning::threads) visit(i);
}

/// A grid of tiles over `count` elements: at least one block, for somebody must be the last.
[[nodiscard]] __host__ __device__ inline launch_shape tiles_over(std::size_t count) {
  const std::size_t tiles = (count + tree_tuning::tile - 1) / tree_tuning::tile;
  return {static_cast<unsigned>(tiles > 0 ? tiles : 1), tree_tuning::threads};
}

/// Runs a chain from `first` on, and waits for it. Gives back how it ended: step done, with the level
/// that was set with it. \throws cuda_error, device_launch_error
template <class Context>
tree_stage run_chain(run_control& control, const Context& context, const tree_stage& first) {
  check(cudaMemcpyAsync(&context.chain->due, &first, sizeof first, cudaMemcpyHostToDevice,
                        control.stream()),
        "preparing a chain of grids");
  tree_stage due = first;
  Context in_force = context;
  while (due.step != tree_step::done) {
    // One launch is all, on the device route; but where a slot was missing, the rest is flat.
    const bool flat = in_force.slots.in_use == nullptr;
    tree_stage next = due;
    for (unsigned i = 0; i < (flat ? tree_tuning::launched_ahead : 1); ++i) {
      if (next.step == tree_step::done) break;
      control.launched(launch_stage(in_force, next, control.stream()), "launching a tree step");
      next = expected_after(in_force, next);
    }
    if (!flat) {
      control.launched(launch(give_slots_back<launch_slots>, {1, 1}, control.stream(),
                              context.chain, context.slots, context.trace),
                       "launching what gives the slots back");
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

}  // namespace ramify::inline RAMIFY_BUILD
