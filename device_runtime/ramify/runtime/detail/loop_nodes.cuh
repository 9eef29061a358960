// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// reusable_loop: an executable graph with a loop, which the runs of one program use one after
/// another. A run sets the parameters of its nodes, which takes about 1 us for each node whose
/// parameters differ from those of the last run. Making the graph takes 20 us or more (H200).

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA

#include <array>
#include <cstddef>
#include <cstring>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A kernel node of a graph, and the bytes of its kernel, its sizes and its arguments. Padding in
/// the arguments may make equal parameters look different, which costs time only.
struct kernel_node {
  cudaGraphNode_t node;
  std::vector<std::byte> parameters;
};

/// Adds grids to a graph as nodes that run one after another, or sets the parameters of nodes that
/// were added before. It has the calls of a round_launcher that launch_repeated() uses. It adds no
/// node for a grid without blocks, and records no grid in a trace.
class node_launcher {
 public:
  /// Adds nodes to `graph`, and appends them to `nodes`.
  node_launcher(cudaGraph_t graph, std::vector<kernel_node>& nodes)
      : graph_(graph), nodes_(&nodes), first_(nodes.size()), next_(nodes.size()) {}
  /// Sets the parameters of nodes `first`, `first` + 1, ... of `nodes` in `executable`.
  node_launcher(cudaGraphExec_t executable, std::vector<kernel_node>& nodes, std::size_t first)
      : executable_(executable), nodes_(&nodes), first_(first), next_(first) {}

  /// Does nothing in a kernel, where it is only compiled.
  template <class... Parameters, class... Arguments>
  __host__ __device__ void operator()([[maybe_unused]] void (*kernel)(Parameters...),
                                      [[maybe_unused]] const launch_shape& shape,
                                      const Arguments&... arguments) {
#if !defined(__CUDA_ARCH__)
    if (shape.grid.x == 0 || error_ != cudaSuccess) return;
    std::tuple<Parameters...> copies(arguments...);
    std::array<void*, sizeof...(Parameters)> addresses = std::apply(
        [](auto&... copy) { return std::array<void*, sizeof...(Parameters)>{&copy...}; }, copies);
    cudaKernelNodeParams node{};
    node.func = reinterpret_cast<void*>(kernel);
    node.gridDim = shape.grid;
    node.blockDim = shape.block;
    node.sharedMemBytes = static_cast<unsigned>(shape.dynamic_shared);
    node.kernelParams = addresses.data();
    put(node, std::apply(
                  [&](const auto&... copy) {
                    return bytes_of(node.func, node.gridDim, node.blockDim, node.sharedMemBytes,
                                    copy...);
                  },
                  copies));
#else
    (static_cast<void>(arguments), ...);
#endif
  }
  template <class... Parameters, class... Arguments>
  __host__ __device__ void unordered(void (*kernel)(Parameters...), const launch_shape& shape,
                                     const Arguments&... arguments) {
    (*this)(kernel, shape, arguments...);
  }

  /// Adds the nodes of task(program, grids).
  template <class Program, class Task>
  __host__ __device__ void then(const Program& program, const Task& task) {
    task(program, *this);
  }

  [[nodiscard]] __host__ __device__ static constexpr bool from_kernel() { return false; }
  [[nodiscard]] unsigned launched() const { return static_cast<unsigned>(next_ - first_); }
  [[nodiscard]] cudaError_t error() const { return error_; }

 private:
  template <class... Parts>
  [[nodiscard]] static std::vector<std::byte> bytes_of(const Parts&... parts) {
    std::vector<std::byte> bytes((sizeof(Parts) + ...));
    std::size_t end = 0;
    (std::memcpy(&bytes[std::exchange(end, end + sizeof parts)], &parts, sizeof parts), ...);
    return bytes;
  }

