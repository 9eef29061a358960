// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The workers of a block in a round of a work-sharing traversal, thin or wide.

#include <ramify/runtime/shared.cuh>
#include <ramify/traverse/hand_over.cuh>
#include <ramify/traverse/traversal.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Runs a worker of a thin round: steps 1 and 2 of work_sharing.cuh, with hand-overs.
template <class Context>
__device__ void run_thin(warp_worker<Context>& worker, typename Context::value_type& total) {
  thin_worker<Context> thin(worker);
  // 1. Base case: traverse the share, and then what other workers hand over.
  bool has_nodes = worker.take_share();
  for (unsigned steps = 0; has_nodes || thin.wait(); ++steps) {
    const unsigned seen = thin.read_watched();
    const unsigned width = worker.choose_width();
    if (width == 0) return;
    const unsigned children = worker.step(width, total);
    if (worker.drop_if_ended()) return;
    // 2. Split the work: hand nodes to waiting workers, or donate all.
    bool ends = thin.serve(seen, children);
    if constexpr (Context::is_limited) ends |= steps + 1 >= worker.context.tree.limits.steps;
    if (ends) {
      static_cast<void>(worker.donate(worker.size));
      return;
    }
    has_nodes = worker.size > 0;
  }
}

/// Runs a worker of a wide round: steps 1 and 2 of work_sharing.cuh.
template <class Context>
__device__ void run_wide(warp_worker<Context>& worker, typename Context::value_type& total) {
  using tuning = typename Context::tuning;
  const unsigned min_steps = worker.round.min_steps;
  // 1. Base case: while most workers have work, each traverses its shares step by step.
  for (unsigned steps = 0; worker.size > 0 || worker.take_share(); ++steps) {
    const unsigned width = worker.choose_width();
    if (width == 0) return;
    const bool has_spare = worker.step(width, total) > tuning::lanes;
    if (worker.drop_if_ended()) return;
    if constexpr (Context::is_limited) {
      // The round ends by its limit: this worker donates all nodes, also those of untaken shares.
      // So an idle worker has found no share, as step 2 requires.
      if (steps + 1 >= worker.context.tree.limits.steps && worker.may_stop()) {
        bool fits = worker.donate(worker.size);
        while (fits && worker.take_share()) fits = worker.donate(worker.size);
        return;
      }
    }
    // 2. Split the work: if many workers are idle, donate the whole stack. This leaves no share
    //    untaken: either every share was a first share, or an idle worker found none left.
    const bool checks = steps >= min_steps && (steps - min_steps) % tuning::check_interval == 0;
    if (checks && worker.should_donate(has_spare)) {
      static_cast<void>(worker.donate(worker.size));
      return;
    }
  }
}

/// Runs the workers of one block in a round.
template <class Context>
__device__ void run_workers(const work_round& round, const Context& context,
                            worker_shared<Context>& shared) {
  using tuning = typename Context::tuning;
  using Value = typename Context::value_type;
  const unsigned warp = threadIdx.x / tuning::lanes;
  if (warp >= round.warps) return;
  auto* stacks = &dynamic_shared<frontier_node<typename Context::node_type>>();
  warp_worker<Context> worker{stacks + warp * context.sizes.stack, round, context, shared,
                              threadIdx.x % tuning::lanes};
  Value& total_of_warp = context.totals[blockIdx.x * tuning::warps + warp];
  Value total = worker.lane == 0 ? total_of_warp : context.tree.identity;
  if constexpr (Context::may_be_thin) {
    if (round.is_thin) {
      run_thin(worker, total);
    } else {
      run_wide(worker, total);
    }
  } else {
    run_wide(worker, total);
  }
  total = reduce_lanes(total, context.tree.reduce);
  if (worker.lane != 0) return;
  total_of_warp = total;
  atomicAdd(&context.state->idle, 1u);
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
