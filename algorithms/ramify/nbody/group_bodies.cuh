// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// group_bodies: the bodies of a group, in the registers of its warp, and the sums of their
/// interactions.
///
///     all bodies are targets    a lane has 2 bodies, and a body 2 lanes: a group of 32
///     some bodies are targets   a lane has 1 body, and a body 2 to 32 lanes: a group of 16 to 1
///
/// Each of the lanes of a body adds a part of the sources. With two bodies, a lane uses each source
/// that it loads from shared memory twice, and the group need not be larger for it.

#include <cstdint>
#include <ramify/nbody/group_memory.cuh>
#include <ramify/nbody/targets.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Returns the sum of the values of a group of consecutive lanes, with the same bits in each of
/// them. `lanes` is a power of two. All lanes of the warp must call it.
template <class Real>
__device__ Real warp_sum(Real value, unsigned lanes = 32) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(full_warp_mask, value, static_cast<int>(distance));
  }
  return value;
}

/// The bodies of a group: their positions, indices and sums. All lanes of the warp must call a
/// member that is not const.
template <class Real, class Targets>
class group_bodies {
  static constexpr unsigned of_lane = Targets::bodies_of_lane;

 public:
  /// Takes at most size(targets) targets that begin at the place `first` of their list. A lane
  /// without a body takes part with the last body, and has no result.
  __device__ group_bodies(const point_mass<Real>* bodies, const Targets& targets,
                          std::uint32_t first)
      : targets_(targets),
        lane_(threadIdx.x % 32),
        count_(targets.count - first < size(targets) ? targets.count - first : size(targets)),
        first_index_(targets.at(first)),
        extent_(targets.at(first + count_ - 1) - first_index_) {
    for (unsigned k = 0; k < of_lane; ++k) {
      index_[k] = targets.at(first + (has_body(k) ? place(k) : count_ - 1));
      const point_mass<Real> body = bodies[index_[k]];
      position_[k] = {{body.x, body.y, body.z}};
    }
  }

  /// Returns the maximum number of bodies of a group.
  [[nodiscard]] __host__ __device__ static unsigned size(const Targets& targets) {
    return of_lane * 32 / targets.lanes();
  }

  /// Returns whether groups have one body each. All lanes then have it as their body 0.
  [[nodiscard]] __device__ bool is_single() const { return size(targets_) == 1; }
  /// Returns the position of this lane's body k.
  [[nodiscard]] __device__ const point<Real, 3>& position(unsigned k) const { return position_[k]; }
  /// Returns the number of bodies of the group.
  [[nodiscard]] __device__ unsigned count() const { return count_; }
  /// Returns the index of this lane's body k in the tree's order.
  [[nodiscard]] __device__ std::uint32_t index(unsigned k) const { return index_[k]; }
  /// Returns the sums of this lane's body k.
  [[nodiscard]] __device__ const force_accumulator<Real>& sum(unsigned k) const {
    return sums_.of[k];
  }
  /// Returns whether this lane, of the lanes of its body k, writes the result.
  [[nodiscard]] __device__ bool writes(unsigned k) const {
    return has_body(k) && part() == k % lanes();
  }
  /// Returns whether the body with this index may belong to the group.
  [[nodiscard]] __device__ bool may_contain(std::uint32_t index) const {
    return index - first_index_ <= extent_;
  }

  /// Returns the box of the group, to all lanes.
  [[nodiscard]] __device__ box<Real, 3> bounds() {
    auto all = box<Real, 3>::of(position_[0]);
    for (unsigned k = 1; k < of_lane; ++k) {
      all = box<Real, 3>::enclosing(all, box<Real, 3>::of(position_[k]));
    }
    for (unsigned distance = lanes(); distance < 32; distance *= 2) {
      box<Real, 3> other;
      for (int axis = 0; axis < 3; ++axis) {
        other.lower.x[axis] = __shfl_xor_sync(full_warp_mask, all.lower.x[axis], int(distance));
        other.upper.x[axis] = __shfl_xor_sync(full_warp_mask, all.upper.x[axis], int(distance));
      }
      all = box<Real, 3>::enclosing(all, other);
    }
    return all;
  }

