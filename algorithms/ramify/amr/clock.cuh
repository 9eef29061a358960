// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a run knows of itself in device memory: its time, its lists of blocks, and what comes next.

#include <ramify/amr/mesh.cuh>
#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// What a run does next. Whoever launches grids, the host or a kernel, asks for it, launches the
/// phase, and asks again when it is complete.
enum class amr_phase {
  idle,     ///< nothing: the steps that were asked for are done, or something is wrong
  step,     ///< some steps, as long as the mesh stays as it is
  average,  ///< gives all inner nodes the averages of what is below them
  examine,  ///< looks at blocks and marks those to refine
  ripple,   ///< marks the neighbours of marked blocks that balance asks for
  create,   ///< makes the children of marked blocks
  judge,    ///< marks the families that may become one block again
  remove,   ///< makes them one block
  arrange   ///< finds neighbours, and puts the lists of blocks in order
};

/// Why a run cannot go on.
enum class amr_fault {
  none,
  unsound_cell,  ///< not finite, or no positive density or pressure
  mesh_full,     ///< more blocks than there is memory for
  no_time_step   ///< the time step is too small to be added to the time, or has no end
};

/// Lives in device memory; the host reads it where it has to know.
struct amr_clock {
  // ---- time ----
  double time;
  double stop_time;  ///< no step goes beyond it
  double time_step;  ///< of level 0; 0: no step is being taken
  unsigned long long steps;
  unsigned long long stop_step;
  unsigned long long next_regrid;  ///< a look at the mesh is due before this step
  unsigned long long updates;      ///< of cells
  /// 1 / the time that a wave takes through a cell of a level, as the bits of a double: those of
  /// positive numbers are in the numbers' order.
  unsigned long long rate[most_levels];
  bool last_step;  ///< this one ends at the stop time
  unsigned batch;  ///< steps of this phase

  // ---- what went wrong ----
  amr_fault fault;
  unsigned long long unsound;  ///< first cell in Morton order, leaf * cells + cell; else all ones

  // ---- the mesh ----
  unsigned leaves;
  unsigned leaves_of_level[most_levels];
  unsigned level_begin[most_levels + 1];  ///< of each level's nodes in the list of all nodes
  unsigned covered;   ///< inner nodes with a leaf of their own level beside them
  unsigned families;  ///< so many have numbers; some of them may be free
  unsigned free_families;
  unsigned peak_blocks;
  unsigned long long regrids;
  unsigned long long refined;
  unsigned long long coarsened;

  // ---- a look at the mesh ----
  amr_phase next;
  bool building;      ///< of the first mesh: children are examined too
  bool changed;       ///< the lists are out of date
  int rounds_left;    ///< of refinement
  unsigned marked;    ///< blocks to refine, of all rounds
  unsigned created;   ///< so many of them have children
  unsigned creating;  ///< the next so many get theirs, or got them last
  unsigned rippled;   ///< so many of them have been looked at by balance
  unsigned rippling;  ///< the next so many are being looked at
  unsigned leaving;   ///< families that go

  // ---- launches ----
  unsigned held;      ///< launch slots of the running phase
  unsigned launched;  ///< its first so many grids were launched from kernels
  unsigned stopped;   ///< 1: a kernel could launch no more, and the host goes on
};

}  // namespace ramify::inline RAMIFY_BUILD
