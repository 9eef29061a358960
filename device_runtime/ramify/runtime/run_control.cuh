// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_control: the host side of one run: its route, launch slots, status and report.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/borrowed.cuh>
#include <ramify/runtime/detail/chain_link.cuh>
#include <ramify/runtime/detail/seen_memory.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// Returns a report with the backend of this build and a route, and no data of a run.
[[nodiscard]] inline run_report report_of_this_build(const route_choice& choice) {
  run_report report;
  report.taken = choice.taken;
  report.route_reason = choice.reason;
  report.ran_on = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  report.backend_reason = RAMIFY_ON_CUDA ? "compiled by nvcc" : "compiled by a C++ compiler";
  return report;
}

/// One run in one stream: its route, its launch slots, the status that its kernels report, and its
/// trace. Movable; a moved-from object may only be destroyed.
class run_control {
  struct device_memory {
    run_status status;
    detail::chain_progress progress;
  };

 public:
  /// The bytes of device memory that a run_control needs.
  static constexpr std::size_t scratch_bytes = sizeof(device_memory);
  /// The number of bytes that wait() reads from the beginning of the scratch memory, or all of it
  /// if it is smaller.
  static constexpr std::size_t max_seen_bytes = detail::seen_memory::max_bytes;
  static_assert(scratch_bytes <= max_seen_bytes);

  /// Clears the status, in the order of `stream`, unless `first_grid_clears`. `scratch` is device
  /// memory of scratch_bytes bytes. If `trace` is not null, the run appends its grids to it. Both
  /// must outlive this object.
  /// \throws std::invalid_argument for a trace without capacity; cuda_error
  run_control(void* scratch, const route_choice& choice, std::size_t pending_launch_limit,
              cudaStream_t stream, launch_trace* trace = nullptr, bool first_grid_clears = false,
              int device = current_device())
      : memory_(static_cast<device_memory*>(scratch)),
        stream_(stream),
        first_grid_clears_(first_grid_clears),
        device_(device),
        context_(detail::current_context(device)),
        trace_(trace),
        recorder_(trace, stream),
        report_(report_of_this_build(choice)) {
    report_.pending_launch_limit = pending_launch_limit;
    if (choice.taken == route::device) lease_ = slot_lease(pending_launch_limit);
    if (!first_grid_clears_) clear_memory(memory_, 1, stream_, "clearing the run's status");
  }

  /// Constructs the control of a run whose choices are made. The run may use `bytes` bytes of
  /// `scratch`; wait() reads the first of them. \throws cuda_error
  run_control(void* scratch, const detail::run_choices& setup, std::size_t bytes = scratch_bytes)
      : run_control(scratch, setup.choice, setup.limit, setup.stream, setup.trace,
                    setup.first_grid_clears, setup.device) {
    seen_bytes_ = std::min(bytes, max_seen_bytes);
    needs_completion_ = setup.needs_completion();
  }

  /// Constructs one of several runs that share `recorder`, which writes to setup.trace and must
  /// outlive the run. wait() reads the first bytes of the `bytes` bytes of `scratch`. \throws
  /// cuda_error
  run_control(void* scratch, const detail::run_choices& setup, detail::trace_recorder& recorder,
              std::size_t bytes)
      : run_control(scratch, setup.choice, setup.limit, setup.stream, nullptr, false,
                    setup.device) {
    trace_ = setup.trace;
    shared_recorder_ = &recorder;
    seen_bytes_ = std::min(bytes, max_seen_bytes);
    needs_completion_ = setup.needs_completion();
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }  ///< Returns the stream of the run.
  /// Returns the status, which is in device memory.
  [[nodiscard]] run_status* status() const { return &memory_->status; }
  /// Returns the launch slots of the run. A flat run has none.
  [[nodiscard]] launch_slots slots() const { return lease_.slots(); }
  /// Returns the ticket for the arguments of the run's kernels. It is empty without a trace.
  [[nodiscard]] trace_ticket ticket() const {
    return (shared_recorder_ != nullptr ? *shared_recorder_ : recorder_).ticket();
  }
  /// Returns the chain_link for the programs of the run's launch chains.
  [[nodiscard]] detail::chain_link link() const {
    return {
        .progress = &memory_->progress, .status = status(), .slots = slots(), .trace = ticket()};
  }
  /// Returns whether the first grid of the run must call chain_link::clear_status().
  [[nodiscard]] bool first_grid_clears() const { return first_grid_clears_; }
  /// Returns whether kernels launch the grids.
  [[nodiscard]] bool on_device_route() const { return report_.taken == route::device; }
  /// Returns whether the run's chains end with grids in the stream that launch what is left.
  [[nodiscard]] bool needs_completion() const { return needs_completion_; }

