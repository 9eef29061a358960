// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The physics, the initial state and the criterion of a setting, as functors.

#include <atomic>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <ramify/amr.cuh>
#include <thread>

#include "runs.hpp"

namespace tests::inline RAMIFY_BUILD {

using namespace ramify;

// ---- the physics --------------------------------------------------------------------------------

template <int dim>
struct velocity_of {
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

  [[nodiscard]] __host__ __device__ double max_speed(const double (&where)[dim], int axis) const {
    return std::fabs((*this)(where, 0, axis));  // all flows are fastest at time 0
  }
};

/// A scalar with all optional members of a physics.
template <int dim>
struct scalar_of : advection<double, dim, velocity_of<dim>> {
  using values = state<double, 1>;
  double level;
  double slope[dim];
  double supply;
  double growth;
  double decay;
  bool frozen_sides;

  /// The state at prescribed sides: linear, and transported.
  [[nodiscard]] __host__ __device__ values ghost_state(const values&, int, int,
                                                       const double (&where)[dim],
                                                       double time) const {
    const double elapsed = frozen_sides ? 0 : time;
    double line = level + elapsed * (supply + 0.5 * growth * elapsed);
    for (int axis = 0; axis < dim; ++axis) {
      line += slope[axis] * (where[axis] - this->velocity.velocity[axis] * elapsed);
    }
    return {line};
  }
  [[nodiscard]] __host__ __device__ values source(const values&, const double (&)[dim],
                                                  const double (&)[dim], double time) const {
    return {supply + growth * time};
  }
  [[nodiscard]] __host__ __device__ values implicit_source(const values& u, const double (&)[dim],
                                                           const double (&)[dim], double,
                                                           double dt) const {
    return {u[0] / (1 + decay * dt)};
  }
};

// One type of run for each kind of matter, all with the same functors, because each instantiation
// takes seconds to compile.
template <int dim>
[[nodiscard]] scalar_of<dim> physics_of(const setting& s, const scalar_of<dim>*) {
  scalar_of<dim> physics{{{s.flow, s.rate, {}}}, s.level, {}, s.supply, s.growth, s.decay,
                         s.frozen_sides};
  for (int axis = 0; axis < dim; ++axis) {
    physics.velocity.velocity[axis] = s.velocity[axis];
    physics.slope[axis] = s.slope[axis];
  }
  return physics;
}
template <int dim>
[[nodiscard]] euler<double, dim> physics_of(const setting& s, const euler<double, dim>*) {
  euler<double, dim> gas;
  gas.gamma = s.gamma;
  gas.density_floor = gas.pressure_floor = s.floor;
  return gas;
}

template <class Physics>
[[nodiscard]] with_positivity<Physics> physics_of(const setting& s,
                                                  const with_positivity<Physics>*) {
  return {physics_of(s, static_cast<const Physics*>(nullptr))};
}

/// A callback that heats a gas after each step.
struct heater {
  template <class Physics>
  __device__ void operator()(const Physics&, typename Physics::values& u, const double (&)[2],
                             const double (&)[2], double) const {
    u[Physics::energy] += 0.25 * u[Physics::density];
  }
};
template <class Physics, class Callback>
[[nodiscard]] with_callback<Physics, Callback> physics_of(const setting& s,
                                                          const with_callback<Physics, Callback>*) {
  return {physics_of(s, static_cast<const Physics*>(nullptr)), Callback{}};
}

// ---- the initial state --------------------------------------------------------------------------

/// Returns a hash of a position, in [0, 1).
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
struct initial_state {
  static constexpr int dim = Physics::dimensions;
  static constexpr bool is_gas = Physics::variables > 1;
  using values = typename Physics::values;
  setting s;

  [[nodiscard]] __host__ __device__ values operator()(const double (&where)[dim]) const {
    return at(where, 0);
  }

  template <class AnyPhysics>
  [[nodiscard]] __device__ values average(const AnyPhysics& physics,
                                          const initial_cell<double, dim>& cell) const {
    if constexpr (is_gas) {
      if (s.initial == initial_kind::blast) return blast().average(physics, cell);
    }
    return average_by_points(*this, physics, cell);
  }

  /// The exact solution, where it is known.
  [[nodiscard]] __host__ __device__ values at(const double (&where)[dim], double time) const {
    if constexpr (is_gas) {
      values gas = gas_at(where, time);
      gas[0] *= s.unit;
      gas[dim + 1] *= s.unit;
      return gas;
    } else {
      return scalar_at(where, time);
    }
  }

 private:
  [[nodiscard]] __host__ __device__ sedov<double, dim> blast() const {
    sedov<double, dim> ball;
    for (int axis = 0; axis < dim; ++axis) ball.center[axis] = s.center[axis];
    ball.radius = s.width;
    ball.gamma = s.gamma;
    return ball;
  }

