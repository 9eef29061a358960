// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How advance_blocks divides a block of cells among threads, and its layout of shared memory.

#include <cstddef>
#include <ramify/amr/block_cells.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A block of cells is advanced by a team of threads.
///
/// Along an axis a thread sweeps a run of faces of one line. So the profile in a cell is
/// reconstructed once for the faces on both sides of it, except at the ends of a run. Runs are as
/// short as the number of threads allows. On an H200, double and float, 10^6 updates/s of a uniform
/// mesh of 128^3 launched by the host: runs of 3 faces, 192 threads, 3977 and 6891; runs of 2
/// faces, 320 threads, 3551 and 6204.
template <class Physics, int n>
struct advance_tuning {
  static constexpr int lines = block_cells<Physics::dimensions, n>::per_face;  ///< along an axis
  static constexpr int faces = n + 1;                                          ///< of a line
  static constexpr int run = [] {
    constexpr int threads_at_most = 288;  // before they are rounded up to warps
    int length = 1;
    while (length < faces && (faces + length - 1) / length * lines > threads_at_most) ++length;
    return length;
  }();
  static constexpr int runs = (faces + run - 1) / run;  ///< of a line
  static constexpr int threads = (runs * lines + 31) / 32 * 32;
  /// In a grid that a kernel launched, one block is resident on a multiprocessor at a time,
  /// whatever would fit. There a block has as many teams as there are registers for; in a grid from
  /// the host it has one. With 768 threads of float each has 80 registers; with 576 of double 96
  /// are enough; 384 with 148 take 1.04 of the time from kernels and 1.16 from the host.
  static constexpr int max_teams = [] {
    const int fit = (sizeof(typename Physics::real) == 4 ? 768 : 576) / threads;
    return fit < 1 ? 1 : fit > 4 ? 4 : fit;
  }();
  static constexpr int max_threads = threads * max_teams;
};

/// When flat_loop::automatic launches the steps between two regrids by a graph.
///
/// On an H200 making a graph costs about 22 us and 1 us a grid; an iteration costs 3.9 us and 0.7
/// us a grid, about 10 us for a step. The host needs 2.5 to 4.5 us a grid, 22 to 40 us for a step,
/// but only if the grids take less time than that: otherwise its launches overlap with them. A step
/// of `max_cells` cells takes about 16 us at 4,000 updates/us. With `min_steps` steps a graph costs
/// about as much as the host; with more it costs less.
struct loop_tuning {
  static constexpr std::size_t max_cells = std::size_t{1} << 16;
  static constexpr unsigned min_steps = 4;
  static constexpr double us_of_grid = 0.7;  ///< in a loop

  [[nodiscard]] static constexpr bool graph_pays(std::size_t cells, double steps) {
    return steps >= min_steps && cells <= max_cells;
  }
};

/// The shared memory of a team.
template <class Physics, int n>
struct advance_storage {
  using real = typename Physics::real;
  using tuning = advance_tuning<Physics, n>;
  using cells = block_cells<Physics::dimensions, n>;
  static constexpr int lines = tuning::lines;
  /// Rows of cells along x, with one entry of padding after each row. So the cells of a line are in
  /// other banks than those of the next line, along any axis.
  static constexpr int own = cells::count / n * (n + 1);
  static constexpr int all = own + 2 * cells::ghosts * lines;

  real primitive[Physics::variables]
                [all];  ///< the cells, then two ghost cells at each end of lines
  real change[Physics::variables][own];
  real first_flux[Physics::variables][tuning::runs][lines];  ///< through the first face of each run

  __host__ __device__ static constexpr int of_cell(int cell) { return cell + cell / n; }
  /// The entry of a ghost cell at the end of line 0; those of the next lines follow.
  __host__ __device__ static constexpr int of_end(int side, int depth) {
    return own + (side * cells::ghosts + depth - 1) * lines;
  }
};

/// Where the cells of a line along an axis are in shared memory.
template <class Physics, int n>
struct line_of_cells {
  using storage = advance_storage<Physics, n>;
  using cells = typename storage::cells;

  int number;
  int first = 0;  ///< the number of its first cell
  int step = 0;   ///< between two cells in the storage

  __device__ line_of_cells(int axis, int number) : number(number) {
    // A loop over all axes, so that all divisors are constants.
    for (int a = 0; a < Physics::dimensions; ++a) {
      first = a == axis ? cells::on_line(a, number, 0) : first;
      step = a == axis ? storage::of_cell(cells::stride(a)) : step;
    }
  }
  /// The entry of the i-th cell; ghost cells are -2, -1, n and n + 1.
  [[nodiscard]] __device__ int place(int i) const {
    if (i < 0) return storage::of_end(0, -i) + number;
    if (i >= n) return storage::of_end(1, i - n + 1) + number;
    return own_place(i);
  }
  /// The entry of the i-th cell, which is not a ghost cell.
  [[nodiscard]] __device__ int own_place(int i) const { return storage::of_cell(first) + i * step; }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
