// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One warp in a round of a work-sharing traversal: it takes frontier nodes, visits their children,
/// and donates frontier nodes to the next round.

#include <cstddef>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/traverse/frontier.cuh>
#include <ramify/traverse/traversal.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// A block's shared memory besides the stacks. The kernels declare it, and pass it to device
/// functions: nvlink gives the shared variables of all device functions different addresses, which
/// enlarges the shared memory of kernels that do not use them.
template <class Context>
struct worker_shared {
  using tuning = typename Context::tuning;
  typename warp_scan<unsigned>::TempStorage scans[tuning::warps];
  typename Context::shared_memory visits;
};

/// A warp with its stack. All lanes call the member functions together.
template <class Context>
struct warp_worker {
  using Node = typename Context::node_type;
  using Value = typename Context::value_type;
  using tuning = typename Context::tuning;

  frontier_node<Node>* stack;  ///< in shared memory
  const work_round& round;
  const Context& context;
  worker_shared<Context>& shared;
  unsigned lane;
  bool is_first_share = true;
  unsigned size = 0;  ///< entries of the stack; the same in all lanes

  /// Returns the number of frontier nodes in the list of the next round. It is greater than the
  /// capacity if the list overflowed.
  [[nodiscard]] __device__ unsigned& next_count() const {
    return context.state->count[1 - round.filled];
  }

  /// Returns the most frontier nodes that the next round's list may have before workers stop to
  /// append more than they must. The other half can take all entries of all stacks. If the round
  /// has limits, the list can take the shares without a worker, too.
  [[nodiscard]] __device__ unsigned filling_limit() const {
    if constexpr (Context::is_limited) {
      return context.sizes.capacity / 2 - (may_stop() ? later_shares() : 0);
    } else {
      return context.sizes.capacity / 2;
    }
  }

  /// Returns the number of frontier nodes in this round's list after the first shares.
  [[nodiscard]] __device__ unsigned later_shares() const {
    const unsigned first_shares = round.blocks * round.warps * round.share;
    return round.count > first_shares ? round.count - first_shares : 0;
  }

  /// Returns whether a round with limits may end before all shares are taken: the list of the next
  /// round has the capacity for the others.
  [[nodiscard]] __device__ bool may_stop() const {
    return later_shares() <= context.sizes.capacity / 4;
  }

  /// Copies a share of this round's list to the empty stack. Returns false if no share is left.
  __device__ bool take_share() {
    if (is_first_share) return take_first_share();
    // Later shares are taken by an atomic counter.
    unsigned first = 0;
    if (lane == 0) {
      first =
          round.blocks * round.warps * round.share + atomicAdd(&context.state->taken, round.share);
    }
    first = __shfl_sync(full_warp_mask, first, 0);
    if (first >= round.count) return false;
    copy_entries(first, min(round.share, round.count - first), 1);
    return true;
  }

  /// Copies the share that is assigned to this warp: round-robin over the blocks, so that few
  /// shares use many SMs. Returns false if there is none.
  __device__ bool take_first_share() {
    is_first_share = false;
    const unsigned own = threadIdx.x / tuning::lanes * round.blocks + blockIdx.x;
    const unsigned shares =
        min((round.count + round.share - 1) / round.share, round.blocks * round.warps);
    if (own >= shares) return false;
    if constexpr (takes_neighbors<typename Context::expand_type>) {
      const unsigned first = own * round.share;
      copy_entries(first, min(round.share, round.count - first), 1);
    } else {
      // The shares are interleaved. Neighbors in the list come from the stack of one warp, so their
      // subtrees are of similar size, and shares of neighbors would be of very different sizes.
      const unsigned end = min(round.count, shares * round.share);
      copy_entries(own, (end - own + shares - 1) / shares, shares);
    }
    return true;
  }

  /// Copies `n` entries of this round's list to the empty stack: `first`, `first + stride`, ...
  __device__ void copy_entries(unsigned first, unsigned n, unsigned stride) {
    const frontier_node<Node>* const list = context.lists[round.filled];
    for (unsigned i = lane; i < n; i += tuning::lanes) stack[i] = list[first + i * stride];
    size = n;
    __syncwarp();
  }

