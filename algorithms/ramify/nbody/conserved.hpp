// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The conserved quantities of a simulation: energies and momenta; plain C++.

#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// Sums over all bodies, in double, in the units of the input.
struct nbody_conserved {
  double kinetic;  ///< sum of m v^2 / 2
  /// Sum of m phi / 2, and of m times the potential of the external field, if it has one.
  double potential;
  double momentum[3];          ///< sum of m v
  double angular_momentum[3];  ///< sum of m x cross v, around the origin

  /// Returns the total energy.
  [[nodiscard]] double energy() const { return kinetic + potential; }
};

}  // namespace ramify::inline RAMIFY_ABI
