// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's flow on an adaptive mesh, on the backend of whichever compiler reads this.

#include <ramify/amr.cuh>
#include <ramify/runtime/stream.cuh>

#include "amr_on.hpp"
#include "amr_problem_of.cuh"
#include "device_arrays.cuh"

namespace ramify::inline RAMIFY_BUILD {

template <class Physics>
class amr_here final : public facade::amr_on_backend {
 public:
  template <class Initial>
  amr_here(const amr_options& options, const Physics& physics, const Initial& initial,
           const amr_state* state)
      : pending_launches_(options.pending_launches), run_([&] {
          const auto limits = scoped_pending_launches(options.pending_launches);
          const amr_config config{options.mesh, options.regrid, options.step, options.route};
          const either_criterion<Physics> criterion(options);
          if (state != nullptr) {
            return amr_run(physics, criterion, *state, config, stream_.get());
          }
          return amr_run(physics, criterion, initial, config, stream_.get());
        }()) {}

  void advance(std::uint64_t steps, double stop_time) override {
    const auto limits = scoped_pending_launches(pending_launches_);
    run_.advance(steps, stop_time);
  }
  [[nodiscard]] std::vector<double> totals() const override { return run_.totals(); }
  [[nodiscard]] mesh_snapshot snapshot() const override { return run_.snapshot(); }
  [[nodiscard]] amr_state state() const override { return run_.save(); }
  [[nodiscard]] const amr_report& report() const override { return run_.report(); }

 private:
  std::size_t pending_launches_;
  host_stream stream_;  // before what is freed in it
  amr_run<Physics, either_criterion<Physics>> run_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <backend where, class Real, int dim>
std::unique_ptr<amr_on_backend> make_amr_on(const amr_options& options, const amr_state* state) {
  static_assert(where == (RAMIFY_ON_CUDA ? backend::cuda : backend::cpu));
  return with_problem<Real, dim>(
      options,
      [&]<class Physics>(const Physics& physics,
                         const auto& initial) -> std::unique_ptr<amr_on_backend> {
        return std::make_unique<amr_here<Physics>>(options, physics, initial, state);
      });
}

}  // namespace ramify::facade