  /// States that kernels may hold launch slots from now on. If an exception ends the run before
  /// holds_no_slots(), the destructor releases them, after the grids in the stream.
  void may_hold_slots() {
    static_cast<void>(held_.release());
    if (!on_device_route()) return;
    held_.get_deleter() = {stream_, link(), context_, device_};
    held_.reset(&memory_->progress);
  }
  /// States that all slots are free, or that a grid in the stream releases them. wait() calls it if
  /// it finds no slots in use.
  void holds_no_slots() { static_cast<void>(held_.release()); }

  /// Counts a grid that the host launched. \throws cuda_error with `doing` in its message if the
  /// launch has failed
  void launched(const launch_status& status, const char* doing, unsigned level = 0) {
    check(status.code(), doing);
    count_grids(1, level);
  }

  /// Launches a grid into the stream of the run, and counts it. \throws cuda_error with `doing` in
  /// its message
  template <class... Parameters, class... Arguments>
  void launch_grid(const char* doing, void (*kernel)(Parameters...), const launch_shape& shape,
                   const Arguments&... arguments) {
    launched(launch(kernel, shape, stream_, arguments...), doing);
  }

  /// Counts grids that the host launched at a level of the launch tree. The root has level 0.
  void count_grids(unsigned count, unsigned level) {
    report_.host_grids += count;
    if (count > 0 && level > report_.deepest_level) report_.deepest_level = level;
  }

  /// Puts the copy of the next wait() into the stream, so that the host makes this call while the
  /// grids run. The run must put nothing into the stream before wait(). Does nothing if the kernels
  /// report nothing. \throws std::logic_error after cudaDeviceReset(); cuda_error
  void read_ahead() {
    if (reports_nothing_) return;
    require_context();
    copy_seen();
  }

  /// States that the kernels of the run launch nothing and report nothing, so that the host only
  /// waits.
  void reports_nothing() { reports_nothing_ = true; }

  /// Waits for the grids in the stream, and copies their counts to the report. Returns the progress
  /// of the launch chain. seen() then returns what the run has among the first bytes of its scratch
  /// memory: one copy of them all takes no longer than one of the status.
  /// \throws device_launch_error for the first launch in a kernel that failed; std::length_error if
  ///         a task list was too short; std::logic_error after cudaDeviceReset(); cuda_error
  detail::chain_progress wait() {
    require_context();
    if (reading_ == nullptr) copy_seen();
    seen_->wait(stream_);
    static_cast<void>(reading_.release());
    const device_memory seen = this->seen(memory_);
    const run_status& status = seen.status;
    if (seen.progress.held == 0) holds_no_slots();
    if (status.error != 0 || status.dropped != 0) read_trace();
    status.check_launches();
    if (status.dropped != 0) {
      throw std::length_error("the task list is full: " + std::to_string(status.dropped) +
                              " tasks did not fit");
    }
    report_.child_grids = status.child_grids;
    report_.spilled_tasks = status.spilled;
    report_.peak_slots = status.peak_slots;
    report_.deepest_level = std::max(report_.deepest_level, status.deepest);
    return seen.progress;
  }

  /// Waits for the stream of a run whose kernels launch nothing and report nothing. \throws
  /// std::logic_error after cudaDeviceReset(); cuda_error
  void wait_for_stream() {
    require_context();
    check(cudaStreamSynchronize(stream_), "waiting for the run");
    holds_no_slots();
  }

