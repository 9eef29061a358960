// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a simulation: kick, drift, and the sums that ought to stay as they are.
///
///     v += a dt/2          kick      with a at x
///     x += v dt            drift
///     a = gravity(x)
///     v += a dt/2          kick
///
/// is the leapfrog, second order in dt, time-reversible and symplectic: energy errors stay bounded
/// instead of growing (Hockney and Eastwood, 1981; Quinn et al., 1997).

#include <cstdint>
#include <ramify/nbody/conserved.hpp>
#include <ramify/runtime/collectives.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The first half of a step. A thread a body.
template <class Real>
__global__ void kick_and_drift(point<Real, 3>* positions, point<Real, 3>* velocities,
                               const point<Real, 3>* accelerations, std::uint32_t n, Real dt,
                               trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int axis = 0; axis < 3; ++axis) {
    velocities[i].x[axis] += accelerations[i].x[axis] * (dt / 2);
    positions[i].x[axis] += velocities[i].x[axis] * dt;
  }
}

/// The second half, with the accelerations at the new positions. A thread a body.
template <class Real>
__global__ void kick(point<Real, 3>* velocities, const point<Real, 3>* accelerations,
                     std::uint32_t n, Real dt, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int axis = 0; axis < 3; ++axis) {
    velocities[i].x[axis] += accelerations[i].x[axis] * (dt / 2);
  }
}

struct add_conserved {
  __host__ __device__ nbody_conserved operator()(const nbody_conserved& a,
                                                 const nbody_conserved& b) const {
    nbody_conserved sum = a;
    sum.kinetic += b.kinetic;
    sum.potential += b.potential;
    for (int axis = 0; axis < 3; ++axis) {
      sum.momentum[axis] += b.momentum[axis];
      sum.angular_momentum[axis] += b.angular_momentum[axis];
    }
    return sum;
  }
};

constexpr int conserved_threads = RAMIFY_ON_CUDA ? 256 : 32;

/// A block's part of the sums, always of the same bodies in the same order, in double whatever Real
/// is. A thread sums every so-manieth body.
template <class Real>
__global__ void sum_conserved(const point<Real, 3>* positions, const point<Real, 3>* velocities,
                              const Real* masses, const Real* potentials, std::uint32_t n,
                              nbody_conserved* of_blocks, trace_ticket trace) {
  const traced here(trace, __func__);
  using reduce = block_reduce<nbody_conserved, conserved_threads>;
  __shared__ typename reduce::TempStorage storage;
  const add_conserved add;
  nbody_conserved mine{};
  for (std::uint64_t i = blockIdx.x * conserved_threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * conserved_threads) {
    const double m = masses[i];
    const double x[3] = {positions[i].x[0], positions[i].x[1], positions[i].x[2]};
    const double p[3] = {m * velocities[i].x[0], m * velocities[i].x[1], m * velocities[i].x[2]};
    nbody_conserved of_body{};
    of_body.potential = m * potentials[i] / 2;  // each pair is in the potentials of both
    for (int axis = 0; axis < 3; ++axis) {
      const int next = (axis + 1) % 3;
      const int last = (axis + 2) % 3;
      of_body.kinetic += p[axis] * velocities[i].x[axis] / 2;
      of_body.momentum[axis] = p[axis];
      of_body.angular_momentum[axis] = x[next] * p[last] - x[last] * p[next];
    }
    mine = add(mine, of_body);
  }
  const nbody_conserved of_block = reduce(storage).Reduce(mine, add);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = of_block;
}

}  // namespace ramify::inline RAMIFY_BUILD
