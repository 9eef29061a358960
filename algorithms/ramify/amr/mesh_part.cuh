// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// whole_mesh and mesh_part: whether a process has the whole mesh or a part of it. One of them is a
/// base of run_view.
///
/// A process with a part has the tree of all blocks, but only the values of its own blocks and of
/// the blocks that its kernels read. Between grids the host exchanges values with the other
/// processes: phases.cuh and launch_steps.cuh call the functions below at these places. For a whole
/// mesh they are empty and cost nothing, and the kernels are compiled as if there were none.

#include <ramify/amr/block_cells.cuh>
#include <ramify/runtime/detail/round_launcher.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int all_levels = -1;

/// The blocks that a stage of a step advances. Those before `interior` read no values that other
/// processes send.
struct stage_blocks {
  const int* nodes;
  unsigned interior;
  unsigned count;
};

/// The part of a mesh that is in one process.
struct whole_mesh {
  using slots_type = slot_by_number;
  static constexpr bool is_part = false;

  [[nodiscard]] __device__ static constexpr bool owns(int) { return true; }

  template <class Grids>
  __host__ __device__ static void combine_rates(Grids&) {}
  template <class Grids>
  __host__ __device__ static void share_level(Grids&, int) {}
  template <class Grids>
  __host__ __device__ static void share_flux_registers(Grids&, int) {}
  template <class Grids>
  __host__ __device__ static void share_children(Grids&, int) {}
  template <class Grids>
  __host__ __device__ static void combine_tags(Grids&) {}
};

/// What the host of a process with a part of a mesh does between grids. All processes call these
/// functions in the same order.
class part_communication {
 public:
  using grids_type = runtime::round_launcher;

  part_communication() = default;
  part_communication(const part_communication&) = delete;
  part_communication& operator=(const part_communication&) = delete;
  virtual ~part_communication() = default;

  /// After begin_step(): the largest rates, and the first invalid cell, of all processes.
  virtual void combine_rates(grids_type&) = 0;
  /// Starts the exchange of the values that stage `stage` reads on a level or on all levels.
  /// Returns the blocks to advance.
  [[nodiscard]] virtual stage_blocks begin_stage(grids_type&, int stage, int level) = 0;
  /// After the launch of the interior blocks: lets later grids run beside them, after the exchange.
  virtual void begin_border(grids_type&) = 0;
  /// Lets later grids run after all blocks of the stage.
  virtual void end_stage(grids_type&) = 0;
  /// After a level's step: the values before and after it, which the next finer levels read.
  virtual void share_level(grids_type&, int level) = 0;
  /// Before reflux(): the fluxes of finer blocks.
  virtual void share_flux_registers(grids_type&, int level) = 0;
  /// Before average_down() of a level: the values of children.
  virtual void share_children(grids_type&, int level) = 0;
  /// After tag_blocks(): the tags of all processes.
  virtual void combine_tags(grids_type&) = 0;
};

/// One of several parts of a mesh. The host calls the functions below; no kernel does.
struct mesh_part {
  using slots_type = slot_by_table;
  static constexpr bool is_part = true;

  int* node_slots = nullptr;  ///< [node], see slot_by_table
  int* owners = nullptr;      ///< [node], the rank that advances the node
  int rank = 0;
  int finest = 0;              ///< finest level of the whole mesh
  bool has_interface = false;  ///< whether the whole mesh has coarse-fine faces
  part_communication* host = nullptr;

  [[nodiscard]] __device__ bool owns(int node) const { return owners[node] == rank; }

  template <class Grids>
  __host__ __device__ void combine_rates([[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    host->combine_rates(grids);
#endif
  }
  template <class Grids>
  [[nodiscard]] __host__ __device__ stage_blocks begin_stage([[maybe_unused]] Grids& grids,
                                                             [[maybe_unused]] int stage,
                                                             [[maybe_unused]] int level) const {
#if !defined(__CUDA_ARCH__)
    return host->begin_stage(grids, stage, level);
#else
    return {};
#endif
  }
  template <class Grids>
  __host__ __device__ void begin_border([[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    host->begin_border(grids);
#endif
  }
  template <class Grids>
  __host__ __device__ void end_stage([[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    host->end_stage(grids);
#endif
  }
  template <class Grids>
  __host__ __device__ void share_level([[maybe_unused]] Grids& grids,
                                       [[maybe_unused]] int level) const {
#if !defined(__CUDA_ARCH__)
    host->share_level(grids, level);
#endif
  }
  template <class Grids>
  __host__ __device__ void share_flux_registers([[maybe_unused]] Grids& grids,
                                                [[maybe_unused]] int level) const {
#if !defined(__CUDA_ARCH__)
    host->share_flux_registers(grids, level);
#endif
  }
  template <class Grids>
  __host__ __device__ void share_children([[maybe_unused]] Grids& grids,
                                          [[maybe_unused]] int level) const {
#if !defined(__CUDA_ARCH__)
    host->share_children(grids, level);
#endif
  }
  template <class Grids>
  __host__ __device__ void combine_tags([[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    host->combine_tags(grids);
#endif
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
