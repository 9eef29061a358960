// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// step_run: a step that nbody_system::step_async() started. system.cuh includes this header.

#include <cstdint>
#include <optional>
#include <ramify/nbody/gravity_run.cuh>
#include <ramify/nbody/leapfrog.cuh>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

template <class Real, class External>
class nbody_system;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// A step of an nbody_system.
template <class Real, class External>
class step_run final : public started_run<nbody_report> {
 public:
  step_run(run_setup& setup, nbody_system<Real, External>& system, Real dt)
      : started_run(setup), system_(&system), dt_(dt) {
    if (system.size() == 0) return;
    const phase_range range("nbody: start step");
    system.launch_drift(dt);
    forces_.emplace(setup, system.bodies(), 0, system.s_.options);
    system.launch_kick(dt, *forces_);
    complete_in_stream(forces_->completes_in_stream());
  }

 private:
  /// Waits for the step, completes it if necessary, and returns its report.
  /// \throws std::invalid_argument if a body leaves the range of coordinates; std::length_error if
  ///         the tree has more nodes than fit in the caller's memory; cuda_error;
  ///         device_launch_error
  nbody_report finish() override {
    if (!forces_) return {};
    auto& s = system_->s_;
    if (!found_ || captured()) {
      found_ = read_back(s.progress.data(), s.stream, "reading the progress of a step");
      if (found_->waits != 0) system_->clear_progress();
    }
    nbody_report report = forces_->get();
    report.host_grids += system_->grids_of_step;
    if (std::exchange(found_->waits, 0) != 0) {
      // 1. The forces are complete now: complete the step.
      system_->launch_kick(dt_, *forces_);
      ++report.host_grids;
      check(cudaStreamSynchronize(s.stream), "waiting for a step");
    }
    s.recorder.read();
    system_->add(report);
    // 2. Take the steps of later launches of the graph, which did nothing.
    if (found_->skipped > 0) system_->step(dt_, found_->skipped);
    return report;
  }

  nbody_system<Real, External>* system_;
  Real dt_;
  std::optional<gravity_run<Real>> forces_;  // empty if there are no bodies
  // Kept, because get() may be called again after it has thrown.
  std::optional<step_progress> found_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
