// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nbody_field: an external field by name, for simulations; plain C++.

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// A field that acts on all bodies of a simulation, in the units of the bodies: the sum of a
/// uniform one, a harmonic one and a point mass. With d = x - center, the acceleration is
///
///     uniform - stiffness d - G point_mass d / (|d|^2 + core_radius^2)^(3/2)
///
/// and the potential, whose zero is at the center and, for the point mass, at infinity, is
///
///     -uniform . d + stiffness |d|^2 / 2 - G point_mass / (|d|^2 + core_radius^2)^(1/2)
///
/// with G = nbody_options::gravitational_constant.
struct nbody_field {
  std::array<double, 3> uniform{};  ///< acceleration
  double stiffness = 0;             ///< square of the angular frequency of a harmonic trap
  double point_mass = 0;            ///< mass at `center`
  double core_radius = 0;           ///< softening length of the point mass, at least 0
  std::array<double, 3> center{};   ///< the point at which d is 0
};

/// Checks every field. \throws std::invalid_argument naming the field and its range
inline void validate(const nbody_field& field) {
  using detail::check_field;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string index = "[" + std::to_string(axis) + "]";
    check_field(std::isfinite(field.uniform[axis]), "nbody_field.uniform" + index,
                field.uniform[axis], "finite");
    check_field(std::isfinite(field.center[axis]), "nbody_field.center" + index, field.center[axis],
                "finite");
  }
  check_field(std::isfinite(field.stiffness), "nbody_field.stiffness", field.stiffness, "finite");
  check_field(std::isfinite(field.point_mass), "nbody_field.point_mass", field.point_mass,
              "finite");
  check_field(std::isfinite(field.core_radius) && field.core_radius >= 0, "nbody_field.core_radius",
              field.core_radius, "finite and at least 0");
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::nbody::inline RAMIFY_ABI {

/// Checks that a calculation in Real can hold every field.
/// \throws std::invalid_argument naming the field
template <class Real>
void validate_range(const nbody_field& field, double gravitational_constant) {
  validate(field);
  constexpr double largest = std::numeric_limits<Real>::max();
  constexpr const char* range = "in the range of the bodies' type";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string index = "[" + std::to_string(axis) + "]";
    check_field(std::abs(field.uniform[axis]) <= largest, "nbody_field.uniform" + index,
                field.uniform[axis], range);
    check_field(std::abs(field.center[axis]) <= std::sqrt(largest) / 4,
                "nbody_field.center" + index, field.center[axis],
                "small enough for its square to be a number of the bodies' type");
  }
  check_field(std::abs(field.stiffness) <= largest, "nbody_field.stiffness", field.stiffness,
              range);
  check_field(std::abs(gravitational_constant * field.point_mass) <= largest,
              "nbody_field.point_mass", field.point_mass,
              "in the range of the bodies' type, also times the gravitational constant");
  check_field(field.core_radius <= std::sqrt(largest) / 4, "nbody_field.core_radius",
              field.core_radius, "small enough for its square to be a number of the bodies' type");
}

}  // namespace ramify::detail::nbody::inline RAMIFY_ABI
