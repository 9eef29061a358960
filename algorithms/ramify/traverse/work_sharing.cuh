// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a work-sharing traversal: visit the root, traverse in rounds, reduce the totals.
///
/// A round is a grid of workers; each worker is a warp with a stack in shared memory.
///
///     1. Base case   A worker takes a share of the frontier list and traverses the subtrees below
///                    it depth first, up to 32 children a step. When its stack is empty it takes
///                    the next share; when no share is left, it is idle.
///     2. Split       When a quarter of the workers of a full device are idle, the others append
///                    their stacks, in pieces, to the list of the next round, and end.
///     3. Recurse     The last block of the grid launches the next round. On the flat route a graph
///                    loop or the host begins it.
///
/// So a round begins when the balance of the tree changes, and not at each level. No worker waits
/// for another, and the memory is that of the stacks.

#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>
#include <ramify/traverse/warp_worker.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The state that one round passes to the next. All fields are zero at first.
struct round_state {
  unsigned count[2];    ///< frontier nodes in each list
  unsigned filled;      ///< index of the list that the next round reads
  unsigned taken;       ///< frontier nodes taken as second and later shares in this round
  unsigned idle;        ///< workers that found no share
  unsigned arrived;     ///< blocks that have ended
  unsigned rounds;      ///< completed rounds
  unsigned peak;        ///< maximum number of frontier nodes in a list
  unsigned flat_grids;  ///< grids of traverse_round_flat, with and without work
  unsigned held_slots;  ///< launch slots that the chain of grids holds
  unsigned stopped;     ///< 1 if a launch failed; the host then runs the remaining rounds
};

/// The arguments that all grids of a run share.
template <class Node, class Expand, class Visit, class Reduce, class Value>
struct work_sharing_context {
  using node_type = Node;
  using value_type = Value;
  using tuning = work_sharing_tuning<Node>;

  frontier_node<Node>* lists[2];
  unsigned capacity;  ///< of each list
  round_state* state;
  Value* totals;        ///< one for each thread of the largest grid
  Value* result;        ///< the reduction of the totals
  unsigned max_blocks;  ///< of a round
  unsigned stack_size;  ///< of a warp, in entries
  Expand expand;
  Visit visit;
  Reduce reduce;
  Value identity;
  launch_slots slots;
  run_status* status;
  trace_ticket trace;

  /// Returns the number of threads of the largest grid.
  [[nodiscard]] __host__ __device__ unsigned threads() const {
    return max_blocks * tuning::threads;
  }
  /// Returns the dynamic shared memory of a block, in bytes.
  [[nodiscard]] __host__ __device__ unsigned shared_bytes() const {
    return tuning::warps * stack_size * sizeof(frontier_node<Node>);
  }
  /// Returns whether another round is due. After a list has overflowed, none is; the host throws.
  [[nodiscard]] __device__ bool has_work() const {
    const unsigned count = state->count[state->filled];
    return count > 0 && count <= capacity;
  }
  /// Returns the round over the list `state->filled`. Requires has_work().
  [[nodiscard]] __device__ work_round due_round() const {
    return plan_round<Node>(state->filled, state->count[state->filled], max_blocks, stack_size);
  }
  /// Swaps the lists after a round. Called by one thread of the last block.
  __device__ void end_round(const work_round& round) const {
    state->count[round.filled] = 0;
    state->filled = 1 - round.filled;
    state->taken = 0;
    state->idle = 0;
    ++state->rounds;
    const unsigned count = state->count[state->filled];
    if (count > state->peak) state->peak = count;
  }
};

template <class Context>
__global__ void traverse_round(work_round, Context);

/// Launches the due round on a launch slot that the caller has acquired. Returns false if the
/// launch failed; the host then runs the remaining rounds. Called by one thread.
template <class Context>
__device__ bool launch_round(const Context& context, const char* launching_kernel) {
  round_state& state = *context.state;
  run_status& status = *context.status;
  const work_round round = context.due_round();
  const unsigned depth = state.rounds + 1;
  // After the launch, only the child grid may access the state.
  const auto launched = launch(traverse_round<Context>,
                               {round.blocks, Context::tuning::threads, context.shared_bytes()},
                               fire_and_forget(), round, context);
  if (launched) {
    status.count_children(1, depth);
    return true;
  }
  status.record_failure(launched.code(), launching_kernel, depth - 1);
  state.stopped = 1;
  return false;
}

/// Launches the due round, if there is one and a launch slot is free. Called by one thread.
///
/// The slot is held until the chain is complete: a grid occupies the pending-launch pool until all
/// grids nested in it are complete, so a chain of nested grids uses one more slot at each round.
template <class Context>
__device__ void launch_next_round(const Context& context, const char* launching_kernel) {
  round_state& state = *context.state;
  if (!context.has_work() || state.stopped != 0) return;
  if (!context.slots.acquire(*context.status)) {
    if (context.slots.in_use != nullptr) atomicAdd(&context.status->spilled, 1ull);
    return;
  }
  ++state.held_slots;
  static_cast<void>(launch_round(context, launching_kernel));
}