  /// Entries of the next round's list that a warp has reserved.
  struct reservation {
    unsigned first;
    unsigned count;
  };

  /// Reserves list entries for `pieces` pieces of `entries` stack entries or, if these pieces are
  /// too many, for the whole entries. Pieces may fill half of the list; the rest is for whole
  /// entries.
  __device__ reservation reserve(unsigned pieces, unsigned entries) const {
    unsigned first = 0;
    unsigned taken = entries;
    if (lane == 0) {
      if (pieces > entries && try_reserve(&next_count(), pieces, filling_limit(), first)) {
        taken = pieces;
      } else {
        first = atomicAdd(&next_count(), entries);
      }
    }
    first = __shfl_sync(full_warp_mask, first, 0);
    taken = __shfl_sync(full_warp_mask, taken, 0);
    return {first, taken};
  }

  /// Returns a part of an entry: number `p` of `pieces` parts, whose sizes differ by at most one
  /// child.
  [[nodiscard]] __device__ static frontier_node<Node> piece_of(const frontier_node<Node>& whole,
                                                               unsigned p, unsigned pieces) {
    const unsigned long long remaining = whole.remaining();
    return {whole.node, whole.next + static_cast<unsigned>(remaining * p / pieces),
            whole.next + static_cast<unsigned>(remaining * (p + 1) / pieces)};
  }

  /// Appends the lowest `n` entries of the stack to the list of the next round, and splits nodes
  /// with many children into pieces that several warps can take. Returns false, in all lanes, if
  /// the list overflows. The caller must call __syncwarp() before it changes the stack.
  __device__ bool share_work(unsigned n) const {
    frontier_node<Node>* const list = context.lists[1 - round.filled];
    bool fits = true;
    for (unsigned begin = 0; begin < n; begin += tuning::lanes) {
      // 1. Compute the number of pieces of each lane's entry.
      const unsigned i = begin + lane;
      const unsigned entries = min(n - begin, tuning::lanes);
      unsigned pieces = 0;
      if (i < n) {  // a node has up to 2^32 - 1 children, and each entry has some
        pieces = min((stack[i].remaining() - 1) / tuning::piece_size + 1, tuning::max_pieces);
      }
      unsigned offset = 0;
      unsigned total = 0;
      warp_scan<unsigned>(shared.scans[threadIdx.x / tuning::lanes])
          .ExclusiveSum(pieces, offset, total);
      // 2. Reserve list entries.
      const reservation reserved = reserve(total, entries);
      if (reserved.first + reserved.count > context.sizes.capacity) {
        fits = false;
        break;
      }
      // 3. Write the pieces.
      if (reserved.count == entries) {
        pieces = i < n ? 1 : 0;
        offset = lane;
      }
      for (unsigned p = 0; p < pieces; ++p) {
        list[reserved.first + offset + p] = piece_of(stack[i], p, pieces);
      }
    }
    return fits;
  }

  /// Donates the lowest `n` entries, which are nearest to the root, to the next round. Returns
  /// false if the list overflows; the traversal is then incomplete, and the host throws.
  __device__ bool donate(unsigned n) {
    const bool fits = share_work(n);
    __syncwarp();
    drop_lowest(n);
    return fits;
  }

  /// Removes the lowest `n` entries.
  __device__ void drop_lowest(unsigned n) {
    for (unsigned begin = n; begin < size; begin += tuning::lanes) {
      const unsigned i = begin + lane;
      frontier_node<Node> moved;
      if (i < size) moved = stack[i];
      __syncwarp();
      if (i < size) stack[i - n] = moved;
      __syncwarp();
    }
    size -= n;
  }

  /// Returns whether a visit has ended the traversal. The worker then drops its nodes.
  __device__ bool drop_if_ended() {
    if constexpr (Context::may_end) {
      unsigned ended = 0;
      if (lane == 0) ended = context.tree.has_ended() ? 1 : 0;
      if (__shfl_sync(full_warp_mask, ended, 0) == 0) return false;
      size = 0;
      return true;
    } else {
      return false;
    }
  }

