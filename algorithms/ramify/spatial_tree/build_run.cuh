// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a build. All stages are put into the stream at once, unless the host may wait
/// for statistics of the codes before stage 2 (see code_sort.cuh):
///
///     1 find_bounds, encode_points   the Morton codes
///     2 code_sort                    of the codes
///     3 gather_points, write_root    the points in order; whether the sort is complete. Before
///                                    them, sort_runs, if stage 2 was a sort by upper bits
///     4 build_subtrees               the recursion that builds the nodes
///     5 publish_nodes, reduce_nodes  the number of nodes, if they are complete; their boxes
///
/// Stage 4 may need the host: if kernels find no launch slots, or if the flat route has more levels
/// than the host launched ahead. So may stage 2: on the CPU executor, or if a long run of codes is
/// not in order. The later stages then do
/// nothing, and finish() runs them again.

#include <cstddef>
#include <optional>
#include <ramify/spatial_tree/build_stages.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

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
  using arrays = tree_arrays<Real, dim>;
  using scratch_of_nodes = node_scratch<Real, dim>;

 public:
  /// Returns the size of the scratch memory, in bytes. \throws cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n, const spatial_tree_config& config) {
    return layout_bytes<build_memory>(n, reserved_nodes(n, config), config);
  }
  /// Returns the size of the memory for the tree, in bytes.
  [[nodiscard]] static std::size_t tree_bytes(std::size_t n, const spatial_tree_config& config) {
    return points_bytes(n) + nodes_bytes(reserved_nodes(n, config));
  }

  /// Puts the build into the stream. Asynchronous. Memory that is not given comes from the
  /// stream-ordered pool. \throws unavailable, cuda_error
  build_run(const build_input<Real, dim>& input, const scratch_memory& tree)
      : input_(input),
        nodes_(reserved_nodes(input.n, input.config)),
        given_(static_cast<std::byte*>(tree.data)),
        memory_(input.setup.given, input.stream(), input.setup.algorithm, input.n, nodes_,
                input.config),
        points_memory_(given_ == nullptr ? points_bytes(input.n) : 0, input.stream()),
        nodes_memory_(given_ == nullptr ? nodes_bytes(nodes_) : 0, input.stream()) {
    const std::size_t points =
        tree_.take_points(given_ == nullptr ? points_memory_.data() : given_, input.n);
    tree_.take_nodes(given_ == nullptr ? nodes_memory_.data() : given_ + points, nodes_);
    stages_.emplace(input_, tree_, sorted(), memory_.parts.nodes);
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
    const phase_range range("spatial_tree: finish build");
    built_tree<Real, dim> result;
    const run_report sort = sort_.get();
    static_cast<run_report&>(result.report) = stages_->finish();
    add_part(result.report, sort, "the sort");
    result.report.points = input_.n;
    result.report.scratch_bytes = memory_.scratch.size() + nodes_memory_.size();
    // A tree whose nodes are published is complete. Otherwise the host continues.
    build_progress progress = stages_->read_progress();
    if (progress.built == 0) progress = continue_build(progress, result.report);
    result.report.nodes = progress.node_count;
    result.view = tree_.view(input_.n, progress.node_count, nullptr);
    for (int axis = 0; axis < dim; ++axis) {
      result.view.bounds.lower.x[axis] = static_cast<Real>(progress.lower[axis]);
      result.view.bounds.upper.x[axis] = static_cast<Real>(progress.upper[axis]);
    }
    result.view.least_nonzero = static_cast<Real>(progress.least_nonzero);
    if (given_ == nullptr) compact(result);
    check(cudaStreamSynchronize(input_.stream()), "waiting for the tree");
    stages_->control().read_trace();
    return result;
  }

 private:
  struct build_memory {
    build_memory(memory_layout& memory, std::size_t n, std::size_t max_nodes,
                 const spatial_tree_config& config)
        : sorted(memory, n, config), nodes(memory, n, max_nodes, config) {}
    sort_scratch<Real, dim> sorted;
    scratch_of_nodes nodes;
  };

  [[nodiscard]] const sort_scratch<Real, dim>& sorted() const { return memory_.parts.sorted; }

  static std::size_t points_bytes(std::size_t n) { return arrays().take_points(nullptr, n); }
  static std::size_t nodes_bytes(std::size_t count) { return arrays().take_nodes(nullptr, count); }

  void start() {
    const phase_range range("spatial_tree: start build");
    run_control& control = stages_->control();
    launch_find_bounds(input_.points, input_.n, sorted().found, sorted().arrived, input_.stream(),
                       control.ticket());
    control.count_grids(1, 0);
    stages_->put(encode_points<Real, dim>, input_.n, "computing the Morton codes", input_.points,
                 input_.n, sorted().found, sorted().codes.array());
    sort_.start(sorted().codes, input_.n, input_.config, input_.stream(),
                input_.may_wait ? &control : nullptr);
    stages_->start(sort_.has_runs());
  }

  /// Runs the stages that did nothing because an earlier stage was incomplete. Returns the progress
  /// of the complete build.
  build_progress continue_build(build_progress progress, spatial_tree_report& report) {
    (void)read_checked_bounds(sorted().found, "spatial_tree: points", input_.stream());
    if (progress.unsorted != 0) {
      // Complete the sort. The later stages use the same memory.
      sort_.complete(sorted().codes, input_.n, input_.stream());
      progress = build_again(memory_.parts.nodes, report);
    } else if (progress.node_count <= nodes_) {
      report.host_grids += stages_->publish();
    }
    if (progress.node_count <= nodes_) return progress;
    if (given_ != nullptr) {
      throw std::length_error("spatial_tree: the tree has more than " + std::to_string(nodes_) +
                              " nodes: set spatial_tree_config.max_nodes; 2n nodes suffice");
    }
    // Build the nodes in memory that suffices for any points.
    nodes_ = 2 * std::size_t{input_.n};
    nodes_memory_ = device_buffer<std::byte>(nodes_bytes(nodes_), input_.stream());
    tree_.take_nodes(nodes_memory_.data(), nodes_);
    const run_memory<scratch_of_nodes> larger({}, input_.stream(), "spatial_tree", input_.n, nodes_,
                                              input_.config);
    report.scratch_bytes += larger.scratch.size() + nodes_memory_.size();
    return build_again(larger.parts, report);
  }

  /// Runs the stages after the sort again.
  build_progress build_again(const scratch_of_nodes& memory, spatial_tree_report& report) {
    node_stages<Real, dim> stages(input_, tree_, sorted(), memory);
    stages.start(false);
    add_part(report, stages.finish());
    const build_progress progress = stages.read_progress();
    if (progress.unsorted != 0) {
      throw std::logic_error("spatial_tree: the sort of the points is not complete");
    }
    if (progress.built == 0 && progress.node_count <= nodes_) {
      report.host_grids += stages.publish();
    }
    stages.control().read_trace();
    return progress;
  }

  /// Copies the nodes to memory of their size, and passes all memory to the tree.
  void compact(built_tree<Real, dim>& result) {
    const std::size_t count = result.view.node_count;
    result.points_memory = std::move(points_memory_);
    result.nodes_memory = device_buffer<std::byte>(nodes_bytes(count), input_.stream());
    arrays exact;
    exact.take_nodes(result.nodes_memory.data(), count);
    const auto copy = [&](auto* to, const auto* from) {
      check(
          cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, input_.stream()),
          "copying a tree's nodes");
    };
    copy(exact.nodes, tree_.nodes);
    copy(exact.parents, tree_.parents);
    result.view.nodes = exact.nodes;
    result.view.parents = exact.parents;
  }

  build_input<Real, dim> input_;
  std::size_t nodes_;  // capacity of the memory, in nodes
  std::byte* given_;   // memory for the tree, or null
  run_memory<build_memory> memory_;
  device_buffer<std::byte> points_memory_;
  device_buffer<std::byte> nodes_memory_;
  arrays tree_;
  std::optional<node_stages<Real, dim>> stages_;
  code_sort<dim> sort_;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
