// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The caller's arrays of one force calculation, and the check that they do not overlap; plain C++.

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace ramify::detail::nbody {

/// Arrays of a force calculation. Vector holds three numbers of type Real.
template <class Real, class Vector>
struct body_arrays {
  const Vector* positions;
  const Real* masses;
  std::size_t n;  ///< bodies
  Vector* accelerations;
  Real* potentials;     ///< may be null
  std::size_t results;  ///< elements of accelerations and of potentials: n, or the size of a range
};

/// Checks that no result overlaps with an input or with the other result. A null array overlaps
/// with nothing. `algorithm` begins the message.
/// \throws std::invalid_argument naming the two arrays
template <class Real, class Vector>
void check_overlap(const body_arrays<Real, Vector>& arrays, const char* algorithm) {
  const auto require_disjoint = [&](const auto* a, std::size_t size, const char* a_name,
                                    const auto* b, const char* b_name) {
    const std::less<const void*> before;
    if (a == nullptr || b == nullptr || !before(a, b + arrays.results) || !before(b, a + size)) {
      return;
    }
    throw std::invalid_argument(std::string(algorithm) + ": " + a_name + " and " + b_name +
                                " overlap");
  };
  const auto& [positions, masses, n, accelerations, potentials, results] = arrays;
  require_disjoint(positions, n, "positions", accelerations, "accelerations");
  require_disjoint(masses, n, "masses", accelerations, "accelerations");
  require_disjoint(positions, n, "positions", potentials, "potentials");
  require_disjoint(masses, n, "masses", potentials, "potentials");
  require_disjoint(accelerations, results, "accelerations", potentials, "potentials");
}

}  // namespace ramify::detail::nbody