  /// Returns how many children the next step may visit without overflowing the stack. If the stack
  /// is nearly full, the worker donates its lower half. If the next round's list is nearly full
  /// too, the step visits fewer children instead, down to one: a plain depth-first traversal, which
  /// needs one entry a level. Returns 0 if both are full; the traversal is then incomplete.
  __device__ unsigned choose_width() {
    if (size <= context.sizes.stack - tuning::lanes) return tuning::lanes;
    bool list_is_filling = false;
    if (size < context.sizes.stack) {
      // A list with half its capacity left can still take all entries of all stacks.
      if (lane == 0) list_is_filling = load_relaxed(next_count()) > filling_limit();
      list_is_filling = __shfl_sync(full_warp_mask, static_cast<int>(list_is_filling), 0) != 0;
    }
    if (list_is_filling) return max((context.sizes.stack - size) / 4, 1u);
    return donate(size / 2) ? tuning::lanes : 0;
  }

  /// Returns whether the worker of a wide round should donate its stack: a quarter of the device is
  /// idle, and either this worker has more than a step's work or others have donated already. On a
  /// path neither holds, so a path is visited in one round.
  __device__ bool should_donate(bool has_spare) const {
    bool donates = false;
    if (lane == 0) {
      const unsigned active = round.blocks * round.warps - load_relaxed(context.state->idle);
      donates = 4 * active < 3 * context.sizes.blocks * tuning::warps &&
                (has_spare || load_relaxed(next_count()) > 0);
    }
    return __shfl_sync(full_warp_mask, static_cast<int>(donates), 0) != 0;
  }

  /// Pushes the node of each lane whose degree is not 0.
  __device__ void push(const Node& node, unsigned degree) {
    const unsigned pushes = __ballot_sync(full_warp_mask, degree > 0);
    if (degree > 0) stack[size + lanes_before(pushes, lane)] = {node, 0, degree};
    size += static_cast<unsigned>(__popc(pushes));
    __syncwarp();
  }

  /// Visits up to `width` children of the topmost entries, one per lane. Returns the number of
  /// children that the topmost 32 entries had, in which more than 32 of an entry count as 33.
  __device__ unsigned step(unsigned width, Value& total) {
    // 1. Lane i reads the i-th entry from the top. The entry's children are assigned to the lanes
    //    from `first` on. (More than 32 children count as 33, so that no sum overflows.)
    const bool has_entry = lane < size;
    const unsigned remaining =
        has_entry ? min(stack[size - 1 - lane].remaining(), tuning::lanes + 1) : 0;
    unsigned first = 0;
    unsigned children = 0;
    warp_scan<unsigned>(shared.scans[threadIdx.x / tuning::lanes])
        .ExclusiveSum(remaining, first, children);
    // Bit i: the children of an entry begin at lane i. Each entry has children.
    const unsigned begins = or_of_lanes(has_entry && first < tuning::lanes ? 1u << first : 0);

    // 2. Each lane finds the entry of its child, and visits the child.
    Node child;
    unsigned degree = 0;
    if (lane < min(children, width)) {
      const unsigned begun = begins & (~0u >> (tuning::lanes - 1 - lane));
      const auto owner = static_cast<unsigned>(__popc(begun)) - 1;
      const auto first_of_owner = tuning::lanes - 1 - static_cast<unsigned>(__clz(int(begun)));
      const frontier_node<Node>& parent = stack[size - 1 - owner];
      child = context.tree.expand.child(parent.node, parent.next + lane - first_of_owner);
      degree = context.tree.visit_node(child, total, shared.visits);
    }
    __syncwarp();  // all lanes have read the entries that step 3 changes

    // 3. Pop the entries without unvisited children. At most one entry is used in part.
    const bool used_up = has_entry && first + remaining <= width;
    const auto popped = static_cast<unsigned>(__popc(__ballot_sync(full_warp_mask, used_up)));
    if (has_entry && !used_up && first < width) {
      stack[size - 1 - lane].next += width - first;
    }
    size -= popped;

    // 4. Push the children that have children.
    push(child, degree);
    return children;
  }
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
