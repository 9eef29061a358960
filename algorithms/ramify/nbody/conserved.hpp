// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The conserved quantities of a simulation: energies and momenta; plain C++.

namespace ramify {

/// Sums over all bodies, in double, in the units of the input.
struct nbody_conserved {
  double kinetic;              ///< sum of m v^2 / 2
  double potential;            ///< sum of m phi / 2
  double momentum[3];          ///< sum of m v
  double angular_momentum[3];  ///< sum of m x cross v, around the origin

  /// Returns the total energy.
  [[nodiscard]] double energy() const { return kinetic + potential; }
};

}  // namespace ramify
