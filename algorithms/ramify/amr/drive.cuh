// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The phases of a run as sequences of grids, launched by the host or by a kernel with the same code.
///
/// A phase is a sequence of grids, one after another in a stream, whose sizes are known when it
/// begins. What it found out is in the clock when it is complete, and its last grid, settle(), says
/// what is next. The flat route waits, reads the clock, and launches the next phase. The device
/// route has a kernel, drive(), that launches a phase and then itself behind it: a tail launch, the
/// only join that a kernel has.
///
/// Where levels take steps of their own a step is a recursion: a level takes its step, the next
/// finer one takes two, and then the fluxes between them are corrected.

#include <ramify/amr/decide.cuh>
#include <ramify/amr/order.cuh>
#include <ramify/amr/stage.cuh>
#include <ramify/amr/synchronize.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr unsigned list_threads = 128;  ///< a block, of kernels with a thread for an entry

/// Launches the grids of a phase one after another into a stream. A launch that fails is the last
/// one. How far a phase has come is counted, so that the host can go on with one that a kernel began:
/// its sequence leaves out the grids that were launched already.
class launch_sequence {
 public:
  /// From the host, leaving out the first `done` grids.
  __host__ __device__ explicit launch_sequence(cudaStream_t stream, unsigned done = 0)
      : stream_(stream), done_(done) {}
  /// From a kernel, behind `*counter` grids of the phase, where the count is kept.
  __device__ launch_sequence(cudaStream_t stream, unsigned* counter)
      : stream_(stream), reached_(*counter), counter_(counter) {}

  /// A grid of no blocks is left out, and not counted.
  template <class... Parameters, class... Arguments>
  __host__ __device__ void operator()(void (*kernel)(Parameters...), const launch_shape& shape,
                                      const Arguments&... arguments) {
    if (shape.grid.x == 0 || error_ != cudaSuccess) return;
    ++reached_;
    if (reached_ <= done_) return;
    // Counted before the launch, because the last grid of a phase sets the count to 0.
    if (counter_ != nullptr) *counter_ = reached_;
    const auto status = launch(kernel, shape, stream_, arguments...);
    error_ = status.code();
    if (status) {
      ++launched_;
    } else if (counter_ != nullptr) {
      *counter_ = reached_ - 1;
    }
  }

  [[nodiscard]] __host__ __device__ bool from_kernel() const { return counter_ != nullptr; }
  [[nodiscard]] __host__ __device__ unsigned launched() const { return launched_; }
  [[nodiscard]] __host__ __device__ cudaError_t error() const { return error_; }

 private:
  cudaStream_t stream_;
  unsigned done_ = 0;
  unsigned reached_ = 0;
  unsigned launched_ = 0;
  unsigned* counter_ = nullptr;
  cudaError_t error_ = cudaSuccess;
};

__host__ __device__ inline unsigned blocks_for(unsigned long long threads) {
  return static_cast<unsigned>((threads + list_threads - 1) / list_threads);
}

[[nodiscard]] __host__ __device__ inline int finest_level(const amr_clock& clock, int max_level) {
  int level = max_level;
  while (level > 0 && clock.level_begin[level] == clock.level_begin[level + 1]) --level;
  return level;
}

// ---- steps -------------------------------------------------------------------------------------

/// Launches a stage of some blocks.
template <class View>
__host__ __device__ void launch_stage(const View& view, launch_sequence& run, const int* nodes,
                                      unsigned count, const stage_of_step& stage) {
  using storage = stage_storage<typename View::physics_type, View::cells_along>;
  using tuning = stage_tuning<typename View::physics_type, View::cells_along>;
  if (count == 0) return;
  unsigned teams = 1;
  if (run.from_kernel()) {
    // No more than it takes to have all blocks under way at once.
    const unsigned wanted = (count + view.resident - 1) / view.resident;
    teams = wanted < view.teams ? wanted : view.teams;
  }
  run(advance_blocks<View>,
      {(count + teams - 1) / teams, teams * tuning::threads, teams * sizeof(storage)}, view, nodes,
      count, stage);
}

