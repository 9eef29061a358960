// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The rounds of a quadrature, and their kernels.
///
///     1. select    count the regions whose error is over their share, in bins by the ratio of
///                  both; choose the lowest bin that the remaining evaluations allow
///     2. list      list the regions in this bin and the higher ones
///     3. evaluate  split each of them: one warp evaluates both halves
///     4. sum       add all estimates and errors; stop if the sum of errors is within the tolerance
///
/// Recurse: after `sum` the next round begins. Each of the four is a step of the launch chain with
/// one grid. Join: the last block of each grid launches the next grid.
///
/// A region's share is the tolerance divided by the number of regions. If no region is over its
/// share, the sum is within the tolerance. So there is no priority queue: all regions over their
/// share are split at once (breadth first, as PAGANI does). The others are kept, because each split
/// makes the shares smaller.

#include <ramify/quadrature/program.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch_chain.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Ends a phase: writes the state and launches the next grid. If `launches` is false, the kernel is
/// in the loop body of a graph and must not contain device launches: it ends the iteration instead,
/// after the last phase of a round. One thread calls it.
template <bool launches, class Program>
__device__ void end_phase(const Program& program, const round_state& next, const char* kernel) {
  *program.state = next;
  if constexpr (launches) {
    end_step(program, next, kernel);
  } else if (next.due == phase::select) {
    end_iteration(program, next);
  }
}

/// 1. Counts the regions of each chunk in each bin. The last block chooses the lowest bin.
template <bool launches, class Program>
__global__ void __launch_bounds__(threads) select_regions(Program program) {
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
    for (unsigned i = mine.begin + t; i < mine.end; i += threads) {
      const int bin = program.bin_of(now, i);
      if (bin >= 0) atomicAdd(&counts[bin], 1u);
    }
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
  __threadfence();
  __syncthreads();
  if (t == 0) end_phase<launches>(program, next, __func__);
}

/// 2. Lists the regions to split, in the order of their numbers. Before min_evaluations is reached,
/// there may be more candidates than splits; the first ones are listed.
template <bool launches, class Program>
__global__ void __launch_bounds__(threads) list_splits(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::list)) return;
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  for (unsigned c = blockIdx.x; c < chunk::count(now.regions); c += gridDim.x) {
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
  round_state next = now;
  next.due = phase::evaluate;
  end_phase<launches>(program, next, __func__);
}

/// Splits a region and evaluates both halves. The lower half replaces the region, and the upper
/// half is appended. All lanes of a warp call it. `item` is the number of the split in this round;
/// its points have the numbers from 2 * item * points on. `kept` is as for evaluate_region().
template <class Program>
__device__ void split_region(const Program& program, const round_state& now, unsigned item,
                             double* kept) {
  constexpr unsigned d = Program::dimensions;
  const region_list<d>& regions = program.regions;
  const unsigned lower = program.split_list[item];
  const unsigned upper = now.regions + item;
  quadrature_box<d> boxes[2] = {regions.boxes[lower], regions.boxes[lower]};
  const bounded whole = regions.estimates[lower];
  const unsigned axis = regions.axes[lower];
  const double center = middle(boxes[0], axis);
  for (unsigned i = 0; i < d; ++i) {
    if (i == axis) boxes[0].high[i] = boxes[1].low[i] = center;
  }
  region_estimate halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned long long number = (2ull * item + half) * Program::points;
    halves[half] = evaluate_region(boxes[half], program.f, kept, number, program.not_finite);
  }
  compare_with_whole(whole, halves[0].estimate, halves[1].estimate);
  if (threadIdx.x % 32 != 0) return;  // all lanes have read the region
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned place = half == 0 ? lower : upper;
    regions.boxes[place] = boxes[half];
    regions.estimates[place] = halves[half].estimate;
    regions.round_offs[place] = halves[half].round_off;
    regions.axes[place] = halves[half].axis;
  }
}

