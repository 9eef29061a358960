// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch quota: the pending-launch pool is never used up.
///
/// A launch that finds the pool empty fails, and a flood of such launches hangs the GPU. So a
/// launch from the device first takes a slot here, of which there are fewer than the pool has, and
/// the child gives it back. The slots are counted per device for the whole process, so runs side by
/// side share them. What the quota leaves of the pool is for the few launches that a run cannot do
/// without (at most `must_launch` of them pending at a time).

#include <cstddef>
#include <map>
#include <mutex>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/status.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A kernel's view of the quota; a flat run has no slots at all.
struct launch_slots {
  unsigned* in_use = nullptr;  ///< device memory, one count for all runs
  unsigned allowed = 0;

  /// Takes a slot if one is free. By one elected thread: the count is a single word.
  __device__ bool acquire(run_status& status) const {
    if (allowed == 0) return false;
    const unsigned before = atomicAdd(in_use, 1u);
    if (before >= allowed) {
      atomicSub(in_use, 1u);
      return false;
    }
    atomicMax(&status.peak_slots, before + 1);
    return true;
  }

  /// Takes `count` slots whether or not they are free: for launches that a run cannot do without.
  __device__ void take(unsigned count, run_status& status) const {
    atomicMax(&status.peak_slots, atomicAdd(in_use, count) + count);
  }

  __device__ void release(unsigned count = 1) const { atomicSub(in_use, count); }

  /// For every thread of a grid that was launched on a slot, as its first step: gives the slot
  /// back.
  __device__ void release_at_start() const {
    if (blockIdx.x == 0 && threadIdx.x == 0) release();
  }
};

/// Most launches a run may have pending without a slot.
inline constexpr unsigned must_launch = 6;

/// The smallest pending-launch limit with which the device route is taken.
inline constexpr std::size_t least_pending_launches = 16;

/// Slots under a pending-launch limit: half of it, but of a small pool far less. On an H200 trees
/// of grids with up to all of the pool in use ran hundreds of times without fault at limits of 128
/// and more, while at 32 to 64 a quarter of the pool in use was enough to hang the GPU, and an
/// eighth was not.
[[nodiscard]] constexpr unsigned launch_quota(std::size_t pending_launch_limit) {
  const std::size_t share = pending_launch_limit >= 256 ? 2 : 16;
  return static_cast<unsigned>(pending_launch_limit / share);
}

/// The slots of the current device under its pending-launch limit.
/// \throws cuda_error
inline launch_slots device_launch_slots(std::size_t pending_launch_limit) {
  static std::mutex mutex;
  // Never freed: kernels may use the counters until the process ends.
  static auto& counters = *new std::map<int, unsigned*>;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  const std::lock_guard lock(mutex);
  unsigned*& counter = counters[device];
  if (counter == nullptr) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, sizeof(unsigned)), "allocating the launch-slot counter");
    check(cudaMemsetAsync(memory, 0, sizeof(unsigned)), "clearing the launch-slot counter");
    check(cudaDeviceSynchronize(), "clearing the launch-slot counter");
    counter = static_cast<unsigned*>(memory);
  }
  return {counter, launch_quota(pending_launch_limit)};
}

}  // namespace ramify::inline RAMIFY_BUILD
