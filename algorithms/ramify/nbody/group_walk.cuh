// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// group_walk: a warp traverses the tree for a group of neighboring bodies and sums their
/// interactions. The state is in the lanes' registers; lists are in shared memory.

#include <cmath>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/group_memory.cuh>
#include <ramify/nbody/nodes.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Returns the sum of the values of a group of consecutive lanes, with the same bits in each of
/// them. `lanes` is a power of two. All lanes of the warp must call it.
template <class Real>
__device__ Real warp_sum(Real value, int lanes = 32) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(full_warp_mask, value, distance);
  }
  return value;
}

/// All members must be called by all lanes of the warp.
template <class Real, int order, class Targets>
class group_walk {
  using memory = group_memory<Real, order>;

 public:
  /// A walk for at most group_size(targets) targets that begin at the place `first` of their list.
  /// A lane without a body takes part with the last body, and has no result.
  __device__ group_walk(const gravity_scratch<Real>& scratch, const Targets& targets,
                        std::uint32_t first, Real softening2, memory& shared)
      : scratch_(scratch),
        softening2_(softening2),
        shared_(shared),
        targets_(targets),
        lane_(threadIdx.x % 32),
        bodies_(targets.count - first < group_size(targets) ? targets.count - first
                                                            : group_size(targets)),
        index_(targets.at(first + (has_body() ? place() : bodies_ - 1))),
        first_index_(targets.at(first)),
        extent_(targets.at(first + bodies_ - 1) - first_index_) {
    const point_mass<Real> body = scratch.bodies[index_];
    if (part() == 0) shared.bodies[place()] = body;
    position_ = {{body.x, body.y, body.z}};
    __syncwarp();  // the bodies are visible
  }

  /// Returns what gravity_node::opening_radius2 is multiplied by: 1 if theta decides, else
  /// (e a)^-exponent, for the node error e and the acceleration a in the middle of the group.
  __device__ __forceinline__ Real
  unit_of_opening_radius2(const opening_criterion<Real>& criterion) {
    if (criterion.node_error == 0) return 1;
    const point_mass<Real>& middle = shared_.bodies[bodies_ / 2];
    const Real a = estimate_acceleration({{middle.x, middle.y, middle.z}});
    if (!(a > 0)) return 1;  // no masses
    return std::pow(criterion.node_error, -criterion.exponent()) *
           std::pow(a, -criterion.exponent());
  }

  /// Sums the interactions of all bodies. `unit` is that of the opening radii.
  __device__ __forceinline__ void sum_interactions(Real unit) {
    begin_at_root();
    std::uint32_t next_body = 0;  // the bodies of this lane's leaf that are not in the list
    unsigned bodies_left = 0;
    unsigned unfinished = 0;  // lanes with such bodies
    for (;;) {
      // 1. Add full tiles of both lists; at the end, add the rest.
      const unsigned least = unfinished + tests_ > 0 ? 32 : 1;
      while (far_ >= least) add_far_nodes();
      while (near_ >= least) add_near_bodies();
      if (unfinished + tests_ == 0) break;
      // 2. Test a node for each lane. Base cases: a far node acts as one source; the bodies of an
      //    opened leaf act one by one. Recurse: the children of an opened node are tested. Join:
      //    none, because the sums need no order of nodes.
      std::uint32_t node = 0;
      std::uint32_t first_child = 0;
      bool is_far = false;
      unsigned children = 0;
      if (unfinished == 0) {
        const bool has_node = take_nodes(node);
        const gravity_node<Real> mine = scratch_.nodes[node];
        const bool opens = has_node && must_open(mine, unit);
        is_far = has_node && !opens;
        children = opens ? mine.child_count : 0;
        first_child = next_body = mine.first;
        bodies_left = opens ? mine.body_count : 0;
      }
      // 3. Append what was found to the lists.
      const unsigned bodies = bodies_left < 8 ? bodies_left : 8;
      bodies_left -= bodies;
      const entry_counts added =
          append_entries({is_far ? 1u : 0u, bodies_left > 0 ? 1u : 0u, children, bodies}, node,
                         first_child, next_body);
      next_body += bodies;
      unfinished = added.unfinished();
    }
    // 4. Each lane of a body gets the sum of their sums.
    const auto lanes = static_cast<int>(targets_.lanes());
    sum_.x = warp_sum(sum_.x, lanes);
    sum_.y = warp_sum(sum_.y, lanes);
    sum_.z = warp_sum(sum_.z, lanes);
    sum_.potential = warp_sum(sum_.potential, lanes);
  }

  /// Returns the maximum number of bodies of a group.
  [[nodiscard]] __host__ __device__ static unsigned group_size(const Targets& targets) {
    return 32 / targets.lanes();
  }

  /// Returns whether this lane has a body.
  [[nodiscard]] __device__ bool has_body() const { return place() < bodies_; }
  /// Returns this lane's place among the lanes of its body: it adds every lanes()-th source.
  [[nodiscard]] __device__ unsigned part() const { return lane_ % targets_.lanes(); }
  /// Returns the number of bodies of the group.
  [[nodiscard]] __device__ unsigned bodies() const { return bodies_; }
  /// Returns the index of this lane's body in the tree's order.
  [[nodiscard]] __device__ std::uint32_t index() const { return index_; }
  /// Returns the sums of this lane's body.
  [[nodiscard]] __device__ const force_accumulator<Real>& sum() const { return sum_; }
  /// Returns the number of sources that each body has added, with itself.
  [[nodiscard]] __device__ unsigned sources() const { return sources_; }

 private:
  /// Returns the place of this lane's body in the group.
  [[nodiscard]] __device__ unsigned place() const { return lane_ / targets_.lanes(); }

  __device__ void begin_at_root() {
    __syncwarp();
    if (lane_ == 0) shared_.to_test[0] = 0;
    tests_ = 1;
    __syncwarp();
  }

  /// Takes the last nodes from to_test, one for each lane. Returns false, and leaves `node`, if
  /// there is none for this lane. A node has at most 8 children, so 7 places for each node that is
  /// taken suffice. If fewer are free, the lanes take fewer nodes, and at last one: then the
  /// traversal is depth-first, and the places that are left free bound what it appends.
  __device__ __forceinline__ bool take_nodes(std::uint32_t& node) {
    constexpr unsigned limit = memory::test_capacity - spatial_shape<3>::stack_size;
    constexpr unsigned growth = spatial_shape<3>::arity - 1;
    unsigned count = tests_ < 32 ? tests_ : 32;
    if (tests_ + count * growth > limit) {
      count = tests_ + growth < limit ? (limit - tests_) / growth : 1;
    }
    tests_ -= count;
    const bool has_node = lane_ < count;
    if (has_node) node = shared_.to_test[tests_ + lane_];
    return has_node;
  }

  /// Appends entries to the lists: a far node, children and bodies, in the order of the lanes.
  /// Returns the sums over the lanes.
  __device__ __forceinline__ entry_counts append_entries(const entry_counts& own,
                                                         std::uint32_t node,
                                                         std::uint32_t first_child,
                                                         std::uint32_t first_body) {
    entry_counts before;
    entry_counts sum;
    warp_scan<unsigned>(shared_.scan).ExclusiveSum(own.packed, before.packed, sum.packed);
    append(shared_.far_nodes + far_ + before.far_nodes(), node, own.far_nodes());
    append(shared_.to_test + tests_ + before.children(), first_child, own.children());
    append(shared_.near_bodies + near_ + before.bodies(), first_body, own.bodies());
    far_ += sum.far_nodes();
    tests_ += sum.children();
    near_ += sum.bodies();
    __syncwarp();  // the lists are visible
    return sum;
  }

  /// Returns true if the node must not act as one source on some body of the group.
  __device__ bool must_open(const gravity_node<Real>& node, Real unit) const {
    const point<Real, 3> center{{node.center.x, node.center.y, node.center.z}};
    const Real scaled = node.opening_radius2 * unit;
    const Real radius2 = scaled < node.containing_radius2 ? node.containing_radius2 : scaled;
    Real nearest2 = real_limits<Real>::infinity;
    for (unsigned b = 0; b < group_size(targets_); ++b) {
      const point_mass<Real> body = shared_.bodies[b];
      const Real dx = body.x - center.x[0];
      const Real dy = body.y - center.x[1];
      const Real dz = body.z - center.x[2];
      const Real r2 = dx * dx + dy * dy + dz * dz;
      nearest2 = r2 < nearest2 ? r2 : nearest2;
    }
    return nearest2 <= radius2;
  }

  /// Returns the acceleration at `position` without that of near leaves, but at least a hundredth
  /// of the sum of the magnitudes of its parts.
  __device__ __forceinline__ Real estimate_acceleration(const point<Real, 3>& position) {
    force_accumulator<Real> sum;
    Real magnitudes = 0;
    begin_at_root();
    while (tests_ > 0) {
      std::uint32_t node = 0;
      const bool has_node = take_nodes(node);
      const gravity_node<Real> mine = scratch_.nodes[node];
      const Real r2 = distance2(position, {{mine.center.x, mine.center.y, mine.center.z}});
      const bool opens = r2 <= mine.containing_radius2;
      if (has_node && !opens) {
        sum.add_node(far_source<Real, 1>{mine.center}, position, softening2_);
        const Real part = mine.center.mass / (r2 + softening2_);
        magnitudes += part < 0 ? -part : part;
      }
      append_entries({0, 0, has_node && opens ? mine.child_count : 0u, 0}, node, mine.first, 0);
    }
    const Real x = warp_sum(sum.x);
    const Real y = warp_sum(sum.y);
    const Real z = warp_sum(sum.z);
    const Real least = warp_sum(magnitudes) / 100;
    const Real a = std::sqrt(x * x + y * y + z * z);
    return a < least ? least : a;
  }

  /// Adds a tile of the last far nodes to the body of each lane.
  __device__ __forceinline__ void add_far_nodes() {
    const unsigned count = far_ < 32 ? far_ : 32;
    far_ -= count;
    if (lane_ < count) {
      const std::uint32_t node = shared_.far_nodes[far_ + lane_];
      if constexpr (order == 1) {
        shared_.tile[lane_] = {scratch_.nodes[node].center};
      } else {
        shared_.tile[lane_] = {scratch_.nodes[node].center, scratch_.quadrupoles[node]};
      }
    }
    __syncwarp();
    force_accumulator<Real> sum = sum_;  // in registers on a CPU, too
    for (unsigned s = part(); s < count; s += targets_.lanes()) {
      sum.add_node(shared_.tile[s], position_, softening2_);
    }
    sum_ = sum;
    sources_ += count;
    __syncwarp();  // all lanes have read the tile
  }

  /// Adds a tile of the last near bodies to the body of each lane, but no body to itself.
  __device__ __forceinline__ void add_near_bodies() {
    const unsigned count = near_ < 32 ? near_ : 32;
    near_ -= count;
    bool in_group = false;
    if (lane_ < count) {
      const std::uint32_t b = shared_.near_bodies[near_ + lane_];
      in_group = b - first_index_ <= extent_;
      shared_.tile[lane_].center = scratch_.bodies[b];
    }
    if (__any_sync(full_warp_mask, in_group) != 0) {
      add_tile(count, [&](unsigned s) { return shared_.near_bodies[near_ + s] != index(); });
    } else {
      add_tile(count, [](unsigned) { return true; });
    }
    sources_ += count;
  }

  /// Adds the bodies of the tile for which acts(place) returns true.
  template <class Acts>
  __device__ __forceinline__ void add_tile(unsigned count, Acts acts) {
    __syncwarp();
    force_accumulator<Real> sum = sum_;
    for (unsigned s = part(); s < count; s += targets_.lanes()) {
      if (acts(s)) sum.add_body(shared_.tile[s].center, position_, softening2_);
    }
    sum_ = sum;
    __syncwarp();  // all lanes have read the tile
  }

  const gravity_scratch<Real>& scratch_;
  Real softening2_;
  memory& shared_;
  const Targets& targets_;
  unsigned lane_;
  unsigned bodies_;                          ///< bodies of the group
  std::uint32_t index_;                      ///< of this lane's body
  std::uint32_t first_index_;                ///< of the group's first body
  std::uint32_t extent_;                     ///< the index of its last body, minus first_index_
  unsigned tests_ = 0, far_ = 0, near_ = 0;  ///< lengths of the lists
  unsigned sources_ = 0;
  point<Real, 3> position_;
  force_accumulator<Real> sum_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
