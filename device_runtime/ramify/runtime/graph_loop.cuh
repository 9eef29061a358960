// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// graph_loop: kernels that the device repeats until one of them says stop, without the host.
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
/// The loop is a CUDA graph with one WHILE node, whose body is what the callable puts into the
/// stream that it is given: kernels that launch none themselves, copies and fills of device memory.
/// Kernels and their arguments are the same in each iteration: what changes lies in device memory.
///
/// On an H200 an iteration costs 4.3 µs beyond its work, a look of the host after each 11.8 µs;
/// making the graph and destroying it takes 22 µs, as long as two such looks.

#include <cstddef>
#include <optional>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/stream.cuh>
#include <span>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// What kernels of a loop's body decide with whether there is another iteration. In a kernel that
/// is launched outside a graph, where the host decides, it does nothing.
class loop_condition {
 public:
  loop_condition() = default;

  /// Called by one thread of one kernel of the body: the last word counts, and without one the loop
  /// goes on for ever.
  __device__ void again([[maybe_unused]] bool go_on) const {
#if RAMIFY_ON_CUDA
    if (in_graph_) cudaGraphSetConditional(handle_, go_on ? 1 : 0);
#endif
  }

  /// Whether a graph's loop launched the kernel.
  [[nodiscard]] __device__ bool in_graph() const {
#if RAMIFY_ON_CUDA
    return in_graph_;
#else
    return false;
#endif
  }

#if RAMIFY_ON_CUDA
  explicit loop_condition(cudaGraphConditionalHandle handle) : handle_(handle), in_graph_(true) {}

 private:
  cudaGraphConditionalHandle handle_ = 0;
  bool in_graph_ = false;
#endif
};

/// Why no graph can have a loop here; empty if it can. \throws cuda_error
[[nodiscard]] inline std::string graph_loop_obstacle() {
#if RAMIFY_ON_CUDA
  constexpr int needed = 12040;  // CUDA 12.4, the first with conditional nodes
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  if (driver >= needed) return {};
  return "the driver is for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10) + ", and loops in graphs need 12.4";
#else
  return "compiled by a C++ compiler: the CPU executor has no graphs";
#endif
}

#if RAMIFY_ON_CUDA

/// A WHILE node in a graph, whose body is to be captured.
struct while_node {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t body = nullptr;  ///< the graph owns it
  loop_condition condition;
};

/// Adds a loop to `graph`, behind the nodes `behind`. \throws cuda_error
inline while_node add_while_node(cudaGraph_t graph, std::span<const cudaGraphNode_t> behind) {
  cudaGraphConditionalHandle handle = 0;
  check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
        "making the condition of a loop");
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeWhile;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t added =
      cudaGraphAddNode(&node, graph, behind.data(), nullptr, behind.size(), &parameters);
#else
  const cudaError_t added =
      cudaGraphAddNode(&node, graph, behind.data(), behind.size(), &parameters);
#endif
  check(added, "adding a loop to a graph");
  return {node, parameters.conditional.phGraph_out[0], loop_condition(handle)};
}

/// Captures what `body(stream, condition)` puts into its stream.
template <class Body>
void capture_body(const while_node& loop, Body& body) {
  const relaxed_capture_scope here;  // the graph around the loop may be captured in this thread
  const host_stream stream;
  check(cudaStreamBeginCaptureToGraph(stream.get(), loop.body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeRelaxed),
        "beginning to capture a loop's body");
  cudaGraph_t captured = nullptr;
  try {
    body(stream.get(), loop.condition);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream.get(), &captured));
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream.get(), &captured), "capturing a loop's body");
}

