// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the arguments of a force calculation: first of the arrays, on the host, then of each
/// body, by a kernel. The kernels that follow write no result if a body is invalid.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/arrays.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
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

/// The number of the first invalid body if there is none.
inline constexpr std::uint32_t no_invalid_body = 0xffffffffu;

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

/// Writes the first invalid one of n > 0 bodies. Launches one grid. Asynchronous.
/// \throws cuda_error
template <class Real>
void launch_check_of_bodies(const device_arrays<Real>& arrays, std::uint32_t* first_invalid,
                            cudaStream_t stream, const trace_ticket& trace) {
  constexpr unsigned threads = 256;
  const auto n = static_cast<std::uint32_t>(arrays.n);
  check(cudaMemsetAsync(first_invalid, 0xff, sizeof *first_invalid, stream),
        "clearing the first invalid body");
  check(launch(find_invalid_body<Real>, {(n - 1) / threads + 1, threads}, stream, arrays.positions,
               arrays.masses, n, largest_coordinate<Real>(), first_invalid, trace)
            .code(),
        "checking the bodies");
}

/// Copies an object from device memory and waits. \throws cuda_error
template <class T>
[[nodiscard]] T read_object(const T* from, cudaStream_t stream) {
  T to{};
  check(cudaMemcpyAsync(&to, from, sizeof to, cudaMemcpyDeviceToHost, stream),
        "reading the result of a force calculation");
  check(cudaStreamSynchronize(stream), "waiting for a force calculation");
  return to;
}

/// Throws if body `i` is an invalid body. Reads the body.
/// \throws std::invalid_argument naming the body; cuda_error
template <class Real>
void throw_if_invalid(std::uint32_t i, const device_arrays<Real>& arrays, const char* algorithm,
                      cudaStream_t stream) {
  if (i == no_invalid_body) return;
  const point<Real, 3> position = read_object(arrays.positions + i, stream);
  const Real mass = read_object(arrays.masses + i, stream);
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

/// Checks that `stream` is not being captured. \throws std::logic_error naming `algorithm`
inline void require_no_capture(cudaStream_t stream, const char* algorithm) {
  if (!is_being_captured(stream)) return;
  throw std::logic_error(std::string(algorithm) +
                         ": the stream is being captured: end the capture and launch the graph "
                         "before get()");
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
