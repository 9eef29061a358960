// SPDX-License-Identifier: BSD-3-Clause
#include "sedov.hpp"

#include <cmath>
#include <numbers>

namespace tests {

sedov_blast::sedov_blast(int dimensions, double gamma, double energy, double density)
    : dimensions_(dimensions), gamma_(gamma), energy_(energy), density_(density) {
  const double j = dimensions;
  // Kinetic and internal energy (their 55 and 56), but integrated over the distance, in which the
  // profiles are smooth: Simpson's rule.
  constexpr int panels = 2000;
  double kinetic = 0;
  double internal = 0;
  for (int i = 1; i <= panels; ++i) {  // at the center the integrands are 0, or for planes even
    const double lambda = double(i) / panels;
    const double weight = (i == panels ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / (3.0 * panels);
    const profile here = inside(lambda);
    kinetic += weight * std::pow(lambda, j + 1) * (gamma + 1) / (gamma - 1) * here.density *
               here.v * here.v;
    internal += weight * std::pow(lambda, j - 1) * here.pressure;
  }
  if (dimensions == 1) internal += inside(0.5 / panels).pressure / (3.0 * panels);
  internal *= 8 / ((j + 2) * (j + 2) * (gamma + 1));
  const double surface = dimensions == 1 ? 2 : 2 * (j - 1) * std::numbers::pi;  // of a unit ball
  alpha_ = surface * (kinetic / 2 + internal / (gamma - 1));
}

double sedov_blast::radius(double time) const {
  return std::pow(energy_ * time * time / (alpha_ * density_), 1.0 / (dimensions_ + 2));
}

gas sedov_blast::at(double distance, double time) const {
  const double shock = radius(time);
  if (distance > shock) return {density_, 0, 0};
  const double shock_speed = 2.0 / (dimensions_ + 2) * shock / time;
  const profile here = inside(distance / shock);
  return {density_ * (gamma_ + 1) / (gamma_ - 1) * here.density,
          2 / (gamma_ + 1) * shock_speed * here.velocity,
          2 / (gamma_ + 1) * density_ * shock_speed * shock_speed * here.pressure};
}

/// All values are functions of v, which increases with the distance, from v0 at the center to v2 at
/// the shock (their 17 to 37, with omega = 0).
sedov_blast::profile sedov_blast::inside(double lambda) const {
  const double j = dimensions_;
  const double g = gamma_;
  const double v0 = 2 / ((j + 2) * g);
  const double v2 = 4 / ((j + 2) * (g + 1));
  const double a0 = 2 / (j + 2);
  const double a2 = -(g - 1) / (2 * (g - 1) + j);
  const double a1 =
      (j + 2) * g / (2 + j * (g - 1)) * (2 * j * (2 - g) / (g * (j + 2) * (j + 2)) - a2);
  const double a3 = j / (2 * (g - 1) + j);
  const double a4 = a1 * (j + 2) / (2 - g);
  const double a5 = -2 / (2 - g);
  const double steep = (g + 1) / (g - 1);

  struct factors {
    double x1, x2, x3, x4;
  };
  // A function of v - v0: near the center, v itself has no digits left for the difference.
  const auto factors_at = [&](double beyond) {
    const double v = v0 + beyond;
    const double x3 = (j + 2) * (g + 1) / ((j + 2) * (g + 1) - 2 * (2 + j * (g - 1))) *
                      (1 - (2 + j * (g - 1)) / 2 * v);
    return factors{(j + 2) * (g + 1) / 4 * v, steep * (j + 2) * g / 2 * beyond, x3,
                   steep * (1 - (j + 2) / 2 * v)};
  };
  const auto lambda_at = [&](const factors& x) {
    return std::pow(x.x1, -a0) * std::pow(x.x2, -a2) * std::pow(x.x3, -a1);
  };
  double low = 0;
  double high = v2 - v0;
  for (int i = 0; i < 400; ++i) {
    const double middle = (low + high) / 2;
    (lambda_at(factors_at(middle)) < lambda ? low : high) = middle;
  }
  const factors x = factors_at(high);
  return {x.x1 * lambda_at(x), std::pow(x.x2, a3) * std::pow(x.x3, a4) * std::pow(x.x4, a5),
          std::pow(x.x1, a0 * j) * std::pow(x.x3, a4 - 2 * a1) * std::pow(x.x4, 1 + a5), v0 + high};
}

}  // namespace tests
