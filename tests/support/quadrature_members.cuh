// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Random integrands of eleven families on [0, 1]^d, whose integrals are known in closed form.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature/genz.cuh>
#include <random>
#include <string_view>

namespace tests::inline RAMIFY_BUILD {

/// Genz's six families and five others. n is a vector, c and k are numbers.
enum class member_family {
  oscillatory,
  product_peak,
  corner_peak,
  gaussian,
  c0,
  discontinuous,
  peak,   ///< a Gaussian whose width is 0.02 to 0.2 on each axis
  ridge,  ///< exp(-(k (n x - c))^2 / 2)
  kink,   ///< |n x - c|
  jump,   ///< 1 where n x > c, else 0
  wave,   ///< the product of 1 + cos(a x + u)
};
inline constexpr unsigned member_families = 11;

[[nodiscard]] constexpr std::string_view to_string(member_family f) {
  constexpr std::string_view names[] = {"oscillatory", "product_peak",  "corner_peak", "gaussian",
                                        "c0",          "discontinuous", "peak",        "ridge",
                                        "kink",        "jump",          "wave"};
  return names[static_cast<unsigned>(f)];
}

/// A member of a family.
struct quadrature_member {
  member_family family{};
  ramify::genz_integrand genz{};   ///< of the first seven families; a and u of a wave
  std::array<double, 8> normal{};  ///< n
  double offset = 0;               ///< c
  double steepness = 1;            ///< k
  double tolerance = 0;            ///< relative; 1e-2 to 1e-7
};

/// Returns random member number `seed` of a family. In half of the members with planes, n has
/// elements -1, 0 and 1, and the plane contains the center of the cube, as in many integrals that
/// people write. The other planes are random.
[[nodiscard]] inline quadrature_member random_member(member_family family, unsigned d,
                                                     std::uint64_t seed) {
  std::mt19937_64 bits(seed * 1'315'423'911 + static_cast<unsigned>(family) * 2'654'435'761 + d);
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
  quadrature_member m;
  m.family = family;
  m.tolerance = std::pow(10, -2 - std::floor(6 * uniform()));
  const bool is_peak = family == member_family::peak;
  const auto genz = is_peak ? ramify::genz_family::gaussian
                            : ramify::genz_family(static_cast<unsigned>(family) % 6);
  m.genz = random_genz(genz, d, bits(), genz_difficulty(genz) * (0.5 + 1.5 * uniform()));
  m.steepness = std::pow(10, 0.8 + 1.2 * uniform());
  const bool is_simple = uniform() < 0.5;
  for (unsigned i = 0; i < d; ++i) {
    if (is_peak) m.genz.a[i] = std::pow(10, 0.7 + uniform());
    if (family == member_family::wave) {
      m.genz.a[i] = 1 + 9 * uniform();
      m.genz.u[i] = 2 * std::numbers::pi * uniform();
    }
    const double element = (0.2 + 0.8 * uniform()) * (uniform() < 0.5 ? -1 : 1);
    m.normal[i] = is_simple ? std::round(1.2 * element) : element;
    if (i == 0 && m.normal[0] == 0) m.normal[0] = 1;
    m.offset += m.normal[i] * (is_simple ? 0.5 : 0.1 + 0.8 * uniform());
  }
  return m;
}

/// The functor of a member in d dimensions.
template <unsigned d>
struct member_function {
  explicit member_function(const quadrature_member& m)
      : family(m.family), genz(m.genz), offset(m.offset), steepness(m.steepness) {
    std::copy(m.normal.begin(), m.normal.begin() + d, normal);
  }

  __device__ double operator()(const ramify::quadrature_point<d>& p) const {
    if (family <= member_family::peak) return genz(p);
    double distance = -offset;
    double product = 1;
    for (unsigned i = 0; i < d; ++i) {
      distance += normal[i] * p[i];
      product *= 1 + std::cos(genz.a[i] * p[i] + genz.u[i]);
    }
    const double scaled = steepness * distance;
    switch (family) {
      case member_family::ridge: return std::exp(-scaled * scaled / 2);
      case member_family::kink: return std::fabs(distance);
      case member_family::jump: return distance > 0 ? 1 : 0;
      default: return product;
    }
  }