/// Launches both stages of a step of some blocks.
template <class View>
__host__ __device__ void launch_stages(const View& view, launch_sequence& run, const int* nodes,
                                       unsigned count, unsigned covered_nodes,
                                       stage_of_step stage) {
  stage.number = 0;
  launch_stage(view, run, nodes, count, stage);
  run(average_covered<View>, {covered_nodes, synchronize_threads}, view, view.stage);
  stage.number = 1;
  stage.elapsed += 0.5;
  stage.first = false;
  launch_stage(view, run, nodes, count, stage);
}

/// Launches the look at all cells that every step begins with, and the choice of its length.
template <class View>
__host__ __device__ void launch_choice(const View& view, const amr_clock& clock,
                                       launch_sequence& run) {
  run(measure_cells<View>, {clock.leaves, synchronize_threads}, view);
  run(choose_step<View>, {1, 1}, view);
}

/// A step of all levels at once.
template <class View>
__host__ __device__ void launch_step(const View& view, const amr_clock& clock,
                                     launch_sequence& run) {
  launch_choice(view, clock, run);
  launch_stages(view, run, view.lists.leaves, clock.leaves, clock.covered,
                {0, 0.0, 1.0, 0.0, true});
  if (view.step.reflux && clock.covered > 0) {
    run(correct_fluxes<View>, {clock.leaves, synchronize_threads}, view, view.lists.leaves);
  }
  run(average_covered<View>, {clock.covered, synchronize_threads}, view, view.now);
  run(finish_step<View>, {1, 1}, view);
}

/// What a level does for a step of its own, before the finer levels take theirs.
template <class View>
__host__ __device__ void launch_level(const View& view, const amr_clock& clock, int level,
                                      double begin, bool first, launch_sequence& run) {
  const unsigned nodes = clock.level_begin[level];
  // Inner nodes take the step too: they are what leaves beside them see in its second stage.
  launch_stages(view, run, view.lists.nodes + nodes, clock.level_begin[level + 1] - nodes, 0,
                {0, begin, 1.0 / double(1u << level), first ? 0.0 : 0.5, first});
}

/// What makes a level and the finer ones one again after their steps.
template <class View>
__host__ __device__ void launch_synchronization(const View& view, const amr_clock& clock, int level,
                                                launch_sequence& run) {
  const int* nodes = view.lists.nodes + clock.level_begin[level];
  const launch_shape shape(clock.level_begin[level + 1] - clock.level_begin[level],
                           synchronize_threads);
  if (view.step.reflux) run(correct_fluxes<View>, shape, view, nodes);
  run(average_nodes<View>, shape, view, view.now, nodes);
}

/// The recursion over the levels, from the host. `begin` is counted in steps of level 0.
template <class View>
void advance_level_from_host(const View& view, const amr_clock& clock, int level, double begin,
                             bool first, launch_sequence& run) {
  launch_level(view, clock, level, begin, first, run);
  if (level == finest_level(clock, view.tree.max_level)) return;
  const double half = 0.5 / double(1u << level);
  advance_level_from_host(view, clock, level + 1, begin, true, run);
  advance_level_from_host(view, clock, level + 1, begin + half, false, run);
  launch_synchronization(view, clock, level, run);
}

// ---- the other phases --------------------------------------------------------------------------

template <class View>
__host__ __device__ unsigned numbers_in_use(const View& view, const amr_clock& clock) {
  return view.tree.root_count() + clock.families * view.tree.siblings;
}

