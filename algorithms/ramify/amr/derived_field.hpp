// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// derived_field: fields of a gas that follow from its values, by name. Plain C++.

#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// A field that follows from the values of a gas, in the units of these values.
enum class derived_field {
  speed,               ///< magnitude of the velocity
  sound_speed,         ///< speed of sound
  mach,                ///< speed / speed of sound
  temperature,         ///< pressure / density
  entropy,             ///< pressure / density^gamma, which only shocks change
  vorticity,           ///< curl of the velocity: its component along z in 2D, its magnitude in 3D
  divergence,          ///< divergence of the velocity
  magnetic_pressure,   ///< B^2 / 2; as the next one, only of a plasma with a magnetic field B
  magnetic_divergence  ///< div B, which is the error of divergence cleaning
};

/// Returns the name of the field.
[[nodiscard]] constexpr std::string_view to_string(derived_field f) {
  return choice_name(f, {"speed", "sound_speed", "mach", "temperature", "entropy", "vorticity",
                         "divergence", "magnetic_pressure", "magnetic_divergence"});
}
/// Returns whether only a plasma with a magnetic field has the field.
[[nodiscard]] constexpr bool is_magnetic(derived_field f) {
  return f == derived_field::magnetic_pressure || f == derived_field::magnetic_divergence;
}
/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline derived_field parse_derived_field(std::string_view text) {
  return parse_choice<derived_field>("derived field", text);
}

}  // namespace ramify::inline RAMIFY_ABI
