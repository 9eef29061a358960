// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The code that the rungs share: the graph, the levels, the visit of an edge, launch slots, and
/// the host side of a run.
///
///     0 ─ 1 ─ 3      offsets <-- [0, 2, 4, 5, 6, 6]    levels --> [0, 1, 1, 2, unreached]
///       └ 2     4    targets <-- [1, 2, 0, 3, 0, 1]
///
/// The vertices of a level are the frontier. A step visits all edges of the frontier: targets that
/// have no level get the next one, and are the next frontier. The host launches the steps, and
/// reads after each one whether a vertex got a level.

#include <cstdint>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>

namespace ladder {

using namespace ramify;

/// A number of edges, or an index of an edge.
using edge_count = unsigned long long;

/// Threads of a block. The CPU executor runs threads as fibers, so its blocks are smaller.
inline constexpr unsigned threads = RAMIFY_ON_CUDA ? 256 : 64;

/// A vertex with at least this number of edges gets a child grid (rungs 4 to 6). A launch costs the
/// launching thread 6.5 us (H200), in which a thread visits a few dozen edges.
inline constexpr edge_count heavy_degree = RAMIFY_ON_CUDA ? 1024 : 64;

inline constexpr std::int32_t unreached = -1;

/// A graph in compressed sparse rows, in device memory: vertex v has the edges offsets[v] to
/// offsets[v + 1] - 1. For each edge u -> v the graph contains v -> u.
struct csr {
  const std::int64_t* offsets;
  const std::int32_t* targets;
  unsigned vertices;
  edge_count edges;

  [[nodiscard]] __device__ edge_count first(unsigned v) const {
    return static_cast<edge_count>(offsets[v]);
  }
  [[nodiscard]] __device__ edge_count end(unsigned v) const { return first(v + 1); }
  [[nodiscard]] __device__ edge_count degree(unsigned v) const { return end(v) - first(v); }
  [[nodiscard]] __device__ unsigned target(edge_count e) const {
    return static_cast<unsigned>(targets[e]);
  }
};

/// The number of vertices (31 bits) and of their edges (33 bits) of a frontier, in one integer, so
/// that one atomic operation changes both.
struct frontier_size {
  edge_count bits;

  static constexpr unsigned edge_bits = 33;
  [[nodiscard]] static __host__ __device__ frontier_size of(unsigned vertices, edge_count edges) {
    return {static_cast<edge_count>(vertices) << edge_bits | edges};
  }
  [[nodiscard]] __host__ __device__ unsigned vertices() const {
    return static_cast<unsigned>(bits >> edge_bits);
  }
  [[nodiscard]] __host__ __device__ edge_count edges() const {
    return bits & ((edge_count{1} << edge_bits) - 1);
  }
};

/// The state that all kernels of a run share. Initially zero.
struct run_state {
  frontier_size listed[2];  ///< the size of each list (rungs 6 to 8)
  std::int32_t last_level;  ///< the largest level of a vertex (rungs 1 to 5)
};

/// A list of the vertices of a frontier (rungs 6 to 8), with space for all vertices.
struct frontier_list {
  std::int32_t* vertices;
  edge_count* first_edge;  ///< the number of edges of the vertices before this one (rungs 7, 8)
};

/// A kernel's view of the run. Every grid has its own copy.
struct search_run {
  csr graph;
  std::int32_t* levels;
  frontier_list list[2];
  edge_count* heavy_first;  ///< an element for each thread of a step: see heavy_group
  run_state* state;
  run_status* status;
  launch_slots slots;
  std::int32_t level = 0;  ///< of the frontier
  unsigned filled = 0;     ///< the list of the frontier; the next frontier gets the other one
  unsigned depth = 0;      ///< depth of this grid
  trace_ticket trace{};

  /// Returns whether v is in the frontier. Other threads may give v the next level meanwhile.
  [[nodiscard]] __device__ bool in_frontier(unsigned v) const {
    return load_relaxed(levels[v]) == level;
  }

  /// Visits an edge: its target gets the next level if it has none. Returns true, to one of the
  /// threads that visit the target, if it got the level now. The load saves most atomic operations.
  [[nodiscard]] __device__ bool visit(edge_count e) const {
    std::int32_t& of_target = levels[graph.target(e)];
    return load_relaxed(of_target) == unreached &&
           atomicCAS(&of_target, unreached, level + 1) == unreached;
  }

  /// States whether this thread has given a vertex the next level (rungs 1 to 5). All threads of
  /// the block call it once.
  __device__ void end_step(bool has_reached) const {
    if (__syncthreads_or(has_reached ? 1 : 0) != 0 && threadIdx.x == 0) {
      atomicMax(&state->last_level, level + 1);
    }
  }

  /// Acquires a launch slot, which allows one launch. Returns false, and counts a task without a
  /// slot, if none is free.
  [[nodiscard]] __device__ bool acquire_slot() const {
    if (slots.acquire(*status)) return true;
    atomicAdd(&status->spilled, 1ull);
    return false;
  }

  /// Releases the slot of this grid. All threads of the grid may call it.
  __device__ void release_slot() const {
    if (blockIdx.x == 0 && threadIdx.x == 0) slots.release();
  }

  /// Returns the argument for the children of this grid.
  [[nodiscard]] __device__ search_run below() const {
    search_run child = *this;
    child.depth = depth + 1;
    return child;
  }

