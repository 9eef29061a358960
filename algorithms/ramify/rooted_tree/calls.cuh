// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rooted trees that kernels number and fold: rooted_tree_calls, which is the plan of such calls in
/// a call_arena, and the function that a thread calls.
///
///     using trees = ramify::rooted_tree_calls<>;  // without folds
///     ramify::call_arena arena(trees(max_nodes));
///     ...
///     status = ramify::rooted_tree(parents, nodes, {.levels = levels}, calls);  // in a kernel
///
/// Input        a parent array. Child lists, and a single root as a requirement, are for the host.
/// Rounds       as in a run that the host starts: if the numbers depend on the order of siblings,
///              the edges are made and sorted; then come the grids of the numbering, then those of
///              the folding (chain_call.cuh).
/// Faults       Of a forest with a parent out of range, or with a cycle, no output is written. The
///              call ends as others do, and call_report::faulty counts it.

#include <new>
#include <ramify/quicksort.cuh>
#include <ramify/rooted_tree/folds.cuh>
#include <ramify/rooted_tree/ranking.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class T = char, class Combine = no_operator>
class rooted_tree_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD {

/// The steps of a call.
enum tree_step : unsigned { making_edges, sorting, numbering };

/// What decides the scratch memory of a call.
struct tree_call_sizes {
  std::size_t nodes;
  bool by_order;  ///< the order of siblings decides an output
  bool leaffix;
  bool rootfix;
};

/// The programs of a call, in its scratch memory: as locals they would need most of the stack that
/// a thread has by default.
template <class T, class Combine>
struct tree_call_programs {
  using edge_sort = typename quicksort::sort_call<tree_edge, no_value, ascending>::context;

  tour_program tour;
  edge_sort sort;  ///< unused if siblings may be in any order
  fold_program<T, Combine> folding;
};

/// The scratch memory of a call. The sort uses memory of the tour before the tour is linked, and
/// the folding after the numbering.
template <class T, class Combine>
struct tree_call_memory {
  using programs_type = tree_call_programs<T, Combine>;
  using sort_memory = quicksort::sort_call_memory<typename programs_type::edge_sort>;

  __host__ __device__ tree_call_memory(memory_layout& layout, const tree_call_sizes& sizes,
                                       const tree_number_arrays& requested,
                                       const quicksort::sample_sort_sizes& of_device) {
    layout.take<runtime::chain_call_state>(1);
    programs = layout.take<programs_type>(1);
    tour.state = layout.take<tree_state>(1);
    tour.numbers = requested;
    fold_state_memory = layout.take<fold_state>(1);
    for (std::int32_t** range : {&tour.numbers.preorder, &tour.numbers.subtree_sizes}) {
      if (sizes.leaffix && *range == nullptr) *range = layout.take<std::int32_t>(sizes.nodes);
    }
    memory_layout for_folding = layout;
    if (sizes.by_order) tour.edges = layout.take<tree_edge>(sizes.nodes);
    for_sort = layout;
    tour.take_levels(layout, static_cast<unsigned>(sizes.nodes));
    folds.take(for_folding, sizes.nodes, sizes.leaffix, sizes.rootfix);
    if (for_folding.size() > layout.size()) layout = for_folding;
    if (!sizes.by_order) return;
    memory_layout after_sort = for_sort;
    static_cast<void>(sort_memory(after_sort, sizes.nodes, of_device));
    if (after_sort.size() > layout.size()) layout = after_sort;
  }

  programs_type* programs;
  tour_program tour{};
  fold_state* fold_state_memory;
  fold_memory<T> folds{};
  memory_layout for_sort{nullptr};  ///< where the memory of the sort begins
};

/// A numbering, with or without folds, that a kernel has called. chain_call.cuh describes its
/// members.
template <class T, class Combine>
struct tree_call : runtime::chain_call<tree_call<T, Combine>> {
  using plan = rooted_tree_calls<T, Combine>;
  using memory = tree_call_memory<T, Combine>;
  using programs = tree_call_programs<T, Combine>;
  using ticket_type = runtime::call_ticket;
  static constexpr bool has_folds = !std::is_same_v<Combine, no_operator>;
  static constexpr unsigned nested_grids = 6;
  static_assert(nested_grids >= quicksort::sample_sort_level_grids);

