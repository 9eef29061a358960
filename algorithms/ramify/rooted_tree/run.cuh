// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of a call: argument checks, scratch memory, the numbering, then the folds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/folds.cuh>
#include <ramify/rooted_tree/numbering.cuh>
#include <ramify/runtime/buffer.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The folding after a numbering: no folding for no_folds.
template <class Folds>
class tree_folding {
 public:
  tree_folding(memory_layout&, memory_layout&, std::size_t, const no_folds&) {}
  void start(const run_setup&, const tree_numbering&) {}
  std::uint32_t finish(const run_setup&, const tree_numbering&, run_report&) { return 0; }
};

template <class T, class Combine>
class tree_folding<tree_folds<T, Combine>> {
  using program = fold_program<T, Combine>;

 public:
  /// Takes scratch memory: from `persistent` what it reads at the end, and from `temporary` memory
  /// that the work before it in the stream may have used.
  tree_folding(memory_layout& persistent, memory_layout& temporary, std::size_t nodes,
               const tree_folds<T, Combine>& folds)
      : program_{{},      nullptr, nodes,   nullptr,       folds.values, folds.combine,
                 nullptr, nullptr, nullptr, folds.leaffix, {},           folds.rootfix} {
    if (!is_requested()) return;
    control_memory_ = persistent.take<std::byte>(run_control::scratch_bytes);
    program_.state = persistent.take<fold_state>(1);
    if (folds.leaffix != nullptr) program_.folds = temporary.take<T>(2 * nodes);
    if (folds.rootfix == nullptr) return;
    for (auto& paths : program_.paths) paths = temporary.take<path_fold<T>>(nodes);
  }

  /// Puts the folding into the stream, after the numbering. \throws cuda_error, unavailable
  void start(const run_setup& setup, const tree_numbering& numbering) {
    if (!is_requested()) return;
    program_.parents = numbering.parents();
    program_.preorder = numbering.numbers().preorder;
    program_.subtree_sizes = numbering.numbers().subtree_sizes;
    stage_.emplace(control_memory_, setup, program_);
    start(*stage_, setup, numbering);
  }

  /// Waits until the values are folded; after finish() of the numbering. Adds to the report.
  /// Returns the number of rounds of pointer doubling. \throws cuda_error, device_launch_error
  std::uint32_t finish(const run_setup& setup, const tree_numbering& numbering,
                       run_report& report) {
    if (!is_requested()) return 0;
    add_folding(report, stage_->finish());
    fold_state folded = stage_->chain.state();
    if (folded.did_not_begin()) {
      // The host completed the numbering after the folding had its place in the stream.
      stage<program> again(control_memory_, setup, program_);
      start(again, setup, numbering);
      add_folding(report, again.finish());
      folded = again.chain.state();
    }
    return folded.due.level;
  }

 private:
  [[nodiscard]] bool is_requested() const {
    return program_.leaffix != nullptr || program_.rootfix != nullptr;
  }

  void start(stage<program>& folding, const run_setup& setup, const tree_numbering& numbering) {
    const tree_step first = program_.first_step();
    folding.control.launched(
        launch(begin_folding<fold_state>, {1, 1}, setup.stream, program_.state, first,
               numbering.state(), setup.config.single_root, folding.control.ticket()),
        "launching the beginning of a folding");
    folding.start({first, 0});
  }

  static void add_folding(run_report& report, const run_report& part) {
    add_part(report, part);
    if (part.flat_loop_reason.empty()) return;
    report.looped_by = part.looped_by;
    report.flat_loop_reason = part.flat_loop_reason;
  }

  program program_;
  std::byte* control_memory_ = nullptr;
  std::optional<stage<program>> stage_;
};

/// One run. The constructor lays its memory out.
template <class Folds>
class tree_run {
 public:
  /// With a null base it only measures the memory.
  tree_run(memory_layout& memory, const tree_shape& shape, const tree_number_arrays& numbers,
           const Folds& folds)
      : nodes_(shape.nodes) {
    const bool needs_ranges = folds.leaffix != nullptr;
    // The folding begins after the last use of the tour, and reuses its memory.
    memory_layout measured_numbering(nullptr);
    memory_layout measured_folding(nullptr);
    memory_layout unused(nullptr);
    const tree_numbering measured(unused, measured_numbering, shape, numbers, needs_ranges);
    const tree_folding<Folds> measured_too(unused, measured_folding, nodes_, folds);
    auto* shared =
        memory.take<std::byte>(std::max(measured_numbering.size(), measured_folding.size()));
    memory_layout for_numbering(shared);
    numbering_.emplace(memory, for_numbering, shape, numbers, needs_ranges);
    memory_layout for_folding(shared);
    folding_.emplace(memory, for_folding, nodes_, folds);
  }

  /// Puts the run into the stream. \throws cuda_error, unavailable
  void start(const run_setup& setup) {
    numbering_->start(setup);
    folding_->start(setup, *numbering_);
  }

  /// Waits until the run is complete. \throws as rooted_tree_run::get()
  rooted_tree_report finish(const run_setup& setup) {
    rooted_tree_report report;
    static_cast<run_report&>(report) = numbering_->finish(setup);
    report.rootfix_rounds = folding_->finish(setup, *numbering_, report);
    report.nodes = nodes_;
    report.ranking_levels = numbering_->ranking_levels();
    return report;
  }

 private:
  std::size_t nodes_;
  std::optional<tree_numbering> numbering_;
  std::optional<tree_folding<Folds>> folding_;
};

