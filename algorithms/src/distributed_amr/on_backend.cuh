// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's distributed runs for the backend that this file is compiled for.

#include <ramify/distributed_amr.cuh>
#include <ramify/version.hpp>

#include "amr/problem_of.cuh"
#include "amr/timed_run.cuh"
#include "distributed_amr/on_backend.hpp"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

template <class Run>
class timed_distributed_run final : public timed_run<Run, facade::distributed_amr_on_backend> {
 public:
  using timed_run<Run, facade::distributed_amr_on_backend>::timed_run;

  [[nodiscard]] mesh_part_snapshot own_snapshot() const override {
    return this->timed(true, [&] { return this->run().own_snapshot(); });
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <build where, class Real, int dim, physics_group group>
std::unique_ptr<distributed_amr_on_backend> make_distributed_amr_on(communicator& ranks,
                                                                    const amr_setup& setup,
                                                                    const amr_state* state,
                                                                    const environment& env) {
  static_assert(where == this_build);
  return detail::amr::with_problem<Real, dim, group>(
      setup,
      [&]<class Physics>(const Physics& physics,
                         const auto& initial) -> std::unique_ptr<distributed_amr_on_backend> {
        using criterion_type = detail::amr::criterion_of_setup<Physics>;
        using run_type = distributed_amr_run<Physics, criterion_type>;
        const criterion_type criterion(setup);
        return std::make_unique<detail::amr::timed_distributed_run<run_type>>(env, [&] {
          return state != nullptr
                     ? run_type(ranks, physics, criterion, *state, setup.options, env)
                     : run_type(ranks, physics, criterion, initial, setup.options, env);
        });
      });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

/// Instantiates the facade's meshes with values of type Real in `dim` dimensions and a group of
/// physics, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim, group)                                                \
  namespace ramify::detail::facade::inline RAMIFY_ABI {                                     \
  template std::unique_ptr<distributed_amr_on_backend>                                      \
  make_distributed_amr_on<this_build, Real, dim, physics_group::group>(communicator&,       \
                                                                       const amr_setup&,    \
                                                                       const amr_state*,    \
                                                                       const environment&); \
  }
