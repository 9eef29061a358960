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
///
/// The rounds are the steps of a launch chain (chain_link.cuh), joined by their last blocks.

#include <ramify/runtime/chain_link.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/traverse/traversal.cuh>
#include <ramify/traverse/warp_worker.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The state that one round passes to the next, initially zero.
struct round_state {
  unsigned count[2];  ///< frontier nodes in each list
  unsigned filled;    ///< index of the list that the next round reads
  unsigned taken;     ///< frontier nodes taken as second and later shares in this round
  unsigned idle;      ///< workers that found no share
  unsigned rounds;    ///< completed rounds
  unsigned peak;      ///< maximum number of frontier nodes in a list

  /// Returns the number of frontier nodes that the next round reads.
  [[nodiscard]] __host__ __device__ unsigned due() const {
    return filled == 0 ? count[0] : count[1];  // an index would put a copy into local memory
  }
};

template <class Context>
__global__ void traverse_round(work_round, Context);
template <class Context>
__global__ void traverse_round_flat(Context);

/// The arguments that all grids of a run share, and the program of its launch chain: a step is a
/// round.
template <class Traversal>
struct work_sharing_context : runtime::chain_link {
  using node_type = typename Traversal::node_type;
  using value_type = typename Traversal::value_type;
  using shared_memory = typename Traversal::shared_memory;
  using tuning = work_sharing_tuning<node_type>;
  using state_type = round_state;
  static constexpr auto join = runtime::chain_join::last_block;
  /// Whether the rounds have limits; see limited_traversal.
  static constexpr bool is_limited = requires(const Traversal& t) { t.limits; };

  frontier_node<node_type>* lists[2];
  round_state* state;
  value_type* totals;  ///< one for each thread of the largest round
  work_sharing_sizes sizes;
  unsigned rounds_ahead;  ///< flat rounds that the host launches before it reads the state
  Traversal tree;

  /// Returns the round that is due. Requires that the traversal is not finished. Unless the grid is
  /// as large as the device allows, it has a worker for each share, so a worker that ends early
  /// leaves no share untaken.
  [[nodiscard]] __host__ __device__ work_round due_round(const round_state& now) const {
    const auto divide_up = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
    const unsigned count = now.due();
    unsigned share = divide_up(count, sizes.blocks * tuning::warps);
    if (share < tuning::min_share) share = tuning::min_share;
    if (share > sizes.stack / 2) share = sizes.stack / 2;
    const unsigned shares = divide_up(count, share);  // few shares are spread over many blocks
    return {now.filled, count, share, shares < sizes.blocks ? shares : sizes.blocks,
            min_steps_of(now.rounds)};
  }
  /// Returns the steps of a warp before it may donate its stack in this round.
  [[nodiscard]] __host__ __device__ static unsigned min_steps_of(unsigned round) {
    if constexpr (donates_late<typename Traversal::expand_type>) {
      return tuning::min_steps;
    } else {
      const unsigned steps = tuning::min_steps_at_first << (round < 4 ? round : 4);
      return steps < tuning::min_steps ? steps : tuning::min_steps;
    }
  }
  /// Swaps the lists after a round, and returns the new state. Called by one thread of the last
  /// block.
  __device__ round_state end_round(const work_round& round) const {
    const round_state old = *state;  // read once
    round_state next{};
    next.filled = 1 - round.filled;
    next.count[0] = next.filled == 0 ? old.count[0] : 0;
    next.count[1] = next.filled == 1 ? old.count[1] : 0;
    next.rounds = old.rounds + 1;
    next.peak = max(old.peak, next.due());
    *state = next;
    return next;
  }

  /// Returns the state for finished() and due_round() in a flat round. They read only the numbers
  /// of frontier nodes and of rounds. Other blocks may already append to the other list.
  [[nodiscard]] __device__ round_state state_at_begin() const {
    round_state now{};
    now.filled = state->filled;
    now.count[0] = load_relaxed(state->count[0]);
    now.count[1] = load_relaxed(state->count[1]);
    now.rounds = state->rounds;
    return now;
  }

  // ---- the program of the launch chain

  /// After a list has overflowed, no round follows; check() throws. A limited traversal pauses
  /// after its last round.
  [[nodiscard]] __host__ __device__ bool finished(const round_state& now) const {
    if constexpr (is_limited) {
      if (now.rounds >= tree.limits.rounds) return true;
    }
    return now.due() == 0 || now.due() > sizes.capacity;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const round_state&) const { return true; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const round_state&) const { return 1; }

