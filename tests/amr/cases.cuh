// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cmath>
#include <optional>
#include <ramify/amr.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "initial_states.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

// ---- the criterion -----------------------------------------------------------------------------

#if !RAMIFY_ON_CUDA
/// What a criterion of the executor's does to the launch pool of the device.
inline std::atomic<std::size_t> pool_to_shrink_to{0};
#endif

template <class Physics>
struct chosen_criterion {
  static constexpr int dim = Physics::dimensions;
  setting s;
  double lower[dim];      // of the domain
  double root_edge[dim];  // of a root block

  explicit chosen_criterion(const setting& of) : s(of) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const amr_mesh_config& mesh = of.config.mesh;
      lower[axis] = mesh.lower[axis];
      root_edge[axis] = (mesh.upper[axis] - mesh.lower[axis]) / double(mesh.roots[axis]);
    }
  }
  chosen_criterion() = default;

  [[nodiscard]] __device__ double operator()(const cell_stencil<typename Physics::values, dim>& u,
                                             const block_place<dim>& place,
                                             const double (&where)[dim]) const {
#if !RAMIFY_ON_CUDA
    if (const std::size_t pool = pool_to_shrink_to.exchange(0); pool != 0) {
      static_cast<void>(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pool));
    }
#endif
    switch (s.criterion) {
      case criterion_kind::gradient:
        return gradient_criterion<Physics>{s.variable}(u, place, where);
      case criterion_kind::loehner: return loehner_criterion<Physics>{s.variable}(u, place, where);
      case criterion_kind::value: return (u.here[s.variable] - s.offset) * s.scale;
      case criterion_kind::window:
        return std::fabs((u.here[s.variable] - s.offset) * s.scale) < 1 ? 1 : 0;
      case criterion_kind::box: return place.level < 3 && overlaps(place) ? 2 : 0;
      default: break;
    }
    block_place<dim> ancestor = place;
    for (; ancestor.level >= 0; --ancestor.level) {
      if (!obeys(ancestor)) return 0;
      for (int axis = 0; axis < dim; ++axis) ancestor.index[axis] /= 2;
    }
    return 2;
  }

 private:
  [[nodiscard]] __device__ bool overlaps(const block_place<dim>& place) const {
    const box& wanted = s.boxes[place.level];
    for (int axis = 0; axis < dim; ++axis) {
      const double edge = root_edge[axis] / double(1u << place.level);
      const double begin = lower[axis] + double(place.index[axis]) * edge;
      if (begin >= wanted.upper[axis] || begin + edge <= wanted.lower[axis]) return false;
    }
    return true;
  }

  [[nodiscard]] __device__ bool obeys(const block_place<dim>& place) const {
    const double size = 1.0 / double(1u << place.level);
    switch (s.criterion) {
      case criterion_kind::everywhere: return true;
      case criterion_kind::fractal: {
        if (place.level < s.depth - 4) return true;
        int child = 0;
        for (int axis = 0; axis < dim; ++axis) child |= int(place.index[axis] & 1) << axis;
        return child == 0 || child == 3 || child == 5 || child == 6;
      }
      case criterion_kind::sphere: {
        double nearest = 0;
        double farthest = 0;
        for (int axis = 0; axis < dim; ++axis) {
          const double lower = place.index[axis] * size - 0.5;
          const double upper = lower + size;
          const double near = lower > 0 ? lower : upper < 0 ? -upper : 0.0;
          const double far = -lower > upper ? -lower : upper;
          nearest += near * near;
          farthest += far * far;
        }
        return place.level == 0 || (nearest <= 0.0625 && 0.0625 <= farthest);
      }
      case criterion_kind::point:
      case criterion_kind::corner:
        for (int axis = 0; axis < dim; ++axis) {
          const unsigned wanted = s.criterion == criterion_kind::corner
                                      ? 0
                                      : static_cast<unsigned>(double(1u << place.level) / 3);
          if (place.index[axis] != wanted) return false;
        }
        return true;
      default: return false;
    }
  }
};

// ---- runs --------------------------------------------------------------------------------------

template <class Physics, int n>
class run_of final : public any_run {
 public:
  using run_type = amr_run<Physics, chosen_criterion<Physics>, n>;

  explicit run_of(const setting& s)
      : setting_(s),
        limit_(scoped_limit(s.pending_launches)),
        run_(physics_of(s, static_cast<const Physics*>(nullptr)), chosen_criterion<Physics>{s},
             chosen_beginning<Physics>{s}, s.config) {}
  run_of(const setting& s, const amr_state& state)
      : setting_(s),
        limit_(scoped_limit(s.pending_launches)),
        run_(physics_of(s, static_cast<const Physics*>(nullptr)), chosen_criterion<Physics>{s},
             state, s.config) {}

