// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The frontier of a traversal: the visited nodes that still have unvisited children. Each warp
/// keeps its part on a stack in shared memory. Between rounds the frontier is a list in device
/// memory. Also the sizes of a run, and the input of a round.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// A node whose children `next` to `end` - 1 are yet to be visited. A node of any degree takes one
/// stack entry, so the size of a stack depends on the depth of the tree and not on its width.
template <class Node>
struct frontier_node {
  Node node;
  unsigned next;
  unsigned end;

  [[nodiscard]] __device__ unsigned remaining() const { return end - next; }
};

/// The compile-time sizes of a work-sharing traversal of nodes of this type.
template <class Node>
struct work_sharing_tuning {
  static constexpr unsigned lanes = 32;
  /// Entries of a warp's stack: the preferred number, used where shared memory suffices, and the
  /// minimum. A small stack donates its lower half more often, and a warp whose stack is almost
  /// full visits fewer nodes per step. A stack of small nodes has more entries, in the memory of
  /// 192 entries of 32 bytes.
  static constexpr unsigned preferred_stack =
      std::max<unsigned>(192, 192 * 32 / sizeof(frontier_node<Node>));
  static constexpr unsigned min_stack = 2 * lanes;
  /// Bytes of shared memory per block that every GPU and the CPU executor provide.
  static constexpr unsigned guaranteed_shared_bytes = 48 * 1024;
  /// Warps per block. In a grid that a kernel launched, one block is resident on a multiprocessor
  /// (max_registers() in residency.cuh), so large blocks are faster: T1L ran at 11.3, 13.0 and 17.5
  /// Gnodes/s on the device route of an H200 with 4, 8 and 16 warps.
  static constexpr unsigned warps = [] {
    unsigned w = 16;
    while (w > 1 && w * min_stack * sizeof(frontier_node<Node>) > guaranteed_shared_bytes) w /= 2;
    return w;
  }();
  static constexpr unsigned threads = warps * lanes;
  static_assert(warps * min_stack * sizeof(frontier_node<Node>) <= guaranteed_shared_bytes,
                "a node may have at most 760 bytes");

  /// Steps of a warp between two checks for idle warps.
  static constexpr unsigned check_interval = 8;
  /// Steps of a warp of a wide round before it may donate its stack. The first of all rounds would
  /// have min_steps_at_first. The number doubles in each later round, up to min_steps. If the tree
  /// sets donates_late (traversal.cuh), all rounds have min_steps.
  static constexpr unsigned min_steps = 24;
  static constexpr unsigned min_steps_at_first = 4;
  /// Minimum number of frontier nodes that a warp takes. With fewer, a warp is idle before others
  /// have started.
  static constexpr unsigned min_share = 2;
  /// A donated node is split into pieces of about this many children, into at most max_pieces.
  static constexpr unsigned piece_size = lanes;
  static constexpr unsigned max_pieces = 1024;

  // Thin rounds (hand_over.cuh).

  /// Warps of a block that are workers: one for each partition of a multiprocessor.
  static constexpr unsigned thin_warps = std::min(warps, 4u);
  /// A round is thin if its workers take at most this many frontier nodes each.
  static constexpr unsigned max_thin_share = 16;
  /// Polls of a worker without nodes before it ends: half a millisecond on an H200. A worker that
  /// has ended cannot begin again in its round. On the CPU executor other warps of the block may
  /// only run when it has ended.
  static constexpr unsigned max_polls = RAMIFY_ON_CUDA ? 1024 : 16;
  /// Polls between two checks whether any worker still has nodes.
  static constexpr unsigned polls_per_check = 4;
  /// Frontier nodes of a mailbox.
  static constexpr unsigned mailbox_nodes = min_stack / 2;
  /// A worker is saturated if each of its latest saturated_steps steps had more children than
  /// lanes, and left at least saturated_size nodes. If more than one in saturated_part workers is
  /// saturated, a wide round follows.
  static constexpr unsigned saturated_steps = 6;
  static constexpr unsigned saturated_size = 12;
  static constexpr unsigned saturated_part = 4;
};

/// Sizes that all rounds of a run share.
struct work_sharing_sizes {
  unsigned stack;        ///< entries of a warp's stack
  unsigned blocks;       ///< of the largest round
  unsigned capacity;     ///< of each list, in frontier nodes
  unsigned thin_blocks;  ///< of a thin round, one for each multiprocessor; 0: no round is thin
};

/// The input of a round, and its division into shares.
struct work_round {
  unsigned filled;  ///< index of the list that the round reads
  unsigned count;   ///< frontier nodes in that list
  unsigned share;   ///< frontier nodes that a worker takes at a time
  unsigned blocks;
  unsigned warps;      ///< of a block that are workers
  unsigned min_steps;  ///< of a wide round: steps of a worker before it may donate its stack
  bool is_thin;        ///< workers hand nodes to each other; see hand_over.cuh
};

/// What the workers of thin rounds write for each other; see hand_over.cuh.
template <class Node>
struct mailboxes {
  /// Distance of two numbers in `delivered`: a memory sector for each.
  static constexpr unsigned stride = 8;

  unsigned* waiting;           ///< a bit for each worker: it waits, and no other has claimed it
  unsigned* delivered;         ///< for each worker, at `stride`: the nodes in its mailbox, or 0
  frontier_node<Node>* nodes;  ///< mailbox_nodes for each worker

  /// Clears the numbers of `workers` workers. All threads of the first grid's block call it.
  __device__ void clear(unsigned workers) const {
    for (unsigned i = threadIdx.x; i < workers; i += blockDim.x) {
      delivered[std::size_t{i} * stride] = 0;
      if (i % 32 == 0) waiting[i / 32] = 0;
    }
  }
};

/// Adds `n` to `counter` if the sum is at most `limit`, and writes the old value to `first`.
/// Returns whether it added `n`. Called by one thread.
__device__ inline bool try_reserve(unsigned* counter, unsigned n, unsigned limit, unsigned& first) {
  first = load_relaxed(*counter);
  while (first + n <= limit) {
    const unsigned seen = atomicCAS(counter, first, first + n);
    if (seen == first) return true;
    first = seen;
  }
  return false;
}

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
