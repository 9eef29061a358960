// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's runs on an adaptive mesh for the backend that this file is compiled for.

#include <ramify/amr.cuh>
#include <ramify/version.hpp>
#include <stdexcept>
#include <vector>

#include "amr/on_backend.hpp"
#include "amr/problem_of.cuh"
#include "amr/timed_run.cuh"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

template <class Run>
class timed_amr_run final : public timed_run<Run, facade::amr_on_backend> {
 public:
  using timed_run<Run, facade::amr_on_backend>::timed_run;

  [[nodiscard]] mesh_snapshot derived_snapshot(
      const std::vector<derived_field>& fields) const override {
    if constexpr (requires { this->run().derived_snapshot(fields); }) {
      return this->timed(true, [&] { return this->run().derived_snapshot(fields); });
    } else {
      throw std::invalid_argument("derived_snapshot: the fields are those of a gas");
    }
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class Real, int dim, physics_group group>
std::unique_ptr<amr_on_backend> make_amr_on(const amr_setup& setup, const amr_state* state,
                                            const environment& env) {
  static_assert(where == this_build);
  return detail::amr::with_problem<Real, dim, group>(
      setup,
      [&]<class Physics>(const Physics& physics,
                         const auto& initial) -> std::unique_ptr<amr_on_backend> {
        using criterion_type = detail::amr::criterion_of_setup<Physics>;
        using run_type = amr_run<Physics, criterion_type>;
        const criterion_type criterion(setup);
        return std::make_unique<detail::amr::timed_amr_run<run_type>>(env, [&] {
          return state != nullptr ? run_type(physics, criterion, *state, setup.options, env)
                                  : run_type(physics, criterion, initial, setup.options, env);
        });
      });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

/// Instantiates the facade's meshes with values of type Real in `dim` dimensions and a group of
/// physics, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim, group)                                                   \
  namespace ramify::detail::facade::inline RAMIFY_ABI {                                        \
  template std::unique_ptr<amr_on_backend>                                                     \
  make_amr_on<this_build, Real, dim, physics_group::group>(const amr_setup&, const amr_state*, \
                                                           const environment&);                \
  }
