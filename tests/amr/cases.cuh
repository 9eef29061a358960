// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <ramify/amr.cuh>
#include <ramify/amr/problems.cuh>
#include <ramify/runtime/stream.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

// ---- what flows --------------------------------------------------------------------------------

template <int dim>
struct chosen_velocity {
  flow_kind kind;
  double rate;
  double velocity[dim];

  [[nodiscard]] __host__ __device__ double operator()(const double (&where)[dim], double time,
                                                      int axis) const {
    switch (kind) {
      case flow_kind::uniform: break;
      case flow_kind::vortex: return reversing_vortex<double, dim>{rate}(where, time, axis);
      case flow_kind::expanding: return rate * where[axis];
    }
    return velocity[axis];
  }

  [[nodiscard]] __host__ __device__ double fastest(const double (&where)[dim], int axis) const {
    return std::fabs((*this)(where, 0, axis));  // all of them are fastest in the beginning
  }
};

template <int dim>
using scalar_of = advection<double, dim, chosen_velocity<dim>>;

// One type of run for each kind of matter, all with the same functors: each costs a compiler
// seconds.
template <int dim>
[[nodiscard]] scalar_of<dim> physics_of(const setting& s, const scalar_of<dim>*) {
  scalar_of<dim> physics{{s.flow, s.rate, {}}};
  for (int axis = 0; axis < dim; ++axis) physics.velocity.velocity[axis] = s.velocity[axis];
  return physics;
}
template <int dim>
[[nodiscard]] euler<double, dim> physics_of(const setting& s, const euler<double, dim>*) {
  euler<double, dim> gas;
  gas.gamma = s.gamma;
  return gas;
}

// ---- the beginning -----------------------------------------------------------------------------

/// A number of [0, 1) that looks drawn.
[[nodiscard]] __host__ __device__ inline double noise_at(const double* where, int dim, int salt) {
  std::uint64_t bits = 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(salt + 1);
  for (int axis = 0; axis < dim; ++axis) {
    bits += static_cast<std::uint64_t>(where[axis] * 1e6 + 1e9);
    bits *= 0xbf58476d1ce4e5b9ull;
    bits ^= bits >> 29;
  }
  return static_cast<double>(bits >> 12) / static_cast<double>(1ull << 52);
}

template <class Physics>
struct chosen_beginning {
  static constexpr int dim = Physics::dimensions;
  static constexpr bool is_gas = Physics::variables > 1;
  using values = typename Physics::values;
  setting s;

  [[nodiscard]] __host__ __device__ values operator()(const double (&where)[dim]) const {
    return at(where, 0);
  }

  /// What it has become, where that is known.
  [[nodiscard]] __host__ __device__ values at(const double (&where)[dim], double time) const {
    if constexpr (is_gas) {
      return gas_at(where, time);
    } else {
      return scalar_at(where, time);
    }
  }

 private:
  [[nodiscard]] __host__ __device__ values scalar_at(const double (&where)[dim],
                                                     double time) const {
    double from[dim];
    double centre[dim];
    double line = s.level;
    for (int axis = 0; axis < dim; ++axis) {
      from[axis] = where[axis] - s.velocity[axis] * time;
      // The images of a periodic domain of unit size.
      if (s.begin == beginning::gaussian) from[axis] -= std::floor(from[axis]);
      centre[axis] = s.centre[axis];
      line += s.slope[axis] * from[axis];
    }
    switch (s.begin) {
      case beginning::linear: return {line};
      case beginning::gaussian: {
        gaussian<double, dim> bump{};
        for (int axis = 0; axis < dim; ++axis) bump.centre[axis] = centre[axis];
        bump.width = s.width;
        return bump(from);
      }
      case beginning::hump: {
        cosine_hump<double, dim> hump{};
        for (int axis = 0; axis < dim; ++axis) hump.centre[axis] = centre[axis];
        hump.radius = s.width;
        return hump(from);
      }
      case beginning::noise: return {noise_at(where, dim, 0)};
      default: return {s.level};
    }
  }

  [[nodiscard]] __host__ __device__ values gas_at(const double (&where)[dim], double time) const {
    values gas{};
    gas[0] = s.level;
    for (int axis = 0; axis < dim; ++axis) gas[1 + axis] = s.velocity[axis];
    gas[dim + 1] = 1;
    const double turn = 2 * std::numbers::pi_v<double>;
    switch (s.begin) {
      case beginning::sod: {
        sod<double, dim> tube;
        tube.axis = s.axis;
        return tube(where);
      }
      case beginning::blast: {
        sedov<double, dim> blast;
        for (int axis = 0; axis < dim; ++axis) blast.centre[axis] = s.centre[axis];
        blast.radius = s.width;
        blast.gamma = s.gamma;
        return blast(where);
      }
      case beginning::sound:
      case beginning::entropy: {
        linear_wave<double, dim> wave;
        wave.family = s.begin == beginning::sound ? wave_family::sound : wave_family::entropy;
        wave.gamma = s.gamma;
        wave.pressure = 1 / s.gamma;
        wave.amplitude = s.amplitude;
        for (int axis = 0; axis < dim; ++axis) {
          wave.crests[axis] = s.crests[axis];
          wave.velocity[axis] = s.velocity[axis];
        }
        return wave.at(where, time);
      }
      case beginning::pulses:
        for (int axis = 0; axis < dim; ++axis) {
          gas[0] += 0.2 * std::sin(turn * (where[axis] + 0.1 * axis));
          gas[1 + axis] += 0.3 * std::cos(turn * where[(axis + 1) % dim]);
          gas[dim + 1] += 0.25 * std::sin(turn * where[axis] + 1);
        }
        return gas;
      case beginning::noise:
        gas[0] += noise_at(where, dim, 0);
        gas[dim + 1] += noise_at(where, dim, 1);
        for (int axis = 0; axis < dim; ++axis)
          gas[1 + axis] += noise_at(where, dim, 2 + axis) - 0.5;
        return gas;
      case beginning::poisoned: {
        double distance = 0;
        for (int axis = 0; axis < dim; ++axis) {
          distance += (where[axis] - s.centre[axis]) * (where[axis] - s.centre[axis]);
        }
        if (distance < s.width * s.width) gas[0] = std::nan("");
        return gas;
      }
      case beginning::tearing:
        gas[1] = where[0] < s.centre[0] ? -s.amplitude : s.amplitude;
        gas[dim + 1] = 1e-3;
        return gas;
      default: return gas;
    }
  }
};

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