  [[nodiscard]] __host__ __device__ values scalar_at(const double (&where)[dim],
                                                     double time) const {
    double from[dim];
    double center[dim];
    double line = s.level + time * (s.supply + 0.5 * s.growth * time);
    for (int axis = 0; axis < dim; ++axis) {
      from[axis] = where[axis] - s.velocity[axis] * time;
      // The images of a periodic domain of unit size.
      if (s.initial == initial_kind::gaussian) from[axis] -= std::floor(from[axis]);
      center[axis] = s.center[axis];
      line += s.slope[axis] * from[axis];
    }
    switch (s.initial) {
      case initial_kind::linear: return {line};
      case initial_kind::gaussian: {
        gaussian<double, dim> bump{};
        for (int axis = 0; axis < dim; ++axis) bump.center[axis] = center[axis];
        bump.width = s.width;
        return bump(from);
      }
      case initial_kind::hump: {
        cosine_hump<double, dim> hump{};
        for (int axis = 0; axis < dim; ++axis) hump.center[axis] = center[axis];
        hump.radius = s.width;
        return hump(from);
      }
      case initial_kind::noise: return {noise_at(where, dim, 0)};
      default: return {s.level};
    }
  }

  [[nodiscard]] __host__ __device__ values gas_at(const double (&where)[dim], double time) const {
    values gas{};
    gas[0] = s.level;
    for (int axis = 0; axis < dim; ++axis) gas[1 + axis] = s.velocity[axis];
    gas[dim + 1] = 1;
    const double turn = 2 * std::numbers::pi_v<double>;
    switch (s.initial) {
      case initial_kind::sod: {
        sod<double, dim> tube;
        tube.axis = s.axis;
        return tube(where);
      }
      case initial_kind::blast: return blast()(where);
      case initial_kind::sound:
      case initial_kind::entropy: {
        linear_wave<double, dim> wave;
        wave.family = s.initial == initial_kind::sound ? wave_family::sound : wave_family::entropy;
        wave.gamma = s.gamma;
        wave.pressure = 1 / s.gamma;
        wave.amplitude = s.amplitude;
        for (int axis = 0; axis < dim; ++axis) {
          wave.crests[axis] = s.crests[axis];
          wave.velocity[axis] = s.velocity[axis];
        }
        return wave.at(where, time);
      }
      case initial_kind::pulses:
        for (int axis = 0; axis < dim; ++axis) {
          gas[0] += 0.2 * std::sin(turn * (where[axis] + 0.1 * axis));
          gas[1 + axis] += 0.3 * std::cos(turn * where[(axis + 1) % dim]);
          gas[dim + 1] += 0.25 * std::sin(turn * where[axis] + 1);
        }
        return gas;
      case initial_kind::noise:
        gas[0] += noise_at(where, dim, 0);
        gas[dim + 1] += noise_at(where, dim, 1);
        for (int axis = 0; axis < dim; ++axis)
          gas[1 + axis] += noise_at(where, dim, 2 + axis) - 0.5;
        return gas;
      case initial_kind::poisoned: {
        double distance = 0;
        for (int axis = 0; axis < dim; ++axis) {
          distance += (where[axis] - s.center[axis]) * (where[axis] - s.center[axis]);
        }
        if (distance < s.width * s.width) gas[0] = std::nan("");
        return gas;
      }
      case initial_kind::tearing:
        gas[1] = where[0] < s.center[0] ? -s.amplitude : s.amplitude;
        gas[dim + 1] = 1e-3;
        return gas;
      default: return gas;
    }
  }
};

// ---- the criterion -----------------------------------------------------------------------------

#if !RAMIFY_ON_CUDA
/// If it is not 0, the next evaluation of a criterion shrinks the launch pool to so many slots.
inline std::atomic<std::size_t> shrunk_pool{0};
#endif

/// Makes the next evaluation of a criterion shrink the launch pool to so many slots; 0: does not.
/// Restores the limit at the end.
class shrinking_pool {
 public:
  explicit shrinking_pool(std::size_t to) {
    if (to == 0) return;
    restored_.emplace(
        launch_limit_values{.pending_launches = *current_launch_limits().pending_launches});
#if !RAMIFY_ON_CUDA
    shrunk_pool = to;
#endif
  }
  ~shrinking_pool() {
#if !RAMIFY_ON_CUDA
    shrunk_pool = 0;
#endif
  }
  shrinking_pool(const shrinking_pool&) = delete;
  shrinking_pool& operator=(const shrinking_pool&) = delete;

 private:
  std::optional<launch_limits> restored_;
};

template <class Physics>
struct criterion_of {
  static constexpr int dim = Physics::dimensions;
  setting s;
  double lower[dim];      // lower corner of the domain
  double root_edge[dim];  // edges of a root block

  explicit criterion_of(const setting& of) : s(of) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const amr_options::mesh_fields& mesh = of.options.mesh;
      lower[axis] = mesh.lower[axis];
      root_edge[axis] = (mesh.upper[axis] - mesh.lower[axis]) / double(mesh.roots[axis]);
    }
  }
  criterion_of() = default;

  [[nodiscard]] __device__ double operator()(const cell_stencil<typename Physics::values, dim>& u,
                                             const block_place<dim>& place,
                                             const double (&where)[dim]) const {
#if !RAMIFY_ON_CUDA
    if (const std::size_t pool = shrunk_pool.exchange(0); pool != 0) {
      // Only a thread of the host may set a limit.
      std::thread([pool] {
        static_cast<void>(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pool));
      }).join();
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

}  // namespace tests::inline RAMIFY_BUILD
