// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Random numbers of generators.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace common {

/// Random numbers. The distributions of the standard library are not portable.
class sampler {
 public:
  explicit sampler(std::uint64_t seed) : random_(seed) {}

  /// Returns a number in [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// Returns a number in [low, high).
  double between(double low, double high) { return low + (high - low) * uniform(); }

  /// Returns a normally distributed number, by the method of Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace common
