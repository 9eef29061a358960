// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Refit: forces on some bodies by a tree that was built at an earlier time. The nodes keep their
/// bodies; their boxes, moments and opening radii are calculated anew from the new positions:
///
///     1 move_bodies           all bodies drift; the targets are flagged
///     2 list_targets          after a prefix sum: the targets in the tree's order
///     3 reduce_nodes          bottom-up: moments and tight box of each node
///     4 make_nodes            the nodes as the traversal reads them
///     5 traverse_tree         the forces on the targets
///
/// The error of a force is bounded as with a new tree. The bound requires that each body is in one
/// leaf, that the box of a node contains its bodies, and that its moments are those of its bodies.
/// It requires neither cubes nor boxes without overlap. If the bodies of a node have moved apart,
/// its box has grown, so more groups open it: the traversal takes more time, and the error is not
/// larger. The host waits for none of these grids.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/nbody/block_steps.cuh>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <ramify/spatial_tree.cuh>
#include <utility>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Where move_bodies() writes, in the tree's order.
template <class Real>
struct moved_bodies {
  point_mass<Real>* bodies;
  std::uint32_t* flags;  ///< 1 for each target, 0 for each other body
  gravity_progress* progress;
  Real largest;  ///< coordinate
};

/// Moves all bodies by their velocities for the time dt, checks them, and flags the targets. One
/// thread for each body of the tree.
template <class Real>
__global__ void move_bodies(spatial_tree_view<Real, 3> tree, moving_bodies<Real> all, Real dt,
                            active_bodies active, moved_bodies<Real> to) {
  const traced here(all.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tree.point_count) return;
  const std::uint32_t id = tree.ids[i];
  point<Real, 3> p = all.positions[id];
  drift_body(p, all.velocities[id], dt);
  all.positions[id] = p;
  const Real mass = all.bodies.masses[id];
  to.bodies[i] = {p.x[0], p.x[1], p.x[2], mass};
  to.flags[i] = active.includes(id) ? 1 : 0;
  if (!is_valid_body(p, mass, to.largest)) atomicMin(&to.progress->first_invalid, id);
}

/// The tree of an earlier force calculation, and the memory of its refits.
template <class Real>
class kept_tree {
 public:
  static constexpr unsigned grids = 5;  ///< of start_forces()

  kept_tree() = default;
  explicit kept_tree(ramify::spatial_tree<Real, 3> tree) : tree_(std::move(tree)) {}

  /// Returns whether the forces on `active` are to be calculated by a refit: not those on all
  /// bodies, and those on at most n bodies since the build. So the builds take at most as much time
  /// for each force as in steps of one length, and bodies move little before the next build.
  [[nodiscard]] bool serves(const active_bodies& active) const {
    const std::size_t n = tree_.view().point_count;
    return active.least > 0 && active.count < n && forces_ + active.count <= n;
  }

  /// Moves all bodies for the time dt, and calculates the forces on `active`. If a body becomes
  /// invalid, progress->first_invalid is lowered, and no result is written; it must be
  /// no_invalid_body before. Adds to progress->interactions. Asynchronous. \throws cuda_error
  void start_forces(const moving_bodies<Real>& all, Real dt, const active_bodies& active,
                    const nbody_options& options, gravity_progress* progress) {
    const phase_range range("nbody: refit");
    const auto tree = tree_.view();
    if (memory_.size() == 0) take_memory(options, active, all.stream);
    forces_ += active.count;
    targets_.select(active);
    scratch_.progress = progress;
    runtime::launch_each(move_bodies<Real>, tree.point_count, all.stream, "moving the bodies", tree,
                         all, dt, active,
                         moved_bodies<Real>{scratch_.bodies, targets_.flags(), progress,
                                            largest_coordinate<Real>()});
    targets_.launch_list(all.stream, all.trace);
    with_order(options.order, [&](auto order) {
      reduce_to_nodes<fitting_reduction<Real, order>, order>(tree, options, scratch_, all.stream,
                                                             all.trace);
    });
    force_arguments<Real> arguments(all.bodies, options, progress, all.trace);
    arguments.targets = targets_.list();
    traverse(tree, scratch_, options, arguments, all.stream);
  }

  /// Returns the size of the memory, without that of the tree.
  [[nodiscard]] std::size_t bytes() const { return memory_.size() + targets_.bytes(); }

 private:
  void take_memory(const nbody_options& options, const active_bodies& active, cudaStream_t stream) {
    const auto tree = tree_.view();
    const auto take = [&](void* base) {
      return scratch_.template take<fitting_reduction>(base, tree.point_count, tree.node_count,
                                                       options);
    };
    memory_ = {take(nullptr), stream};
    take(memory_.data());
    clear_memory(scratch_.counters, tree.node_count, stream, "clearing the nodes' counters");
    targets_ = {active, tree.point_count, stream};
  }

  ramify::spatial_tree<Real, 3> tree_;
  std::size_t forces_ = 0;  // calculated by refits
  gravity_scratch<Real> scratch_;
  target_selection targets_;
  device_buffer<std::byte> memory_;  // of scratch_
};

/// The force calculations of a step of block_steps: by refits of the kept tree, or by
/// build(active), which must build a tree, keep it, and wait for the stream.
template <class Real, class Build>
struct step_forces {
  kept_tree<Real>& kept;
  const moving_bodies<Real>& all;
  const nbody_options& options;
  runtime::trace_recorder& recorder;
  Build build;
  std::uint64_t host_grids = 0;
  std::uint64_t targets_of_refits = 0;
  std::size_t most_bytes = 0;

  /// Moves all bodies for the time dt, and calculates the forces on `active`.
  void advance(Real dt, const active_bodies& active, gravity_progress* progress) {
    if (kept.serves(active)) {
      kept.start_forces(all, dt, active, options, progress);
      host_grids += kept.grids;
      targets_of_refits += active.count;
      most_bytes = std::max(most_bytes, kept.bytes());
    } else {
      runtime::launch_each(drift<Real>, all.bodies.n, all.stream, "drifting", all, dt);
      ++host_grids;
      build(active);
    }
  }

  /// Reads the trace. The stream must be idle. \throws std::invalid_argument naming a body that has
  /// left the range of coordinates; cuda_error
  void check(const gravity_progress& progress) {
    recorder.read();
    throw_if_invalid(progress.first_invalid, all.bodies, "nbody_system", all.stream);
  }

  /// Adds the refits to a report, which has the builds.
  void add_to(nbody_report& report, const gravity_progress& progress) const {
    report.host_grids += host_grids;
    report.force_calculations += targets_of_refits;
    report.interactions += progress.interactions;
    report.scratch_bytes = std::max(report.scratch_bytes, most_bytes);
  }
};
template <class Real, class Build>
step_forces(kept_tree<Real>&, const moving_bodies<Real>&, const nbody_options&,
            runtime::trace_recorder&, Build) -> step_forces<Real, Build>;

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
