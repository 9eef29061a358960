// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's runs on an adaptive mesh for the backend that this file is compiled for.

#include <ramify/amr.cuh>

#include "amr/on_backend.hpp"
#include "amr/problem_of.cuh"
#include "facade/facade_call.cuh"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

template <class Physics>
class run_here final : public facade::amr_on_backend {
 public:
  template <class Initial>
  run_here(const amr_options& options, const Physics& physics, const Initial& initial,
           const amr_state* state)
      : run_([&] {
          facade_call call(0, &stream_);
          const selected_criterion<Physics> criterion(options);
          auto run = state != nullptr
                         ? amr_run(physics, criterion, *state, options, stream_.get())
                         : amr_run(physics, criterion, initial, options, stream_.get());
          spent_ += call.finish();
          return run;
        }()) {}

  void advance(std::uint64_t steps, double stop_time) override {
    facade_call call(0, &stream_);
    run_.advance(steps, stop_time);
    spent_ += call.finish();
  }
  [[nodiscard]] std::vector<double> totals() const override {
    return timed(false, [&] { return run_.totals(); });
  }
  [[nodiscard]] mesh_snapshot snapshot() const override {
    return timed(true, [&] { return run_.snapshot(); });
  }
  [[nodiscard]] amr_state state() const override {
    return timed(true, [&] { return run_.save(); });
  }
  [[nodiscard]] amr_report report() const override {
    amr_report report = run_.report();
    static_cast<run_times&>(report) = spent_;
    return report;
  }

 private:
  template <class Read>
  auto timed(bool copies_out, Read read) const {
    facade_call call(0, &stream_);
    if (copies_out) call.begin_copies_out();
    auto result = read();
    spent_ += call.finish();
    return result;
  }

  mutable run_times spent_;
  host_stream stream_;  // declared before the run, which frees memory in it
  amr_run<Physics, selected_criterion<Physics>> run_;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::detail::facade {

template <build where, class Real, int dim>
std::unique_ptr<amr_on_backend> make_amr_on(const amr_options& options, const amr_state* state) {
  static_assert(where == this_build);
  return detail::amr::with_problem<Real, dim>(
      options,
      [&]<class Physics>(const Physics& physics,
                         const auto& initial) -> std::unique_ptr<amr_on_backend> {
        return std::make_unique<detail::amr::run_here<Physics>>(options, physics, initial, state);
      });
}

}  // namespace ramify::detail::facade

/// Instantiates the facade's meshes with values of type Real in `dim` dimensions, for this backend.
#define RAMIFY_INSTANTIATE(Real, dim)                                                             \
  namespace ramify::detail::facade {                                                              \
  template std::unique_ptr<amr_on_backend> make_amr_on<this_build, Real, dim>(const amr_options&, \
                                                                              const amr_state*);  \
  }
