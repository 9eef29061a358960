// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a build. All stages are put into the stream at once:
///
///     1 find_bounds, encode_points   the Morton codes
///     2 quicksort                    of the codes
///     3 gather_points, write_root    the points in order; whether the sort is complete
///     4 build_subtrees               the recursion that builds the nodes
///     5 publish_nodes, reduce_nodes  the number of nodes, if they are complete; their boxes
///
/// Stages 2 and 4 may need the host, if kernels find no launch slots or on the flat route. The
/// later stages then do nothing, and finish() runs them again.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/build.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/reduce_bottom_up.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The Fold for reduce_bottom_up() that computes the boxes of all nodes.
template <class Real, int dim>
struct box_fold {
  const point<Real, dim>* points;
  spatial_node<Real, dim>* nodes;

  __device__ box<Real, dim> of_point(std::uint32_t i) const {
    return box<Real, dim>::of(points[i]);
  }
  __device__ box<Real, dim> combine(const box<Real, dim>& a, const box<Real, dim>& b) const {
    return box<Real, dim>::enclosing(a, b);
  }
  __device__ box<Real, dim>& at(std::uint32_t node) const { return nodes[node].bounds; }
};

/// The launches and waits of a build of `n` points on each route. Both exclude the root's grid,
/// which the host launches on either route.
inline route_plans plans_of_build(std::size_t n, int dim, const spatial_tree_config& config) {
  // Flat: the host reads the list and the status back for each level. Device: one grid per large
  // node, 0.27 us each, although many launches overlap: 10^7 points took 1.25 ms longer (H200).
  const double tasks = double(n) / config.block_points + 1;
  const double levels = std::log2(tasks) / dim;
  route_plan device = plan_of_levels(levels, config.streams);
  device.host_launches = 1;  // the drain
  device.extra_us = 0.27 * tasks;
  return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::flat};
}

/// The points of a build, and how it is run.
template <class Real, int dim>
struct build_input {
  const point<Real, dim>* points;
  std::uint32_t n;  ///< more than 0
  cudaStream_t stream;
  spatial_tree_config config;
  route_choice choice;
  std::size_t pending_launch_limit;
};

/// Sizes of the memory of a build of `n` points.
template <class Real, int dim>
struct build_sizes {
  std::size_t n;
  std::size_t nodes;
  unsigned block_points;
  std::size_t max_tasks;  ///< that wait at the same time

  build_sizes(std::size_t n, const spatial_tree_config& config)
      : n(n),
        nodes(reserved_nodes(n, config)),
        block_points(std::min(config.block_points,
                              build_context<Real, dim>::queue_size * (config.leaf_size + 1))),
        // Tasks that wait at the same time have different parents, of which none is an ancestor of
        // another. Each parent has more than block_points points.
        max_tasks(n / block_points + 1) {}
};

/// The arrays of a tree.
template <class Real, int dim>
struct tree_arrays {
  point<Real, dim>* points = nullptr;
  std::uint32_t* ids = nullptr;
  spatial_node<Real, dim>* nodes = nullptr;
  std::uint32_t* parents = nullptr;

  void take_points(memory_layout& memory, std::size_t n) {
    points = memory.take<point<Real, dim>>(n);
    ids = memory.take<std::uint32_t>(n);
  }
  void take_nodes(memory_layout& memory, std::size_t count) {
    nodes = memory.take<spatial_node<Real, dim>>(count);
    parents = memory.take<std::uint32_t>(count);
  }
};

/// Scratch memory of the stages before the recursion.
template <class Real, int dim>
struct sort_scratch {
  point_bounds<Real, dim>* found;  ///< the first element is the result
  unsigned* arrived;               ///< in find_bounds()
  morton_code* codes;
  scratch_memory sort;

  sort_scratch(memory_layout& memory, std::size_t n, const quicksort_config& config)
      : found(memory.take<point_bounds<Real, dim>>(bounds_blocks(n))),
        arrived(memory.take<unsigned>(1)),
        codes(memory.take<morton_code>(n)) {
    sort.bytes = quicksort_scratch_bytes<morton_code, no_value, morton_code::less>(n, config);
    sort.data = memory.take<std::byte>(sort.bytes);
  }
};

/// Scratch memory of the recursion and of the grids around it.
template <class Real, int dim>
struct node_scratch {
  build_progress* progress;
  unsigned* arrived;
  std::byte* lists;
  std::byte* control;

  node_scratch(memory_layout& memory, const build_sizes<Real, dim>& sizes)
      : progress(memory.take<build_progress>(1)),
        arrived(memory.take<unsigned>(sizes.nodes)),
        lists(memory.take<std::byte>(
            recursion<siblings, build_context<Real, dim>>::scratch_bytes(sizes.max_tasks))),
        control(memory.take<std::byte>(run_control::scratch_bytes)) {}
};