  void advance(std::uint64_t steps) override {
    [[maybe_unused]] const shrinking_pool pool(setting_.pool_shrinks_to);
    run_.advance(steps);
  }
  void advance_to(double time) override { run_.advance_to(time); }
  [[nodiscard]] double time() const override { return run_.time(); }
  [[nodiscard]] std::uint64_t steps() const override { return run_.steps(); }
  [[nodiscard]] const amr_report& report() const override { return run_.report(); }
  [[nodiscard]] std::vector<double> totals() const override { return run_.totals(); }
  [[nodiscard]] mesh_snapshot snapshot() const override { return run_.snapshot(); }
  [[nodiscard]] amr_state save() const override { return run_.save(); }

 private:
  /// Lets the criterion shrink the pool, and makes it as large as it was at the end.
  class shrinking_pool {
   public:
    explicit shrinking_pool(std::size_t to) {
      if (to == 0) return;
      former_.emplace(
          launch_limit_values{.pending_launches = *current_launch_limits().pending_launches});
#if !RAMIFY_ON_CUDA
      pool_to_shrink_to = to;
#endif
    }
    ~shrinking_pool() {
#if !RAMIFY_ON_CUDA
      pool_to_shrink_to = 0;
#endif
    }
    shrinking_pool(const shrinking_pool&) = delete;
    shrinking_pool& operator=(const shrinking_pool&) = delete;

   private:
    std::optional<launch_limits> former_;
  };

  setting setting_;
  std::optional<launch_limits> limit_;
  run_type run_;
};

template <class... Arguments>
std::unique_ptr<any_run> make_run(const setting& s, const Arguments&... arguments) {
  switch (s.matter) {
    case matter::scalar_2d: return std::make_unique<run_of<scalar_of<2>, 4>>(s, arguments...);
    case matter::scalar_3d: return std::make_unique<run_of<scalar_of<3>, 4>>(s, arguments...);
    case matter::gas_2d: return std::make_unique<run_of<euler<double, 2>, 8>>(s, arguments...);
    case matter::gas_3d: return std::make_unique<run_of<euler<double, 3>, 8>>(s, arguments...);
  }
  return nullptr;
}

inline std::unique_ptr<any_run> start_run(const setting& s) { return make_run(s); }
inline std::unique_ptr<any_run> resume_run(const setting& s, const amr_state& state) {
  return make_run(s, state);
}

template <class Physics>
std::vector<double> averages_of(const setting& s, const mesh_snapshot& mesh, double time) {
  constexpr int dim = Physics::dimensions;
  const chosen_beginning<Physics> exact{s};
  const Physics physics = physics_of(s, static_cast<const Physics*>(nullptr));
  const double offset[3] = {-0.3872983346207417, 0, 0.3872983346207417};
  const double weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  std::vector<double> all(mesh.values.size());
  const auto cells = static_cast<int>(mesh.cells_of_a_block());
  for (std::size_t leaf = 0; leaf < mesh.leaves.size(); ++leaf) {
    const block_position& place = mesh.leaves[leaf];
    for (int cell = 0; cell < cells; ++cell) {
      typename Physics::values sum{};
      for (int point = 0; point < (dim == 2 ? 9 : 27); ++point) {
        double where[dim];
        double share = 1;
        for (int axis = 0, rest = cell, digits = point; axis < dim; ++axis) {
          const auto a = static_cast<std::size_t>(axis);
          where[axis] = mesh.lower[a] + (double(place.index[a]) * mesh.cells + rest % mesh.cells +
                                         0.5 + offset[digits % 3]) *
                                            mesh.spacing(place.level, axis);
          share *= weight[digits % 3];
          rest /= mesh.cells;
          digits /= 3;
        }
        sum += share * physics.to_conserved(exact.at(where, time));
      }
      for (int v = 0; v < Physics::variables; ++v) {
        all[(leaf * mesh.fields.size() + std::size_t(v)) * std::size_t(cells) + std::size_t(cell)] =
            sum[v];
      }
    }
  }
  return all;
}

inline std::vector<double> exact_averages(const setting& s, const mesh_snapshot& mesh,
                                          double time) {
  switch (s.matter) {
    case matter::scalar_2d: return averages_of<scalar_of<2>>(s, mesh, time);
    case matter::scalar_3d: return averages_of<scalar_of<3>>(s, mesh, time);
    case matter::gas_2d: return averages_of<euler<double, 2>>(s, mesh, time);
    case matter::gas_3d: return averages_of<euler<double, 3>>(s, mesh, time);
  }
  return {};
}

inline void advance_without_slots(any_run& run, std::uint64_t steps) {
  const all_slots_taken taken(*current_launch_limits().pending_launches);
  run.advance(steps);
}

inline const amr_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const amr_cases all{start_run, resume_run, exact_averages, slots_in_use,
                             advance_without_slots};
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD
