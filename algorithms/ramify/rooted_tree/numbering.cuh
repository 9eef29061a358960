// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of the numbering: memory, edges, sort, the launch chain, and the input's faults.

#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/ranking.cuh>
#include <string>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The numbering of a forest of at least one node.
class tree_numbering {
 public:
  /// Takes scratch memory; with a null base it only measures the memory. The work after the
  /// numbering in the stream may overwrite memory from `temporary`. If `needs_ranges`, preorder and
  /// subtree sizes are computed even if they are not requested.
  tree_numbering(memory_layout& persistent, memory_layout& temporary, const tree_shape& shape,
                 const tree_number_arrays& requested, bool needs_ranges)
      : shape_(shape), nodes_(static_cast<unsigned>(shape.nodes)) {
    program_.numbers = requested;
    program_.nodes = nodes_;
    control_memory_ = persistent.take<std::byte>(run_control::scratch_bytes);
    program_.state = persistent.take<tree_state>(1);
    if (is_by_children()) parents_ = persistent.take<std::int32_t>(nodes_);
    // A subtree's range is its preorder number and its size.
    auto& numbers = program_.numbers;
    if (needs_ranges && numbers.preorder == nullptr) {
      numbers.preorder = persistent.take<std::int32_t>(nodes_);
    }
    if (needs_ranges && numbers.subtree_sizes == nullptr) {
      numbers.subtree_sizes = persistent.take<std::int32_t>(nodes_);
    }
    program_.parents = shape.parents.data();
    // Only preorder and postorder depend on the order of siblings.
    needs_edges_ = is_by_children() || numbers.preorder != nullptr ||
                   numbers.postorder != nullptr || needs_ranges;
    if (needs_edges_) {
      program_.edges = edges_ = temporary.take<tree_edge>(nodes_);
      // finish() reads the sort's state, so nothing else may use its memory.
      sort_scratch_.bytes = quicksort_scratch_bytes<tree_edge>(nodes_);
      sort_scratch_.data = persistent.take<std::byte>(sort_scratch_.bytes);
      program_.sorted_from = is_by_children() ? static_cast<unsigned>(shape.children.size()) : 0;
    }
    take_lists(temporary);
  }

  /// Puts the numbering into the stream. \throws cuda_error
  void start(const run_setup& setup) {
    program_.single_root = setup.config.single_root;
    stage_.emplace(control_memory_, setup, program_);
    stage_->chain.write_state(initial_tree_state());
    if (needs_edges_) sort_ = start_sort(setup, stage_->control);
    stage_->start(initial_tree_state());
  }

  /// Waits until the forest is numbered, and returns the report with that of the sort. If the
  /// forest is faulty, no number is written. Call it once; of a run that a graph has captured,
  /// after each launch of the graph.
  /// \throws std::invalid_argument naming the node; cuda_error, device_launch_error
  run_report finish(const run_setup& setup) {
    run_report sort_report;
    if (sort_) sort_report = sort_->get();
    run_report report = stage_->finish();
    add_part(report, sort_report, "the sort");
    tree_state found = stage_->chain.state();
    if (found.unsorted != 0) {
      // The tour could not be linked, because kernels had not completed the sort. The host
      // completes a sort first.
      stage<tour_program> again(control_memory_, setup, program_);
      again.chain.write_state(initial_tree_state());
      add_part(report, start_sort(setup, again.control).get());
      again.start(initial_tree_state());
      add_part(report, again.finish());
      found = again.chain.state();
    }
    throw_fault(found.faults, setup.stream);
    return report;
  }

  [[nodiscard]] const tree_number_arrays& numbers() const { return program_.numbers; }
  [[nodiscard]] const std::int32_t* parents() const {
    return is_by_children() ? parents_ : shape_.parents.data();
  }
  /// Returns the state in device memory.
  [[nodiscard]] const tree_state* state() const { return program_.state; }
  [[nodiscard]] unsigned ranking_levels() const { return program_.top + 1; }

 private:
  using sort_run = decltype(quicksort_async(static_cast<tree_edge*>(nullptr), 0, ascending{}));

  [[nodiscard]] bool is_by_children() const { return !shape_.offsets.empty(); }

