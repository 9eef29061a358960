// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's problems and criteria, selected at run time, so that kernels are compiled once for
/// each physics and not for each problem.

#include <algorithm>
#include <ramify/amr.hpp>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/combined_criteria.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <ramify/amr/physics/dam_break.cuh>
#include <ramify/amr/physics/double_mach.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/extensions.cuh>
#include <ramify/amr/physics/forward_step.cuh>
#include <ramify/amr/physics/mhd.cuh>
#include <ramify/amr/physics/mhd_problems.cuh>
#include <ramify/amr/physics/noh.cuh>
#include <ramify/amr/physics/positivity.cuh>
#include <ramify/amr/physics/problems.cuh>
#include <ramify/amr/physics/rayleigh_taylor.cuh>
#include <ramify/amr/physics/regions.cuh>
#include <ramify/amr/physics/shallow_water.cuh>
#include <ramify/amr/physics/solid.cuh>
#include <type_traits>
#include <vector>

#include "amr/physics_groups.hpp"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The relative amplitude of the linear sound wave; it is above the rounding of float.
inline constexpr double wave_amplitude = 1e-4;
/// The number of crests of the linear sound wave along each axis: the wave runs diagonally.
inline constexpr double wave_crests = 1;

/// Returns the period of reversing_vortex; in 2D the shorter of the two customary ones.
[[nodiscard]] inline double vortex_period(int dimensions) { return dimensions == 2 ? 2 : 3; }

/// double_mach, which has two dimensions. In three, where validate() refuses the problem, another
/// type stands in its place.
template <class Real, int dim>
using double_mach_in = std::conditional_t<dim == 2, double_mach<Real>, noh<Real, dim>>;

/// Returns the regions of a setup.
template <class Real, int dim>
[[nodiscard]] regions<Real, dim, dim + 2> regions_of(const amr_setup& setup) {
  using region_type = region<Real, dim, dim + 2>;
  regions<Real, dim, dim + 2> all;
  for (const amr_region& from : setup.regions) {
    region_type& to = all.parts[all.count++];
    to.shape = static_cast<typename region_type::kind>(from.shape);
    to.values[0] = static_cast<Real>(from.density);
    to.values[dim + 1] = static_cast<Real>(from.pressure);
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const bool is_box = from.shape == amr_shape::box;
      to.values[1 + int(axis)] = static_cast<Real>(from.velocity[axis]);
      to.point[axis] = static_cast<Real>(from.point[axis]);
      to.extent[axis] = static_cast<Real>(is_box ? from.upper[axis] : from.normal[axis]);
    }
    if (from.shape == amr_shape::ball) to.extent[0] = static_cast<Real>(from.radius);
  }
  return all;
}

/// The initial state of a gas.
template <class Real, int dim>
struct initial_gas {
  amr_problem problem;
  sod<Real, dim> tube;
  sedov<Real, dim> blast;
  kelvin_helmholtz<Real, dim> shear_layer;
  linear_wave<Real, dim> wave;
  double_mach_in<Real, dim> reflection;
  noh<Real, dim> fall;
  rayleigh_taylor<Real, dim> layers;
  forward_step<Real, dim> tunnel;
  regions<Real, dim, dim + 2> parts;

  explicit initial_gas(const amr_setup& setup)
      : problem(setup.problem), parts(regions_of<Real, dim>(setup)) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double middle = 0.5 * (setup.options.mesh.lower[axis] + setup.options.mesh.upper[axis]);
      blast.center[axis] = static_cast<Real>(middle);
      wave.crests[axis] = Real(wave_crests);
    }
    blast.gamma = static_cast<Real>(setup.gamma);
    wave.amplitude = Real(wave_amplitude);
    wave.gamma = static_cast<Real>(setup.gamma);
    wave.pressure = static_cast<Real>(1 / setup.gamma);
    layers.acceleration = static_cast<Real>(setup.gravity[dim - 1]);
  }

  [[nodiscard]] __host__ __device__ state<Real, dim + 2> operator()(
      const Real (&where)[dim]) const {
    return of_problem([&](const auto& initial) { return initial(where); });
  }

  template <class Physics>
  [[nodiscard]] __device__ state<Real, dim + 2> average(const Physics& physics,
                                                        const initial_cell<Real, dim>& cell) const {
    return of_problem([&](const auto& initial) { return average_of(initial, physics, cell); });
  }

 private:
  /// Returns use(initial state of the problem).
  template <class Use>
  [[nodiscard]] __host__ __device__ auto of_problem(Use use) const {
    switch (problem) {
      case amr_problem::sod: return use(tube);
      case amr_problem::sedov: return use(blast);
      case amr_problem::linear_wave: return use(wave);
      case amr_problem::double_mach: return use(reflection);
      case amr_problem::noh: return use(fall);
      case amr_problem::rayleigh_taylor: return use(layers);
      case amr_problem::forward_step: return use(tunnel);
      case amr_problem::regions: return use(parts);
      default: return use(shear_layer);
    }
  }
};

/// The condition of sides that are boundary::prescribed, for the problems that have one.
template <class Real, int dim>
struct sides_of_gas {
  amr_problem problem{};
  double_mach_in<Real, dim> reflection;
  noh<Real, dim> fall;
  forward_step<Real, dim> tunnel;
  regions<Real, dim, dim + 2> parts;

