// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The rounds of a quadrature, and their kernels.
///
///     1. evaluate  split the listed regions; each half is evaluated. In a check (checks.cuh):
///                  evaluate other points of all regions
///     2. sum       add all estimates and errors. If the sum of errors is within the tolerance,
///                  stop if the round was a check, else check next
///     3. select    count the regions whose error is over their share, in bins by the ratio of
///                  both; choose the lowest bin that the remaining evaluations allow
///     4. list      list the regions in this bin and the higher ones
///
/// Recurse: after `list` the next round begins. How many grids a round has depends on its size
/// (round_bounds):
///
///     small   no grid of its own: the block of run_small_rounds() runs round 0 and all rounds
///             until one is larger. Only one SM works in a small round, so each of its lanes
///             evaluates only a few points
///     medium  one grid, `evaluate`, whose last block does the rest of the round (round_end.cuh)
///     large   four grids
///
/// Each grid is a phase, which is a round of the launch chain. Join: the last block of each grid
/// launches the next grid.
///
/// A region's share is the tolerance divided by the number of regions. If no region is over its
/// share, the sum is within the tolerance. So there is no priority queue: all regions over their
/// share are split at once (breadth first, as PAGANI does). The others are kept, because each split
/// makes the shares smaller.

#include <ramify/quadrature/round_end.cuh>
#include <ramify/quadrature/splits.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Ends a phase: writes the state and launches the next grid. If `launches` is false, the kernel is
/// in the loop body of a graph and must not contain device launches. One thread calls it.
template <bool launches, class Program>
__device__ void end_phase(const Program& program, const round_state& next, const char* kernel) {
  *program.state = next;
  if constexpr (launches) end_round(program, next, kernel);
}

/// Ends a phase in which all threads of the block have written what the next grid reads. All
/// threads of the block call it.
template <bool launches, class Program>
__device__ void end_phase_of_block(const Program& program, const round_state& next,
                                   const char* kernel) {
  // Thread 0 launches. The fence and the barrier put the writes of all threads before the launch.
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) end_phase<launches>(program, next, kernel);
}

/// Shared memory of a block of `warps` warps that runs small rounds.
template <class Program, unsigned warps = small_warps>
struct small_memory {
  team_memory<Program::dimensions, warps> teams;
  end_memory<32 * warps> ends;
  double excesses[max_shared_batches];
};

/// Runs round 0 and the small rounds after it in a block of `warps` warps, at least two. Returns
/// the state after them, to all threads. All threads of the block call it. (Inlined as in
/// splits.cuh.)
template <class Program, unsigned warps>
__device__ __forceinline__ round_state small_rounds(const Program& program,
                                                    small_memory<Program, warps>& memory) {
  if (threadIdx.x == 0) *program.not_finite = Program::none;
  __syncthreads();
  round_state now{};
  now.regions = 1;
  do {
    if (now.check_points != 0) {
      check_in_block<warps>(program, now, memory.excesses);
    } else {
      const unsigned warps_per_team = now.rounds == 0 ? team_size(Program::points, warps, 1, warps)
                                                      : Program::small_team(now.splits, warps);
      evaluate_in_teams<warps>(program, now, warps_per_team, 0, 1, memory.teams);
    }
    now = end_round_in_block(program, after_evaluation<Program>(now), memory.ends);
  } while (now.ended == 0 && program.is_small(now));
  return now;
}

/// Runs the small rounds, and writes the state. Reads no memory that an earlier grid has written.
template <class Program>
__global__ void __maxnreg__(max_registers(small_threads)) run_small_rounds(Program program) {
  const traced here(program.trace, __func__);
  __shared__ small_memory<Program> memory;
  end_phase_of_block<true>(program, small_rounds(program, memory), __func__);
}

