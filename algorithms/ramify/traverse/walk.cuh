// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a traversal: plant the root, walk in rounds, fold the totals.
///
/// A round is a grid of walkers, each a warp with a stack of its own. The list of open nodes is
/// shared out among them, and each walks depth first below its share, 32 children a step. Who runs
/// out takes another share, and when there is none, is idle. When too many are, the others hand
/// their stacks out into the next round's list, in pieces, and the last block of the grid launches
/// the next round, or lets the loop go on that begins the rounds. So a round comes with a shift in
/// the balance of the tree, not with a level of it; nobody waits for anybody, and the memory is that
/// of the stacks.

#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>
#include <ramify/traverse/walker.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What the rounds of a run hand over to one another; starts as zeros.
struct walk_state {
  unsigned count[2];  ///< open nodes in either list
  unsigned filled;    ///< which list the next round takes from
  unsigned taken;     ///< open nodes of this round's list that walkers have come back for
  unsigned idle;      ///< walkers that found none left
  unsigned arrived;   ///< blocks that are done
  unsigned rounds;
  unsigned peak;     ///< most open nodes in a list
  unsigned grids;    ///< of walk_flat, with and without work
  unsigned held;     ///< launch slots in the hands of the chain of grids
  unsigned stopped;  ///< a launch failed: the host goes on
};

/// What all grids of a run share.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct walk_context {
  open_node<Node>* lists[2];
  unsigned capacity;  ///< of either list
  walk_state* state;
  Value* totals;         ///< one a thread of the largest grid
  Value* result;         ///< their reduction
  unsigned most_blocks;  ///< of a round
  unsigned stack_size;   ///< of a warp
  Expand expand;
  Visit visit;
  Reduce reduce;
  Value identity;
  launch_slots slots;
  run_status* status;
  trace_ticket trace;

  [[nodiscard]] __host__ __device__ unsigned threads() const {
    return most_blocks * walk_tuning<Node>::threads;
  }
  /// Of a block.
  [[nodiscard]] __host__ __device__ unsigned shared_bytes() const {
    return walk_tuning<Node>::warps * stack_size * sizeof(open_node<Node>);
  }
  /// Whether there are open nodes to go on with; not if some were lost, which the host tells.
  [[nodiscard]] __device__ bool has_work() const {
    const unsigned count = state->count[state->filled];
    return count > 0 && count <= capacity;
  }
  /// The round over the list `state->filled`, which has work.
  [[nodiscard]] __device__ walk_round due_round() const {
    return make_round<Node>(state->filled, state->count[state->filled], most_blocks, stack_size);
  }
  /// Behind a round, in one thread: what was handed out is what the next one works on.
  __device__ void end_round(const walk_round& round) const {
    state->count[round.filled] = 0;
    state->filled = 1 - round.filled;
    state->taken = 0;
    state->idle = 0;
    ++state->rounds;
    const unsigned count = state->count[state->filled];
    if (count > state->peak) state->peak = count;
  }
};

template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void walk(walk_round, walk_context<Node, Expand, Visit, Reduce, Value>);

/// Launches the round over the list `state->filled` on a slot that is there for it. One thread.
/// False if that failed: then the host goes on.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__device__ bool launch_round(const walk_context<Node, Expand, Visit, Reduce, Value>& context,
                             const char* launching_kernel) {
  walk_state& state = *context.state;
  run_status& status = *context.status;
  const walk_round round = context.due_round();
  const unsigned depth = state.rounds + 1;
  // From the launch on, the state is the child's.
  const auto launched = launch(walk<Node, Expand, Visit, Reduce, Value>,
                               {round.blocks, walk_tuning<Node>::threads, context.shared_bytes()},
                               fire_and_forget(), round, context);
  if (launched) {
    status.count_children(1, depth);
    return true;
  }
  status.record_failure(launched.code(), launching_kernel, depth - 1);
  state.stopped = 1;
  return false;
}

/// Goes on with the list `state->filled`, if there is work in it and a slot for it. One thread.
///
/// The slot is kept: a grid has its place in the pending-launch pool until all that is nested in it
/// is complete, so a chain of nested grids uses the pool up link by link.
template <class Context>
__device__ void next_round(const Context& context, const char* launching_kernel) {
  walk_state& state = *context.state;
  if (!context.has_work() || state.stopped != 0) return;
  if (!context.slots.acquire(*context.status)) {
    if (context.slots.in_use != nullptr) atomicAdd(&context.status->spilled, 1ull);
    return;
  }
  ++state.held;
  static_cast<void>(launch_round(context, launching_kernel));
}

