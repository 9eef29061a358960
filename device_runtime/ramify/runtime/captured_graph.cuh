// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The class captured_graph: launches and copies, captured once as a CUDA graph that can be
/// launched repeatedly.
///
///     const captured_graph steps(stream, [&] {
///       for (int i = 0; i < 10; ++i) {
///         check(launch(step, {1, 256}, stream, data).code(), "launching a step");
///       }
///     });
///     steps.launch(stream);  // runs ten grids, one after another
///
/// The CPU executor has no graphs.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA

#include <ramify/runtime/check.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/error.hpp>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

using unique_graph = unique_handle<cudaGraph_t, cudaGraphDestroy>;

/// A CUDA graph that is ready to be launched any number of times. Movable; a moved-from graph may
/// only be assigned or destroyed. The destructor does not wait for a launch that runs; the driver
/// frees the graph when the launch has ended.
class executable_graph {
 public:
  /// Launches the graph into `stream`. Asynchronous. Launches of one graph run one after another,
  /// also in different streams. \throws cuda_error
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(executable_.get(), stream), "launching a graph");
  }

 protected:
  executable_graph() = default;
  [[nodiscard]] cudaError_t instantiate(const unique_graph& graph) {
    executable_.get_deleter() = {current_context()};
    cudaGraphExec_t executable = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&executable, graph.get(), 0);
    executable_.reset(executable);
    return error;
  }

  /// Instantiates a graph with a loop. \throws unavailable if the driver refuses it; cuda_error
  void instantiate_loop(const unique_graph& graph) {
    const cudaError_t error = instantiate(graph);
    if (error == cudaErrorNotSupported || error == cudaErrorInvalidValue) {
      static_cast<void>(cudaGetLastError());  // clears the error
      throw unavailable(std::string("the driver refuses this loop in a graph: ") +
                        cudaGetErrorString(error));
    }
    check(error, "instantiating a graph with a loop");
  }

  [[nodiscard]] cudaGraphExec_t get() const { return executable_.get(); }

 private:
  unique_handle<cudaGraphExec_t, cudaGraphExecDestroy> executable_;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The graph of the work that a callable puts into a stream.
class captured_graph : public detail::executable_graph {
 public:
  /// Captures the work that `put()` puts into `stream`. The work does not run.
  ///
  /// `stream` must not be the NULL stream. `mode` selects which calls CUDA forbids during the
  /// capture.
  /// \throws cuda_error, and whatever `put` throws
  template <class Put>
  captured_graph(cudaStream_t stream, Put put,
                 cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    check(cudaStreamBeginCapture(stream, mode), "beginning the capture of a graph");
    cudaGraph_t graph = nullptr;
    try {
      put();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph));
      static_cast<void>(cudaGetLastError());
      const detail::unique_graph incomplete(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "ending the capture of a graph");
    check(instantiate(detail::unique_graph(graph)), "instantiating a graph");
  }
};

}  // namespace ramify::inline RAMIFY_BUILD

#endif
