// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// round_team: blocks of a grid that stay for further rounds of a launch chain. A chain of many
/// short rounds then needs a launch only for a round that needs more blocks.
///
///     __shared__ round_team::part_memory shared;
///     round_team team(*program.progress, shared, due_parts);
///     do {
///       for (bool has = team.has_part(); has; has = team.take_part()) {
///         visit(team.part());                          // 1. the block's parts of the round
///       }
///       if (team.is_last() && threadIdx.x == 0) {      // 2. the round is complete
///         ...                                          //    write the state
///         if (due_parts <= 2 * team.size()) {
///           team.begin_round(due_parts, due_parts);
///         } else {
///           team.end();                                //    then launch the next grid
///         }
///       }
///     } while (team.next());                           // 3. wait for a part of the next round
///
/// Join: the last block of the team to arrive begins the next round, or ends the team. The other
/// blocks poll a number in device memory that this block writes.
///
/// Progress: a block stays only if it finds, when it arrives for the first time, that all blocks of
/// its grid have begun. So it waits for blocks that are on a multiprocessor, and not for a block
/// that needs the place of another one. It is not necessary that all blocks of the grid are
/// resident at the same time: blocks that arrive earlier leave. No block waits for another grid.

#include <cassert>
#include <ramify/runtime/detail/round_launcher.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A part of a round: number `rank` of `count` parts of about the same work.
struct round_part {
  unsigned rank;
  unsigned count;
};

/// Returns the part of the calling block in a round that is one grid, of a part for each block.
[[nodiscard]] __device__ inline round_part part_of_grid() { return {blockIdx.x, gridDim.x}; }

/// The view that a block has of the team. All threads of a block construct it, and call its
/// functions together, except those that one thread calls. A grid has at most 65,535 blocks.
class round_team {
 public:
  /// The maximum number of parts of a round.
  static constexpr unsigned max_parts = (1u << 16) - 1;

  /// The state of a block in its team. It is in shared memory, because registers would be occupied
  /// during the whole round. Thread 0 alone writes it.
  struct part_memory {
    round_part part;   ///< the part that the block visits now
    unsigned size;     ///< blocks of the team, each of which arrives at the end of the round
    unsigned staying;  ///< in the last block that arrived: the blocks that can stay
    unsigned rank;     ///< rank of the block among those that stay
    unsigned number;   ///< number of the round
    bool can_stay;
    bool stays;
  };

  /// The first round begins. It has `parts` parts, at most max_parts.
  __device__ round_team(chain_progress& progress, part_memory& shared, unsigned parts)
      : progress_(progress), shared_(shared) {
    if (threadIdx.x == 0) {
      const unsigned number = number_of(load_relaxed(progress.published));
      shared = {{blockIdx.x, parts}, gridDim.x, 0, 0, number, false, false};
      atomicAdd(&progress.begun, 1u);
    }
    __syncthreads();
  }

  [[nodiscard]] __device__ const round_part& part() const { return shared_.part; }
  [[nodiscard]] __device__ bool has_part() const { return part().rank < part().count; }
  /// Returns whether one block has all the work of the round.
  [[nodiscard]] __device__ bool is_alone() const { return part().count == 1; }

  /// Takes another part of a round that has more parts than the team has blocks: blocks that are
  /// ready early take more of them. Returns, to all threads, whether one was left.
  [[nodiscard]] __device__ bool take_part() {
    if (part().count <= shared_.size) return false;
    __syncthreads();
    if (threadIdx.x == 0) shared_.part.rank = shared_.size + atomicAdd(&progress_.taken, 1u);
    __syncthreads();
    return has_part();
  }

  /// Ends the block's parts of a round. Returns true, to all threads, in the last block of the
  /// team. The writes of the other blocks are then visible.
  [[nodiscard]] __device__ bool is_last() {
    __threadfence();
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0) {
      part_memory& own = shared_;
      own.can_stay = own.can_stay || load_relaxed(progress_.begun) == gridDim.x;
      const unsigned before = atomicAdd(&progress_.arrived, own.can_stay ? one_stays | 1u : 1u);
      own.rank = before / one_stays;
      last = before % one_stays == own.size - 1;
      if (last) {
        own.can_stay = true;
        own.staying = own.rank + 1;
        progress_.arrived = 0;
        progress_.begun = 0;
        progress_.taken = 0;
      }
      __threadfence();
    }
    return __syncthreads_or(last ? 1 : 0) != 0;
  }

  /// Returns the number of blocks that can stay. One thread of the last block calls it.
  [[nodiscard]] __device__ unsigned size() const { return shared_.staying; }

  /// Begins a round of `parts` parts. `stay` blocks stay in the team, or all if it is greater than
  /// their number. If there are more parts than blocks, a block that is ready takes another part.
  /// One thread of the last block calls it, after it has written the state. Requires
  /// 1 <= parts <= max_parts and 1 <= stay.
  __device__ void begin_round(unsigned parts, unsigned stay) {
    publish(parts, stay < size() ? stay : size());
  }
  /// Ends the team. One thread of the last block calls it, before it launches another grid.
  __device__ void end() { publish(0, 0); }

  /// Waits for the next round. Returns, to all threads, whether the block is still in the team.
  [[nodiscard]] __device__ bool next() {
    // All threads poll together: at a barrier, the executor can run another block.
    bool waits = true;
    do {
      if (threadIdx.x == 0) waits = !read_round();
    } while (__syncthreads_or(threadIdx.x == 0 && waits ? 1 : 0) != 0);
    return shared_.stays;
  }

 private:
  static constexpr unsigned one_stays = 1u << 16;  // in `arrived`, beside the blocks that arrived

  // The published number: the number of a round, the blocks that stay, and the parts.
  [[nodiscard]] static __device__ unsigned number_of(unsigned long long published) {
    return static_cast<unsigned>(published >> 32);
  }
  __device__ void publish(unsigned parts, unsigned stay) const {
    assert(parts <= max_parts && stay <= max_parts);
    __threadfence();
    atomicExch(&progress_.published, static_cast<unsigned long long>(shared_.number + 1) << 32 |
                                         static_cast<unsigned long long>(stay << 16 | parts));
  }

  /// Reads the next round, or leaves the team. Returns false if the round has not begun. Thread 0
  /// calls it.
  __device__ bool read_round() {
    part_memory& own = shared_;
    own.stays = false;
    if (!own.can_stay) return true;
    const unsigned long long published = load_relaxed(progress_.published);
    if (number_of(published) == own.number) {
      __nanosleep(20);
      return false;
    }
    __threadfence();
    ++own.number;
    // After the end of the team, the next grid may already have published another number.
    own.size =
        number_of(published) == own.number ? static_cast<unsigned>(published >> 16) % one_stays : 0;
    own.part = {own.rank, static_cast<unsigned>(published) % one_stays};
    own.stays = own.rank < own.size;
    return true;
  }

  chain_progress& progress_;
  part_memory& shared_;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
