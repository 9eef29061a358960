// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exact solution of the Riemann problem for an ideal gas: two adjacent constant states.

namespace tests {

/// A gas in one dimension. Density and pressure are positive, or both 0 in a vacuum.
struct gas {
  double density, velocity, pressure;
};

/// The solution after E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd
/// ed., ch. 4. If the gases separate so fast that a vacuum opens, it contains the vacuum (4.6.3).
class exact_riemann {
 public:
  exact_riemann(const gas& left, const gas& right, double gamma);

  /// Returns the pressure between the outer waves; 0 if a vacuum opens.
  [[nodiscard]] double star_pressure() const { return star_pressure_; }
  /// Returns the speed of the contact; NaN if a vacuum opens.
  [[nodiscard]] double star_velocity() const { return star_velocity_; }
  [[nodiscard]] bool opens_vacuum() const { return opens_vacuum_; }

  /// Returns the gas at position x and time t, with speed = x / t; the states meet at x = 0, t = 0.
  [[nodiscard]] gas at(double speed) const;

 private:
  [[nodiscard]] double velocity_change(const gas& side, double pressure) const;
  [[nodiscard]] gas left_of_contact(const gas& side, double contact, double speed) const;

  gas left_, right_;
  double gamma_;
  double star_pressure_ = 0;
  double star_velocity_;
  bool opens_vacuum_;
};

}  // namespace tests
