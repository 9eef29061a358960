// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The direct sum over all pairs of bodies, by tiles in shared memory (Nyland, Harris and Prins,
/// 2007). It is the reference for the tree code, and faster for few bodies.

#include <cstddef>
#include <cstdint>
#include <optional>
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
  const std::uint32_t* first_invalid;
  trace_ticket trace;
};

inline constexpr unsigned direct_sum_threads = 256;

/// Sums all interactions of each body in [begin, end). One thread for each body. The block loads a
/// tile of bodies into shared memory, and all its threads add the tile.
template <class Real>
__global__ void __launch_bounds__(direct_sum_threads) direct_sum(direct_sum_arguments<Real> d) {
  const traced here(d.trace, __func__);
  if (*d.first_invalid != no_invalid_body) return;  // no result is written
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

/// A direct sum that direct_gravity_async() started. Movable; a moved-from object may only be
/// destroyed. The destructor neither waits for the sum nor checks it.
template <class Real>
class [[nodiscard(
    "call get(): it waits for the sum, checks it and returns the report")]] direct_gravity_run {
  using arrays = detail::nbody::device_arrays<Real>;

 public:
  /// Starts a direct sum; see direct_gravity_async().
  direct_gravity_run(const arrays& bodies, body_range range, cudaStream_t stream,
                     const nbody_config& config, const scratch_memory& scratch)
      : arrays_(bodies), stream_(stream), trace_(config.trace) {
    using namespace detail::nbody;
    static_cast<run_report&>(report_) = report_of_this_build();
    report_.method = nbody_method::direct;
    report_.taken = route::flat;
    report_.route_reason = "a direct sum has no recursion";
    report_.bodies = arrays_.n;
    if (arrays_.results == 0) return;
    scratch_.emplace(scratch, sizeof(std::uint32_t), stream);
    recorder_.emplace(config.trace, stream);
    launch_check_of_bodies(arrays_, first_invalid(), stream, recorder_->ticket());
    const auto softening = static_cast<Real>(config.softening);
    const direct_sum_arguments<Real> arguments{arrays_.positions,
                                               arrays_.masses,
                                               static_cast<std::uint32_t>(arrays_.n),
                                               range.begin,
                                               range.end,
                                               softening * softening,
                                               static_cast<Real>(config.gravitational_constant),
                                               arrays_.accelerations,
                                               arrays_.potentials,
                                               first_invalid(),
                                               recorder_->ticket()};
    const auto blocks = static_cast<unsigned>((arrays_.results - 1) / direct_sum_threads + 1);
    check(launch(direct_sum<Real>, {blocks, direct_sum_threads}, stream, arguments).code(),
          "summing all pairs");
    report_.host_grids = 2;
    report_.interactions = std::uint64_t{arrays_.results} * (arrays_.n - 1);
  }

  /// Waits for the sum and returns its report. Call it once; or, if a graph captured the sum, after
  /// each of its launches.
  /// \throws std::invalid_argument naming the first invalid body; std::logic_error while the stream
  ///         is being captured; cuda_error
  nbody_report get() {
    using namespace detail::nbody;
    if (!scratch_) return report_;
    require_no_capture(stream_, "direct_gravity");
    if (trace_ != nullptr) trace_->taken = report_.taken;
    const std::uint32_t invalid = read_object(first_invalid(), stream_);
    recorder_->read();
    throw_if_invalid(invalid, arrays_, "direct_gravity", stream_);
    return report_;
  }

 private:
  [[nodiscard]] std::uint32_t* first_invalid() const {
    return static_cast<std::uint32_t*>(scratch_->data());
  }

  arrays arrays_;
  cudaStream_t stream_;
  launch_trace* trace_;
  std::optional<scratch_space> scratch_;
  std::optional<detail::runtime::trace_recorder> recorder_;
  nbody_report report_;
};

/// Returns the scratch memory of a direct sum, in bytes.
[[nodiscard]] constexpr std::size_t direct_gravity_scratch_bytes() {
  return memory_layout::alignment;
}

/// Starts to calculate the accelerations of the bodies of `range` by the direct sum over all n
/// bodies, and their potentials unless `potentials` is null. The results of body range.begin are at
/// index 0. Reads no theta, method, leaf_size or route. Asynchronous; a graph may capture it, with
/// scratch memory. All arrays must exist until get() has returned. O(n) for each body of the range.
/// \param scratch  memory of direct_gravity_scratch_bytes(); empty: from the stream-ordered pool
/// \throws std::invalid_argument, cuda_error
template <class Real>
direct_gravity_run<Real> direct_gravity_async(const point<Real, 3>* positions, const Real* masses,
                                              std::size_t n, point<Real, 3>* accelerations,
                                              Real* potentials = nullptr,
                                              cudaStream_t stream = nullptr,
                                              const nbody_config& config = {},
                                              body_range range = {}, scratch_memory scratch = {}) {
  using namespace detail::nbody;
  validate(config);
  validate_range<Real>(config);
  if (range.end > n) range.end = static_cast<std::uint32_t>(n);
  if (range.begin > range.end) {
    throw std::invalid_argument("direct_gravity: range.begin is " + std::to_string(range.begin) +
                                "; it must be at most range.end and n, " +
                                std::to_string(range.end));
  }
  const device_arrays<Real> arrays{positions,     masses,     n,
                                   accelerations, potentials, range.end - range.begin};
  check_arguments(arrays, "direct_gravity");
  check_scratch(scratch, direct_gravity_scratch_bytes(), is_being_captured(stream),
                "direct_gravity");
  return {arrays, range, stream, config, scratch};
}

/// Calculates accelerations by the direct sum and waits for `stream`: direct_gravity_async() and
/// get(). \throws std::invalid_argument before anything is written; cuda_error
template <class Real>
nbody_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                            point<Real, 3>* accelerations, Real* potentials = nullptr,
                            cudaStream_t stream = nullptr, const nbody_config& config = {},
                            body_range range = {}) {
  return direct_gravity_async(positions, masses, n, accelerations, potentials, stream, config,
                              range)
      .get();
}

}  // namespace ramify::inline RAMIFY_BUILD
