// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A warp in a round of a traversal: how it takes open nodes, visits children, hands open nodes on.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/traverse/open_nodes.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What a round works on.
struct walk_round {
  unsigned filled;  ///< the list
  unsigned count;   ///< open nodes in it
  unsigned share;   ///< how many a walker takes at a time
  unsigned blocks;
};

/// The round over `count` open nodes. There are walkers for all shares unless the device is full, so
/// one that gives up early leaves no share behind.
template <class Node>
__host__ __device__ walk_round make_round(unsigned filled, unsigned count, unsigned most_blocks,
                                          unsigned stack_size) {
  using tuning = walk_tuning<Node>;
  const auto divided_up = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
  unsigned share = divided_up(count, most_blocks * tuning::warps);
  if (share < tuning::least_share) share = tuning::least_share;
  if (share > stack_size / 2) share = stack_size / 2;
  const unsigned shares = divided_up(count, share);  // few of them are spread over many blocks
  return {filled, count, share, shares < most_blocks ? shares : most_blocks};
}

/// A warp's place in its round: how it gets work and hands it on.
template <class Node, class Context>
struct walker {
  using tuning = walk_tuning<Node>;

  open_node<Node>* stack;  ///< in shared memory
  const walk_round& round;
  const Context& context;
  unsigned lane;
  bool fresh = true;  ///< its own share is not taken yet
  unsigned size = 0;  ///< of the stack; the same in all lanes

  [[nodiscard]] __device__ open_list<Node> next_list() const {
    const unsigned next = 1 - round.filled;
    return {context.lists[next], &context.state->count[next], context.capacity};
  }

  /// Puts a share of this round's list on the empty stack; false if nothing is left of it.
  __device__ bool take() {
    // The first shares are dealt out over the blocks, so that few shares get many SMs; who comes
    // back takes one of those behind.
    unsigned first = (threadIdx.x / tuning::lanes * round.blocks + blockIdx.x) * round.share;
    if (!fresh) {
      if (lane == 0) {
        first = round.blocks * tuning::warps * round.share +
                atomicAdd(&context.state->taken, round.share);
      }
      first = __shfl_sync(full_warp_mask, first, 0);
    }
    fresh = false;
    if (first >= round.count) return false;
    size = min(round.share, round.count - first);
    const open_node<Node>* list = context.lists[round.filled] + first;
    for (unsigned i = lane; i < size; i += tuning::lanes) stack[i] = list[i];
    __syncwarp();
    return true;
  }

  /// Hands the lowest `n` entries, the nearest to the root, to the next round. False if there was
  /// no room for them: then the run is lost, and the host says so.
  __device__ bool give(unsigned n) {
    const bool fits = hand_out(stack, n, next_list());
    __syncwarp();
    for (unsigned begin = n; begin < size; begin += tuning::lanes) {
      const unsigned i = begin + lane;
      open_node<Node> moved;
      if (i < size) moved = stack[i];
      __syncwarp();
      if (i < size) stack[i - n] = moved;
      __syncwarp();
    }
    size -= n;
    return fits;
  }

  /// How many children the next step may visit without filling the stack. A stack that is nearly
  /// full is relieved of its lower half; if the next round's list is filling up too, the walk gets
  /// narrower instead, down to a plain depth-first walk, which needs a place a level. 0 if all is
  /// full: the run is lost.
  __device__ unsigned width() {
    if (size <= context.stack_size - tuning::lanes) return tuning::lanes;
    bool filling = false;
    if (size < context.stack_size) {
      if (lane == 0) filling = next_list().is_filling();
      filling = __shfl_sync(full_warp_mask, static_cast<int>(filling), 0) != 0;
    }
    if (filling) return max((context.stack_size - size) / 4, 1u);
    return give(size / 2) ? tuning::lanes : 0;
  }

  /// Whether the open nodes should be shared out anew: many walkers are idle, and this one has more
  /// than a step's work, or others have handed theirs out already. A path has neither, and is walked
  /// to its end in one round.
  __device__ bool should_share(bool has_spare) const {
    bool share = false;
    if (lane == 0) {
      const unsigned active = round.blocks * tuning::warps - load_relaxed(context.state->idle);
      share = 4 * active < 3 * context.most_blocks * tuning::warps &&
              (has_spare || load_relaxed(*next_list().count) > 0);
    }
    return __shfl_sync(full_warp_mask, static_cast<int>(share), 0) != 0;
  }

  /// Visits up to `width` children of the topmost entries, one a lane. Whether there were more than
  /// a warp has lanes.
  template <class Value>
  __device__ bool step(unsigned width, Value& total) {
    __shared__ typename warp_scan<unsigned>::TempStorage scan_storage[tuning::warps];
    __shared__ unsigned first_lanes[tuning::threads];
    const unsigned warp = threadIdx.x / tuning::lanes;
    unsigned* first_lane = first_lanes + warp * tuning::lanes;
    // 1. Lane i looks at the i-th entry from the top; its children go to the lanes from `first` on.
    const bool has_entry = lane < size;
    // (More than 32 counts as 33, so that no sum overflows.)
    const unsigned remaining =
        has_entry ? min(stack[size - 1 - lane].remaining(), tuning::lanes + 1) : 0;
    unsigned first = 0;
    unsigned children = 0;
    warp_scan<unsigned>(scan_storage[warp]).ExclusiveSum(remaining, first, children);
    first_lane[lane] = first;
    __syncwarp();

    // 2. Each lane finds the entry that its child belongs to, and visits the child.
    Node child;
    unsigned degree = 0;
    if (lane < min(children, width)) {
      unsigned owner = 0;
      for (unsigned half = tuning::lanes / 2; half > 0; half /= 2) {
        // An empty place begins where the last entry ends, which is beyond this lane.
        if (first_lane[owner + half] <= lane) owner += half;
      }
      const open_node<Node>& parent = stack[size - 1 - owner];
      child = context.expand.child(parent.node, parent.next + lane - first_lane[owner]);
      degree = context.expand.degree(child);
      total = context.reduce(total, context.visit(child, degree));
    }
    __syncwarp();  // all have read the entries that some now change

    // 3. Entries with no child left go from the stack; one may have some left.
    const bool used_up = has_entry && first + remaining <= width;
    const unsigned gone = __popc(__ballot_sync(full_warp_mask, used_up));
    if (has_entry && !used_up && first < width) {
      stack[size - 1 - lane].next += width - first;
    }
    size -= gone;

    // 4. Children that have children become entries.
    const unsigned open = __ballot_sync(full_warp_mask, degree > 0);
    if (degree > 0) stack[size + __popc(open & ((1u << lane) - 1))] = {child, 0, degree};
    size += __popc(open);
    __syncwarp();
    return children > tuning::lanes;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