/// A phase of a look at the mesh.
template <class View, class Fill>
__host__ __device__ void launch_look(const View& view, const amr_clock& clock, const Fill& fill,
                                     launch_sequence& run) {
  const unsigned siblings = view.tree.siblings;
  const unsigned nodes = clock.level_begin[view.tree.max_level + 1];
  switch (clock.next) {
    case amr_phase::idle:
    case amr_phase::step: return;
    case amr_phase::average:
      for (int level = finest_level(clock, view.tree.max_level) - 1; level >= 0; --level) {
        const unsigned begin = clock.level_begin[level];
        run(average_nodes<View>, {clock.level_begin[level + 1] - begin, adapt_threads}, view,
            view.now, view.lists.nodes + begin);
      }
      break;
    case amr_phase::examine:
      run(examine_blocks<View>,
          {clock.creating == 0 ? clock.leaves : clock.creating * siblings, adapt_threads}, view);
      break;
    case amr_phase::ripple:
      run(ripple_marks<View>, {blocks_for(clock.rippling * view.tree.directions), list_threads},
          view);
      break;
    case amr_phase::create: {
      run(reserve_children<View>, {1, 1}, view);
      if (run.from_kernel() && view.regrid.launches.grain != granularity::per_grid) {
        run(spawn_children<View, Fill>,
            {(clock.creating + adapt_threads - 1) / adapt_threads, adapt_threads}, view, fill);
      } else {
        run(create_children<View, Fill>, {blocks_to_create(view, clock.creating), adapt_threads},
            view, fill, 0u, clock.creating, false);
      }
      run(publish_children<View>, {blocks_for(clock.creating), list_threads}, view);
      // Families that are free are used first.
      const unsigned fresh =
          clock.creating > clock.free_families ? clock.creating - clock.free_families : 0;
      const unsigned numbers = numbers_in_use(view, clock) + fresh * siblings;
      run(link_neighbors<View>, {blocks_for(1ull * numbers * view.tree.faces), list_threads}, view,
          numbers);
      break;
    }
    case amr_phase::judge:
      run(judge_families<View>, {blocks_for(nodes), list_threads}, view, nodes);
      break;
    case amr_phase::remove: run(remove_children<View>, {clock.leaving, adapt_threads}, view); break;
    case amr_phase::arrange: {
      const unsigned numbers = numbers_in_use(view, clock);
      run(link_neighbors<View>, {blocks_for(1ull * numbers * view.tree.faces), list_threads}, view,
          numbers);
      run(order_blocks<View>, {1, order_threads}, view);
      break;
    }
  }
  run(settle<View>, {1, 1}, view);
}

/// A phase, from the host.
template <class View, class Fill>
void launch_phase_from_host(const View& view, const amr_clock& clock, const Fill& fill,
                            launch_sequence& run) {
  if (clock.next != amr_phase::step) {
    launch_look(view, clock, fill, run);
    return;
  }
  for (unsigned step = 0; step < clock.batch; ++step) {
    if (!view.step.subcycle) {
      launch_step(view, clock, run);
      continue;
    }
    launch_choice(view, clock, run);
    advance_level_from_host(view, clock, 0, 0.0, true, run);
    run(finish_step<View>, {1, 1}, view);
  }
  run(settle<View>, {1, 1}, view);
}

// ---- the same from kernels ---------------------------------------------------------------------

inline constexpr unsigned grids_of_step = 8;  ///< that launch_step launches, at most

/// Launch slots that a phase must have: for its grids, and for the driver behind it.
[[nodiscard]] __host__ __device__ inline unsigned slots_of_phase(int max_level, bool subcycle,
                                                                 unsigned steps = 1) {
  const unsigned levels = static_cast<unsigned>(max_level) + 1;
  // Of a recursion, each level has at most 3 grids and 3 tail launches pending.
  const unsigned step = subcycle ? 6 * levels + 4 : grids_of_step * steps + 2;
  const unsigned look = (levels > 4 ? levels : 4) + 2;
  return step > look ? step : look;
}

/// Ends a sequence of a kernel's launches: counts them, and stops the run if one failed.
template <class View>
__device__ bool conclude(const View& view, const launch_sequence& run, const char* kernel) {
  view.status->count_children(run.launched(), 1);
  if (run.error() == cudaSuccess) return true;
  view.clock->stopped = 1;
  if (run.error() != cudaErrorLaunchPendingCountExceeded) {
    view.status->record_error(run.error(), kernel, 0);
  }
  return false;
}

/// Launches a kernel of one thread behind this grid and all that it has launched.
template <class View, class... Parameters, class... Arguments>
__device__ void launch_behind(const View& view, const char* name, void (*kernel)(Parameters...),
                              const Arguments&... arguments) {
  if (view.clock->stopped != 0) return;
  launch_sequence behind(tail_launch());
  behind(kernel, {1, 1}, arguments...);
  static_cast<void>(conclude(view, behind, name));
}

