// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy task_per_node.

#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/traverse/config.hpp>
#include <ramify/traverse/task_per_node.cuh>
#include <ramify/traverse/traversal.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// One run. Not movable, because the recursion holds the address of the run's control.
template <class Node, class Expand, class Visit, class Reduce, class Value>
class task_per_node_run {
  using context = task_per_node_context<Node, Expand, Visit, Reduce, Value>;
  using tree = recursion<frontier_node<Node>, context>;

 public:
  /// Starts a run; see traverse_async(). Requires a valid configuration, and a
  /// relaxed_capture_scope if `captured`, which states whether `stream` is being captured.
  task_per_node_run(const traversal<Node, Expand, Visit, Reduce, Value>& what, cudaStream_t stream,
                    const traverse_config& config, scratch_memory given, bool captured)
      : capacity_(capacity_of(config)),
        captured_(captured),
        limit_(*current_launch_limits().pending_launches),
        loop_(runtime::choose_loop(config.flat_loop, "traverse_config.flat_loop")),
        choice_(choice_for(config, limit_, loop_, captured)),
        scratch_(checked(given, config, captured), scratch_bytes(config), stream),
        memory_(scratch_.data()),
        parts_(memory_, config),
        control_(parts_.control, choice_, limit_, stream, config.trace),
        shared_{parts_.totals, what.expand, what.visit, what.reduce, what.identity},
        tree_(parts_.tree, capacity_, control_, context::threads, 0, child_streams::fire_and_forget,
              shared_, config.launches, loop_) {
    control_.launched(launch(clear_cells<Value>, {parts_.totals.count / cell_threads, cell_threads},
                             stream, parts_.totals, what.identity, control_.ticket()),
                      "launching clear_cells");
    with_capacity_in_message([&] { tree_.start(root_task(what.root), 1); });
  }
  task_per_node_run(const task_per_node_run&) = delete;
  task_per_node_run& operator=(const task_per_node_run&) = delete;

  /// Waits for the run and returns the reduction over all nodes. Must be called once only, but for
  /// a captured run once or more often after launches of its graph.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  Value get(traverse_report& report) {
    with_capacity_in_message([&] { tree_.finish(); });
    control_.launched(launch(reduce_cells<Value, Reduce>, {1, cell_threads}, control_.stream(),
                             parts_.totals, shared_.reduce, control_.ticket()),
                      "launching reduce_cells");
    Value value = shared_.identity;
    check(cudaMemcpyAsync(&value, parts_.totals.values, sizeof value, cudaMemcpyDeviceToHost,
                          control_.stream()),
          "reading the result");
    control_.wait();
    control_.read_trace();
    static_cast<run_report&>(report) = control_.report();
    report.scratch_bytes = scratch_.size();
    return value;
  }

  [[nodiscard]] bool captured() const { return captured_; }

  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, config);
    return sizing.size();
  }

 private:
  struct pieces {
    pieces(memory_layout& memory, const traverse_config& config) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      totals.values = memory.take<Value>(totals.count);
      totals.locked = memory.take<unsigned>(totals.count);
      totals.blocks = memory.take<unsigned>(1);
      tree = memory.take<std::byte>(recursion<frontier_node<Node>, context>::scratch_bytes(
          capacity_of(config), config.launches));
    }
    void* control;
    total_cells<Value> totals;
    std::byte* tree;
  };

  static std::size_t capacity_of(const traverse_config& config) {
    constexpr std::size_t default_capacity = std::size_t{1} << 20;
    return config.capacity == 0 ? default_capacity : config.capacity;
  }

  static route_choice choice_for(const traverse_config& config, std::size_t limit,
                                 const runtime::loop_choice& loop, bool captured) {
    const route_choice choice =
        choose_route(config.route, limit, 2, {route::device, "no level waits for the host"});
    if (captured && choice.taken == route::flat) runtime::require_capturable(loop, tree::has_loop);
    return choice;
  }

  static scratch_memory checked(scratch_memory given, const traverse_config& config,
                                bool captured) {
    check_scratch(given, scratch_bytes(config), captured, "traverse");
    return given;
  }

  // Calls `call`, and adds the field that is too small to the message of a std::length_error.
  template <class Call>
  void with_capacity_in_message(Call call) {
    try {
      call();
    } catch (const std::length_error& e) {
      throw std::length_error(std::string("traverse: ") + e.what() +
                              "; raise traverse_config.capacity, which is " +
                              std::to_string(capacity_));
    }
  }

  std::size_t capacity_;
  bool captured_;
  std::size_t limit_;
  runtime::loop_choice loop_;
  route_choice choice_;
  scratch_space scratch_;
  memory_layout memory_;
  pieces parts_;
  run_control control_;
  context shared_;
  tree tree_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
