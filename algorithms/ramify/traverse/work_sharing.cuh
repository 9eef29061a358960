// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a work-sharing traversal: visit the root, traverse in rounds. (reduce_totals()
/// follows.)
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
/// So a round begins when the balance of the tree changes, and not at each level. The memory is
/// that of the stacks. No worker waits for one that may not have started.
///
/// While the frontier is small, rounds are thin: few workers, which hand nodes to each other
/// (hand_over.cuh). A small tree, or one with a small frontier, then takes one round or a few. When
/// the thin round has too much work, a wide one follows.
///
/// The rounds are those of a launch chain (chain_link.cuh), joined by their last blocks.

#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/traverse/round_workers.cuh>
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
  unsigned idle;      ///< workers that have ended
  unsigned rounds;    ///< completed rounds
  unsigned peak;      ///< maximum number of frontier nodes in a list
  // Members for thin rounds. Workers write the first two, end_round() writes is_wide.
  unsigned saturated;     ///< workers that have too much work
  unsigned next_is_wide;  ///< 1: the round ends because of them
  unsigned is_wide;       ///< 1: the round that reads the list must not be thin

  /// Returns the number of frontier nodes that the next round reads.
  [[nodiscard]] __host__ __device__ unsigned due() const {
    return filled == 0 ? count[0] : count[1];  // an index would put a copy into local memory
  }
};

/// Wide rounds that the host launches before it first reads the state.
inline constexpr unsigned opening_rounds = 4;

template <class Context>
__global__ void traverse_round(work_round, Context);
template <class Context>
__global__ void traverse_round_flat(Context);

/// The arguments that all grids of a run share, and the program of its launch chain.
template <class Traversal>
struct work_sharing_context : runtime::chain_link {
  using node_type = typename Traversal::node_type;
  using value_type = typename Traversal::value_type;
  using expand_type = typename Traversal::expand_type;
  using shared_memory = typename Traversal::shared_memory;
  using tuning = work_sharing_tuning<node_type>;
  using state_type = round_state;
  static constexpr auto join = runtime::chain_join::last_block;
  /// Whether the rounds have limits; see limited_traversal.
  static constexpr bool is_limited = requires(const Traversal& t) { t.limits; };
  /// Whether a visit may end the traversal; see ending_traversal.
  static constexpr bool may_end = traverse::may_end<Traversal>;
  /// Whether rounds may be thin. Their workers share nodes as soon as possible, which does not suit
  /// trees with donates_late.
  static constexpr bool may_be_thin = !donates_late<expand_type>;

  frontier_node<node_type>* lists[2];
  round_state* state;
  value_type* totals;  ///< one for each warp of the largest round
  work_sharing_sizes sizes;
  mailboxes<node_type> boxes;
  unsigned rounds_ahead;  ///< flat rounds that the host launches before it first reads the state
  bool clears_status;     ///< begin_rounds() clears the status and the progress of the run
  Traversal tree;