/// 1. Splits the listed regions: in teams of a block or, if there are many, each by a warp. In a
/// check, warps check all regions. The last block ends the round if there are few regions.
///
/// The bound of 128 registers a thread gives 16 warps on an SM instead of 8.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(threads, 2)) evaluate_splits(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::evaluate)) return;
  constexpr unsigned d = Program::dimensions;
  __shared__ team_memory<d, warps> teams;
  const unsigned warp = threadIdx.x / 32;
  if (now.check_points != 0) {
    for (unsigned i = blockIdx.x * warps + warp; i < now.regions; i += gridDim.x * warps) {
      check_region(program, now, i);
    }
  } else if (now.splits <= program.bounds.block_splits) {
    evaluate_in_teams<warps>(program, now, Program::team_of_half(), blockIdx.x, gridDim.x, teams);
  } else {
    for (unsigned i = blockIdx.x * warps + warp; i < now.splits; i += gridDim.x * warps) {
      split_region(program, now, i, teams.axis_values[warp]);
    }
  }
  // Join: the last block has all estimates. (Blocks without splits arrive, too. Otherwise they
  // could begin after the last one and read its state.)
  if (!program.is_last_block(gridDim.x)) return;
  round_state next = after_evaluation<Program>(now);
  __shared__ end_memory<threads> ends;
  if (next.regions <= program.bounds.block_regions) next = end_round_in_block(program, next, ends);
  end_phase_of_block<launches>(program, next, __func__);
}

/// 2. Adds all estimates and errors: first those of each chunk, then, in the last block, the sums
/// of the chunks.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(threads)) sum_regions(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::sum)) return;
  using reduce = block_reduce<bounded, threads>;
  __shared__ typename reduce::TempStorage storage;
  const unsigned chunks = chunk::count(now.regions);
  for (unsigned c = blockIdx.x; c < chunks; c += gridDim.x) {
    const chunk mine = chunk::number(c, now.regions);
    bounded sum{};
    for (unsigned i = mine.begin + threadIdx.x; i < mine.end; i += threads) {
      sum = add_bounded{}(sum, program.regions.estimates[i]);
    }
    sum = reduce(storage).Reduce(sum, add_bounded{});
    if (threadIdx.x == 0) program.chunk_totals[c] = sum;
    __syncthreads();
  }
  // Join: the last block has the sums of all chunks.
  if (!program.is_last_block(gridDim.x)) return;
  bounded total{};
  for (unsigned c = threadIdx.x; c < chunks; c += threads) {
    total = add_bounded{}(total, program.chunk_totals[c]);
  }
  total = reduce(storage).Reduce(total, add_bounded{});
  if (threadIdx.x == 0) {
    end_phase<launches>(program, judge_round(program, now, total), __func__);
  }
}

/// 3. Counts the regions of each chunk in each bin. The last block chooses the lowest bin.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(threads)) select_regions(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::select)) return;
  const unsigned t = threadIdx.x;
  const unsigned chunks = chunk::count(now.regions);
  __shared__ unsigned counts[bins];
  for (unsigned c = blockIdx.x; c < chunks; c += gridDim.x) {
    if (t < bins) counts[t] = 0;
    __syncthreads();
    const chunk mine = chunk::number(c, now.regions);
    count_in_bins(program, now, mine.begin + t, mine.end, threads, counts);
    __syncthreads();
    if (t < bins) program.chunk_bins[c][t] = counts[t];
    __syncthreads();
  }
  // Join: the last block has the counts of all chunks.
  if (!program.is_last_block(gridDim.x)) return;
  if (t < bins) counts[t] = 0;
  __syncthreads();
  for (unsigned c = t / bins; c < chunks; c += threads / bins) {
    atomicAdd(&counts[t % bins], program.chunk_bins[c][t % bins]);
  }
  __syncthreads();
  __shared__ round_state next;
  if (t == 0) next = choose_splits(program, now, counts);
  __syncthreads();
  // The first entry of each chunk in the list of splits: a scan over the numbers of its splits.
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  constexpr unsigned each = max_chunks / threads;
  unsigned of_chunk[each];
  unsigned sum = 0;
  for (unsigned i = 0; i < each; ++i) {
    const unsigned c = t * each + i;
    of_chunk[i] = 0;
    for (unsigned bin = next.lowest_bin; c < chunks && bin < bins; ++bin) {
      of_chunk[i] += program.chunk_bins[c][bin];
    }
    sum += of_chunk[i];
  }
  unsigned first = 0;
  unsigned total = 0;
  scan(storage).ExclusiveSum(sum, first, total);
  for (unsigned i = 0; i < each; first += of_chunk[i++]) {
    if (t * each + i < chunks) program.chunk_first[t * each + i] = first;
  }
  end_phase_of_block<launches>(program, next, __func__);
}

