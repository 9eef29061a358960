// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What gravity conserves; plain C++.

namespace ramify {

/// Sums over all bodies, in double, in the units of the input.
struct nbody_conserved {
  double kinetic;              ///< sum of m v^2 / 2
  double potential;            ///< sum of m phi / 2
  double momentum[3];          ///< sum of m v
  double angular_momentum[3];  ///< sum of m x cross v, around the origin

  [[nodiscard]] double energy() const { return kinetic + potential; }
};

}  // namespace ramify
