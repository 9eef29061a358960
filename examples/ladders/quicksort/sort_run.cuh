// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of one run of a rung whose kernels launch nested grids.

#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>

#include "nested_grid.cuh"

namespace ladder {

/// One run of a rung: its stream, the data of its kernels, and its report.
class ladder_run {
 public:
  /// Allocates entries for `max_grids` grids that kernels launch. \throws cuda_error
  ladder_run(std::size_t max_grids, cudaStream_t stream, launch_trace* trace = nullptr)
      : trace_(trace),
        table_(1, stream),
        grids_(max_grids, stream),
        scratch_(run_control::scratch_bytes, stream),
        control_(scratch_.data(), {route::device, "requested"},
                 *current_launch_limits().pending_launches, stream, trace) {
    const grid_table image{control_.slots(), grids_.data(), static_cast<unsigned>(max_grids), 0,
                           control_.status()};
    check(cudaMemcpyAsync(table_.data(), &image, sizeof image, cudaMemcpyHostToDevice, stream),
          "initializing a run");
  }

  [[nodiscard]] cudaStream_t stream() const { return control_.stream(); }
  /// Returns the argument for kernels that the host launches.
  [[nodiscard]] nested_grid root() const { return {control_.ticket(), table_.data()}; }
  /// Checks a launch by the host and counts it. \throws cuda_error
  void launched(const launch_status& status, unsigned level = 0) {
    control_.launched(status, "launching a rung's kernel", level);
  }

  /// For the rung that calls the library: the trace for its options, and the setter of its report.
  [[nodiscard]] launch_trace* trace() const { return trace_; }
  void set_report(const run_report& report) { reported_ = report; }

  /// Waits for the run and returns its report. \throws device_launch_error for the first failed
  /// launch in a kernel; cuda_error; std::logic_error if a grid did not release its slot
  run_report finish() {
    if (reported_) return *reported_;
    control_.wait();
    control_.read_trace();
    unsigned in_use = 0;
    check(cudaMemcpyAsync(&in_use, control_.slots().in_use, sizeof in_use, cudaMemcpyDeviceToHost,
                          stream()),
          "counting the slots in use");
    check(cudaStreamSynchronize(stream()), "counting the slots in use");
    if (in_use != 0) {
      throw std::logic_error(std::to_string(in_use) + " launch slots were not released");
    }
    return control_.report();
  }

 private:
  launch_trace* trace_;
  device_buffer<grid_table> table_;
  device_buffer<open_grid> grids_;
  device_buffer<std::byte> scratch_;  ///< of control_
  run_control control_;
  std::optional<run_report> reported_;
};

}  // namespace ladder
