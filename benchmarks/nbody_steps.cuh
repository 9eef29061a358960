// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Whole simulations with block time steps, and with steps of one length and the same error of the
/// energy. It needs no GPU: a C++ compiler compiles it for the CPU executor.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ramify/nbody.cuh>
#include <string>
#include <vector>

#include "bodies.hpp"
#include "measure.hpp"

namespace benchmark {

/// Measures simulations of one Plummer sphere, in double.
class step_bench {
  using vector = ramify::point<double, 3>;

 public:
  explicit step_bench(std::size_t n) {
    const common::bodies sphere = common::make_plummer_sphere(n, 1);
    for (const auto& x : sphere.positions) positions_.push_back({{x[0], x[1], x[2]}});
    for (const auto& v : sphere.velocities) velocities_.push_back({{v[0], v[1], v[2]}});
    masses_ = sphere.masses;
  }

  /// The columns of the rows that measure() adds.
  static std::vector<std::string> columns() {
    return {"softening",           "levels",  "steps",     "force calculations / body",
            "energy error, 10^-6", "run, ms", "time ratio"};
  }

  /// Adds a row for block steps, and one for steps of one length: the least number, among powers of
  /// two times that of the block steps, with which the energy has at most the same error. If not
  /// even the shortest block step has, the row is of that step.
  void measure(recorder& out, double softening) {
    ramify::nbody_config config{.theta = 0.4, .softening = softening, .step_levels = levels};
    const outcome blocks = simulate(config, steps);
    add_row(out, config, steps, blocks, blocks);
    config.step_levels = 1;
    std::uint64_t equal_steps = steps;
    outcome equal = simulate(config, equal_steps);
    while (equal.energy_error > blocks.energy_error && equal_steps < steps << (levels - 1)) {
      equal_steps *= 2;
      equal = simulate(config, equal_steps);
    }
    add_row(out, config, equal_steps, equal, blocks);
  }

 private:
  static constexpr unsigned levels = 10;
  static constexpr std::uint64_t steps = 4;
  static constexpr double duration = 0.25;  // in standard units

  struct outcome {
    double energy_error = 0;  // maximum relative change at `steps` times
    double milliseconds = 0;
    std::uint64_t force_calculations = 0;
  };

  [[nodiscard]] outcome simulate(const ramify::nbody_config& config, std::uint64_t count) const {
    using clock = std::chrono::steady_clock;
    ramify::nbody_system<double> system(positions_.data(), velocities_.data(), masses_.data(),
                                        masses_.size(), nullptr, config);
    const double first = system.conserved().energy();
    outcome found;
    for (std::uint64_t sample = 0; sample < steps; ++sample) {
      const auto begin = clock::now();
      system.step(duration / static_cast<double>(count), count / steps);  // waits
      const std::chrono::duration<double, std::milli> elapsed = clock::now() - begin;
      found.milliseconds += elapsed.count();
      const double change = std::abs(system.conserved().energy() / first - 1);
      found.energy_error = std::max(found.energy_error, change);
    }
    found.force_calculations = system.report().force_calculations - masses_.size();
    return found;
  }

  void add_row(recorder& out, const ramify::nbody_config& config, std::uint64_t count,
               const outcome& found, const outcome& blocks) const {
    out.row({config.softening, config.step_levels, count,
             static_cast<double>(found.force_calculations) / static_cast<double>(masses_.size()),
             1e6 * found.energy_error, found.milliseconds,
             found.milliseconds / blocks.milliseconds});
  }

  std::vector<vector> positions_, velocities_;
  std::vector<double> masses_;
};

}  // namespace benchmark
