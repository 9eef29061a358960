// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The orbit of two bodies.

#include <cmath>
#include <numbers>
#include <vector>

#include "clouds.hpp"

namespace tests {

inline double distance(const vector3& a, const vector3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Two bodies of masses 3 and 1 that start at their maximum distance.
struct kepler {
  explicit kepler(double e) : eccentricity(e) {
    const double apart = semi_axis * (1 + eccentricity);
    const double speed =
        std::sqrt(gravity * 4 / semi_axis * (1 - eccentricity) / (1 + eccentricity));
    positions = {{-apart / 4, 0, 0}, {apart * 3 / 4, 0, 0}};
    velocities = {{0, -speed / 4, 0}, {0, speed * 3 / 4, 0}};
  }
  [[nodiscard]] static double period() {
    return 2 * std::numbers::pi * std::sqrt(semi_axis * semi_axis * semi_axis / (gravity * 4));
  }
  /// Returns the vector from the first body to the second one at a time, by Kepler's equation.
  [[nodiscard]] vector3 apart_at(double time) const {
    const double mean_anomaly = std::numbers::pi * (1 + 2 * time / period());
    double anomaly = std::numbers::pi;
    for (int i = 0; i < 100; ++i) {
      anomaly -= (anomaly - eccentricity * std::sin(anomaly) - mean_anomaly) /
                 (1 - eccentricity * std::cos(anomaly));
    }
    return {semi_axis * (eccentricity - std::cos(anomaly)),
            -semi_axis * std::sqrt(1 - eccentricity * eccentricity) * std::sin(anomaly), 0};
  }
  static constexpr double semi_axis = 2;
  static constexpr double gravity = 0.5;
  double eccentricity;
  std::vector<vector3> positions;
  std::vector<vector3> velocities;
  std::vector<double> masses{3, 1};
};

}  // namespace tests
