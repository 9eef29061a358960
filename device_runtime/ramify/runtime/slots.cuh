// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launch quota, which keeps the pending-launch pool from running out.
///
/// When the pool is empty, a launch by a kernel fails, and a flood of such launches hangs the GPU.
/// Therefore a kernel takes a launch slot before each launch. There are fewer slots than entries of
/// the pool. The child, or a later kernel, releases the slot. Each device has one count of used
/// slots for the whole process, which concurrent runs share. If a kernel gets no slot, the host
/// launches the grid, or the task waits in a list.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/version.hpp>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// The launch slots of a device, in one context.
struct slot_counter {
  /// The number of slots in use, in device memory. It is never freed, because kernels may use it
  /// until the context ends.
  unsigned* in_use = nullptr;
  unsigned leases = 0;  ///< number of slot_lease objects
};
struct slot_counters {
  std::mutex mutex;
  std::map<context_id, slot_counter> of_context;
};

/// Returns the counters of the CUDA devices, which all CUDA builds of a program share, or those of
/// the CPU executor.
template <bool on_cuda>
slot_counters& all_slot_counters() {
  static auto& all = *new slot_counters;
  return all;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_BUILD {

/// The launch slots of a run, for its kernels. A flat run has none.
struct launch_slots {
  unsigned* in_use = nullptr;  ///< in device memory, shared by all runs; null on the flat route
  unsigned allowed = 0;        ///< maximum number of slots in use

  /// Takes `count` slots and returns true, or takes none and returns false if fewer are free. One
  /// elected thread should call it for its block, because all blocks change the same counter.
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

  /// Returns `count` slots to the quota.
  __device__ void release(unsigned count = 1) const { atomicSub(in_use, count); }
};

/// Returns the number of launch slots under a pending-launch limit: half of the limit, or a
/// sixteenth of a limit below 256.
///
/// Measured on an H200: at limits of 128 and more, trees of grids that used the whole pool ran
/// hundreds of times without a fault. At limits of 32 to 64, a quota of a quarter of the pool hung
/// the GPU, and a quota of an eighth did not.
[[nodiscard]] constexpr unsigned launch_quota(std::size_t pending_launch_limit) {
  const std::size_t share = pending_launch_limit >= 256 ? 2 : 16;
  return static_cast<unsigned>(pending_launch_limit / share);
}

/// Gives a run access to the launch slots of the current device. Move-only.
class slot_lease {
 public:
  slot_lease() = default;
  /// \throws cuda_error
  explicit slot_lease(std::size_t pending_launch_limit) {
    const detail::context_id context = detail::current_context();
    const std::lock_guard lock(all().mutex);
    detail::slot_counter& counter = all().of_context[context];
    if (counter.in_use == nullptr) {
      const relaxed_capture_scope here;  // the run may be captured; the counter outlives it
      const host_stream stream;
      void* memory = nullptr;
      check(cudaMalloc(&memory, sizeof(unsigned)), "allocating the launch-slot counter");
      detail::unique_handle<void*, cudaFree> cleared(memory);
      check(cudaMemsetAsync(memory, 0, sizeof(unsigned), stream.get()),
            "clearing the launch-slot counter");
      stream.synchronize();
      counter.in_use = static_cast<unsigned*>(cleared.release());
    }
    ++counter.leases;
    counter_ = {&counter, {context}};
    slots_ = {counter.in_use, launch_quota(pending_launch_limit)};
  }

  /// Returns the slots; none if the object has no lease.
  [[nodiscard]] launch_slots slots() const { return counter_ == nullptr ? launch_slots{} : slots_; }

 private:
  static detail::slot_counters& all() { return detail::all_slot_counters<RAMIFY_ON_CUDA != 0>(); }

  struct end_lease {
    detail::context_id made_in;
    void operator()(detail::slot_counter* counter) const {
      if (!detail::context_exists(made_in)) return;
      const std::lock_guard lock(all().mutex);
      --counter->leases;
#if !RAMIFY_ON_CUDA
      // A run that broke a rule was abandoned and did not release its slots. No grid outlives the
      // host call that launched it, so without a lease all slots are free.
      if (counter->leases == 0) *counter->in_use = 0;
#endif
    }
  };

  std::unique_ptr<detail::slot_counter, end_lease> counter_;
  launch_slots slots_;
};

}  // namespace ramify::inline RAMIFY_BUILD
