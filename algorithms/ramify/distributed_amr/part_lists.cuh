// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// part_lists: the lists of a part_plan in device memory.

#include <algorithm>
#include <ramify/amr/run_state.cuh>
#include <ramify/distributed_amr/part_plan.cuh>
#include <ramify/distributed_amr/region_exchange.cuh>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The lists of a plan in device memory. The names are those of the plan.
struct part_lists {
  part_lists() = default;
  /// Copies the lists. Waits for the stream. \throws cuda_error
  part_lists(const part_plan& plan, cudaStream_t stream)
      : leaves(to_device(plan.leaves, stream)),
        nodes(to_device(plan.nodes, stream)),
        averaged_leaves(to_device(plan.averaged_leaves, stream)),
        corrected_faces(to_device(plan.corrected_faces, stream)),
        stage_nodes(to_device(plan.stage_nodes, stream)),
        leaf_numbers(to_device(plan.leaf_numbers, stream)),
        halo(plan.halo, stream),
        same_level(messages_of(plan.same_level, stream)),
        finer(messages_of(plan.finer, stream)),
        registers(messages_of(plan.registers, stream)),
        children(messages_of(plan.children, stream)) {}

  /// Returns a view whose lists have the blocks of this rank alone.
  template <class View>
  [[nodiscard]] View own_blocks(View view) const {
    view.lists.leaves = leaves.data();
    view.lists.nodes = nodes.data();
    view.lists.averaged_leaves = averaged_leaves.data();
    view.lists.corrected_faces = corrected_faces.data();
    return view;
  }

  device_buffer<int> leaves, nodes, averaged_leaves, corrected_faces, stage_nodes;
  device_buffer<unsigned> leaf_numbers;
  region_messages halo;
  std::vector<region_messages> same_level, finer, registers, children;

 private:
  static std::vector<region_messages> messages_of(const std::vector<region_lists>& lists,
                                                  cudaStream_t stream) {
    std::vector<region_messages> messages;
    for (const region_lists& one : lists) messages.emplace_back(one, stream);
    return messages;
  }
};

/// Returns the sizes of the lists of own blocks. `mesh` describes the whole mesh.
[[nodiscard]] inline mesh_state own_blocks(mesh_state mesh, const part_plan& plan) {
  mesh.leaves = unsigned(plan.leaves.size());
  mesh.averaged_leaves = unsigned(plan.averaged_leaves.size());
  std::ranges::copy(plan.level_begin, mesh.level_begin);
  std::ranges::copy(plan.corrected_begin, mesh.corrected_begin);
  return mesh;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
