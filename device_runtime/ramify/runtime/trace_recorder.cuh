// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The class trace_recorder: the host side of a trace. It owns the device memory and appends to a
/// launch_trace.
///
///     launch_trace trace;
///     trace_recorder recorder(&trace, stream);
///     check(launch(kernel, {1, 32}, stream, recorder.ticket()).code(), "launching");
///     recorder.read();  // waits for the stream, and fills the trace

#include <memory>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch_trace.hpp>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

#if RAMIFY_TRACE

/// Records the grids of one stream. If the trace is null, it does nothing.
///
/// Movable; a moved-from recorder may only be destroyed. Its device memory is freed in stream
/// order. After its destruction the host must not launch with its ticket.
class trace_recorder {
 public:
  /// Allocates device memory for `into->capacity` grids and clears it in `stream`.
  /// \throws std::invalid_argument if the capacity is not in [1, 2^24], or if `into` has grids with
  ///         times of another clock; unavailable while `stream` is being captured; cuda_error
  trace_recorder(launch_trace* into, cudaStream_t stream);
  trace_recorder(trace_recorder&& other) noexcept;
  trace_recorder& operator=(trace_recorder&& other) noexcept;
  ~trace_recorder();

  /// Returns the ticket for the arguments of kernels that the host launches.
  [[nodiscard]] trace_ticket ticket() const;

  /// Waits for the stream, and appends the recorded grids to the trace. These grids must not run
  /// again, as the grids of a graph could. \throws cuda_error
  void read();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

#else

/// The recorder of a build without traces, which cannot record.
class trace_recorder {
 public:
  /// \throws unavailable if `into` is not null
  trace_recorder(const launch_trace* into, cudaStream_t) {
    if (into == nullptr) return;
    throw unavailable("a trace needs kernels compiled with -DRAMIFY_TRACE=1");
  }
  [[nodiscard]] trace_ticket ticket() const { return {}; }
  void read() {}
};

#endif

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#if RAMIFY_TRACE && RAMIFY_ON_CUDA
#include <ramify/runtime/detail/trace_recorder_state.cuh>
#endif