/// Corrects what a level and the next finer one disagree about. One thread.
template <class View>
__global__ void synchronize_level(View view, int level) {
  const traced here(view.trace, __func__);
  if (view.clock->stopped != 0) return;
  launch_sequence run(null_stream(), &view.clock->launched);
  launch_synchronization(view, *view.clock, level, run);
  static_cast<void>(conclude(view, run, __func__));
}

/// The recursion over the levels, from kernels. One thread.
template <class View>
__global__ void advance_level(View view, int level, double begin, bool first) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  if (clock.stopped != 0) return;
  // 1. This level's step.
  launch_sequence run(null_stream(), &clock.launched);
  launch_level(view, clock, level, begin, first, run);
  if (!conclude(view, run, __func__)) return;
  // 2. Base case: there is no finer level.
  if (level == finest_level(clock, view.tree.max_level)) return;
  // 3. Recurse: the next finer level takes two steps. Join: tail launches run one after another,
  //    each when all that the one before it has launched is complete.
  const double half = 0.5 / double(1u << level);
  launch_behind(view, __func__, advance_level<View>, view, level + 1, begin, true);
  launch_behind(view, __func__, advance_level<View>, view, level + 1, begin + half, false);
  launch_behind(view, __func__, synchronize_level<View>, view, level);
}

template <class View, class Fill>
__global__ void drive(View view, Fill fill);

/// The end of a step of the recursion. One thread.
template <class View, class Fill>
__global__ void end_step(View view, Fill fill) {
  const traced here(view.trace, __func__);
  if (view.clock->stopped != 0) return;
  launch_sequence run(null_stream(), &view.clock->launched);
  run(finish_step<View>, {1, 1}, view);
  run(settle<View>, {1, 1}, view);
  if (!conclude(view, run, __func__)) return;
  launch_behind(view, __func__, drive<View, Fill>, view, fill);
}

/// Launches the next phase, and itself behind it. One thread. If there are no slots for that, the
/// host goes on.
template <class View, class Fill>
__global__ void drive(View view, Fill fill) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  // 1. The last phase is complete.
  view.slots.release(clock.held);
  clock.held = 0;
  // 2. Base case: nothing is left to do.
  if (clock.next == amr_phase::idle || clock.stopped != 0) return;
  // 3. Slots: for as many steps as there are slots for, or none.
  const bool recursion = view.step.subcycle;
  unsigned slots = slots_of_phase(view.tree.max_level, recursion,
                                  clock.next == amr_phase::step ? clock.batch : 1);
  if (!view.slots.acquire(*view.status, slots)) {
    if (clock.next == amr_phase::step) clock.batch = 1;
    slots = slots_of_phase(view.tree.max_level, recursion);
    if (!view.slots.acquire(*view.status, slots)) {
      clock.stopped = 1;
      atomicAdd(&view.status->spilled, 1ull);
      return;
    }
  }
  clock.held = slots;
  // 4. The phase, one grid after another.
  launch_sequence run(null_stream(), &clock.launched);
  if (clock.next == amr_phase::step && recursion) {
    launch_choice(view, clock, run);
    if (!conclude(view, run, __func__)) return;
    launch_behind(view, __func__, advance_level<View>, view, 0, 0.0, true);
    launch_behind(view, __func__, end_step<View, Fill>, view, fill);
    return;
  }
  if (clock.next == amr_phase::step) {
    // What settle() writes is not read here any more: it may run before this kernel ends.
    const unsigned steps = clock.batch;
    for (unsigned step = 0; step < steps; ++step) launch_step(view, clock, run);
    run(settle<View>, {1, 1}, view);
  } else {
    launch_look(view, clock, fill, run);
  }
  if (!conclude(view, run, __func__)) return;
  // 5. Recurse. Join: a tail launch begins when the phase is complete.
  launch_behind(view, __func__, drive<View, Fill>, view, fill);
}

/// Gives back the slots of a chain of drivers that ended before its time. One thread.
template <class View>
__global__ void release_slots(View view) {
  const traced here(view.trace, __func__);
  view.slots.release(view.clock->held);
  view.clock->held = 0;
}

}  // namespace ramify::inline RAMIFY_BUILD
