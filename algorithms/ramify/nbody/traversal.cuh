// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The group traversal: a warp traverses the tree for a group of bodies that are close together.
///
///     root --> near the group: its children are tested, each by one lane
///              child 0 --> far from the group: acts as one source on each body of the group
///              child 1 --> near, a leaf: its bodies act one by one
///              child 2 --> near, an inner node: its children are tested
///
/// The bodies of a group are consecutive targets in the tree's order, so they open nearly the same
/// nodes. If few bodies are targets, consecutive ones are far apart, and a group has fewer bodies.
/// The group opens a node if one of its bodies must (Burtscher and Pingali, 2011). So the error of
/// a body is at most that of a traversal of its own. The lanes test different nodes and collect the
/// sources in lists; then each of the lanes of a body adds a part of them to it (Bédorf, Gaburov
/// and Portegies Zwart, 2012).

#include <cstdint>
#include <ramify/nbody/group_walk.cuh>
#include <type_traits>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

inline constexpr unsigned groups_of_block = 2;
inline constexpr unsigned traversal_threads = 32 * groups_of_block;

/// Calculates the acceleration and the potential of each target. If the tree is not complete, or if
/// a body is invalid, it writes nothing. One warp for each group.
template <class Real, int order, class Targets>
__global__ void __launch_bounds__(traversal_threads)
    traverse_tree(spatial_tree_view<Real, 3> tree, gravity_scratch<Real> scratch,
                  opening_criterion<Real> criterion, force_arguments<Real> t, Targets targets) {
  using walk_type = group_walk<Real, order, Targets>;
  const traced here(t.trace, __func__);
  if (t.progress->first_invalid != no_invalid_body || tree.nodes_built() == 0) return;
  if (blockIdx.x == 0 && threadIdx.x == 0) t.progress->complete = 1;
  __shared__ group_memory<Real, order> memory[groups_of_block];
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t first =
      (blockIdx.x * groups_of_block + warp) * group_bodies<Real, Targets>::size(targets);
  if (first >= targets.count) return;  // a warp without bodies

  walk_type walk(scratch, targets, first, t.softening2, memory[warp]);
  walk.choose_unit(criterion);
  walk.sum_interactions();
  const auto& bodies = walk.bodies();
  for (unsigned k = 0; k < Targets::bodies_of_lane; ++k) {
    if (!bodies.writes(k)) continue;
    write_result(bodies.sum(k), t.gravitational_constant, tree.ids[bodies.index(k)],
                 t.bodies.accelerations, t.bodies.potentials);
  }
  if (threadIdx.x % 32 == 0) {
    // One source of each body is the body itself. This is no interaction.
    atomicAdd(&t.progress->interactions,
              static_cast<unsigned long long>(walk.sources() - 1) * bodies.count());
  }
}

/// Launches the grid that traverses a tree with targets and writes the results. Asynchronous.
/// \throws cuda_error
template <class Real>
void traverse(const spatial_tree_view<Real, 3>& tree, const gravity_scratch<Real>& scratch,
              const nbody_options& options, const force_arguments<Real>& arguments,
              cudaStream_t stream) {
  const phase_range range("nbody: traverse");
  with_order(options.order, [&](auto order) {
    const auto start = [&](const auto& targets) {
      using chosen = std::decay_t<decltype(targets)>;
      nbody_options criterion = options;
      criterion.tolerance *= chosen::tolerance_factor;
      const unsigned bodies = groups_of_block * group_bodies<Real, chosen>::size(targets);
      check(launch(traverse_tree<Real, order, chosen>,
                   {(targets.count - 1) / bodies + 1, traversal_threads}, stream, tree, scratch,
                   opening_criterion<Real>(criterion), arguments, targets)
                .code(),
            "traversing the tree");
    };
    if (arguments.targets.indices == nullptr) {
      start(all_targets(arguments.targets));
    } else {
      start(some_targets(arguments.targets));
    }
  });
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
