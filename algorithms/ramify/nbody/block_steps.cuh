// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block time steps: a body on level k takes steps of dt / 2^k. So bodies with large accelerations
/// take more steps. A simulation takes a step of dt as follows; here the last level is 2:
///
///     level 0    |---------------------------------------|    kick, drift, kick
///     level 1    |-------------------|-------------------|    each for a body of this level
///     level 2    |---------|---------|---------|---------|
///     active     all       2         1, 2      2         all
///
/// All bodies drift from one of these times to the next, by their velocities in the middle of their
/// steps. Then forces are calculated for the active bodies, whose steps end. They get the second
/// kick of their step, and the first one of their next step. The next step may be on another level,
/// but on level k only at multiples of dt / 2^k, so all bodies are active at the end. The deepest
/// level with bodies decides the next time: no time passes without active bodies.
///
/// Unlike steps of one length, these are neither symplectic nor reversible, because accelerations
/// decide the levels. A body and the body that it acts on are kicked at different times, so the sum
/// of the momenta changes by the error of the steps. (Makino, 1991; Springel, 2005; Miki and
/// Umemura, 2017.)

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/nbody/leapfrog.cuh>
#include <vector>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The time within a step of dt, in units of the steps of the last level. Host only.
class step_clock {
 public:
  explicit step_clock(unsigned levels) : last_level_(levels - 1) {}

  [[nodiscard]] bool at_begin() const { return now_ == 0; }
  [[nodiscard]] bool at_end() const { return now_ == 1u << last_level_; }

  /// Returns the least level whose steps begin or end now.
  [[nodiscard]] unsigned least_active() const {
    return at_begin() ? 0 : last_level_ - static_cast<unsigned>(std::countr_zero(now_));
  }

  /// Advances by one step of `level`, whose steps must begin now.
  void advance(unsigned level) { now_ += 1u << (last_level_ - level); }

 private:
  unsigned last_level_;
  std::uint32_t now_ = 0;
};

/// The number of bodies on each level.
struct level_counts {
  std::uint32_t bodies[max_step_levels];

  /// Returns the last level with bodies, or 0.
  [[nodiscard]] unsigned deepest() const {
    unsigned level = max_step_levels - 1;
    while (level > 0 && bodies[level] == 0) --level;
    return level;
  }
  /// Returns the number of bodies on level `least` and on those after it.
  [[nodiscard]] std::size_t active(unsigned least) const {
    return std::accumulate(bodies + least, bodies + max_step_levels, std::size_t{0});
  }
};

/// Decides the level of a body.
struct level_criterion {
  unsigned levels;
  double bound;  ///< of |a| (dt / 2^k)^2

  explicit level_criterion(const nbody_config& config)
      : levels(config.step_levels), bound(2 * config.step_accuracy * config.softening) {}

  /// Returns the least level whose steps are short enough, or the last level.
  template <class Real>
  [[nodiscard]] __device__ unsigned level_of(const point<Real, 3>& acceleration, double dt) const {
    double a2 = 0;
    for (const double a : acceleration.x) a2 += a * a;
    double scale = std::sqrt(a2) * dt * dt;
    unsigned level = 0;
    for (; level + 1 < levels && !(scale <= bound); ++level) scale /= 4;
    return level;
  }
};

/// What happens at one time within a step of dt.
struct step_change {
  unsigned least_active;  ///< the bodies on this level and on those after it are active
  bool ends;              ///< the steps of active bodies end
  bool begins;            ///< steps of active bodies begin
  level_criterion criterion;
};

