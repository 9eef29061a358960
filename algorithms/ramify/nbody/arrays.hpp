// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The caller's arrays of one force calculation, and the check that they do not overlap; plain C++.

#include <array>
#include <cstddef>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>

namespace ramify::detail::nbody::inline RAMIFY_ABI {

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
  const auto& [positions, masses, n, accelerations, potentials, results] = arrays;
  check_overlaps(algorithm, std::array{input_array(positions, n, "positions"),
                                       input_array(masses, n, "masses"),
                                       output_array(accelerations, results, "accelerations"),
                                       output_array(potentials, results, "potentials")});
}

}  // namespace ramify::detail::nbody::inline RAMIFY_ABI
