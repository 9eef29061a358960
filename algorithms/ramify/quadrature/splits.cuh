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

/// Returns the lower or the upper half of region number `region`, which is split on its axis.
template <class Program>
__device__ __forceinline__ quadrature_box<Program::dimensions> half_of(const Program& program,
                                                                       unsigned region,
                                                                       bool upper) {
  quadrature_box<Program::dimensions> box = program.regions.boxes[region];
  const unsigned axis = program.regions.axes[region];
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
  regions.spreads[place] = found.spread;
  regions.axes[place] = found.axis;
  regions.smooth[place] = found.smooth ? 1 : 0;
}

/// Returns what the halves of a region are compared with.
template <unsigned d>
[[nodiscard]] __device__ __forceinline__ whole_estimate whole_of(const region_list<d>& regions,
                                                                 unsigned region) {
  return {regions.estimates[region], regions.smooth[region] != 0};
}

/// Splits a region and evaluates both halves. The lower half replaces the region, and the upper
/// half is appended. All lanes of a warp call it. `item` is the number of the split in this round;
/// its points have the numbers from 2 * item * points on. `axis_values` is as for
/// evaluate_region().
template <class Program>
__device__ __forceinline__ void split_region(const Program& program, const round_state& now,
                                             unsigned item, double* axis_values) {
  const auto& regions = program.regions;
  const unsigned lower = program.split_list[item];
  const whole_estimate whole = whole_of(regions, lower);
  quadrature_box<Program::dimensions> boxes[2];
  region_estimate halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    boxes[half] = half_of(program, lower, half != 0);
    const unsigned long long number = (2ull * item + half) * Program::points;
    halves[half] = evaluate_region(boxes[half], program.units, program.f, axis_values, number,
                                   program.not_finite);
  }
  compare_with_whole(whole, halves[0], halves[1]);
  if (threadIdx.x % 32 != 0) return;  // all lanes have read the region
  for (unsigned half = 0; half < 2; ++half) {
    write_region(regions, half == 0 ? lower : now.regions + item, boxes[half], halves[half]);
  }
}

/// Returns the error of a region whose estimate is compared with no other. In a large region, the
/// differences of the rules may all be small by accident. Without the factor, some smooth functions
/// converge with one region and an error over the bound.
template <unsigned d>
[[nodiscard]] __device__ double error_without_halves(double error) {
  return cubature_rule<d>::has_third ? 8 * error : error;
}

/// Shared memory of a block of `warps` warps whose teams evaluate regions.
template <unsigned d, unsigned warps>
struct team_memory {
  double axis_values[warps][cubature_rule<d>::axis_points + 1];  ///< of the region of each team
  point_sums sums[warps];                                        ///< of the points of each warp
  region_estimate found[warps];                                  ///< of the region of each team
  // A constructor would write to it in all threads, while other threads use it.
  static_assert(std::is_trivially_default_constructible_v<point_sums>);
};

/// A region that a team evaluates: a half of a region that is split or, in round 0, the domain.
template <unsigned d>
struct team_item {
  unsigned team;    ///< its number in the block
  unsigned number;  ///< of the region in this round
  bool active;      ///< false: the team has no region
  quadrature_box<d> box{};
  whole_estimate whole{};  ///< the region that is split
  unsigned place = 0;      ///< the number of the region in the list of all regions

  /// Returns whether this is the upper half of the region that is split.
  [[nodiscard]] __device__ bool is_upper() const { return number % 2 != 0; }
  /// Returns the number of the region's first point in this round.
  [[nodiscard]] __device__ unsigned long long first_point() const {
    return static_cast<unsigned long long>(number) * cubature_rule<d>::points;
  }
};

/// Sets the box, the whole and the place of an active item.
template <class Program>
__device__ __forceinline__ void read_item(const Program& program, const round_state& now,
                                          team_item<Program::dimensions>& item) {
  if (now.rounds == 0) {
    item.box = program.domain;
    item.place = item.number;
    return;
  }
  const unsigned lower = program.split_list[item.number / 2];
  item.box = half_of(program, lower, item.is_upper());
  item.whole = whole_of(program.regions, lower);
  item.place = item.is_upper() ? now.regions + item.number / 2 : lower;
}

