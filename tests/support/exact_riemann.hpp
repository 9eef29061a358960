// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exact solution of Riemann's problem for an ideal gas: two constant states, side by side.

namespace tests {

/// A gas in one dimension. Density and pressure > 0, or both 0 in a vacuum.
struct gas {
  double density, velocity, pressure;
};

/// After E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd ed., ch. 4.
/// Where the gases part so fast that a vacuum opens between them, that too (4.6.3).
class exact_riemann {
 public:
  exact_riemann(const gas& left, const gas& right, double gamma);

  /// Between the outer waves; 0 if a vacuum opens.
  [[nodiscard]] double star_pressure() const { return star_pressure_; }
  /// Of the contact. Where a vacuum opens there is none, and this is NaN.
  [[nodiscard]] double star_velocity() const { return star_velocity_; }
  [[nodiscard]] bool opens_vacuum() const { return opens_vacuum_; }

  /// The gas at a place x, a time t after the two were brought together at x = 0; speed = x / t.
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
