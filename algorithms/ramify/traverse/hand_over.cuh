// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Thin rounds: how workers hand nodes to each other, without a new round.
///
/// In a thin round the latency of a step limits the speed, because the frontier has fewer nodes
/// than the device has lanes. So there is one worker for each partition of a multiprocessor: four
/// warps that share a partition need four times as long for a step.
///
///     1. Wait        A worker without nodes sets its bit in the mask of waiting workers, and polls
///                    its mailbox.
///     2. Claim       A worker with more children than lanes clears the bits of some of
///                    the waiting workers.
///     3. Hand over   It writes the lowest part of its stack to the mailboxes of those workers.
///
/// No worker depends on one that has not started. A worker waits with its bit set for max_polls
/// polls, then it clears the bit and ends. If another worker has cleared the bit, that worker is
/// running and writes the nodes, so the wait is short.
///
/// The round ends early, and all nodes go to the list of the next one, if a quarter of the workers
/// have ended and none waits, or if a quarter are saturated, or if a stack overflows.
///
/// Source: work stealing initiated by the receiver (Acar, Charguéraud and Rainey: Scheduling
/// parallel programs by work stealing with private deques. PPoPP 2013).

#include <cstddef>
#include <ramify/traverse/warp_worker.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// A worker of a thin round. All lanes call the member functions together.
template <class Context>
struct thin_worker {
  using Node = typename Context::node_type;
  using tuning = typename Context::tuning;

  // Each lane watches one number, so that one load instruction reads all of them. The first lanes
  // watch the waiting bits, 32 workers each.
  static constexpr unsigned idle_lane = 29;       ///< watches the workers that have ended
  static constexpr unsigned saturated_lane = 30;  ///< watches the saturated workers
  static constexpr unsigned next_lane = 31;       ///< watches the nodes of the next round
  static constexpr unsigned max_words = idle_lane;
  static constexpr unsigned max_workers = max_words * tuning::lanes;

  warp_worker<Context>& worker;
  unsigned lane;
  unsigned id;              ///< of the worker in its grid
  unsigned workers;         ///< of the grid
  unsigned* watched;        ///< the number that this lane watches, or null
  unsigned full_steps = 0;  ///< consecutive latest steps that left enough work; see saturated_steps

  __device__ explicit thin_worker(warp_worker<Context>& w)
      : worker(w),
        lane(w.lane),
        id(threadIdx.x / tuning::lanes * w.round.blocks + blockIdx.x),
        workers(w.round.blocks * w.round.warps) {
    const unsigned words = (workers + tuning::lanes - 1) / tuning::lanes;
    watched = lane < words             ? w.context.boxes.waiting + lane
              : lane == idle_lane      ? &w.context.state->idle
              : lane == saturated_lane ? &w.context.state->saturated
              : lane == next_lane      ? &w.next_count()
                                       : nullptr;
  }

  /// Returns the present value of the number that the lane watches.
  [[nodiscard]] __device__ unsigned read_watched() const {
    return watched == nullptr ? 0 : load_relaxed(*watched);
  }

  /// Waits until another worker hands over nodes. Returns false if none does.
  __device__ bool wait() {
    const mailboxes<Node>& boxes = worker.context.boxes;
    unsigned* const word = boxes.waiting + id / tuning::lanes;
    unsigned* const delivered = boxes.delivered + id * boxes.stride;
    const unsigned bit = 1u << id % tuning::lanes;
    count_full_step(false);
    // 1. Allow other workers to claim this one, after all lanes have read the last delivery.
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicOr(word, bit);
    // 2. Poll the mailbox. Each worker polls a number of its own: polls of one number by all
    //    workers would delay the atomic functions of others.
    unsigned count = 0;
    for (unsigned polls = 1;; ++polls) {
      count = of_lane(lane == 0 ? load_relaxed(*delivered) : 0, 0);
      if (count != 0) break;
      if (polls % tuning::polls_per_check == 0 && (polls >= tuning::max_polls || is_over())) {
        unsigned old = 0;
        if (lane == 0) old = atomicAnd(word, ~bit);
        if ((of_lane(old, 0) & bit) != 0) return false;
        // Another worker has claimed this one, and delivers.
      }
    }
    // 3. Take the nodes.
    if (lane == 0) atomicExch(delivered, 0u);
    __threadfence();
    __syncwarp();
    const frontier_node<Node>* const box = box_of(id);
    for (unsigned i = lane; i < count; i += tuning::lanes) worker.stack[i] = box[i];
    worker.size = count;
    __syncwarp();
    return true;
  }

  /// Hands nodes to waiting workers if the previous step had more than 32 `children`. `seen` is the
  /// result of read_watched() before that step, so that the loads overlap with the step. Returns
  /// whether the worker must donate its nodes to the next round.
  __device__ bool serve(unsigned seen, unsigned children) {
    const bool has_spare = children > tuning::lanes && worker.size > 0;
    count_full_step(has_spare && worker.size >= tuning::saturated_size);
    const unsigned limit = lane == idle_lane        ? workers / 4
                           : lane == saturated_lane ? workers / tuning::saturated_part
                                                    : 0;
    const unsigned above = __ballot_sync(full_warp_mask, seen > limit);
    // 1. Others have donated nodes, or a wide round is faster.
    if ((above >> next_lane & 1) != 0) return true;
    if ((above >> saturated_lane & 1) != 0) {
      if (lane == 0) atomicExch(&worker.context.state->next_is_wide, 1u);
      return true;
    }
    if (!has_spare) return false;
    // 2. If no worker waits, and many have ended, a new round lets all workers begin again.
    const unsigned words = above & ((1u << max_words) - 1);
    if (words == 0) return (above >> idle_lane & 1) != 0;
    // 3. Hand nodes to workers that wait.
    hand_over(seen, words);
    return false;
  }

