// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// group_walk: a warp traverses the tree for a group of neighboring bodies and sums their
/// interactions. The state is in the lanes' registers; lists are in shared memory.

#include <cmath>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/group_bodies.cuh>
#include <ramify/nbody/group_memory.cuh>
#include <ramify/nbody/nodes.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// All members must be called by all lanes of the warp.
template <class Real, int order, class Targets>
class group_walk {
  using memory = group_memory<Real, order>;

 public:
  /// A walk for the targets of group_bodies(…, targets, first).
  __device__ group_walk(const gravity_scratch<Real>& scratch, const Targets& targets,
                        std::uint32_t first, Real softening2, memory& shared)
      : scratch_(scratch),
        softening2_(softening2),
        shared_(shared),
        lane_(threadIdx.x % 32),
        bodies_(scratch.bodies, targets, first),
        middle_(targets.at(first + bodies_.count() / 2)),
        bounds_(bodies_.bounds()) {}

  /// Chooses the units of the opening radii and of the mass radii. Both are 1 if theta decides, or
  /// if no mass acts; else (e a)^-exponent and (e a)^(-1/2), for the node error e and the
  /// acceleration a in the middle of the group.
  __device__ __forceinline__ void choose_unit(const opening_criterion<Real>& criterion) {
    if (criterion.node_error == 0) return;
    const point_mass<Real> middle = scratch_.bodies[middle_];
    const Real a = estimate_acceleration({{middle.x, middle.y, middle.z}});
    if (!(a > 0)) return;  // no masses
    unit_ =
        std::pow(criterion.node_error, -criterion.exponent()) * std::pow(a, -criterion.exponent());
    mass_unit_ = 1 / std::sqrt(criterion.node_error) / std::sqrt(a);
  }

  /// Sums the interactions of all bodies.
  __device__ __forceinline__ void sum_interactions() {
    begin_at_root();
    std::uint32_t next_body = 0;  // the bodies of this lane's leaf that are not in the list
    unsigned bodies_left = 0;
    bool unfinished = false;  // whether a lane has such bodies
    for (;;) {
      // 1. Add full tiles of the lists; at the end, add the rest.
      const unsigned least = unfinished || tests_ > 0 ? 32 : 1;
      while (far_ >= least) add_far_nodes();
      while (mass_ >= least) add_mass_nodes();
      while (near_ >= least) add_near_bodies();
      if (!unfinished && tests_ == 0) break;
      // 2. Test a node for each lane. Base cases: a far node acts as one source; the bodies of an
      //    opened leaf act one by one. Recurse: the children of an opened node are tested. Join:
      //    none, because the sums need no order of nodes.
      std::uint32_t first_child = 0;
      unsigned children = 0;
      if (!unfinished) {
        std::uint32_t node = 0;
        const bool has_node = take_nodes(node);
        const gravity_node<Real> mine = scratch_.nodes[node];
        const bool opens = must_open(has_node, mine);
        append_far_node(has_node && !opens, node, mine);
        children = opens ? mine.child_count : 0;
        first_child = next_body = mine.first;
        bodies_left = opens ? mine.body_count : 0;
      }
      // 3. Append what was opened to the lists.
      const unsigned bodies = bodies_left < max_appended ? bodies_left : max_appended;
      append_entries({children, bodies}, first_child, next_body);
      next_body += bodies;
      bodies_left -= bodies;
      unfinished = __any_sync(full_warp_mask, bodies_left > 0) != 0;
    }
    // 4. Each lane of a body gets the sum of their sums.
    bodies_.join_lanes();
  }

  /// Returns the bodies, with their sums.
  [[nodiscard]] __device__ const group_bodies<Real, Targets>& bodies() const { return bodies_; }
  /// Returns the number of sources that each body has added, with itself.
  [[nodiscard]] __device__ unsigned sources() const { return sources_; }

 private:
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

  /// Appends children and bodies to the lists, in the order of the lanes.
  __device__ __forceinline__ void append_entries(const entry_counts& own, std::uint32_t first_child,
                                                 std::uint32_t first_body) {
    entry_counts before;
    entry_counts sum;
    warp_scan<unsigned>(shared_.scan).ExclusiveSum(own.packed, before.packed, sum.packed);
    append(shared_.to_test + tests_ + before.children(), first_child, own.children());
    if (sum.bodies() > 0) {
      append(shared_.near_bodies + near_ + before.bodies(), first_body, own.bodies());
    }
    tests_ += sum.children();
    near_ += sum.bodies();
    __syncwarp();  // the lists are visible
  }

