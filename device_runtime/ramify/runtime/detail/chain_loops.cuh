// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// chain_loops: the loops in graphs that a launch chain puts into its stream.

#include <ramify/runtime/detail/borrowed.cuh>
#include <ramify/runtime/detail/loop_nodes.cuh>
#include <ramify/runtime/detail/round_launcher.cuh>
#include <ramify/runtime/graph_loop.cuh>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A program whose rounds no graph's loop launches. Its grids are those of `Program`.
template <class Program>
struct without_loop : Program {
  void launch_repeated() const = delete;  // hides that of Program
};

/// Stands for the loops of a program without loops.
struct no_loops {
  static void are_complete() {}
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#if RAMIFY_ON_CUDA

#include <optional>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The loops of one chain. In all functions, `body(condition, grids)` launches the grids of an
/// iteration, and `decide(condition, grids)` launches the grid before the loop that decides by
/// condition.again() whether the first iteration runs. Launches of one executable graph run one
/// after another. So that runs in different streams stay independent, other chains get a loop of
/// this one only after are_complete().
template <class Program>
class chain_loops {
 public:
  chain_loops() = default;
  chain_loops(const chain_loops&) = delete;
  chain_loops& operator=(const chain_loops&) = delete;
  ~chain_loops() {
    if (!may_run_) return;
    looping_.discard();
    completing_.discard();
  }

  /// States that all launches of the loops are complete.
  void are_complete() { may_run_ = false; }

  /// Launches a loop whose first iteration always runs. `is_traced` is whether a trace records its
  /// grids. \throws unavailable if the driver refuses such a loop; cuda_error
  template <class Body>
  void launch(cudaStream_t stream, bool is_traced, const Body& body) {
    if (!is_traced) return launch_shared(looping_, stream, body, nothing_before{});
    own_.emplace(launched_into_stream(body));
    own_->launch(stream);
  }

  /// Launches a loop after `decide`. No trace may record its grids. \throws unavailable if the
  /// driver refuses such a loop; cuda_error
  template <class Body, class Decide>
  void launch_if_due(cudaStream_t stream, const Body& body, const Decide& decide) {
    launch_shared(completing_, stream, body, decide);
  }

  /// Adds a loop whose first iteration always runs to the graph that captures `stream`.
  /// \throws cuda_error
  template <class Body>
  static void capture(cudaStream_t stream, const Body& body) {
    capture_loop(stream, launched_into_stream(body));
  }
  /// Adds a loop after `decide` to the graph that captures `stream`. \throws cuda_error
  template <class Body, class Decide>
  static void capture_if_due(cudaStream_t stream, const Body& body, const Decide& decide) {
    capture_loop(stream, launched_into_stream(body), launched_into_stream(decide));
  }

 private:
  /// Returns a function for graph_loop that launches the grids of `put` into a stream.
  template <class Put>
  [[nodiscard]] static auto launched_into_stream(const Put& put) {
    return [put](cudaStream_t stream, const loop_condition& condition) {
      round_launcher grids(stream);
      put(condition, grids);
      check(grids.error(), "launching a round in a graph");
    };
  }

  template <bool decides, class Body, class Before>
  void launch_shared(borrowed<reusable_loop<Program, decides>>& loop, cudaStream_t stream,
                     const Body& body, const Before& before) {
    if (!loop) loop = borrowed<reusable_loop<Program, decides>>(current_context());
    may_run_ = true;
    loop->launch(stream, body, before);
  }

  borrowed<reusable_loop<Program, false>> looping_;
  borrowed<reusable_loop<Program, true>> completing_;
  std::optional<graph_loop> own_;
  bool may_run_ = false;  // a shared loop may still run
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#endif