  /// Returns the round that is due. Requires that the traversal is not finished. Unless the grid is
  /// as large as the device allows, it has a worker for each share, so a worker that ends early
  /// leaves no share untaken.
  [[nodiscard]] __host__ __device__ work_round due_round(const round_state& now) const {
    const auto divide_up = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
    const unsigned count = now.due();
    const unsigned thin_workers = sizes.thin_blocks * tuning::thin_warps;
    if (now.is_wide == 0 && count <= thin_workers * tuning::max_thin_share) {
      return {.filled = now.filled,
              .count = count,
              .share = divide_up(count, thin_workers),
              .blocks = sizes.thin_blocks,
              .warps = tuning::thin_warps,
              .min_steps = 0,
              .is_thin = true};
    }
    unsigned share = divide_up(count, sizes.blocks * tuning::warps);
    if (share < tuning::min_share) share = tuning::min_share;
    if (share > sizes.stack / 2) share = sizes.stack / 2;
    const unsigned shares = divide_up(count, share);  // few shares are spread over many blocks
    return {.filled = now.filled,
            .count = count,
            .share = share,
            .blocks = shares < sizes.blocks ? shares : sizes.blocks,
            .warps = tuning::warps,
            .min_steps = min_steps_of(now.rounds),
            .is_thin = false};
  }
  /// Returns the steps of a warp before it may donate its stack in this round.
  [[nodiscard]] __host__ __device__ static unsigned min_steps_of(unsigned round) {
    if constexpr (donates_late<expand_type>) {
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
    if constexpr (may_end) {
      // What the workers had donated before they read the flag is dropped.
      if (tree.has_ended()) next.count[0] = next.count[1] = 0;
    }
    next.rounds = old.rounds + 1;
    next.is_wide = old.next_is_wide;
    next.peak = max(old.peak, next.due());
    *state = next;
    return next;
  }

  /// Returns the state for finished() and due_round() in a flat round. They read only the members
  /// that are set here. Other blocks may already append to the other list.
  [[nodiscard]] __device__ round_state state_at_begin() const {
    round_state now{};
    now.filled = state->filled;
    now.count[0] = load_relaxed(state->count[0]);
    now.count[1] = load_relaxed(state->count[1]);
    now.rounds = state->rounds;
    now.is_wide = state->is_wide;
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
  __host__ __device__ void launch_round(const round_state& now, Grids& grids) const {
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
  /// Launches a flat round.
  template <class Grids>
  __host__ __device__ void launch_repeated(const round_state&, Grids& grids) const {
    grids(traverse_round_flat<work_sharing_context>, shape_of(sizes.blocks), *this);
  }
  void check(const round_state& now) const {
    if (now.due() <= sizes.capacity) return;
    throw std::length_error("traverse: the frontier had " + std::to_string(now.due()) +
                            " nodes; raise traverse_options.capacity, which is " +
                            std::to_string(sizes.capacity));
  }

 private:
  [[nodiscard]] __host__ __device__ launch_shape shape_of(unsigned blocks) const {
    return {blocks, tuning::threads,
            tuning::warps * sizes.stack * unsigned{sizeof(frontier_node<node_type>)}};
  }
};

/// Clears the memory of the rounds. All threads of a block call it.
template <class Context>
__device__ void clear_rounds(const Context& context) {
  if (threadIdx.x == 0) *context.state = {};
  context.boxes.clear(context.sizes.thin_blocks * Context::tuning::thin_warps);
  const unsigned totals = context.sizes.blocks * Context::tuning::warps;
  for (unsigned i = threadIdx.x; i < totals; i += blockDim.x) {
    context.totals[i] = context.tree.identity;
  }
}

/// Visits the root, and writes the list of the first round. Returns false if the root has no
/// children. One thread calls it after clear_rounds() and a barrier.
template <class Context>
__device__ bool visit_root(const Context& context, const typename Context::node_type& root,
                           typename Context::shared_memory& shared) {
  typename Context::value_type total = context.tree.identity;
  const unsigned degree = context.tree.visit_node(root, total, shared);
  context.totals[0] = total;
  if (degree == 0) return false;
  context.lists[0][0] = {root, 0, degree};
  context.state->count[0] = 1;
  context.state->peak = 1;
  return true;
}

/// Clears the memory of the rounds. If `visits`, it then visits the root and launches the first
/// round. Launched with one block.
template <class Context>
__global__ void __launch_bounds__(total_threads)
    begin_rounds(typename Context::node_type root, bool visits, Context context) {
  const traced here(context.trace, __func__);
  __shared__ typename Context::shared_memory shared;
  // 1. Clear.
  clear_rounds(context);
  if (context.clears_status && threadIdx.x == 0) context.clear_status();
  __syncthreads();
  // 2. Visit the root. Join: as of the rounds.
  if (threadIdx.x != 0 || !visits) return;
  if (visit_root(context, root, shared)) end_round(context, __func__);
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
  if (threadIdx.x == 0) end_round(context, context.end_round(round), __func__);
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
