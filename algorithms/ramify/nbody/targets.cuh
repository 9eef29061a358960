// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The targets of a force calculation: the bodies whose accelerations it calculates. All bodies are
/// sources. In a simulation with block time steps only some bodies are targets.
///
///     levels           <-- [0, 2, 1, 2], the least level of a target is 1
///     tree's order     <-- [3, 0, 1, 2]
///     flags            --> [1, 0, 1, 1]
///     offsets          --> [0, 1, 1, 2]       by a prefix sum
///     targets          --> [0, 2, 3]          indices in the tree's order

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/scan.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The bodies with levels[i] >= least, in the caller's order; all bodies if `least` is 0.
struct active_bodies {
  const std::uint8_t* levels = nullptr;  ///< may be null if `least` is 0
  unsigned least = 0;
  std::size_t count = 0;  ///< not read if `least` is 0
};

/// The targets, as indices in the order of the method: the tree's, or the caller's.
struct target_list {
  const std::uint32_t* indices;  ///< ascending; null: all bodies
  std::uint32_t count;

  [[nodiscard]] __device__ std::uint32_t at(std::uint32_t place) const {
    return indices == nullptr ? place : indices[place];
  }
};

/// Writes 1 for each target and 0 for each other body, in the order of `ids`, or in the caller's
/// order if `ids` is null. One thread for each body.
template <class Active>
__global__ void flag_targets(Active active, const std::uint32_t* ids, std::uint32_t n,
                             std::uint32_t* flags, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  flags[i] = active.levels[ids == nullptr ? i : ids[i]] >= active.least ? 1 : 0;
}

/// Writes the index of each target at its offset. One thread for each body.
template <class Index>
__global__ void list_targets(const Index* flags, const std::uint64_t* offsets, std::uint32_t n,
                             Index* indices, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i] != 0) indices[offsets[i]] = i;
}

/// Lists the targets of one force calculation. If all bodies are targets, it needs no list, and
/// launches nothing.
class target_selection {
 public:
  target_selection() = default;
  /// Takes memory for n bodies from the stream-ordered pool. \throws cuda_error
  target_selection(const active_bodies& active, std::size_t n, cudaStream_t stream)
      : active_(active), bodies_(static_cast<std::uint32_t>(n)) {
    if (!selects()) return;
    flags_ = {n, stream};
    offsets_ = {n, stream};
    indices_ = {n, stream};
  }

  /// Writes the list, in the order of `ids`, or in the caller's order if `ids` is null.
  /// Asynchronous. \throws cuda_error
  void launch(const std::uint32_t* ids, cudaStream_t stream, const trace_ticket& trace) const {
    if (!selects()) return;
    runtime::launch_each(flag_targets<active_bodies>, bodies_, stream, "flagging the targets",
                         active_, ids, bodies_, flags_.data(), trace);
    scan_counts(flags_.data(), bodies_, offsets_.data(), stream);
    runtime::launch_each(list_targets<std::uint32_t>, bodies_, stream, "listing the targets",
                         flags_.data(), offsets_.data(), bodies_, indices_.data(), trace);
  }

  /// Returns the number of grids that launch() launches.
  [[nodiscard]] unsigned grids() const { return selects() ? 2 : 0; }
  /// Returns the number of targets.
  [[nodiscard]] std::uint32_t count() const {
    return selects() ? static_cast<std::uint32_t>(active_.count) : bodies_;
  }
  /// Returns the list, which is complete after the grids of launch().
  [[nodiscard]] target_list list() const { return {indices_.data(), count()}; }
  /// Returns the size of the memory.
  [[nodiscard]] std::size_t bytes() const {
    return flags_.size() * (2 * sizeof(std::uint32_t) + sizeof(std::uint64_t));
  }

 private:
  [[nodiscard]] bool selects() const { return active_.least > 0; }

  active_bodies active_;
  std::uint32_t bodies_ = 0;
  device_buffer<std::uint32_t> flags_;
  device_buffer<std::uint64_t> offsets_;
  device_buffer<std::uint32_t> indices_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