/// Checks the arguments of a call. \throws std::invalid_argument naming the invalid one
template <class Folds>
void check_arguments(const tree_shape& shape, const tree_number_arrays& numbers, const Folds& folds,
                     const rooted_tree_config& config) {
  validate(config);
  check_shape(shape, config);
  argument_arrays arrays;
  const auto add = [&](const auto* data, std::size_t n, const char* name, bool is_output) {
    check_device_access(data, (std::string("rooted_tree: ") + name).c_str());
    arrays.add(data, n * sizeof *data, name, is_output);
  };
  const auto add_input = [&](std::span<const std::int32_t> array, const char* name) {
    if (!array.empty()) add(array.data(), array.size(), name, false);
  };
  const auto add_output = [&](const auto* array, const char* name) {
    if (array != nullptr) add(array, shape.nodes, name, true);
  };
  add_input(shape.parents, "parents");
  add_input(shape.offsets, "offsets");
  add_input(shape.children, "children");
  if constexpr (!std::is_same_v<Folds, no_folds>) {
    if (folds.leaffix != nullptr || folds.rootfix != nullptr) {
      add(folds.values, shape.nodes, "values", false);
    }
    add_output(folds.leaffix, "leaffix");
    add_output(folds.rootfix, "rootfix");
  }
  add_output(numbers.levels, "levels");
  add_output(numbers.subtree_sizes, "subtree_sizes");
  add_output(numbers.preorder, "preorder");
  add_output(numbers.postorder, "postorder");
  arrays.check_overlap();
}

/// Returns the device memory that a run with these arguments needs, in bytes.
template <class Folds>
[[nodiscard]] std::size_t scratch_bytes(const tree_shape& shape, const tree_number_arrays& numbers,
                                        const Folds& folds) {
  if (shape.nodes == 0) return 0;
  memory_layout sizing(nullptr);
  const tree_run<Folds> measured(sizing, shape, numbers, folds);
  return sizing.size();
}

/// Returns the choices of a run. \throws unavailable, cuda_error
[[nodiscard]] inline run_setup set_up(cudaStream_t stream, const rooted_tree_config& config) {
  const std::size_t limit = *current_launch_limits().pending_launches;
  // The estimate has ten steps, about as many as a numbering of 10^6 nodes, for every shape. The
  // sort chooses its own route.
  constexpr double steps = 10;
  runtime::loop_choice loop =
      runtime::choose_loop(config.flat_loop, "rooted_tree_config.flat_loop");
  if (loop.wanted == flat_loop::automatic && !is_being_captured(stream)) {
    // H100: the last 10 rounds of a path of 10^6 nodes take 60 us more in a graph.
    loop = {flat_loop::host, "the host launches several rounds before each read of the state"};
  }
  return {choose_route(config.route, limit, 1,
                       {{.host_launches = steps, .host_round_trips = 1},
                        {.host_round_trips = 1, .nested_levels = steps},
                        route::flat},
                       stream),
          limit, std::move(loop), stream, config};
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A run of rooted_tree_async(). Movable; moved-from it may only be assigned or destroyed. If it is
/// destroyed before get(), it neither waits nor checks.
template <class Folds>
class [[nodiscard("call get(): it waits, checks and reports")]] rooted_tree_run {
 public:
  /// Starts a run; see rooted_tree_async().
  rooted_tree_run(const tree_shape& shape, const tree_number_arrays& numbers, const Folds& folds,
                  cudaStream_t stream, const rooted_tree_config& config, scratch_memory scratch) {
    namespace internal = detail::rooted_tree;
    internal::check_arguments(shape, numbers, folds, config);
    internal::run_setup setup = internal::set_up(stream, config);
    is_empty_ = shape.nodes == 0;
    if (is_empty_) return;
    const std::size_t bytes = internal::scratch_bytes(shape, numbers, folds);
    const bool captured = is_being_captured(stream);
    check_scratch(scratch, bytes, captured, "rooted_tree");
    if (captured && config.trace != nullptr) {
      throw unavailable("rooted_tree: a graph cannot capture the recording of a trace");
    }
    state_ = std::make_unique<state>(std::move(setup), scratch_space(scratch, bytes, stream), shape,
                                     numbers, folds);
    state_->captured = captured;
    state_->run.start(state_->setup);
  }

  /// Waits for the run, completes what kernels could not launch, checks the forest, and returns the
  /// report. Call it once; of a run that a graph has captured, after each launch of the graph, or
  /// after the last one.
  /// \throws std::invalid_argument, cuda_error, device_launch_error; see Errors of rooted_tree.cuh;
  ///         std::logic_error while the stream is being captured
  rooted_tree_report get() {
    if (is_empty_) {
      rooted_tree_report report;
      static_cast<run_report&>(report) = report_of_this_build();
      report.taken = route::flat;
      report.route_reason = "there are no nodes";
      return report;
    }
    if (state_ == nullptr) throw std::logic_error("rooted_tree: get() was called before");
    if (is_being_captured(state_->setup.stream)) {
      throw std::logic_error(
          "rooted_tree: the stream is being captured: end the capture and launch the graph before "
          "get()");
    }
    rooted_tree_report report = state_->run.finish(state_->setup);
    report.scratch_bytes = state_->space.size();
    if (!state_->captured) state_.reset();
    return report;
  }

 private:
  struct state {
    state(detail::rooted_tree::run_setup chosen, scratch_space taken, const tree_shape& shape,
          const tree_number_arrays& numbers, const Folds& folds)
        : setup(std::move(chosen)),
          space(std::move(taken)),
          memory(space.data()),
          run(memory, shape, numbers, folds) {}

    detail::rooted_tree::run_setup setup;
    scratch_space space;
    memory_layout memory;
    detail::rooted_tree::tree_run<Folds> run;
    bool captured = false;
  };
  bool is_empty_ = false;
  std::unique_ptr<state> state_;
};

}  // namespace ramify::inline RAMIFY_BUILD
