// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// block_team: a part of a block that works for itself.
///
/// A grid that a kernel launched gets the smallest share of an SM's memory for shared memory that one
/// of its blocks fits into, so of blocks with more than some 7 KiB one is resident at a time, where a
/// grid from the host has as many as fit (measured on an H200; nothing that can be set changes it).
/// A large block of several teams fills the SM all the same.

#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// `threads` consecutive threads of a block, which has at most `most` such teams and no other threads.
/// The fewer they may be, the fewer hardware barriers the kernel takes, of which a multiprocessor has
/// 64 (on some GPUs 16) for all of its blocks.
template <int threads, int most = 15>
struct block_team {
  static_assert(!RAMIFY_ON_CUDA || threads % 32 == 0, "a team is made of whole warps");
  static_assert(1 <= most && most <= 15);

  unsigned index;  ///< of the team in its block
  unsigned rank;   ///< of the thread in its team

  __device__ block_team() : index(threadIdx.x / threads), rank(threadIdx.x % threads) {}

  /// Waits for all threads of the team, and makes what they wrote visible to one another.
#if RAMIFY_ON_CUDA
  __device__ void sync() const { wait<1>(); }

 private:
  /// One of the hardware's 16 barriers a team; barrier 0 is __syncthreads(). Each by a number that the
  /// assembler knows, unless there may be 15 teams anyway: for one that it does not know it takes all.
  template <int barrier>
  __device__ void wait() const {
    if constexpr (most == 15) {
      asm volatile("barrier.sync %0, %1;" ::"r"(index + 1), "n"(threads) : "memory");
    } else if (barrier == most || index + 1 == barrier) {
      asm volatile("barrier.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
    } else if constexpr (barrier < most) {
      wait<barrier + 1>();
    }
  }
#else
  void sync(site written_at = site::current()) const { cpu::wait_for_team(threads, written_at); }
#endif
};

/// Whether test() is true for any thread of a team. It is called when all threads have come, and sees what they
/// wrote before. Every thread of the team; they must meet again before they ask again.
template <int threads, int most, class Test>
__device__ bool any_of_team(const block_team<threads, most>& team, Test test) {
  __shared__ unsigned found[most];
  if (team.rank == 0) found[team.index] = 0;
  team.sync();
  if (test()) found[team.index] = 1;
  team.sync();
  return found[team.index] != 0;
}

}  // namespace ramify::inline RAMIFY_BUILD
