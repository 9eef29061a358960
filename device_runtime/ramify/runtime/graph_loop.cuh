// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// graph_loop: kernels that the device repeats until one of them ends the loop, without the host.
///
///     __global__ void halve(unsigned* n, loop_condition loop) {  // one thread
///       *n /= 2;
///       loop.again(*n > 1);
///     }
///     const graph_loop loop([&](cudaStream_t stream, loop_condition condition) {
///       check(launch(halve, {1, 1}, stream, n, condition).code(), "launching a step");
///     });
///     loop.launch(stream);  // *n: 100 --> 50 --> 25 --> 12 --> 6 --> 3 --> 1
///
/// The loop is a CUDA graph with one WHILE node. Its body is the work that the callable puts into
/// the stream: kernels that launch no grids, and copies and fills of device memory. Each iteration
/// has the same kernels and arguments. Data that changes is in device memory.
///
/// On an H200 an iteration costs 4.3 us in addition to its work; an iteration that the host
/// launches, with a round trip after it, costs 11.8 us. The construction of a loop of one grid
/// takes 20 us of the host's time, and each further grid 1 us.

#include <cstddef>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/detail/borrowed.cuh>
#include <ramify/runtime/stream.cuh>
#include <span>
#include <string>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Decides whether a graph_loop runs another iteration. In a kernel that is launched outside a
/// graph, where the host decides, it does nothing.
class loop_condition {
 public:
  loop_condition() = default;

  /// Runs another iteration if `go_on`. One thread of one kernel of the body must call it. The last
  /// call in an iteration counts. A loop whose body never calls again() does not end.
  __device__ void again([[maybe_unused]] bool go_on) const {
#if RAMIFY_ON_CUDA
    if (in_graph_) cudaGraphSetConditional(handle_, go_on ? 1 : 0);
#endif
  }

  /// Returns whether a graph's loop launched the kernel.
  [[nodiscard]] __device__ bool in_graph() const {
#if RAMIFY_ON_CUDA
    return in_graph_;
#else
    return false;
#endif
  }

#if RAMIFY_ON_CUDA
  /// Refers to the condition of a WHILE node.
  explicit loop_condition(cudaGraphConditionalHandle handle) : handle_(handle), in_graph_(true) {}

 private:
  cudaGraphConditionalHandle handle_ = 0;
  bool in_graph_ = false;
#endif
};

/// Returns the reason why graphs cannot have loops here, or an empty string. \throws cuda_error
[[nodiscard]] inline std::string graph_loop_obstacle() {
#if RAMIFY_ON_CUDA
  constexpr int needed = 12040;  // CUDA 12.4, the first version with conditional nodes
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "querying the driver's version");
  if (driver >= needed) return {};
  return "the driver is for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10) + ", and loops in graphs need 12.4";
#else
  return "compiled by a C++ compiler: the CPU executor has no graphs";
#endif
}

}  // namespace ramify::inline RAMIFY_BUILD

#if RAMIFY_ON_CUDA

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Stands for the work before a loop whose first iteration always runs.
struct nothing_before {};

/// Returns a new condition of a loop in `graph`. The loop runs its first iteration if
/// `runs_at_first`, unless a kernel that the graph runs before it calls again(). \throws cuda_error
inline cudaGraphConditionalHandle make_condition(cudaGraph_t graph, bool runs_at_first) {
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph, runs_at_first ? 1 : 0,
                                         cudaGraphCondAssignDefault),
        "creating the condition of a loop");
  return handle;
}

/// A WHILE node in a graph.
struct while_node {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = nullptr;  ///< empty at first; the graph of the node owns it
};

/// Adds a WHILE node to `graph` that runs after the nodes `before`. \throws cuda_error
inline while_node add_while_node(cudaGraph_t graph, std::span<const cudaGraphNode_t> before,
                                 cudaGraphConditionalHandle handle) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t added =
      cudaGraphAddNode(&node, graph, before.data(), nullptr, before.size(), &parameters);