  const std::int32_t* parents;
  std::size_t nodes;
  tree_number_arrays numbers;
  tree_folds<T, Combine> folds;

  [[nodiscard]] __device__ bool fits(const plan& p) const { return nodes <= p.max_nodes(); }
  [[nodiscard]] __device__ bool is_empty() const { return nodes == 0; }

  /// Makes the programs, and writes their first states.
  __device__ void write_state(const plan& p, const ticket_type& ticket) const {
    clear_state(ticket);
    const bool by_order =
        folds.leaffix != nullptr || numbers.preorder != nullptr || numbers.postorder != nullptr;
    memory_layout layout(ticket.scratch());
    const memory parts(layout,
                       {nodes, by_order, folds.leaffix != nullptr, folds.rootfix != nullptr},
                       numbers, p.sort_sizes());
    programs& all = *parts.programs;
    all.tour = parts.tour;
    all.tour.nodes.upper_bound = nodes;
    all.tour.parents = parents;
    *all.tour.state = p.first_state();
    if constexpr (has_folds) make_folding(parts);
    if (by_order) {
      memory_layout for_sort = parts.for_sort;
      const typename memory::sort_memory of_sort(for_sort, nodes, p.sort_sizes());
      all.sort = of_sort.program({parts.tour.edges}, {}, ticket);
      if (is_small(all.sort)) all.sort.sizes.blocks = 1;
    } else {
      state_of(ticket).step = numbering;
    }
  }

  [[nodiscard]] __device__ bool is_complete(const plan&, const ticket_type& ticket) const {
    if (state_of(ticket).step != numbering) return false;
    const programs& all = programs_of(ticket);
    const tree_state& numbered = *all.tour.state;
    if (!all.tour.finished(numbered)) return false;
    if (!requests_folds() || !numbered.is_numbered(false)) return true;
    return all.folding.finished(*all.folding.state);
  }
  /// Returns whether the input of a complete call is faulty.
  [[nodiscard]] __device__ bool is_faulty(const plan&, const ticket_type& ticket) const {
    return !programs_of(ticket).tour.state->is_numbered(false);
  }

  __device__ void launch_due(const plan&, const ticket_type& ticket, const char* kernel) const {
    programs& all = programs_of(ticket);
    link_to_call(all.tour, ticket);
    unsigned& step = state_of(ticket).step;
    if (step == making_edges) return make_edges(all, ticket);
    if (step == sorting) {
      link_to_call(all.sort, ticket);
      if (is_small(all.sort)) all.sort.slots = {};  // one grid sorts a small root
      if (!all.sort.finished(*all.sort.state)) return launch_round_of_call(all.sort, kernel);
      step = numbering;
    }
    if (!all.tour.finished(*all.tour.state)) return launch_round_of_call(all.tour, kernel);
    if constexpr (has_folds) {
      link_to_call(all.folding, ticket);
      launch_round_of_call(all.folding, kernel);
    }
  }

 private:
  [[nodiscard]] __device__ bool requests_folds() const {
    return has_folds && (folds.leaffix != nullptr || folds.rootfix != nullptr);
  }
  [[nodiscard]] __device__ bool is_small(const typename programs::edge_sort& sort) const {
    return nodes <= sort.sizes.long_leaf;
  }
  [[nodiscard]] __device__ static programs& programs_of(const ticket_type& ticket) {
    memory_layout layout(ticket.scratch());
    layout.take<runtime::chain_call_state>(1);
    return *layout.take<programs>(1);
  }

  __device__ void make_folding(const memory& parts) const {
    using program = fold_program<T, Combine>;
    // An operator may have no assignment.
    program& made = *new (static_cast<void*>(&parts.programs->folding))
                        program{{{}, parts.fold_state_memory, {}}, parts.folds, folds};
    made.nodes.upper_bound = nodes;
    made.parents = parents;
    made.preorder = parts.tour.numbers.preorder;
    made.subtree_sizes = parts.tour.numbers.subtree_sizes;
    made.state->due = made.first_phase();
    made.state->incomplete = 0;
  }