  member_family family;
  ramify::genz_function<d> genz;
  double normal[d];
  double offset;
  double steepness;
};

/// Returns the d-fold antiderivative at `t` of the function of the distance from a plane.
[[nodiscard]] inline long double antiderivative(const quadrature_member& m, unsigned d,
                                                long double t) {
  if (m.family == member_family::ridge) {
    // f, and its antiderivatives by their recurrence: n F_(n + 1) = u F_n + F_(n - 1).
    const long double k = m.steepness;
    const long double u = k * t;
    long double last = std::exp(-u * u / 2);
    long double now = std::sqrt(std::numbers::pi_v<long double> / 2) *
                      std::erfc(-u / std::numbers::sqrt2_v<long double>);
    for (unsigned n = 1; n < d; ++n) {
      const long double next = (u * now + last) / n;
      last = now;
      now = next;
    }
    return now / std::pow(k, static_cast<long double>(d));
  }
  const bool is_kink = m.family == member_family::kink;
  if (!is_kink && t <= 0) return 0;
  long double power = is_kink ? std::fabs(t) : 1;
  for (unsigned n = 1; n <= d; ++n) power *= t / (is_kink ? n + 1 : n);
  return power;
}

/// Returns the integral of a member over the unit cube. For a function of the distance from a plane
/// it is an alternating sum over the corners.
[[nodiscard]] inline long double exact_integral(const quadrature_member& m) {
  if (m.family <= member_family::peak) return exact_integral(m.genz);
  const unsigned d = m.genz.dimensions;
  if (m.family == member_family::wave) {
    long double product = 1;
    for (unsigned i = 0; i < d; ++i) {
      const long double a = m.genz.a[i];
      const long double u = m.genz.u[i];
      product *= 1 + (std::sin(a + u) - std::sin(u)) / a;
    }
    return product;
  }
  std::array<long double, 8> used{};  // the elements of n that are not 0
  unsigned count = 0;
  long double product = 1;
  for (unsigned i = 0; i < d; ++i) {
    if (m.normal[i] == 0) continue;
    used[count++] = m.normal[i];
    product *= m.normal[i];
  }
  long double sum = 0;
  for (unsigned corner = 0; corner < 1u << count; ++corner) {
    long double t = -static_cast<long double>(m.offset);
    int sign = 1;
    for (unsigned i = 0; i < count; ++i) {
      if ((corner >> i & 1) != 0) t += used[i];
      if ((corner >> i & 1) == 0) sign = -sign;
    }
    sum += sign * antiderivative(m, count, t);
  }
  return sum / product;
}

/// Counts of quadratures.
struct member_counts {
  unsigned runs = 0;
  unsigned converged = 0;
  unsigned wrong = 0;  ///< converged, with an error over the tolerance and over the bound
  std::uint64_t evaluations = 0;
};

/// Integrates member number `seed` of a family, and counts the result.
template <unsigned d>
void count_member(member_family family, std::uint64_t seed, std::size_t max_evaluations,
                  member_counts& counts) {
  const quadrature_member m = random_member(family, d, seed);
  ramify::quadrature_box<d> cube{};
  for (double& high : cube.high) high = 1;
  const auto found =
      ramify::quadrature(cube, member_function<d>(m),
                         {.relative_tolerance = m.tolerance, .max_evaluations = max_evaluations});
  const auto exact = static_cast<double>(exact_integral(m));
  const double error = std::fabs(found.value - exact);
  ++counts.runs;
  counts.evaluations += found.evaluations;
  if (!found.converged()) return;
  ++counts.converged;
  if (error > found.error && error > m.tolerance * std::fabs(exact)) ++counts.wrong;
}

}  // namespace tests::inline RAMIFY_BUILD
