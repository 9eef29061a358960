// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options, result and report of quadrature(); plain C++.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The largest number of dimensions of quadrature().
inline constexpr unsigned max_quadrature_dimensions = 8;

/// Options of quadrature(). The tolerance is the larger one of `absolute_tolerance` and
/// `relative_tolerance` times the magnitude of the estimated integral.
struct quadrature_options {
  double absolute_tolerance = 0;     ///< finite, at least 0
  double relative_tolerance = 1e-6;  ///< in [0, 1); one of the two must be greater than 0
  /// All regions are split in each round until at least this number of points is evaluated, at most
  /// max_evaluations. A larger number finds peaks that the points of a few large regions miss. If
  /// such a round would exceed max_evaluations, it splits only as many regions as this number
  /// requires. Fewer points are evaluated only if max_evaluations allows no further split of one
  /// region, or if all regions are too short to be split.
  std::size_t min_evaluations = 0;
  /// The maximum number of points that are evaluated, at least quadrature_points(d). A run to which
  /// no memory is handed in allocates it for the regions that it has, not for all that this number
  /// allows.
  std::size_t max_evaluations = 10'000'000;
};

/// Returns the number of points at which the integrand is evaluated in one region: 23 in one
/// dimension (Gauss and Kronrod), 21 in two and 77, 153, 273, 453, 717, 1105 in 3 to 8 dimensions
/// (Genz and Malik). They include 2 d points near the faces.
[[nodiscard]] constexpr unsigned quadrature_points(unsigned dimensions) {
  if (dimensions == 1) return 23;
  const unsigned n = dimensions;
  if (n == 2) return 21;
  return 1 + 8 * n + 6 * n * (n - 1) + 4 * n * (n - 1) * (n - 2) / 3 + (1u << n);
}

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const quadrature_options& options) {
  using detail::check_field;
  const double absolute = options.absolute_tolerance;
  const double relative = options.relative_tolerance;
  check_field(std::isfinite(absolute) && absolute >= 0, "quadrature_options.absolute_tolerance",
              absolute, "finite and at least 0");
  check_field(relative >= 0 && relative < 1, "quadrature_options.relative_tolerance", relative,
              "in [0, 1)");
  check_field(absolute > 0 || relative > 0, "quadrature_options.relative_tolerance", 0,
              "greater than 0 if absolute_tolerance is 0");
  check_field(options.min_evaluations <= options.max_evaluations,
              "quadrature_options.min_evaluations", options.min_evaluations,
              "at most max_evaluations, which is " + std::to_string(options.max_evaluations));
}

/// Why a quadrature ended.
enum class quadrature_status {
  converged,        ///< the error bound is at most the tolerance, also after a check, unless
                    ///< max_evaluations leaves no points for one
  max_evaluations,  ///< the next round would exceed max_evaluations
  round_off,        ///< no split can reduce the error bound any more
  not_finite,       ///< the integrand is NaN or infinite at a point
  out_of_range,     ///< the integral is too large or too small for a double
  out_of_memory,    ///< there is no memory for the regions of the next round
};

/// Returns the name of the enumerator, or "?" if `s` is none.
[[nodiscard]] constexpr std::string_view to_string(quadrature_status s) {
  return choice_name(s, {"converged", "max_evaluations", "round_off", "not_finite", "out_of_range",
                         "out_of_memory"});
}

/// Report of a quadrature.
struct quadrature_report : run_report {
  /// The evaluation of the whole domain, and the rounds of splits and of checks.
  std::uint64_t rounds = 0;
  std::uint64_t check_evaluations = 0;  ///< number of points that checks evaluated
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const quadrature_report& r) {
  return out << static_cast<const run_report&>(r) << "rounds: " << r.rounds
             << "\ncheck evaluations: " << r.check_evaluations << '\n';
}

/// Report of a batch of quadratures.
struct quadrature_batch_report : run_report {
  std::uint64_t integrals = 0;  ///< number of integrals
  std::uint64_t continued = 0;  ///< of them, those for which a block did not suffice
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const quadrature_batch_report& r) {
  return out << static_cast<const run_report&>(r) << "integrals: " << r.integrals
             << "\ncontinued: " << r.continued << '\n';
}

/// What a quadrature found. If it has not converged, `value` is the best estimate.
struct quadrature_estimate {
  quadrature_status status = quadrature_status::converged;  ///< the reason for the end
  /// The estimate; points that are not finite count as 0. With `out_of_range` it is infinite, 0 or
  /// subnormal.
  double value = 0;
  /// The sum of the error estimates of all regions. With `not_finite` and `out_of_range` it is
  /// infinite.
  double error = 0;
  std::uint64_t regions = 0;      ///< number of regions at the end
  std::uint64_t evaluations = 0;  ///< number of points that were evaluated
  /// With `not_finite`: the coordinates of a point at which the integrand is not finite.
  std::array<double, max_quadrature_dimensions> not_finite_at{};

  /// Returns whether the tolerance was reached.
  [[nodiscard]] bool converged() const { return status == quadrature_status::converged; }
};

/// Result of a quadrature.
struct quadrature_result : quadrature_estimate {
  quadrature_report report;  ///< of the run
};

}  // namespace ramify::inline RAMIFY_ABI
