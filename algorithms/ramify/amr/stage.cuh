// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One stage of a time step, block by block: fluxes through all faces, and what they change.
///
/// Two stages make a step that is of second order in time and keeps what one Euler step keeps
/// (Shu & Osher, J. Comput. Phys. 77 (1988) 439):
///
///     stage = now + dt L(now)
///     now'  = (now + stage + dt L(stage)) / 2
///
/// L is the method of Godunov with linear reconstruction (van Leer 1979), all axes at once. Through
/// a face has then flowed dt/2 times the sum of both stages' fluxes.

#include <ramify/amr/view.cuh>
#include <ramify/runtime/shared.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What a launch of advance_blocks does.
struct stage_of_step {
  int number;      ///< 0 or 1
  double begin;    ///< of this level's step, counted in steps of level 0
  double length;   ///< of this level's step, likewise
  double elapsed;  ///< since the next coarser level began its step, as a share of that
  bool first;      ///< the first stage since then
};

/// How blocks of cells are worked on by blocks of threads.
///
/// A grid that a kernel launched gets one block on a multiprocessor at a time, whatever would fit, so
/// there a block has a thread for each face along an axis; from the host two smaller ones take turns.
/// On an H200, blocks of 8^3 cells in double, 10^6 updates/s by route:
///
///     threads, blocks that must fit    288, 2    512, 1    576, 1
///     device                             1365      1453      1732
///     flat                               2198      1451      1731
template <class Physics, int n>
struct stage_tuning {
  using cells = block_cells<Physics::dimensions, n>;
  static constexpr int lines = cells::of_a_face;  ///< along an axis
  static constexpr int pitch = lines + 1;         ///< so that a line's cells are in other banks
  static constexpr int faces = (n + 1) * lines;   ///< orthogonal to an axis
  static constexpr int from_kernels = faces < 576 ? (faces + 31) / 32 * 32 : 576;
  static constexpr int from_the_host = from_kernels < 288 ? from_kernels : 288;
};

/// All lines of cells along one axis, with two ghost cells at each end, and the fluxes between them.
template <class Physics, int n>
struct stage_storage {
  using real = typename Physics::real;
  using tuning = stage_tuning<Physics, n>;
  static constexpr int ghosts = block_cells<Physics::dimensions, n>::ghosts;

  real primitive[Physics::variables][n + 2 * ghosts][tuning::pitch];
  real flux[Physics::variables][n + 1][tuning::pitch];
};

/// The primitive values of the lines along `axis` come into shared memory. All threads.
template <class View, class Storage>
__device__ void load_lines(
    const View& view, const surroundings<typename View::physics_type, View::cells_along>& around,
    int node, int axis, Storage& shared) {
  using cells = typename View::cells;
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  const auto put = [&](int i, int line, const typename View::values& conserved) {
    const auto primitive = view.physics.to_primitive(conserved);
    for (int v = 0; v < View::physics_type::variables; ++v) {
      shared.primitive[v][i + cells::ghosts][line] = primitive[v];
    }
  };
  // 1. The block's own cells, in the order in which they are in memory.
  const int stride = cells::stride(axis);
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count;
       cell += static_cast<int>(blockDim.x)) {
    put(cell / stride % n, cells::line_of(axis, cell), around.own.load(node, cell));
  }
  // 2. Two ghost cells at each end of a line.
  constexpr int ends = 2 * cells::ghosts * cells::of_a_face;
  for (int item = static_cast<int>(threadIdx.x); item < ends;
       item += static_cast<int>(blockDim.x)) {
    const int line = item % cells::of_a_face;
    const int depth = item / cells::of_a_face % cells::ghosts + 1;
    const int side = item / (cells::of_a_face * cells::ghosts);
    int at[dim];
    cells::position(cells::on_line(axis, line, side == 0 ? 0 : n - 1), at);
    put(side == 0 ? -depth : n - 1 + depth, line, around.beyond(node, at, axis, side, depth));
  }
}

/// Whether this block keeps the sums of the fluxes through a face: it is a leaf and finer ones are
/// behind the face, or coarser ones are.
template <class View>
__device__ bool levels_meet(const View& view, int node, int face) {
  if (!view.step.reflux) return false;
  const int neighbor = view.tree.neighbor[node * view.tree.faces + face];
  if (neighbor == coarser_neighbor) return true;
  return neighbor >= 0 && view.tree.is_leaf(node) && !view.tree.is_leaf(neighbor);
}

