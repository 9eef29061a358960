// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy task_per_node.

#include <optional>
#include <ramify/traverse/task_per_node.cuh>
#include <ramify/traverse/traversal_run.cuh>

namespace ramify::detail::traverse::inline RAMIFY_BUILD {

/// The part of a traversal_run that depends on the strategy.
template <class Traversal>
class task_per_node_run {
  using Node = typename Traversal::node_type;
  using Value = typename Traversal::value_type;
  using context = task_per_node_context<Traversal>;
  using cells = total_cells<Value>;
  using recursion_of_tasks = recursion<frontier_node<Node>, context>;

 public:
  /// What determines the scratch memory.
  struct sizes {
    std::size_t capacity;  ///< of a list of tasks
    launch_granularity launches;
  };
  [[nodiscard]] static sizes sizes_for(const traverse_options& options) {
    constexpr std::size_t default_capacity = std::size_t{1} << 20;
    return {options.capacity == 0 ? default_capacity : options.capacity, options.launches};
  }

  /// Chooses the route. \throws unavailable
  static void make_choices(run_setup& setup) {
    setup.choose_route(2, route_choice{route::device, "no level waits for the host"});
  }

  task_per_node_run(memory_layout& memory, const sizes& wanted)
      : totals(memory.take<Value>(cells::count)),
        sizes_(wanted),
        locked_(memory.take<unsigned>(locked_count)),
        tasks_memory_(memory.take<std::byte>(
            recursion_of_tasks::scratch_bytes(wanted.capacity, wanted.launches))) {}

  /// Starts the traversal. Asynchronous. \throws std::length_error if `capacity` is too small
  void start(run_control& control, const loop_choice& loop, const Node& root,
             const Traversal& tree) {
    const context shared{{totals, locked_, locked_ + cells::count}, tree};
    tasks_.emplace(tasks_memory_, sizes_.capacity, control, context::threads, 0u,
                   child_streams::fire_and_forget, shared, sizes_.launches, loop);
    constexpr unsigned blocks = (cells::count + total_threads - 1) / total_threads;
    control.launch_grid("launching clear_totals", clear_totals<Value>, {blocks, total_threads},
                        totals, total_count, tree.identity, control.ticket());
    clear_memory(locked_, locked_count, control.stream(), "clearing the locks of the totals");
    with_capacity_in_message([&] { tasks_->start(root_task(root), 1); });
  }

  /// Waits for the run, and completes it on the host if necessary. Returns whether it was.
  bool finish() {
    bool has_launched = false;
    with_capacity_in_message([&] { has_launched = tasks_->finish(); });
    return has_launched;
  }
  /// Returns whether the grids of start() complete the traversal.
  [[nodiscard]] bool completes_in_stream() const { return tasks_->completes_in_stream(); }
  /// Adds nothing: this strategy has no counts of its own in the report.
  void complete(traverse_report&) const {}

  Value* totals;  ///< one for each cell
  static constexpr unsigned total_count = cells::count;

 private:
  /// A flag for each cell, and the number of blocks.
  static constexpr unsigned locked_count = cells::count + 1;

  /// Calls `call`, and adds the field that is too small to the message of a std::length_error.
  template <class Call>
  void with_capacity_in_message(Call call) {
    runtime::with_capacity_in_message("traverse", "traverse_options.capacity", sizes_.capacity,
                                      call);
  }

  sizes sizes_;
  unsigned* locked_;
  std::byte* tasks_memory_;
  std::optional<recursion_of_tasks> tasks_;
};

}  // namespace ramify::detail::traverse::inline RAMIFY_BUILD
