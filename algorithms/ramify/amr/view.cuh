// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// amr_view: what all kernels of a run share.

#include <ramify/amr/clock.cuh>
#include <ramify/amr/fields.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Numbers of nodes, each in an array as long as there are nodes.
struct block_lists {
  int* leaves;   ///< in Morton order, root block by root block
  int* nodes;    ///< all of them, level by level, each level in Morton order
  int* covered;  ///< inner nodes with a leaf of their own level beside them
  int* marked;   ///< to be refined, in the order in which they were found
  int* leaving;  ///< whose children go
  unsigned* free_families;
  // ---- by node ----
  unsigned* is_marked;
  unsigned* idle;        ///< how often in a row a leaf said that it may be coarsened
  unsigned* first_leaf;  ///< place of a node's first leaf in `leaves`
  unsigned* leaves_below;
};

template <class Physics, int n, class Criterion>
struct amr_view {
  static constexpr int dim = Physics::dimensions;
  using physics_type = Physics;
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<dim, n>;
  static constexpr int cells_along = n;

  mesh_tree<dim> tree;
  Physics physics;
  Criterion criterion;
  block_lists lists;
  block_values<Physics, n> now;
  block_values<Physics, n> stage;   ///< after the first of a step's two stages
  block_values<Physics, n> before;  ///< a step ago; only where levels subcycle
  /// What has flowed through the faces where levels meet, since the coarser one began its step:
  /// [node][face][variable][cell of the face], each an amount per area.
  real* flows;
  real lower[dim];
  real root_spacing[dim];  ///< edges of a cell of level 0
  amr_regrid_config regrid;
  amr_step_config step;
  unsigned teams;     ///< that a block may have, of stages that a kernel launches
  unsigned resident;  ///< such blocks that the device holds at a time
  amr_clock* clock;
  launch_slots slots;
  run_status* status;
  trace_ticket trace;  ///< of each grid its own

  [[nodiscard]] __device__ real spacing(int level, int axis) const {
    return root_spacing[axis] * reciprocal(real(1u << level));
  }
  /// The centre of a cell.
  __device__ void centre(const block_place<dim>& block, const int (&at)[dim],
                         real (&where)[dim]) const {
    for (int axis = 0; axis < dim; ++axis) {
      const real cell = real(block.index[axis]) * real(n) + real(at[axis]) + real(0.5);
      where[axis] = lower[axis] + times(cell, spacing(block.level, axis));
    }
  }
  /// All levels at the same time.
  [[nodiscard]] __device__ surroundings<Physics, n> around(
      const block_values<Physics, n>& from) const {
    return {tree, physics, from, from, from, real(0), {step.limiter}};
  }
  [[nodiscard]] __device__ real* flow(int node, int face, int variable) const {
    return flows +
           ((static_cast<std::size_t>(node) * tree.faces + face) * Physics::variables + variable) *
               cells::of_a_face;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
