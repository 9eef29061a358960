// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The splits of a quadrature: a warp splits a region, or the teams of a block split several.
///
/// The functions are inlined also in builds without optimization. As calls they would need more
/// registers than the launch bounds of the kernels allow.

#include <ramify/quadrature/program.cuh>
#include <type_traits>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Returns a half of the region that split number `item` of the round splits.
template <class Program>
__device__ __forceinline__ quadrature_box<Program::dimensions> half_of(const Program& program,
                                                                       unsigned lower, bool upper) {
  quadrature_box<Program::dimensions> box = program.regions.boxes[lower];
  const unsigned axis = program.regions.axes[lower];
  const double center = middle(box, axis);
  for (unsigned i = 0; i < Program::dimensions; ++i) {
    if (i != axis) continue;
    (upper ? box.low[i] : box.high[i]) = center;
  }
  return box;
}

/// Writes a region. One thread calls it.
template <unsigned d>
__device__ __forceinline__ void write_region(const region_list<d>& regions, unsigned place,
                                             const quadrature_box<d>& box,
                                             const region_estimate& found) {
  regions.boxes[place] = box;
  regions.estimates[place] = found.estimate;
  regions.round_offs[place] = found.round_off;
  regions.axes[place] = found.axis;
}

/// Splits a region and evaluates both halves. The lower half replaces the region, and the upper
/// half is appended. All lanes of a warp call it. `item` is the number of the split in this round;
/// its points have the numbers from 2 * item * points on. `kept` is as for evaluate_region().
template <class Program>
__device__ __forceinline__ void split_region(const Program& program, const round_state& now,
                                             unsigned item, double* kept) {
  constexpr unsigned d = Program::dimensions;
  const region_list<d>& regions = program.regions;
  const unsigned lower = program.split_list[item];
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
    write_region(regions, half == 0 ? lower : now.regions + item, boxes[half], halves[half]);
  }
}

/// Returns the error of a region whose estimate is compared with no other. In a large region, the
/// differences of the rules may all be small by accident: without the factor, up to 3 of 150
/// members of a family converged with one region and up to 5 times the error that the bound states.
template <unsigned d>
[[nodiscard]] __device__ double error_without_halves(double error) {
  return cubature_rule<d>::has_third ? std::fmin(8 * error, DBL_MAX) : error;
}

/// Shared memory of a block of `warps` warps whose teams evaluate regions.
template <unsigned d, unsigned warps>
struct team_memory {
  double kept[warps][cubature_rule<d>::kept + 1];
  point_sums sums[warps];        ///< of the points of each warp
  region_estimate found[warps];  ///< of each team
  // A constructor would write to it in all threads, while other threads use it.
  static_assert(std::is_trivially_default_constructible_v<point_sums>);
};

/// Evaluates the halves of all splits of a round, or in round 0 the whole domain, in the blocks
/// number `block` of `blocks`. The warps of a block form teams of `team` warps each, and a team
/// evaluates a region. Two teams that evaluate the halves of a region are in one block, so `team`
/// must be at most half of the warps, except in round 0. All threads of the block call it.
template <unsigned warps, class Program>
__device__ __forceinline__ void evaluate_in_teams(const Program& program, const round_state& now,
                                                  unsigned team, unsigned block, unsigned blocks,
                                                  team_memory<Program::dimensions, warps>& memory) {
  constexpr unsigned d = Program::dimensions;
  const bool first_round = now.rounds == 0;
  const unsigned count = first_round ? 1 : 2 * now.splits;
  const unsigned teams = warps / team;
  const unsigned warp = threadIdx.x / 32;
  const unsigned mine = warp / team;
  for (unsigned begin = block * teams; begin < count; begin += blocks * teams) {
    const unsigned number = begin + mine;
    const bool active = number < count;
    const bool upper = number % 2 != 0;
    quadrature_box<d> box{};
    bounded whole{};
    unsigned place = number;
    if (active) {
      // 1. The region and the sums of this warp.
      if (first_round) {
        box = program.domain;
      } else {
        const unsigned lower = program.split_list[number / 2];
        box = half_of(program, lower, upper);
        whole = program.regions.estimates[lower];
        place = upper ? now.regions + number / 2 : lower;
      }
      const point_sums sums = sample_points(
          box, program.f, memory.kept[mine], threadIdx.x % (32 * team), 32 * team,
          static_cast<unsigned long long>(number) * Program::points, program.not_finite);
      if (threadIdx.x % 32 == 0) memory.sums[warp] = sums;
    }
    __syncthreads();
    // 2. The first warp of the team adds the sums of its warps, in their order.
    const bool leads = active && warp % team == 0;
    if (leads) {
      point_sums means = memory.sums[warp];
      for (unsigned i = 1; i < team; ++i) means += memory.sums[warp + i];
      const region_estimate found = estimate_of(
          box, means, memory.kept[mine], static_cast<unsigned long long>(number) * Program::points,
          program.not_finite);
      if (threadIdx.x % 32 == 0) memory.found[mine] = found;
    }
    __syncthreads();
    // 3. Join: all threads have read the region, and both halves are known.
    if (leads && threadIdx.x % 32 == 0) {
      region_estimate found = memory.found[mine];
      if (first_round) {
        found.estimate.error = error_without_halves<d>(found.estimate.error);
      } else {
        bounded lower = memory.found[mine & ~1u].estimate;
        bounded other = memory.found[mine | 1u].estimate;
        compare_with_whole(whole, lower, other);
        found.estimate = upper ? other : lower;
      }
      write_region(program.regions, place, box, found);
    }
    __syncthreads();
  }
}

/// Returns the state after the evaluations of a round.
template <class Program>
[[nodiscard]] __device__ round_state after_evaluation(round_state now) {
  const unsigned long long evaluated = now.rounds == 0 ? 1 : 2ull * now.splits;
  now.regions += now.splits;
  now.evaluations += Program::points * evaluated;
  ++now.rounds;
  now.due = phase::sum;
  return now;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
