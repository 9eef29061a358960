// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of the numbering: memory, edges, sort, the chain of grids, and the input's faults.

#include <algorithm>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/ranking.cuh>
#include <string>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The numbering of a forest of at least one node.
class tree_numbering {
 public:
  /// Takes scratch memory; with a null base it only measures the memory. Memory from `persistent`
  /// stays valid after run(), memory from `temporary` is free after run(). If `needs_ranges`,
  /// preorder and subtree sizes are computed even if they are not requested.
  tree_numbering(memory_layout& persistent, memory_layout& temporary, const tree_shape& shape,
                 const tree_number_arrays& requested, bool needs_ranges)
      : shape_(shape), nodes_(static_cast<unsigned>(shape.nodes)) {
    context_.numbers = requested;
    context_.nodes = nodes_;
    context_.state = persistent.take<tree_state>(1);
    if (is_by_children()) parents_ = persistent.take<std::int32_t>(nodes_);
    // A subtree's range is its preorder number and its size.
    auto& numbers = context_.numbers;
    if (needs_ranges && numbers.preorder == nullptr) {
      numbers.preorder = persistent.take<std::int32_t>(nodes_);
    }
    if (needs_ranges && numbers.subtree_sizes == nullptr) {
      numbers.subtree_sizes = persistent.take<std::int32_t>(nodes_);
    }
    context_.parents = shape.parents.data();
    // Only preorder and postorder depend on the order of siblings.
    needs_edges_ = is_by_children() || numbers.preorder != nullptr ||
                   numbers.postorder != nullptr || needs_ranges;
    if (needs_edges_) {
      context_.edges = edges_ = temporary.take<tree_edge>(nodes_);
      sort_scratch_.bytes = quicksort_scratch_bytes<tree_edge>(nodes_);
    }
    take_lists(temporary);
  }

  /// Numbers the forest and waits for it. If the forest is faulty, no number is written.
  /// \throws std::invalid_argument naming the node, cuda_error, device_launch_error
  void run(run_control& control, const rooted_tree_config& config) {
    context_.chain = &context_.state->chain;
    context_.status = control.status();
    context_.slots = control.slots();
    context_.trace = control.ticket();
    context_.single_root = config.single_root;
    tree_state state{};
    state.faults = {nil, nil, nil, nil, nil, nil};
    state.head = state.smallest_root = nil;
    check(cudaMemcpyAsync(context_.state, &state, sizeof state, cudaMemcpyHostToDevice,
                          control.stream()),
          "initializing the tree's state");
    if (needs_edges_) {
      const std::size_t sorted = make_edges(control);
      sort_report_ =
          ramify::quicksort(edges_ + sorted, nodes_ - sorted, ascending{}, control.stream(),
                            {.route = config.route, .trace = config.trace}, sort_scratch_);
    }
    run_chain(control, context_, {step_kind::initialize_tour, 0, 0});
    check(cudaMemcpyAsync(&state, context_.state, sizeof state, cudaMemcpyDeviceToHost,
                          control.stream()),
          "reading the tree's state");
    check(cudaStreamSynchronize(control.stream()), "waiting for the tree");
    throw_fault(state.faults, control.stream());
  }

  [[nodiscard]] const tree_number_arrays& numbers() const { return context_.numbers; }
  [[nodiscard]] const std::int32_t* parents() const {
    return is_by_children() ? parents_ : shape_.parents.data();
  }
  /// Returns the context for another chain of the same run.
  [[nodiscard]] const chain_context& chain() const { return context_; }
  [[nodiscard]] unsigned ranking_levels() const { return context_.top + 1; }
  [[nodiscard]] const run_report& sort_report() const { return sort_report_; }

 private:
  [[nodiscard]] bool is_by_children() const { return !shape_.offsets.empty(); }

  /// Takes the lists of all levels. Level 0 reuses the scratch memory of the sort.
  void take_lists(memory_layout& memory) {
    auto* first =
        memory.take<std::byte>(std::max(2 * sizeof(list_element) * nodes_, sort_scratch_.bytes));
    sort_scratch_.data = first;
    auto* elements = reinterpret_cast<list_element*>(first);
    unsigned count = 2 * nodes_;
    for (unsigned level = 0;; ++level) {
      context_.elements[level] = elements;
      context_.counts[level] = count;
      context_.top = level;
      if (count <= tuning::block_list_capacity) break;
      context_.interval_bits[level] = tuning::interval_bits(count);
      count = context_.level(level).intervals() + 1;
      elements = memory.take<list_element>(count);
    }
  }

  /// Makes the edges. Returns how many of them are already in order of their parents.
  std::size_t make_edges(run_control& control) {
    const cudaStream_t stream = control.stream();
    const launch_shape over_nodes = grid_of_tiles(nodes_);
    if (!is_by_children()) {
      control.launched(
          launch(make_edges_from_parents<tree_state>, over_nodes, stream, shape_.parents.data(),
                 nodes_, edges_, context_.state, context_.trace),
          "making the edges");
      return 0;
    }
    const auto child_count = static_cast<unsigned>(shape_.children.size());
    const device_child_lists lists{shape_.offsets.data(), shape_.children.data(), nodes_,
                                   child_count};
    check(cudaMemsetAsync(parents_, 0xff, nodes_ * sizeof(std::int32_t), stream),
          "clearing the parents");
    control.launched(
        launch(make_edges_from_children<tree_state>, grid_of_tiles(std::size_t{nodes_} + 1), stream,
               lists, edges_, parents_, context_.state, context_.trace),
        "making the edges");
    control.launched(launch(append_root_edges<tree_state>, over_nodes, stream, parents_, nodes_,
                            child_count, edges_, context_.state, context_.trace),
                     "finding the roots");
    return child_count;
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
    if (context_.single_root && found.second_root != nil) {
      fail("node " + name(found.second_root) + " is a second root, and single_root is set");
    }
    if (found.on_cycle != nil) {
      fail("node " + name(found.on_cycle) + " never reaches a root: its ancestors form a cycle");
    }
  }

  tree_shape shape_;
  unsigned nodes_;
  tour_context context_{};
  std::int32_t* parents_ = nullptr;
  bool needs_edges_ = false;
  tree_edge* edges_ = nullptr;
  scratch_memory sort_scratch_;
  run_report sort_report_;
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
