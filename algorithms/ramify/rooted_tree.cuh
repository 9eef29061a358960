// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// rooted_tree() for CUDA code: levels, subtree sizes, preorder and postorder numbers, and folds of
/// subtrees and of paths, of a forest in device memory, in a time that hardly depends on its shape.
///
///     0 ─ 1 ─ 3      parents        <-- [-1, 0, 0, 1, -1]       values  <-- [a, b, c, d, e]
///       └ 2          levels         --> [0, 1, 1, 2, 0]         leaffix --> [abdc, bd, c, d, e]
///     4              subtree_sizes  --> [4, 2, 1, 1, 1]         rootfix --> [a, ab, ac, abd, e]
///                    preorder       --> [0, 1, 3, 2, 4]
///                    postorder      --> [3, 1, 2, 0, 4]
///
///     const auto shape = ramify::tree_shape::of_parents({parents, 5});  // or of_children
///     ramify::rooted_tree(shape, {.levels = levels, .subtree_sizes = sizes});
///     ramify::rooted_tree(shape, {}, ramify::make_tree_folds(values, plus, leaffix, rootfix));
///
/// Compiled by nvcc it runs on the GPU, compiled by a C++ compiler on the CPU executor. For host
/// memory, or for code that never sees nvcc, there is the facade <ramify/rooted_tree.hpp>.
///
/// Input         see tree_shape; at most 2^31 - 2 nodes. Device, managed or pinned memory.
/// Outputs       n elements each; what is null is not computed. Must not overlap the input or one
///               another.
/// Folds         leaffix: a node's value, then the folds of its children in their order. rootfix: the
///               values from the root down to the node. Any associative operator, commutative or not,
///               as a device functor copied bit by bit: T combine(const T&, const T&). T is any
///               trivially copyable and default-constructible type. Floating-point sums are rounded
///               in an order of their own, the same in every run.
/// Scratch       about 33 bytes a node for levels and sizes, up to 53 for orders, leaffix and child
///               lists. Folds of large types need more: 2 T for leaffix, 2 (T and an index) for
///               rootfix. From Ramify's stream-ordered pool, or handed in;
///               rooted_tree_scratch_bytes() says how much.
/// Stream        ordered with the work before and after in the stream. Waits until it is done.
/// Launches      a chain of at most 12 grids, each launched by the last block of the one before; with
///               folds another, of at most 5 and a grid for each doubling of the depth. For orders
///               and for leaffix a parent array is sorted first.
/// Errors        std::invalid_argument for a bad argument, for a parent, an offset or a child out of
///               range, a node that is a child twice, a second root where one is asked for, and a
///               cycle, each naming the smallest node or index; then no output is written.
///               unavailable if the device route is asked for without -rdc=true; cuda_error,
///               device_launch_error: after these the outputs are undefined.
/// Complexity    levels and sizes: O(n) work, about 3 n reads and writes at random addresses, in
///               expected O(log n) steps whatever the shape, unless somebody numbers the nodes
///               against the hash that chooses where walkers set out. Orders: a sort of n keys too. leaffix: O(n + sum of
///               log(size)). rootfix: O(n log(depth)); the one part to which depth matters.
/// Sources       Euler tours: Tarjan and Vishkin (1985); list ranking: Wyllie (1979), Reid-Miller
///               (1996), Wei and JaJa (2010).
/// Not for       trees of a few thousand nodes, where a loop on the host is quicker; an array in
///               preorder with sizes, where a scan does it; a tree that changes between calls.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ramify/rooted_tree/folds.cuh>
#include <ramify/rooted_tree/numbering.cuh>
#include <ramify/runtime/buffer.cuh>
#include <string>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// Which folds of which values are wanted.
template <class T, class Combine>
struct tree_folds {
  static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
  const T* values;  ///< of the nodes
  Combine combine;
  T* leaffix = nullptr;  ///< null: not wanted
  T* rootfix = nullptr;  ///< likewise
};

/// tree_folds without having to name their types.
template <class T, class Combine>
[[nodiscard]] tree_folds<T, Combine> make_tree_folds(const T* values, Combine combine,
                                                     std::type_identity_t<T>* leaffix,
                                                     std::type_identity_t<T>* rootfix) {
  return {values, combine, leaffix, rootfix};
}

/// No folds are wanted.
struct no_folds {
  static constexpr std::nullptr_t leaffix = nullptr;
  static constexpr std::nullptr_t rootfix = nullptr;
};

/// One run, on memory that is laid out by constructing it.
template <class Folds>
class rooted_tree_run {
 public:
  /// With a null base it only measures the memory.
  rooted_tree_run(memory_layout& memory, const tree_shape& shape, const tree_number_arrays& numbers,
                  const Folds& folds)
      : nodes_(shape.nodes), folds_(folds) {
    control_memory_ = memory.take<std::byte>(run_control::scratch_bytes);
    // The folding begins when the tour is no longer needed, and lies in the same memory.
    memory_layout measured_numbering(nullptr);
    memory_layout measured_folding(nullptr);
    memory_layout unused(nullptr);
    const tree_numbering measured(unused, measured_numbering, shape, numbers, wants_ranges());
    take_folding(measured_folding);
    auto* shared =
        memory.take<std::byte>(std::max(measured_numbering.size(), measured_folding.size()));
    memory_layout passing(shared);
    numbering_.emplace(memory, passing, shape, numbers, wants_ranges());
    memory_layout folding(shared);
    take_folding(folding);
  }

