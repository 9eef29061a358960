// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The lists of a group of bodies, in shared memory, and how the lanes of its warp append to them.
///
///     to_test      nodes to test: 32 at a time, one for each lane
///     far_nodes    nodes that act on the whole group as one source
///     mass_nodes   far nodes whose quadrupoles are too weak to matter: they act by their masses
///     near_bodies  bodies of leaves that the group opens
///     tile         32 sources of one of the last three lists, as all lanes read them

#include <cstdint>
#include <ramify/nbody/interaction.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Maximum number of entries that a lane appends to a list at once.
inline constexpr unsigned max_appended = 8;

/// The shared memory of a group.
template <class Real, int order>
struct group_memory {
  /// Nodes that fit in to_test. group_walk::take_nodes() leaves as many places free as a
  /// depth-first traversal needs.
  static constexpr unsigned test_capacity = 1152;

  std::uint32_t to_test[test_capacity];
  std::uint32_t far_nodes[31 + 32];
  std::uint32_t mass_nodes[31 + 32];
  std::uint32_t near_bodies[31 + 32 * max_appended];
  far_source<Real, order> tile[32];  ///< bodies and spheres have only a center
  typename warp_scan<unsigned>::TempStorage scan;
};

/// Numbers of children and bodies that a lane appends, or sums of them over lanes. One number holds
/// both, so one prefix sum places the entries of all lanes in both lists.
struct entry_counts {
  unsigned packed = 0;

  entry_counts() = default;
  __device__ entry_counts(unsigned children, unsigned bodies) : packed(children | bodies << 16) {}
  [[nodiscard]] __device__ unsigned children() const { return packed & 0xffff; }  // at most 256
  [[nodiscard]] __device__ unsigned bodies() const { return packed >> 16; }       // at most 256
};

/// Writes first, first + 1, … as `count` entries, at most max_appended. The compiler can unroll the
/// loop, because its bound is constant.
__device__ __forceinline__ void append(std::uint32_t* to, std::uint32_t first, unsigned count) {
  for (unsigned k = 0; k < max_appended; ++k) {
    if (k < count) to[k] = first + k;
  }
}

/// Appends the entry of each lane for which `has` is true to a list of `length` entries. All lanes
/// of the warp must call it.
__device__ __forceinline__ void append_if(bool has, std::uint32_t entry, std::uint32_t* list,
                                          unsigned& length) {
  const unsigned lanes = __ballot_sync(full_warp_mask, has);
  if (has) list[length + lanes_before(lanes, threadIdx.x % 32)] = entry;
  length += static_cast<unsigned>(__popc(lanes));
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
