// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The direct sum over all pairs of bodies, by tiles in shared memory (Nyland, Harris and Prins,
/// 2007). It is the reference for the tree code, and faster for few bodies.

#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/interaction.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The bodies [begin, end); an end greater than n counts as n.
struct body_range {
  std::uint32_t begin = 0;          ///< first body
  std::uint32_t end = 0xffffffffu;  ///< one after the last body
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

inline constexpr unsigned direct_sum_threads = 256;

/// Sums all interactions of each target whose place in the list of targets is in `range`. The
/// results of body i are at index i - range.begin; with a list, range.begin must be 0. One thread
/// for each target. The block loads a tile of bodies into shared memory, and all threads add the
/// tile.
template <class Real>
__global__ void __launch_bounds__(direct_sum_threads)
    direct_sum(force_arguments<Real> d, body_range range) {
  const traced here(d.trace, __func__);
  const auto n = static_cast<std::uint32_t>(d.bodies.n);
  if (d.progress->first_invalid != no_invalid_body) return;  // no result is written
  if (blockIdx.x == 0 && threadIdx.x == 0) d.progress->complete = 1;
  __shared__ point_mass<Real> tile[direct_sum_threads];
  const std::uint32_t place = range.begin + blockIdx.x * direct_sum_threads + threadIdx.x;
  const bool has_body = place < range.end;
  const std::uint32_t i = d.targets.at(has_body ? place : range.begin);
  const point<Real, 3> position = d.bodies.positions[i];
  force_accumulator<Real> sum;
  for (std::uint32_t tile_begin = 0; tile_begin < n; tile_begin += direct_sum_threads) {
    // 1. Load one body for each thread.
    const std::uint32_t loaded = tile_begin + threadIdx.x;
    if (loaded < n) {
      const point<Real, 3> x = d.bodies.positions[loaded];
      tile[threadIdx.x] = {x.x[0], x.x[1], x.x[2], d.bodies.masses[loaded]};
    }
    __syncthreads();
    // 2. Add the tile. No body acts on itself.
    const std::uint32_t left = n - tile_begin;
    const std::uint32_t count = left < direct_sum_threads ? left : direct_sum_threads;
    for (std::uint32_t b = 0; b < count; ++b) {
      if (tile_begin + b != i) sum.add_body(tile[b], position, d.softening2);
    }
    __syncthreads();
  }
  if (!has_body) return;
  write_result(sum, d.gravitational_constant, i - range.begin, d.bodies.accelerations,
               d.bodies.potentials);
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
