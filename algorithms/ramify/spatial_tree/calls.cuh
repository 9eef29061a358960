// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Spatial trees that kernels build: spatial_tree_calls, which is the plan of such calls in a
/// call_arena, and the function that a thread calls. Public: <ramify/spatial_tree.cuh> does not
/// include this header, which includes the sorts.
///
///     using trees = ramify::spatial_tree_calls<float, 3>;
///     ramify::call_arena arena(trees(max_points));
///     ...                                                                       // in a kernel:
///     const ramify::called_tree<float, 3> tree(memory, n, 2 * n);
///     status = ramify::build_spatial_tree(points, n, tree,
///                                         calls.then(use_tree, {8, 128}, tree.view()));
///
/// Tree         that of the host's build, in memory of the caller (called_tree.cuh).
/// Options      those of the plan, which hold for all its calls. max_nodes and streams are for the
///              host: each tree has its own memory, and no grid launches another.
/// Small calls  of up to 1,408 points (CPU executor: 512), and at most 256 (leaf_size + 1), are one
///              block, build_in_block(), and need no scratch memory. Those that were kept are
///              blocks of one grid.
/// Steps        of others: bounds of the points; their codes; the rounds of a sort of the codes;
///              the points in order; a grid for each level of nodes of more than block_points
///              points; boxes. Join: drive_call() (chain_call.cuh).
/// Faults       If a point is not finite, or the tree has more nodes than its memory, the view has
///              no nodes and no points. The call ends as others do, and call_report::faulty counts
///              it.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/kernel_calls.cuh>
#include <ramify/spatial_tree/build_in_block.cuh>
#include <ramify/spatial_tree/called_build.cuh>
#include <ramify/spatial_tree/called_tree.cuh>
#include <ramify/spatial_tree/config.hpp>

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
class spatial_tree_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The steps of a call.
enum build_step : unsigned {
  finding_bounds,
  encoding,
  sorting,
  gathering,
  making_nodes,
  making_boxes,
  all_made
};

/// A build that a kernel has called. chain_call.cuh describes its members.
template <class Real, int dim>
struct build_call : runtime::chain_call<build_call<Real, dim>> {
  using plan = spatial_tree_calls<Real, dim>;
  using ticket_type = runtime::call_ticket;
  using memory = called_build_memory<Real, dim>;
  using build = called_build<Real, dim>;
  using base = runtime::chain_call<build_call>;
  using call_needs = runtime::call_needs;
  static constexpr unsigned nested_grids = quicksort::sample_sort_level_grids;

  const point<Real, dim>* points;
  std::size_t n;
  called_tree<Real, dim> tree;

  [[nodiscard]] __device__ __forceinline__ bool fits(const plan& p) const {
    return n <= p.max_points() && n <= tree.max_points && (n == 0 || tree.max_nodes != 0);
  }
  [[nodiscard]] __device__ __forceinline__ call_needs needs(const plan& p) const {
    return n <= p.small_points() ? call_needs{1, 1, false, 0} : base::needs(p);
  }
  [[nodiscard]] __device__ __forceinline__ bool start(const plan& p,
                                                      const ticket_type& ticket) const {
    return n <= p.small_points() ? launch_blocks(p, 1, ticket, {}) : base::start(p, ticket);
  }
  /// Launches blocks, each of which builds a small tree.
  [[nodiscard]] __device__ __forceinline__ bool launch_blocks(
      const plan& p, unsigned blocks, const ticket_type& ticket,
      const runtime::call_batch& batch) const {
    const launch_shape shape(blocks, unsigned{small_build<Real, dim>::threads});
    const auto launched = launch(build_in_block<Real, dim, build_call>, shape, fire_and_forget(),
                                 *this, &p, ticket, batch);
    return ticket.conclude(launched, "build_in_block");
  }
  /// Returns false: a block publishes also the tree of a call without points.
  [[nodiscard]] __device__ bool is_empty() const { return false; }

  // ---- a call of more points --------------------------------------------------------------------