/// The stages of a build after the sort. It must not be moved.
template <class Real, int dim>
class node_stages {
  using context = build_context<Real, dim>;

 public:
  /// The memory must outlive this object. \throws cuda_error
  node_stages(const build_input<Real, dim>& input, const build_sizes<Real, dim>& sizes,
              const tree_arrays<Real, dim>& tree, const sort_scratch<Real, dim>& sorted,
              const node_scratch<Real, dim>& scratch)
      : input_(input),
        tree_(tree),
        sorted_(sorted),
        control_(scratch.control, input.choice, input.pending_launch_limit, input.stream,
                 input.config.trace),
        context_{sorted.codes,     tree.nodes,  tree.parents,           scratch.arrived,
                 scratch.progress, sizes.nodes, input.config.leaf_size, sizes.block_points},
        recursion_(
            scratch.lists, sizes.max_tasks, control_, context::threads, 0,
            control_.on_device_route() ? input.config.streams : child_streams::fire_and_forget,
            context_) {}
  node_stages(const node_stages&) = delete;
  node_stages& operator=(const node_stages&) = delete;

  /// Puts the stages into the stream. Asynchronous. \throws unavailable, cuda_error
  void start() {
    check(cudaMemsetAsync(context_.progress, 0, sizeof *context_.progress, input_.stream),
          "clearing the progress of a build");
    check(cudaMemsetAsync(context_.arrived, 0, context_.capacity * sizeof(unsigned), input_.stream),
          "clearing the nodes' counters");
    put(gather_points<Real, dim>, input_.n, "ordering the points", input_.points, input_.n,
        static_cast<const morton_code*>(sorted_.codes), tree_.points, tree_.ids,
        &context_.progress->unsorted);
    put(write_root<Real, dim>, 1, "writing the root", context_, input_.n);
    recursion_.start({0, 1}, 1);
    // On the flat route the host launches the levels, unless the root's block builds all nodes.
    const bool host_continues =
        !control_.on_device_route() && input_.n > context_.block_points && !captured();
    if (!host_continues) publish();
    published_at_start_ = published_;
  }

  /// Launches the grids after the recursion. Asynchronous. \throws cuda_error
  void publish() {
    const std::uint64_t before = control_.report().host_grids;
    put(publish_nodes<Real, dim>, 1, "publishing the nodes", context_, recursion_.state(),
        static_cast<const point_bounds<Real, dim>*>(sorted_.found));
    control_.count_grids(reduce_bottom_up(view(), box_fold<Real, dim>{tree_.points, tree_.nodes},
                                          input_.stream, control_.ticket(), context_.arrived),
                         0);
    // The chain restores the report that it had at its start.
    published_ += control_.report().host_grids - before;
    control_.report().host_grids = before;
  }

  /// Waits for the recursion and completes it. Returns the report of the stages.
  /// \throws cuda_error, device_launch_error
  run_report finish() {
    recursion_.finish();
    published_ = published_at_start_;
    return report();
  }

  /// Returns the report of the stages, after finish().
  [[nodiscard]] run_report report() {
    run_report all = control_.report();
    all.host_grids += published_;
    return all;
  }

  /// Returns the tree, for kernels that are launched after start().
  [[nodiscard]] spatial_tree_view<Real, dim> view() const {
    return {tree_.nodes,
            tree_.points,
            tree_.ids,
            tree_.parents,
            static_cast<std::uint32_t>(context_.capacity),
            input_.n,
            &context_.progress->built};
  }

  /// Waits, and returns the progress of the build. \throws cuda_error
  [[nodiscard]] build_progress read_progress() const {
    build_progress progress{};
    check(cudaMemcpyAsync(&progress, context_.progress, sizeof progress, cudaMemcpyDeviceToHost,
                          input_.stream),
          "reading the progress of a build");
    check(cudaStreamSynchronize(input_.stream), "waiting for the nodes");
    return progress;
  }

  [[nodiscard]] run_control& control() { return control_; }

  /// Launches `kernel` with a thread for each of `n` items. \throws cuda_error
  template <class... Parameters, class... Arguments>
  void put(void (*kernel)(Parameters...), std::uint32_t n, const char* doing,
           const Arguments&... arguments) {
    const unsigned threads = std::min(n, 256u);
    control_.launched(launch(kernel, {(n - 1) / threads + 1, threads}, input_.stream, arguments...,
                             control_.ticket()),
                      doing);
  }

 private:
  [[nodiscard]] bool captured() const { return is_being_captured(input_.stream); }