  /// Returns, to each lane for which `asks` is true, whether a body of the group is in the sphere
  /// of this lane. The lanes of a body test different spheres. `tile` is shared
  /// memory for 32 sources, and is overwritten.
  template <class Source>
  [[nodiscard]] __device__ __forceinline__ bool is_any_in_sphere(bool asks,
                                                                 const point<Real, 3>& center,
                                                                 Real radius2, Source* tile) {
    const unsigned asking = __ballot_sync(full_warp_mask, asks);
    if (asking == 0) return false;
    const auto spheres = static_cast<unsigned>(__popc(asking));
    const unsigned mine = lanes_before(asking, lane_);
    if (asks) tile[mine].center = {center.x[0], center.x[1], center.x[2], radius2};
    __syncwarp();  // the spheres are visible
    const unsigned lanes_of_part = full_warp_mask / (full_warp_mask >> (32 - lanes()));
    bool found = false;
    for (unsigned s = 0; s < spheres; s += lanes()) {
      const point_mass<Real> sphere = tile[s + part() < spheres ? s + part() : s].center;
      bool contains = false;
      for (unsigned k = 0; k < of_lane; ++k) {
        const Real r2 = distance2(position_[k], {{sphere.x, sphere.y, sphere.z}});
        contains = contains || r2 <= sphere.mass;
      }
      const unsigned containing = __ballot_sync(full_warp_mask, contains);
      if (mine - s < lanes()) found = (containing >> (mine - s) & lanes_of_part) != 0;
    }
    __syncwarp();  // all lanes have read the spheres
    return found;
  }

  /// Adds `count` sources of a tile in shared memory: calls add(sum, source, position, s, k) for
  /// each source s of this lane's part and each body k of this lane.
  template <class Source, class Add>
  __device__ __forceinline__ void add_tile(const Source* tile, unsigned count, Add add) {
    __syncwarp();            // the tile is visible
    lane_sums sums = sums_;  // in registers on a CPU, too
    for (unsigned s = part(); s < count; s += lanes()) {
      const Source source = tile[s];
      for (unsigned k = 0; k < of_lane; ++k) add(sums.of[k], source, position_[k], s, k);
    }
    sums_ = sums;
    __syncwarp();  // all lanes have read the tile
  }

  /// Adds the sums of the lanes of each body. Each of them gets the result.
  __device__ void join_lanes() {
    for (force_accumulator<Real>& sum : sums_.of) {
      sum.x = warp_sum(sum.x, lanes());
      sum.y = warp_sum(sum.y, lanes());
      sum.z = warp_sum(sum.z, lanes());
      sum.potential = warp_sum(sum.potential, lanes());
    }
  }

 private:
  /// Returns the number of lanes of a body.
  [[nodiscard]] __device__ unsigned lanes() const { return targets_.lanes(); }

  struct lane_sums {
    force_accumulator<Real> of[of_lane];
  };

  /// Returns this lane's place among the lanes of its bodies: it adds every lanes()-th source.
  [[nodiscard]] __device__ unsigned part() const { return lane_ % lanes(); }
  /// Returns the place of this lane's body k in the group.
  [[nodiscard]] __device__ unsigned place(unsigned k) const {
    return lane_ / lanes() + k * (32 / lanes());
  }
  [[nodiscard]] __device__ bool has_body(unsigned k) const { return place(k) < count_; }

  const Targets& targets_;
  unsigned lane_;
  unsigned count_;
  std::uint32_t first_index_;  ///< of the group's first body
  std::uint32_t extent_;       ///< the index of its last body, minus first_index_
  std::uint32_t index_[of_lane];
  point<Real, 3> position_[of_lane];
  lane_sums sums_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