/// Releases the launch slots of a complete chain of rounds. If the chain ended because no slot was
/// free, starts the next chain. One thread, in the stream after the first grid.
template <class Context>
__global__ void resume_rounds(Context context) {
  const traced here(context.trace, __func__);
  round_state& state = *context.state;
  context.slots.release(state.held_slots);
  state.held_slots = 0;
  constexpr unsigned slots = 2;
  if (!context.has_work() || state.stopped != 0) return;
  if (!context.slots.acquire(*context.status, slots)) return;
  state.held_slots = slots;
  // Join: a tail launch begins when this grid and the chain of rounds nested in it are complete.
  const auto again = launch(resume_rounds<Context>, {1, 1}, tail_launch(), context);
  if (!again) {
    context.slots.release(slots);
    state.held_slots = 0;
    state.stopped = 1;
    context.status->record_failure(again.code(), __func__, state.rounds);
    return;
  }
  context.status->count_children(1, state.rounds + 1);
  static_cast<void>(launch_round(context, __func__));
}

/// Sets each total to the identity, one a thread.
template <class Context>
__global__ void clear_totals(Context context) {
  const traced here(context.trace, __func__);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < context.threads()) context.totals[thread] = context.identity;
}

/// Visits the root and launches the first round. One thread.
template <class Context>
__global__ void visit_root(typename Context::node_type root, Context context) {
  const traced here(context.trace, __func__);
  const unsigned degree = context.expand.degree(root);
  context.totals[0] = context.reduce(context.totals[0], context.visit(root, degree));
  if (degree == 0) return;
  context.lists[0][0] = {root, 0, degree};
  context.state->count[0] = 1;
  context.state->peak = 1;
  if constexpr (device_launch_available) launch_next_round(context, __func__);
}

/// Reduces all totals to the result. One block.
template <class Context>
__global__ void reduce_totals(Context context) {
  const traced here(context.trace, __func__);
  using Value = typename Context::value_type;
  using block_reduction = block_reduce<Value, Context::tuning::threads>;
  __shared__ typename block_reduction::TempStorage storage;
  Value total = context.totals[threadIdx.x];
  for (unsigned i = threadIdx.x + blockDim.x; i < context.threads(); i += blockDim.x) {
    total = context.reduce(total, context.totals[i]);
  }
  total = block_reduction(storage).Reduce(total, context.reduce);
  if (threadIdx.x == 0) *context.result = total;
}

/// Runs the workers of one block in a round: steps 1 and 2 of the head comment.
template <class Context>
__device__ void run_workers(const work_round& round, const Context& context) {
  using tuning = typename Context::tuning;
  const unsigned thread = blockIdx.x * tuning::threads + threadIdx.x;
  const unsigned warp = threadIdx.x / tuning::lanes;
  auto* stacks = &dynamic_shared<frontier_node<typename Context::node_type>>();
  warp_worker<Context> worker{stacks + warp * context.stack_size, round, context,
                              threadIdx.x % tuning::lanes};

  // 1. Base case: while most workers have work, each traverses its shares step by step.
  typename Context::value_type total = context.totals[thread];
  for (unsigned steps = 0; worker.size > 0 || worker.take_share(); ++steps) {
    const unsigned width = worker.choose_width();
    if (width == 0) break;
    const bool has_spare = worker.step(width, total);
    // 2. Split the work: if many workers are idle, donate the whole stack. This leaves no share
    //    untaken: either every share was a first share, or an idle worker found none left.
    const bool checks = steps % tuning::check_interval == 0 && steps >= tuning::min_steps;
    if (checks && worker.should_donate(has_spare)) {
      static_cast<void>(worker.donate(worker.size));
      break;
    }
  }
  context.totals[thread] = total;
  if (worker.lane == 0) atomicAdd(&context.state->idle, 1u);
}

/// A round of the device route.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::threads)
    traverse_round(work_round round, Context context) {
  const traced here(context.trace, __func__);
  run_workers(round, context);  // 1. and 2.
  if (!last_to_arrive(context.state->arrived, gridDim.x)) return;
  // 3. Recurse: the last block launches the next round over all donated nodes. Join: none; this
  //    grid needs no result of the next one, and the caller's stream waits for the chain of grids.
  if (threadIdx.x == 0) {
    context.end_round(round);
    launch_next_round(context, __func__);
  }
}

/// A round of the flat route: runs the due round, if there is one. The grid always has `max_blocks`
/// blocks, because it is enqueued before the size of the round is known.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::threads)
    traverse_round_flat(Context context, loop_condition loop) {
  const traced here(context.trace, __func__);
  if (!context.has_work()) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      ++context.state->flat_grids;
      loop.again(false);
    }
    return;
  }
  const work_round round = context.due_round();
  if (blockIdx.x < round.blocks) run_workers(round, context);  // 1. and 2.
  // All blocks must arrive, also those without work: the state may change only after all have read
  // it.
  if (!last_to_arrive(context.state->arrived, gridDim.x)) return;
  // 3. Recurse: the graph loop or the host begins the next round. Join: a grid of a stream, and an
  //    iteration of a loop, begins when the one before is complete.
  if (threadIdx.x == 0) {
    context.end_round(round);
    ++context.state->flat_grids;
    loop.again(context.has_work());
  }
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