  const build_input<Real, dim>& input_;
  tree_arrays<Real, dim> tree_;
  sort_scratch<Real, dim> sorted_;
  run_control control_;
  context context_;
  recursion<siblings, context> recursion_;
  std::uint64_t published_ = 0;  // grids
  std::uint64_t published_at_start_ = 0;
};

/// A tree, and the memory that it owns.
template <class Real, int dim>
struct built_tree {
  spatial_tree_view<Real, dim> view{};
  device_buffer<std::byte> points_memory;
  device_buffer<std::byte> nodes_memory;
  spatial_tree_report report;
};

/// One build. It must not be moved.
template <class Real, int dim>
class build_run {
  using sort_run = quicksort_run<morton_code, no_value, morton_code::less>;
  using arrays = tree_arrays<Real, dim>;
  using sizes = build_sizes<Real, dim>;

 public:
  /// Returns the size of the scratch memory, in bytes. \throws cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n, const spatial_tree_config& config) {
    memory_layout sizing(nullptr);
    static_cast<void>(sort_scratch<Real, dim>(sizing, n, sort_config(config)));
    static_cast<void>(node_scratch<Real, dim>(sizing, sizes(n, config)));
    return sizing.size();
  }
  /// Returns the size of the memory for the tree, in bytes.
  [[nodiscard]] static std::size_t tree_bytes(std::size_t n, const spatial_tree_config& config) {
    return points_bytes(n) + nodes_bytes(sizes(n, config).nodes);
  }

  /// Puts the build into the stream. Asynchronous. Memory that is not given comes from the
  /// stream-ordered pool. \throws unavailable, cuda_error
  build_run(const build_input<Real, dim>& input, const scratch_memory& scratch,
            const scratch_memory& tree)
      : input_(input),
        sizes_(input.n, input.config),
        given_(tree.data),
        scratch_(scratch, scratch_bytes(input.n, input.config), input.stream),
        scratch_layout_(scratch_.data()),
        sorted_(scratch_layout_, input.n, sort_config(input.config)),
        points_memory_(given_ == nullptr ? points_bytes(input.n) : 0, input.stream),
        nodes_memory_(given_ == nullptr ? nodes_bytes(sizes_.nodes) : 0, input.stream) {
    memory_layout points(given_ == nullptr ? points_memory_.data() : given_);
    tree_.take_points(points, input.n);
    memory_layout nodes(given_ == nullptr ? nodes_memory_.data()
                                          : static_cast<std::byte*>(given_) + points.size());
    tree_.take_nodes(nodes, sizes_.nodes);
    stages_.emplace(input_, sizes_, tree_, sorted_,
                    node_scratch<Real, dim>(scratch_layout_, sizes_));
    start();
  }
  build_run(const build_run&) = delete;
  build_run& operator=(const build_run&) = delete;

  /// Returns the tree, for kernels that follow in the stream.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const { return stages_->view(); }

  /// Waits for the build, completes it, and returns the tree.
  /// \throws std::invalid_argument if a point is not finite; std::length_error if the tree has too
  ///         many nodes for the given memory; std::logic_error while the stream is being captured;
  ///         cuda_error, device_launch_error
  [[nodiscard]] built_tree<Real, dim> finish() {
    if (is_being_captured(input_.stream)) {
      throw std::logic_error(
          "spatial_tree: the stream is being captured: end the capture and launch the graph before "
          "get()");
    }
    built_tree<Real, dim> result;
    const run_report sort = sort_->get();
    static_cast<run_report&>(result.report) = stages_->finish();
    add_part(result.report, sort, "the sort");
    result.report.points = input_.n;
    result.report.scratch_bytes = scratch_.size() + nodes_memory_.size();
    // A tree whose nodes are published is complete. Otherwise the host continues.
    build_progress progress = stages_->read_progress();
    if (progress.built == 0) progress = continue_build(progress, result.report);
    result.report.nodes = progress.node_count;
    result.view = final_view(static_cast<std::uint32_t>(progress.node_count));
    if (given_ == nullptr) compact(result);
    check(cudaStreamSynchronize(input_.stream), "waiting for the tree");
    stages_->control().read_trace();
    return result;
  }

 private:
  static quicksort_config sort_config(const spatial_tree_config& config) {
    quicksort_config sort;
    sort.route = config.route;
    sort.trace = config.trace;
    return sort;
  }
  static std::size_t points_bytes(std::size_t n) {
    memory_layout sizing(nullptr);
    arrays().take_points(sizing, n);
    return sizing.size();
  }
  static std::size_t nodes_bytes(std::size_t count) {
    memory_layout sizing(nullptr);
    arrays().take_nodes(sizing, count);
    return sizing.size();
  }

  void start() {
    check(cudaMemsetAsync(sorted_.arrived, 0, sizeof(unsigned), input_.stream),
          "clearing a counter");
    run_control& control = stages_->control();
    launch_find_bounds(input_.points, input_.n, sorted_.found, sorted_.arrived, input_.stream,
                       control.ticket());
    control.count_grids(1, 0);
    stages_->put(encode_points<Real, dim>, input_.n, "computing the Morton codes", input_.points,
                 input_.n, static_cast<const point_bounds<Real, dim>*>(sorted_.found),
                 sorted_.codes);
    sort_ = quicksort_async(sorted_.codes, input_.n, morton_code::less{}, input_.stream,
                            sort_config(input_.config), sorted_.sort);
    stages_->start();
  }

  /// Runs the stages that found no complete work of earlier stages. Returns the progress of the
  /// complete build.
  build_progress continue_build(build_progress progress, spatial_tree_report& report) {
    point_bounds<Real, dim> found;
    check(
        cudaMemcpyAsync(&found, sorted_.found, sizeof found, cudaMemcpyDeviceToHost, input_.stream),
        "reading the bounds of the points");
    check(cudaStreamSynchronize(input_.stream), "waiting for the bounds of the points");
    check_finite(found, "spatial_tree: points");
    if (progress.unsorted != 0) {
      memory_layout memory(scratch_.data());
      static_cast<void>(sort_scratch<Real, dim>(memory, input_.n, sort_config(input_.config)));
      progress = build_again(memory, report);
    } else if (progress.node_count <= sizes_.nodes) {
      publish(*stages_, report);
    }
    if (progress.node_count <= sizes_.nodes) return progress;
    if (given_ != nullptr) {
      throw std::length_error("spatial_tree: the tree has more than " +
                              std::to_string(sizes_.nodes) +
                              " nodes: set spatial_tree_config.max_nodes; 2n nodes suffice");
    }
    return build_larger(report);
  }

  /// Builds the nodes again, in memory that suffices for any points.
  build_progress build_larger(spatial_tree_report& report) {
    sizes_.nodes = 2 * std::size_t{input_.n};
    nodes_memory_ = device_buffer<std::byte>(nodes_bytes(sizes_.nodes), input_.stream);
    memory_layout nodes(nodes_memory_.data());
    tree_.take_nodes(nodes, sizes_.nodes);
    memory_layout sizing(nullptr);
    static_cast<void>(node_scratch<Real, dim>(sizing, sizes_));
    const device_buffer<std::byte> larger(sizing.size(), input_.stream);
    report.scratch_bytes += larger.size() + nodes_memory_.size();
    memory_layout memory(larger.data());
    return build_again(memory, report);
  }

  /// Runs the stages after the sort again.
  build_progress build_again(memory_layout& memory, spatial_tree_report& report) {
    node_stages<Real, dim> stages(input_, sizes_, tree_, sorted_,
                                  node_scratch<Real, dim>(memory, sizes_));
    stages.start();
    add_part(report, stages.finish());
    const build_progress progress = stages.read_progress();
    if (progress.unsorted != 0) {
      throw std::logic_error("spatial_tree: the sort of the points is not complete");
    }
    if (progress.built == 0 && progress.node_count <= sizes_.nodes) publish(stages, report);
    stages.control().read_trace();
    return progress;
  }

  static void publish(node_stages<Real, dim>& stages, spatial_tree_report& report) {
    const std::uint64_t before = stages.report().host_grids;
    stages.publish();
    report.host_grids += stages.report().host_grids - before;
  }

  [[nodiscard]] spatial_tree_view<Real, dim> final_view(std::uint32_t nodes) const {
    return {tree_.nodes, tree_.points, tree_.ids, tree_.parents, nodes, input_.n};
  }

  /// Copies the nodes to memory of their size, and passes all memory to the tree.
  void compact(built_tree<Real, dim>& result) {
    const std::size_t count = result.view.node_count;
    result.points_memory = std::move(points_memory_);
    result.nodes_memory = device_buffer<std::byte>(nodes_bytes(count), input_.stream);
    memory_layout memory(result.nodes_memory.data());
    arrays exact;
    exact.take_nodes(memory, count);
    const auto copy = [&](auto* to, const auto* from) {
      check(cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, input_.stream),
            "copying a tree's nodes");
    };
    copy(exact.nodes, tree_.nodes);
    copy(exact.parents, tree_.parents);
    result.view.nodes = exact.nodes;
    result.view.parents = exact.parents;
  }

  build_input<Real, dim> input_;
  sizes sizes_;
  void* given_;  // memory for the tree, or null
  scratch_space scratch_;
  memory_layout scratch_layout_;
  sort_scratch<Real, dim> sorted_;
  device_buffer<std::byte> points_memory_;
  device_buffer<std::byte> nodes_memory_;
  arrays tree_;
  std::optional<node_stages<Real, dim>> stages_;
  std::optional<sort_run> sort_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
