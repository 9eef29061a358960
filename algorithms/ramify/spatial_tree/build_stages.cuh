// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the stages of a build after the sort, and the memory of a build.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/build.cuh>
#include <ramify/spatial_tree/code_sort.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <ramify/spatial_tree/tree_arrays.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Returns the launches and waits of a build of `n` points on each route, without the root's grid,
/// which the host launches on either route. `by_host` is whether it also launches the levels.
inline route_plans plans_of_build(std::size_t n, int dim, const spatial_tree_options& options,
                                  bool by_host) {
  // Device: one grid per large node, 0.27 us each, although many launches overlap: 10^7 points took
  // 1.25 ms longer (H200).
  const double tasks = double(n) / options.block_points + 1;
  const double levels = std::log2(tasks) / dim;
  route_plan device = plan_of_levels(levels, options.streams);
  device.host_launches = 1;  // the drain
  device.extra_us = 0.27 * tasks;
  // Flat: the host launches the levels ahead, and reads the list and the status back once; an
  // iteration of the graph is two levels.
  const route_plan flat = by_host
                              ? route_plan{.host_launches = levels + 1, .host_round_trips = 2}
                              : route_plan{.graph_iterations = levels / 2 + 1, .graph_loops = 1};
  return {flat, device, route::flat};
}

/// Returns the number of levels of tasks after the root, for evenly distributed points: nodes of
/// about block_points points may have to be split once more.
inline unsigned levels_of_tasks(std::uint32_t n, int dim, unsigned block_points) {
  if (n <= block_points) return 0;
  return static_cast<unsigned>(std::ceil(std::log2(double(n) / block_points) / dim)) + 1;
}

/// The points of a build, and its options.
template <class Real, int dim>
struct build_input {
  const point<Real, dim>* points;
  std::uint32_t n;  ///< number of points, or its upper bound; more than 0
  spatial_tree_options options;
  bool may_wait;                   ///< whether the start of the build may wait for the stream
  runtime::element_count count{};  ///< the number of points, if only the device has it

  /// Returns the number of points for the kernels after read_count(), which writes it to `read`.
  [[nodiscard]] runtime::element_count points_in(const runtime::counted_elements* read) const {
    return count.on_device() ? runtime::element_count(read, n) : runtime::element_count(n);
  }
};

/// Scratch memory of the stages before the recursion. Sort is a code_sort.
template <class Real, int dim, class Sort>
struct sort_scratch {
  point_bounds<Real, dim>* found;                    ///< the first element is the result
  unsigned* arrived;                                 ///< in find_bounds()
  const runtime::counted_elements* count = nullptr;  ///< that of the node_scratch
  typename Sort::scratch codes;

  sort_scratch(memory_layout& memory, std::size_t n)
      : found(memory.take<point_bounds<Real, dim>>(bounds_blocks(n))),
        arrived(memory.take<unsigned>(1)),
        codes(memory, static_cast<std::uint32_t>(n)) {}
};

/// Scratch memory of the recursion over n points and `nodes` nodes, and of the grids around it. The
/// host reads its first arrays with one copy (run_control::wait()).
template <class Real, int dim>
struct node_scratch {
  using context = build_context<Real, dim>;
  std::size_t nodes;
  unsigned block_points;
  std::size_t max_tasks;  ///< that wait at the same time
  std::byte* control;
  build_progress* progress;
  runtime::counted_elements* count;
  std::byte* lists;
  unsigned* arrived;

  node_scratch(memory_layout& memory, std::size_t n, std::size_t max_nodes,
               const spatial_tree_options& options)
      : nodes(max_nodes),
        block_points(context::block_points_of(options)),
        // Tasks that wait at the same time have different parents, of which none is an ancestor of
        // another. Each parent has more than block_points points.
        max_tasks(n / block_points + 1),
        control(memory.take<std::byte>(run_control::scratch_bytes)),
        progress(memory.take<build_progress>(1)),
        count(memory.take<runtime::counted_elements>(1)),
        lists(memory.take<std::byte>(recursion<siblings, context>::scratch_bytes(max_tasks))),
        arrived(memory.take<unsigned>(max_nodes)) {}
};

/// The stages of a build after the sort, which is a code_sort. It must not be moved.
template <class Real, int dim, class Sort>
class node_stages {
  using context = build_context<Real, dim, typename Sort::codes_type>;