  rooted_tree_report run(const route_choice& choice, std::size_t limit, cudaStream_t stream,
                         const rooted_tree_config& config) {
    run_control control(control_memory_, choice, limit, stream, config.trace);
    rooted_tree_report report;
    numbering_->run(control, config);
    if constexpr (!std::is_same_v<Folds, no_folds>) report.rootfix_rounds = fold(control);
    control.read_trace();
    static_cast<run_report&>(report) = control.report();
    add_part(report, numbering_->sort_report(), "the sort");
    report.nodes = nodes_;
    report.ranking_levels = numbering_->ranking_levels();
    return report;
  }

 private:
  [[nodiscard]] bool wants_ranges() const { return folds_.leaffix != nullptr; }

  void take_folding(memory_layout& memory) {
    if constexpr (!std::is_same_v<Folds, no_folds>) {
      using value = std::remove_cvref_t<decltype(*folds_.values)>;
      if (folds_.leaffix != nullptr) {
        fold_memory_ = memory.take<std::byte>(2 * nodes_ * sizeof(value));
      }
      if (folds_.rootfix == nullptr) return;
      for (auto& paths : path_memory_) {
        paths = memory.take<std::byte>(nodes_ * sizeof(path_fold<value>));
      }
      under_way_ = memory.take<unsigned>(1);
    }
  }

  /// Rounds of pointer doubling.
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
        under_way_};
    if (folds_.rootfix != nullptr) {
      check(cudaMemsetAsync(under_way_, 0, sizeof(unsigned), control.stream()),
            "preparing the rounds");
    }
    const tree_step first = folds_.leaffix != nullptr ? tree_step::gather : tree_step::rootfix;
    return run_chain(control, context, {first, 0, 0}).level;
  }

  std::size_t nodes_;
  Folds folds_;
  std::byte* control_memory_;
  std::optional<tree_numbering> numbering_;
  std::byte* fold_memory_ = nullptr;
  std::byte* path_memory_[2] = {};
  unsigned* under_way_ = nullptr;
};

/// Device memory that a call with these arguments takes, in bytes. Looks at no element.
template <class Folds = no_folds>
[[nodiscard]] std::size_t rooted_tree_scratch_bytes(const tree_shape& shape,
                                                    const tree_number_arrays& numbers = {},
                                                    const Folds& folds = {}) {
  if (shape.nodes == 0) return 0;
  memory_layout sizing(nullptr);
  const rooted_tree_run<Folds> measured(sizing, shape, numbers, folds);
  return sizing.size();
}

/// That the arrays of a call can be used. \throws std::invalid_argument naming what cannot
template <class Folds>
void check_tree_arguments(const tree_shape& shape, const tree_number_arrays& numbers,
                          const Folds& folds, const rooted_tree_config& config) {
  validate(config);
  check_tree_sizes(shape, config);
  tree_arrays arrays;
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

/// What both forms of rooted_tree() do.
template <class Folds>
rooted_tree_report run_rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                                   const Folds& folds, cudaStream_t stream,
                                   const rooted_tree_config& config, scratch_memory scratch) {
  check_tree_arguments(shape, numbers, folds, config);
  const std::size_t limit = *current_launch_limits().pending_launches;
  // Of as many steps as the host launches before it looks, in any shape. The sort inside chooses for
  // itself.
  constexpr double steps = tree_tuning::launched_ahead;
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
  const std::size_t bytes = rooted_tree_scratch_bytes(shape, numbers, folds);
  check_scratch(scratch, bytes, "rooted_tree");
  const scratch_space space(scratch, bytes, stream);
  memory_layout memory(space.data());
  rooted_tree_run<Folds> run(memory, shape, numbers, folds);
  rooted_tree_report report = run.run(choice, limit, stream, config);
  report.scratch_bytes = bytes;
  return report;
}

/// Numbers a forest, and waits for `stream`. If no number is wanted, it only looks for faults.
inline rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                                      cudaStream_t stream = nullptr,
                                      const rooted_tree_config& config = {},
                                      scratch_memory scratch = {}) {
  return run_rooted_tree(shape, numbers, no_folds{}, stream, config, scratch);
}

/// Numbers and folds a forest, and waits for `stream`.
template <class T, class Combine>
rooted_tree_report rooted_tree(const tree_shape& shape, const tree_number_arrays& numbers,
                               const tree_folds<T, Combine>& folds, cudaStream_t stream = nullptr,
                               const rooted_tree_config& config = {}, scratch_memory scratch = {}) {
  return run_rooted_tree(shape, numbers, folds, stream, config, scratch);
}

}  // namespace ramify::inline RAMIFY_BUILD