  /// Appends the node of each lane for which `is_far` is true to one of the lists of far nodes.
  __device__ __forceinline__ void append_far_node(bool is_far, std::uint32_t node,
                                                  const gravity_node<Real>& mine) {
    if constexpr (order == 2) {
      if (scratch_.mass_radii2 != nullptr) {
        const point<Real, 3> center{{mine.center.x, mine.center.y, mine.center.z}};
        const bool by_mass =
            is_far && bounds_.min_distance2(center) > scratch_.mass_radii2[node] * mass_unit_;
        append_if(by_mass, node, shared_.mass_nodes, mass_);
        is_far = is_far && !by_mass;
      }
    }
    append_if(is_far, node, shared_.far_nodes, far_);
  }

  /// Returns true if this lane has a node that must not act as one source on some body of the
  /// group. The test of a group of one body needs no box. The box of a larger group decides for
  /// most nodes: no body is nearer than the box, or farther than its farthest corner, also after
  /// rounding. For the others, all bodies are tested.
  __device__ __forceinline__ bool must_open(bool has_node, const gravity_node<Real>& node) {
    const point<Real, 3> center{{node.center.x, node.center.y, node.center.z}};
    const Real scaled = node.opening_radius2 * unit_;
    const Real radius2 = scaled < node.containing_radius2 ? node.containing_radius2 : scaled;
    if (bodies_.is_single()) {
      return has_node && distance2(bodies_.position(0), center) <= radius2;
    }
    const bool box_is_near = has_node && bounds_.min_distance2(center) <= radius2;
    const bool is_undecided = box_is_near && bounds_.max_distance2(center) > radius2;
    const bool body_is_near = bodies_.is_any_in_sphere(is_undecided, center, radius2, shared_.tile);
    return is_undecided ? body_is_near : box_is_near;
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
      append_entries({has_node && opens ? mine.child_count : 0u, 0}, mine.first, 0);
    }
    const Real x = warp_sum(sum.x);
    const Real y = warp_sum(sum.y);
    const Real z = warp_sum(sum.z);
    const Real least = warp_sum(magnitudes) / 100;
    const Real a = std::sqrt(x * x + y * y + z * z);
    return a < least ? least : a;
  }

  /// Adds a tile of the last far nodes to the bodies.
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
    bodies_.add_tile(shared_.tile, count,
                     [&](auto& sum, const auto& source, const auto& position, unsigned, unsigned) {
                       sum.add_node(source, position, softening2_);
                     });
    sources_ += count;
  }

  /// Adds a tile of the last far nodes that act by their masses to the bodies.
  __device__ __forceinline__ void add_mass_nodes() {
    const unsigned count = mass_ < 32 ? mass_ : 32;
    mass_ -= count;
    if (lane_ < count) {
      shared_.tile[lane_].center = scratch_.nodes[shared_.mass_nodes[mass_ + lane_]].center;
    }
    bodies_.add_tile(shared_.tile, count,
                     [&](auto& sum, const auto& source, const auto& position, unsigned, unsigned) {
                       sum.add_node(far_source<Real, 1>{source.center}, position, softening2_);
                     });
    sources_ += count;
  }

  /// Adds a tile of the last near bodies to the bodies, but no body to itself.
  __device__ __forceinline__ void add_near_bodies() {
    const unsigned count = near_ < 32 ? near_ : 32;
    near_ -= count;
    bool in_group = false;
    if (lane_ < count) {
      const std::uint32_t b = shared_.near_bodies[near_ + lane_];
      in_group = bodies_.may_contain(b);
      shared_.tile[lane_].center = scratch_.bodies[b];
    }
    if (__any_sync(full_warp_mask, in_group) != 0) {
      bodies_.add_tile(
          shared_.tile, count,
          [&](auto& sum, const auto& source, const auto& position, unsigned s, unsigned k) {
            if (shared_.near_bodies[near_ + s] == bodies_.index(k)) return;
            sum.add_body(source.center, position, softening2_);
          });
    } else {
      bodies_.add_tile(shared_.tile, count,
                       [&](auto& sum, const auto& source, const auto& position, unsigned,
                           unsigned) { sum.add_body(source.center, position, softening2_); });
    }
    sources_ += count;
  }

  const gravity_scratch<Real>& scratch_;
  Real softening2_;
  memory& shared_;
  unsigned lane_;
  group_bodies<Real, Targets> bodies_;
  std::uint32_t middle_;  ///< the index of the body in the middle of the group
  box<Real, 3> bounds_;   ///< of the group
  Real unit_ = 1;         ///< of opening radii
  Real mass_unit_ = 1;    ///< of mass radii
  unsigned tests_ = 0, far_ = 0, mass_ = 0, near_ = 0;  ///< lengths of the lists
  unsigned sources_ = 0;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
