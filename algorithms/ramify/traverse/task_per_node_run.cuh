// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy task_per_node.

#include <ramify/traverse/task_per_node.cuh>
#include <ramify/traverse/traversal_run.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// One run of task_per_node.
template <class Traversal>
class task_per_node_run : public traversal_run<Traversal> {
  using base = traversal_run<Traversal>;
  using typename base::Node;
  using typename base::Value;
  using context = task_per_node_context<Traversal>;
  using cells = total_cells<Value>;
  using recursion_of_tasks = recursion<frontier_node<Node>, context>;

 public:
  /// Starts a run; see traverse_async().
  task_per_node_run(const traversal_setup& setup, const Node& root, const Traversal& tree)
      : base(setup, tree, setup.choose(route_choice{route::device, "no level waits for the host"}),
             scratch_bytes(setup.config), cells::count),
        capacity_(capacity_of(setup.config)),
        parts_(this->memory_, setup.config),
        tasks_(parts_.tasks, capacity_, this->control_, context::threads, 0,
               child_streams::fire_and_forget,
               {{this->totals_, parts_.locked, parts_.locked + cells::count}, tree},
               setup.config.launches, setup.loop) {
    check(cudaMemsetAsync(parts_.locked, 0, locked_count * sizeof(unsigned), setup.stream),
          "clearing the locks of the totals");
    with_capacity_in_message([&] { tasks_.start(root_task(root), 1); });
  }

  /// Returns the device memory that a run needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const traverse_config& config) {
    memory_layout sizing = base::measured(cells::count);
    const pieces measured(sizing, config);
    return sizing.size();
  }

 private:
  /// A flag for each cell, and the number of blocks.
  static constexpr unsigned locked_count = cells::count + 1;

  struct pieces {
    pieces(memory_layout& memory, const traverse_config& config)
        : locked(memory.take<unsigned>(locked_count)),
          tasks(memory.take<std::byte>(
              recursion_of_tasks::scratch_bytes(capacity_of(config), config.launches))) {}
    unsigned* locked;
    std::byte* tasks;
  };

  static std::size_t capacity_of(const traverse_config& config) {
    constexpr std::size_t default_capacity = std::size_t{1} << 20;
    return config.capacity == 0 ? default_capacity : config.capacity;
  }

  void finish() override {
    with_capacity_in_message([&] { tasks_.finish(); });
  }

  /// Calls `call`, and adds the field that is too small to the message of a std::length_error.
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
  pieces parts_;
  recursion_of_tasks tasks_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
