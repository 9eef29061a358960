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
#include <ramify/runtime/team.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What a launch of advance_blocks does.
struct stage_of_step {
  int number;      ///< 0 or 1
  double begin;    ///< of this level's step, counted in steps of level 0
  double length;   ///< of this level's step, likewise
  double elapsed;  ///< since the next coarser level began its step, as a share of that
  bool first;      ///< the first stage since then
};

/// How blocks of cells are worked on: each by a team of threads.
///
/// Along an axis a thread goes through a run of faces of one line, so that the profile in a cell is
/// made once for the faces on both sides of it, but for those at the ends of a run. Runs are as short
/// as a team has threads for. On an H200, double and float, 10^6 updates/s of a uniform mesh of 128^3
/// from the host: runs of 3 faces, 192 threads, 3977 and 6891; of 2 faces, 320 threads, 3551 and 6204.
template <class Physics, int n>
struct stage_tuning {
  static constexpr int lines = block_cells<Physics::dimensions, n>::of_a_face;  ///< along an axis
  static constexpr int faces = n + 1;                                           ///< of a line
  static constexpr int run = [] {
    constexpr int threads_at_most = 288;  // before they are rounded up to warps
    int length = 1;
    while (length < faces && (faces + length - 1) / length * lines > threads_at_most) ++length;
    return length;
  }();
  static constexpr int runs = (faces + run - 1) / run;  ///< of a line
  static constexpr int threads = (runs * lines + 31) / 32 * 32;
  /// A grid that a kernel launched gets one block on a multiprocessor at a time, whatever would fit,
  /// so there a block has as many teams as there are registers for; from the host it has one. With 768
  /// threads of float each has 80 registers, with 576 of double 96 are enough; 384 with 148 take 1.04 of
  /// the time from kernels and 1.16 from the host.
  static constexpr int most_teams = [] {
    const int fit = (sizeof(typename Physics::real) == 4 ? 768 : 576) / threads;
    return fit < 1 ? 1 : fit > 4 ? 4 : fit;
  }();
  static constexpr int most_threads = threads * most_teams;
};

/// What a team shares.
template <class Physics, int n>
struct stage_storage {
  using real = typename Physics::real;
  using tuning = stage_tuning<Physics, n>;
  using cells = block_cells<Physics::dimensions, n>;
  static constexpr int lines = tuning::lines;
  /// Rows of cells along x, each with one more behind it: so a line's cells are in other banks than
  /// those of the next line, along any axis.
  static constexpr int own = cells::count / n * (n + 1);
  static constexpr int all = own + 2 * cells::ghosts * lines;

  real primitive[Physics::variables][all];  ///< the block's, then two ghosts at each end of lines
  real change[Physics::variables][own];
  real first_flux[Physics::variables][tuning::runs][lines];  ///< of each run

  __host__ __device__ static constexpr int of_cell(int cell) { return cell + cell / n; }
  /// Of ghosts, by the line's number.
  __host__ __device__ static constexpr int of_end(int side, int depth) {
    return own + (side * cells::ghosts + depth - 1) * lines;
  }
};

/// Where the cells of a line along an axis are in the storage.
template <class Physics, int n>
struct line_of_cells {
  using storage = stage_storage<Physics, n>;
  using cells = typename storage::cells;

  int number;
  int first = 0;  ///< the number of its first cell
  int step = 0;   ///< between two cells in the storage

  __device__ line_of_cells(int axis, int number) : number(number) {
    // By all axes, so that all divisors are constants.
    for (int a = 0; a < Physics::dimensions; ++a) {
      first = a == axis ? cells::on_line(a, number, 0) : first;
      step = a == axis ? storage::of_cell(cells::stride(a)) : step;
    }
  }
  /// The place of the i-th cell; ghosts are the cells -2, -1, n and n + 1.
  [[nodiscard]] __device__ int place(int i) const {
    if (i < 0) return storage::of_end(0, -i) + number;
    if (i >= n) return storage::of_end(1, i - n + 1) + number;
    return own_place(i);
  }
  /// The same of a cell that is the block's own.
  [[nodiscard]] __device__ int own_place(int i) const { return storage::of_cell(first) + i * step; }
};

