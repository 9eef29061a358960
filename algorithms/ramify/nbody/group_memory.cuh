// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The lists of a group of bodies, in shared memory, and the counts by which the lanes of its warp
/// append to them.
///
///     to_test      nodes to test: 32 at a time, one for each lane
///     far_nodes    nodes that act on the whole group as one source
///     near_bodies  bodies of leaves that the group opens
///     tile         32 sources of one of the last two lists, as all lanes read them

#include <cstdint>
#include <ramify/nbody/interaction.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The shared memory of a group.
template <class Real, int order>
struct group_memory {
  /// Nodes that fit in to_test. group_walk::take_nodes() leaves as many places free as a
  /// depth-first traversal needs.
  static constexpr unsigned test_capacity = 1152;

  point_mass<Real> bodies[32];  ///< the group
  std::uint32_t to_test[test_capacity];
  std::uint32_t far_nodes[31 + 32];
  std::uint32_t near_bodies[31 + 32 * 8];
  far_source<Real, order> tile[32];  ///< bodies have only a center
  typename warp_scan<unsigned>::TempStorage scan;
};

/// Numbers of entries of one lane for the lists, or sums of them over lanes. One number holds them,
/// so one prefix sum places the entries of all lanes in all lists.
struct entry_counts {
  unsigned packed = 0;

  entry_counts() = default;
  __device__ entry_counts(unsigned far_nodes, unsigned unfinished, unsigned children,
                          unsigned bodies)
      : packed(far_nodes | unfinished << 6 | children << 12 | bodies << 22) {}
  [[nodiscard]] __device__ unsigned far_nodes() const { return packed & 63; }         // at most 32
  [[nodiscard]] __device__ unsigned unfinished() const { return packed >> 6 & 63; }   // at most 32
  [[nodiscard]] __device__ unsigned children() const { return packed >> 12 & 1023; }  // 256
  [[nodiscard]] __device__ unsigned bodies() const { return packed >> 22; }           // 256
};

/// Writes first, first + 1, … as `count` entries.
__device__ __forceinline__ void append(std::uint32_t* to, std::uint32_t first, unsigned count) {
  for (unsigned k = 0; k < count; ++k) to[k] = first + k;
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
