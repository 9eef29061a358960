// SPDX-License-Identifier: BSD-3-Clause
#include "exact_riemann.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tests {

namespace {

double sound_speed(const gas& g, double gamma) { return std::sqrt(gamma * g.pressure / g.density); }

gas mirrored(const gas& g) { return {g.density, -g.velocity, g.pressure}; }

}  // namespace

exact_riemann::exact_riemann(const gas& left, const gas& right, double gamma)
    : left_(left), right_(right), gamma_(gamma) {
  const double jump = right.velocity - left.velocity;
  const double escape =
      2 / (gamma - 1) * (sound_speed(left, gamma) + sound_speed(right, gamma));  // (4.82)
  opens_vacuum_ = jump >= escape;
  if (opens_vacuum_) {
    star_velocity_ = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  // (4.5) increases with the pressure, so bisection finds its root: slow, but always correct.
  const auto excess = [&](double pressure) {
    return velocity_change(left_, pressure) + velocity_change(right_, pressure) + jump;
  };
  double low = 0;
  double high = std::max(left.pressure, right.pressure);
  while (excess(high) < 0) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (excess(middle) < 0 ? low : high) = middle;
  }
  star_pressure_ = high;
  star_velocity_ = (left.velocity + right.velocity) / 2 +
                   (velocity_change(right_, high) - velocity_change(left_, high)) / 2;  // (4.9)
}

/// Returns the change of the velocity across a wave between `side` and a gas of `pressure`: a shock
/// (4.6, first line) or a rarefaction (second line).
double exact_riemann::velocity_change(const gas& side, double pressure) const {
  if (pressure > side.pressure) {
    const double a = 2 / ((gamma_ + 1) * side.density);
    const double b = (gamma_ - 1) / (gamma_ + 1) * side.pressure;
    return (pressure - side.pressure) * std::sqrt(a / (pressure + b));
  }
  const double power = (gamma_ - 1) / (2 * gamma_);
  return 2 * sound_speed(side, gamma_) / (gamma_ - 1) *
         (std::pow(pressure / side.pressure, power) - 1);
}

gas exact_riemann::at(double speed) const {
  if (opens_vacuum_) {
    const double left_end = left_.velocity + 2 * sound_speed(left_, gamma_) / (gamma_ - 1);
    const double right_end = right_.velocity - 2 * sound_speed(right_, gamma_) / (gamma_ - 1);
    if (speed < left_end) return left_of_contact(left_, left_end, speed);
    if (speed > right_end) {
      return mirrored(left_of_contact(mirrored(right_), -right_end, -speed));
    }
    return {0, speed, 0};
  }
  if (speed <= star_velocity_) return left_of_contact(left_, star_velocity_, speed);
  return mirrored(left_of_contact(mirrored(right_), -star_velocity_, -speed));
}

/// Returns the gas at `speed`, which must not exceed the speed of the contact (or of the edge of
/// the vacuum). `side` is the gas on the left.
gas exact_riemann::left_of_contact(const gas& side, double contact, double speed) const {
  const double sound = sound_speed(side, gamma_);
  const double ratio = star_pressure_ / side.pressure;
  const double mach2_factor = (gamma_ - 1) / (gamma_ + 1);
  if (ratio > 1) {
    const double shock = side.velocity - sound * std::sqrt((gamma_ + 1) / (2 * gamma_) * ratio +
                                                           (gamma_ - 1) / (2 * gamma_));
    if (speed < shock) return side;
    const double density = side.density * (ratio + mach2_factor) / (mach2_factor * ratio + 1);
    return {density, contact, star_pressure_};
  }
  const double head = side.velocity - sound;
  const double star_sound = sound * std::pow(ratio, (gamma_ - 1) / (2 * gamma_));
  if (speed < head) return side;
  if (speed > contact - star_sound) {
    return {side.density * std::pow(ratio, 1 / gamma_), contact, star_pressure_};
  }
  // Inside the rarefaction (4.56).
  const double sound_here = 2 / (gamma_ + 1) * (sound + (gamma_ - 1) / 2 * (side.velocity - speed));
  const double cooled = std::max(0.0, sound_here / sound);
  return {side.density * std::pow(cooled, 2 / (gamma_ - 1)), speed + sound_here,
          side.pressure * std::pow(cooled, 2 * gamma_ / (gamma_ - 1))};
}

}  // namespace tests
