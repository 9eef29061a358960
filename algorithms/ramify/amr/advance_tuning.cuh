// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How advance_blocks divides a block of cells among threads, and its layout of shared memory.

#include <ramify/amr/block_cells.cuh>
#include <ramify/amr/physics_members.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The division of a block of cells among the threads of a block.
///
/// Along an axis, a thread sweeps a run of consecutive faces of one line. It reconstructs the
/// profile in a cell once for the faces on both sides, except at the ends of a run. Runs are as
/// short as the number of threads allows. Measured on an H200, a uniform mesh of 128^3 cells,
/// launched by the host: runs of 3 faces by 192 threads reach 3977 (double) and 6891 (float)
/// million updates/s; runs of 2 faces by 320 threads reach 3551 and 6204.
///
/// On the CPU executor a core runs all threads of a block, so there are only two runs on a line.
/// With the GPU's runs, a step in 2D takes twice as long there, and in 3D 1.2 times.
template <class Physics, int n>
struct advance_tuning {
  static constexpr int lines =
      block_cells<Physics::dimensions, n>::per_face;  ///< lines along an axis
  static constexpr int faces = n + 1;                 ///< faces of a line
  static constexpr int run = [] {
    constexpr int max_unrounded = RAMIFY_ON_CUDA ? 288 : 2 * lines;  // before rounding up to warps
    int length = 1;
    while (length < faces && (faces + length - 1) / length * lines > max_unrounded) ++length;
    return length;
  }();
  static constexpr int runs = (faces + run - 1) / run;  ///< runs of a line
  static constexpr int threads = (runs * lines + 31) / 32 * 32;
  /// The threads for which a multiprocessor has registers, in whole blocks. With these launch
  /// bounds it also has shared memory for these blocks in a grid that a kernel launched, see
  /// max_registers(). For float, 768 threads have 80 registers each. For double, 576 threads with
  /// 96 registers are enough: 384 threads with 148 registers take 1.16 times as long.
  static constexpr int bounds = [] {
    const int fit = (sizeof(typename Physics::real) == 4 ? 768 : 576) / threads;
    return threads * (fit < 1 ? 1 : fit > 4 ? 4 : fit);
  }();
  /// The axes whose ghost cells are in shared memory at a time. In two dimensions there is space
  /// for all of them, and their reads overlap.
  static constexpr int axes_with_ghosts = Physics::dimensions == 2 ? 2 : 1;
};

/// For each of `cells` cells, whether it got a flux of first order. Empty without fallback_flux().
template <class Physics, int cells>
struct cell_marks {};
template <class Physics, int cells>
requires has_fallback_flux<Physics>
struct cell_marks<Physics, cells> {
  unsigned is_marked[cells];
};

/// The entries of a block's own cells in shared memory: rows along x, each followed by one entry of
/// padding, so that neighboring lines along any axis are in different banks.
template <class Physics, int n>
inline constexpr int padded_cells = block_cells<Physics::dimensions, n>::count / n*(n + 1);

/// The shared memory of a block of threads.
template <class Physics, int n>
struct advance_storage : cell_marks<Physics, padded_cells<Physics, n>> {
  using real = typename Physics::real;
  using tuning = advance_tuning<Physics, n>;
  using cells = block_cells<Physics::dimensions, n>;
  static constexpr int lines = tuning::lines;
  static constexpr int own = padded_cells<Physics, n>;  ///< the entries of the block's own cells
  static constexpr int ghosts = ghost_layers<Physics>;  ///< ghost cells beyond each face
  // Only the children at a coarse-fine face are averaged to their parent during a step.
  static_assert(n >= 2 * ghosts,
                "a block must have twice as many cells along an edge as ghost cells beyond a face: "
                "at least 6 with with_ppm");
  static constexpr int ghosts_of_axis = 2 * ghosts * lines;

  /// The own cells, then the ghost cells at each end of the lines.
  real primitive[Physics::variables][own + tuning::axes_with_ghosts * ghosts_of_axis];
  real change[Physics::variables][own];
  real first_flux[Physics::variables][tuning::runs][lines];  ///< through the first face of each run

  __host__ __device__ static constexpr int cell_entry(int cell) { return cell + cell / n; }
  /// Returns the entry of a ghost cell at the end of line 0; those of the next lines follow.
  __host__ __device__ static constexpr int ghost_entry(int axis, int side, int depth) {
    const int set = axis % tuning::axes_with_ghosts;
    return own + set * ghosts_of_axis + (side * ghosts + depth - 1) * lines;
  }
};

/// The positions in shared memory of the cells of a line along an axis.
template <class Physics, int n>
struct line_of_cells {
  using storage = advance_storage<Physics, n>;
  using cells = typename storage::cells;

  int axis;
  int number;     ///< number of the line
  int first = 0;  ///< number of its first cell
  int step = 0;   ///< distance between two of its cells in the storage

  __device__ line_of_cells(int of_axis, int line) : axis(of_axis), number(line) {
    // A loop over all axes, so that all divisors are constants.
    for (int a = 0; a < Physics::dimensions; ++a) {
      first = a == axis ? cells::on_line(a, line, 0) : first;
      step = a == axis ? storage::cell_entry(cells::stride(a)) : step;
    }
  }
  /// Returns the entry of the i-th cell; ghost cells are -ghosts, ..., -1, n, n + 1, ...
  [[nodiscard]] __device__ int place(int i) const {
    if (i < 0) return storage::ghost_entry(axis, 0, -i) + number;
    if (i >= n) return storage::ghost_entry(axis, 1, i - n + 1) + number;
    return own_place(i);
  }
  /// Returns the entry of the i-th cell, which is not a ghost cell.
  [[nodiscard]] __device__ int own_place(int i) const {
    return storage::cell_entry(first) + i * step;
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
