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

namespace ramify::inline RAMIFY_BUILD {

/// An instantiated CUDA graph. It is neither copyable nor movable.
class captured_graph {
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
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "ending the capture of a graph");
    const cudaError_t instantiated = cudaGraphInstantiate(&executable_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check(instantiated, "instantiating a graph");
  }
  ~captured_graph() { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;

  /// Launches the graph into `stream`. Asynchronous. Launches of one graph run one after another,
  /// also in different streams. \throws cuda_error
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(executable_, stream), "launching a graph");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace ramify::inline RAMIFY_BUILD

#endif