#else
  const cudaError_t added =
      cudaGraphAddNode(&node, graph, before.data(), before.size(), &parameters);
#endif
  check(added, "adding a loop to a graph");
  return {node, parameters.conditional.phGraph_out[0]};
}

/// Captures the work that `put()` puts into `stream` as nodes of `graph` without predecessors.
/// \throws cuda_error, and what `put` throws
template <class Put>
void capture_into(cudaGraph_t graph, cudaStream_t stream, const Put& put) {
  check(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeRelaxed),
        "beginning to capture a part of a graph");
  cudaGraph_t captured = nullptr;
  try {
    put();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &captured));
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream, &captured), "capturing a part of a graph");
}

/// Adds a WHILE node, after the work of `before`, to the graph that `stream` is being captured
/// into. Sets its condition, and returns the graph of its body, which is empty. \throws cuda_error,
/// and what `before` throws
template <class Before>
cudaGraph_t capture_while_node(cudaStream_t stream, loop_condition& condition,
                               const Before& before) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  std::size_t count = 0;
  const auto query = [&] {
#if CUDART_VERSION >= 13000
    check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &last, nullptr, &count),
          "querying a graph that is being captured");
#else
    check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &last, &count),
          "querying a graph that is being captured");
#endif
  };
  query();
  constexpr bool decides = !std::is_same_v<Before, nothing_before>;
  const cudaGraphConditionalHandle handle = make_condition(graph, !decides);
  condition = loop_condition(handle);
  if constexpr (decides) {
    before(stream, condition);
    query();
  }
  while_node loop = add_while_node(graph, {last, count}, handle);
#if CUDART_VERSION >= 13000
  check(cudaStreamUpdateCaptureDependencies(stream, &loop.node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies),
        "continuing a capture after a loop");
#else
  check(
      cudaStreamUpdateCaptureDependencies(stream, &loop.node, 1, cudaStreamSetCaptureDependencies),
      "continuing a capture after a loop");
#endif
  return loop.body;
}

/// Adds a loop to the graph that `stream` is being captured into. Such a graph cannot be a child of
/// another one. `body(stream, condition)` puts one iteration into `stream`. `before(stream,
/// condition)` puts grids into the graph that run before the loop; one of them calls
/// condition.again(), which decides whether the first iteration runs. \throws cuda_error, and what
/// `body` and `before` throw
template <class Body, class Before = nothing_before>
void capture_loop(cudaStream_t stream, const Body& body, const Before& before = {}) {
  loop_condition condition;
  const cudaGraph_t iteration = capture_while_node(stream, condition, before);
  const relaxed_capture_scope here;  // this thread may be capturing the graph that has the loop
  const borrowed<host_stream> own(current_context());
  capture_into(iteration, own->get(), [&] { body(own->get(), condition); });
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A loop that is ready to be launched. A launch runs one iteration, and others as long as the
/// condition says so.
class graph_loop : public detail::executable_graph {
 public:
  /// `body(stream, condition)` puts one iteration into `stream`. Does not wait for the device.
  /// \throws unavailable if the driver refuses such a loop; cuda_error; what `body` throws
  template <class Body>
  explicit graph_loop(const Body& body) {
    cudaGraph_t created = nullptr;
    check(cudaGraphCreate(&created, 0), "creating a graph");
    const detail::unique_graph whole(created);
    const relaxed_capture_scope here;
    detail::borrowed<host_stream> stream(detail::current_context());
    cudaGraph_t iteration = nullptr;
    loop_condition condition;
    detail::capture_into(created, stream->get(), [&] {
      iteration = detail::capture_while_node(stream->get(), condition, detail::nothing_before{});
    });
    detail::capture_into(iteration, stream->get(), [&] { body(stream->get(), condition); });
    instantiate_loop(whole);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD

#endif
