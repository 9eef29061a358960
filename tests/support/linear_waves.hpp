// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Linear waves in a uniform gas: the changes of the primitive values in each wave, and its speed.

#include <array>
#include <cmath>
#include <cstddef>

namespace tests {

/// A wave along a unit vector: the primitive values (density, velocity, pressure) differ from those
/// of the uniform gas by `change` times any function of (position - speed * time).
template <std::size_t dim>
struct linear_wave_mode {
  std::array<double, dim + 2> change{};
  double speed = 0;
};

/// Returns a sound wave along (`sense` 1) or against (-1) the direction. The change of the density
/// equals the density. Source: E. F. Toro, Riemann Solvers, 3rd ed., 3.2.1, rotated into the
/// direction.
template <std::size_t dim>
linear_wave_mode<dim> sound_mode(const std::array<double, dim + 2>& gas,
                                 const std::array<double, dim>& direction, double gamma,
                                 int sense = 1) {
  const double sound = std::sqrt(gamma * gas[dim + 1] / gas[0]);
  linear_wave_mode<dim> mode;
  mode.speed = sense * sound;
  mode.change[0] = gas[0];
  mode.change[dim + 1] = gas[0] * sound * sound;
  for (std::size_t i = 0; i < dim; ++i) {
    mode.speed += gas[1 + i] * direction[i];
    mode.change[1 + i] = sense * sound * direction[i];
  }
  return mode;
}

/// Returns an entropy wave: only the density changes, and the gas transports it.
template <std::size_t dim>
linear_wave_mode<dim> entropy_mode(const std::array<double, dim + 2>& gas,
                                   const std::array<double, dim>& direction) {
  linear_wave_mode<dim> mode;
  mode.change[0] = gas[0];
  for (std::size_t i = 0; i < dim; ++i) mode.speed += gas[1 + i] * direction[i];
  return mode;
}

}  // namespace tests
