// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// captured_graph: launches and copies as a CUDA graph, which is launched at once and again.
///
///     const captured_graph steps(stream, [&] {
///       for (int i = 0; i < 10; ++i) {
///         check(launch(step, {1, 256}, stream, data).code(), "launching a step");
///       }
///     });
///     steps.launch(stream);  // ten grids, one after another
///
/// The CPU executor has no graphs.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA

#include <ramify/runtime/check.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A graph, ready to be launched any number of times.
class captured_graph {
 public:
  /// Of what `put()` puts into `stream`, which is not the NULL stream; what it throws comes through.
  /// Nothing of it runs yet. `mode` says what threads must not do meanwhile. \throws cuda_error
  template <class Put>
  captured_graph(cudaStream_t stream, Put put,
                 cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    check(cudaStreamBeginCapture(stream, mode), "beginning to capture a graph");
    cudaGraph_t graph = nullptr;
    try {
      put();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph));
      static_cast<void>(cudaGetLastError());
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "capturing a graph");
    const cudaError_t made = cudaGraphInstantiate(&runnable_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check(made, "making a graph");
  }
  ~captured_graph() { static_cast<void>(cudaGraphExecDestroy(runnable_)); }
  captured_graph(const captured_graph&) = delete;
  captured_graph& operator=(const captured_graph&) = delete;

  /// Puts it into `stream`. Asynchronous; launches of one graph run one after another, whatever their
  /// streams. \throws cuda_error
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(runnable_, stream), "launching a graph");
  }

 private:
  cudaGraphExec_t runnable_ = nullptr;
};

}  // namespace ramify::inline RAMIFY_BUILD

#endif
