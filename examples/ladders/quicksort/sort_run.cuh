// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host's side of one run of a rung whose kernels launch grids, nested ones.

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

/// One run of a rung: its stream, what its kernels need, and what becomes of it.
class ladder_run {
 public:
  /// Room for `most_grids` that kernels launch; what finds none does not become a grid. \throws cuda_error
  ladder_run(std::size_t most_grids, cudaStream_t stream, launch_trace* trace = nullptr)
      : trace_(trace),
        book_(1, stream),
        grids_(most_grids, stream),
        control_(&book_.data()->status, {route::device, "asked for"},
                 *current_launch_limits().pending_launches, stream, trace) {
    const grid_book image{
        control_.slots(), grids_.data(), static_cast<unsigned>(most_grids), 0, {}};
    check(cudaMemcpyAsync(book_.data(), &image, sizeof image, cudaMemcpyHostToDevice, stream),
          "beginning a run");
  }

  [[nodiscard]] cudaStream_t stream() const { return control_.stream(); }
  /// For the kernels that the host launches.
  [[nodiscard]] nested_grid root() const { return {control_.ticket(), book_.data()}; }
  /// Looks at a launch of the host and counts it. \throws cuda_error
  void launched(const launch_status& status, unsigned level = 0) {
    control_.launched(status, "launching a rung's kernel", level);
  }

  /// For a rung that is the library's: where its options are to put their trace, and what it reported.
  [[nodiscard]] launch_trace* trace() const { return trace_; }
  void did(const run_report& report) { reported_ = report; }

  /// Waits for the run. \throws device_launch_error for the first launch in a kernel that failed; cuda_error;
  ///         std::logic_error if a grid kept its slot
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
      throw std::logic_error(std::to_string(in_use) + " launch slots were not given back");
    }
    return control_.report();
  }

 private:
  launch_trace* trace_;
  device_buffer<grid_book> book_;
  device_buffer<open_grid> grids_;
  run_control control_;
  std::optional<run_report> reported_;
};

}  // namespace ladder