 private:
  [[nodiscard]] __device__ static unsigned of_lane(unsigned value, unsigned from) {
    return __shfl_sync(full_warp_mask, value, static_cast<int>(from));
  }
  [[nodiscard]] __device__ frontier_node<Node>* box_of(unsigned of) const {
    return worker.context.boxes.nodes + std::size_t{of} * tuning::mailbox_nodes;
  }

  /// Returns whether no worker of the round has nodes, or the others donate theirs. The numbers are
  /// not read at the same instant, so a worker with nodes may be counted as waiting. The caller
  /// then ends too early, but no node is lost.
  [[nodiscard]] __device__ bool is_over() const {
    const unsigned seen = read_watched();
    const unsigned without_nodes = lane < max_words    ? static_cast<unsigned>(__popc(seen))
                                   : lane == idle_lane ? seen
                                                       : 0;
    return sum_of_lanes(without_nodes) >= workers || of_lane(seen, next_lane) != 0;
  }

  /// Counts a step. If the latest saturated_steps steps were full, the worker is saturated.
  __device__ void count_full_step(bool full) {
    unsigned* const saturated = &worker.context.state->saturated;
    if (!full && full_steps >= tuning::saturated_steps && lane == 0) atomicSub(saturated, 1u);
    full_steps = full ? full_steps + 1 : 0;
    if (full_steps == tuning::saturated_steps && lane == 0) atomicAdd(saturated, 1u);
  }

  /// Claims at most `most` workers. Each lane whose bit in `words` is set has seen waiting bits,
  /// and may claim one worker. Returns the mask of the lanes that have claimed a worker; `claimed`
  /// is its id. A claim fails if the worker has ended, or another worker has claimed it.
  __device__ unsigned claim(unsigned seen, unsigned words, unsigned most, unsigned& claimed) const {
    // Each worker begins at another word and at another bit, so that few claim the same one.
    const unsigned first_word = id / tuning::lanes;
    const unsigned first_bit = id % tuning::lanes;
    const unsigned before = (1u << (lane - first_word) % tuning::lanes) - 1;
    const unsigned words_before = __funnelshift_r(words, words, first_word) & before;
    bool claims = (words >> lane & 1) != 0 && static_cast<unsigned>(__popc(words_before)) < most;
    if (claims) {
      const int bits = static_cast<int>(__funnelshift_r(seen, seen, first_bit));
      const unsigned bit = (static_cast<unsigned>(__ffs(bits)) - 1 + first_bit) % tuning::lanes;
      claims = (atomicAnd(watched, ~(1u << bit)) >> bit & 1) != 0;
      claimed = lane * tuning::lanes + bit;
    }
    return __ballot_sync(full_warp_mask, claims);
  }

  /// Claims waiting workers, and gives each an equal part of the stack: the nodes nearest to the
  /// root, or children of the lowest node if it alone has more than a step needs.
  __device__ void hand_over(unsigned seen, unsigned words) {
    const unsigned remaining = worker.stack[0].remaining();
    const bool splits = remaining > tuning::lanes;
    const unsigned most = splits ? remaining / (tuning::lanes / 2) : worker.size / 2;
    unsigned claimed = 0;
    const unsigned claims = claim(seen, words, most, claimed);
    if (claims == 0) return;
    const unsigned given = splits ? give_children(claims, claimed) : give_nodes(claims, claimed);
    // Deliver: the nodes are visible before their number.
    __threadfence();
    __syncwarp();
    if ((claims >> lane & 1) != 0) {
      atomicExch(worker.context.boxes.delivered + claimed * mailboxes<Node>::stride, given);
    }
  }

  /// Writes parts of the lowest node's children to the mailboxes of the claimed workers, and keeps
  /// the first part. Returns the number of nodes in each mailbox, 1.
  __device__ unsigned give_children(unsigned claims, unsigned claimed) const {
    const auto parts = static_cast<unsigned>(__popc(claims)) + 1;
    const frontier_node<Node> whole = worker.stack[0];
    const auto begin_of = [&](unsigned part) {
      return whole.next + static_cast<unsigned>(1ull * whole.remaining() * part / parts);
    };
    __syncwarp();  // all lanes have read the node
    if ((claims >> lane & 1) != 0) {
      const unsigned part = lanes_before(claims, lane) + 1;
      *box_of(claimed) = {whole.node, begin_of(part), begin_of(part + 1)};
    }
    if (lane == 0) worker.stack[0].end = begin_of(1);
    return 1;
  }

  /// Moves nodes from the bottom of the stack to the mailboxes of the claimed workers. Returns the
  /// number of nodes in each mailbox.
  __device__ unsigned give_nodes(unsigned claims, unsigned claimed) const {
    const auto boxes = static_cast<unsigned>(__popc(claims));
    const unsigned count = min(worker.size / (boxes + 1), tuning::mailbox_nodes);
    unsigned first = 0;
    for (unsigned left = claims; left != 0; left &= left - 1, first += count) {
      const unsigned to = of_lane(claimed, static_cast<unsigned>(__ffs(int(left))) - 1);
      for (unsigned i = lane; i < count; i += tuning::lanes) {
        box_of(to)[i] = worker.stack[first + i];
      }
    }
    __syncwarp();
    worker.drop_lowest(boxes * count);
    return count;
  }
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