/// Gives the slots of a chain that is complete back and, if it ended for want of slots, begins the
/// next one. One thread, in the stream behind the first grid.
template <class Context>
__global__ void resume(Context context) {
  const traced here(context.trace, __func__);
  walk_state& state = *context.state;
  context.slots.release(state.held);
  state.held = 0;
  constexpr unsigned slots = 2;
  if (!context.has_work() || state.stopped != 0) return;
  if (!context.slots.acquire(*context.status, slots)) return;
  state.held = slots;
  // Join: a tail launch begins when this grid and the chain below it is complete.
  const auto again = launch(resume<Context>, {1, 1}, tail_launch(), context);
  if (!again) {
    context.slots.release(slots);
    state.held = 0;
    state.stopped = 1;
    context.status->record_failure(again.code(), __func__, state.rounds);
    return;
  }
  context.status->count_children(1, state.rounds + 1);
  static_cast<void>(launch_round(context, __func__));
}

/// Sets the totals, one a thread.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void clear_totals(walk_context<Node, Expand, Visit, Reduce, Value> context) {
  const traced here(context.trace, __func__);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < context.threads()) context.totals[thread] = context.identity;
}

/// Visits the root and starts the first round. One thread.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void plant(Node root, walk_context<Node, Expand, Visit, Reduce, Value> context) {
  const traced here(context.trace, __func__);
  const unsigned degree = context.expand.degree(root);
  context.totals[0] = context.reduce(context.totals[0], context.visit(root, degree));
  if (degree == 0) return;
  context.lists[0][0] = {root, 0, degree};
  context.state->count[0] = 1;
  context.state->peak = 1;
  if constexpr (device_launch_available) next_round(context, __func__);
}

/// Folds all totals into the result. One block.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void fold_totals(walk_context<Node, Expand, Visit, Reduce, Value> context) {
  const traced here(context.trace, __func__);
  using fold = block_reduce<Value, walk_tuning<Node>::threads>;
  __shared__ typename fold::TempStorage storage;
  Value total = context.totals[threadIdx.x];
  for (unsigned i = threadIdx.x + blockDim.x; i < context.threads(); i += blockDim.x) {
    total = context.reduce(total, context.totals[i]);
  }
  total = fold(storage).Reduce(total, context.reduce);
  if (threadIdx.x == 0) *context.result = total;
}

/// A block's part in a round.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__device__ void walk_shares(const walk_round& round,
                            const walk_context<Node, Expand, Visit, Reduce, Value>& context) {
  using tuning = walk_tuning<Node>;
  const unsigned thread = blockIdx.x * tuning::threads + threadIdx.x;
  using walker_type = walker<Node, walk_context<Node, Expand, Visit, Reduce, Value>>;
  const unsigned warp = threadIdx.x / tuning::lanes;
  walker_type self{&dynamic_shared<open_node<Node>>() + warp * context.stack_size, round, context,
                   threadIdx.x % tuning::lanes};

  // 1. Base case of the recursion: as long as most walkers have work, it is done in place, step by
  //    step and share by share.
  Value total = context.totals[thread];
  for (unsigned steps = 0; self.size > 0 || self.take(); ++steps) {
    const unsigned width = self.width();
    if (width == 0) break;
    const bool has_spare = self.step(width, total);
    // 2. Split the work: if many have none, all of it goes to the next round. No share is left
    //    behind: either the first deal covered them all, or who is idle found none left.
    const bool looks = steps % tuning::look_every == 0 && steps >= tuning::least_steps;
    if (looks && self.should_share(has_spare)) {
      static_cast<void>(self.give(self.size));
      break;
    }
  }
  context.totals[thread] = total;
  if (self.lane == 0) atomicAdd(&context.state->idle, 1u);
}

/// A round of the device route.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void __launch_bounds__(walk_tuning<Node>::threads)
    walk(walk_round round, walk_context<Node, Expand, Visit, Reduce, Value> context) {
  const traced here(context.trace, __func__);
  walk_shares(round, context);  // 1. and 2.
  if (!last_to_arrive(context.state->arrived, gridDim.x)) return;
  // 3. Recurse: the last block launches the next round over all that was handed out. Join: nobody
  //    needs one; this grid is done, and the caller's stream waits for the chain of grids.
  if (threadIdx.x == 0) {
    context.end_round(round);
    next_round(context, __func__);
  }
}

/// A round of the flat route: the one that is due, if one is. A grid of `most_blocks`, for who put
/// it into the stream knew nothing of the round.
template <class Node, class Expand, class Visit, class Reduce, class Value>
__global__ void __launch_bounds__(walk_tuning<Node>::threads)
    walk_flat(walk_context<Node, Expand, Visit, Reduce, Value> context, loop_condition loop) {
  const traced here(context.trace, __func__);
  if (!context.has_work()) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      ++context.state->grids;
      loop.again(false);
    }
    return;
  }
  const walk_round round = context.due_round();
  if (blockIdx.x < round.blocks) walk_shares(round, context);  // 1. and 2.
  // All blocks arrive, those without work too: the state may change only when all have read it.
  if (!last_to_arrive(context.state->arrived, gridDim.x)) return;
  // 3. Recurse: the loop or the host begins the next round. Join: grids of a stream, and iterations
  //    of a loop, begin when the one before is complete.
  if (threadIdx.x == 0) {
    context.end_round(round);
    ++context.state->grids;
    loop.again(context.has_work());
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
