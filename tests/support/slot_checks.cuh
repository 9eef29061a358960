// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reads and occupies the launch slots of the current device from outside a run.

#include <cstddef>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/slots.cuh>

namespace tests::inline RAMIFY_BUILD {

/// Returns the number of launch slots in use. Waits for the NULL stream.
inline unsigned slots_in_use() {
  const ramify::slot_lease lease(2048);
  unsigned count = 0;
  ramify::check(
      cudaMemcpyAsync(&count, lease.slots().in_use, sizeof count, cudaMemcpyDeviceToHost, nullptr),
      "reading the slots in use");
  ramify::check(cudaStreamSynchronize(nullptr), "reading the slots in use");
  return count;
}

/// Occupies all slots but `left` under a pending-launch limit for a scope.
class all_slots_taken {
 public:
  explicit all_slots_taken(std::size_t pending_launch_limit, unsigned left = 0)
      : lease_(pending_launch_limit) {
    set(lease_.slots().allowed - left);
  }
  ~all_slots_taken() { set(0); }
  all_slots_taken(const all_slots_taken&) = delete;
  all_slots_taken& operator=(const all_slots_taken&) = delete;

 private:
  void set(unsigned count) {
    ramify::check(cudaMemcpyAsync(lease_.slots().in_use, &count, sizeof count,
                                  cudaMemcpyHostToDevice, nullptr),
                  "setting the slots in use");
    ramify::check(cudaStreamSynchronize(nullptr), "setting the slots in use");
  }
  ramify::slot_lease lease_;
};

}  // namespace tests::inline RAMIFY_BUILD
