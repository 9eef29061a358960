// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Random states of a gas.

#include <cmath>
#include <limits>
#include <ramify/amr/physics/euler.cuh>
#include <random>

namespace tests {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Random primitive values. Density and pressure are spread over twelve orders of magnitude each;
/// velocities reach five times the speed of sound.
template <class Real, int dim>
class random_gas {
 public:
  using values = typename ramify::euler<Real, dim>::values;

  explicit random_gas(unsigned seed) : numbers_(seed) {}

  values operator()() {
    values gas;
    gas[0] = Real(std::pow(10, 6 * symmetric()));
    gas[dim + 1] = Real(std::pow(10, 6 * symmetric()));
    const double sound = std::sqrt(1.4 * double(gas[dim + 1]) / double(gas[0]));
    for (int i = 0; i < dim; ++i) gas[1 + i] = Real(5 * sound * symmetric());
    return gas;
  }

  /// Returns two states for the sides of a face. Their densities differ by at most a factor of a
  /// hundred, and so do their pressures.
  std::pair<values, values> neighbors() {
    std::pair<values, values> both{(*this)(), {}};
    both.second = both.first;
    both.second[0] *= Real(std::pow(10, 2 * symmetric()));
    both.second[dim + 1] *= Real(std::pow(10, 2 * symmetric()));
    const double sound = std::sqrt(1.4 * double(both.second[dim + 1]) / double(both.second[0]));
    for (int i = 0; i < dim; ++i) both.second[1 + i] = Real(3 * sound * symmetric());
    return both;
  }

 private:
  /// Returns a number between -1 and 1. std::uniform_real_distribution is not used, because it
  /// differs between libraries.
  double symmetric() { return std::ldexp(double(numbers_()), -31) - 1; }

  std::mt19937 numbers_;
};

}  // namespace tests
