// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Genz's six families of test integrands on [0, 1]^d, and their integrals; plain C++.
///
/// Source: A. C. Genz: Testing multidimensional integration routines. In: Tools, Methods and
/// Languages for Scientific and Engineering Computation, 1984.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <ramify/quadrature/config.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <random>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// A family of integrands with parameters a > 0 and u in [0, 1]. Sums and products are over axes.
enum class genz_family {
  oscillatory,    ///< cos(2 pi u_1 + sum a x)
  product_peak,   ///< prod 1 / (a^-2 + (x - u)^2)
  corner_peak,    ///< (1 + sum a x)^-(d + 1)
  gaussian,       ///< exp(-sum a^2 (x - u)^2)
  c0,             ///< exp(-sum a |x - u|)
  discontinuous,  ///< exp(sum a x) where x_1 <= u_1 and x_2 <= u_2, else 0
};

/// Returns the name of the enumerator, or "?" if `f` is none.
[[nodiscard]] constexpr std::string_view to_string(genz_family f) {
  return choice_name(
      f, {"oscillatory", "product_peak", "corner_peak", "gaussian", "c0", "discontinuous"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline genz_family parse_genz_family(std::string_view text) {
  return parse_choice<genz_family>("family", text);
}

/// A member of a family, with one `a` and one `u` for each of its axes.
struct genz_integrand {
  genz_family family = genz_family::gaussian;         ///< of the function
  unsigned dimensions = 3;                            ///< in [1, 8]
  std::array<double, max_quadrature_dimensions> a{};  ///< how difficult each axis is
  std::array<double, max_quadrature_dimensions> u{};  ///< the place of the feature on each axis
};

/// Checks an integrand. \throws std::invalid_argument naming the field and the axis
inline void validate(const genz_integrand& f) {
  check_enumerator(f.family, "genz_integrand.family");
  using detail::check_field;
  check_field(f.dimensions >= 1 && f.dimensions <= max_quadrature_dimensions,
              "genz_integrand.dimensions", f.dimensions,
              "in [1, " + std::to_string(max_quadrature_dimensions) + "]");
  for (unsigned axis = 0; axis < f.dimensions; ++axis) {
    const double a = f.a[axis];
    const double u = f.u[axis];
    const std::string which = "[" + std::to_string(axis) + "]";
    check_field(std::isfinite(a) && a > 0, "genz_integrand.a" + which, a,
                "finite and greater than 0");
    check_field(u >= 0 && u <= 1, "genz_integrand.u" + which, u, "in [0, 1]");
  }
}

/// Returns the sum of all `a` with which Genz tests a family in ten dimensions.
[[nodiscard]] constexpr double genz_difficulty(genz_family family) {
  switch (family) {
    case genz_family::oscillatory: return 9.0;
    case genz_family::product_peak: return 7.25;
    case genz_family::corner_peak: return 1.85;
    case genz_family::gaussian: return 7.03;
    case genz_family::c0: return 20.4;
    case genz_family::discontinuous: return 4.3;
  }
  return 1;
}

/// Returns a random member of a family. All `a` and `u` are uniform in (0, 1); all `a` are then
/// scaled so that their sum is `difficulty`. The same seed gives the same member on all machines.
/// The arguments are not checked; see validate().
[[nodiscard]] inline genz_integrand random_genz(genz_family family, unsigned dimensions,
                                                std::uint64_t seed, double difficulty) {
  genz_integrand f{family, dimensions, {}, {}};
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
  double sum = 0;
  for (unsigned axis = 0; axis < std::min(dimensions, max_quadrature_dimensions); ++axis) {
    f.u[axis] = uniform();
    f.a[axis] = uniform();
    sum += f.a[axis];
  }
  for (double& a : f.a) a *= difficulty / sum;
  return f;
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::quadrature::inline RAMIFY_ABI {

/// Returns the integral of the corner peak. The closed form is an alternating sum over the corners
/// of the cube, whose terms cancel if the `a` are small. This function instead integrates a
/// positive function of one variable t from 0 to infinity. The result is the same integral, because
/// s^-(d + 1) is the integral of t^d / d! exp(-s t):
///
///     t^d / d! exp(-t) prod (1 - exp(-a t)) / (a t)
///
/// With t = exp(x - exp(-x)) the integrand decreases double exponentially on both sides, and the
/// trapezoidal rule is accurate to a few ulps (Takahasi and Mori, 1974).
[[nodiscard]] inline double corner_peak_integral(const genz_integrand& f) {
  constexpr int steps = 64;  // per unit of x
  double sum = 0;
  for (int i = -4 * steps; i < 5 * steps; ++i) {
    const double x = static_cast<double>(i) / steps;
    const double t = std::exp(x - std::exp(-x));
    double value = t * (1 + std::exp(-x)) * std::exp(-t);
    for (unsigned axis = 0; axis < f.dimensions; ++axis) {
      const double y = f.a[axis] * t;
      value *= t / (axis + 1) * (y > 0 ? -std::expm1(-y) / y : 1);
    }
    sum += value;
  }
  return sum / steps;
}

/// Returns the factor of an axis, for the families whose integral is a product over the axes.
[[nodiscard]] inline double genz_factor(const genz_integrand& f, unsigned axis) {
  const double a = f.a[axis];
  const double u = f.u[axis];
  switch (f.family) {
    case genz_family::oscillatory: return 2 * std::sin(a / 2) / a;
    case genz_family::product_peak: return a * (std::atan(a * (1 - u)) + std::atan(a * u));
    case genz_family::gaussian:
      return std::sqrt(std::numbers::pi) / (2 * a) * (std::erf(a * (1 - u)) + std::erf(a * u));
    case genz_family::c0: return -(std::expm1(-a * u) + std::expm1(-a * (1 - u))) / a;
    case genz_family::discontinuous: return std::expm1(axis < 2 ? a * u : a) / a;
    case genz_family::corner_peak: break;
  }
  return 0;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Returns the integral of `f` over [0, 1]^d: from its closed form, or for a corner peak from an
/// integral over one variable. \throws std::invalid_argument if validate() refuses `f`
[[nodiscard]] inline double exact_integral(const genz_integrand& f) {
  validate(f);
  if (f.family == genz_family::corner_peak) return detail::quadrature::corner_peak_integral(f);
  double product = 1;
  double half_sum = 0;
  for (unsigned axis = 0; axis < f.dimensions; ++axis) {
    product *= detail::quadrature::genz_factor(f, axis);
    half_sum += f.a[axis] / 2;
  }
  if (f.family != genz_family::oscillatory) return product;
  return product * std::cos(2 * std::numbers::pi * f.u[0] + half_sum);
}

}  // namespace ramify::inline RAMIFY_ABI
