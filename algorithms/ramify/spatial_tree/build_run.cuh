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
/// Stage 4 may leave nodes: if kernels find no launch slots, or if the flat route has more levels
/// than the host launched ahead. If the stream completes runs, a loop in a graph follows stage 4
/// and launches what is left; the memory then suffices for any points, unless it was handed in.
/// Otherwise the later stages do nothing, and finish() runs them again. The same holds if stage 2
/// needs the host: on the CPU executor, or if a long run of codes is not in order.

#include <cstddef>
#include <memory>
#include <optional>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/spatial_tree/build_stages.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

template <class Real, int dim>
class spatial_tree;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// A tree, and the memory that it owns, which is none if memory was handed in.
template <class Real, int dim>
struct built_tree {
  spatial_tree_view<Real, dim> view{};
  std::optional<scratch_space> points_memory;
  std::optional<scratch_space> nodes_memory;
  spatial_tree_report report;
};

/// The sizes that determine the memory of a build.
struct build_sizes {
  std::size_t n;
  spatial_tree_options options;
  bool has_tree;                ///< whether the tree is at the beginning of the memory
  bool for_any_points = false;  ///< whether there is memory for the nodes of any n points

  [[nodiscard]] std::size_t nodes() const {
    return for_any_points ? 2 * n : reserved_nodes(n, options);
  }
};

/// The parts of the memory of a build. Those before the sort do not depend on it.
template <class Real, int dim, class Sort>
struct build_memory {
  using arrays = tree_arrays<Real, dim>;

  build_memory(memory_layout& memory, const build_sizes& sizes)
      : points(memory.take<std::byte>(sizes.has_tree ? points_bytes(sizes.n) : 0)),
        tree_nodes(memory.take<std::byte>(sizes.has_tree ? nodes_bytes(sizes.nodes()) : 0)),
        nodes(memory, sizes.n, sizes.nodes(), sizes.options),
        sorted(memory, sizes.n) {
    sorted.count = nodes.count;
  }

  [[nodiscard]] static std::size_t points_bytes(std::size_t n) {
    return arrays().take_points(nullptr, n);
  }
  [[nodiscard]] static std::size_t nodes_bytes(std::size_t count) {
    return arrays().take_nodes(nullptr, count);
  }
  /// Returns the tree in this memory, for kernels that follow the build in its stream.
  [[nodiscard]] spatial_tree_view<Real, dim> view(const build_sizes& sizes) const {
    arrays tree;
    tree.take_points(points, sizes.n);
    tree.take_nodes(tree_nodes, nodes.nodes);
    return tree.view(static_cast<std::uint32_t>(sizes.n), nodes.nodes, &nodes.progress->published);
  }
  /// Returns the size of a tree, in bytes.
  [[nodiscard]] static std::size_t tree_bytes(const build_sizes& sizes) {
    return points_bytes(sizes.n) + nodes_bytes(sizes.nodes());
  }

  std::byte* points;  ///< of the tree, if memory was handed in
  std::byte* tree_nodes;
  node_scratch<Real, dim> nodes;
  sort_scratch<Real, dim, Sort> sorted;
};

