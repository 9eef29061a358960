// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A uniform line of cells: the smallest solver that uses the physics as a mesh does.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ramify/amr/reconstruct.cuh>
#include <vector>

namespace tests {

/// What lies beyond the ends of the line.
enum class ends { open, periodic };

/// Limited slopes in primitive values, and Heun's steps (SSP-RK2).
template <class Physics, class Limiter = ramify::monotonized_central>
class line {
 public:
  using values = typename Physics::values;
  using real = typename Physics::real;

  /// `primitive(where)`: what the line is like at time 0, between 0 and 1. A cell begins with its
  /// mean over Gauss's three points.
  template <class Problem>
  line(const Physics& physics, int cells, ends beyond, const Problem& primitive)
      : physics_(physics), beyond_(beyond), spacing_(real(1) / real(cells)) {
    const real offset = std::sqrt(real(0.6)) / 2;
    for (int i = 0; i < cells; ++i) {
      const auto at = [&](real from_centre) {
        const real where[1] = {(real(i) + real(0.5) + from_centre) * spacing_};
        return physics_.to_conserved(primitive(where));
      };
      // In an order that a mirrored problem has too.
      cells_.push_back(real(5) / 18 * (at(-offset) + at(offset)) + real(8) / 18 * at(0));
    }
  }

  /// One step of a share `courant` of what a signal needs to cross a cell, at most to `end`.
  void step(real courant, real end) {
    real fastest = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const real where[1] = {centre(i)};
      fastest =
          std::max(fastest, physics_.fastest(physics_.to_primitive(cells_[i]), 0, where, time_));
    }
    const real step = std::min(courant * spacing_ / fastest, end - time_);
    const std::vector<values> before = cells_;
    add_flows(step, time_);
    add_flows(step, time_ + step);
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = real(0.5) * (before[i] + cells_[i]);
    time_ += step;
  }

  /// Whether every cell was sound after every stage of every step.
  bool run_until(real end, real courant = real(0.4)) {
    while (time_ < end && sound_) step(courant, end);
    return sound_;
  }

  [[nodiscard]] const std::vector<values>& conserved() const { return cells_; }
  [[nodiscard]] values primitive(std::size_t i) const { return physics_.to_primitive(cells_[i]); }
  [[nodiscard]] real centre(std::size_t i) const { return (real(i) + real(0.5)) * spacing_; }
  [[nodiscard]] real spacing() const { return spacing_; }
  [[nodiscard]] real time() const { return time_; }

 private:
  void add_flows(real step, real time) {
    const int count = int(cells_.size());
    std::vector<values> gas;  // two cells beyond each end
    for (int i = -2; i < count + 2; ++i) {
      const int from = beyond_ == ends::open ? std::clamp(i, 0, count - 1) : (i + count) % count;
      gas.push_back(physics_.to_primitive(cells_[std::size_t(from)]));
    }
    std::vector<ramify::edge_values<values>> edges;  // of the cells, and one beyond each end
    for (std::size_t i = 1; i + 1 < gas.size(); ++i) {
      edges.push_back(edges_of_cell(physics_, gas[i - 1], gas[i], gas[i + 1], Limiter{}));
    }
    std::vector<values> flows;  // through a cell's lower face; one more at the end
    for (std::size_t face = 0; face + 1 < edges.size(); ++face) {
      const real where[1] = {real(face) * spacing_};
      flows.push_back(physics_.flux(edges[face].upper, edges[face + 1].lower, 0, where, time));
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i] += step / spacing_ * (flows[i] - flows[i + 1]);
      sound_ = sound_ && physics_.sound(cells_[i]);
    }
  }

  Physics physics_;
  ends beyond_;
  real spacing_;
  real time_ = 0;
  std::vector<values> cells_;
  bool sound_ = true;
};

}  // namespace tests
