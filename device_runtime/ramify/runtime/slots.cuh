// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch quota: the pending-launch pool is never used up.
///
/// A launch that finds the pool empty fails, and a flood of such launches hangs the GPU. So every
/// launch from the device first takes a slot here, of which there are fewer than the pool has, and
/// the child gives it back. The slots are counted per device for the whole process, so runs side by
/// side share them. What finds no slot is launched by the host, or waits in a list.

#include <cstddef>
#include <map>
#include <mutex>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>
#include <utility>

namespace ramify::detail::runtime {

/// The launch slots of a device that are in use, and who shares them.
struct slot_counter {
  unsigned* in_use =
      nullptr;  ///< device memory, never freed: kernels may use it until the process ends
  unsigned leases = 0;
};
struct slot_counters {
  std::mutex mutex;
  std::map<int, slot_counter> of_device;
};

/// Those of CUDA devices, for all of the builds that a program has; or the CPU executor's.
template <bool on_cuda>
slot_counters& all_slot_counters() {
  static auto& all = *new slot_counters;
  return all;
}

}  // namespace ramify::detail::runtime

namespace ramify::inline RAMIFY_BUILD {

/// A kernel's view of the quota; a flat run has no slots at all.
struct launch_slots {
  unsigned* in_use = nullptr;  ///< device memory, one count for all runs; null on the flat route
  unsigned allowed = 0;

  /// Takes `count` slots, or none if there are not so many. By one elected thread: the count is a
  /// single word.
  [[nodiscard]] __device__ bool acquire(run_status& status, unsigned count = 1) const {
    if (allowed < count) return false;
    const unsigned before = atomicAdd(in_use, count);
    if (before > allowed - count) {
      atomicSub(in_use, count);
      return false;
    }
    atomicMax(&status.peak_slots, before + count);
    return true;
  }

  __device__ void release(unsigned count = 1) const { atomicSub(in_use, count); }
};

/// Slots under a pending-launch limit: half of it, but of a small pool far less. On an H200 trees
/// of grids with up to all of the pool in use ran hundreds of times without fault at limits of 128
/// and more, while at 32 to 64 a quarter of the pool in use was enough to hang the GPU, and an
/// eighth was not.
[[nodiscard]] constexpr unsigned launch_quota(std::size_t pending_launch_limit) {
  const std::size_t share = pending_launch_limit >= 256 ? 2 : 16;
  return static_cast<unsigned>(pending_launch_limit / share);
}

/// Holds the slots of the current device for a run. Move-only.
class slot_lease {
 public:
  slot_lease() = default;
  /// \throws cuda_error
  explicit slot_lease(std::size_t pending_launch_limit) {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    detail::runtime::slot_counters& all = detail::runtime::all_slot_counters<RAMIFY_ON_CUDA != 0>();
    const std::lock_guard lock(all.mutex);
    counter_ = &all.of_device[device];
    if (counter_->in_use == nullptr) {
      const relaxed_capture_scope here;  // the run may be captured, the counter is the process's
      const host_stream stream;
      void* memory = nullptr;
      check(cudaMalloc(&memory, sizeof(unsigned)), "allocating the launch-slot counter");
      check(cudaMemsetAsync(memory, 0, sizeof(unsigned), stream.get()),
            "clearing the launch-slot counter");
      stream.synchronize();
      counter_->in_use = static_cast<unsigned*>(memory);
    }
    ++counter_->leases;
    slots_ = {counter_->in_use, launch_quota(pending_launch_limit)};
  }
  ~slot_lease() {
    if (counter_ == nullptr) return;
    const std::lock_guard lock(detail::runtime::all_slot_counters<RAMIFY_ON_CUDA != 0>().mutex);
    --counter_->leases;
#if !RAMIFY_ON_CUDA
    // A run that broke a rule was abandoned with slots in its hands. No grid outlives the host call
    // that launched it, so without a run there is none that could give a slot back.
    if (counter_->leases == 0) *counter_->in_use = 0;
#endif
  }
  slot_lease(slot_lease&& other) noexcept
      : counter_(std::exchange(other.counter_, nullptr)), slots_(std::exchange(other.slots_, {})) {}
  slot_lease& operator=(slot_lease other) noexcept {
    std::swap(counter_, other.counter_);
    std::swap(slots_, other.slots_);
    return *this;
  }

  /// None at all without a lease.
  [[nodiscard]] launch_slots slots() const { return slots_; }

 private:
  detail::runtime::slot_counter* counter_ = nullptr;
  launch_slots slots_;
};

}  // namespace ramify::inline RAMIFY_BUILD