/// One build, with a code_sort.
template <class Real, int dim, class Sort>
class build_run final
    : public memory_run<ramify::spatial_tree<Real, dim>, build_memory<Real, dim, Sort>> {
  using base = memory_run<ramify::spatial_tree<Real, dim>, build_memory<Real, dim, Sort>>;
  using arrays = tree_arrays<Real, dim>;
  using sizes_of = build_memory<Real, dim, Sort>;

 public:
  /// Chooses the route, and puts the build into the stream. Asynchronous, unless input.may_wait.
  /// \throws std::invalid_argument for bad memory; unavailable; cuda_error; std::length_error
  [[nodiscard]] static std::unique_ptr<build_run> start(run_setup& setup,
                                                        const build_input<Real, dim>& input) {
    const phase_range range("spatial_tree: start build");
    setup.prefer_host("the host launches grids in the size of each level");
    setup.choose_route(1, plans_of_build(input.n, dim, input.options, setup.by_host()));
    return std::make_unique<build_run>(setup, input);
  }

  build_run(const run_setup& setup, const build_input<Real, dim>& input)
      : base(setup, build_sizes{input.n, input.options, setup.given.data() != nullptr,
                                setup.given.data() == nullptr && setup.needs_completion()}),
        input_(input),
        is_given_(setup.given.data() != nullptr) {
    const std::size_t reserved = this->parts.nodes.nodes;
    if (!is_given_) {
      points_memory_ = own_memory(sizes_of::points_bytes(input_.n));
      nodes_memory_ = own_memory(sizes_of::nodes_bytes(reserved));
    }
    tree_.take_points(is_given_ ? this->parts.points : points_memory_->data(), input_.n);
    tree_.take_nodes(is_given_ ? this->parts.tree_nodes : nodes_memory_->data(), reserved);
    stages_.emplace(input_, this->choices, tree_, sorted(), this->parts.nodes);
    launch();
    this->complete_in_stream(completes_in_stream());
  }

  /// Returns whether the grids in the stream complete the build.
  [[nodiscard]] bool completes_in_stream() const { return stages_->completes_in_stream(); }

  /// Returns the tree, for kernels that follow in the stream.
  [[nodiscard]] spatial_tree_view<Real, dim> view() const { return stages_->view(); }

 private:
  /// Waits for the build, completes it, and returns the tree.
  /// \throws std::invalid_argument if a point is not finite; std::length_error if the tree has too
  ///         many nodes for the given memory; cuda_error; device_launch_error
  ramify::spatial_tree<Real, dim> finish() override {
    built_tree<Real, dim> result;
    static_cast<run_report&>(result.report) = stages_->finish();
    // A tree whose nodes are published is complete. Otherwise the host continues.
    build_progress progress = stages_->progress();
    bool has_waited = progress.published.nodes != 0;
    // Then its sort is complete, too, and a graph has released its launch slots. Its report would
    // cost a further wait.
    if (!has_waited || !this->choices.captured) add_part(result.report, sort_.get(), "the sort");
    result.report.scratch_bytes =
        this->memory.scratch.size() + (is_given_ ? 0 : nodes_memory_->size());
    if (input_.count.on_device()) {
      const auto read = stages_->control().seen(sorted().count);
      input_.count.check(this->choices.algorithm, read.raw);
      if (read.n == 0) {
        stages_->control().read_trace();
        return ramify::spatial_tree<Real, dim>(std::move(result));
      }
    }
    result.report.points = progress.points;
    if (!has_waited) progress = continue_build(progress, result.report);
    result.report.nodes = progress.node_count;
    this->state_reason(result.report);
    result.view = tree_.view(progress.points, progress.node_count, nullptr);
    result.view.bounds = progress.published.template bounds<Real, dim>();
    result.view.least_nonzero = static_cast<Real>(progress.published.least_nonzero);
    if (!is_given_ && pass_memory(result)) has_waited = false;
    if (!has_waited) check(cudaStreamSynchronize(stream()), "waiting for the tree");
    stages_->control().read_trace();
    return ramify::spatial_tree<Real, dim>(std::move(result));
  }

  void read_ahead() override { stages_->control().read_ahead(); }

  [[nodiscard]] cudaStream_t stream() const { return this->choices.stream; }
  [[nodiscard]] const sort_scratch<Real, dim, Sort>& sorted() const { return this->parts.sorted; }

  /// Allocates memory for the tree, from the resource of the environment or from the pool.
  [[nodiscard]] scratch_space own_memory(std::size_t bytes) const {
    return {this->choices.given, bytes, stream(), this->choices.algorithm};
  }

  void launch() {
    run_control& control = stages_->control();
    if (input_.count.on_device()) {
      stages_->put(runtime::read_count<runtime::element_count>, 1, "reading the number of points",
                   input_.count, this->parts.nodes.count);
    }
    const runtime::element_count points = input_.points_in(sorted().count);
    launch_find_bounds(input_.points, points, sorted().found, sorted().arrived, stream(),
                       control.ticket());
    control.count_grids(1, 0);
    stages_->put(encode_points<Real, dim, typename Sort::codes_type>, points,
                 "computing the Morton codes", input_.points, points, sorted().found,
                 sorted().codes.array());
    sort_.start(sorted().codes, points, this->choices, input_.may_wait ? &control : nullptr);
    stages_->start(sort_.has_runs());
  }

  /// Runs the stages that did nothing because an earlier stage was incomplete. Returns the progress
  /// of the complete build.
  build_progress continue_build(build_progress progress, spatial_tree_report& report) {
    const std::size_t reserved = this->parts.nodes.nodes;
    (void)read_checked_bounds(sorted().found, "spatial_tree: points", stream());
    if (progress.unsorted != 0) {
      // Complete the sort. The later stages use the same memory.
      sort_.complete(sorted().codes, input_.n, stream());
      progress = build_again(this->parts.nodes, report);
    } else if (progress.node_count <= reserved) {
      report.host_grids += stages_->publish();
    }
    if (progress.node_count <= reserved) return progress;
    if (is_given_) {
      throw std::length_error("spatial_tree: the tree has more than " + std::to_string(reserved) +
                              " nodes: set spatial_tree_options.max_nodes; 2n nodes suffice");
    }
    // Build the nodes in memory that suffices for any points.
    const std::size_t enough = 2 * std::size_t{input_.n};
    nodes_memory_ = own_memory(sizes_of::nodes_bytes(enough));
    tree_.take_nodes(nodes_memory_->data(), enough);
    const run_memory<node_scratch<Real, dim>> larger(
        this->choices.given, stream(), this->choices.algorithm, input_.n, enough, input_.options);
    report.scratch_bytes += larger.scratch.size() + nodes_memory_->size();
    return build_again(larger.parts, report);
  }

  /// Runs the stages after the sort again.
  build_progress build_again(const node_scratch<Real, dim>& memory, spatial_tree_report& report) {
    node_stages<Real, dim, Sort> stages(input_, this->choices, tree_, sorted(), memory);
    stages.start(false);
    add_part(report, stages.finish());
    const build_progress progress = stages.progress();
    if (progress.unsorted != 0) {
      throw std::logic_error("spatial_tree: the sort of the points is not complete");
    }
    if (progress.published.nodes == 0 && progress.node_count <= memory.nodes) {
      report.host_grids += stages.publish();
    }
    stages.control().read_trace();
    return progress;
  }

  /// Passes all memory to the tree. Copies the nodes to memory of their size if that frees much;
  /// returns whether it does.
  bool pass_memory(built_tree<Real, dim>& result) {
    constexpr std::size_t much = std::size_t{16} << 20;
    const std::size_t count = result.view.node_count;
    result.points_memory = std::move(points_memory_);
    if (nodes_memory_->size() - sizes_of::nodes_bytes(count) < much) {
      result.nodes_memory = std::move(nodes_memory_);
      return false;
    }
    result.nodes_memory = own_memory(sizes_of::nodes_bytes(count));
    arrays exact;
    exact.take_nodes(result.nodes_memory->data(), count);
    const auto copy = [&](auto* to, const auto* from) {
      check(cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream()),
            "copying a tree's nodes");
    };
    copy(exact.nodes, tree_.nodes);
    copy(exact.parents, tree_.parents);
    result.view.nodes = exact.nodes;
    result.view.parents = exact.parents;
    return true;
  }

  build_input<Real, dim> input_;
  bool is_given_;  // whether memory was handed in, which then has the tree
  std::optional<scratch_space> points_memory_;
  std::optional<scratch_space> nodes_memory_;
  arrays tree_;
  std::optional<node_stages<Real, dim, Sort>> stages_;
  Sort sort_;
};

/// A build over no points.
template <class Real, int dim>
class empty_build final : public started_run<ramify::spatial_tree<Real, dim>> {
 public:
  explicit empty_build(const run_setup& setup)
      : started_run<ramify::spatial_tree<Real, dim>>(setup) {
    this->complete_in_stream();
  }

 private:
  ramify::spatial_tree<Real, dim> finish() override {
    built_tree<Real, dim> none;
    static_cast<run_report&>(none.report) =
        report_of_this_build({route::flat, "a tree without points has no nodes"});
    return ramify::spatial_tree<Real, dim>(std::move(none));
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