/// A loop, ready to be launched any number of times. Movable; moved-from it may only be assigned or
/// destroyed. Destroying or assigning it while a launch is under way is no error, but waits for the
/// end of that launch.
class graph_loop {
 public:
  /// `body(stream, condition)` puts one iteration into `stream`; what it throws comes through.
  /// Takes about 20 µs of the host's time, and nothing of the device's.
  /// \throws unavailable if the driver refuses such a loop; cuda_error
  template <class Body>
  explicit graph_loop(Body body) {
    const graph whole;
    capture_body(add_while_node(whole.get, {}), body);
    const cudaError_t made = cudaGraphInstantiate(&runnable_, whole.get, 0);
    if (made == cudaErrorNotSupported || made == cudaErrorInvalidValue) {
      static_cast<void>(cudaGetLastError());  // told here, and nowhere else
      throw unavailable(std::string("the driver refuses this loop in a graph: ") +
                        cudaGetErrorString(made));
    }
    check(made, "making a graph with a loop");
  }
  ~graph_loop() {
    if (runnable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(runnable_));
  }
  graph_loop(graph_loop&& other) noexcept : runnable_(std::exchange(other.runnable_, nullptr)) {}
  graph_loop& operator=(graph_loop other) noexcept {
    std::swap(runnable_, other.runnable_);
    return *this;
  }

  /// Puts the loop into `stream`, which is not being captured: one iteration, and others as long as
  /// it says so. Asynchronous. Launches of one loop run one after another, whatever their streams.
  /// \throws cuda_error
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(runnable_, stream), "launching a loop");
  }

 private:
  struct graph {
    graph() { check(cudaGraphCreate(&get, 0), "making a graph"); }
    ~graph() { static_cast<void>(cudaGraphDestroy(get)); }
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;
    cudaGraph_t get = nullptr;
  };

  cudaGraphExec_t runnable_ = nullptr;
};

/// Puts a loop into `stream`, which is being captured: it becomes a node of that graph. Such a
/// graph cannot be a child of another one. \throws cuda_error
template <class Body>
void capture_loop(cudaStream_t stream, Body body) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* behind = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &behind, nullptr, &count),
        "looking at a graph that is being captured");
#else
  check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &behind, &count),
        "looking at a graph that is being captured");
#endif
  while_node loop = add_while_node(graph, {behind, count});
#if CUDART_VERSION >= 13000
  check(cudaStreamUpdateCaptureDependencies(stream, &loop.node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies),
        "continuing a capture behind a loop");
#else
  check(
      cudaStreamUpdateCaptureDependencies(stream, &loop.node, 1, cudaStreamSetCaptureDependencies),
      "continuing a capture behind a loop");
#endif
  capture_body(loop, body);
}

#else

/// There is none on the CPU executor, as graph_loop_obstacle() says.
class graph_loop {
 public:
  graph_loop() = delete;
  void launch(cudaStream_t) const {}
};
template <class Body>
void capture_loop(cudaStream_t, const Body&) {}

#endif

/// The loop of a flat route in `stream`: as a graph, or none, and then the host runs the rounds;
/// `reason` tells why. The body is graph_loop's.
/// \throws unavailable if a graph is requested and is not available; cuda_error
template <class Body>
[[nodiscard]] std::optional<graph_loop> make_flat_loop(flat_loop wanted, cudaStream_t stream,
                                                       [[maybe_unused]] Body body,
                                                       std::string& reason) {
  reason = "requested";
  if (wanted == flat_loop::host) return std::nullopt;
  std::string obstacle = graph_loop_obstacle();
  if (obstacle.empty() && is_being_captured(stream)) obstacle = "the stream is being captured";
#if RAMIFY_ON_CUDA
  try {
    if (obstacle.empty()) {
      std::optional<graph_loop> loop(std::in_place, std::move(body));
      if (wanted == flat_loop::automatic) reason = "nobody waits for the host between two rounds";
      return loop;
    }
  } catch (const unavailable& e) {
    obstacle = e.what();
  }
#endif
  if (wanted == flat_loop::graph) throw unavailable("flat_loop graph cannot be had: " + obstacle);
  reason = obstacle;
  return std::nullopt;
}

}  // namespace ramify::inline RAMIFY_BUILD
