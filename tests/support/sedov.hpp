// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exact solution of a blast: energy released at a point, line or plane of a cold, uniform gas.

#include "exact_riemann.hpp"

namespace tests {

/// L. I. Sedov's self-similar solution for a uniform density. Source: J. R. Kamm and F. X. Timmes,
/// On efficient generation of numerically robust Sedov solutions, LA-UR-07-2849 (2007).
class sedov_blast {
 public:
  /// `dimensions`: 3 for a point, 2 for a line (`energy` per length), 1 for a plane (per area).
  /// `density`: that of the gas before the blast; its pressure is 0. `gamma` must be in (1, 2); at
  /// 2 the formulas divide by 0.
  sedov_blast(int dimensions, double gamma, double energy, double density = 1);

  /// Energy = alpha * density * radius^(dimensions + 2) / time^2.
  [[nodiscard]] double alpha() const { return alpha_; }

  /// Returns the radius of the shock.
  [[nodiscard]] double radius(double time) const;

  /// Returns the gas at a distance from the center. Its velocity is outward.
  [[nodiscard]] gas at(double distance, double time) const;

 private:
  /// The state at a distance of `lambda` radii: velocity, density and pressure relative to their
  /// post-shock values, and the variable v of Kamm and Timmes.
  struct profile {
    double velocity, density, pressure, v;
  };
  [[nodiscard]] profile inside(double lambda) const;

  int dimensions_;
  double gamma_, energy_, density_;
  double alpha_ = 0;
};

}  // namespace tests