  /// Takes the lists of all levels.
  void take_lists(memory_layout& memory) {
    unsigned count = 2 * nodes_;
    auto* elements = memory.take<list_element>(count);
    for (unsigned level = 0;; ++level) {
      program_.elements[level] = elements;
      program_.counts[level] = count;
      program_.top = level;
      if (count <= tuning::block_list_capacity) break;
      program_.interval_bits[level] = tuning::interval_bits(count);
      count = program_.level(level).intervals() + 1;
      elements = memory.take<list_element>(count);
    }
  }

  /// Makes the edges, and starts to sort those that are not in order yet.
  sort_run start_sort(const run_setup& setup, run_control& control) {
    make_edges(control);
    const std::size_t sorted = program_.sorted_from;
    return quicksort_async(edges_ + sorted, nodes_ - sorted, ascending{}, setup.stream,
                           {.route = setup.config.route, .trace = setup.config.trace},
                           sort_scratch_);
  }

  void make_edges(run_control& control) {
    const cudaStream_t stream = control.stream();
    const launch_shape over_nodes = grid_of_tiles(nodes_);
    if (!is_by_children()) {
      control.launched(
          launch(make_edges_from_parents<tree_state>, over_nodes, stream, shape_.parents.data(),
                 nodes_, edges_, program_.state, control.ticket()),
          "making the edges");
      return;
    }
    const auto child_count = static_cast<unsigned>(shape_.children.size());
    const device_child_lists lists{shape_.offsets.data(), shape_.children.data(), nodes_,
                                   child_count};
    check(cudaMemsetAsync(parents_, 0xff, nodes_ * sizeof(std::int32_t), stream),
          "clearing the parents");
    control.launched(
        launch(make_edges_from_children<tree_state>, grid_of_tiles(std::size_t{nodes_} + 1), stream,
               lists, edges_, parents_, program_.state, control.ticket()),
        "making the edges");
    control.launched(launch(append_root_edges<tree_state>, over_nodes, stream, parents_, nodes_,
                            child_count, edges_, program_.state, control.ticket()),
                     "finding the roots");
  }

  /// \throws std::invalid_argument for the first fault, if there is one
  void throw_fault(const input_faults& found, cudaStream_t stream) const {
    const auto fail = [](const std::string& what) {
      throw std::invalid_argument("rooted_tree: " + what);
    };
    const auto entry = [&](std::span<const std::int32_t> array, unsigned index) {
      std::int32_t value = 0;
      check(cudaMemcpyAsync(&value, &array[index], sizeof value, cudaMemcpyDeviceToHost, stream),
            "reading a faulty element");
      check(cudaStreamSynchronize(stream), "reading a faulty element");
      return std::to_string(value);
    };
    const auto name = [](unsigned number) { return std::to_string(number); };
    if (found.parent != nil) {
      fail("the parent of node " + name(found.parent) + " is " +
           entry(shape_.parents, found.parent) + "; it must be -1 or in [0, " + name(nodes_) + ")");
    }
    if (found.offset != nil) {
      fail("offsets[" + name(found.offset) + "] is " + entry(shape_.offsets, found.offset) +
           "; offsets must begin with 0, never decrease, and end with the number of children, " +
           std::to_string(shape_.children.size()));
    }
    if (found.child != nil) {
      fail("children[" + name(found.child) + "] is " + entry(shape_.children, found.child) +
           "; it must be in [0, " + name(nodes_) + ")");
    }
    if (found.twice != nil) fail("node " + name(found.twice) + " is a child twice");
    if (program_.single_root && found.second_root != nil) {
      fail("node " + name(found.second_root) + " is a second root, and single_root is set");
    }
    if (found.on_cycle != nil) {
      fail("node " + name(found.on_cycle) + " never reaches a root: its ancestors form a cycle");
    }
  }

  tree_shape shape_;
  unsigned nodes_;
  tour_program program_{};
  std::byte* control_memory_;
  std::int32_t* parents_ = nullptr;
  bool needs_edges_ = false;
  tree_edge* edges_ = nullptr;
  scratch_memory sort_scratch_;
  std::optional<stage<tour_program>> stage_;
  std::optional<sort_run> sort_;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
