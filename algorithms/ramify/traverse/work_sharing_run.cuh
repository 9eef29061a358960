// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy work_sharing.

#include <algorithm>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/route_plan.hpp>
#include <ramify/runtime/run_control.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/traversal.cuh>
#include <ramify/traverse/work_sharing.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// Flat rounds that the host launches before it makes a graph for the remaining ones.
inline constexpr unsigned opening_rounds = 4;

/// Returns the launches of ten rounds on each route: a bushy tree of a few million nodes has as
/// many. After each round that the host begins it reads twice: the state of the rounds and the
/// status.
[[nodiscard]] inline route_plans work_sharing_plans(bool by_host) {
  constexpr double rounds = 10;
  constexpr double opening = opening_rounds;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  const route_plan graph{
      .host_launches = opening, .graph_iterations = rounds - opening, .graph_loops = 1};
  if (by_host) return {{.host_round_trips = 2 * rounds}, device, route::device};
  return {graph, device, route::flat};
}

/// One run. Not movable.
template <class Node, class Expand, class Visit, class Reduce, class Value>
class work_sharing_run {
  using context = work_sharing_context<Node, Expand, Visit, Reduce, Value>;
  using tuning = work_sharing_tuning<Node>;
  using definition = traversal<Node, Expand, Visit, Reduce, Value>;
  static constexpr auto flat_round = traverse_round_flat<context>;

 public:
  /// Starts a run; see traverse_async(). Requires a valid configuration, and a
  /// relaxed_capture_scope if `captured`, which states whether `stream` is being captured.
  work_sharing_run(const definition& what, cudaStream_t stream, const traverse_config& config,
                   scratch_memory given, bool captured)
      : work_sharing_run(what, stream, config, given, prepare(stream, config, given, captured)) {}
  work_sharing_run(const work_sharing_run&) = delete;
  work_sharing_run& operator=(const work_sharing_run&) = delete;

