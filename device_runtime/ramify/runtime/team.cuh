// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// block_team: a group of consecutive warps of a block with its own barrier.
///
/// In a grid that a kernel launched, fewer blocks are resident on a multiprocessor than in a grid
/// from the host, see max_registers() in <ramify/runtime/residency.cuh>. A large block of several
/// teams fills the multiprocessor nevertheless.

#include <ramify/runtime/cuda.hpp>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A team of `threads` consecutive threads. The block must consist of at most `max_teams` such
/// teams.
///
/// The smaller `max_teams` is, the fewer hardware barriers the kernel takes. A multiprocessor has
/// 64 of them (on some GPUs 16) for all its blocks.
template <int threads, int max_teams = 15>
struct block_team {
  static_assert(!RAMIFY_ON_CUDA || threads % 32 == 0, "a team must consist of whole warps");
  static_assert(1 <= max_teams && max_teams <= 15);

  unsigned index;  ///< index of the team in its block
  unsigned rank;   ///< rank of the thread in its team

  __device__ block_team() : index(threadIdx.x / threads), rank(threadIdx.x % threads) {}

  /// Waits for all threads of the team, and makes their writes visible to each other.
#if RAMIFY_ON_CUDA
  __device__ void sync() const {
#ifdef __CUDACC_DEBUG__
    // In code that nvcc 13.0 compiles with -G, a team with a diverged warp hangs at the barrier
    // (seen on an H200).
    __syncwarp();
#endif
    wait<1>();
  }

 private:
  /// Waits at hardware barrier index + 1; barrier 0 is __syncthreads(). The number is a constant,
  /// except with 15 teams: for a number in a register, the assembler reserves all 16 barriers of a
  /// block.
  template <int barrier>
  __device__ void wait() const {
    if constexpr (max_teams == 15) {
      asm volatile("barrier.sync %0, %1;" ::"r"(index + 1), "n"(threads) : "memory");
    } else if (barrier == max_teams || index + 1 == barrier) {
      asm volatile("barrier.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
    } else if constexpr (barrier < max_teams) {
      wait<barrier + 1>();
    }
  }
#else
  void sync(site written_at = site::current()) const { cpu::wait_for_team(threads, written_at); }
#endif
};

/// Returns, to all threads of the team, whether test() is true in any of them.
///
/// Every thread of the team must call it. test() runs after all threads have arrived and sees their
/// earlier writes. The team must synchronize before the next call.
template <int threads, int max_teams, class Test>
__device__ bool any_of_team(const block_team<threads, max_teams>& team, Test test) {
  __shared__ unsigned found[max_teams];
  if (team.rank == 0) found[team.index] = 0;
  team.sync();
  if (test()) found[team.index] = 1;
  team.sync();
  return found[team.index] != 0;
}

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
