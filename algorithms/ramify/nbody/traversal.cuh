// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The walk: each body goes down the tree and takes as one mass what is far enough away.
///
///     root --> too near for some lane of the warp: its children
///              child 0 --> far for all lanes: every lane adds its mass, and its nodes are not seen
///              child 1 --> too near, a leaf: every lane adds its bodies one by one
///              child 2 --> too near, inner: remembered on the warp's stack
///
/// Bodies are walked in the tree's order, so the 32 of a warp lie close together and want nearly the
/// same cells. They walk as one: a cell is opened if any of them needs it (Burtscher and Pingali,
/// 2011). All lanes then do the same work on the same memory, and a body's error is never greater
/// than on a walk of its own, for it only ever sees more.

#include <ramify/nbody/nodes.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What a walk works on.
template <class Real>
struct gravity_walk {
  const gravity_cell<Real>* cells;  ///< 0 is the root
  const point_mass<Real>* bodies;   ///< in the tree's order
  const std::uint32_t* ids;         ///< where the caller has them
  std::uint32_t n;
  Real softening2;
  Real gravitational_constant;
  point<Real, 3>* accelerations;  ///< in the caller's order
  Real* potentials;               ///< likewise, or null
  unsigned long long* interactions;
  trace_ticket trace;
};

/// The bits that are set in any lane's word. All lanes of the warp.
__device__ inline unsigned warp_or(unsigned mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int distance = 16; distance > 0; distance /= 2) {
    mine |= __shfl_xor_sync(full_warp_mask, mine, distance);
  }
  return mine;
#else
  return __reduce_or_sync(full_warp_mask, mine);
#endif
}

/// Whether a body at `at` has to look into the cell.
template <class Real>
__device__ bool must_open(const gravity_cell<Real>& cell, const point<Real, 3>& at) {
  const Real dx = cell.all.x - at.x[0];
  const Real dy = cell.all.y - at.x[1];
  const Real dz = cell.all.z - at.x[2];
  return dx * dx + dy * dy + dz * dz <= cell.opening2;
}

constexpr unsigned walk_threads = 128;

/// A lane a body.
template <class Real>
__global__ void __launch_bounds__(walk_threads) walk_tree(gravity_walk<Real> w) {
  const traced here(w.trace, __func__);
  // Nodes that a depth-first walk must remember at most, a proof of which stands at stack_size.
  __shared__ std::uint32_t stacks[walk_threads / 32][spatial_shape<3>::stack_size];
  std::uint32_t* const stack = stacks[threadIdx.x / 32];
  unsigned on_stack = 0;
  const bool keeps_stack = threadIdx.x % 32 == 0;

  const std::uint32_t me = blockIdx.x * walk_threads + threadIdx.x;
  const bool is_body = me < w.n;  // the last warp's other lanes come along, and vote for nothing
  const point_mass<Real> body = w.bodies[is_body ? me : w.n - 1];
  const point<Real, 3> at{{body.x, body.y, body.z}};
  attraction<Real> sum;
  unsigned summed = 0;

  // The siblings to look at next: at first the root.
  std::uint32_t first = 0;
  unsigned siblings = 1;
  for (;;) {
    // 1. Which of them does any lane have to open? (All are asked for at once, without branches, so
    //    that the loads overlap.)
    unsigned too_near = 0;
    for (unsigned s = 0; s < siblings; ++s) {
      too_near |= (must_open(w.cells[first + s], at) ? 1u : 0u) << s;
    }
    too_near = warp_or(is_body ? too_near : 0);
    // 2. Base cases: far away, one mass; near, but a leaf: its bodies, each but oneself.
    // 3. Recurse: a place on the stack for all others. Join: none, sums only grow.
    for (unsigned s = 0; s < siblings; ++s) {
      const gravity_cell<Real> cell = w.cells[first + s];
      if ((too_near >> s & 1u) == 0) {
        sum.add(cell.all, at, w.softening2);
        ++summed;
      } else if (cell.children == 0) {
        for (std::uint32_t b = cell.first; b < cell.first + cell.bodies; ++b) {
          if (b != me) sum.add(w.bodies[b], at, w.softening2);
        }
        summed += cell.bodies;
      } else {
        if (keeps_stack) stack[on_stack] = first + s;
        ++on_stack;
      }
    }
    if (on_stack == 0) break;
    __syncwarp();  // the stack is written
    const gravity_cell<Real>& opened = w.cells[stack[--on_stack]];
    __syncwarp();  // and read, before it is written again
    first = opened.first;
    siblings = opened.children;
  }

  if (!is_body) return;
  const Real g = w.gravitational_constant;
  const std::uint32_t id = w.ids[me];
  w.accelerations[id] = {{g * sum.x, g * sum.y, g * sum.z}};
  if (w.potentials != nullptr) w.potentials[id] = g * sum.potential;
  // A lane's own place among the bodies of its leaf is no interaction.
  const std::uint32_t bodies_of_warp = w.n - me < 32 ? w.n - me : 32;
  if (keeps_stack) {
    atomicAdd(w.interactions, static_cast<unsigned long long>(summed - 1) * bodies_of_warp);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
