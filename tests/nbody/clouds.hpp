// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Clouds of bodies, their fields by a plain sum over all pairs, and errors of fields.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/config.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "nbody/bodies.hpp"

namespace tests {

template <class Real>
struct cloud {
  std::vector<std::array<Real, 3>> positions;
  std::vector<Real> masses;
};

/// The accelerations and potentials of all bodies of a cloud, and the report of their calculation.
template <class Real>
struct field {
  std::vector<std::array<Real, 3>> accelerations;
  std::vector<Real> potentials;
  ramify::nbody_report report;
};

using vector3 = std::array<double, 3>;

/// Random numbers that are the same on every platform.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  /// Returns a number in [-1, 1).
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state_)) * 0x1p-63;
  }

 private:
  std::uint64_t state_;
};

inline cloud<double> plummer_cloud(std::size_t n, std::uint64_t seed = 1) {
  common::bodies sphere = common::make_plummer_sphere(n, seed);
  return {std::move(sphere.positions), std::move(sphere.masses)};
}

enum class shape { cube, shell, line, diagonal, two_clusters, lattice, pairs, far_away, one_heavy };
inline constexpr shape all_shapes[] = {shape::cube,     shape::shell,        shape::line,
                                       shape::diagonal, shape::two_clusters, shape::lattice,
                                       shape::pairs,    shape::far_away,     shape::one_heavy};

inline std::string_view to_string(shape s) {
  constexpr std::string_view names[] = {"cube",    "shell", "line",     "diagonal", "two clusters",
                                        "lattice", "pairs", "far away", "one heavy"};
  return names[static_cast<std::size_t>(s)];
}

inline cloud<double> make_cloud(shape s, std::size_t n) {
  numbers random(n + 17);
  cloud<double> all;
  for (std::size_t i = 0; i < n; ++i) {
    vector3 x{random.next(), random.next(), random.next()};
    double m = 1.5 + random.next();
    switch (s) {
      case shape::cube: break;
      case shape::shell: {
        const double r = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (double& c : x) c /= r;
        break;
      }
      case shape::line: x[1] = x[2] = 0.25; break;
      case shape::diagonal: x[1] = x[2] = x[0]; break;
      case shape::two_clusters:
        for (double& c : x) c = c * 1e-3 + (i % 2 == 0 ? 5 : -5);
        break;
      case shape::lattice: x = {double(i % 10), double(i / 10 % 10), double(i / 100)}; break;
      case shape::pairs:  // two bodies at each position
        if (i % 2 == 1) x = all.positions.back();
        break;
      case shape::far_away: x[0] += 1e6; break;
      case shape::one_heavy: m = i == n / 2 ? 1e6 : m; break;
    }
    all.positions.push_back(x);
    all.masses.push_back(m);
  }
  return all;
}

/// Calculates the field by the sum over all pairs, in double.
inline field<double> sum_of_pairs(const cloud<double>& c, double softening, double g = 1) {
  const std::size_t n = c.masses.size();
  field<double> sum;
  sum.accelerations.resize(n);
  sum.potentials.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      vector3 d;
      double r2 = softening * softening;
      for (std::size_t k = 0; k < 3; ++k) {
        d[k] = c.positions[j][k] - c.positions[i][k];
        r2 += d[k] * d[k];
      }
      if (i == j || r2 == 0) continue;
      const double r = std::sqrt(r2);
      for (std::size_t k = 0; k < 3; ++k) {
        sum.accelerations[i][k] += g * c.masses[j] * d[k] / (r2 * r);
      }
      sum.potentials[i] -= g * c.masses[j] / r;
    }
  }
  return sum;
}

/// Returns the greater of two errors; NaN counts as infinite.
inline double greater_error(double a, double b) {
  return a >= b ? a : (b >= a ? b : std::numeric_limits<double>::infinity());
}

/// The error of a field.
struct field_error {
  double rms = 0;        ///< root mean square of the relative errors of the bodies' accelerations
  double max = 0;        ///< maximum relative error of an acceleration
  double potential = 0;  ///< maximum relative error of a potential
};

template <class Real>
field_error error_of(const field<Real>& found, const field<double>& truth) {
  field_error e;
  const std::size_t n = truth.potentials.size();
  for (std::size_t i = 0; i < n; ++i) {
    double error2 = 0;
    double norm2 = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double d = double(found.accelerations[i][k]) - truth.accelerations[i][k];
      error2 += d * d;
      norm2 += truth.accelerations[i][k] * truth.accelerations[i][k];
    }
    const double relative = norm2 == 0 ? std::sqrt(error2) : std::sqrt(error2 / norm2);
    e.rms += relative * relative / double(n);
    e.max = greater_error(e.max, relative);
    const double phi = truth.potentials[i];
    const double d = std::abs(double(found.potentials[i]) - phi);
    e.potential = greater_error(e.potential, phi == 0 ? d : d / std::abs(phi));
  }
  e.rms = std::sqrt(e.rms);
  return e;
}

/// Returns the root mean square of the errors of the accelerations, divided by that of the
/// accelerations.
template <class Real>
double total_error(const field<Real>& found, const field<double>& truth) {
  double error2 = 0;
  double norm2 = 0;
  for (std::size_t i = 0; i < truth.potentials.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      error2 += std::pow(double(found.accelerations[i][k]) - truth.accelerations[i][k], 2);
      norm2 += std::pow(truth.accelerations[i][k], 2);
    }
  }
  return std::sqrt(error2 / norm2);
}

}  // namespace tests
