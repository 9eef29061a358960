// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A one-dimensional solver on uniform cells. It is the smallest one that uses the physics in the
/// same way as a mesh.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ramify/amr/reconstruct.cuh>
#include <vector>

namespace tests {

/// The boundary conditions of the line.
enum class ends { open, periodic };

/// A limiter that returns no slope: a first-order method, for comparisons.
struct piecewise_constant {
  template <class Real>
  [[nodiscard]] Real operator()(Real /*left*/, Real /*right*/) const {
    return 0;
  }
};

/// A solver with limited slopes in primitive values and Heun's steps (SSP-RK2).
template <class Physics, class Limiter = ramify::detail::amr::monotonized_central>
class line {
 public:
  using values = typename Physics::values;
  using real = typename Physics::real;

  /// `primitive(where)` returns the initial primitive values, for `where` in [0, 1]. Each cell
  /// begins with its mean over three Gauss points.
  template <class Problem>
  line(const Physics& physics, int cells, ends beyond, const Problem& primitive)
      : physics_(physics), beyond_(beyond), spacing_(real(1) / real(cells)) {
    const real offset = std::sqrt(real(0.6)) / 2;
    for (int i = 0; i < cells; ++i) {
      const auto at = [&](real from_center) {
        const real where[1] = {(real(i) + real(0.5) + from_center) * spacing_};
        return physics_.to_conserved(primitive(where));
      };
      // This order of the sum gives a mirrored problem mirrored bits.
      cells_.push_back(real(5) / 18 * (at(-offset) + at(offset)) + real(8) / 18 * at(0));
    }
  }

  /// Takes one step with the Courant number `courant`, not beyond `end`.
  void step(real courant, real end) {
    real fastest = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const real where[1] = {center(i)};
      fastest = std::max(
          fastest, physics_.max_wave_speed(physics_.to_primitive(cells_[i]), 0, where, time_));
    }
    const real step = std::min(courant * spacing_ / fastest, end - time_);
    const std::vector<values> before = cells_;
    add_fluxes(step, time_);
    add_fluxes(step, time_ + step);
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] = real(0.5) * (before[i] + cells_[i]);
    time_ += step;
  }

  /// Takes steps until `end`. Returns whether every cell was valid after every stage.
  bool run_until(real end, real courant = real(0.4)) {
    while (time_ < end && valid_) step(courant, end);
    return valid_;
  }

  [[nodiscard]] const std::vector<values>& conserved() const { return cells_; }
  [[nodiscard]] values primitive(std::size_t i) const { return physics_.to_primitive(cells_[i]); }
  [[nodiscard]] real center(std::size_t i) const { return (real(i) + real(0.5)) * spacing_; }
  [[nodiscard]] real spacing() const { return spacing_; }
  [[nodiscard]] real time() const { return time_; }

 private:
  void add_fluxes(real step, real time) {
    const int count = int(cells_.size());
    std::vector<values> gas;  // two cells beyond each end
    for (int i = -2; i < count + 2; ++i) {
      const int from = beyond_ == ends::open ? std::clamp(i, 0, count - 1) : (i + count) % count;
      gas.push_back(physics_.to_primitive(cells_[std::size_t(from)]));
    }
    std::vector<ramify::detail::amr::edge_values<values>>
        edges;  // of the cells, and of one cell beyond each end
    for (std::size_t i = 1; i + 1 < gas.size(); ++i) {
      edges.push_back(
          ramify::detail::amr::edges_of_cell(physics_, gas[i - 1], gas[i], gas[i + 1], Limiter{}));
    }
    std::vector<values> fluxes;  // through a cell's lower face; one more at the end
    for (std::size_t face = 0; face + 1 < edges.size(); ++face) {
      const real where[1] = {real(face) * spacing_};
      fluxes.push_back(physics_.flux(edges[face].upper, edges[face + 1].lower, 0, where, time));
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i] += step / spacing_ * (fluxes[i] - fluxes[i + 1]);
      valid_ = valid_ && physics_.is_valid(cells_[i]);
    }
  }

  Physics physics_;
  ends beyond_;
  real spacing_;
  real time_ = 0;
  std::vector<values> cells_;
  bool valid_ = true;
};

}  // namespace tests
