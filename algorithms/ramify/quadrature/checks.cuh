// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of all regions, and the judgment of a round.
///
/// Before a quadrature converges, a round checks all regions: it evaluates the integrand at points
/// that no rule has, a lattice with a random shift in each region. If a value is farther from the
/// region's mean than the values at the rule's points can explain, the error of the region rises.
/// The quadrature converges if the errors are still within the tolerance. Otherwise it continues,
/// and the next check has other points. If max_evaluations leaves no point for each region, the
/// quadrature converges without a check.

#include <cmath>
#include <ramify/quadrature/program.cuh>
#include <ramify/runtime/detail/hash.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// A value at a point of a check is suspicious if its distance from the mean is larger than this
/// number times the largest such distance of a value at the rule's points.
inline constexpr double allowed_spreads = 4;

/// Returns point number `j` of the check of a region. The points of a check form a lattice with a
/// shift that depends on the number of the region and on the number of rounds before the check. The
/// arithmetic is that of integers, up to the coordinates, so all routes have the same points.
template <unsigned d>
[[nodiscard]] __device__ quadrature_point<d> check_point(const quadrature_box<d>& box,
                                                         unsigned region, unsigned rounds,
                                                         unsigned j) {
  // The fractions of the square roots of the first eight primes, times 2^64.
  const unsigned long long steps[] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                      0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                      0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  quadrature_point<d> p;
  unsigned long long shift = (1ull * rounds << 32 | region) + 1;
  for (unsigned axis = 0; axis < d; ++axis) {
    shift = splitmix64_finalize(shift + 0x9e3779b97f4a7c15);
    const unsigned long long bits = (shift + j * steps[axis]) >> 11;
    const double x = std::fma(static_cast<double>(bits), 0x1p-52, -1.0) * (1 - face_distance);
    p.x[axis] = std::fma(x, (box.high[axis] - box.low[axis]) / 2, middle(box, axis));
  }
  return p;
}

/// A region that is checked, and the values that its rule explains.
template <unsigned d>
struct checked_region {
  unsigned number;
  quadrature_box<d> box;
  double volume;
  double mean;
  double allowed;

  template <class Program>
  [[nodiscard]] static __device__ checked_region of(const Program& program, unsigned number) {
    const auto& regions = program.regions;
    const double volume = program.units.volume(regions.boxes[number]);
    return {number, regions.boxes[number], volume, regions.estimates[number].value / volume,
            allowed_spreads * regions.spreads[number]};
  }
};

/// Evaluates 32 points of a check. Returns, to all lanes of the warp, the sum of the distances from
/// the mean beyond the allowed one.
template <class Program>
__device__ double excess_of_batch(const Program& program, const round_state& now,
                                  const checked_region<Program::dimensions>& region,
                                  unsigned batch) {
  const unsigned j = 32 * batch + threadIdx.x % 32;
  double excess = 0;
  if (j < now.check_points) {
    const unsigned long long number = 1ull * region.number * now.check_points + j;
    const double value = value_at(check_point(region.box, region.number, now.rounds, j), program.f,
                                  number, program.not_finite);
    excess = std::fmax(std::fabs(value - region.mean) - region.allowed, 0.0);
  }
  return sum_of_warp(excess);
}

/// Raises the error of a region by the mean of what its points exceed. One thread calls it.
template <class Program>
__device__ void raise_error(const Program& program, const round_state& now,
                            const checked_region<Program::dimensions>& region, double excess) {
  if (excess == 0) return;
  program.regions.estimates[region.number].error += excess / now.check_points * region.volume;
  program.regions.smooth[region.number] = 0;
}

/// Checks a region. All lanes of a warp call it.
template <class Program>
__device__ void check_region(const Program& program, const round_state& now, unsigned number) {
  const auto region = checked_region<Program::dimensions>::of(program, number);
  double excess = 0;
  for (unsigned batch = 0; 32 * batch < now.check_points; ++batch) {
    excess += excess_of_batch(program, now, region, batch);
  }
  __syncwarp();  // all lanes have read the region
  if (threadIdx.x % 32 == 0) raise_error(program, now, region, excess);
}

/// The maximum number of batches of 32 points in a check of less than 32 regions.
inline constexpr unsigned max_shared_batches = 32;

/// Checks all regions in a block of `warps` warps. If there are few regions, several warps share
/// the points of one; `excesses` is shared memory for max_shared_batches numbers. The sums have the
/// same order as in check_region(). All threads of the block call it.
template <unsigned warps, class Program>
__device__ void check_in_block(const Program& program, const round_state& now, double* excesses) {
  using checked = checked_region<Program::dimensions>;
  const unsigned warp = threadIdx.x / 32;
  const unsigned batches = (now.check_points + 31) / 32;
  if (batches == 1) {
    for (unsigned i = warp; i < now.regions; i += warps) check_region(program, now, i);
    __syncthreads();
    return;
  }
  for (unsigned i = warp; i < now.regions * batches; i += warps) {
    const double excess =
        excess_of_batch(program, now, checked::of(program, i / batches), i % batches);
    if (threadIdx.x % 32 == 0) excesses[i] = excess;
  }
  __syncthreads();
  if (threadIdx.x < now.regions) {
    double excess = 0;
    for (unsigned i = 0; i < batches; ++i) excess += excesses[threadIdx.x * batches + i];
    raise_error(program, now, checked::of(program, threadIdx.x), excess);
  }
  __syncthreads();
}

/// Returns the coordinates of the point with this number in the round. split_region(), team_item
/// and excess_of_batch() assign the numbers.
template <class Program>
__device__ quadrature_point<Program::dimensions> point_of(const Program& program,
                                                          const round_state& now,
                                                          unsigned long long number) {
  if (now.checked_points != 0) {
    const auto region = static_cast<unsigned>(number / now.checked_points);
    return check_point(program.regions.boxes[region], region, now.rounds - 1,
                       static_cast<unsigned>(number % now.checked_points));
  }
  const auto item = static_cast<unsigned>(number / (2 * Program::points));
  const bool upper = number / Program::points % 2 != 0;
  unsigned region = 0;  // in round 0 the domain
  if (now.rounds > 1) region = upper ? now.regions - now.splits + item : program.split_list[item];
  return point_in(program.regions.boxes[region], static_cast<unsigned>(number % Program::points));
}

/// Returns the state at the end of a round. The quadrature is complete, or the next round is a
/// check, or the state has the share of each region in the next round. `total` has the sums over
/// all regions. One thread calls it.
template <class Program>
__device__ round_state judge_round(const Program& program, round_state now, const bounded& total) {
  now.due = phase::select;
  now.total = total;
  const double tolerance = program.tolerance(total.value);
  const unsigned long long number = *program.not_finite;
  if (number != Program::none) {
    *program.bad_point = point_of(program, now, number);
    now.ended = 1;
    now.status = quadrature_status::not_finite;
  } else if (now.evaluations < program.min_evaluations) {
    now.share = -1;
  } else if (total.error <= tolerance) {
    now.splits = 0;
    now.due = phase::evaluate;
    now.check_points = now.checked_points != 0 ? 0 : program.points_of_check(now);
    now.ended = now.check_points != 0 ? 0 : 1;
    now.status = quadrature_status::converged;
  } else {
    now.share = tolerance / now.regions;
  }
  return now;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