  /// Launches a grid of the round's size from a kernel, or a flat round from the host.
  template <class Grids>
  __host__ __device__ void launch_step(const round_state& now, Grids& grids) const {
    if constexpr (device_launch_available) {
      if (grids.from_kernel()) {
        const work_round round = due_round(now);
        grids.unordered(traverse_round<work_sharing_context>, shape_of(round.blocks), round, *this);
        return;
      }
    }
    launch_repeated(now, grids);
  }
  template <class Grids>
  void launch_ahead(Grids& grids) const {
    for (unsigned i = 0; i < rounds_ahead; ++i) launch_repeated({}, grids);
  }
  template <class Grids>
  void launch_before_graph(Grids& grids) const {
    launch_ahead(grids);
  }
  /// Launches a flat round.
  template <class Grids>
  __host__ __device__ void launch_repeated(const round_state&, Grids& grids) const {
    grids(traverse_round_flat<work_sharing_context>, shape_of(sizes.blocks), *this);
  }
  void check(const round_state& now) const {
    if (now.due() <= sizes.capacity) return;
    throw std::length_error("traverse: the frontier had " + std::to_string(now.due()) +
                            " nodes; raise traverse_config.capacity, which is " +
                            std::to_string(sizes.capacity));
  }

 private:
  [[nodiscard]] __host__ __device__ launch_shape shape_of(unsigned blocks) const {
    return {blocks, tuning::threads,
            tuning::warps * sizes.stack * unsigned{sizeof(frontier_node<node_type>)}};
  }
};

/// Visits the root and launches the first round. Launched with one thread.
template <class Context>
__global__ void visit_root(typename Context::node_type root, Context context) {
  const traced here(context.trace, __func__);
  __shared__ typename Context::shared_memory shared;
  const unsigned degree = context.tree.visit_node(root, context.totals[0], shared);
  if (degree == 0) return;
  context.lists[0][0] = {root, 0, degree};
  context.state->count[0] = 1;
  context.state->peak = 1;
  end_step(context, __func__);
}

/// Runs the workers of one block in a round: steps 1 and 2 of the head comment.
template <class Context>
__device__ void run_workers(const work_round& round, const Context& context,
                            worker_shared<Context>& shared) {
  using tuning = typename Context::tuning;
  const unsigned thread = blockIdx.x * tuning::threads + threadIdx.x;
  const unsigned warp = threadIdx.x / tuning::lanes;
  auto* stacks = &dynamic_shared<frontier_node<typename Context::node_type>>();
  warp_worker<Context> worker{stacks + warp * context.sizes.stack, round, context, shared,
                              threadIdx.x % tuning::lanes};

  // 1. Base case: while most workers have work, each traverses its shares step by step.
  typename Context::value_type total = context.totals[thread];
  for (unsigned steps = 0; worker.size > 0 || worker.take_share(); ++steps) {
    const unsigned width = worker.choose_width();
    if (width == 0) break;
    const bool has_spare = worker.step(width, total);
    if constexpr (Context::is_limited) {
      // The round ends by its limit: this worker donates all nodes, also those of untaken shares.
      // So an idle worker has found no share, as step 2 requires.
      if (steps + 1 >= context.tree.limits.steps && worker.may_stop()) {
        bool fits = worker.donate(worker.size);
        while (fits && worker.take_share()) fits = worker.donate(worker.size);
        break;
      }
    }
    // 2. Split the work: if many workers are idle, donate the whole stack. This leaves no share
    //    untaken: either every share was a first share, or an idle worker found none left.
    const bool checks =
        steps >= round.min_steps && (steps - round.min_steps) % tuning::check_interval == 0;
    if (checks && worker.should_donate(has_spare)) {
      static_cast<void>(worker.donate(worker.size));
      break;
    }
  }
  context.totals[thread] = total;
  if (worker.lane == 0) atomicAdd(&context.state->idle, 1u);
}

/// Runs a round of the device route.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::threads)
    traverse_round(work_round round, Context context) {
  const traced here(context.trace, __func__);
  __shared__ worker_shared<Context> shared;
  run_workers(round, context, shared);  // 1. and 2.
  if (!context.is_last_block(gridDim.x)) return;
  // 3. Recurse: the last block launches the next round over all donated nodes. Join: none; this
  //    grid needs no result of the next one, and the caller's stream waits for the chain of grids.
  if (threadIdx.x == 0) end_step(context, context.end_round(round), __func__);
}

/// Runs the due round of the flat route, if there is one. The grid always has the blocks of the
/// largest round, because it is enqueued before the size of the round is known.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::threads) traverse_round_flat(Context context) {
  const traced here(context.trace, __func__);
  __shared__ worker_shared<Context> shared;
  const round_state state = context.state_at_begin();
  if (context.finished(state)) {
    if (blockIdx.x == 0 && threadIdx.x == 0) end_iteration(context, state);
    return;
  }
  const work_round round = context.due_round(state);
  if (blockIdx.x < round.blocks) run_workers(round, context, shared);  // 1. and 2.
  // All blocks must arrive, even those without work, because the state may change only after all
  // blocks have read it.
  if (!context.is_last_block(gridDim.x)) return;
  // 3. Recurse: the graph loop or the host begins the next round. Join: a grid of a stream, and an
  //    iteration of a loop, begins when the one before is complete.
  if (threadIdx.x == 0) end_iteration(context, context.end_round(round));
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
