// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy work_sharing.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/graph_loop.cuh>
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
    if (is_being_captured(control_.stream())) {
      throw std::logic_error(
          "traverse: get() while the stream is being captured; end the capture "
          "and launch the graph first");
    }
    control_.report() = started_;
    const round_state state = run_rounds();
    control_.launched(
        launch(reduce_totals<context>, {1, tuning::threads}, control_.stream(), *shared_),
        "launching reduce_totals");
    Value value = shared_->identity;
    check(cudaMemcpyAsync(&value, parts_.result, sizeof(Value), cudaMemcpyDeviceToHost,
                          control_.stream()),
          "reading the result");
    control_.wait();
    control_.read_trace();
    control_.report().scratch_bytes = scratch_.size();
    control_.report().deepest_level = std::max(control_.report().deepest_level, state.rounds);
    static_cast<run_report&>(report) = control_.report();
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

  // What begins the flat rounds; automatic: the host begins a few, a graph the others.
  struct loop_choice {
    flat_loop requested;
    std::string reason;
  };

  // What is decided before any memory is allocated or any grid is launched.
  struct preparation {
    sizes all;
    std::size_t bytes;
    std::size_t limit;
    loop_choice loop;
    route_choice route;
    bool captured;
  };

  work_sharing_run(const definition& what, cudaStream_t stream, const traverse_config& config,
                   scratch_memory given, const preparation& prepared)
      : scratch_(given, prepared.bytes, stream),
        memory_(scratch_.data()),
        parts_(memory_, prepared.all),
        control_(parts_.control, prepared.route, prepared.limit, stream, config.trace),
        loop_(prepared.loop),
        captured_(prepared.captured) {
    shared_.emplace(context{{parts_.lists[0], parts_.lists[1]},
                            prepared.all.capacity,
                            parts_.state,
                            parts_.totals,
                            parts_.result,
                            prepared.all.blocks,
                            prepared.all.stack,
                            what.expand,
                            what.visit,
                            what.reduce,
                            what.identity,
                            control_.slots(),
                            control_.status(),
                            control_.ticket()});
    start(what.root);
    started_ = control_.report();
  }

  static preparation prepare(cudaStream_t stream, const traverse_config& config,
                             scratch_memory given, bool captured) {
    if (captured && given.data == nullptr) {
      throw std::invalid_argument(
          "traverse: scratch.data is null; a traversal in a stream that is being captured requires "
          "scratch memory of traverse_scratch_bytes() bytes");
    }
    const sizes all = sizes_for(config);
    const std::size_t bytes = scratch_bytes(all);
    check_scratch(given, bytes, "traverse");
    const std::size_t limit = *current_launch_limits().pending_launches;
    const loop_choice loop = choose_loop(config.flat_loop);
    const bool by_host = loop.requested == flat_loop::host;
    const route_choice choice =
        captured && by_host
            ? choose_route(config.route, limit, 2,
                           {route::device, "captured without a graph's loop"})
            : choose_route(config.route, limit, 2, work_sharing_plans(by_host), stream);
    if (captured && by_host && choice.taken == route::flat) {
      throw unavailable("traverse: rounds begun by the host cannot be captured; flat because: " +
                        choice.reason + "; by the host because: " + loop.reason);
    }
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

  static loop_choice choose_loop(flat_loop requested) {
    if (requested == flat_loop::host) return {requested, "asked for"};
    const std::string obstacle = graph_loop_obstacle();
    if (obstacle.empty()) return {requested, requested == flat_loop::graph ? "asked for" : ""};
    if (requested == flat_loop::graph) {
      throw unavailable("traverse_config.flat_loop graph is not available: " + obstacle);
    }
    return {flat_loop::host, obstacle};
  }

  void start(const Node& root) {
    check(cudaMemsetAsync(shared_->state, 0, sizeof(round_state), control_.stream()),
          "clearing the state of the rounds");
    control_.launched(launch(clear_totals<context>, {shared_->max_blocks, tuning::threads},
                             control_.stream(), *shared_),
                      "launching clear_totals");
    control_.launched(launch(visit_root<context>, {1, 1}, control_.stream(), root, *shared_),
                      "launching visit_root");
    if (!control_.on_device_route()) {
      if (captured_ || loop_.requested == flat_loop::graph) {
        launch_loop();
      } else {
        launched_at_start_ = launch_rounds();
      }
    } else if constexpr (device_launch_available) {
      control_.launched(launch(resume_rounds<context>, {1, 1}, control_.stream(), *shared_),
                        "launching resume_rounds");
    }
  }

  // Runs the rounds that are still due, in grids that launch no others, and returns the last state.
  round_state run_rounds() {
    for (unsigned launched = launched_at_start_;;) {
      round_state state{};
      check(cudaMemcpyAsync(&state, shared_->state, sizeof state, cudaMemcpyDeviceToHost,
                            control_.stream()),
            "reading the state of the rounds");
      control_.wait();
      const unsigned count = state.count[state.filled];
      if (count == 0) {
        control_.report().graph_grids = state.flat_grids - launched;
        return state;
      }
      if (count > shared_->capacity) {
        throw std::length_error("traverse: the frontier had " + std::to_string(count) +
                                " nodes; raise traverse_config.capacity, which is " +
                                std::to_string(shared_->capacity));
      }
      if (loop_.requested != flat_loop::graph) launched += launch_rounds();
      if (loop_.requested != flat_loop::host) launch_loop();
    }
  }

  [[nodiscard]] launch_status launch_flat_round(cudaStream_t stream,
                                                const loop_condition& loop) const {
    context flat = *shared_;
    flat.slots = {};
    return launch(flat_round, {flat.max_blocks, tuning::threads, flat.shared_bytes()}, stream, flat,
                  loop);
  }

  // Launches flat rounds and returns how many: one if the host reads the state after each, else a
  // few. Those may be all, or they keep the device busy while the host makes a graph.
  unsigned launch_rounds() {
    const bool by_host = loop_.requested == flat_loop::host;
    const unsigned rounds = by_host ? 1 : opening_rounds;
    for (unsigned i = 0; i < rounds; ++i) {
      control_.launched(launch_flat_round(control_.stream(), {}), "launching a round");
    }
    control_.report().looped_by = flat_loop::host;
    control_.report().flat_loop_reason =
        by_host ? loop_.reason : "too few rounds for a graph to pay";
    return rounds;
  }

  // Enqueues all remaining rounds as a graph loop. If no graph can be made, the host goes on.
  void launch_loop() {
    const auto body = [this](cudaStream_t stream, const loop_condition& condition) {
      check(launch_flat_round(stream, condition).code(), "launching a round");
    };
    if (captured_ && is_being_captured(control_.stream())) {
      capture_loop(control_.stream(), body);
      loop_.reason = "the stream was being captured";
    } else {
      graph_ = make_flat_loop(loop_.requested, control_.stream(), body, loop_.reason);
      if (!graph_) {
        loop_.requested = flat_loop::host;
        return;
      }
      graph_->launch(control_.stream());
    }
    control_.report().looped_by = flat_loop::graph;
    control_.report().flat_loop_reason = loop_.reason;
  }

  scratch_space scratch_;
  memory_layout memory_;
  pieces parts_;
  run_control control_;
  loop_choice loop_;
  bool captured_;
  std::optional<context> shared_;
  std::optional<graph_loop> graph_;
  unsigned launched_at_start_ = 0;  // flat rounds
  run_report started_;              // of the grids that the constructor launched
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
