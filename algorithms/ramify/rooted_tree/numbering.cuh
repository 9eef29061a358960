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

/// The numbering of a forest of at least one node. (A template, so that only a call compiles the
/// kernels.)
template <class = void>
class tree_numbering {
 public:
  /// If `needs_ranges`, preorder and subtree sizes are computed even if they are not requested.
  tree_numbering(const tree_shape& shape, const tree_number_arrays& requested, bool needs_ranges,
                 bool single_root)
      : shape_(shape), needs_ranges_(needs_ranges) {
    program_.single_root = single_root;
    program_.numbers = requested;
    program_.nodes = runtime::element_count(shape.nodes);
    program_.parents = shape.parents.data();
    // Only edges from this index on are sorted: child lists are in order of the parents already.
    program_.sorted_from = static_cast<unsigned>(shape.children.size());
  }

  /// Takes the scratch memory that the numbering uses until finish(). If the base of `memory` is
  /// null, the function only measures the bytes.
  void take_persistent(memory_layout& memory) {
    control_memory_ = memory.take<std::byte>(run_control::scratch_bytes);
    program_.state = memory.take<tree_state>(1);
    if (shape_.count) program_.nodes = {&program_.state->nodes, shape_.nodes};
    if (is_by_children()) program_.parents = parents_ = memory.take<std::int32_t>(shape_.nodes);
    // A subtree's range is its preorder number and its size.
    for (std::int32_t** range : {&program_.numbers.preorder, &program_.numbers.subtree_sizes}) {
      if (needs_ranges_ && *range == nullptr) *range = memory.take<std::int32_t>(shape_.nodes);
    }
    if (!needs_edges()) return;
    // finish() reads the state of the sort from this memory, so no other array may share it.
    sort_scratch_ = memory.take_scratch(quicksort_scratch_bytes<tree_edge>(shape_.nodes));
  }

  /// Takes scratch memory that later work in the stream may overwrite.
  void take_temporary(memory_layout& memory) {
    if (needs_edges()) program_.edges = memory.take<tree_edge>(shape_.nodes);
    program_.take_levels(memory, static_cast<unsigned>(shape_.nodes));
  }

  /// Puts the numbering into the stream. \throws cuda_error
  void start(const runtime::run_choices& choices) {
    const phase_range range("rooted_tree: number");
    stage_.emplace(control_memory_, choices, program_);
    stage_->chain.write_state({});
    if (shape_.count) {
      stage_->control.launch_grid(
          "reading the number of nodes", runtime::read_count<runtime::element_count>, {1, 1},
          runtime::element_count(*shape_.count), &program_.state->nodes, stage_->control.ticket());
    }
    if (needs_edges()) sort_ = start_sort(choices, *stage_);
    stage_->start({});
  }

  /// Waits until the forest is numbered. Returns the report, which includes the sort. If the forest
  /// is faulty, no number is written. If a graph has captured the run, call it once after each
  /// launch of the graph.
  /// \throws std::invalid_argument naming the node; cuda_error, device_launch_error
  run_report finish(const runtime::run_choices& choices) {
    if (sort_) {
      sort_report_ = sort_->get();
      if (!choices.captured) sort_.reset();
    }
    run_report report = stage_->finish();
    add_part(report, sort_report_, "the sort");
    tree_state found = stage_->chain.state();
    if (shape_.count) {
      runtime::element_count(*shape_.count).check("rooted_tree", found.nodes.raw);
      nodes_ = found.nodes.n;
    }
    if (found.unsorted != 0) {
      // Kernels had not completed the sort, so they did not link the tour. The host sorts again,
      // completes this sort, and links the tour.
      stage<tour_program> second_stage(control_memory_, choices, program_);
      tree_state first{};
      first.nodes = found.nodes;
      second_stage.chain.write_state(first);
      add_part(report, start_sort(choices, second_stage).get());
      second_stage.start({});
      add_part(report, second_stage.finish());
      found = second_stage.chain.state();
    }
    throw_fault(found.faults, choices.stream);
    return report;
  }

  /// Returns whether the grids of start() complete the numbering.
  [[nodiscard]] bool completes_in_stream() const { return stage_->chain.completes_in_stream(); }

  [[nodiscard]] const tour_program& program() const { return program_; }
  /// Returns the number of nodes, after finish().
  [[nodiscard]] std::size_t nodes() const { return nodes_; }

 private:
  [[nodiscard]] bool is_by_children() const { return !shape_.offsets.empty(); }

  /// Only preorder and postorder depend on the order of siblings.
  [[nodiscard]] bool needs_edges() const {
    return is_by_children() || needs_ranges_ || program_.numbers.preorder != nullptr ||
           program_.numbers.postorder != nullptr;
  }

  /// Launches the kernels that make the edges, and starts to sort those that are not in order.
  async_run<quicksort_report> start_sort(const runtime::run_choices& choices,
                                         stage<tour_program>& tour) {
    make_edges(tour);
    const std::size_t sorted = program_.sorted_from;
    return quicksort_async(program_.edges + sorted, shape_.nodes - sorted, ascending{},
                           choices.of_part(sort_scratch_));
  }

  void make_edges(stage<tour_program>& tour) {
    run_control& control = tour.control;
    const tour_program& program = tour.chain.program();
    const launch_shape over_nodes = grid_over(shape_.nodes);
    if (!is_by_children()) {
      control.launch_grid("making the edges", make_edges_from_parents<tour_program>, over_nodes,
                          program);
      return;
    }
    check(cudaMemsetAsync(parents_, 0xff, shape_.nodes * sizeof(std::int32_t), control.stream()),
          "clearing the parents");
    control.launch_grid("making the edges", make_edges_from_children<tour_program>,
                        grid_over(shape_.nodes + 1), program, shape_.offsets.data(),
                        shape_.children.data(), parents_);
    control.launch_grid("finding the roots", append_root_edges<tour_program>, over_nodes, program);
  }

  /// Throws std::invalid_argument for the first fault, if there is one.
  void throw_fault(const input_faults& found, cudaStream_t stream) const {
    const auto fail = [](const std::string& what) {
      throw std::invalid_argument("rooted_tree: " + what);
    };
    const auto entry = [&](std::span<const std::int32_t> array, unsigned index) {
      return std::to_string(read_back(&array[index], stream, "reading a faulty element"));
    };
    const auto name = [](unsigned number) { return std::to_string(number); };
    if (found.parent != nil) {
      fail("the parent of node " + name(found.parent) + " is " +
           entry(shape_.parents, found.parent) + "; it must be -1 or in [0, " +
           std::to_string(nodes_) + ")");
    }
    if (found.offset != nil) {
      fail("offsets[" + name(found.offset) + "] is " + entry(shape_.offsets, found.offset) +
           "; offsets must begin with 0, never decrease, and end with the number of children, " +
           std::to_string(shape_.children.size()));
    }
    if (found.child != nil) {
      fail("children[" + name(found.child) + "] is " + entry(shape_.children, found.child) +
           "; it must be in [0, " + std::to_string(shape_.nodes) + ")");
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
  std::size_t nodes_ = shape_.nodes;
  bool needs_ranges_;
  tour_program program_{};
  std::byte* control_memory_ = nullptr;
  std::int32_t* parents_ = nullptr;  // made from child lists
  memory_ref sort_scratch_;
  std::optional<stage<tour_program>> stage_;
  std::optional<async_run<quicksort_report>> sort_;
  run_report sort_report_;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
