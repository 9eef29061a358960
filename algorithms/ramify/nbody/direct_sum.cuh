// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Every pair of bodies: the reference, and the faster way for few bodies (Nyland, Harris and Prins,
/// 2007).

#include <cstdint>
#include <ramify/nbody/interaction.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// What the direct sum works on, all in the caller's order.
template <class Real>
struct gravity_pairs {
  const point<Real, 3>* positions;
  const Real* masses;
  std::uint32_t n;
  /// Of which bodies to find the accelerations: [begin, end).
  std::uint32_t begin, end;
  Real softening2;
  Real gravitational_constant;
  point<Real, 3>* accelerations;
  Real* potentials;  ///< or null
  trace_ticket trace;
};

constexpr unsigned direct_threads = 256;

/// A thread a body of [begin, end). The block fetches a tile of bodies, which all its threads use.
template <class Real>
__global__ void __launch_bounds__(direct_threads) sum_pairs(gravity_pairs<Real> p) {
  const traced here(p.trace, __func__);
  __shared__ point_mass<Real> tile[direct_threads];
  const std::uint32_t me = p.begin + blockIdx.x * direct_threads + threadIdx.x;
  const bool is_body = me < p.end;
  const point<Real, 3> at = p.positions[is_body ? me : p.begin];
  attraction<Real> sum;
  for (std::uint32_t tile_begin = 0; tile_begin < p.n; tile_begin += direct_threads) {
    // 1. Fetch a body.
    const std::uint32_t mine = tile_begin + threadIdx.x;
    if (mine < p.n) {
      const point<Real, 3> x = p.positions[mine];
      tile[threadIdx.x] = {x.x[0], x.x[1], x.x[2], p.masses[mine]};
    }
    __syncthreads();
    // 2. Add the tile, but not oneself.
    const std::uint32_t left = p.n - tile_begin;
    const std::uint32_t count = left < direct_threads ? left : direct_threads;
    for (std::uint32_t b = 0; b < count; ++b) {
      if (tile_begin + b != me) sum.add(tile[b], at, p.softening2);
    }
    __syncthreads();
  }
  if (!is_body) return;
  const Real g = p.gravitational_constant;
  p.accelerations[me - p.begin] = {{g * sum.x, g * sum.y, g * sum.z}};
  if (p.potentials != nullptr) p.potentials[me - p.begin] = g * sum.potential;
}

}  // namespace ramify::inline RAMIFY_BUILD
