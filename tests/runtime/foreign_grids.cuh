// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Child grids that are not Ramify's: a kernel of another host thread launches them without launch
/// slots, from the same pending-launch pool. Only for the CPU executor: a GPU may hang if the pool
/// is exhausted.

#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

#if !RAMIFY_ON_CUDA
#include <atomic>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/residency.cuh>
#include <thread>

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

/// The counts of child grids, and the flags by which parent, children and host wait for each other.
struct foreign_counts {
  unsigned launched = 0;
  unsigned failed = 0;
  unsigned ran = 0;
  unsigned ready = 0;     ///< 1: the parent has launched its children
  unsigned released = 0;  ///< 1: the children may end
};

/// Waits until the host releases the children.
template <class Counts>
__global__ void hold_place(Counts* counts) {
  while (load_relaxed(counts->released) == 0) __nanosleep(100);
  atomicAdd(&counts->ran, 1u);
}

/// Launches children into one stream, so that each child keeps its place in the pool until all
/// children before it have ended.
template <class Counts>
__global__ void launch_without_slots(Counts* counts, unsigned children) {
  for (unsigned i = 0; i < children; ++i) {
    const bool launched = bool(launch(hold_place<Counts>, {1, 1}, null_stream(), counts));
    atomicAdd(launched ? &counts->launched : &counts->failed, 1u);
  }
  atomicExch(&counts->ready, 1u);
}

/// Launches a parent with `children` children from the calling thread, and waits for all of them.
inline void run_foreign_grids(foreign_counts& counts, unsigned children) {
  check(launch(launch_without_slots<foreign_counts>, {1, 1}, nullptr, &counts, children).code(),
        "launching foreign grids");
}

/// Holds places of the pending-launch pool for a scope. The schedule must be parallel:1, so that
/// the waiting children occupy no worker thread of other runs.
class held_places {
 public:
  explicit held_places(unsigned places)
      : host_([this, places] { run_foreign_grids(counts_, places); }) {
    while (load_relaxed(counts_.ready) == 0) std::this_thread::yield();
  }
  ~held_places() { release(); }
  held_places(const held_places&) = delete;
  held_places& operator=(const held_places&) = delete;

  /// Ends the grids, waits for them, and returns their counts.
  const foreign_counts& release() {
    std::atomic_ref(counts_.released).store(1);
    if (host_.joinable()) host_.join();
    return counts_;
  }

 private:
  foreign_counts counts_;
  std::thread host_;
};

}  // namespace tests::inline RAMIFY_BUILD
#endif
