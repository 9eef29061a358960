// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the arguments of a force calculation: first of the arrays, on the host, then of each
/// body, by a kernel. Both precede the first write to a result.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/arrays.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
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

/// Lowers `first_invalid` to the first body with a coordinate outside [-largest, largest] or with a
/// mass that is not finite. One thread for each body.
template <class Real>
__global__ void find_invalid_body(const point<Real, 3>* positions, const Real* masses,
                                  std::uint32_t n, Real largest, std::uint32_t* first_invalid,
                                  trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool valid = masses[i] - masses[i] == 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real x = positions[i].x[axis];
    valid = valid && -largest <= x && x <= largest;
  }
  if (!valid) atomicMin(first_invalid, i);
}

/// Checks the n > 0 bodies. Launches one grid and waits for `stream`.
/// \throws std::invalid_argument naming the first invalid body; cuda_error
template <class Real>
void check_bodies(const device_arrays<Real>& arrays, const char* algorithm, cudaStream_t stream,
                  const trace_ticket& trace) {
  constexpr unsigned threads = 256;
  constexpr std::uint32_t none = 0xffffffffu;
  const auto n = static_cast<std::uint32_t>(arrays.n);
  const device_buffer<std::uint32_t> first_invalid(1, stream);
  check(cudaMemsetAsync(first_invalid.data(), 0xff, sizeof none, stream),
        "clearing the first invalid body");
  check(launch(find_invalid_body<Real>, {(n - 1) / threads + 1, threads}, stream, arrays.positions,
               arrays.masses, n, largest_coordinate<Real>(), first_invalid.data(), trace)
            .code(),
        "checking the bodies");
  const auto read = [&](auto& to, const auto* from) {
    check(cudaMemcpyAsync(&to, from, sizeof to, cudaMemcpyDeviceToHost, stream),
          "reading the first invalid body");
    check(cudaStreamSynchronize(stream), "checking the bodies");
  };
  std::uint32_t i = none;
  read(i, first_invalid.data());
  if (i == none) return;

  point<Real, 3> position{};
  Real mass = 0;
  read(position, arrays.positions + i);
  read(mass, arrays.masses + i);
  std::ostringstream text;
  text << algorithm << ": ";
  if (!std::isfinite(mass)) {
    text << "masses[" << i << "] is " << mass << "; it must be finite";
  } else {
    text << "positions[" << i << "] is (" << position.x[0] << ", " << position.x[1] << ", "
         << position.x[2] << "); coordinates must be finite and at most "
         << largest_coordinate<Real>() << " in magnitude";
  }
  throw std::invalid_argument(text.str());
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
