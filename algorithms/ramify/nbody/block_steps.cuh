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
  /// Returns the time as a fraction of dt.
  [[nodiscard]] double fraction() const { return std::ldexp(now_, -static_cast<int>(last_level_)); }
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

  explicit level_criterion(const nbody_options& options)
      : levels(options.step_levels), bound(2 * options.step_accuracy * options.softening) {}

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

/// The state of the steps. Kernels write it; the host reads it after each change of steps.
struct steps_state {
  level_counts counts;
  gravity_progress forces;  ///< sums over the refits of a step
};

/// The bodies of a simulation, and where its steps record their grids.
template <class Real>
struct moving_bodies {
  device_arrays<Real> bodies;  ///< at least 1, in the caller's order
  point<Real, 3>* positions;   ///< bodies.positions
  point<Real, 3>* velocities;
  cudaStream_t stream;
  trace_ticket trace;

  [[nodiscard]] __device__ std::uint32_t n() const { return static_cast<std::uint32_t>(bodies.n); }
};

/// Ends and begins the steps of active bodies, and updates the number of bodies on each level. One
/// thread for each body.
template <class Real, class External>
__global__ void change_steps(moving_bodies<Real> all, std::uint8_t* levels, Real dt,
                             step_change now, level_counts* counts,
                             external_forces<Real, External> external) {
  const traced here(all.trace, __func__);
  __shared__ std::uint32_t added[max_step_levels];  // modulo 2^32
  for (unsigned k = threadIdx.x; k < max_step_levels; k += blockDim.x) added[k] = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned level = i < all.n() ? levels[i] : 0;
  if (i < all.n() && level >= now.least_active) {
    point<Real, 3>& velocity = all.velocities[i];
    const point<Real, 3> gravity = all.bodies.accelerations[i];
    const point<Real, 3>& position = all.positions[i];
    // 1. The second kick of the step that ends.
    if (now.ends) {
      external.end_step(velocity, gravity, position, dt / static_cast<Real>(1u << level), i);
    }
    // 2. The first kick of the step that begins. Its level must have steps that begin now.
    if (now.begins) {
      const point<Real, 3> acceleration = external.total(gravity, position, velocity, i);
      unsigned next = now.criterion.level_of(acceleration, dt);
      if (next < now.least_active) next = now.least_active;
      kick_body(velocity, acceleration, dt / static_cast<Real>(1u << next));
      if (next != level) {
        levels[i] = static_cast<std::uint8_t>(next);
        atomicAdd(&added[next], 1u);
        atomicSub(&added[level], 1u);
      }
    } else {
      external.after_step(position, velocity, i);
    }
  }
  // 3. Add the changes of the block.
  __syncthreads();
  for (unsigned k = threadIdx.x; k < max_step_levels; k += blockDim.x) {
    if (added[k] != 0) atomicAdd(&counts->bodies[k], added[k]);
  }
}

/// Moves all bodies by their velocities for the time dt. One thread for each body.
template <class Real>
__global__ void drift(moving_bodies<Real> all, Real dt) {
  const traced here(all.trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < all.n()) drift_body(all.positions[i], all.velocities[i], dt);
}

/// The levels of the bodies of a simulation, and the grids that change them.
class block_steps {
 public:
  block_steps() = default;
  /// Takes memory for n bodies from the stream-ordered pool. \throws cuda_error
  block_steps(std::size_t n, const nbody_options& options, cudaStream_t stream)
      : levels_(n, stream), state_(1, stream), criterion_(options) {
    if (n == 0) return;
    clear_memory(levels_.data(), n, stream, "clearing the levels of the bodies");
    found_.counts.bodies[0] = static_cast<std::uint32_t>(n);
    check(cudaMemcpyAsync(state_.data(), &found_, sizeof found_, cudaMemcpyHostToDevice, stream),
          "writing the state of the steps");
  }

  /// Takes a step of dt. There must be at least one body. The accelerations must be those of the
  /// positions, and are so when it returns. It calls forces.advance(dt_k, active, progress), which
  /// must move all bodies for the time dt_k, and calculate the accelerations of the active ones;
  /// `progress` is memory for a refit. After each change of steps it waits for the stream, and
  /// calls forces.check(progress).
  /// Returns the number of grids that it launched itself.
  /// \throws cuda_error, and what `forces` throws
  template <class Real, class Forces, class External>
  std::uint64_t take(const moving_bodies<Real>& all, Real dt, Forces& forces,
                     const external_forces<Real, External>& external) {
    clear_progress(&state_.data()->forces, all.stream);
    step_clock clock(criterion_.levels);
    change(all, dt, clock, external);
    std::uint64_t grids = 1;
    while (!clock.at_end()) {
      const unsigned level = found_.counts.deepest();
      clock.advance(level);
      const unsigned least = clock.least_active();
      forces.advance(dt / static_cast<Real>(1u << level),
                     active_bodies{levels_.data(), least, found_.counts.active(least)},
                     &state_.data()->forces);
      change(all, dt, clock, external);
      forces.check(found_.forces);
      ++grids;
    }
    return grids;
  }

  /// Returns the progress of the refits of the last step.
  [[nodiscard]] const gravity_progress& progress_of_refits() const { return found_.forces; }
  /// Returns the number of bodies on each level in the last step.
  [[nodiscard]] std::vector<std::uint64_t> bodies_on_level() const {
    const auto& bodies = found_.counts.bodies;
    return {bodies, bodies + criterion_.levels};
  }

 private:
  /// Ends and begins the steps of active bodies, and waits for the state.
  template <class Real, class External>
  void change(const moving_bodies<Real>& all, Real dt, const step_clock& now,
              const external_forces<Real, External>& external) {
    runtime::launch_each(
        change_steps<Real, External>, all.bodies.n, all.stream, "changing the time steps", all,
        levels_.data(), dt,
        step_change{now.least_active(), !now.at_begin(), !now.at_end(), criterion_},
        &state_.data()->counts, external.later(dt * now.fraction()));
    found_ = read_back(state_.data(), all.stream, "reading the state of the steps");
  }

  device_buffer<std::uint8_t> levels_;
  device_buffer<steps_state> state_;
  level_criterion criterion_{nbody_options{}};
  steps_state found_{};
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
