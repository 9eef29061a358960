// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A tree of boxes, for searches near a point.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <ramify/tessellation/config.hpp>
#include <utility>
#include <vector>

namespace common {

using ramify::surface_point;

/// A box with sides along the axes. Without points it is empty.
struct point_box {
  std::array<double, 3> low{HUGE_VAL, HUGE_VAL, HUGE_VAL};
  std::array<double, 3> high{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};

  void extend_to(const surface_point& p) { extend_to(point_box{{p.x, p.y, p.z}, {p.x, p.y, p.z}}); }
  void extend_to(const point_box& other) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], other.low[axis]);
      high[axis] = std::max(high[axis], other.high[axis]);
    }
  }
  /// Returns the distance of a point from the box; 0 if it is inside.
  [[nodiscard]] double distance_to(const surface_point& p) const {
    const std::array<double, 3> x{p.x, p.y, p.z};
    double square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double outside = std::max({low[axis] - x[axis], x[axis] - high[axis], 0.0});
      square += outside * outside;
    }
    return std::sqrt(square);
  }
};

/// A binary tree over boxes: each node divides its boxes at the median of their middles.
class box_tree {
 public:
  explicit box_tree(std::vector<point_box> boxes) : boxes_(std::move(boxes)) {
    order_.resize(boxes_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!order_.empty()) build(0, order_.size());
  }

  /// Calls visit(i) for each box i whose distance from the point is at most `reach`, near boxes
  /// first. visit() returns the reach of the further search, which must not grow.
  template <class Visit>
  void visit_near(const surface_point& p, double reach, Visit visit) const {
    if (!nodes_.empty()) search(0, p, reach, visit);
  }

 private:
  struct node {
    point_box box;
    std::size_t first, last;  ///< in order_
    std::size_t right = 0;    ///< the left child is the next node; 0: a leaf
  };

  std::size_t build(std::size_t first, std::size_t last) {
    constexpr std::size_t boxes_of_leaf = 4;
    const std::size_t at = nodes_.size();
    node made{{}, first, last};
    for (std::size_t k = first; k < last; ++k) made.box.extend_to(boxes_[order_[k]]);
    nodes_.push_back(made);
    if (last - first <= boxes_of_leaf) return at;
    std::size_t axis = 0;
    for (const std::size_t other : {1, 2}) {
      const auto& [low, high] = made.box;
      if (high[other] - low[other] > high[axis] - low[axis]) axis = other;
    }
    const auto begin = order_.begin();
    const std::size_t middle = first + (last - first) / 2;
    const auto sum = [&](std::size_t i) { return boxes_[i].low[axis] + boxes_[i].high[axis]; };
    std::nth_element(begin + std::ptrdiff_t(first), begin + std::ptrdiff_t(middle),
                     begin + std::ptrdiff_t(last),
                     [&](std::size_t i, std::size_t j) { return sum(i) < sum(j); });
    build(first, middle);
    const std::size_t right = build(middle, last);
    nodes_[at].right = right;
    return at;
  }

  template <class Visit>
  void search(std::size_t at, const surface_point& p, double& reach, Visit& visit) const {
    const node& here = nodes_[at];
    if (here.box.distance_to(p) > reach) return;
    if (here.right == 0) {
      for (std::size_t k = here.first; k < here.last; ++k) {
        const std::size_t i = order_[k];
        if (boxes_[i].distance_to(p) <= reach) reach = visit(i);
      }
      return;
    }
    std::size_t near = at + 1;
    std::size_t far = here.right;
    if (nodes_[far].box.distance_to(p) < nodes_[near].box.distance_to(p)) std::swap(near, far);
    search(near, p, reach, visit);
    search(far, p, reach, visit);
  }

  std::vector<point_box> boxes_;
  std::vector<std::size_t> order_;
  std::vector<node> nodes_;
};

}  // namespace common