/// 4. Lists the regions to split, in the order of their numbers. Before min_evaluations is reached,
/// there may be more candidates than splits; the first ones are listed.
template <bool launches, class Program>
__global__ void __maxnreg__(max_registers(threads)) list_splits(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::list)) {
    // A graph launches all grids of a round, also if an earlier one has ended it.
    if constexpr (!launches) {
      if (blockIdx.x == 0 && threadIdx.x == 0) end_iteration(program, now);
    }
    return;
  }
  const unsigned chunks = chunk::count(now.regions);
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  for (unsigned c = blockIdx.x; c < chunks; c += gridDim.x) {
    const chunk mine = chunk::number(c, now.regions);
    unsigned first = program.chunk_first[c];
    for (unsigned begin = mine.begin; begin < mine.end; begin += threads) {
      const unsigned i = begin + threadIdx.x;
      const bool splits =
          i < mine.end && program.bin_of(now, i) >= static_cast<int>(now.lowest_bin);
      unsigned rank = 0;
      unsigned total = 0;
      scan(storage).ExclusiveSum(splits ? 1u : 0u, rank, total);
      if (splits && first + rank < now.splits) program.split_list[first + rank] = i;
      first += total;
      __syncthreads();
    }
  }
  // Join: the last block has the whole list.
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  const round_state next = before_evaluation(program, now);
  end_phase<launches>(program, next, __func__);
  if constexpr (!launches) end_iteration(program, next);
}

/// Returns `s` with the phase that follows. With `evaluate` a new round begins.
[[nodiscard]] __host__ __device__ inline round_state followed_by(phase due, round_state s) {
  s.due = due;
  if (due == phase::evaluate) ++s.rounds;
  return s;
}

/// Returns the expected state after `evaluate`: each round splits twice as many regions as the one
/// before. If a round has more regions than expected, it may need grids that the host did not
/// launch; then the later grids do nothing, and the host reads the state.
[[nodiscard]] __host__ __device__ inline round_state expected_after_evaluation(
    round_state s, const round_bounds& bounds) {
  constexpr unsigned most_regions = 1u << 30;
  constexpr unsigned most_splits = 1u << 17;  // of which it is not certain that they exist
  const bool is_check = s.check_points != 0;
  const unsigned splits = is_check ? s.regions : 2 * s.splits;
  const unsigned regions = is_check ? s.regions : s.regions + s.splits;
  s.regions = regions < most_regions ? regions : most_regions;
  s.splits = splits < most_splits ? splits : most_splits;
  s.check_points = 0;
  return followed_by(regions > bounds.block_regions ? phase::sum : phase::evaluate, s);
}

/// The sizes of later rounds are not known to the host; the kernels stride over any number of
/// regions.
template <unsigned d, class Integrand>
template <class Row>
__host__ __device__ void quadrature_program<d, Integrand>::phase_table(const round_state& s,
                                                                       Row& row) const {
  using program = quadrature_program;
  const launch_shape chunks{chunk::count(s.regions), threads};
  switch (s.due) {
    case phase::begin: return row(run_small_rounds<program>, {1, small_threads});
    case phase::evaluate:
      return row(evaluate_splits<true, program>, {blocks_of(s), threads},
                 expected_after_evaluation(s, bounds));
    case phase::sum: return row(sum_regions<true, program>, chunks, followed_by(phase::select, s));
    case phase::select:
      return row(select_regions<true, program>, chunks, followed_by(phase::list, s));
    case phase::list:
      return row(list_splits<true, program>, chunks, followed_by(phase::evaluate, s));
  }
}

/// Launches the four grids of a round, which a graph repeats.
template <unsigned d, class Integrand>
template <class Grids>
void quadrature_program<d, Integrand>::launch_repeated(const round_state&, Grids& grids) const {
  using program = quadrature_program;
  constexpr unsigned blocks = 512;  // for any number of regions; the kernels stride over them
  grids(evaluate_splits<false, program>, {2 * blocks, threads}, *this);
  grids(sum_regions<false, program>, {blocks, threads}, *this);
  grids(select_regions<false, program>, {blocks, threads}, *this);
  grids(list_splits<false, program>, {blocks, threads}, *this);
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