/// Evaluates the points of this warp in the region of its team, and writes their sums.
template <unsigned warps, class Program>
__device__ __forceinline__ void sample_in_team(const Program& program,
                                               const team_item<Program::dimensions>& item,
                                               unsigned warps_per_team,
                                               team_memory<Program::dimensions, warps>& memory) {
  const unsigned lanes = 32 * warps_per_team;
  const point_sums sums =
      sample_points(item.box, program.f, memory.axis_values[item.team], threadIdx.x % lanes, lanes,
                    item.first_point(), program.not_finite);
  if (threadIdx.x % 32 == 0) memory.sums[threadIdx.x / 32] = sums;
}

/// Adds the sums of the team's warps, in their order, and writes the estimate of the region. The
/// first warp of the team calls it.
template <unsigned warps, class Program>
__device__ __forceinline__ void estimate_in_team(const Program& program,
                                                 const team_item<Program::dimensions>& item,
                                                 unsigned warps_per_team,
                                                 team_memory<Program::dimensions, warps>& memory) {
  const unsigned warp = threadIdx.x / 32;
  point_sums means = memory.sums[warp];
  for (unsigned i = 1; i < warps_per_team; ++i) means += memory.sums[warp + i];
  const region_estimate found =
      estimate_of(item.box, program.units, means, memory.axis_values[item.team]);
  if (threadIdx.x % 32 == 0) memory.found[item.team] = found;
}

/// Compares the estimates of both halves with that of the whole, and writes the region. The domain
/// has no whole. One thread of the team calls it.
template <unsigned warps, class Program>
__device__ __forceinline__ void write_item(const Program& program, const round_state& now,
                                           const team_item<Program::dimensions>& item,
                                           const team_memory<Program::dimensions, warps>& memory) {
  region_estimate found = memory.found[item.team];
  if (now.rounds == 0) {
    found.estimate.error = error_without_halves<Program::dimensions>(found.estimate.error);
  } else {
    region_estimate lower = memory.found[item.team & ~1u];
    region_estimate upper = memory.found[item.team | 1u];
    compare_with_whole(item.whole, lower, upper);
    found.estimate = item.is_upper() ? upper.estimate : lower.estimate;
  }
  write_region(program.regions, item.place, item.box, found);
}

/// Evaluates the halves of all splits of a round or, in round 0, the whole domain.
///
/// The round has `blocks` blocks of `warps` warps; the caller is number `block`. The warps of a
/// block form teams of `warps_per_team` warps, and each team evaluates a region. Both halves of a
/// split are evaluated in the same block. This requires two teams in a block, except in round 0.
/// All threads of the block call it.
template <unsigned warps, class Program>
__device__ __forceinline__ void evaluate_in_teams(const Program& program, const round_state& now,
                                                  unsigned warps_per_team, unsigned block,
                                                  unsigned blocks,
                                                  team_memory<Program::dimensions, warps>& memory) {
  const unsigned count = now.rounds == 0 ? 1 : 2 * now.splits;
  const unsigned teams = warps / warps_per_team;
  const unsigned my_team = threadIdx.x / 32 / warps_per_team;
  for (unsigned begin = block * teams; begin < count; begin += blocks * teams) {
    const unsigned number = begin + my_team;
    team_item<Program::dimensions> item{my_team, number, number < count};
    // 1. The region, and the sums of this warp.
    if (item.active) {
      read_item(program, now, item);
      sample_in_team(program, item, warps_per_team, memory);
    }
    __syncthreads();
    // 2. The estimate, by the first warp of the team.
    const bool leads = item.active && threadIdx.x / 32 % warps_per_team == 0;
    if (leads) estimate_in_team(program, item, warps_per_team, memory);
    __syncthreads();
    // 3. Join: all threads have read the region, and both halves are known.
    if (leads && threadIdx.x % 32 == 0) write_item(program, now, item, memory);
    __syncthreads();
  }
}

/// Returns the state after the evaluations of a round.
template <class Program>
[[nodiscard]] __device__ round_state after_evaluation(round_state now) {
  const unsigned long long checked = 1ull * now.regions * now.check_points;
  const unsigned long long evaluated = now.rounds == 0 ? 1 : 2ull * now.splits;
  now.regions += now.splits;
  now.evaluations += Program::points * evaluated + checked;
  now.check_evaluations += checked;
  now.checked_points = now.check_points;
  now.check_points = 0;
  ++now.rounds;
  now.due = phase::sum;
  return now;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
