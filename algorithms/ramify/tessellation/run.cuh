// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tessellation_call: the checks, the grids and the report of one call.

#include <algorithm>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/tessellation/config.hpp>
#include <ramify/tessellation/leaves.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// The result of the first grid of a call, initially zero.
struct shape_check {
  unsigned n_minus_first_invalid;      ///< by an atomic maximum; 0 if all shapes are valid
  unsigned long long expected_pieces;  ///< of all valid shapes
};

/// Finds the first shape with a coordinate that is not in [-max_control_coordinate,
/// max_control_coordinate], and adds the expected pieces of all valid shapes. One thread for each
/// shape.
template <class Shape>
__global__ void check_shapes(const Shape* shapes, std::size_t n, double flatness,
                             unsigned max_depth, shape_check* found, trace_ticket trace) {
  constexpr double max_pieces = 1 << 22;  // of a shape; the sum of a block fits into 32 bits
  const traced here(trace, __func__);
  __shared__ unsigned pieces_of_block;
  if (threadIdx.x == 0) pieces_of_block = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const auto* const values = reinterpret_cast<const double*>(shapes + i);
    bool valid = true;  // false for NaN
    for (unsigned k = 0; k < coordinates<Shape>; ++k) {
      valid = valid && fabs(values[k]) <= max_control_coordinate;
    }
    if (valid) {
      const double pieces = fmin(expected_pieces(shapes[i], flatness, max_depth), max_pieces);
      atomicAdd(&pieces_of_block, static_cast<unsigned>(pieces));
    } else {
      atomicMax(&found->n_minus_first_invalid, static_cast<unsigned>(n - i));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&found->expected_pieces, pieces_of_block + 0ULL);
}

/// One call over n curves or patches. It waits for the stream.
class tessellation_call {
 public:
  /// Sets the limits of the environment until destruction. `options` must outlive the call.
  /// \throws std::invalid_argument for a bad argument; std::logic_error while the stream is being
  ///         captured; unavailable, cuda_error
  template <class Shape>
  tessellation_call(const char* name, const char* array, const Shape* shapes, std::size_t n,
                    const tessellation_options& options, const environment& env)
      : choices_(checked_choices(name, n, options, env)),
        options_(options),
        recorder_(env.trace, stream()) {
    require_not_captured(stream(), name);
    const std::string field = std::string(name) + ": " + array;
    if (n == 0) {
      static_cast<run_report&>(report) =
          report_of_this_build({route::flat, std::string("there are no ") + array});
      return;
    }
    check_device_access(shapes, field.c_str());
    const device_buffer<shape_check> on_device(1, stream());
    clear_memory(on_device.data(), 1, stream(), "clearing a check");
    launch("checking the control points", check_shapes<Shape>, n, shapes, n, options.flatness,
           options.max_depth, on_device.data());
    const shape_check found = read_back(on_device.data(), stream(), "checking the control points");
    expected_pieces_ = found.expected_pieces;
    if (found.n_minus_first_invalid == 0) return;
    const std::size_t i = n - found.n_minus_first_invalid;
    refuse_shape(field.c_str(), i,
                 read_back(shapes + i, stream(), "reading an invalid control point"));
  }

  /// Lists the leaves of a tree; see find_leaves(). The first list has twice the expected size, but
  /// at most `max_expected`. \throws std::length_error if there are more leaves than `most` or
  /// options.max_pieces
  template <class Tree>
  leaf_list<Tree> leaves_of(const Tree& tree, std::size_t max_expected, std::size_t most) {
    const phase_range range("tessellation: divide");
    if (options_.max_pieces != 0) most = std::min(most, options_.max_pieces);
    const std::size_t expected = std::min<std::size_t>({2 * expected_pieces_, max_expected, most});
    return find_leaves(tree, expected, most, options_, of_part(), report);
  }

  /// Launches `kernel` with one thread for each of n > 0 items. `arguments` are all but the last
  /// one of the kernel, the trace. \throws cuda_error with `doing` in its message
  template <class... Parameters, class... Arguments>
  void launch(const char* doing, void (*kernel)(Parameters...), std::size_t n,
              const Arguments&... arguments) {
    launch_each(kernel, n, stream(), doing, arguments..., recorder_.ticket());
    ++grids_;
  }

  /// Returns the environment of a traversal or a sort of the call.
  [[nodiscard]] environment of_part() const { return choices_.of_part(choices_.given); }

  [[nodiscard]] cudaStream_t stream() const { return choices_.stream; }

  /// Waits for the stream. Returns the report of the whole call. Call it once.
  [[nodiscard]] tessellation_report finish() {
    check(cudaStreamSynchronize(stream()), "waiting for a tessellation");
    recorder_.read();
    report.host_grids += grids_;
    return report;
  }

  tessellation_report report;

 private:
  /// Checks the arguments that need no driver, and makes the choices of the call.
  static run_choices checked_choices(const char* name, std::size_t n,
                                     const tessellation_options& options, const environment& env) {
    validate(options);
    check_field(n < (std::size_t{1} << 31) - 1, std::string(name) + ": n", n, "less than 2^31 - 1");
    if (env.memory.data() != nullptr) {
      throw std::invalid_argument(std::string(name) +
                                  ": environment.memory must be empty or a resource, because the "
                                  "size depends on the number of pieces");
    }
    return run_setup(name, env);
  }

  run_choices choices_;
  const tessellation_options& options_;
  trace_recorder recorder_;
  unsigned long long expected_pieces_ = 0;
  unsigned grids_ = 0;  // launched by launch()
};

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
