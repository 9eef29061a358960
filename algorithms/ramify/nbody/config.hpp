// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of a force calculation and of a simulation; plain C++.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string_view>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// How the accelerations of n bodies are calculated.
enum class nbody_method {
  tree,    ///< Barnes and Hut's tree code: O(n log n), with an error that theta bounds
  direct,  ///< the direct sum over all pairs: O(n^2), with no error but rounding
};

/// Returns the enumerator's name, or "?" for any other value.
[[nodiscard]] constexpr std::string_view to_string(nbody_method m) {
  return choice_name(m, {"tree", "direct"});
}

/// Returns the method whose to_string is `text`. \throws std::invalid_argument naming the choices
[[nodiscard]] inline nbody_method parse_nbody_method(std::string_view text) {
  return parse_choice<nbody_method>("method", text);
}

/// Options of a force calculation or of a simulation.
struct nbody_options {
  /// Opening angle, in [0, 2]: a node acts as one source on a body if its longest side is less than
  /// theta times the distance from the body to its center of mass. At 0 every pair is summed.
  /// benchmarks/nbody.md lists the error for each theta.
  double theta = 0.5;
  /// If not 0, the traversal opens nodes by the error of their forces instead of theta, which must
  /// have its default value. It aims at a root mean square of the relative errors of the
  /// accelerations of at most this many per cent, in [1e-5, 10]. Rounding errors of float are up to
  /// 0.0001 per cent. The README of the family states for which bodies this was measured.
  double tolerance = 0;
  /// Order of the series by which a node acts on distant bodies: 1, its mass at its center of mass;
  /// 2, its quadrupole, too, which takes more time for a node, and less time for the same error.
  int order = 2;
  /// Softening length, in the units of the positions, at least 0. The potential of a mass m at the
  /// distance r is -G m / sqrt(r^2 + softening^2) (Plummer, 1911).
  double softening = 0;
  /// The gravitational constant G, in the units of the input.
  double gravitational_constant = 1;
  /// Number of levels of time steps of a simulation, in [1, 20]. If it is larger than 1, a call of
  /// step(dt) moves the bodies on level k by 2^k steps of dt / 2^k, and step_accuracy decides the
  /// level of each body (block time steps). Calculations of forces alone do not read it.
  unsigned step_levels = 1;
  /// The number eta, larger than 0, that decides the level of a body if step_levels is larger than
  /// 1. A body with the acceleration a takes the longest step that is at most
  /// sqrt(2 eta softening / |a|) (Springel, 2005), or the step of the last level if that is longer.
  /// The softening must be larger than 0 then.
  double step_accuracy = 0.025;
  /// The method. The class barnes_hut and the function direct_gravity() ignore this field.
  nbody_method method = nbody_method::tree;
  /// Maximum number of bodies in a leaf of the tree, in [1, 1024]. Small leaves make a deep tree;
  /// the bodies of large leaves are summed one by one.
  unsigned leaf_size = 16;
  /// Number of nodes for which memory is reserved, as in spatial_tree_options; 0: a usual number.
  std::size_t max_nodes = 0;
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::nbody::inline RAMIFY_ABI {

/// The maximum of nbody_options::step_levels.
inline constexpr unsigned max_step_levels = 20;

/// Checks the fields that a calculation in Real converts to Real.
/// \throws std::invalid_argument naming the field
template <class Real>
void validate_range(const nbody_options& options) {
  constexpr double largest = std::numeric_limits<Real>::max();
  constexpr double least = std::numeric_limits<Real>::min();
  // The square is added to squared distances, and the sum must be finite.
  check_field(options.softening <= std::sqrt(largest) / 4, "nbody_options.softening",
              options.softening, "small enough for its square to be a number of the bodies' type");
  // A smaller one would be no softening, and a smaller constant no gravity.
  check_field(options.softening == 0 || options.softening >= std::sqrt(least),
              "nbody_options.softening", options.softening,
              "0, or large enough for its square to be a normal number of the bodies' type");
  const double constant = std::abs(options.gravitational_constant);
  check_field(constant == 0 || (constant >= least && constant <= largest),
              "nbody_options.gravitational_constant", options.gravitational_constant,
              "0 or a normal number of the bodies' type");
}

/// Returns the error of a node, relative to the acceleration of the bodies that it acts on, with
/// which the root mean square of the relative errors of the accelerations is at most `tolerance`
/// per cent; 0 for 0. Fitted to measured errors of Plummer spheres and uniform cubes. With 10^4 to
/// 10^6 bodies and tolerances of 0.01 to 3, the measured errors are below the tolerance.
[[nodiscard]] inline double node_error_of(double tolerance, int order) {
  if (tolerance == 0) return 0;
  const double power = std::pow(tolerance, 1.5);
  if (order == 1) return 0.0065 * power;
  // Above about 0.4 per cent, quadrupoles of near nodes have larger errors than their first term.
  return std::min(0.0158 * power, 0.011 * std::pow(tolerance, 1.1));
}

}  // namespace ramify::detail::nbody::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Checks every field. \throws std::invalid_argument naming the field and its range
inline void validate(const nbody_options& options) {
  using detail::check_field;
  check_field(options.theta >= 0 && options.theta <= 2, "nbody_options.theta", options.theta,
              "in [0, 2]");
  check_field(options.tolerance == 0 || (options.tolerance >= 1e-5 && options.tolerance <= 10),
              "nbody_options.tolerance", options.tolerance, "0 or in [1e-5, 10]");
  check_field(options.tolerance == 0 || options.theta == nbody_options{}.theta,
              "nbody_options.theta", options.theta,
              "left at its default value if tolerance is not 0");
  check_field(options.order == 1 || options.order == 2, "nbody_options.order", options.order,
              "1 or 2");
  check_field(std::isfinite(options.softening) && options.softening >= 0, "nbody_options.softening",
              options.softening, "finite and at least 0");
  check_field(std::isfinite(options.gravitational_constant), "nbody_options.gravitational_constant",
              options.gravitational_constant, "finite");
  check_field(options.step_levels >= 1 && options.step_levels <= detail::nbody::max_step_levels,
              "nbody_options.step_levels", options.step_levels, "in [1, 20]");
  check_field(std::isfinite(options.step_accuracy) && options.step_accuracy > 0,
              "nbody_options.step_accuracy", options.step_accuracy, "finite and larger than 0");
  check_field(options.step_levels == 1 || options.softening > 0, "nbody_options.softening",
              options.softening, "larger than 0 if step_levels is larger than 1");
  check_enumerator(options.method, "nbody_options.method");
  check_field(options.leaf_size >= 1 && options.leaf_size <= 1024, "nbody_options.leaf_size",
              options.leaf_size, "in [1, 1024]");
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::nbody::inline RAMIFY_ABI {

/// Returns options after all checks of a calculation in Real.
/// \throws std::invalid_argument naming the field
template <class Real>
const nbody_options& checked(const nbody_options& options) {
  validate(options);
  validate_range<Real>(options);
  return options;
}

}  // namespace ramify::detail::nbody::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Report of a force calculation, or the sums over all force calculations of a simulation.
struct nbody_report : run_report {
  nbody_method method = nbody_method::tree;  ///< how forces were calculated
  std::uint64_t bodies = 0;                  ///< number of bodies
  std::uint64_t nodes = 0;                   ///< nodes of the tree; 0 for the direct sum
  std::uint64_t interactions = 0;        ///< pairs of a body and a body, or of a body and a node
  std::uint64_t force_calculations = 0;  ///< accelerations of one body
  /// Bodies on each level of time steps at the end of the last step; empty without levels.
  std::vector<std::uint64_t> bodies_on_level;
};

/// Two bodies, by their indices in the caller's arrays.
struct body_pair {
  std::uint32_t first;   ///< the smaller index
  std::uint32_t second;  ///< larger than `first`
};

/// The result of a search for collisions.
struct nbody_collisions : run_report {
  std::uint64_t bodies = 0;      ///< number of bodies
  std::uint64_t collisions = 0;  ///< pairs that collide
  std::uint64_t written = 0;     ///< of them; less than `collisions` if the list was too short
};

/// Writes one "name: value" line for each field.
inline std::ostream& operator<<(std::ostream& out, const nbody_collisions& r) {
  return out << "bodies: " << r.bodies << "\ncollisions: " << r.collisions
             << "\nwritten: " << r.written << '\n'
             << static_cast<const run_report&>(r);
}

/// Writes one "name: value" line for each field.
inline std::ostream& operator<<(std::ostream& out, const nbody_report& r) {
  out << "method: " << to_string(r.method) << "\nbodies: " << r.bodies << "\nnodes: " << r.nodes
      << "\ninteractions: " << r.interactions << "\nforce calculations: " << r.force_calculations
      << '\n';
  if (!r.bodies_on_level.empty()) {
    out << "bodies on each level of steps:";
    for (const std::uint64_t bodies : r.bodies_on_level) out << ' ' << bodies;
    out << '\n';
  }
  return out << static_cast<const run_report&>(r);
}

}  // namespace ramify::inline RAMIFY_ABI
