// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host's side of one run: its route, its slots, its status, its report.

#include <algorithm>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/chain_link.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_costs.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the route if there is no choice, because the caller requested one or only flat is
/// possible; else nothing.
/// \throws unavailable if the device route is requested in a build without -rdc=true
inline std::optional<route_choice> only_route(route wanted, std::size_t pending_launch_limit,
                                              unsigned slots_needed) {
  if (wanted == route::flat) return route_choice{route::flat, "requested"};
  if (!device_launch_available) {
    if (wanted == route::device) {
      throw unavailable("the device route needs a build with -rdc=true");
    }
    return route_choice{route::flat, "built without -rdc=true, so kernels cannot launch"};
  }
  const unsigned quota = launch_quota(pending_launch_limit);
  if (quota < slots_needed) {
    return route_choice{route::flat, "the pending-launch limit of " +
                                         std::to_string(pending_launch_limit) + " gives " +
                                         std::to_string(quota) +
                                         " launch slots, and the device route needs " +
                                         std::to_string(slots_needed)};
  }
  if (wanted == route::device) return route_choice{route::device, "requested"};
  return std::nullopt;
}

/// Returns the requested route, or `preferred` if `wanted` is automatic and both are possible. The
/// device route requires at least `slots_needed` launch slots; with fewer the route is flat.
/// \throws unavailable if the device route is requested in a build without -rdc=true
inline route_choice choose_route(route wanted, std::size_t pending_launch_limit,
                                 unsigned slots_needed, const route_choice& preferred) {
  return only_route(wanted, pending_launch_limit, slots_needed).value_or(preferred);
}

/// Chooses the route whose plan is cheaper on the current device. If the launch costs of the device
/// are neither in memory nor on disk, the function measures them first, in well under a second; it
/// then waits for the work in `stream`, for a second at most. If it cannot measure, for example
/// while `stream` is being captured, it returns plans.unmeasured. On the CPU executor it returns
/// the device route, because launches cost no time there.
/// \throws unavailable if the device route is requested in a build without -rdc=true; cuda_error
inline route_choice choose_route(route wanted, std::size_t pending_launch_limit,
                                 unsigned slots_needed, const route_plans& plans,
                                 [[maybe_unused]] cudaStream_t stream) {
  if (const auto only = only_route(wanted, pending_launch_limit, slots_needed)) return *only;
#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH
  const detail::runtime::launch_costs_answer known = detail::runtime::find_launch_costs(stream);
  if (known.costs) return detail::runtime::cheaper_route(plans, *known.costs);
  return {plans.unmeasured, "launches have not been measured: " + known.obstacle};
#else
  static_cast<void>(plans);
  return {route::device, "as quick as flat on the CPU executor"};
#endif
}

/// Returns a report with the backend of this build and no data of a run.
[[nodiscard]] inline run_report report_of_this_build() {
  run_report report;
  report.ran_on = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  report.backend_reason = RAMIFY_ON_CUDA ? "compiled by nvcc" : "compiled by a C++ compiler";
  return report;
}

/// One run on one stream: its route, its launch slots, what its kernels report, its trace. Movable;
/// moved-from it may only be destroyed.
class run_control {
  struct device_memory {
    run_status status;
    detail::runtime::chain_progress progress;
  };

 public:
  /// Device memory that the run needs for itself, in bytes.
  static constexpr std::size_t scratch_bytes = sizeof(device_memory);

  /// Puts the clearing of the status into `stream`. `scratch`, device memory of scratch_bytes
  /// bytes, and `trace`, which may be null, must outlive the run. The run's grids are added to the
  /// trace.
  /// \throws std::invalid_argument for a trace without capacity; cuda_error
  run_control(void* scratch, const route_choice& choice, std::size_t pending_launch_limit,
              cudaStream_t stream, launch_trace* trace = nullptr)
      : memory_(static_cast<device_memory*>(scratch)),
        stream_(stream),
        trace_(trace),
        recorder_(trace, stream) {
    begin(choice, pending_launch_limit);
  }

