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
#include <stdexcept>
#include <string>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The folding after a numbering.
template <class T, class Combine>
class tree_folding {
  using program = fold_program<T, Combine>;

 public:
  tree_folding(std::size_t nodes, const tree_folds<T, Combine>& folds)
      : program_{{}, folds, nodes} {}

  /// Takes the scratch memory that finish() reads.
  void take_persistent(memory_layout& memory) {
    if (!program_.wanted.is_requested()) return;
    control_memory_ = memory.take<std::byte>(run_control::scratch_bytes);
    program_.state = memory.take<fold_state>(1);
  }

  /// Takes scratch memory that the work before the folding in the stream may have used.
  void take_temporary(memory_layout& memory) {
    if (program_.wanted.leaffix != nullptr) program_.ranges = memory.take<T>(2 * program_.nodes);
    if (program_.wanted.rootfix == nullptr) return;
    for (auto& paths : program_.paths) paths = memory.take<path_fold<T>>(program_.nodes);
  }

  /// Puts the folding into the stream, after the numbering. \throws cuda_error, unavailable
  void start(const runtime::run_setup& setup, const tour_program& numbering) {
    if (!program_.wanted.is_requested()) return;
    const phase_range range("rooted_tree: fold");
    program_.parents = numbering.parents;
    program_.preorder = numbering.numbers.preorder;
    program_.subtree_sizes = numbering.numbers.subtree_sizes;
    numbering_ = &numbering;
    start(stage_.emplace(control_memory_, setup, program_));
  }

  /// Waits until the values are folded; after finish() of the numbering. Adds to the report.
  /// Returns the number of rounds of pointer doubling. \throws cuda_error, device_launch_error
  std::uint32_t finish(const runtime::run_setup& setup, run_report& report) {
    if (!program_.wanted.is_requested()) return 0;
    const fold_state folded = finish(*stage_, report);
    if (!folded.did_not_begin()) return folded.due.level;
    // The host completed the numbering after the folding had its place in the stream.
    stage<program> again(control_memory_, setup, program_);
    start(again);
    return finish(again, report).due.level;
  }

 private:
  void start(stage<program>& folding) {
    const tree_step first = program_.first_step();
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
             const tree_folds<T, Combine>& folds, bool single_root)
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

  tree_numbering numbering;
  tree_folding<T, Combine> folding;
};

/// Returns the device memory that a run with these arguments needs, in bytes.
template <class T, class Combine>
[[nodiscard]] std::size_t scratch_bytes(const tree_shape& shape, const tree_number_arrays& numbers,
                                        const tree_folds<T, Combine>& folds) {
  if (shape.nodes == 0) return 0;
  return layout_bytes<tree_parts<T, Combine>>(shape, numbers, folds, false);
}

/// Returns the launches of ten steps on each route, about as many as a numbering of 10^6 nodes of
/// any shape has. The sort chooses its own route.
[[nodiscard]] inline route_plans plans() {
  constexpr double steps = 10;
  return {{.host_launches = steps, .host_round_trips = 1},
          {.host_round_trips = 1, .nested_levels = steps},
          route::flat};
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A run of rooted_tree_async(). Movable; get() of a moved-from run throws std::logic_error. If the
/// run is destroyed before get(), the destructor neither waits nor checks.
template <class Folds>
class rooted_tree_run;

template <class T, class Combine>
class [[nodiscard(
    "call get(): it waits, checks and reports")]] rooted_tree_run<tree_folds<T, Combine>> {
 public:
  /// Starts a run; see rooted_tree_async().
  rooted_tree_run(const tree_shape& shape, const tree_number_arrays& numbers,
                  const tree_folds<T, Combine>& folds, cudaStream_t stream,
                  const rooted_tree_config& config, scratch_memory scratch) {
    const phase_range range("rooted_tree: start");
    namespace internal = detail::rooted_tree;
    check_device_access("rooted_tree", internal::check_arrays(shape, numbers, folds, config));
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    detail::run_setup setup("rooted_tree", config, "rooted_tree_config.flat_loop", stream, scratch);
    result_ = detail::result_state(setup.algorithm, setup.captured);
    // H100: the last 10 rounds of a path of 10^6 nodes take 60 us more in a graph.
    setup.prefer_host("the host launches several rounds before each read of the state");
    setup.choice = choose_route(config.route, setup.limit, 1, internal::plans(), stream);
    is_empty_ = shape.nodes == 0;
    if (is_empty_) return;
    if (setup.captured && config.trace != nullptr) {
      throw unavailable("rooted_tree: a graph cannot capture the recording of a trace");
    }
    run_.reset(new run{
        setup, {scratch, stream, setup.algorithm, shape, numbers, folds, config.single_root}});
    auto& parts = run_->memory.parts;
    parts.numbering.start(setup);
    parts.folding.start(setup, parts.numbering.program());
  }

  /// Waits for the run, completes what kernels could not launch, checks the forest, and returns the
  /// report. Call it once; of a run that a graph has captured, after each launch of the graph, or
  /// after the last one.
  /// \throws std::invalid_argument, cuda_error, device_launch_error; see Errors of rooted_tree.cuh;
  ///         std::logic_error while the stream is being captured, for a further call, and for a
  ///         moved-from run
  rooted_tree_report get() {
    const auto call = result_.begin_get();
    const phase_range range("rooted_tree: get");
    rooted_tree_report report;
    if (is_empty_) {
      static_cast<run_report&>(report) = report_of_this_build({route::flat, "there are no nodes"});
      return report;
    }
    auto& [setup, memory] = *run_;
    auto& parts = memory.parts;
    detail::runtime::require_not_captured(setup.stream, "rooted_tree");
    static_cast<run_report&>(report) = parts.numbering.finish(setup);
    report.rootfix_rounds = parts.folding.finish(setup, report);
    report.nodes = parts.numbering.program().nodes;
    report.ranking_levels = parts.numbering.program().top + 1;
    report.scratch_bytes = memory.scratch.size();
    if (!setup.captured) run_.reset();
    return report;
  }

 private:
  struct run {
    detail::run_setup setup;
    run_memory<detail::rooted_tree::tree_parts<T, Combine>> memory;
  };
  bool is_empty_ = false;
  std::unique_ptr<run> run_;
  detail::result_state result_{"rooted_tree"};
};

}  // namespace ramify::inline RAMIFY_BUILD