 public:
  /// The memory must outlive this object. \throws cuda_error
  node_stages(const build_input<Real, dim>& input, const runtime::run_choices& choices,
              const tree_arrays<Real, dim>& tree, const sort_scratch<Real, dim, Sort>& sorted,
              const node_scratch<Real, dim>& scratch)
      : input_(input),
        tree_(tree),
        found_(sorted.found),
        points_(input.points_in(sorted.count)),
        control_(scratch.control, choices, run_control::max_seen_bytes),
        context_{sorted.codes.array(),
                 tree.nodes,
                 tree.parents,
                 scratch.arrived,
                 scratch.progress,
                 scratch.nodes,
                 input.options.leaf_size,
                 scratch.block_points,
                 levels_of_tasks(input.n, dim, scratch.block_points)},
        // One grid for each level. With one for each task, 10^7 points took 3.3 instead of 2.5 ms
        // on an H100, because kernels start only some 4 million grids a second.
        recursion_(scratch.lists, scratch.max_tasks, control_, context::threads, 0,
                   input.options.streams, context_, {.grain = granularity::per_grid},
                   choices.loop) {}
  node_stages(const node_stages&) = delete;
  node_stages& operator=(const node_stages&) = delete;

  /// Puts the stages into the stream, with sort_runs() first if `has_runs`. Asynchronous.
  /// \throws unavailable, cuda_error
  void start(bool has_runs) {
    const phase_range range("spatial_tree: start nodes");
    clear_memory(context_.progress, 1, control_.stream(), "clearing the progress of a build");
    if constexpr (Sort::may_have_runs) {
      if (has_runs) {
        put(sort_runs<dim>, input_.n, "sorting runs of codes", context_.codes, input_.n,
            &context_.progress->unsorted);
      }
    }
    put(gather_points<Real, dim, typename Sort::codes_type>, points_, "ordering the points",
        input_.points, points_, context_.codes, tree_.points, tree_.ids,
        &context_.progress->unsorted);
    put(write_root<context>, 1, "writing the root", context_, points_);
    recursion_.start({0, 1}, 1);
    published_ = publish();
  }

  /// Launches the grids after the recursion, and returns their number. Asynchronous.
  /// \throws cuda_error
  unsigned publish() const {
    launch_each(publish_nodes<Real, dim, context>, 1, control_.stream(), "publishing the nodes",
                context_, recursion_.state(), found_, control_.ticket());
    launch_reduction(view(), nodes(), box_fold<Real, dim>{tree_.points, tree_.nodes},
                     context_.arrived, control_.stream(), control_.ticket());
    return 2;
  }

  /// Returns whether the grids of start() complete the nodes.
  [[nodiscard]] bool completes_in_stream() const { return recursion_.completes_in_stream(); }

  /// Waits for the recursion and completes it. Returns the report of the stages.
  /// \throws cuda_error, device_launch_error
  run_report finish() {
    recursion_.finish();
    run_report report = control_.report();
    report.host_grids += published_;
    return report;
  }

  /// Returns the tree, for kernels that are launched after start().
  [[nodiscard]] spatial_tree_view<Real, dim> view() const {
    return tree_.view(input_.n, context_.capacity, &context_.progress->published);
  }

  /// Returns the progress of the build, as finish() has read it.
  [[nodiscard]] build_progress progress() const { return control_.seen(context_.progress); }

  [[nodiscard]] run_control& control() { return control_; }

  /// Launches `kernel` over n items, and counts the grid: see launch_each(). \throws cuda_error
  template <class... Parameters, class... Arguments>
  void put(void (*kernel)(Parameters...), const runtime::element_count& n, const char* doing,
           const Arguments&... arguments) {
    launch_each(kernel, n, control_.stream(), doing, arguments..., control_.ticket());
    control_.count_grids(1, 0);
  }

 private:
  /// Returns the number of nodes for the size of a grid.
  [[nodiscard]] runtime::element_count nodes() const {
    const std::size_t most = context_.capacity;
    if (!input_.count.on_device()) return most;
    return device_count(&context_.progress->published.nodes, most);
  }

  const build_input<Real, dim>& input_;
  tree_arrays<Real, dim> tree_;
  const point_bounds<Real, dim>* found_;
  runtime::element_count points_;
  run_control control_;
  context context_;
  recursion<siblings, context> recursion_;
  unsigned published_ = 0;  // grids of publish() in start()
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