  /// Makes the programs, and writes the first state of the sort.
  __device__ void write_state(const plan& p, const ticket_type& ticket) const {
    clear_state(ticket);
    memory_layout layout(ticket.scratch());
    const memory parts(layout, n, tree.max_nodes, p.block_points(), p.sort_sizes());
    build& all = *parts.shared;
    memset(static_cast<void*>(&all.progress), 0, sizeof all.progress);
    all.found = parts.found;
    all.arrived = 0;
    memory_layout for_sort = parts.for_sort;
    const typename memory::sort_memory of_sort(for_sort, n, p.sort_sizes());
    all.sort = of_sort.program({parts.codes.elements}, {}, ticket);
    if (all.sorts_at_once(n)) all.sort.sizes.blocks = 1;
    write_first_state(all.sort);
    all.nodes = {};
    all.nodes.state = parts.heads;
    all.nodes.spawn.threads = build::context::threads;
    all.nodes.context = {parts.codes,   tree.arrays.nodes, tree.arrays.parents,
                         parts.arrived, &all.progress,     tree.max_nodes,
                         p.leaf_size(), p.block_points(),  0};
    for (unsigned i = 0; i < 2; ++i) all.nodes.lists[i] = parts.lists[i];
  }

  [[nodiscard]] __device__ bool is_complete(const plan&, const ticket_type& ticket) const {
    return state_of(ticket).step == all_made;
  }
  /// Returns whether a complete call has published no tree.
  [[nodiscard]] __device__ bool is_faulty(const plan&, const ticket_type&) const {
    return tree.built->is_complete == 0;
  }

  __device__ void launch_due(const plan&, const ticket_type& ticket, const char* kernel) const {
    build& all = shared_of(ticket);
    unsigned& step = state_of(ticket).step;
    // Two grids at once, if the second one has a slot.
    const bool in_pairs = ticket.slots > runtime::drivers_of_call + 1;
    if (step == finding_bounds) {
      put(ticket, "find_bounds", find_bounds<Real, dim>,
          {bounds_blocks(n), unsigned{bounds_threads}}, points, n, all.found, &all.arrived);
      if (step == finding_bounds || !in_pairs) return;
    }
    if (step == encoding) {
      return put(ticket, "encode_points", encode_points<Real, dim, code_elements>,
                 runtime::one_thread_each(n), points, n, all.found, all.nodes.context.codes);
    }
    if (step == sorting) {
      link_to_call(all.sort, ticket);
      if (all.sorts_at_once(n)) all.sort.slots = {};
      if (!all.sort.finished(*all.sort.state)) return launch_round_of_call(all.sort, kernel);
      begin_list(all.nodes);
      step = gathering;
    }
    if (step == gathering) {
      put(ticket, "gather_points", gather_points<Real, dim, code_elements>,
          runtime::one_thread_each(n), points, n, all.nodes.context.codes, tree.arrays.points,
          tree.arrays.ids, &all.progress.unsorted);
      if (step == gathering || !in_pairs) return;
    }
    if (step == making_nodes) {
      link_to_call(all.nodes, ticket);
      all.nodes.slots = {};  // the grids launch none: what is left is in a list
      if (!all.nodes.finished(*all.nodes.state)) return launch_round_of_call(all.nodes, kernel);
      publish(all.progress, tree.max_nodes, true, *all.found, *tree.built);
      step = tree.built->nodes > 0 ? making_boxes : all_made;
    }
    if (step == making_boxes) {
      using fold = box_fold<Real, dim>;
      put(ticket, "reduce_nodes", reduce_nodes<Real, dim, fold>,
          runtime::one_thread_each(tree.built->nodes, reduce_threads), tree.view(),
          fold{tree.arrays.points, tree.arrays.nodes}, all.nodes.context.arrived);
    }
  }

 private:
  [[nodiscard]] __device__ static build& shared_of(const ticket_type& ticket) {
    memory_layout layout(ticket.scratch());
    return *memory::take_shared(layout);
  }

  /// Writes the root, and puts it into the list of nodes to split. The sort is complete.
  __device__ void begin_list(const decltype(build::nodes)& nodes) const {
    begin_nodes(nodes.context, static_cast<std::uint32_t>(n));
    memset(static_cast<void*>(nodes.state), 0, sizeof *nodes.state);
    static_cast<void>(nodes.lists[0].push({0, 1}, 1));
  }