/// The faces of a block where levels meet, a bit each.
struct level_faces {
  unsigned finer_here = 0;    ///< a coarser leaf is behind it
  unsigned coarser_here = 0;  ///< the block is a leaf, and finer ones are behind it
};

template <class View>
__device__ level_faces find_level_faces(const View& view, int node) {
  level_faces found;
  if (!view.step.reflux) return found;
  const bool leaf = view.tree.is_leaf(node);
  for (int face = 0; face < view.tree.faces; ++face) {
    const int neighbor = view.tree.neighbor[node * view.tree.faces + face];
    if (neighbor == coarser_neighbor) found.finer_here |= 1u << face;
    if (leaf && neighbor >= 0 && !view.tree.is_leaf(neighbor)) found.coarser_here |= 1u << face;
  }
  return found;
}

/// Advances `count` blocks by a stage, each by a team of threads.
///
/// Reads the values of the stage before in the blocks and around them, and writes those of the next
/// one; so no block waits for another. A block of threads is one team or several; shared memory:
/// sizeof(stage_storage) for each.
template <class View>
__global__ void __launch_bounds__(
    stage_tuning<typename View::physics_type, View::cells_along>::most_threads, 1)
    advance_blocks(View view, const int* nodes, unsigned count, stage_of_step stage) {
  const traced here(view.trace, __func__);
  using physics_type = typename View::physics_type;
  constexpr int n = View::cells_along;
  constexpr int dim = View::dim;
  constexpr int variables = physics_type::variables;
  using real = typename View::real;
  using values = typename View::values;
  using cells = typename View::cells;
  using tuning = stage_tuning<physics_type, n>;
  using storage = stage_storage<physics_type, n>;
  constexpr int lines = tuning::lines;

  const block_team<tuning::threads, tuning::most_teams> team;
  const unsigned number = blockIdx.x * (blockDim.x / tuning::threads) + team.index;
  if (number >= count) return;  // the whole team
  const amr_clock& clock = *view.clock;
  if (clock.time_step == 0) return;  // nothing is left to do
  storage& shared = (&dynamic_shared<storage>())[team.index];
  const auto rank = static_cast<int>(team.rank);
  const int node = nodes[number];
  const auto place = view.tree.place[node];
  const auto dt = static_cast<real>(clock.time_step * stage.length);
  const auto time =
      static_cast<real>(clock.time + clock.time_step * (stage.begin + stage.number * stage.length));
  const level_faces meeting = find_level_faces(view, node);

  surroundings<physics_type, n> around = view.around(stage.number == 0 ? view.now : view.stage);
  if (view.step.subcycle) {
    around.coarser_before = view.before;
    around.coarser_after = view.now;
    around.elapsed = static_cast<real>(stage.elapsed);
  }
  const auto put = [&](int at, const values& conserved) {
    const values primitive = view.physics.to_primitive(conserved);
    for (int v = 0; v < variables; ++v) shared.primitive[v][at] = primitive[v];
  };
  const auto get = [&](int at) {
    values primitive;
    for (int v = 0; v < variables; ++v) primitive[v] = shared.primitive[v][at];
    return primitive;
  };

  // 1. The primitive values of the block's own cells.
  for (int cell = rank; cell < cells::count; cell += tuning::threads) {
    put(storage::of_cell(cell), around.own.load(node, cell));
  }

#if RAMIFY_ON_CUDA
#pragma unroll 1  // once in the instruction cache
#endif
  for (int axis = 0; axis < dim; ++axis) {
    // 2. Two ghost cells at each end of a line.
    for (int item = rank; item < 2 * cells::ghosts * lines; item += tuning::threads) {
      const int side = item / (cells::ghosts * lines);
      const int depth = item / lines % cells::ghosts + 1;
      const line_of_cells<physics_type, n> line(axis, item % lines);
      int at[dim];
      cells::position(line.first + (side == 0 ? 0 : (n - 1) * cells::stride(axis)), at);
      put(storage::of_end(side, depth) + line.number, around.beyond(node, at, axis, side, depth));
    }
    team.sync();

    // 3. The flux through each face of a run, from limited linear profiles on its two sides, and what
    //    flows into the cells between them and does not flow out.
    const int run_number = rank / lines;
    const line_of_cells<physics_type, n> line(axis, rank % lines);
    const int begin = run_number * tuning::run;
    const int end = begin + tuning::run < n + 1 ? begin + tuning::run : n + 1;
    const real spacing = view.spacing(place.level, axis);
    const real ratio = times(dt, reciprocal(spacing));
    const auto add = [&](int i, const values& difference) {
      for (int v = 0; v < variables; ++v) {
        real& change = shared.change[v][line.own_place(i)];
        const real more = times(ratio, difference[v]);
        change = axis == 0 ? more : change + more;
      }
    };
    values flux{};
    if (run_number < tuning::runs) {
      int at[dim];
      cells::position(line.first, at);
      real centre[dim];
      view.centre(place, at, centre);
      values cell = get(line.place(begin - 1));
      values above = get(line.place(begin));
      values left =
          edges_of_cell(view.physics, get(line.place(begin - 2)), cell, above, around.limited)
              .upper;
      RAMIFY_UNROLL
      for (int k = 0; k < tuning::run; ++k) {
        const int face = begin + k;  // between the cells face - 1 and face
        if (face >= end) break;
        const values below = cell;
        cell = above;
        above = get(line.place(face + 1));
        const auto edges = edges_of_cell(view.physics, below, cell, above, around.limited);
        real where[dim];
        for (int a = 0; a < dim; ++a) {
          where[a] = a == axis ? centre[a] + times(real(face) - real(0.5), spacing) : centre[a];
        }
        const values next = view.physics.flux(left, edges.lower, axis, where, time);
        left = edges.upper;
        if (k == 0) {
          for (int v = 0; v < variables; ++v)
            shared.first_flux[v][run_number][line.number] = next[v];
        } else {
          add(face - 1, flux - next);
        }
        flux = next;
      }
    }
    team.sync();

    // 4. The cell between the run's last face and the next run's first one. Where levels meet sums are
    //    kept: the coarser side's over one of its steps, the finer one's over all of its within that.
    if (run_number < tuning::runs) {
      const auto first_of = [&](int which) {
        values first;
        for (int v = 0; v < variables; ++v) first[v] = shared.first_flux[v][which][line.number];
        return first;
      };
      const auto keep = [&](int side, const values& flows) {
        const unsigned bit = 1u << face_of(axis, side);
        const bool finer_here = (meeting.finer_here & bit) != 0;
        if (!finer_here && (meeting.coarser_here & bit) == 0) return;
        const bool forget = finer_here ? stage.first : stage.number == 0;
        for (int v = 0; v < variables; ++v) {
          real& sum = view.flow(node, face_of(axis, side), v)[line.number];
          const real more = times(real(0.5) * dt, flows[v]);
          sum = forget ? more : sum + more;
        }
      };
      if (run_number == 0) keep(0, first_of(0));
      if (run_number + 1 < tuning::runs) {
        add(end - 1, flux - first_of(run_number + 1));
      } else {
        keep(1, flux);
      }
    }
  }
  team.sync();

  // 5. The new values.
  for (int cell = rank; cell < cells::count; cell += tuning::threads) {
    values change;
    for (int v = 0; v < variables; ++v) change[v] = shared.change[v][storage::of_cell(cell)];
    const values u = view.now.load(node, cell);
    if (stage.number == 0) {
      view.stage.store(node, cell, u + change);
    } else {
      if (view.step.subcycle) view.before.store(node, cell, u);
      const values last = view.stage.load(node, cell);
      view.now.store(node, cell, real(0.5) * (u + (last + change)));
    }
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
