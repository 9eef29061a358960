// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Open nodes: visited, with children that are not. A warp keeps its own on a stack in shared
/// memory; between rounds they lie in a list in device memory.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/route_plan.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// A node whose children `next` to `end` - 1 are yet to be visited. A node of any degree takes one
/// place on a stack, so a stack is bounded by depth and not by width.
template <class Node>
struct open_node {
  Node node;
  unsigned next;
  unsigned end;

  [[nodiscard]] __device__ unsigned remaining() const { return end - next; }
};

/// The sizes that a walk over nodes of this type is compiled with.
template <class Node>
struct walk_tuning {
  static constexpr unsigned lanes = 32;
  /// Open nodes on a warp's stack: wanted, where there is so much shared memory, and the least that a
  /// walk can do with. A small stack hands its lower half out more often.
  static constexpr unsigned wanted_stack = 192;
  static constexpr unsigned least_stack = 2 * lanes;
  /// Bytes of shared memory that every device and the executor have for a block.
  static constexpr unsigned sure_bytes = 48 * 1024;
  /// Warps a block. On an H200 a grid that a kernel launched gets one block an SM, whatever would
  /// fit, so it had better be a large one: T1L ran at 11.3, 13.0 and 17.5 Gnodes/s on the device
  /// route with 4, 8 and 16 warps.
  static constexpr unsigned warps = [] {
    unsigned w = 16;
    while (w > 1 && w * least_stack * sizeof(open_node<Node>) > sure_bytes) w /= 2;
    return w;
  }();
  static constexpr unsigned threads = warps * lanes;
  static_assert(warps * least_stack * sizeof(open_node<Node>) <= sure_bytes,
                "a node may have at most 760 bytes");

  /// A warp looks every so many steps whether others have run out of work...
  static constexpr unsigned look_every = 8;
  /// ...and hands its own out again after so many at the earliest.
  static constexpr unsigned least_steps = 24;
  /// Open nodes that a warp takes at least, so that it is not done before others have begun.
  static constexpr unsigned least_share = 2;
  /// An open node is handed out in pieces of about so many children, up to so many pieces.
  static constexpr unsigned piece = lanes;
  static constexpr unsigned most_pieces = 1024;
};

/// A list of open nodes in device memory, appended to by any warp.
template <class Node>
struct open_list {
  open_node<Node>* nodes;
  unsigned* count;  ///< greater than `capacity` if some found no room
  unsigned capacity;

  /// Whether little room is left: a list of this size takes all that the walkers still have.
  [[nodiscard]] __device__ bool is_filling() const { return load_relaxed(*count) > capacity / 2; }
};

/// Adds `count` to a word if that leaves it at `limit` or below; where it was before. One thread.
__device__ inline bool take_below(unsigned* word, unsigned count, unsigned limit,
                                  unsigned& before) {
  before = load_relaxed(*word);
  while (before + count <= limit) {
    const unsigned seen = atomicCAS(word, before, before + count);
    if (seen == before) return true;
    before = seen;
  }
  return false;
}

/// Appends the lowest `n` entries of a warp's stack to the list, wide ones in pieces that several
/// warps can take. All lanes; a __syncwarp() must come before the stack is changed. False, in all
/// lanes, if there was no room.
template <class Node>
__device__ bool hand_out(const open_node<Node>* stack, unsigned n, const open_list<Node>& list) {
  using tuning = walk_tuning<Node>;
  __shared__ typename warp_scan<unsigned>::TempStorage scan_storage[tuning::warps];
  const unsigned lane = threadIdx.x % tuning::lanes;
  bool fits = true;
  for (unsigned begin = 0; begin < n; begin += tuning::lanes) {
    // 1. How many pieces should each lane's entry make?
    const unsigned i = begin + lane;
    const unsigned entries = min(n - begin, tuning::lanes);
    unsigned pieces = 0;
    if (i < n) {
      pieces = min((stack[i].remaining() + tuning::piece - 1) / tuning::piece, tuning::most_pieces);
    }
    unsigned offset = 0;
    unsigned total = 0;
    warp_scan<unsigned>(scan_storage[threadIdx.x / tuning::lanes])
        .ExclusiveSum(pieces, offset, total);
    // 2. Places in the list. Pieces may fill half of it; the rest is for entries as they are.
    unsigned first = 0;
    unsigned taken = entries;
    if (lane == 0) {
      if (total > entries && take_below(list.count, total, list.capacity / 2, first)) {
        taken = total;
      } else {
        first = atomicAdd(list.count, entries);
      }
    }
    first = __shfl_sync(full_warp_mask, first, 0);
    taken = __shfl_sync(full_warp_mask, taken, 0);
    if (first + taken > list.capacity) {
      fits = false;
      break;
    }
    if (taken == entries) {
      pieces = i < n ? 1 : 0;
      offset = lane;
    }
    // 3. Write the pieces, of about equal size.
    for (unsigned p = 0; p < pieces; ++p) {
      const open_node<Node>& whole = stack[i];
      const unsigned long long remaining = whole.remaining();
      list.nodes[first + offset + p] = {
          whole.node, whole.next + static_cast<unsigned>(remaining * p / pieces),
          whole.next + static_cast<unsigned>(remaining * (p + 1) / pieces)};
    }
  }
  return fits;
}

/// Flat rounds that the host launches before it makes a graph for the rest.
inline constexpr unsigned opening_rounds_of_walk = 4;

/// What either route takes for ten rounds: a bushy tree of a few million nodes has as many. After each
/// round of its own the host reads twice, the state of the walk and the run's status.
[[nodiscard]] inline route_plans plans_of_walk(bool by_host) {
  constexpr double rounds = 10;
  constexpr double opening = opening_rounds_of_walk;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  const route_plan graph{
      .host_launches = opening, .graph_iterations = rounds - opening, .graph_loops = 1};
  if (by_host) return {{.host_round_trips = 2 * rounds}, device, route::device};
  return {graph, device, route::flat};
}

}  // namespace ramify::inline RAMIFY_BUILD
