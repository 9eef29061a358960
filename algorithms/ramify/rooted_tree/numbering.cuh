// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host's side of the numbering: edges, sort, tour, ranking, and what was wrong.

#include <algorithm>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/ranking.cuh>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// One numbering of a forest of at least one node.
class tree_numbering {
 public:
  /// Takes this run's part of the scratch memory; with a null base, only measures it. What is in
  /// `lasting` is there after run(); what is in `passing` is free again.
  tree_numbering(memory_layout& lasting, memory_layout& passing, const tree_shape& shape,
                 const tree_number_arrays& wanted, bool wants_ranges)
      : shape_(shape), nodes_(static_cast<unsigned>(shape.nodes)) {
    context_.numbers = wanted;
    context_.nodes = nodes_;
    context_.state = lasting.take<tree_state>(1);
    if (is_by_children()) parents_ = lasting.take<std::int32_t>(nodes_);
    // A subtree's range is its preorder number and its size.
    auto& numbers = context_.numbers;
    if (wants_ranges && numbers.preorder == nullptr) {
      numbers.preorder = lasting.take<std::int32_t>(nodes_);
    }
    if (wants_ranges && numbers.subtree_sizes == nullptr) {
      numbers.subtree_sizes = lasting.take<std::int32_t>(nodes_);
    }
    context_.parents = shape.parents.data();
    // Only preorder and postorder know in which order siblings come.
    needs_edges_ = is_by_children() || numbers.preorder != nullptr ||
                   numbers.postorder != nullptr || wants_ranges;
    if (needs_edges_) {
      context_.edges = edges_ = passing.take<tree_edge>(nodes_);
      sort_scratch_.bytes = quicksort_scratch_bytes<tree_edge>(nodes_);
    }
    // The sort's scratch memory becomes the tour's when the edges are in order.
    auto* first =
        passing.take<std::byte>(std::max(2 * sizeof(tour_piece) * nodes_, sort_scratch_.bytes));
    sort_scratch_.data = first;
    auto* pieces = reinterpret_cast<tour_piece*>(first);
    unsigned count = 2 * nodes_;
    for (unsigned level = 0;; ++level) {
      context_.pieces[level] = pieces;
      context_.counts[level] = count;
      context_.top = level;
      if (count <= tree_tuning::ranked_by_a_block) break;
      context_.stretch_bits[level] = tree_tuning::stretch_bits(count);
      count = context_.level(level).stretches() + 1;
      pieces = passing.take<tour_piece>(count);
    }
  }

  /// Numbers the forest and waits. If the forest is faulty, no number is written.
  /// \throws std::invalid_argument naming the node, cuda_error, device_launch_error
  void run(run_control& control, const rooted_tree_config& config) {
    context_.chain = &context_.state->chain;
    context_.status = control.status();
    context_.slots = control.slots();
    context_.trace = control.ticket();
    context_.single_root = config.single_root;
    tree_state state{};
    state.faults = {nobody, nobody, nobody, nobody, nobody, nobody};
    state.head = state.first_root = nobody;
    check(cudaMemcpyAsync(context_.state, &state, sizeof state, cudaMemcpyHostToDevice,
                          control.stream()),
          "preparing the tree's state");
    if (needs_edges_) {
      const std::size_t sorted = make_edges(control);
      sort_report_ = quicksort(edges_ + sorted, nodes_ - sorted, ascending{}, control.stream(),
                               {.route = config.route, .trace = config.trace}, sort_scratch_);
    }
    run_chain(control, context_, {tree_step::open, 0, 0});
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
  /// For another chain of the same run.
  [[nodiscard]] const chain_context& chain() const { return context_; }
  [[nodiscard]] unsigned ranking_levels() const { return context_.top + 1; }
  [[nodiscard]] const run_report& sort_report() const { return sort_report_; }

 private:
  [[nodiscard]] bool is_by_children() const { return !shape_.offsets.empty(); }

  /// Makes the edges. How many are in order of their parents already.
  std::size_t make_edges(run_control& control) {
    const cudaStream_t stream = control.stream();
    const launch_shape over_nodes = tiles_over(nodes_);
    if (!is_by_children()) {
      control.launched(
          launch(edges_of_parents<tree_state>, over_nodes, stream, shape_.parents.data(), nodes_,
                 edges_, context_.state, context_.trace),
          "making the edges");
      return 0;
    }
    const auto child_count = static_cast<unsigned>(shape_.children.size());
    check(cudaMemsetAsync(parents_, 0xff, nodes_ * sizeof(std::int32_t), stream),
          "clearing the parents");
    control.launched(launch(edges_of_children<tree_state>, tiles_over(std::size_t{nodes_} + 1),
                            stream, shape_.offsets.data(), shape_.children.data(), nodes_,
                            child_count, edges_, parents_, context_.state, context_.trace),
                     "making the edges");
    control.launched(launch(edges_of_roots<tree_state>, over_nodes, stream, parents_, nodes_,
                            child_count, edges_, context_.state, context_.trace),
                     "finding the roots");
    return child_count;
  }

  void throw_fault(const tree_faults& found, cudaStream_t stream) const {
    const auto fail = [](const std::string& what) {
      throw std::invalid_argument("rooted_tree: " + what);
    };
    const auto entry = [&](std::span<const std::int32_t> array, unsigned index) {
      std::int32_t value = 0;
      check(cudaMemcpyAsync(&value, &array[index], sizeof value, cudaMemcpyDeviceToHost, stream),
            "reading what is wrong");
      check(cudaStreamSynchronize(stream), "reading what is wrong");
      return std::to_string(value);
    };
    const auto name = [](unsigned number) { return std::to_string(number); };
    if (found.parent != nobody) {
      fail("the parent of node " + name(found.parent) + " is " +
           entry(shape_.parents, found.parent) + "; it must be -1 or in [0, " + name(nodes_) + ")");
    }
    if (found.offset != nobody) {
      fail("offsets[" + name(found.offset) + "] is " + entry(shape_.offsets, found.offset) +
           "; offsets must begin with 0, never fall, and end with the number of children, " +
           std::to_string(shape_.children.size()));
    }
    if (found.child != nobody) {
      fail("children[" + name(found.child) + "] is " + entry(shape_.children, found.child) +
           "; it must be in [0, " + name(nodes_) + ")");
    }
    if (found.twice != nobody) fail("node " + name(found.twice) + " is a child twice");
    if (context_.single_root && found.second_root != nobody) {
      fail("node " + name(found.second_root) + " is a second root, and single_root is set");
    }
    if (found.on_cycle != nobody) {
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

}  // namespace ramify::inline RAMIFY_BUILD
