// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One pass over bodies before anything is written: the first one that gravity cannot be found for.

#include <cmath>
#include <cstddef>
#include <limits>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/spatial_tree/geometry.cuh>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Coordinates beyond this make squares of distances overflow.
template <class Real>
Real largest_coordinate() {
  return std::sqrt(std::numeric_limits<Real>::max()) / 4;
}

/// Lowers `first_bad` to the first body with a coordinate that is not in [-largest, largest] or with
/// a mass that is not finite. A thread a body.
template <class Real>
__global__ void find_bad_body(const point<Real, 3>* positions, const Real* masses, std::uint32_t n,
                              Real largest, std::uint32_t* first_bad, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool good = masses[i] - masses[i] == 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Real x = positions[i].x[axis];
    good = good && -largest <= x && x <= largest;
  }
  if (!good) atomicMin(first_bad, i);
}

/// One grid, and waits for it. \throws std::invalid_argument naming the first bad body; cuda_error
template <class Real>
void check_bodies(const point<Real, 3>* positions, const Real* masses, std::uint32_t n,
                  const char* algorithm, cudaStream_t stream, const trace_ticket& trace) {
  constexpr unsigned threads = 256;
  constexpr std::uint32_t none = 0xffffffffu;
  const device_buffer<std::uint32_t> first_bad(1, stream);
  check(cudaMemsetAsync(first_bad.data(), 0xff, sizeof none, stream),
        "clearing the first bad body");
  check(launch(find_bad_body<Real>, {(n - 1) / threads + 1, threads}, stream, positions, masses, n,
               largest_coordinate<Real>(), first_bad.data(), trace)
            .code(),
        "looking at the bodies");
  const auto read = [&](auto& to, const auto* from) {
    check(cudaMemcpyAsync(&to, from, sizeof to, cudaMemcpyDeviceToHost, stream),
          "reading the first bad body");
    check(cudaStreamSynchronize(stream), "looking at the bodies");
  };
  std::uint32_t bad = none;
  read(bad, first_bad.data());
  if (bad == none) return;

  point<Real, 3> x{};
  Real mass = 0;
  read(x, positions + bad);
  read(mass, masses + bad);
  std::ostringstream text;
  text << algorithm << ": ";
  if (!std::isfinite(mass)) {
    text << "masses[" << bad << "] is " << mass << "; it must be finite";
  } else {
    text << "positions[" << bad << "] is (" << x.x[0] << ", " << x.x[1] << ", " << x.x[2]
         << "); coordinates must be finite and at most " << largest_coordinate<Real>()
         << " in magnitude";
  }
  throw std::invalid_argument(text.str());
}

}  // namespace ramify::inline RAMIFY_BUILD
