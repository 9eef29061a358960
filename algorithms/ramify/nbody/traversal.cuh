// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The group traversal: the 32 bodies of a warp traverse the tree together, one body for each lane.
///
///     root --> some lane must open it: the warp visits its children
///              child 0 --> far from all lanes: each lane adds the node as one mass
///              child 1 --> some lane must open it, a leaf: each lane adds its bodies one by one
///              child 2 --> some lane must open it, an inner node: pushed onto the warp's stack
///
/// Lanes hold bodies in the tree's order, so the bodies of a warp are close together and open
/// nearly the same nodes. The warp opens a node if one of its bodies must open it (Burtscher and
/// Pingali, 2011). So all lanes run the same code and load the same memory. The error of a body is
/// at most that of a traversal of its own, because the warp opens at least the same nodes.

#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/nodes.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Returns the bitwise OR of all lanes' values. All lanes of the warp must call it.
__device__ inline unsigned warp_reduce_or(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int distance = 16; distance > 0; distance /= 2) {
    value |= __shfl_xor_sync(full_warp_mask, value, distance);
  }
  return value;
#else
  return __reduce_or_sync(full_warp_mask, value);
#endif
}

/// The opening criterion: returns true if the node must not act as one mass on a body at
/// `position`.
template <class Real>
__device__ bool must_open(const gravity_node<Real>& node, const point<Real, 3>& position) {
  const Real dx = node.center.x - position.x[0];
  const Real dy = node.center.y - position.x[1];
  const Real dz = node.center.z - position.x[2];
  return dx * dx + dy * dy + dz * dz <= node.opening_radius2;
}

/// Returns a mask of the siblings, the `count` nodes from `first` on, that some lane must open.
/// Lanes without a body open none. All lanes of the warp must call it. The loop has no branches, so
/// that its loads overlap.
template <class Real>
__device__ unsigned siblings_to_open(const gravity_node<Real>* nodes, std::uint32_t first,
                                     unsigned count, const point<Real, 3>& position,
                                     bool has_body) {
  unsigned to_open = 0;
  for (unsigned s = 0; s < count; ++s) {
    to_open |= (must_open(nodes[first + s], position) ? 1u : 0u) << s;
  }
  return warp_reduce_or(has_body ? to_open : 0);
}

inline constexpr unsigned traversal_threads = 128;

/// Calculates the acceleration and the potential of each body. If the tree is not complete, or if a
/// body is invalid, it writes nothing. One lane for each body.
template <class Real>
__global__ void __launch_bounds__(traversal_threads)
    traverse_tree(spatial_tree_view<Real, 3> tree, gravity_scratch<Real> scratch,
                  force_arguments<Real> t) {
  const traced here(t.trace, __func__);
  if (t.progress->first_invalid != no_invalid_body || (tree.built != nullptr && *tree.built == 0))
    return;
  if (blockIdx.x == 0 && threadIdx.x == 0) t.progress->complete = 1;
  // One stack for each warp. spatial_shape::stack_size bounds its depth in any depth-first
  // traversal.
  __shared__ std::uint32_t stacks[traversal_threads / 32][spatial_shape<3>::stack_size];
  std::uint32_t* const stack = stacks[threadIdx.x / 32];
  unsigned stack_depth = 0;
  const bool is_first_lane = threadIdx.x % 32 == 0;

  const std::uint32_t i = blockIdx.x * traversal_threads + threadIdx.x;
  const bool has_body =
      i < tree.point_count;  // lanes without a body take part in warp-wide functions
  const point_mass<Real> body = scratch.bodies[has_body ? i : tree.point_count - 1];
  const point<Real, 3> position{{body.x, body.y, body.z}};
  force_accumulator<Real> sum;
  unsigned interactions = 0;

  // The siblings to visit next: at first, the root alone.
  std::uint32_t first = 0;
  unsigned siblings = 1;
  for (;;) {
    // 1. Find the siblings that the warp must open.
    const unsigned to_open = siblings_to_open(scratch.nodes, first, siblings, position, has_body);
    // 2. Base cases: a far node acts as one mass; the bodies of a leaf act one by one, but no body
    //    acts on itself.
    // 3. Recurse: push each other node. Join: none, because the sums need no order of nodes.
    for (unsigned s = 0; s < siblings; ++s) {
      const gravity_node<Real> node = scratch.nodes[first + s];
      if ((to_open >> s & 1u) == 0) {
        sum.add_interaction(node.center, position, t.softening2);
        ++interactions;
      } else if (node.child_count == 0) {
        for (std::uint32_t b = node.first; b < node.first + node.body_count; ++b) {
          if (b != i) sum.add_interaction(scratch.bodies[b], position, t.softening2);
        }
        interactions += node.body_count;
      } else {
        if (is_first_lane) stack[stack_depth] = first + s;
        ++stack_depth;
      }
    }
    if (stack_depth == 0) break;
    __syncwarp();  // all pushes are visible
    const gravity_node<Real>& opened = scratch.nodes[stack[--stack_depth]];
    __syncwarp();  // all lanes have read the entry before it is overwritten
    first = opened.first;
    siblings = opened.child_count;
  }

  if (!has_body) return;
  write_result(sum, t.gravitational_constant, tree.ids[i], t.bodies.accelerations,
               t.bodies.potentials);
  // Each lane counted its own body in its leaf. This is no interaction.
  const std::uint32_t bodies_of_warp = tree.point_count - i < 32 ? tree.point_count - i : 32;
  if (is_first_lane) {
    atomicAdd(&t.progress->interactions,
              static_cast<unsigned long long>(interactions - 1) * bodies_of_warp);
  }
}

/// Launches the grid that traverses a tree with points and writes the results. Asynchronous.
/// \throws cuda_error
template <class Real>
void traverse(const spatial_tree_view<Real, 3>& tree, const gravity_scratch<Real>& scratch,
              const force_arguments<Real>& arguments, cudaStream_t stream) {
  const phase_range range("nbody: traverse");
  const unsigned blocks = (tree.point_count - 1) / traversal_threads + 1;
  check(launch(traverse_tree<Real>, {blocks, traversal_threads}, stream, tree, scratch, arguments)
            .code(),
        "traversing the tree");
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
