// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the arguments of a force calculation. The host checks the arrays, then a kernel checks
/// each body. The kernels that follow write no result if a body is invalid.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/arrays.hpp>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/targets.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

template <class Real>
using device_arrays = body_arrays<Real, point<Real, 3>>;

/// Checks n, whether kernels can access the arrays, and that they do not overlap.
/// \throws std::invalid_argument naming the argument
template <class Real>
void check_arguments(const device_arrays<Real>& arrays, const char* algorithm) {
  const auto named = [&](const char* name) { return std::string(algorithm) + ": " + name; };
  if (arrays.n > spatial_shape<3>::max_points) {
    throw std::invalid_argument(named("n is ") + std::to_string(arrays.n) +
                                "; it must be less than 2^31");
  }
  if (arrays.n == 0) return;
  check_device_access(arrays.positions, named("positions").c_str());
  check_device_access(arrays.masses, named("masses").c_str());
  check_device_access(arrays.accelerations, named("accelerations").c_str());
  if (arrays.potentials != nullptr) {
    check_device_access(arrays.potentials, named("potentials").c_str());
  }
  check_overlap(arrays, algorithm);
}

/// Returns the largest coordinate for which squared distances cannot overflow.
template <class Real>
Real largest_coordinate() {
  return std::sqrt(std::numeric_limits<Real>::max()) / 4;
}

/// The value of gravity_progress::first_invalid if no body is invalid.
inline constexpr std::uint32_t no_invalid_body = 0xffffffffu;

/// The progress of a force calculation. Its kernels write it; later kernels and the host read it.
struct gravity_progress {
  unsigned long long interactions;  ///< tree code only
  std::uint32_t complete;           ///< 1 once a kernel has begun to write the results
  std::uint32_t first_invalid;      ///< the first invalid body, or no_invalid_body
};

/// The arguments of the kernel that sums the interactions, by either method.
template <class Real>
struct force_arguments {
  device_arrays<Real> bodies;  ///< in the caller's order
  Real softening2;
  Real gravitational_constant;
  gravity_progress* progress;
  trace_ticket trace;
  target_list targets;  ///< initially all bodies

  force_arguments(const device_arrays<Real>& of, const nbody_options& options,
                  gravity_progress* shared_progress, const trace_ticket& ticket)
      : bodies(of),
        softening2(static_cast<Real>(options.softening) * static_cast<Real>(options.softening)),
        gravitational_constant(static_cast<Real>(options.gravitational_constant)),
        progress(shared_progress),
        trace(ticket),
        targets{nullptr, static_cast<std::uint32_t>(of.n)} {}
};

/// Initializes the progress before the first grid. Asynchronous.
/// \throws cuda_error
inline void clear_progress(gravity_progress* progress, cudaStream_t stream) {
  clear_memory(progress, 1, stream, "clearing the progress of a force calculation");
  check(cudaMemsetAsync(&progress->first_invalid, 0xff, sizeof progress->first_invalid, stream),
        "clearing the first invalid body");
}

/// Returns whether a body has coordinates in [-largest_coordinate(), largest_coordinate()] and a
/// finite mass.
template <class Real>
__device__ bool is_valid_body(const point<Real, 3>& position, Real mass, Real largest) {
  bool valid = mass - mass == 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real x = position.x[axis];
    valid = valid && -largest <= x && x <= largest;
  }
  return valid;
}

/// Lowers progress->first_invalid to the first body with a coordinate outside [-largest, largest]
/// or with a mass that is not finite. One thread for each body.
template <class Real>
__global__ void find_invalid_body(device_arrays<Real> bodies, Real largest,
                                  gravity_progress* progress, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= static_cast<std::uint32_t>(bodies.n)) return;
  if (!is_valid_body(bodies.positions[i], bodies.masses[i], largest)) {
    atomicMin(&progress->first_invalid, i);
  }
}

/// Throws for a body with an invalid position. \throws std::invalid_argument naming the body
template <class Real>
[[noreturn]] void throw_invalid_position(std::uint32_t i, const point<Real, 3>& position,
                                         const char* algorithm) {
  std::ostringstream text;
  text << algorithm << ": positions[" << i << "] is (" << position.x[0] << ", " << position.x[1]
       << ", " << position.x[2] << "); coordinates must be finite and at most "
       << largest_coordinate<Real>() << " in magnitude";
  throw std::invalid_argument(text.str());
}

/// Throws if body `i` is an invalid body. Reads the body.
/// \throws std::invalid_argument naming the body; cuda_error
template <class Real>
void throw_if_invalid(std::uint32_t i, const device_arrays<Real>& arrays, const char* algorithm,
                      cudaStream_t stream) {
  if (i == no_invalid_body) return;
  const auto position = read_back(arrays.positions + i, stream, "reading an invalid body");
  const Real mass = read_back(arrays.masses + i, stream, "reading an invalid body");
  if (std::isfinite(mass)) throw_invalid_position(i, position, algorithm);
  std::ostringstream text;
  text << algorithm << ": masses[" << i << "] is " << mass << "; it must be finite";
  throw std::invalid_argument(text.str());
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