  /// Launches a grid, which runs after those that this function has launched before in this thread,
  /// and makes the next step due.
  template <class... Parameters, class... Arguments>
  __device__ void put(const ticket_type& ticket, const char* name, void (*grid)(Parameters...),
                      const launch_shape& shape, const Arguments&... arguments) const {
    runtime::chain_call_state& state = state_of(ticket);
    const auto launched = ramify::launch(grid, shape, nullptr, arguments..., ticket.trace);
    if (ticket.conclude(launched, name)) {
      ++state.step;
    } else {
      state.progress.stopped = 1;
    }
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of build_spatial_tree() by kernels.
template <class Real, int dim>
class spatial_tree_calls {
  using memory = detail::spatial_tree::called_build_memory<Real, dim>;
  using build = typename memory::build;

 public:
  using call = detail::spatial_tree::build_call<Real, dim>;  ///< the call, for the runtime
  static constexpr const char* name = "build_spatial_tree";  ///< the name of the call in messages
  /// The kinds of calls of which one grid does many.
  static constexpr unsigned batches = 1;

  /// Plans calls of up to `max_points` points. Calls of more are refused.
  /// \throws std::invalid_argument if max_points is 2^31 or more, for bad options, and for options
  ///         that only the host has: max_nodes, and other streams than the default
  explicit spatial_tree_calls(std::size_t max_points, const spatial_tree_options& options = {})
      : max_points_(max_points), leaf_size_(options.leaf_size) {
    constexpr std::size_t most = spatial_shape<dim>::max_points;
    detail::check_field(max_points <= most, "spatial_tree_calls: max_points", max_points,
                        "less than 2^31");
    validate(options);
    detail::check_field(options.streams == spatial_tree_options{}.streams,
                        "spatial_tree_calls: spatial_tree_options.streams",
                        to_string(options.streams), "fire_and_forget");
    detail::check_field(options.max_nodes == 0,
                        "spatial_tree_calls: spatial_tree_options.max_nodes", options.max_nodes,
                        "0");
    block_points_ = build::context::block_points_of(options);
    small_points_ = detail::spatial_tree::small_build<Real, dim>::max_points(leaf_size_);
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws cuda_error
  void prepare() { sort_sizes_ = detail::quicksort::device_sizes<typename build::code_sort>(); }

  /// Returns the scratch memory of any call, in bytes, after prepare(); 0 if all are small.
  [[nodiscard]] std::size_t scratch_bytes() const {
    if (max_points_ <= small_points_) return 0;
    using tuning = typename build::code_sort::tuning;
    return detail::quicksort::scratch_for_any_root<tuning>(max_points_, [&](std::size_t n) {
      memory_layout layout(nullptr);
      static_cast<void>(memory(layout, n, 2 * n, block_points_, sort_sizes_));
      return layout.size();
    });
  }

  /// Launches a grid for `count` calls that were kept.
  [[nodiscard]] __device__ bool launch_batch(unsigned, unsigned count,
                                             const detail::call_ticket& ticket,
                                             const detail::call_batch& batch) const {
    return batch.template call<call>(0).launch_blocks(*this, count, ticket, batch);
  }

  // The calls read these in kernels.
  /// Returns the maximum number of points of a call.
  [[nodiscard]] __device__ std::size_t max_points() const { return max_points_; }
  /// Returns the number of points that one block builds.
  [[nodiscard]] __host__ __device__ unsigned small_points() const { return small_points_; }
  /// Returns the leaf size of all calls.
  [[nodiscard]] __device__ unsigned leaf_size() const { return leaf_size_; }
  /// Returns block_points of all calls.
  [[nodiscard]] __host__ __device__ unsigned block_points() const { return block_points_; }
  /// Returns the sizes of the sorts, for the runtime.
  [[nodiscard]] __host__ __device__ const detail::quicksort::sample_sort_sizes& sort_sizes() const {
    return sort_sizes_;
  }

 private:
  std::size_t max_points_;
  unsigned leaf_size_;
  unsigned block_points_;
  unsigned small_points_;  ///< maximum number of points that one block does
  detail::quicksort::sample_sort_sizes sort_sizes_{};
};

/// Builds a tree over n points: the constructor of spatial_tree for a thread of a kernel. It
/// returns without waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param points  n points in device memory, which are only read, until the call is complete
/// \param n       refused if it is more than the maximum of the plan or of `tree`
/// \param tree    where the tree is built
/// \param calls   a kernel_environment. The plan spatial_tree_calls<Real, dim> is among those of
///                its arena.
template <class Real, int dim, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
build_spatial_tree(const point<Real, dim>* points, std::size_t n,
                   const called_tree<Real, dim>& tree, const Calls& calls) {
  return detail::start_call(detail::spatial_tree::build_call<Real, dim>{{}, points, n, tree},
                            calls);
}

}  // namespace ramify::inline RAMIFY_BUILD
