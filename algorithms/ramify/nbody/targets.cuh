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
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/detail/scan.cuh>
#include <ramify/runtime/grid_trace.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The bodies with levels[i] >= least, in the caller's order; all bodies if `least` is 0.
struct active_bodies {
  const std::uint8_t* levels = nullptr;  ///< may be null if `least` is 0
  unsigned least = 0;
  std::size_t count = 0;  ///< not read if `least` is 0

  [[nodiscard]] __device__ bool includes(std::uint32_t body) const { return levels[body] >= least; }
};

/// The targets, as indices in the order of the method: the tree's, or the caller's.
struct target_list {
  const std::uint32_t* indices;  ///< ascending; null: all bodies
  std::uint32_t count;
  unsigned lanes = 1;  ///< of a warp, for each target of the tree code: a power of two, at most 32

  [[nodiscard]] __device__ std::uint32_t at(std::uint32_t place) const {
    return indices == nullptr ? place : indices[place];
  }
};

/// Returns a number of lanes for each of `count` targets that are not all bodies: so many that few
/// targets have enough warps (fitted to an H200, for 10^5 and 10^6 bodies). If 32 targets that are
/// far apart shared a warp, it would open many nodes for each of them.
[[nodiscard]] inline unsigned lanes_of_target(std::uint32_t count) {
  constexpr std::uint64_t enough = 40'000;
  unsigned lanes = 32;
  while (lanes > 2 && std::uint64_t{lanes} * count > enough) lanes /= 2;
  return lanes;
}

/// All bodies as targets of the traversal. Its kernel is compiled for 2 bodies a lane and 2 lanes a
/// body. (4 of both need more registers, and groups of 64 bodies open more nodes.)
struct all_targets {
  static constexpr double tolerance_factor = 1;
  static constexpr unsigned bodies_of_lane = 2;
  std::uint32_t count;

  explicit all_targets(const target_list& list) : count(list.count) {}
  [[nodiscard]] __device__ static std::uint32_t at(std::uint32_t place) { return place; }
  [[nodiscard]] __host__ __device__ static constexpr unsigned lanes() { return 2; }
};

/// Some bodies as targets of the traversal.
struct some_targets {
  /// A small group opens fewer nodes for its neighbors, so its errors are up to 1.6 times those of
  /// 32 bodies that are close together, for which node_error_of() was fitted.
  static constexpr double tolerance_factor = 0.6;
  static constexpr unsigned bodies_of_lane = 1;
  std::uint32_t count;
  const std::uint32_t* indices;
  unsigned lanes_of_each;

  explicit some_targets(const target_list& list)
      : count(list.count), indices(list.indices), lanes_of_each(list.lanes) {}
  [[nodiscard]] __device__ std::uint32_t at(std::uint32_t place) const { return indices[place]; }
  [[nodiscard]] __host__ __device__ unsigned lanes() const { return lanes_of_each; }
};

/// Writes 1 for each target and 0 for each other body, in the order of `ids`, or in the caller's
/// order if `ids` is null. One thread for each body.
template <class Active>
__global__ void flag_targets(Active active, const std::uint32_t* ids, std::uint32_t n,
                             std::uint32_t* flags, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  flags[i] = active.includes(ids == nullptr ? i : ids[i]) ? 1 : 0;
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
    launch_list(stream, trace);
  }
  /// Writes the list of the bodies whose flags a kernel has written. Launches one grid.
  /// Asynchronous. \throws cuda_error
  void launch_list(cudaStream_t stream, const trace_ticket& trace) const {
    scan_counts(flags_.data(), bodies_, offsets_.data(), stream);
    runtime::launch_each(list_targets<std::uint32_t>, bodies_, stream, "listing the targets",
                         flags_.data(), offsets_.data(), bodies_, indices_.data(), trace);
  }

  /// Replaces the selection. Neither the old nor the new one may be of all bodies.
  void select(const active_bodies& active) { active_ = active; }

  /// Returns the number of grids that launch() launches.
  [[nodiscard]] unsigned grids() const { return selects() ? 2 : 0; }
  /// Returns the number of targets.
  [[nodiscard]] std::uint32_t count() const {
    return selects() ? static_cast<std::uint32_t>(active_.count) : bodies_;
  }
  /// Returns the memory of the flags, one for each body.
  [[nodiscard]] std::uint32_t* flags() const { return flags_.data(); }
  /// Returns the list, which is complete after the grids of launch().
  [[nodiscard]] target_list list() const {
    return {indices_.data(), count(), selects() ? lanes_of_target(count()) : 1};
  }
  /// Returns the size of the memory.
  [[nodiscard]] std::size_t bytes() const {
    return flags_.size() * (2 * sizeof(std::uint32_t) + sizeof(std::uint64_t));
  }

 private:
  [[nodiscard]] bool selects() const { return active_.least > 0 && active_.count < bodies_; }

  active_bodies active_;
  std::uint32_t bodies_ = 0;
  device_buffer<std::uint32_t> flags_;
  device_buffer<std::uint64_t> offsets_;
  device_buffer<std::uint32_t> indices_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