  /// Returns true if a launch succeeded. Otherwise releases its slot and records the first failure
  /// for the host.
  __device__ bool launched(const launch_status& how, const char* by) const {
    if (how) {
      status->count_children(1, depth + 1);
      return true;
    }
    slots.release();
    status->record_failure(how.code(), by, depth);
    return false;
  }
};

/// Returns the number of blocks for `count` threads.
[[nodiscard]] __host__ __device__ inline unsigned blocks_for(edge_count count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// The device memory of searches in one graph.
class search_memory {
 public:
  search_memory(unsigned vertices, cudaStream_t stream)
      : levels(vertices, stream),
        heavy_first(std::size_t{blocks_for(vertices)} * threads, stream),
        state(1, stream),
        status(run_control::scratch_bytes, stream),
        vertices_(2 * std::size_t{vertices}, stream),
        first_edge_(2 * std::size_t{vertices}, stream) {}

  [[nodiscard]] frontier_list list(unsigned which) const {
    const std::size_t half = levels.size() * which;
    return {vertices_.data() + half, first_edge_.data() + half};
  }

  device_buffer<std::int32_t> levels;
  device_buffer<edge_count> heavy_first;
  device_buffer<run_state> state;
  device_buffer<std::byte> status;

 private:
  device_buffer<std::int32_t> vertices_;  // of both lists
  device_buffer<edge_count> first_edge_;
};

/// The host side of one run.
class ladder_run {
 public:
  ladder_run(const csr& graph, std::int32_t source, const search_memory& memory,
             cudaStream_t stream, launch_trace* trace)
      : graph_(graph),
        source_(source),
        memory_(memory),
        stream_(stream),
        trace_(trace),
        control_(memory.status.data(), {route::device, "requested"},
                 *current_launch_limits().pending_launches, stream, trace) {}

  /// Clears the levels and the state, and gives the source level 0. Returns the argument for the
  /// kernels of the first step.
  search_run begin() {
    check(cudaMemsetAsync(memory_.state.data(), 0, sizeof(run_state), stream_),
          "clearing a run's state");
    check(cudaMemsetAsync(memory_.levels.data(), 0xff, memory_.levels.size() * sizeof(std::int32_t),
                          stream_),
          "clearing the levels");
    const std::int32_t level = 0;
    put(level, memory_.levels.data() + source_);
    return {graph_,
            memory_.levels.data(),
            {memory_.list(0), memory_.list(1)},
            memory_.heavy_first.data(),
            memory_.state.data(),
            control_.status(),
            control_.slots(),
            0,
            0,
            0,
            control_.ticket()};
  }

  /// Makes the source the first frontier, in list 0, and returns its size.
  frontier_size list_source() {
    std::int64_t ends[2];
    get(ends, graph_.offsets + source_);
    put(source_, memory_.list(0).vertices);
    put(edge_count{0}, memory_.list(0).first_edge);
    return frontier_size::of(1, static_cast<edge_count>(ends[1] - ends[0]));
  }

  /// Launches a grid of a step.
  template <class... Parameters, class... Arguments>
  void launch_grid(void (*kernel)(Parameters...), unsigned blocks, const Arguments&... arguments) {
    control_.launch_grid("launching a grid", kernel, {blocks, threads}, arguments...);
  }

  /// Waits for a step of rungs 1 to 5, and prepares `run` for the next one. Returns false if no
  /// vertex got a level.
  bool next_level(search_run& run) {
    std::int32_t last_level = 0;
    get(last_level, &memory_.state.data()->last_level);
    ++run.level;
    return last_level == run.level;
  }

  /// Waits for a step of rungs 6 to 8, and prepares `run` for the next one. Returns the size of the
  /// next frontier.
  frontier_size next_frontier(search_run& run) {
    ++run.level;
    run.filled = 1 - run.filled;
    frontier_size size{};
    get(size, &memory_.state.data()->listed[run.filled]);
    return size;
  }

  [[nodiscard]] const csr& graph() const { return graph_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// For the rung that calls the library: its source, its output, its trace, and the setter of its
  /// report.
  [[nodiscard]] std::int32_t source() const { return source_; }
  [[nodiscard]] std::int32_t* levels() const { return memory_.levels.data(); }
  [[nodiscard]] launch_trace* trace() const { return trace_; }
  void set_report(const run_report& report) { library_report_ = report; }

  /// Waits for the run, reads the trace, and returns the report. \throws device_launch_error for
  /// the first failed launch in a kernel
  run_report finish() {
    if (library_report_) return *library_report_;
    control_.wait();
    control_.read_trace();
    return control_.report();
  }

 private:
  template <class T>
  void put(const T& value, T* where) {
    check(cudaMemcpyAsync(where, &value, sizeof value, cudaMemcpyHostToDevice, stream_),
          "writing the source");
  }
  template <class T, class U>
  void get(T& value, const U* from) {
    check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream_),
          "reading a run's state");
    check(cudaStreamSynchronize(stream_), "waiting for a step");
  }

  csr graph_;
  std::int32_t source_;
  const search_memory& memory_;
  cudaStream_t stream_;
  launch_trace* trace_;
  run_control control_;
  std::optional<run_report> library_report_;
};

}  // namespace ladder
