// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a calculation of gravity can be told, and what it tells; plain C++.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// How the forces of n bodies on one another are found.
enum class gravity_method {
  tree,    ///< Barnes and Hut's walk over an octree: O(n log n), an error that theta bounds
  direct,  ///< every pair: O(n^2), no error but rounding
};

[[nodiscard]] constexpr std::string_view to_string(gravity_method m) {
  switch (m) {
    case gravity_method::tree: return "tree";
    case gravity_method::direct: return "direct";
  }
  return "?";
}

/// \throws std::invalid_argument naming the choices
[[nodiscard]] inline gravity_method parse_gravity_method(std::string_view text) {
  return parse_choice("method", text, std::array{gravity_method::tree, gravity_method::direct});
}

/// The potential of a mass m at the distance r is -G m / sqrt(r^2 + softening^2) (Plummer, 1911).
struct gravity_parameters {
  /// Opening angle, in [0, 2]: the bodies of a cell pull as one if the cell's longest side is less
  /// than theta times the distance to their centre of mass. At 0.5 accelerations are right to about
  /// a hundredth; at 0 every pair is summed.
  double theta = 0.5;
  double softening = 0;               ///< a length, at least 0
  double gravitational_constant = 1;  ///< G, in the units of the input
};

struct gravity_config : gravity_parameters {
  ramify::route route = ramify::route::automatic;  ///< of the tree's build
  /// Bodies of a leaf at most, in [1, 1024]. Few make a deep tree, many are summed one by one.
  unsigned leaf_size = 16;
  /// Where all grids are to be added; null: nowhere. It must outlive what has this configuration.
  launch_trace* trace = nullptr;
};

namespace detail {

inline void require(bool good, const char* field, double value, const char* range) {
  if (good) return;
  throw std::invalid_argument("gravity_parameters." + std::string(field) + " is " +
                              std::to_string(value) + "; it must be " + range);
}

}  // namespace detail

/// \throws std::invalid_argument naming the field and its range
inline void validate(const gravity_parameters& p) {
  detail::require(p.theta >= 0 && p.theta <= 2, "theta", p.theta, "in [0, 2]");
  detail::require(std::isfinite(p.softening) && p.softening >= 0, "softening", p.softening,
                  "finite and at least 0");
  detail::require(std::isfinite(p.gravitational_constant), "gravitational_constant",
                  p.gravitational_constant, "finite");
}

/// That a calculation in Real can be told this. \throws std::invalid_argument naming the field
template <class Real>
void validate_range(const gravity_parameters& p) {
  constexpr double largest = std::numeric_limits<Real>::max();
  detail::require(p.softening <= std::sqrt(largest), "softening", p.softening,
                  "small enough for its square to be a number of the bodies' type");
  detail::require(std::abs(p.gravitational_constant) <= largest, "gravitational_constant",
                  p.gravitational_constant, "in the range of the bodies' type");
}

/// \throws std::invalid_argument naming the field and its range
inline void validate(const gravity_config& config) {
  validate(static_cast<const gravity_parameters&>(config));
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("gravity_config.route is none of the enumerators");
  }
  if (config.leaf_size < 1 || config.leaf_size > 1024) {
    throw std::invalid_argument("gravity_config.leaf_size is " + std::to_string(config.leaf_size) +
                                "; it must be in [1, 1024]");
  }
}

/// \throws std::invalid_argument if two of the arrays, of n bodies and of so many results, share
///         memory; a null one does not
template <class Real, class Vector>
void check_gravity_overlap(const Vector* positions, const Real* masses, std::size_t n,
                           const Vector* accelerations, const Real* potentials, std::size_t results,
                           const char* algorithm) {
  const auto apart = [&](const auto* a, std::size_t size, const char* name, const auto* b,
                         const char* other) {
    const std::less<const void*> before;
    if (a == nullptr || b == nullptr || !before(a, b + results) || !before(b, a + size)) return;
    throw std::invalid_argument(std::string(algorithm) + ": " + name + " and " + other +
                                " overlap");
  };
  apart(positions, n, "positions", accelerations, "accelerations");
  apart(masses, n, "masses", accelerations, "accelerations");
  apart(positions, n, "positions", potentials, "potentials");
  apart(masses, n, "masses", potentials, "potentials");
  apart(accelerations, results, "accelerations", potentials, "potentials");
}

struct gravity_report : run_report {
  gravity_method method = gravity_method::tree;
  std::uint64_t bodies = 0;
  std::uint64_t nodes = 0;         ///< of the tree
  std::uint64_t interactions = 0;  ///< of a body with a body or with a cell
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const gravity_report& r) {
  return out << "method: " << to_string(r.method) << "\nbodies: " << r.bodies
             << "\nnodes: " << r.nodes << "\ninteractions: " << r.interactions << '\n'
             << static_cast<const run_report&>(r);
}

}  // namespace ramify
