// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// choose_metric(): the metric of a call over many queries, chosen by the host.
///
///     neighbors   plain, if the squares of the greatest difference of two coordinates, of one unit
///                 in its last place, and of each nonzero coordinate are in the normal range of
///                 Real
///     balls       plain, if the square of the greatest difference is in range, and the square of
///                 the radius is not less than the normal range
///
/// Otherwise, and in periodic boxes, the metric is scaled. The scale of balls makes the radius
/// about 1. Squares of greater distances may then be infinite, and of less ones 0: both compare
/// with the radius as they should. In a periodic box all scaled differences must be finite, so the
/// greatest one determines the scale, as for neighbors.

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ramify/spatial_tree/metric.cuh>
#include <sstream>
#include <stdexcept>
#include <string>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The periods of the axes, 0 for an axis that is not periodic.
using periods = std::array<double, 3>;

/// Checks the periods of queries among points in `points`. `name` begins the message.
/// \throws std::invalid_argument
template <class Real, int dim>
void check_periods(const periods& period, const box<Real, dim>& points, const std::string& name) {
  constexpr Real least = std::numeric_limits<Real>::min();
  constexpr Real greatest = std::numeric_limits<Real>::max() / 4;
  for (std::size_t i = 0; i < period.size(); ++i) {
    if (period[i] == 0) continue;
    std::ostringstream text;
    text << name << ": period[" << i << "] is " << period[i] << "; ";
    if (i >= dim) {
      text << "it must be 0, because the points have 2 dimensions";
    } else if (!(period[i] >= double(least) && period[i] <= double(greatest))) {
      text << "it must be 0 or in [" << least << ", " << greatest << ']';
    } else {
      const double lower = points.lower.x[i];
      const double upper = points.upper.x[i];
      // Half of the extent, which may overflow.
      if (upper / 2 - lower / 2 <= double(static_cast<Real>(period[i])) / 2) continue;
      text << "the points must not extend over more along this axis, but have coordinates from "
           << lower << " to " << upper;
    }
    throw std::invalid_argument(text.str());
  }
}

/// The metric of a call.
template <class Real, int dim>
struct chosen_metric {
  bool is_plain = true;
  scaled_metric<Real, dim> scaled{};
  Real radius2 = 0;  ///< of balls, in the metric
};

/// Chooses the metric of calls over queries in one box and points in another one.
template <class Real, int dim>
class metric_choice {
 public:
  /// \param least_nonzero  the least magnitude of a coordinate, of those that are not 0
  metric_choice(const box<Real, dim>& queries, const box<Real, dim>& points, Real least_nonzero,
                const periods& period)
      : has_tiny_(least_nonzero < std::ldexp(Real{1}, range::least)) {
    for (int i = 0; i < dim; ++i) {
      metric_axis<Real>& axis = scaled_.axes[i];
      axis.period = static_cast<Real>(period[static_cast<std::size_t>(i)]);
      axis.origin = points.lower.x[i];
      axis.least = points.upper.x[i] - axis.period;
      axis.greatest = points.lower.x[i] + axis.period;
      is_periodic_ = is_periodic_ || axis.period > 0;
    }
    reach_ = scaled_.exponent_of_reach(queries, points);
  }

  /// Returns the metric of a search for neighbors. Each query determines its scale: see of_query().
  [[nodiscard]] chosen_metric<Real, dim> of_neighbors() const {
    constexpr int least = range::least + std::numeric_limits<Real>::digits;
    const bool is_plain =
        !is_periodic_ && !has_tiny_ && least <= reach_ && reach_ <= range::greatest;
    return {is_plain, scaled_, 0};
  }

  /// Returns the metric of balls.
  [[nodiscard]] chosen_metric<Real, dim> of_balls(Real radius) const {
    const bool is_plain =
        !is_periodic_ && reach_ <= range::greatest && radius >= std::ldexp(Real{1}, range::least);
    if (is_plain) return {true, scaled_, radius * radius};
    const auto scaled = scaled_.with_scale(exponent_of_scale(radius));
    const Real in_metric = radius * scaled.before * scaled.after;
    return {false, scaled, in_metric * in_metric};
  }

 private:
  using range = square_range<Real>;

  [[nodiscard]] int exponent_of_scale(Real radius) const {
    const bool is_infinite = radius > std::numeric_limits<Real>::max();
    if (is_periodic_ || is_infinite) return range::greatest - 1 - reach_;
    // With the largest scale, differences of the least subnormal numbers have squares.
    return radius > 0 ? -exponent_of(double(radius)) : range::largest_scale;
  }

  scaled_metric<Real, dim> scaled_{};
  bool has_tiny_;
  bool is_periodic_ = false;
  int reach_ = 0;  // exponent of the greatest difference of coordinates
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