  /// Waits for the run and returns the reduction over all nodes. Must be called once only, but for
  /// a captured run once or more often after launches of its graph.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  Value get(traverse_report& report) {
    chain_.finish();
    const context& shared = chain_.program();
    control_.launched(
        launch(reduce_totals<context>, {1, tuning::threads}, control_.stream(), shared),
        "launching reduce_totals");
    Value value = shared.identity;
    check(cudaMemcpyAsync(&value, shared.result, sizeof(Value), cudaMemcpyDeviceToHost,
                          control_.stream()),
          "reading the result");
    control_.wait();
    control_.read_trace();
    const round_state& state = chain_.state();
    static_cast<run_report&>(report) = control_.report();
    report.scratch_bytes = scratch_.size();
    report.deepest_level = std::max(report.deepest_level, state.rounds);
    report.rounds = state.rounds;
    report.peak_frontier_nodes = state.peak;
    return value;
  }

  [[nodiscard]] bool captured() const { return captured_; }

  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    return scratch_bytes(sizes_for(config));
  }

 private:
  struct sizes {
    unsigned stack;     // entries of a warp's stack
    unsigned blocks;    // of the largest round
    unsigned capacity;  // of each list
  };

  struct pieces {
    pieces(memory_layout& memory, const sizes& all) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      state = memory.take<round_state>(1);
      totals = memory.take<Value>(std::size_t{all.blocks} * tuning::threads);
      result = memory.take<Value>(1);
      for (auto& list : lists) list = memory.take<frontier_node<Node>>(all.capacity);
    }
    void* control;
    round_state* state;
    Value* totals;
    Value* result;
    frontier_node<Node>* lists[2];
  };

  // What is decided before any memory is allocated or any grid is launched.
  struct preparation {
    sizes all;
    std::size_t bytes;
    std::size_t limit;
    runtime::loop_choice loop;
    route_choice route;
    bool captured;
  };

  work_sharing_run(const definition& what, cudaStream_t stream, const traverse_config& config,
                   scratch_memory given, const preparation& prepared)
      : scratch_(given, prepared.bytes, stream),
        memory_(scratch_.data()),
        parts_(memory_, prepared.all),
        control_(parts_.control, prepared.route, prepared.limit, stream, config.trace),
        chain_(control_, make_context(what, prepared, parts_), prepared.loop),
        captured_(prepared.captured) {
    const context& shared = chain_.program();
    check(cudaMemsetAsync(shared.state, 0, sizeof(round_state), stream),
          "clearing the state of the rounds");
    control_.launched(
        launch(clear_totals<context>, {shared.max_blocks, tuning::threads}, stream, shared),
        "launching clear_totals");
    control_.launched(launch(visit_root<context>, {1, 1}, stream, what.root, shared),
                      "launching visit_root");
    chain_.start();
  }

  static context make_context(const definition& what, const preparation& prepared,
                              const pieces& parts) {
    const bool by_host = prepared.loop.wanted == flat_loop::host;
    return {{},
            {parts.lists[0], parts.lists[1]},
            prepared.all.capacity,
            parts.state,
            parts.totals,
            parts.result,
            prepared.all.blocks,
            prepared.all.stack,
            by_host ? 1 : opening_rounds,
            what.expand,
            what.visit,
            what.reduce,
            what.identity};
  }

  static preparation prepare(cudaStream_t stream, const traverse_config& config,
                             scratch_memory given, bool captured) {
    const sizes all = sizes_for(config);
    const std::size_t bytes = scratch_bytes(all);
    check_scratch(given, bytes, captured, "traverse");
    const std::size_t limit = *current_launch_limits().pending_launches;
    const runtime::loop_choice loop =
        runtime::choose_loop(config.flat_loop, "traverse_config.flat_loop");
    const bool by_host = loop.wanted == flat_loop::host;
    const route_choice choice =
        captured && by_host
            ? choose_route(config.route, limit, 2,
                           {route::device, "captured without a graph's loop"})
            : choose_route(config.route, limit, 2, work_sharing_plans(by_host), stream);
    if (captured && choice.taken == route::flat) runtime::require_capturable(loop, true);
    return {all, bytes, limit, loop, choice, captured};
  }

  static sizes sizes_for(const traverse_config& config) {
    constexpr unsigned entry = tuning::warps * sizeof(frontier_node<Node>);
    constexpr std::size_t preferred = entry * std::size_t{tuning::preferred_stack};
    std::size_t bytes = set_max_dynamic_shared(flat_round, preferred);
    if constexpr (device_launch_available) {
      bytes = std::min(bytes, set_max_dynamic_shared(traverse_round<context>, preferred));
    }
    const auto stack = static_cast<unsigned>(bytes / entry);
    if (stack < tuning::min_stack) {
      throw unavailable("traverse: nodes of " + std::to_string(sizeof(Node)) +
                        " bytes are too large for this device's shared memory");
    }
    const unsigned blocks = resident_blocks(flat_round, tuning::threads, stack * entry);
    const unsigned least = 2 * blocks * tuning::warps * stack;
    if (config.capacity != 0 && config.capacity < least) {
      throw std::invalid_argument("traverse_config.capacity is " + std::to_string(config.capacity) +
                                  "; on this device it must be 0 (automatic) or at least " +
                                  std::to_string(least));
    }
    // On small devices it exceeds the minimum, so that steps keep their full width.
    constexpr unsigned default_capacity = 1u << 16;
    return {stack, blocks,
            config.capacity == 0 ? std::max(least, default_capacity)
                                 : static_cast<unsigned>(config.capacity)};
  }

  [[nodiscard]] static std::size_t scratch_bytes(const sizes& all) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, all);
    return sizing.size();
  }

  scratch_space scratch_;
  memory_layout memory_;
  pieces parts_;
  run_control control_;
  runtime::launch_chain<context> chain_;
  bool captured_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
