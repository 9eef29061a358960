// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block time steps in plain C++, by the direct sum in double: a reference for simulations. Each
/// body has its own end of a step, and no body's level is used for another one.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/nbody/config.hpp>
#include <vector>

#include "clouds.hpp"
#include "kepler.hpp"
#include "nbody/bodies.hpp"

namespace tests {

/// Bodies that move by block time steps.
struct reference_steps {
  /// Faults in the steps.
  enum class fault {
    none,
    unaligned,       ///< a step may become longer at any time
    frozen_sources,  ///< only active bodies drift
    late_kick,       ///< the second kick has the length of the next step
  };

  reference_steps(const common::bodies& initial, const ramify::nbody_options& of)
      : bodies(initial), options(of), accelerations(forces()) {}

  void step(double dt, fault inserted = fault::none) {
    const unsigned last = options.step_levels - 1;
    const std::uint32_t end = 1u << last;
    const std::size_t n = bodies.size();
    levels.assign(n, 0);
    std::vector<std::uint32_t> ends(n, 0);
    for (std::uint32_t now = 0;;) {
      // 1. Begin the steps of the bodies whose steps have ended.
      for (std::size_t i = 0; i < n; ++i) {
        if (ends[i] != now) continue;
        levels[i] = level_of(i, dt);
        const auto length = [&] { return end >> levels[i]; };
        const bool aligned = inserted != fault::unaligned;
        while ((aligned && now % length() != 0) || now + length() > end) ++levels[i];
        ends[i] = now + length();
        kick(i, dt);
      }
      // 2. Drift to the next end of a step.
      const std::uint32_t next = *std::ranges::min_element(ends);
      for (std::size_t i = 0; i < n; ++i) {
        if (inserted == fault::frozen_sources && ends[i] != next) continue;
        for (std::size_t k = 0; k < 3; ++k) {
          bodies.positions[i][k] += bodies.velocities[i][k] * (dt * (next - now) / end);
        }
      }
      now = next;
      // 3. End the steps that end now.
      const auto after = forces();
      for (std::size_t i = 0; i < n; ++i) {
        if (ends[i] != now) continue;
        accelerations[i] = after[i];
        ++force_calculations;
        if (inserted == fault::late_kick) levels[i] = level_of(i, dt);
        kick(i, dt);
      }
      if (now == end) return;
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> bodies_on_level() const {
    std::vector<std::uint64_t> counts(options.step_levels);
    for (const unsigned level : levels) ++counts[level];
    return counts;
  }

  common::bodies bodies;
  ramify::nbody_options options;
  std::vector<vector3> accelerations;
  std::vector<unsigned> levels;
  std::uint64_t force_calculations = 0;

 private:
  [[nodiscard]] std::vector<vector3> forces() const {
    return sum_of_pairs({bodies.positions, bodies.masses}, options.softening,
                        options.gravitational_constant)
        .accelerations;
  }
  /// Returns the level of the longest step that the criterion allows.
  [[nodiscard]] unsigned level_of(std::size_t i, double dt) const {
    const double longest =
        std::sqrt(2 * options.step_accuracy * options.softening / distance(accelerations[i], {}));
    const double level = std::ceil(std::log2(std::abs(dt) / longest));
    return static_cast<unsigned>(std::clamp(level, 0.0, options.step_levels - 1.0));
  }
  void kick(std::size_t i, double dt) {
    for (std::size_t k = 0; k < 3; ++k) {
      bodies.velocities[i][k] += accelerations[i][k] * std::ldexp(dt, -int(levels[i]) - 1);
    }
  }
};

}  // namespace tests
