// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_view: the argument that all kernels of a run share, and the link of its launch chain.

#include <cstddef>
#include <ramify/amr/ghost.cuh>
#include <ramify/amr/leaves.cuh>
#include <ramify/amr/mesh_part.cuh>
#include <ramify/amr/run_state.cuh>
#include <ramify/runtime/detail/chain_link.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Lists, and arrays by node. The capacity of the mesh is that of its arrays.
struct block_lists {
  int* leaves;           ///< in Morton order, root block by root block
  int* nodes;            ///< all nodes, level by level, each level in Morton order
  int* averaged_leaves;  ///< leaves with coarser neighbors and finer ones
  /// The faces of leaves to finer blocks, level by level; an entry is leaf * faces + face.
  int* corrected_faces;
  int* tagged;     ///< blocks to refine, in the order in which they were tagged
  int* coarsened;  ///< nodes whose children are removed
  unsigned* free_families;
  // ---- by node ----
  unsigned* is_tagged;
  unsigned* idle;         ///< number of regrids in a row in which the criterion allows coarsening
  unsigned* first_leaf;   ///< where a node's leaves begin in `leaves`
  unsigned* leaf_counts;  ///< number of leaves below a node
};

/// What a criterion with buffer cells adds to the lists.
template <class Criterion>
struct buffer_lists {};
template <class Criterion>
requires has_buffer<Criterion>
struct buffer_lists<Criterion> {
  /// By node: the directions in which a leaf has a cell to refine near its side, one bit each.
  unsigned* near_sides;
};

/// The argument of the kernels. Outside of a run of phases, the members of chain_link are empty.
/// `Part` is whole_mesh or mesh_part.
template <class Physics, int n, class Criterion, class Part = whole_mesh>
struct run_view : runtime::chain_link,
                  Part,
                  cell_positions<typename Physics::real, Physics::dimensions, n>,
                  buffer_lists<Criterion> {
  using criterion_type = Criterion;
  using state_type = run_state;
  static constexpr auto join = runtime::chain_join::tail_launch;
  static constexpr int dim = Physics::dimensions;
  using physics_type = Physics;
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<dim, n>;
  static constexpr int cells_along = n;
  using values_type = block_values<Physics, n, typename Part::slots_type>;
  using ghosts_type = ghost_reader<Physics, n, typename Part::slots_type>;

  mesh_tree<dim> tree;
  Physics physics;
  Criterion criterion;
  block_lists lists;
  values_type u_new;
  values_type u_stage;  ///< after the first of a step's two stages
  values_type u_old;    ///< before the last step; only with subcycling
  /// The flux through each coarse-fine face, summed since the coarser block began its step:
  /// [slot][face][variable][cell of the face], an amount per area.
  real* flux_register;
  amr_options::regrid_fields regrid;
  amr_options::step_fields step;
  unsigned batch_limit = max_batch;  ///< the maximum number of steps in one phase of this run
  /// Of the grids of a phase that the host launches. All of their kernels call
  /// grid_dependency_synchronize().
  stream_serialization serialization = stream_serialization::full;
  run_state* state;

  /// Returns the shape of a grid of a phase.
  [[nodiscard]] __host__ __device__ launch_shape shape(unsigned blocks, unsigned threads,
                                                       std::size_t dynamic_shared = 0) const {
    launch_shape result(blocks, threads, dynamic_shared);
    result.serialization = serialization;
    return result;
  }

  /// Returns whether the chain of phases ends. If the mesh is full, the host allocates more memory
  /// and starts the chain again.
  [[nodiscard]] __host__ __device__ bool finished(const run_state& now) const {
    return now.next == phase::idle || now.fault.code == fault::mesh_full;
  }
  /// Returns whether the loop of a graph can launch the next phase: the mesh does not change
  /// between steps.
  [[nodiscard]] __host__ __device__ bool repeats(const run_state& now) const {
    return now.next == phase::step;
  }

  /// Returns the finest level of the mesh. `mine` has the blocks of this process.
  [[nodiscard]] __host__ __device__ int finest_level_of(const mesh_state& mine) const {
    if constexpr (Part::is_part) {
      return this->finest;
    } else {
      return finest_level(mine, tree.max_level);
    }
  }
  /// Returns whether the mesh has coarse-fine faces. `mine` has the blocks of this process.
  [[nodiscard]] __host__ __device__ bool has_interface_in(const mesh_state& mine) const {
    if constexpr (Part::is_part) {
      return this->has_interface;
    } else {
      return mine.corrected_begin[tree.max_level + 1] > 0;
    }
  }

  /// Returns a reader of ghost cells from `u`, in which all levels have the time `time`.
  [[nodiscard]] __host__ __device__ ghosts_type ghosts(const values_type& u, real time) const {
    return {tree, physics, u, u, u, real(0), step.limiter, *this, time};
  }
  /// Returns the first `count` leaves for kernels of the caller.
  [[nodiscard]] mesh_leaves<Physics, n, typename Part::slots_type> leaves_of(double time,
                                                                             unsigned count) const {
    return {ghosts(u_new, static_cast<real>(time)), lists.leaves, count};
  }
  [[nodiscard]] __device__ real* flux_register_of(int node, int face, int variable) const {
    const auto slot = static_cast<std::size_t>(u_new.slot_of(node));
    const auto row = slot * tree.faces + std::size_t(face);
    return flux_register + (row * Physics::variables + std::size_t(variable)) * cells::per_face;
  }
};

/// Calls `use(pointer, count)` for each array that has entries for nodes or for slots, always in
/// this order.
template <class View, class Use>
void for_each_array(View& view, std::size_t nodes, std::size_t slots, Use use) {
  using tree_type = mesh_tree<View::dim>;
  using cells = typename View::cells;
  constexpr std::size_t variables = View::physics_type::variables;
  const std::size_t all = slots * variables * cells::count;
  const std::size_t faces = nodes * tree_type::faces;
  const std::size_t face_values = slots * tree_type::faces * variables * cells::per_face;
  use(view.u_new.data, all);
  use(view.u_stage.data, all);
  use(view.u_old.data, view.step.subcycle ? all : 0);
  use(view.flux_register, view.step.reflux ? face_values : 0);
  if constexpr (View::is_part) {
    use(view.node_slots, nodes);
    use(view.owners, nodes);
  }
  use(view.tree.place, nodes);
  use(view.tree.parent, nodes);
  use(view.tree.first_child, nodes);
  use(view.tree.neighbor, faces);
  use(view.tree.at_interface, nodes);
  use(view.lists.leaves, nodes);
  use(view.lists.nodes, nodes);
  use(view.lists.averaged_leaves, nodes);
  use(view.lists.corrected_faces, faces);
  use(view.lists.tagged, nodes);
  use(view.lists.coarsened, nodes);
  use(view.lists.free_families, nodes);
  use(view.lists.is_tagged, nodes);
  use(view.lists.idle, nodes);
  use(view.lists.first_leaf, nodes);
  use(view.lists.leaf_counts, nodes);
  if constexpr (has_buffer<typename View::criterion_type>) use(view.near_sides, nodes);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
