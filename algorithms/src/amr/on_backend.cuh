// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The facade's flow on an adaptive mesh, on the backend of whichever compiler reads this.

#include <ramify/amr.cuh>

#include "amr/on_backend.hpp"
#include "amr/problem_of.cuh"
#include "facade/facade_call.cuh"

namespace ramify::inline RAMIFY_BUILD {

template <class Physics>
class amr_here final : public facade::amr_on_backend {
 public:
  template <class Initial>
  amr_here(const amr_options& options, const Physics& physics, const Initial& initial,
           const amr_state* state)
      : pending_launches_(options.pending_launches), run_([&] {
          facade_call call(options.pending_launches, stream_);
          const amr_config config{options.mesh, options.regrid, options.step, options.route,
                                  options.trace};
          const either_criterion<Physics> criterion(options);
          auto run = state != nullptr ? amr_run(physics, criterion, *state, config, stream_.get())
                                      : amr_run(physics, criterion, initial, config, stream_.get());
          spent_ += call.finish();
          return run;
        }()) {}

  void advance(std::uint64_t steps, double stop_time) override {
    facade_call call(pending_launches_, stream_);
    run_.advance(steps, stop_time);
    spent_ += call.finish();
  }
  [[nodiscard]] std::vector<double> totals() const override {
    facade_call call(0, stream_);
    std::vector<double> totals = run_.totals();
    spent_ += call.finish();
    return totals;
  }
  [[nodiscard]] mesh_snapshot snapshot() const override {
    return copied_out([&] { return run_.snapshot(); });
  }
  [[nodiscard]] amr_state state() const override {
    return copied_out([&] { return run_.save(); });
  }
  [[nodiscard]] amr_report report() const override {
    amr_report report = run_.report();
    static_cast<run_times&>(report) = spent_;
    return report;
  }

 private:
  template <class Copy>
  auto copied_out(Copy copy) const {
    facade_call call(0, stream_);
    call.begin_copies_out();
    auto result = copy();
    spent_ += call.finish();
    return result;
  }

  std::size_t pending_launches_;
  mutable run_times spent_;
  host_stream stream_;  // before what is freed in it
  amr_run<Physics, either_criterion<Physics>> run_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::facade {

template <build where, class Real, int dim>
std::unique_ptr<amr_on_backend> make_amr_on(const amr_options& options, const amr_state* state) {
  static_assert(where == this_build);
  return with_problem<Real, dim>(
      options,
      [&]<class Physics>(const Physics& physics,
                         const auto& initial) -> std::unique_ptr<amr_on_backend> {
        return std::make_unique<amr_here<Physics>>(options, physics, initial, state);
      });
}

}  // namespace ramify::facade

/// Instantiates the facade's meshes with values of type Real in `dim` dimensions, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim)                                                           \
  namespace ramify::facade {                                                                    \
  template std::unique_ptr<amr_on_backend> make_amr_on<this_build, Real, dim>(const amr_options&, \
                                                                              const amr_state*); \
  }