  /// The same for one of several runs that record their grids with `recorder`, which writes to
  /// `trace` and must outlive the run. \throws cuda_error
  run_control(void* scratch, const route_choice& choice, std::size_t pending_launch_limit,
              cudaStream_t stream, launch_trace* trace, detail::runtime::trace_recorder& recorder)
      : memory_(static_cast<device_memory*>(scratch)),
        stream_(stream),
        trace_(trace),
        recorder_(nullptr, stream),
        shared_recorder_(&recorder) {
    begin(choice, pending_launch_limit);
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] run_status* status() const { return &memory_->status; }
  /// None on the flat route.
  [[nodiscard]] launch_slots slots() const { return lease_.slots(); }
  /// For the arguments of the run's kernels; empty without a trace.
  [[nodiscard]] trace_ticket ticket() const { return recorder().ticket(); }
  /// For the programs of the run's launch chains.
  [[nodiscard]] detail::runtime::chain_link link() const {
    return {
        .progress = &memory_->progress, .status = status(), .slots = slots(), .trace = ticket()};
  }
  [[nodiscard]] bool on_device_route() const { return report_.taken == route::device; }

  /// Checks a launch of the host and counts it. \throws cuda_error with `doing` in its message
  void launched(const launch_status& status, const char* doing, unsigned level = 0) {
    check(status.code(), doing);
    count_grids(1, level);
  }

  /// Counts grids that the host launched for a level. The root's level is 0.
  void count_grids(unsigned count, unsigned level) {
    report_.host_grids += count;
    if (count > 0 && level > report_.deepest_level) report_.deepest_level = level;
  }

  /// Waits for the stream and reads what the kernels have reported. Returns the progress of the
  /// launch chain.
  /// \throws device_launch_error for the first launch in a kernel that failed; std::length_error if
  ///         a task list was too short; cuda_error
  detail::runtime::chain_progress wait() {
    device_memory seen{};
    check(cudaMemcpyAsync(&seen, memory_, sizeof seen, cudaMemcpyDeviceToHost, stream_),
          "reading the run's status");
    check(cudaStreamSynchronize(stream_), "waiting for the run");
    const run_status& status = seen.status;
    if (status.error != 0 || status.dropped != 0) read_trace();
    if (status.error != 0) {
      const auto code = static_cast<cudaError_t>(status.error);
      throw device_launch_error(status.error, status.error_kernel, status.error_depth,
                                std::string("a launch in kernel ") + status.error_kernel +
                                    " at depth " + std::to_string(status.error_depth) +
                                    " failed: " + cudaGetErrorString(code) + " (" +
                                    cudaGetErrorName(code) + ")");
    }
    if (status.dropped != 0) {
      throw std::length_error("the task list is full: " + std::to_string(status.dropped) +
                              " tasks did not fit; give it more capacity");
    }
    report_.child_grids = status.child_grids;
    report_.spilled_tasks = status.spilled;
    report_.peak_slots = status.peak_slots;
    report_.deepest_level = std::max(report_.deepest_level, status.deepest);
    return seen.progress;
  }

  /// Adds the run's grids to the trace, if there is one. At the end of the run. \throws cuda_error
  void read_trace() {
    if (trace_ != nullptr) trace_->taken = report_.taken;
    (shared_recorder_ != nullptr ? *shared_recorder_ : recorder_).read();
  }

  /// Complete after the last wait(), except for the scratch memory, which the caller fills in.
  [[nodiscard]] run_report& report() { return report_; }

 private:
  void begin(const route_choice& choice, std::size_t pending_launch_limit) {
    report_.taken = choice.taken;
    report_.route_reason = choice.reason;
    report_.pending_launch_limit = pending_launch_limit;
    if (choice.taken == route::device) lease_ = slot_lease(pending_launch_limit);
    check(cudaMemsetAsync(memory_, 0, sizeof(device_memory), stream_), "clearing the run's status");
  }

  [[nodiscard]] const detail::runtime::trace_recorder& recorder() const {
    return shared_recorder_ != nullptr ? *shared_recorder_ : recorder_;
  }

  device_memory* memory_;
  cudaStream_t stream_;
  slot_lease lease_;
  launch_trace* trace_;
  detail::runtime::trace_recorder recorder_;
  detail::runtime::trace_recorder* shared_recorder_ = nullptr;
  run_report report_ = report_of_this_build();
};

}  // namespace ramify::inline RAMIFY_BUILD
