// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of a call: argument checks, scratch memory, the numbering, then the folds.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/folds.cuh>
#include <ramify/rooted_tree/numbering.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The folding after a numbering.
template <class T, class Combine>
class tree_folding {
  using program = fold_program<T, Combine>;

 public:
  tree_folding(std::size_t nodes, const tree_folds<T, Combine>& folds)
      : program_{{{}, nullptr, runtime::element_count(nodes)}, {}, folds} {}

  /// Takes the scratch memory that finish() reads.
  void take_persistent(memory_layout& memory) {
    if (!program_.wanted.is_requested()) return;
    control_memory_ = memory.take<std::byte>(run_control::scratch_bytes);
    program_.state = memory.take<fold_state>(1);
  }

  /// Takes scratch memory that the work before the folding in the stream may have used.
  void take_temporary(memory_layout& memory) {
    program_.take(memory, program_.nodes.upper_bound, program_.wanted.leaffix != nullptr,
                  program_.wanted.rootfix != nullptr);
  }

  /// Puts the folding into the stream, after the numbering. \throws cuda_error, unavailable
  void start(const runtime::run_choices& choices, const tour_program& numbering) {
    if (!program_.wanted.is_requested()) return;
    const phase_range range("rooted_tree: fold");
    program_.nodes = numbering.nodes;
    program_.parents = numbering.parents;
    program_.preorder = numbering.numbers.preorder;
    program_.subtree_sizes = numbering.numbers.subtree_sizes;
    numbering_ = &numbering;
    start(stage_.emplace(control_memory_, choices, program_));
  }

  /// Returns whether the grids of start() complete the folding.
  [[nodiscard]] bool completes_in_stream() const {
    return !stage_ || stage_->chain.completes_in_stream();
  }

  /// Waits until the values are folded; after finish() of the numbering. Adds to the report.
  /// Returns the number of rounds of pointer doubling. \throws cuda_error, device_launch_error
  std::uint32_t finish(const runtime::run_choices& choices, run_report& report) {
    if (!program_.wanted.is_requested()) return 0;
    const fold_state folded = finish(*stage_, report);
    if (!folded.did_not_begin()) return folded.due.level;
    // The host completed the numbering after the folding had its place in the stream.
    stage<program> again(control_memory_, choices, program_);
    start(again);
    return finish(again, report).due.level;
  }

 private:
  void start(stage<program>& folding) {
    const tree_phase first = program_.first_phase();
    folding.control.launch_grid("launching the beginning of a folding", begin_folding<fold_state>,
                                {1, 1}, program_.state, first, numbering_->state,
                                numbering_->single_root, folding.control.ticket());
    folding.start({first, 0});
  }

  static fold_state finish(stage<program>& folding, run_report& report) {
    const run_report part = folding.finish();
    add_part(report, part);
    if (!part.flat_loop_reason.empty()) {
      report.looped_by = part.looped_by;
      report.flat_loop_reason = part.flat_loop_reason;
    }
    return folding.chain.state();
  }

  program program_;
  const tour_program* numbering_ = nullptr;
  std::byte* control_memory_ = nullptr;
  std::optional<stage<program>> stage_;
};

/// The two parts of a run, with their scratch memory.
template <class T, class Combine>
struct tree_parts {
  tree_parts(memory_layout& memory, const tree_shape& shape, const tree_number_arrays& numbers,
             const tree_folds<T, Combine>& folds, bool single_root = false)
      : numbering(shape, numbers, folds.leaffix != nullptr, single_root),
        folding(shape.nodes, folds) {
    numbering.take_persistent(memory);
    folding.take_persistent(memory);
    // The folding begins after the last use of the tour, and reuses its memory.
    memory_layout for_folding = memory;
    numbering.take_temporary(memory);
    folding.take_temporary(for_folding);
    if (for_folding.size() > memory.size()) memory = for_folding;
  }

  tree_numbering<> numbering;
  tree_folding<T, Combine> folding;
};

/// Returns the device memory that a run with these arguments needs, in bytes.
template <class T, class Combine>
[[nodiscard]] std::size_t scratch_bytes(const tree_shape& shape, const tree_number_arrays& numbers,
                                        const tree_folds<T, Combine>& folds) {
  if (shape.nodes == 0 && !shape.count) return 0;
  return layout_bytes<tree_parts<T, Combine>>(shape, numbers, folds);
}

/// Returns the launches of ten phases on each route, about as many as a numbering of 10^6 nodes of
/// any shape has. The sort chooses its own route.
[[nodiscard]] inline route_plans plans() {
  constexpr double grids = 10;
  return {{.host_launches = grids, .host_round_trips = 1},
          {.host_round_trips = 1, .nested_levels = grids},
          route::flat};
}

/// A run on a forest of at least one node.
template <class T, class Combine>
class tree_run final : public runtime::memory_run<rooted_tree_report, tree_parts<T, Combine>> {
 public:
  /// Puts the numbering and the folding into the stream.
  tree_run(const runtime::run_setup& setup, const tree_shape& shape,
           const tree_number_arrays& numbers, const tree_folds<T, Combine>& folds,
           const rooted_tree_options& options)
      : runtime::memory_run<rooted_tree_report, tree_parts<T, Combine>>(
            setup, shape, numbers, folds, options.single_root) {
    this->parts.numbering.start(setup);
    this->parts.folding.start(setup, this->parts.numbering.program());
    this->complete_in_stream(this->parts.numbering.completes_in_stream() &&
                             this->parts.folding.completes_in_stream());
  }

 private:
  rooted_tree_report finish() override {
    auto& [numbering, folding] = this->parts;
    rooted_tree_report report;
    static_cast<run_report&>(report) = numbering.finish(this->choices);
    report.rootfix_rounds = folding.finish(this->choices, report);
    report.nodes = numbering.nodes();
    report.ranking_levels = numbering.program().top + 1;
    report.scratch_bytes = this->memory.scratch.size();
    return report;
  }
};

/// Starts a run; see rooted_tree_async().
template <class T, class Combine>
[[nodiscard]] async_run<rooted_tree_report> start_tree(const tree_shape& shape,
                                                       const tree_number_arrays& numbers,
                                                       const tree_folds<T, Combine>& folds,
                                                       const rooted_tree_options& options,
                                                       const environment& env) {
  const phase_range range("rooted_tree: start");
  const auto arrays = check_arrays(shape, numbers, folds, options);
  runtime::run_setup setup("rooted_tree", env);
  check_device_access(setup.algorithm, arrays);
  if (shape.count) setup.check_count(*shape.count);
  if (shape.nodes == 0 && !shape.count) {
    return run_without_work(setup, rooted_tree_report{}, "there are no nodes");
  }
  setup.completes_without_loop = folds.rootfix == nullptr;
  // H100: the last 10 rounds of a path of 10^6 nodes take 60 us more in a graph.
  setup.prefer_host("the host launches several rounds before each read of the state");
  setup.choose_route(1, plans());
  return std::make_unique<tree_run<T, Combine>>(setup, shape, numbers, folds, options);
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
