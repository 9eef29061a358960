// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// nbody_step_run: a step that nbody_system::step_async() started. system.cuh includes this header.

#include <optional>
#include <ramify/nbody/gravity_run.cuh>
#include <ramify/nbody/leapfrog.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Real>
class nbody_system;

/// A step that nbody_system::step_async() started. Movable; get() of a moved-from run throws
/// std::logic_error. The destructor neither waits for the step nor checks it.
template <class Real>
class [[nodiscard(
    "call get(): it waits, checks the bodies and returns the report")]] nbody_step_run {
 public:
  /// Starts a step; see nbody_system::step_async().
  nbody_step_run(nbody_system<Real> & system, Real dt, const scratch_memory& scratch)
      : system_(&system), dt_(dt) {
    if (system.size() == 0) return;
    result_ = detail::result_state("nbody_system", is_being_captured(system.stream()));
    const phase_range range("nbody: start step");
    system.launch_drift(dt);
    forces_ = system.start_forces(scratch);
    system.launch_kick(dt, *forces_);
  }

  /// Waits for the step, completes it if necessary, and returns its report. Call it once for a
  /// step. If a graph has captured the step, call it after each launch of the graph, or once after
  /// several.
  /// \throws std::invalid_argument if a body leaves the range of coordinates; std::length_error if
  ///         the tree has more nodes than fit in the caller's scratch memory; std::logic_error
  ///         while the stream is being captured, for a further call, and for a moved-from run;
  ///         cuda_error, device_launch_error
  nbody_report get() {
    const auto call = result_.begin_get();
    if (!forces_) return {};
    const phase_range range("nbody: finish step");
    detail::runtime::require_not_captured(system_->stream(), "nbody_system");
    auto& s = system_->s_;
    const auto found = read_back(s.progress.data(), s.stream, "reading the progress of a step");
    if (found.waits != 0) system_->clear_progress();
    nbody_report report = forces_->get();
    report.host_grids += 2;
    if (found.waits != 0) {
      // 1. The forces are complete now: complete the step.
      system_->launch_kick(dt_, *forces_);
      ++report.host_grids;
      check(cudaStreamSynchronize(s.stream), "waiting for a step");
    }
    s.recorder.read();
    system_->add(report);
    // 2. Take the steps of later launches of the graph, which did nothing.
    if (found.skipped > 0) system_->step(dt_, found.skipped);
    return report;
  }

 private:
  nbody_system<Real>* system_;
  Real dt_;
  std::optional<gravity_run<Real>> forces_;  // empty if there are no bodies
  detail::result_state result_{"nbody_system"};
};

}  // namespace ramify::inline RAMIFY_BUILD