/// 3. Splits the listed regions, each by one warp. In round 0 one warp evaluates the domain.
template <bool launches, class Program>
__global__ void __launch_bounds__(32 * warps) evaluate_splits(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::evaluate)) return;
  constexpr unsigned d = Program::dimensions;
  __shared__ double kept[warps][cubature_rule<d>::kept + 1];
  const unsigned warp = threadIdx.x / 32;
  if (now.rounds == 0) {
    if (blockIdx.x == 0 && warp == 0) {
      const region_estimate whole =
          evaluate_region(program.regions.boxes[0], program.f, kept[0], 0, program.not_finite);
      if (threadIdx.x == 0) {
        program.regions.estimates[0] = whole.estimate;
        program.regions.round_offs[0] = whole.round_off;
        program.regions.axes[0] = whole.axis;
      }
    }
  } else {
    for (unsigned i = blockIdx.x * warps + warp; i < now.splits; i += gridDim.x * warps) {
      split_region(program, now, i, kept[warp]);
    }
  }
  // Join: the last block has all estimates.
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  round_state next = now;
  next.due = phase::sum;
  next.regions = now.regions + now.splits;
  next.evaluations += Program::points * (now.rounds == 0 ? 1ull : 2ull * now.splits);
  ++next.rounds;
  end_phase<launches>(program, next, __func__);
}

/// 4. Adds all estimates and errors: first those of each chunk, then, in the last block, the sums
/// of the chunks.
template <bool launches, class Program>
__global__ void __launch_bounds__(threads) sum_regions(Program program) {
  const traced here(program.trace, __func__);
  const round_state now = *program.state;
  if (!program.is_due(now, phase::sum)) {
    // A graph launches all grids of a round, also after the quadrature has ended in `select`.
    if constexpr (!launches) {
      if (blockIdx.x == 0 && threadIdx.x == 0) end_iteration(program, now);
    }
    return;
  }
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

/// Launches the due phase. A kernel launches its one grid. The host launches all remaining grids of
/// the round, in sizes that always suffice, so that it reads the state once a round.
template <unsigned d, class Integrand>
template <class Grids>
__host__ __device__ void quadrature_program<d, Integrand>::launch_step(const round_state& s,
                                                                       Grids& grids) const {
  using program = quadrature_program;
  const bool all = !grids.from_kernel();
  const unsigned items = s.rounds == 0 ? 1 : (s.due == phase::evaluate ? s.splits : s.regions);
  const unsigned blocks = items / warps + (items % warps != 0 ? 1 : 0);
  const unsigned after = s.due == phase::sum ? s.regions : s.regions + items;
  switch (s.due) {
    case phase::select:
      grids.unordered(select_regions<true, program>, {chunk::count(s.regions), threads}, *this);
      if (!all) break;
      [[fallthrough]];
    case phase::list:
      grids.unordered(list_splits<true, program>, {chunk::count(s.regions), threads}, *this);
      if (!all) break;
      [[fallthrough]];
    case phase::evaluate:
      grids.unordered(evaluate_splits<true, program>, {blocks, 32 * warps}, *this);
      if (!all) break;
      [[fallthrough]];
    case phase::sum:
      grids.unordered(sum_regions<true, program>, {chunk::count(after), threads}, *this);
  }
}

/// Launches the four grids of a round, which a graph repeats.
template <unsigned d, class Integrand>
template <class Grids>
void quadrature_program<d, Integrand>::launch_repeated(const round_state&, Grids& grids) const {
  using program = quadrature_program;
  constexpr unsigned blocks = 512;  // for any number of regions; the kernels stride over them
  grids(select_regions<false, program>, {blocks, threads}, *this);
  grids(list_splits<false, program>, {blocks, threads}, *this);
  grids(evaluate_splits<false, program>, {4 * blocks, 32 * warps}, *this);
  grids(sum_regions<false, program>, {blocks, threads}, *this);
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
