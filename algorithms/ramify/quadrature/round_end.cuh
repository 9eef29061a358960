// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The end of a round in one block: it does for few regions what the grids `sum`, `select` and
/// `list` (rounds.cuh) do for many.

#include <ramify/quadrature/checks.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The maximum number of regions of each thread in end_round_in_block(): the bits of its mask of
/// splits.
inline constexpr unsigned max_regions_of_thread = 32;

/// Shared memory of a block of `size` threads that ends rounds.
template <unsigned size>
struct end_memory {
  typename block_reduce<bounded, int(size)>::TempStorage sum;
  typename block_scan<unsigned, int(size)>::TempStorage ranks;
  unsigned counts[bins];
  round_state state;
};

/// Adds all estimates and errors, and returns whether regions may be split, to all threads.
/// memory.state becomes the state before the choice of the splits.
template <unsigned size, class Program>
__device__ bool judge_in_block(const Program& program, const round_state& now,
                               end_memory<size>& memory) {
  const unsigned t = threadIdx.x;
  bounded sum{};
  for (unsigned i = t; i < now.regions; i += size) {
    sum = add_bounded{}(sum, program.regions.estimates[i]);
  }
  sum = block_reduce<bounded, int(size)>(memory.sum).Reduce(sum, add_bounded{});
  if (t == 0) memory.state = judge_round(program, now, sum);
  if (t < bins) memory.counts[t] = 0;
  __syncthreads();
  return memory.state.ended == 0 && memory.state.check_points == 0;
}

/// Counts the regions number `first`, `first` + `step` ... before `end` in their bins. Regions that
/// are not split have none.
template <class Program>
__device__ void count_in_bins(const Program& program, const round_state& now, unsigned first,
                              unsigned end, unsigned step, unsigned* counts) {
  for (unsigned i = first; i < end; i += step) {
    const int bin = program.bin_of(now, i);
    if (bin >= 0) atomicAdd(&counts[bin], 1u);
  }
}

/// Ends a round in a block of `size` threads. `now` is the state after the evaluations. Returns, to
/// all threads, the state with the splits of the next round, which are in program.split_list, or
/// the end, or a check. Requires at most size * max_regions_of_thread regions. All threads of the
/// block call it.
template <unsigned size, class Program>
__device__ round_state end_round_in_block(const Program& program, const round_state& now,
                                          end_memory<size>& memory) {
  // 1. The sum. Base case: the quadrature is complete, or nothing is split before a check.
  if (!judge_in_block(program, now, memory)) return memory.state;
  const round_state judged = memory.state;
  // 2. The lowest bin. If the remaining evaluations suffice for all regions, it is 0.
  const unsigned t = threadIdx.x;
  const unsigned each = (judged.regions + size - 1) / size;
  const unsigned begin = min(t * each, judged.regions);
  const unsigned end = min(begin + each, judged.regions);
  const bool counts = program.affordable(judged) < judged.regions;
  if (counts) {
    count_in_bins(program, judged, begin, end, 1, memory.counts);
    __syncthreads();
    if (t == 0) memory.state = choose_splits(program, judged, memory.counts);
    __syncthreads();
    if (memory.state.ended != 0) return memory.state;
  }
  const int lowest = counts ? static_cast<int>(memory.state.lowest_bin) : 0;
  // 3. The list of splits, in the order of their numbers. (A mask instead of a second pass.)
  unsigned mask = 0;
  unsigned splits = 0;
  for (unsigned i = begin; i < end; ++i) {
    if (program.bin_of(judged, i) < lowest) continue;
    mask |= 1u << (i - begin);
    ++splits;
  }
  unsigned rank = 0;
  unsigned total = 0;
  block_scan<unsigned, int(size)>(memory.ranks).ExclusiveSum(splits, rank, total);
  if (!counts && t == 0) memory.state = split_all(program, judged, total);
  __syncthreads();
  const round_state next = before_evaluation(program, memory.state);
  for (unsigned i = begin; i < end && rank < next.splits; ++i) {
    if ((mask >> (i - begin) & 1u) != 0) program.split_list[rank++] = i;
  }
  __syncthreads();
  return next;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
