// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels of a simulation: the leapfrog's kick and drift, and the sums of conserved
/// quantities. One step is
///
///     v += a dt/2          kick, with a = gravity(x)
///     x += v dt            drift
///     a = gravity(x)
///     v += a dt/2          kick
///
/// The leapfrog is second order in dt, time-reversible and symplectic, so its energy error stays
/// bounded (Hockney and Eastwood, 1981; Quinn et al., 1997). The accelerations by an External
/// (external.cuh) are added in both kicks.

#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/conserved.hpp>
#include <ramify/nbody/external.cuh>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Adds the change of a position in a step of dt.
template <class Real>
__device__ void drift_body(point<Real, 3>& position, const point<Real, 3>& velocity, Real dt) {
  for (int axis = 0; axis < 3; ++axis) position.x[axis] += velocity.x[axis] * dt;
}

/// The first kick and the drift of a step. One thread for each body.
template <class Real, class External>
__global__ void kick_and_drift(point<Real, 3>* positions, point<Real, 3>* velocities,
                               const point<Real, 3>* accelerations, std::uint32_t n, Real dt,
                               step_progress* progress, trace_ticket trace,
                               external_forces<Real, External> external) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (progress->waits != 0) {
    if (i == 0) ++progress->skipped;
    return;
  }
  external.begin_step(velocities[i], accelerations[i], positions[i], dt, i);
  drift_body(positions[i], velocities[i], dt);
}

/// The second kick of a step, with the accelerations at the new positions, if they are complete.
/// One thread for each body.
template <class Real, class External>
__global__ void kick(point<Real, 3>* velocities, const point<Real, 3>* accelerations,
                     std::uint32_t n, Real dt, const gravity_progress* forces,
                     step_progress* progress, trace_ticket trace, const point<Real, 3>* positions,
                     external_forces<Real, External> external) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (forces->complete == 0) {
    if (i == 0) progress->waits = 1;
    return;
  }
  if (progress->waits != 0) return;
  external.end_step(velocities[i], accelerations[i], positions[i], dt, i);
  external.after_step(positions[i], velocities[i], i);
}

/// Adds two sums, field by field.
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

inline constexpr int conserved_threads = RAMIFY_ON_CUDA ? 256 : 32;

/// Writes one sum for each block. Each thread sums bodies in a grid-stride loop, in double for any
/// Real. Each block sums the same bodies in the same order every time.
template <class Real, class External>
__global__ void sum_conserved(const point<Real, 3>* positions, const point<Real, 3>* velocities,
                              const Real* masses, const Real* potentials, std::uint32_t n,
                              nbody_conserved* block_sums, trace_ticket trace,
                              external_forces<Real, External> external) {
  const traced here(trace, __func__);
  using reduce = block_reduce<nbody_conserved, conserved_threads>;
  __shared__ typename reduce::TempStorage storage;
  const add_conserved add;
  nbody_conserved thread_sum{};
  for (std::uint64_t i = blockIdx.x * conserved_threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * conserved_threads) {
    const double m = masses[i];
    const double x[3] = {positions[i].x[0], positions[i].x[1], positions[i].x[2]};
    const double p[3] = {m * velocities[i].x[0], m * velocities[i].x[1], m * velocities[i].x[2]};
    nbody_conserved body{};
    body.potential = m * potentials[i] / 2;  // each pair is in two potentials
    if constexpr (external.has_potential) {
      body.potential += m * external.potential(positions[i], static_cast<std::uint32_t>(i));
    }
    for (int axis = 0; axis < 3; ++axis) {
      const int next = (axis + 1) % 3;
      const int last = (axis + 2) % 3;
      body.kinetic += p[axis] * velocities[i].x[axis] / 2;
      body.momentum[axis] = p[axis];
      body.angular_momentum[axis] = x[next] * p[last] - x[last] * p[next];
    }
    thread_sum = add(thread_sum, body);
  }
  const nbody_conserved block_sum = reduce(storage).Reduce(thread_sum, add);
  if (threadIdx.x == 0) block_sums[blockIdx.x] = block_sum;
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
