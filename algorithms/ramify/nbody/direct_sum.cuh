// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The direct sum over all pairs of bodies, by tiles in shared memory (Nyland, Harris and Prins,
/// 2007). It is the reference for the tree code, and faster for few bodies.

#include <cstddef>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/interaction.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Arguments of direct_sum(). All arrays are in the caller's order.
template <class Real>
struct direct_sum_arguments {
  const point<Real, 3>* positions;
  const Real* masses;
  std::uint32_t n;
  std::uint32_t begin, end;  ///< the bodies whose accelerations are calculated
  Real softening2;
  Real gravitational_constant;
  point<Real, 3>* accelerations;  ///< of body `begin` at 0
  Real* potentials;               ///< of body `begin` at 0; may be null
  trace_ticket trace;
};

inline constexpr unsigned direct_sum_threads = 256;

/// Sums all interactions of each body in [begin, end). One thread for each body. The block loads a
/// tile of bodies into shared memory, and all its threads add the tile.
template <class Real>
__global__ void __launch_bounds__(direct_sum_threads) direct_sum(direct_sum_arguments<Real> d) {
  const traced here(d.trace, __func__);
  __shared__ point_mass<Real> tile[direct_sum_threads];
  const std::uint32_t i = d.begin + blockIdx.x * direct_sum_threads + threadIdx.x;
  const bool has_body = i < d.end;
  const point<Real, 3> position = d.positions[has_body ? i : d.begin];
  force_accumulator<Real> sum;
  for (std::uint32_t tile_begin = 0; tile_begin < d.n; tile_begin += direct_sum_threads) {
    // 1. Load one body for each thread.
    const std::uint32_t loaded = tile_begin + threadIdx.x;
    if (loaded < d.n) {
      const point<Real, 3> x = d.positions[loaded];
      tile[threadIdx.x] = {x.x[0], x.x[1], x.x[2], d.masses[loaded]};
    }
    __syncthreads();
    // 2. Add the tile. No body acts on itself.
    const std::uint32_t left = d.n - tile_begin;
    const std::uint32_t count = left < direct_sum_threads ? left : direct_sum_threads;
    for (std::uint32_t b = 0; b < count; ++b) {
      if (tile_begin + b != i) sum.add_interaction(tile[b], position, d.softening2);
    }
    __syncthreads();
  }
  if (!has_body) return;
  write_result(sum, d.gravitational_constant, i - d.begin, d.accelerations, d.potentials);
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The bodies [begin, end); an end greater than n counts as n.
struct body_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0xffffffffu;
};

/// Calculates the accelerations of the bodies of `range` by the direct sum over all n bodies, and
/// their potentials unless `potentials` is null. The results of body range.begin are at index 0.
/// Reads no theta, method, leaf_size or route. Waits for `stream`. O(n) for each body of the range.
/// \throws std::invalid_argument before anything is written; cuda_error
template <class Real>
nbody_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                            point<Real, 3>* accelerations, Real* potentials = nullptr,
                            cudaStream_t stream = nullptr, const nbody_config& config = {},
                            body_range range = {}) {
  using namespace detail::nbody;
  validate(config);
  validate_range<Real>(config);
  if (range.end > n) range.end = static_cast<std::uint32_t>(n);
  if (range.begin > range.end) {
    throw std::invalid_argument("direct_gravity: range.begin is " + std::to_string(range.begin) +
                                "; it must be at most range.end and n, " +
                                std::to_string(range.end));
  }
  const std::uint32_t count = range.end - range.begin;
  const device_arrays<Real> arrays{positions, masses, n, accelerations, potentials, count};
  check_arguments(arrays, "direct_gravity");
  nbody_report report;
  static_cast<run_report&>(report) = report_of_this_build();
  report.method = nbody_method::direct;
  report.taken = route::flat;
  report.route_reason = "a direct sum has no recursion";
  report.bodies = n;
  if (count == 0) return report;
  detail::runtime::trace_recorder recorder(config.trace, stream);
  if (config.trace != nullptr) config.trace->taken = report.taken;
  check_bodies(arrays, "direct_gravity", stream, recorder.ticket());
  const auto softening = static_cast<Real>(config.softening);
  const direct_sum_arguments<Real> arguments{positions,
                                             masses,
                                             static_cast<std::uint32_t>(n),
                                             range.begin,
                                             range.end,
                                             softening * softening,
                                             static_cast<Real>(config.gravitational_constant),
                                             accelerations,
                                             potentials,
                                             recorder.ticket()};
  const unsigned blocks = (count - 1) / direct_sum_threads + 1;
  check(launch(direct_sum<Real>, {blocks, direct_sum_threads}, stream, arguments).code(),
        "summing all pairs");
  check(cudaStreamSynchronize(stream), "waiting for the direct sum");
  recorder.read();
  report.host_grids = 2;
  report.interactions = std::uint64_t{count} * (n - 1);
  return report;
}

}  // namespace ramify::inline RAMIFY_BUILD
