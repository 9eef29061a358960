// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Host side of a call: argument checks, scratch memory, the numbering, then the folds.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/rooted_tree/folds.cuh>
#include <ramify/rooted_tree/numbering.cuh>
#include <ramify/runtime/buffer.cuh>
#include <string>
#include <type_traits>

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// One run. The constructor lays its memory out.
template <class Folds>
class tree_run {
  static constexpr bool has_folds = !std::is_same_v<Folds, no_folds>;

 public:
  /// With a null base it only measures the memory.
  tree_run(memory_layout& memory, const tree_shape& shape, const tree_number_arrays& numbers,
           const Folds& folds)
      : nodes_(shape.nodes), folds_(folds) {
    control_memory_ = memory.take<std::byte>(run_control::scratch_bytes);
    // The folding begins after the last use of the tour, and reuses its memory.
    memory_layout measured_numbering(nullptr);
    memory_layout measured_folding(nullptr);
    memory_layout unused(nullptr);
    const tree_numbering measured(unused, measured_numbering, shape, numbers, needs_ranges());
    take_folding(measured_folding);
    auto* shared =
        memory.take<std::byte>(std::max(measured_numbering.size(), measured_folding.size()));
    memory_layout temporary(shared);
    numbering_.emplace(memory, temporary, shape, numbers, needs_ranges());
    memory_layout folding(shared);
    take_folding(folding);
  }

  /// Runs and waits for `stream`.
  rooted_tree_report run(const route_choice& choice, std::size_t limit, cudaStream_t stream,
                         const rooted_tree_config& config) {
    run_control control(control_memory_, choice, limit, stream, config.trace);
    rooted_tree_report report;
    numbering_->run(control, config);
    if constexpr (has_folds) report.rootfix_rounds = fold(control);
    control.read_trace();
    static_cast<run_report&>(report) = control.report();
    add_part(report, numbering_->sort_report(), "the sort");
    report.nodes = nodes_;
    report.ranking_levels = numbering_->ranking_levels();
    return report;
  }

 private:
  [[nodiscard]] bool needs_ranges() const { return folds_.leaffix != nullptr; }

  void take_folding(memory_layout& memory) {
    if constexpr (has_folds) {
      using value = std::remove_cvref_t<decltype(*folds_.values)>;
      if (folds_.leaffix != nullptr) {
        fold_memory_ = memory.take<std::byte>(2 * nodes_ * sizeof(value));
      }
      if (folds_.rootfix == nullptr) return;
      for (auto& paths : path_memory_) {
        paths = memory.take<std::byte>(nodes_ * sizeof(path_fold<value>));
      }
      incomplete_ = memory.take<unsigned>(1);
    }
  }

  /// Computes the folds. Returns the number of rounds of pointer doubling.
  std::uint32_t fold(run_control& control) {
    using value = std::remove_cvref_t<decltype(*folds_.values)>;
    using combine = decltype(folds_.combine);
    if (folds_.leaffix == nullptr && folds_.rootfix == nullptr) return 0;
    const fold_context<value, combine> context{
        numbering_->chain(),
        nodes_,
        numbering_->parents(),
        folds_.values,
        folds_.combine,
        numbering_->numbers().preorder,
        numbering_->numbers().subtree_sizes,
        reinterpret_cast<value*>(fold_memory_),
        folds_.leaffix,
        {reinterpret_cast<path_fold<value>*>(path_memory_[0]),
         reinterpret_cast<path_fold<value>*>(path_memory_[1])},
        folds_.rootfix,
        incomplete_};
    if (folds_.rootfix != nullptr) {
      check(cudaMemsetAsync(incomplete_, 0, sizeof(unsigned), control.stream()),
            "preparing the rounds");
    }
    const step_kind first =
        folds_.leaffix != nullptr ? step_kind::permute_values : step_kind::double_paths;
    return run_chain(control, context, {first, 0, 0}).level;
  }

  std::size_t nodes_;
  Folds folds_;
  std::byte* control_memory_;
  std::optional<tree_numbering> numbering_;
  std::byte* fold_memory_ = nullptr;
  std::byte* path_memory_[2] = {};
  unsigned* incomplete_ = nullptr;
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

/// Checks, chooses the route, runs and waits for `stream`: both forms of ramify::rooted_tree().
template <class Folds>
rooted_tree_report run_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                            const Folds& folds, cudaStream_t stream,
                            const rooted_tree_config& config, scratch_memory scratch) {
  check_arguments(shape, numbers, folds, config);
  const std::size_t limit = *current_launch_limits().pending_launches;
  // The estimate has the number of steps that the host launches at a time, for every shape. The
  // sort chooses its own route.
  constexpr double steps = tuning::launched_ahead;
  const route_choice choice = choose_route(config.route, limit, 1,
                                           {{.host_launches = steps, .host_round_trips = 1},
                                            {.host_round_trips = 1, .nested_levels = steps},
                                            route::flat},
                                           stream);
  if (shape.nodes == 0) {
    rooted_tree_report report;
    static_cast<run_report&>(report) = report_of_this_build();
    report.taken = route::flat;
    report.route_reason = "there are no nodes";
    return report;
  }
  const std::size_t bytes = scratch_bytes(shape, numbers, folds);
  check_scratch(scratch, bytes, "rooted_tree");
  const scratch_space space(scratch, bytes, stream);
  memory_layout memory(space.data());
  tree_run<Folds> run(memory, shape, numbers, folds);
  rooted_tree_report report = run.run(choice, limit, stream, config);
  report.scratch_bytes = bytes;
  return report;
}

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD
