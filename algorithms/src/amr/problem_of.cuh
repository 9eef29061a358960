// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's problems and criteria, selected at run time, so that kernels are compiled once for
/// each physics and not for each problem.

#include <ramify/amr.hpp>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/problems.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The relative amplitude of the linear sound wave; it is above the rounding of float.
inline constexpr double wave_amplitude = 1e-4;
/// The number of crests of the linear sound wave along each axis: the wave runs diagonally.
inline constexpr double wave_crests = 1;

/// Returns the period of reversing_vortex; in 2D the shorter of the two customary ones.
[[nodiscard]] inline double vortex_period(int dimensions) { return dimensions == 2 ? 2 : 3; }

/// The initial state of a gas.
template <class Real, int dim>
struct initial_gas {
  amr_problem problem;
  sod<Real, dim> tube;
  sedov<Real, dim> blast;
  kelvin_helmholtz<Real, dim> shear_layer;
  linear_wave<Real, dim> wave;

  explicit initial_gas(const amr_setup& setup) : problem(setup.problem) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double middle = 0.5 * (setup.options.mesh.lower[axis] + setup.options.mesh.upper[axis]);
      blast.center[axis] = static_cast<Real>(middle);
      wave.crests[axis] = Real(wave_crests);
    }
    blast.gamma = static_cast<Real>(setup.gamma);
    wave.amplitude = Real(wave_amplitude);
    wave.gamma = static_cast<Real>(setup.gamma);
    wave.pressure = static_cast<Real>(1 / setup.gamma);
  }

  [[nodiscard]] __host__ __device__ state<Real, dim + 2> operator()(
      const Real (&where)[dim]) const {
    switch (problem) {
      case amr_problem::sod: return tube(where);
      case amr_problem::sedov: return blast(where);
      case amr_problem::linear_wave: return wave(where);
      default: return shear_layer(where);
    }
  }

  template <class Physics>
  [[nodiscard]] __device__ state<Real, dim + 2> average(const Physics& physics,
                                                        const initial_cell<Real, dim>& cell) const {
    switch (problem) {
      case amr_problem::sod: return tube.average(physics, cell);
      case amr_problem::sedov: return blast.average(physics, cell);
      case amr_problem::linear_wave: return wave.average(physics, cell);
      default: return shear_layer.average(physics, cell);
    }
  }
};

/// The initial state of a concentration.
template <class Real, int dim>
struct initial_scalar {
  amr_problem problem;
  gaussian<Real, dim> hill;
  solid_ball<Real, dim> ball;

  explicit initial_scalar(const amr_setup& setup) : problem(setup.problem) {
    for (int axis = 0; axis < dim; ++axis) {
      hill.center[axis] = Real(0.5);
      ball.center[axis] = dim == 3 ? Real(0.35) : axis == 0 ? Real(0.5) : Real(0.75);
    }
  }

  [[nodiscard]] __host__ __device__ state<Real, 1> operator()(const Real (&where)[dim]) const {
    return problem == amr_problem::advect_gaussian ? hill(where) : ball(where);
  }

  template <class Physics>
  [[nodiscard]] __device__ state<Real, 1> average(const Physics& physics,
                                                  const initial_cell<Real, dim>& cell) const {
    return problem == amr_problem::advect_gaussian ? hill.average(physics, cell)
                                                   : ball.average(physics, cell);
  }
};

/// The flow that transports a concentration.
template <class Real, int dim>
struct scalar_flow {
  bool is_vortex = false;
  uniform_velocity<Real, dim> wind;
  reversing_vortex<Real, dim> vortex;

  [[nodiscard]] __host__ __device__ Real operator()(const Real (&where)[dim], Real time,
                                                    int axis) const {
    return is_vortex ? vortex(where, time, axis) : wind(where, time, axis);
  }
  [[nodiscard]] __host__ __device__ Real max_speed(const Real (&where)[dim], int axis) const {
    return is_vortex ? vortex.max_speed(where, axis) : std::fabs(wind(where, 0, axis));
  }
};

/// The criterion that the options select.
template <class Physics>
struct selected_criterion {
  using real = typename Physics::real;
  using sample_type = real;
  static constexpr int dim = Physics::dimensions;

  bool is_loehner;
  gradient_criterion<Physics> gradient;
  loehner_criterion<Physics> loehner;

  explicit selected_criterion(const amr_setup& setup)
      : is_loehner(setup.criterion == amr_criterion::loehner),
        gradient{setup.criterion_variable, static_cast<real>(setup.gradient_floor)},
        loehner{setup.criterion_variable, static_cast<real>(setup.loehner_filter)} {}
  selected_criterion() = default;

  [[nodiscard]] __device__ sample_type sample(const typename Physics::values& primitive) const {
    return gradient.sample(primitive);  // both read the same variable
  }
  __device__ real operator()(const cell_stencil<real, dim>& u, const block_place<dim>& place,
                             const real (&where)[dim]) const {
    return is_loehner ? loehner(u, place, where) : gradient(u, place, where);
  }
};

/// Returns whether the problem is solved with euler; the others are solved with advection.
[[nodiscard]] inline bool is_gas(amr_problem problem) {
  return problem != amr_problem::advect_gaussian && problem != amr_problem::vortex_in_box;
}

/// Returns `use(physics, initial_state)` for the problem of the options, which must have `dim`
/// dimensions.
template <class Real, int dim, class Use>
auto with_problem(const amr_setup& setup, Use use) {
  if (is_gas(setup.problem)) {
    euler<Real, dim> gas;
    gas.gamma = static_cast<Real>(setup.gamma);
    return use(gas, initial_gas<Real, dim>(setup));
  }
  scalar_flow<Real, dim> flow;
  flow.is_vortex = setup.problem == amr_problem::vortex_in_box;
  for (Real& component : flow.wind.velocity) component = Real(1);
  flow.vortex.period = static_cast<Real>(vortex_period(dim));
  return use(advection<Real, dim, scalar_flow<Real, dim>>{flow}, initial_scalar<Real, dim>(setup));
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
