// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The beginning of a run: its first mesh, from an initial state or from a saved state.

#include <ramify/amr/phase_run.cuh>
#include <ramify/amr/restore.cuh>
#include <ramify/amr/snapshot.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Checks the arguments of a run with n cells along a block's edge. `algorithm` begins the messages
/// about the criterion and the memory. \throws std::invalid_argument naming the field
template <class Physics, int n, class Criterion>
void check_arguments(const std::string& algorithm, const Criterion& criterion,
                     const amr_options& options, const environment& env) {
  constexpr int dim = Physics::dimensions;
  validate(options, dim);
  validate_cells<typename Physics::real>(options.mesh, dim, n);
  for (std::size_t axis = 0; axis < std::size_t(dim); ++axis) {
    for (const boundary side : options.mesh.sides[axis]) {
      require(has_ghost_state<Physics> || side != boundary::prescribed,
              "amr_options.mesh.sides[" + std::to_string(axis) + "]", "prescribed",
              "another condition: this physics has no member ghost_state()");
    }
  }
  const int buffer = buffer_cells_of(criterion);
  require(buffer >= 0 && buffer <= n, algorithm + ": criterion.buffer_cells", buffer,
          "in [0, " + std::to_string(n) + "], because a block has that many cells along an edge");
  if (env.memory.empty()) return;
  throw std::invalid_argument(algorithm +
                              ": environment.memory must be empty, because meshes grow");
}

/// Builds the first mesh and fills it by `fill`, a fill_from_initial_state. Waits for the stream.
/// \throws what phase_run::get() throws
template <class Parts, class Fill>
void build_mesh(Parts& parts, run_setup& setup, const Fill& fill) {
  using view_type = typename Parts::mesh_type::view_type;
  const phase_range range("amr: build");
  auto& mesh = parts.mesh;
  mesh.order_roots();
  const auto& tree = mesh.view().tree;
  const unsigned roots = tree.root_count();
  run_state state = initial_run_state();
  state.regrid.rounds_left = tree.max_level;
  state.next = tree.max_level > 0 ? phase::tag : phase::change_mesh;
  state.clock.next_regrid = parts.options.regrid.every;
  mesh.write_state(state);
  phase_run<Parts, Fill> run(setup, parts, fill);
  run.launch_before(fill_roots<view_type, Fill>, {roots, regrid_threads}, fill);
  run.launch_before(link_neighbors<view_type>,
                    {blocks_for(1ull * roots * tree.faces), list_threads}, roots);
  run.launch_before(find_interface<view_type>, {blocks_for(roots), list_threads}, roots);
  run.launch_before(order_blocks<view_type>, {1, order_threads});
  run.start();
  static_cast<void>(run.get());
}

/// Builds the mesh of a saved state. `packed` are the values of its leaves. Waits for the stream.
/// \throws std::invalid_argument if the leaves are not a balanced mesh; what phase_run::get()
///         throws
template <class Parts>
void restore_mesh(Parts& parts, run_setup& setup, const amr_state& saved, const std::byte* packed) {
  using mesh_type = typename Parts::mesh_type;
  const phase_range range("amr: restore");
  mesh_type& mesh = parts.mesh;
  const host_forest<mesh_type::dim> forest(mesh.view().tree, saved.leaves);
  const std::size_t nodes = forest.places.size();
  if (nodes > mesh.view().tree.capacity) mesh.grow_to(nodes);
  mesh.order_roots();
  std::vector<unsigned> idle(nodes, 0);
  for (std::size_t leaf = 0; leaf < saved.leaves.size(); ++leaf) {
    idle[std::size_t(forest.nodes_of_leaves[leaf])] = saved.idle[leaf];
  }
  mesh.copy_in(forest.places, mesh.view().tree.place);
  mesh.copy_in(forest.parents, mesh.view().tree.parent);
  mesh.copy_in(forest.first_children, mesh.view().tree.first_child);
  mesh.copy_in(idle, mesh.view().lists.idle);
  mesh.copy_in(std::vector<unsigned>(nodes, 0), mesh.view().lists.is_tagged);
  mesh.scatter(forest, packed);

  run_state state = initial_run_state();  // lists and averages are built as for a first mesh
  static_cast<amr_progress&>(state.clock) = saved;
  state.clock.next_regrid = saved.next_regrid;
  state.mesh.families = forest.families();
  state.next = phase::change_mesh;
  mesh.write_state(state);
  phase_run<Parts, fill_from_parent> run(setup, parts, {});
  run.start();
  static_cast<void>(run.get());
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
