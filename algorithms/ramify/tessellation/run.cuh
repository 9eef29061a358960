// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tessellation_call: the checks, the grids and the report of one call.

#include <ramify/quicksort.cuh>
#include <ramify/runtime/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/tessellation/config.hpp>
#include <ramify/tessellation/leaves.cuh>
#include <string>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// Lowers *first to the index of the first shape with a coordinate that is not in
/// [-max_control_coordinate, max_control_coordinate]. One thread for each shape.
template <class Shape>
__global__ void find_invalid_shape(const Shape* shapes, std::size_t n, unsigned* first,
                                   trace_ticket trace) {
  const traced here(trace, __func__);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto* const values = reinterpret_cast<const double*>(shapes + i);
  bool valid = true;  // false for NaN
  for (unsigned k = 0; k < coordinates<Shape>; ++k) {
    valid = valid && fabs(values[k]) <= max_control_coordinate;
  }
  if (!valid) atomicMin(first, i);
}

/// One call over n curves or patches. It waits for the stream.
class tessellation_call {
 public:
  /// `options` must outlive the call.
  /// \throws std::invalid_argument for a bad argument; std::logic_error while the stream is being
  ///         captured; cuda_error
  template <class Shape>
  tessellation_call(const char* name, const char* array, const Shape* shapes, std::size_t n,
                    cudaStream_t stream, const tessellation_options& options)
      : stream_(stream), options_(options), recorder_(options.trace, stream) {
    validate(options);
    const std::string field = std::string(name) + ": " + array;
    check_field(n < (std::size_t{1} << 31) - 1, std::string(name) + ": n", n, "less than 2^31 - 1");
    require_not_captured(stream, std::string(name) + ": ");
    if (n == 0) {
      static_cast<run_report&>(report) =
          report_of_this_build({route::flat, std::string("there are no ") + array});
      return;
    }
    check_device_access(shapes, field.c_str());
    const device_buffer<unsigned> first(1, stream);
    check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned), stream), "clearing an index");
    launch("checking the control points", find_invalid_shape<Shape>, n, shapes, n, first.data());
    const unsigned i = read_back(first.data(), stream, "checking the control points");
    if (i == ~0u) return;
    refuse_shape(field.c_str(), i,
                 read_back(shapes + i, stream, "reading an invalid control point"));
  }

  /// Lists the leaves of a tree; see find_leaves().
  template <class Tree>
  leaf_list<Tree> leaves_of(const Tree& tree, std::size_t expected, std::size_t most) {
    const phase_range range("tessellation: divide");
    return find_leaves(tree, expected, most, stream_, options_, report);
  }

  /// Launches `kernel` with one thread for each of n > 0 items. `arguments` are all but the last
  /// one of the kernel, the trace. \throws cuda_error with `doing` in its message
  template <class... Parameters, class... Arguments>
  void launch(const char* doing, void (*kernel)(Parameters...), std::size_t n,
              const Arguments&... arguments) {
    launch_each(kernel, n, stream_, doing, arguments..., recorder_.ticket());
    ++grids_;
  }

  /// Returns the configuration of a sort of the call.
  [[nodiscard]] quicksort_config sort_config() const {
    return {.route = options_.route, .flat_loop = options_.flat_loop, .trace = options_.trace};
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Waits for the stream. Returns the report of the whole call. Call it once.
  [[nodiscard]] tessellation_report finish() {
    check(cudaStreamSynchronize(stream_), "waiting for a tessellation");
    recorder_.read();
    report.host_grids += grids_;
    return report;
  }

  tessellation_report report;

 private:
  cudaStream_t stream_;
  const tessellation_options& options_;
  trace_recorder recorder_;
  unsigned grids_ = 0;  // launched by launch()
};

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
