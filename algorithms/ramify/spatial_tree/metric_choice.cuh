// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// metric_choice: the metric of a call over many queries. The host chooses it, or a kernel writes
/// the decision to device memory, before the host has read the bounds of the queries.
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
#include <ramify/spatial_tree/node.cuh>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

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

/// The metrics of kernels.
enum class metric_kind : unsigned { none, plain, scaled };

/// The metric of a call, as the bounds of its queries determine it.
struct metric_decision {
  metric_kind kind;  ///< none: some query is not finite, or the tree is not complete, and no result
                     ///< is written
  int exponent;      ///< of the scale of balls
};

/// One of the metrics, as an argument of kernels, and the radius of balls. If a kernel decides the
/// metric, the host launches the kernels of both metrics, and one of them ends at once.
template <class Real, class Metric>
struct query_metric {
  static constexpr bool is_plain = std::is_same_v<Metric, plain_metric>;

  Real radius;
  Real radius2;                    ///< in the metric
  const metric_decision* decided;  ///< null: the host has chosen this metric
  Metric metric;

  /// Returns whether the call has this metric.
  [[nodiscard]] __device__ bool applies() const {
    return decided == nullptr ||
           decided->kind == (is_plain ? metric_kind::plain : metric_kind::scaled);
  }
  /// Returns this metric with the scale of balls.
  [[nodiscard]] __device__ query_metric of_balls() const {
    if constexpr (!is_plain) {
      if (decided != nullptr) return with_scale(decided->exponent);
    }
    return *this;
  }
  /// Returns this metric with the scale 2^exponent, or the nearest possible scale.
  [[nodiscard]] __host__ __device__ query_metric with_scale(int exponent) const {
    query_metric scaled = *this;
    scaled.metric = metric.with_scale(exponent);
    const Real in_metric = radius * scaled.metric.before * scaled.metric.after;
    scaled.radius2 = in_metric * in_metric;
    return scaled;
  }
};

/// Returns the exponent of the scale of balls with a finite radius: it makes the radius about 1.
/// With the largest scale, for radius 0, differences of the least subnormal numbers have squares.
template <class Real>
[[nodiscard]] __host__ __device__ int exponent_of_ball(Real radius) {
  return radius > 0 ? -exponent_of(double(radius)) : square_range<Real>::largest_scale;
}

/// The choice of the metric for queries among the points of a tree. It is an argument of kernels.
template <class Real, int dim>
class metric_choice {
 public:
  /// The choice for nearest neighbors. Each query determines its scale: see of_query().
  metric_choice(const spatial_tree_view<Real, dim>& tree, const periods& period)
      : points_(tree.bounds), least_of_points_(tree.least_nonzero) {
    for (int i = 0; i < dim; ++i) {
      metric_axis<Real>& axis = scaled_.axes[i];
      axis.period = static_cast<Real>(period[static_cast<std::size_t>(i)]);
      axis.origin = points_.lower.x[i];
      axis.least = points_.upper.x[i] - axis.period;
      axis.greatest = points_.lower.x[i] + axis.period;
      is_periodic_ = is_periodic_ || axis.period > 0;
    }
  }
  /// The choice for balls with a radius of 0 or more.
  metric_choice(const spatial_tree_view<Real, dim>& tree, const periods& period, Real radius)
      : metric_choice(tree, period) {
    are_balls_ = true;
    radius_ = radius;
  }

  /// Returns choose(choice) for this choice, or for that of a tree that the host has not read,
  /// which has no periods. If the build of that tree is not complete, it returns no metric.
  template <class Choose>
  [[nodiscard]] __device__ metric_decision among(const spatial_tree_view<Real, dim>& tree,
                                                 const Choose& choose) const {
    if (tree.built == nullptr) return choose(*this);
    if (tree.built->is_complete == 0) return {metric_kind::none, 0};
    metric_choice choice = *this;
    choice.points_ = tree.bounds_built();
    choice.least_of_points_ = static_cast<Real>(tree.built->least_nonzero);
    return choose(choice);
  }

  /// Chooses the metric for queries in a box. `least_nonzero` is the least magnitude of their
  /// coordinates, of those that are not 0.
  [[nodiscard]] __host__ __device__ metric_decision of_queries(const box<Real, dim>& queries,
                                                               Real least_nonzero) const {
    const int reach = scaled_.exponent_of_reach(queries, points_);
    const Real smallest = std::ldexp(Real{1}, range::least);
    bool is_plain = !is_periodic_ && reach <= range::greatest;
    if (are_balls_) {
      is_plain = is_plain && radius_ >= smallest;
    } else {
      constexpr int least_reach = range::least + std::numeric_limits<Real>::digits;
      is_plain = is_plain && least_reach <= reach && least_nonzero >= smallest &&
                 least_of_points_ >= smallest;
    }
    if (is_plain) return {metric_kind::plain, 0};
    return {metric_kind::scaled, are_balls_ ? exponent_of_scale(reach) : 0};
  }

  /// Chooses the metric for the points of the tree as queries.
  [[nodiscard]] __host__ __device__ metric_decision of_points() const {
    return of_queries(points_, least_of_points_);
  }

  /// Calls use(metric) with the query_metric of a decision of the host.
  template <class Use>
  void with(const metric_decision& decision, const Use& use) const {
    if (decision.kind == metric_kind::plain) {
      use(plain(nullptr));
    } else {
      use(scaled(nullptr).with_scale(decision.exponent));
    }
  }
  /// Calls use(metric) with each query_metric that a kernel may have decided.
  template <class Use>
  void with_each(const metric_decision* decided, const Use& use) const {
    if (!is_periodic_) use(plain(decided));
    use(scaled(decided));
  }

 private:
  using range = square_range<Real>;
  static constexpr Real greatest = std::numeric_limits<Real>::max();

  [[nodiscard]] query_metric<Real, plain_metric> plain(const metric_decision* decided) const {
    return {radius_, radius_ * radius_, decided, {}};
  }
  [[nodiscard]] query_metric<Real, scaled_metric<Real, dim>> scaled(
      const metric_decision* decided) const {
    return {radius_, 0, decided, scaled_};
  }

  [[nodiscard]] __host__ __device__ int exponent_of_scale(int reach) const {
    if (is_periodic_ || radius_ > greatest) return range::greatest - 1 - reach;
    return exponent_of_ball(radius_);
  }

  bool is_periodic_ = false;
  bool are_balls_ = false;
  Real radius_ = 0;
  box<Real, dim> points_;
  Real least_of_points_;
  scaled_metric<Real, dim> scaled_{};
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