  /// Launches the grid that makes the edges, and makes their sort due.
  __device__ void make_edges(const programs& all, const ticket_type& ticket) const {
    const auto launched = ramify::launch(make_edges_from_parents<tour_program>, grid_over(nodes),
                                         fire_and_forget(), all.tour);
    if (ticket.conclude(launched, "make_edges_from_parents")) {
      write_first_state(all.sort);
      state_of(ticket).step = sorting;
    } else {
      state_of(ticket).progress.stopped = 1;
    }
  }
};

}  // namespace ramify::detail::rooted_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of rooted_tree() by kernels, with folds of this type and with
/// this operator, or, without template arguments, without folds.
template <class T, class Combine>
class rooted_tree_calls {
  using memory = detail::rooted_tree::tree_call_memory<T, Combine>;

 public:
  using call = detail::rooted_tree::tree_call<T, Combine>;  ///< the call, for the runtime
  static constexpr const char* name = "rooted_tree";        ///< the name of the call in messages
  static constexpr unsigned batches = 0;                    ///< batches of calls, for the runtime

  /// Plans calls of up to `max_nodes` nodes. Calls of more are refused.
  /// \throws std::invalid_argument if max_nodes is more than max_tree_nodes
  explicit rooted_tree_calls(std::size_t max_nodes) : max_nodes_(max_nodes) {
    detail::check_field(max_nodes <= max_tree_nodes, "rooted_tree_calls: max_nodes", max_nodes,
                        "at most 2^31 - 2");
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws cuda_error
  void prepare() {
    sort_sizes_ = detail::quicksort::device_sizes<typename memory::programs_type::edge_sort>();
  }

  /// Returns the scratch memory of any call, in bytes, after prepare().
  [[nodiscard]] std::size_t scratch_bytes() const {
    constexpr bool has_folds = !std::is_same_v<Combine, no_operator>;
    memory_layout layout(nullptr);
    static_cast<void>(memory(layout, {max_nodes_, true, has_folds, has_folds}, {}, sort_sizes_));
    // The sizes of lists and of a sort do not always rise with the number of nodes.
    return layout.size() + 2 * max_nodes_ + (std::size_t{64} << 10);
  }

  /// Returns the maximum number of nodes of a call.
  [[nodiscard]] __host__ __device__ std::size_t max_nodes() const { return max_nodes_; }
  /// Returns the sizes of the kernels that sort, after prepare().
  [[nodiscard]] __host__ __device__ const detail::quicksort::sample_sort_sizes& sort_sizes() const {
    return sort_sizes_;
  }
  /// Returns the state of a numbering at its beginning.
  [[nodiscard]] __device__ const detail::rooted_tree::tree_state& first_state() const {
    return first_state_;
  }

 private:
  std::size_t max_nodes_;
  detail::quicksort::sample_sort_sizes sort_sizes_{};
  detail::rooted_tree::tree_state first_state_{};
};

/// Computes the requested numbers and folds of a forest: rooted_tree() for a thread of a kernel. It
/// returns without waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param parents  the parent of each of n nodes, or -1 for a root, in device memory
/// \param numbers  arrays of n elements each in device memory; null: not computed
/// \param folds    values and results, in device memory; null results are not computed
/// \param calls    a kernel_environment. The plan rooted_tree_calls<T, Combine> is among those of
///                 its arena.
template <class T, class Combine, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
rooted_tree(const std::int32_t* parents, std::size_t n, const tree_number_arrays& numbers,
            const tree_folds<T, Combine>& folds, const Calls& calls) {
  if constexpr (detail::rooted_tree::checked_types<T, Combine>::are_valid) {
    return detail::start_call(
        detail::rooted_tree::tree_call<T, Combine>{{}, parents, n, numbers, folds}, calls);
  }
}
/// Computes the requested numbers of a forest, without folds; see the function with folds. The plan
/// is rooted_tree_calls<>.
template <class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
rooted_tree(const std::int32_t* parents, std::size_t n, const tree_number_arrays& numbers,
            const Calls& calls) {
  return rooted_tree(parents, n, numbers, no_folds{}, calls);
}

}  // namespace ramify::inline RAMIFY_BUILD