  /// Returns whether wait() reads the object at `object` in device memory.
  template <class T>
  [[nodiscard]] bool sees(const T* object) const {
    return sizeof(T) <= seen_bytes_ && seen_offset(object) <= seen_bytes_ - sizeof(T);
  }
  /// Returns the object at `object` in device memory as the last wait() has read it. Requires
  /// sees(object).
  template <class T>
  [[nodiscard]] T seen(const T* object) const {
    T copy;
    std::memcpy(&copy, seen_->data() + seen_offset(object), sizeof copy);
    return copy;
  }

  /// Checks that no cudaDeviceReset() has destroyed the memory of the run. \throws std::logic_error
  void require_context() const { detail::require_context(context_, "a run"); }

  /// Appends the run's grids to the trace, if there is one. Call it at the end of the run. \throws
  /// cuda_error
  void read_trace() {
    if (trace_ != nullptr) trace_->taken = report_.taken;
    (shared_recorder_ != nullptr ? *shared_recorder_ : recorder_).read();
  }

  /// Returns the report. It is complete after the last wait(), except for scratch_bytes, which the
  /// caller sets.
  [[nodiscard]] run_report& report() { return report_; }

 private:
  /// Releases the slots that the run holds. A destructor must not throw. On a GPU the launch fails
  /// only if the device has failed, and then the next call reports it. On the CPU executor all
  /// grids of the stream are complete, and the host releases the slots itself, because a launch
  /// needs memory.
  struct slot_release {
    cudaStream_t stream;
    detail::chain_link link;
    detail::context_id made_in;
    int device;
    void operator()(detail::chain_progress*) const {
      if (!detail::context_exists(made_in)) return;
#if RAMIFY_ON_CUDA
      try {
        const device_scope here(device);
        if (is_being_captured(stream)) return;  // the graph releases the slots
        detail::chain_link untraced = link;
        untraced.trace = {};
        static_cast<void>(
            launch(detail::release_slots<detail::chain_link>, {1, 1}, stream, untraced).code());
      } catch (...) {  // also std::bad_alloc of the message of an error
      }
#else
      link.slots.release(std::exchange(link.progress->held, 0));
#endif
    }
  };

  /// Copies the first bytes of the scratch memory to seen_. Asynchronous. \throws cuda_error
  void copy_seen() {
    if (!seen_) seen_ = detail::borrowed<detail::seen_memory>(context_);
    seen_->copy(memory_, seen_bytes_, stream_);
    reading_ = {memory_, {stream_, context_}};
  }

  /// Waits for a copy into memory that another run may use next. A destructor must not throw, so it
  /// ignores an error, which the next call reports.
  struct end_of_copy {
    cudaStream_t stream;
    detail::context_id made_in;
    void operator()(device_memory*) const {
      if (detail::context_exists(made_in)) static_cast<void>(cudaStreamSynchronize(stream));
    }
  };

  /// Returns the offset of an address in the scratch memory. For an address before it, the offset
  /// wraps to a large number.
  [[nodiscard]] std::uintptr_t seen_offset(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory_);
  }

  device_memory* memory_;
  std::size_t seen_bytes_ = scratch_bytes;
  detail::borrowed<detail::seen_memory> seen_;           // after the first copy
  std::unique_ptr<device_memory, end_of_copy> reading_;  // not null while a copy may be in flight
  bool reports_nothing_ = false;
  cudaStream_t stream_;
  bool first_grid_clears_;
  bool needs_completion_ = false;
  int device_;  // the current one
  detail::context_id context_;
  slot_lease lease_;
  launch_trace* trace_;
  detail::trace_recorder recorder_;
  detail::trace_recorder* shared_recorder_ = nullptr;  // used instead, if not null
  run_report report_;
  std::unique_ptr<detail::chain_progress, slot_release> held_;  // destroyed before the lease
};

}  // namespace ramify::inline RAMIFY_BUILD
