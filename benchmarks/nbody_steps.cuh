// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Whole simulations with block time steps, and with steps of one length and the same error of the
/// energy. It needs no GPU: a C++ compiler compiles it for the CPU executor.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <ramify/nbody.cuh>
#include <string>
#include <vector>

#include "measure.hpp"
#include "nbody/bodies.hpp"

namespace benchmark {

/// Adds a Plummer sphere with a mass and a size, which are 1 in standard units, to `all`.
inline void add_sphere(common::bodies& all, std::size_t n, std::uint64_t seed, double mass,
                       double size) {
  const common::bodies sphere = common::make_plummer_sphere(n, seed);
  const double speed = std::sqrt(mass / size);
  for (std::size_t i = 0; i < n; ++i) {
    auto x = sphere.positions[i];
    auto v = sphere.velocities[i];
    for (double& c : x) c *= size;
    for (double& c : v) c *= speed;
    all.positions.push_back(x);
    all.velocities.push_back(v);
    all.masses.push_back(mass * sphere.masses[i]);
  }
}

/// A simulation: its bodies, of equal masses, and its duration in standard units.
struct step_scene {
  std::string name;
  double
      core_mass;  ///< of a second Plummer sphere in the center of the first; the mass of both is 1
  double core_size;  ///< relative to the first
  const char* softening;
  double duration;
};

/// Measures simulations of one scene, in double.
class step_bench {
  using vector = ramify::point<double, 3>;

 public:
  step_bench(const step_scene& scene, std::size_t n) : scene_(scene) {
    common::bodies all;
    const auto core = static_cast<std::size_t>(scene.core_mass * static_cast<double>(n));
    add_sphere(all, n - core, 1, 1 - scene.core_mass, 1);
    if (core > 0) add_sphere(all, core, 2, scene.core_mass, scene.core_size);
    for (const auto& x : all.positions) positions_.push_back({{x[0], x[1], x[2]}});
    for (const auto& v : all.velocities) velocities_.push_back({{v[0], v[1], v[2]}});
    masses_ = all.masses;
  }

  /// The columns of the rows that measure() adds.
  static std::vector<std::string> columns() {
    return {"bodies",
            "softening",
            "levels",
            "accuracy",
            "steps",
            "force calculations / body",
            "energy error, 10^-6",
            "run, ms",
            "equal steps for this error, ms",
            "gain"};
  }

  /// Adds a row for block steps of each accuracy, and one for each number of steps of one length
  /// that was necessary for the comparison. The time for the error of the block steps is
  /// interpolated between two numbers of steps, of which the larger one has at most this error.
  void measure(recorder& out) {
    for (const double accuracy : {0.4, 0.1, 0.025}) {
      const outcome blocks = simulate(levels, accuracy, steps);
      const double equal_ms = time_of_equal_steps(blocks.energy_error);
      add_row(out, levels, accuracy, steps, blocks, equal_ms, equal_ms / blocks.milliseconds);
    }
    for (const auto& [count, found] : equal_) add_row(out, 1, "", count, found, "", "");
  }

 private:
  static constexpr unsigned levels = 14;
  static constexpr std::uint64_t steps = 8;
  static constexpr std::uint64_t most_steps = 1024;

  struct outcome {
    double energy_error = 0;  // maximum relative change at `steps` times
    double milliseconds = 0;
    std::uint64_t force_calculations = 0;
  };

  [[nodiscard]] outcome simulate(unsigned step_levels, double accuracy, std::uint64_t count) const {
    using clock = std::chrono::steady_clock;
    const ramify::nbody_options options{.theta = 0.4,
                                        .softening = std::stod(scene_.softening),
                                        .step_levels = step_levels,
                                        .step_accuracy = accuracy};
    ramify::nbody_system<double> system(positions_.data(), velocities_.data(), masses_.data(),
                                        masses_.size(), options);
    const double first = system.conserved().energy();
    outcome found;
    for (std::uint64_t sample = 0; sample < steps; ++sample) {
      const auto begin = clock::now();
      system.step(scene_.duration / static_cast<double>(count), count / steps);  // waits
      const std::chrono::duration<double, std::milli> elapsed = clock::now() - begin;
      found.milliseconds += elapsed.count();
      const double change = std::abs(system.conserved().energy() / first - 1);
      found.energy_error = std::max(found.energy_error, change);
    }
    found.force_calculations = system.report().force_calculations - masses_.size();
    return found;
  }

  /// Returns the time of steps of one length with an error of the energy. If even most_steps have a
  /// larger error, it is the time of these.
  double time_of_equal_steps(double error) {
    const outcome* fewer = nullptr;
    for (std::uint64_t count = steps;; count *= 2) {
      if (!equal_.contains(count)) equal_[count] = simulate(1, 1, count);
      const outcome& now = equal_[count];
      if (now.energy_error > error && count < most_steps) {
        fewer = &now;
        continue;
      }
      if (fewer == nullptr || now.energy_error > error) return now.milliseconds;
      const double part =
          std::log(fewer->energy_error / error) / std::log(fewer->energy_error / now.energy_error);
      return fewer->milliseconds * std::pow(now.milliseconds / fewer->milliseconds, part);
    }
  }

  void add_row(recorder& out, unsigned step_levels, const cell& accuracy, std::uint64_t count,
               const outcome& found, const cell& equal_ms, const cell& gain) const {
    out.row({scene_.name, scene_.softening, step_levels, accuracy, count,
             static_cast<double>(found.force_calculations) / static_cast<double>(masses_.size()),
             1e6 * found.energy_error, found.milliseconds, equal_ms, gain});
  }

  step_scene scene_;
  std::vector<vector> positions_, velocities_;
  std::vector<double> masses_;
  std::map<std::uint64_t, outcome> equal_;  // by number of steps
};

}  // namespace benchmark