/// Ends and begins the steps of active bodies, and counts the bodies on each level. `counts` must
/// be zero. One thread for each body.
template <class Real>
__global__ void change_steps(point<Real, 3>* velocities, const point<Real, 3>* accelerations,
                             std::uint8_t* levels, std::uint32_t n, Real dt, step_change now,
                             level_counts* counts, trace_ticket trace) {
  const traced here(trace, __func__);
  __shared__ std::uint32_t of_block[max_step_levels];
  for (unsigned k = threadIdx.x; k < max_step_levels; k += blockDim.x) of_block[k] = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned level = levels[i];
    if (level >= now.least_active) {
      // 1. The second kick of the step that ends.
      if (now.ends) kick_body(velocities[i], accelerations[i], dt / static_cast<Real>(1u << level));
      // 2. The first kick of the step that begins. Its level must have steps that begin now.
      if (now.begins) {
        level = now.criterion.level_of(accelerations[i], dt);
        if (level < now.least_active) level = now.least_active;
        levels[i] = static_cast<std::uint8_t>(level);
        kick_body(velocities[i], accelerations[i], dt / static_cast<Real>(1u << level));
      }
    }
    atomicAdd(&of_block[level], 1u);
  }
  // 3. Add the counts of the block.
  __syncthreads();
  for (unsigned k = threadIdx.x; k < max_step_levels; k += blockDim.x) {
    if (of_block[k] > 0) atomicAdd(&counts->bodies[k], of_block[k]);
  }
}

/// Moves all bodies by their velocities for the time dt. One thread for each body.
template <class Real>
__global__ void drift(point<Real, 3>* positions, const point<Real, 3>* velocities, std::uint32_t n,
                      Real dt, trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) drift_body(positions[i], velocities[i], dt);
}

/// The bodies of a simulation, and where its steps record their grids.
template <class Real>
struct moving_bodies {
  point<Real, 3>* positions;
  point<Real, 3>* velocities;
  const point<Real, 3>* accelerations;
  std::uint32_t n;  ///< at least 1
  cudaStream_t stream;
  trace_ticket trace;
};

/// The levels of the bodies of a simulation, and the grids that change them.
class block_steps {
 public:
  block_steps() = default;
  /// Takes memory for n bodies from the stream-ordered pool. \throws cuda_error
  block_steps(std::size_t n, const nbody_config& config, cudaStream_t stream)
      : levels_(n, stream), counts_(1, stream), criterion_(config) {
    if (n > 0) clear_memory(levels_.data(), n, stream, "clearing the levels of the bodies");
  }

  /// Takes a step of dt. The accelerations must be those of the positions; they are, too, when it
  /// returns. It calls forces(active), which must calculate the accelerations of the active bodies,
  /// and waits for the stream. Returns the number of grids that it launched itself.
  /// Not for: no bodies. \throws cuda_error, and what `forces` throws
  template <class Real, class Forces>
  std::uint64_t take(const moving_bodies<Real>& bodies, Real dt, Forces forces) {
    step_clock clock(criterion_.levels);
    change(bodies, dt, clock);
    std::uint64_t grids = 1;
    while (!clock.at_end()) {
      const unsigned level = found_.deepest();
      clock.advance(level);
      runtime::launch_each(drift<Real>, bodies.n, bodies.stream, "drifting", bodies.positions,
                           bodies.velocities, bodies.n, dt / static_cast<Real>(1u << level),
                           bodies.trace);
      const unsigned least = clock.least_active();
      forces(active_bodies{levels_.data(), least, found_.active(least)});
      change(bodies, dt, clock);
      grids += 2;
    }
    return grids;
  }

  /// Returns the number of bodies on each level in the last step.
  [[nodiscard]] std::vector<std::uint64_t> bodies_on_level() const {
    return {found_.bodies, found_.bodies + criterion_.levels};
  }

 private:
  /// Ends and begins the steps of active bodies, and waits for the counts.
  template <class Real>
  void change(const moving_bodies<Real>& bodies, Real dt, const step_clock& now) {
    clear_memory(counts_.data(), 1, bodies.stream, "clearing the counts of levels");
    runtime::launch_each(
        change_steps<Real>, bodies.n, bodies.stream, "changing the time steps", bodies.velocities,
        bodies.accelerations, levels_.data(), bodies.n, dt,
        step_change{now.least_active(), !now.at_begin(), !now.at_end(), criterion_}, counts_.data(),
        bodies.trace);
    found_ = read_back(counts_.data(), bodies.stream, "reading the counts of levels");
  }

  device_buffer<std::uint8_t> levels_;
  device_buffer<level_counts> counts_;
  level_criterion criterion_{nbody_config{}};
  level_counts found_{};
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