  /// Adds the next node or sets its parameters, of which `bytes` are the bytes.
  void put(const cudaKernelNodeParams& parameters, std::vector<std::byte> bytes) {
    if (executable_ == nullptr) {
      cudaGraphNode_t added = nullptr;
      const bool is_first = next_ == first_;
      error_ = cudaGraphAddKernelNode(&added, graph_, is_first ? nullptr : &nodes_->back().node,
                                      is_first ? 0 : 1, &parameters);
      if (error_ == cudaSuccess) nodes_->push_back({added, {}});
    } else if (next_ == nodes_->size()) {
      error_ = cudaErrorInvalidValue;  // the run has more grids than the graph has nodes
    } else if ((*nodes_)[next_].parameters != bytes) {
      error_ = cudaGraphExecKernelNodeSetParams(executable_, (*nodes_)[next_].node, &parameters);
    }
    if (error_ == cudaSuccess) (*nodes_)[next_++].parameters = std::move(bytes);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<kernel_node>* nodes_;
  std::size_t first_;
  std::size_t next_;
  cudaError_t error_ = cudaSuccess;
};

/// A loop that the runs of one program share: each Program has a type of its own. `decides` is
/// whether a grid before the loop decides whether the first iteration runs; otherwise it always
/// does. Movable. A run that has launched the loop may end, and another one launch it, before it
/// has run: launches of a graph run one after another, each with its own parameters.
template <class Program, bool decides>
class reusable_loop : executable_graph {
 public:
  reusable_loop() = default;

  /// Launches the loop into `stream`. `before(condition, grids)` launches the grid that decides by
  /// condition.again(). `body(condition, grids)` launches an iteration. Returns the number of its
  /// grids.
  /// \throws unavailable if the driver refuses such a loop; cuda_error
  template <class Body, class Before>
  unsigned launch(cudaStream_t stream, const Body& body, const Before& before) {
    const relaxed_capture_scope here;  // another thread may be capturing
    if (graph_ == nullptr || !set_parameters(body, before)) make(body, before);
    executable_graph::launch(stream);
    return grids_of_body_;
  }

 private:
  template <class Body, class Before>
  void make(const Body& body, const Before& before) {
    graph_.reset();  // if an exception ends this function, the next call begins it again
    nodes_.clear();
    cudaGraph_t created = nullptr;
    check(cudaGraphCreate(&created, 0), "creating a graph");
    unique_graph made(created, {current_context()});
    const cudaGraphConditionalHandle handle = make_condition(created, !decides);
    condition_ = loop_condition(handle);
    if constexpr (decides) {
      node_launcher grids(created, nodes_);
      before(condition_, grids);
      check(grids.error(), "adding the decision about a loop to a graph");
    }
    before_ = nodes_.size();
    std::span<const cudaGraphNode_t> last;
    if constexpr (decides) last = {&nodes_.back().node, 1};
    const while_node loop = add_while_node(created, last, handle);
    node_launcher grids(loop.body, nodes_);
    body(condition_, grids);
    check(grids.error(), "adding a round to the loop of a graph");
    grids_of_body_ = grids.launched();
    instantiate_loop(made);
    graph_ = std::move(made);
  }

  /// Sets the parameters of all nodes. Returns false if the driver or the number of grids does not
  /// allow it: then the graph must be made again.
  template <class Body, class Before>
  [[nodiscard]] bool set_parameters(const Body& body, const Before& before) {
    if constexpr (decides) {
      node_launcher grids(get(), nodes_, 0);
      before(condition_, grids);
      if (!has_set(grids, before_)) return false;
    }
    node_launcher grids(get(), nodes_, before_);
    body(condition_, grids);
    return has_set(grids, grids_of_body_);
  }
  [[nodiscard]] static bool has_set(const node_launcher& grids, std::size_t count) {
    if (grids.error() == cudaSuccess && grids.launched() == count) return true;
    static_cast<void>(cudaGetLastError());  // clears the error
    return false;
  }

  unique_graph graph_;
  loop_condition condition_;
  std::vector<kernel_node> nodes_;  // those before the loop, then those of its body
  std::size_t before_ = 0;
  unsigned grids_of_body_ = 0;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#endif