  template <class Physics>
  [[nodiscard]] __host__ __device__ state<Real, dim + 2> operator()(
      const Physics& physics, const state<Real, dim + 2>& inside, int axis, int side,
      const Real (&where)[dim], Real time) const {
    if (problem == amr_problem::double_mach) {
      return reflection(physics, inside, axis, side, where, time);
    }
    if (problem == amr_problem::noh) return fall(physics, inside, axis, side, where, time);
    if (problem == amr_problem::forward_step) {
      return tunnel(physics, inside, axis, side, where, time);
    }
    return parts(physics, inside, axis, side, where, time);
  }
};

/// A gas with prescribed sides or gravity. Without them the problems use euler alone, which costs
/// less.
template <class Real, int dim>
using forced_gas = with_source<with_boundary<euler<Real, dim>, sides_of_gas<Real, dim>>,
                               uniform_gravity<Real, dim>>;

/// A gas that stays positive, with or without prescribed sides and gravity.
template <class Real, int dim>
using positive_gas = with_positivity<forced_gas<Real, dim>>;

/// The gas of forward_step. The checks for a solid body make steps longer, so only this problem has
/// them.
template <class Real>
using gas_in_tunnel = with_positivity<with_solid<forced_gas<Real, 2>, solid_box<Real, 2>>>;

/// The initial state of a plasma.
template <class Real>
struct initial_plasma {
  amr_problem problem;
  plasma_tube<Real, 2> tube;
  orszag_tang<Real, 2> vortex;
  rotor<Real, 2> disc;

  [[nodiscard]] __host__ __device__ state<Real, 9> operator()(const Real (&where)[2]) const {
    return of_problem([&](const auto& initial) { return initial(where); });
  }

  template <class Physics>
  [[nodiscard]] __device__ state<Real, 9> average(const Physics& physics,
                                                  const initial_cell<Real, 2>& cell) const {
    return of_problem([&](const auto& initial) { return average_of(initial, physics, cell); });
  }

 private:
  /// Returns use(initial state of the problem).
  template <class Use>
  [[nodiscard]] __host__ __device__ auto of_problem(Use use) const {
    switch (problem) {
      case amr_problem::brio_wu: return use(tube);
      case amr_problem::orszag_tang: return use(vortex);
      default: return use(disc);
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

/// The criterion of a setup, with its boxes and buffer cells.
template <class Physics>
struct criterion_of_setup : with_boxes<Physics, selected_criterion<Physics>> {
  using base = with_boxes<Physics, selected_criterion<Physics>>;

  int buffer_cells = 0;

  criterion_of_setup() = default;
  /// \throws std::invalid_argument
  explicit criterion_of_setup(const amr_setup& setup)
      : base(selected_criterion<Physics>(setup), setup.options, boxes_of(setup)),
        buffer_cells(setup.buffer_cells) {}

 private:
  [[nodiscard]] static auto boxes_of(const amr_setup& setup) {
    std::vector<refined_box<base::dim>> boxes(setup.refined_boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const amr_refined_box& from = setup.refined_boxes[i];
      std::copy_n(from.lower.begin(), base::dim, boxes[i].lower);
      std::copy_n(from.upper.begin(), base::dim, boxes[i].upper);
      boxes[i].level = from.level;
    }
    return boxes;
  }
};

/// Returns a forced_gas, or one with additions.
template <class Gas>
[[nodiscard]] Gas forced_gas_of(const amr_setup& setup) {
  using real = typename Gas::real;
  constexpr int dim = Gas::dimensions;
  Gas gas;
  gas.gamma = static_cast<real>(setup.gamma);
  gas.condition.problem = setup.problem;
  gas.condition.parts = regions_of<real, dim>(setup);
  for (std::size_t axis = 0; axis < dim; ++axis) {
    gas.added.acceleration[axis] = static_cast<real>(setup.gravity[axis]);
  }
  return gas;
}

/// Returns `use(physics, initial_state)` for a problem whose group_of() is unforced.
template <class Real, int dim, class Use>
auto with_unforced(const amr_setup& setup, Use use) {
  if constexpr (dim == 2) {
    if (setup.problem == amr_problem::dam_break) {
      return use(shallow_water<Real>{}, dam_break<Real>{});
    }
    if (is_plasma(setup.problem)) {
      mhd<Real, dim> plasma;
      plasma.gamma = static_cast<Real>(setup.gamma);
      return use(plasma, initial_plasma<Real>{setup.problem, {}, {}, {}});
    }
  }
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

/// Returns `use(physics, initial_state)` for the problem of a setup that has `dim` dimensions and
/// whose group_of() is `group`.
template <class Real, int dim, physics_group group, class Use>
auto with_problem(const amr_setup& setup, Use use) {
  if constexpr (group == physics_group::unforced) {
    return with_unforced<Real, dim>(setup, use);
  } else if constexpr (group == physics_group::forced_gas) {
    return use(forced_gas_of<forced_gas<Real, dim>>(setup), initial_gas<Real, dim>(setup));
  } else {
    if constexpr (dim == 2) {
      if (setup.problem == amr_problem::forward_step) {
        auto gas = forced_gas_of<gas_in_tunnel<Real>>(setup);
        gas.solid = forward_step<Real, dim>::step();
        return use(gas, initial_gas<Real, dim>(setup));
      }
    }
    return use(forced_gas_of<positive_gas<Real, dim>>(setup), initial_gas<Real, dim>(setup));
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
