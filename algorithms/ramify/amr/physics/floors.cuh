// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The floors of the density and the pressure of a gas or a plasma. euler.cuh and mhd.cuh use
/// these functions.

#include <ramify/runtime/cuda.hpp>
#include <sstream>
#include <string>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the larger one of two numbers, and NaN if `value` is NaN.
template <class Real>
[[nodiscard]] __host__ __device__ Real at_least(Real floor, Real value) {
  return value < floor ? floor : value;
}

/// Returns the physics with floors of 0.
template <class Physics>
[[nodiscard]] __host__ __device__ Physics without_floors(Physics physics) {
  physics.density_floor = physics.pressure_floor = 0;
  return physics;
}

/// Returns whether the floors leave the density and the pressure of a cell unchanged. Rounding may
/// put a value 1 % below its floor.
template <class Physics>
[[nodiscard]] __host__ __device__ bool is_above_floors_of(
    const Physics& physics, const typename Physics::values& conserved) {
  using real = typename Physics::real;
  const auto primitive = without_floors(physics).to_primitive(conserved);
  constexpr real rounded = real(0.99);
  return !(primitive[Physics::density] < rounded * physics.density_floor) &&
         !(primitive[Physics::pressure] < rounded * physics.pressure_floor);
}

/// Returns a text with the density, the pressure and their floors.
template <class Physics>
[[nodiscard]] std::string description_of_floors(const Physics& physics,
                                                const typename Physics::values& conserved) {
  const auto primitive = without_floors(physics).to_primitive(conserved);
  std::ostringstream text;
  text << "density " << primitive[Physics::density] << " (density_floor " << physics.density_floor
       << "), pressure " << primitive[Physics::pressure] << " (pressure_floor "
       << physics.pressure_floor << ")";
  return text.str();
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
