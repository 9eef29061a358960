// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exact solution for a blast: energy released at a point (line, plane) of a cold, uniform gas.

#include "exact_riemann.hpp"

namespace tests {

/// L. I. Sedov's self-similar solution, in the form of J. R. Kamm and F. X. Timmes, On efficient
/// generation of numerically robust Sedov solutions, LA-UR-07-2849 (2007), for a uniform density.
class sedov_blast {
 public:
  /// `dimensions`: 3 for a point, 2 for a line (`energy` per length), 1 for a plane (per area).
  /// `density`: of the gas before the blast, which has no pressure. 1 < gamma < 2; at 2 the
  /// formulas divide by 0.
  sedov_blast(int dimensions, double gamma, double energy, double density = 1);

  /// Energy = alpha * density * radius^(dimensions + 2) / time^2.
  [[nodiscard]] double alpha() const { return alpha_; }

  /// Of the shock.
  [[nodiscard]] double radius(double time) const;

  /// The gas at a distance from the centre. Its velocity is outward.
  [[nodiscard]] gas at(double distance, double time) const;

 private:
  /// At a distance of `lambda` radii, velocity, density and pressure as shares of those behind the
  /// shock; and Kamm and Timmes' variable v.
  struct profile {
    double velocity, density, pressure, v;
  };
  [[nodiscard]] profile inside(double lambda) const;

  int dimensions_;
  double gamma_, energy_, density_;
  double alpha_ = 0;
};

}  // namespace tests
