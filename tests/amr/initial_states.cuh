// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What flows in a run on a mesh, and how it begins: functors of a setting.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <ramify/amr/advection.cuh>
#include <ramify/amr/euler.cuh>
#include <ramify/amr/problems.cuh>

#include "cases.hpp"

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

}  // namespace tests::inline RAMIFY_BUILD