/// Advances a list of blocks by a stage, each by a block of threads.
///
/// Reads the values of the stage before in the blocks and around them, and writes those of the next
/// one; so no block waits for another. Shared memory: sizeof(stage_storage).
template <class View, int threads>
__global__ void __launch_bounds__(threads, threads <= 288 ? 2 : 1)
    advance_blocks(View view, const int* nodes, stage_of_step stage) {
  using physics_type = typename View::physics_type;
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  constexpr int variables = physics_type::variables;
  using real = typename View::real;
  using values = typename View::values;
  using cells = typename View::cells;
  using tuning = stage_tuning<physics_type, n>;
  constexpr int cells_a_thread = (cells::count + threads - 1) / threads;
  auto& shared = dynamic_shared<stage_storage<physics_type, n>>();

  const amr_clock& clock = *view.clock;
  if (clock.time_step == 0) return;  // nothing is left to do
  const int node = nodes[blockIdx.x];
  const auto place = view.tree.place[node];
  const auto dt = static_cast<real>(clock.time_step * stage.length);
  const auto time =
      static_cast<real>(clock.time + clock.time_step * (stage.begin + stage.number * stage.length));

  surroundings<physics_type, n> around = view.around(stage.number == 0 ? view.now : view.stage);
  if (view.step.subcycle) {
    around.coarser_before = view.before;
    around.coarser_after = view.now;
    around.elapsed = static_cast<real>(stage.elapsed);
  }

  values change[cells_a_thread] = {};
#if RAMIFY_ON_CUDA
#pragma unroll  // what is indexed by the axis then stays in registers
#endif
  for (int axis = 0; axis < dim; ++axis) {
    // 1. The values along this axis.
    load_lines(view, around, node, axis, shared);
    __syncthreads();

    // 2. The flux through each face, from limited linear profiles on its two sides.
    const real spacing = view.spacing(place.level, axis);
    for (int item = static_cast<int>(threadIdx.x); item < tuning::faces; item += threads) {
      const int line = item % tuning::lines;
      const int face = item / tuning::lines;  // between the cells face - 1 and face
      values u[4];
      for (int i = 0; i < 4; ++i) {
        for (int v = 0; v < variables; ++v) u[i][v] = shared.primitive[v][face + i][line];
      }
      int at[dim];
      cells::position(cells::on_line(axis, line, 0), at);
      real where[dim];
      view.centre(place, at, where);
      where[axis] += times(real(face) - real(0.5), spacing);
      const values left = edges_of_cell(view.physics, u[0], u[1], u[2], around.limited).upper;
      const values right = edges_of_cell(view.physics, u[1], u[2], u[3], around.limited).lower;
      const values flux = view.physics.flux(left, right, axis, where, time);
      for (int v = 0; v < variables; ++v) shared.flux[v][face][line] = flux[v];
    }
    __syncthreads();

    // 3. What flows in and does not flow out. The sums are kept where levels meet.
    const real ratio = dt / spacing;
    for (int k = 0; k < cells_a_thread; ++k) {
      const int cell = static_cast<int>(threadIdx.x) + k * threads;
      if (cell >= cells::count) break;
      const int stride = cells::stride(axis);
      const int line = cells::line_of(axis, cell);
      const int i = cell / stride % n;
      for (int v = 0; v < variables; ++v) {
        change[k][v] += times(ratio, shared.flux[v][i][line] - shared.flux[v][i + 1][line]);
      }
    }
    for (int side = 0; side < 2; ++side) {
      const int face = face_of(axis, side);
      if (!levels_meet(view, node, face)) continue;
      // The coarser side sums over one of its steps, the finer one over all of its within that.
      const bool finer_here = view.tree.neighbor[node * view.tree.faces + face] == coarser_neighbor;
      const bool forget = finer_here ? stage.first : stage.number == 0;
      for (int item = static_cast<int>(threadIdx.x); item < variables * tuning::lines;
           item += threads) {
        const int v = item / tuning::lines;
        const int line = item % tuning::lines;
        real& flow = view.flow(node, face, v)[line];
        const real add = times(real(0.5) * dt, shared.flux[v][side * n][line]);
        flow = forget ? add : flow + add;
      }
    }
    __syncthreads();
  }

  // 4. The new values.
  for (int k = 0; k < cells_a_thread; ++k) {
    const int cell = static_cast<int>(threadIdx.x) + k * threads;
    if (cell >= cells::count) break;
    const values u = view.now.load(node, cell);
    if (stage.number == 0) {
      view.stage.store(node, cell, u + change[k]);
    } else {
      if (view.step.subcycle) view.before.store(node, cell, u);
      const values last = view.stage.load(node, cell);
      view.now.store(node, cell, real(0.5) * (u + (last + change[k])));
    }
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
