// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// gravity_run: a force calculation by the method that its options name. The tree code has
/// three phases:
///
///     1 build                    the octree over the bodies: a spatial tree
///     2 compute_moments          bottom-up: mass, center of mass and quadrupole of each node
///     3 traverse                 top-down: each warp sums the interactions of a group of bodies
///
/// If only some bodies are targets, a list of them is made before the last phase of either method.
/// All grids are launched into the stream at once. If the stream does not complete the build of the
/// tree (spatial_tree/build_run.cuh), the phases after it do nothing, and get() launches them
/// again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/direct_sum.cuh>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>
#include <utility>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Returns the options of the tree of a force calculation.
[[nodiscard]] inline spatial_tree_options tree_options(const nbody_options& options) {
  return {.leaf_size = options.leaf_size, .max_nodes = options.max_nodes};
}

/// The parts of the scratch memory of a force calculation.
template <class Real>
struct gravity_memory {
  gravity_memory(memory_layout& memory, std::size_t n, const nbody_options& options) {
    std::size_t phase_bytes = sizeof(gravity_progress);
    if (options.method == nbody_method::tree) {
      const spatial_tree_options of_tree = tree_options(options);
      build = memory.take_scratch(spatial_tree_scratch_bytes<Real, 3>(n, of_tree));
      phase_bytes = gravity_scratch<Real>().take(nullptr, n, reserved_nodes(n, of_tree), options);
    }
    phases = memory.take<std::byte>(phase_bytes);
  }

  memory_ref build{};           ///< tree code: memory of the build
  std::byte* phases = nullptr;  ///< a gravity_scratch; direct sum: a gravity_progress
};

/// A force calculation.
template <class Real>
class gravity_run final : public started_run<nbody_report> {
  using arrays = device_arrays<Real>;

 public:
  /// Starts a calculation, by options.method, of the forces on bodies.results bodies, beginning
  /// with body `first`, which must be 0 for the tree code. If `active` selects bodies, only their
  /// results are written, bodies.results must be bodies.n, `first` must be 0, and the list of
  /// targets is always in memory of the pool.
  /// \throws std::invalid_argument; cuda_error; unavailable
  gravity_run(run_setup& setup, const arrays& bodies, std::uint32_t first,
              const nbody_options& options, const active_bodies& active = {})
      : started_run(setup),
        bodies_(bodies),
        options_(options),
        recorder_(setup.trace, setup.stream),
        is_given_(setup.given.data() != nullptr) {
    const phase_range phase("nbody: start forces");
    check_arguments(bodies, name());
    put_into_stream(setup, first, active);
    complete_in_stream(completes_in_stream());
  }

  /// Returns whether the grids in the stream complete the calculation.
  [[nodiscard]] bool completes_in_stream() const {
    return build_ == nullptr || build_->completes_in_stream();
  }

  /// Returns the tree of the last get(); an empty one if the method has none.
  [[nodiscard]] ramify::spatial_tree<Real, 3> take_tree() { return std::move(tree_); }

  /// Returns the device memory from which kernels that are launched before get() read whether the
  /// results are complete.
  [[nodiscard]] const gravity_progress* progress() const { return scratch_.progress; }

 private:
  using tree_build = spatial_tree::build_over<Real, 3>;
  static constexpr unsigned grids_of_phases = 4;

  /// Waits for the calculation, completes it if necessary, and returns its report.
  /// \throws std::invalid_argument naming the first invalid body; std::length_error if the tree has
  ///         more nodes than fit in the caller's memory; cuda_error; device_launch_error
  nbody_report finish() override {
    nbody_report report;
    report.method = options_.method;
    report.bodies = bodies_.n;
    if (build_ != nullptr) {
      // A build that has returned its tree has given its memory away. If get() is called again
      // because it has thrown after that, the tree is complete.
      if (tree_.view().point_count == 0 || captured()) tree_ = finish_tree();
      static_cast<run_report&>(report) = tree_.report();
      report.nodes = tree_.report().nodes;
    } else {
      static_cast<run_report&>(report) = report_of_this_build(
          {route::flat, by_tree() ? "there are no bodies" : "a direct sum has no recursion"});
      report.pending_launch_limit = choices.limit;
      if (choices.trace != nullptr) choices.trace->taken = report.taken;
    }
    if (bodies_.results == 0) return report;
    gravity_progress now = read_progress();
    recorder_.read();
    throw_if_invalid(now.first_invalid, bodies_, name(), stream());
    report.force_calculations = targets_.count();
    report.host_grids += (by_tree() ? 1 + grids_of_phases : 2) + targets_.grids();
    if (now.complete == 0) {
      // The host completed the tree, which may have more nodes than there was memory for.
      if (tree_.view().node_count > nodes_) take_scratch(nullptr, tree_.view().node_count);
      clear_progress(scratch_.progress, stream());
      launch_phases(tree_.view());
      report.host_grids += grids_of_phases + targets_.grids();
      now = read_progress();
      recorder_.read();
    }
    report.interactions =
        by_tree() ? now.interactions : std::uint64_t{targets_.count()} * (bodies_.n - 1);
    report.scratch_bytes = is_given_ ? given_bytes_ : report.scratch_bytes + scratch_bytes_;
    report.scratch_bytes += targets_.bytes();
    return report;
  }

  /// Launches all grids of the calculation. \throws as the constructor
  void put_into_stream(run_setup& setup, std::uint32_t first, const active_bodies& active) {
    if (bodies_.n == 0) return;
    memory_layout layout(setup.given.data());
    const gravity_memory<Real> memory(layout, bodies_.n, options_);
    given_bytes_ = is_given_ ? layout.size() : 0;
    check_scratch(setup.given, layout.size(), stream(), name());
    if (by_tree()) {
      if (is_given_) setup.given = memory.build;
      build_ = tree_build::start(setup, {bodies_.positions, static_cast<std::uint32_t>(bodies_.n),
                                         tree_options(options_), false});
      setup.given = choices.given;
    }
    if (bodies_.results == 0) return;
    targets_ = {active, by_tree() ? bodies_.n : bodies_.results, stream()};
    take_scratch(is_given_ ? memory.phases : nullptr, by_tree() ? build_->view().node_count : 0);
    clear_progress(scratch_.progress, stream());
    launch_each(find_invalid_body<Real>, bodies_.n, stream(), "checking the bodies", bodies_,
                largest_coordinate<Real>(), scratch_.progress, recorder_.ticket());
    if (by_tree()) {
      launch_phases(build_->view());
      return;
    }
    targets_.launch(nullptr, stream(), recorder_.ticket());
    const unsigned blocks = (targets_.count() - 1) / direct_sum_threads + 1;
    const body_range range{first, first + targets_.count()};
    check(
        launch(direct_sum<Real>, {blocks, direct_sum_threads}, stream(), arguments(), range).code(),
        "summing all pairs");
  }

  [[nodiscard]] cudaStream_t stream() const { return choices.stream; }
  [[nodiscard]] bool by_tree() const { return options_.method == nbody_method::tree; }
  [[nodiscard]] const char* name() const { return by_tree() ? "barnes_hut" : "direct_gravity"; }

  [[nodiscard]] gravity_progress read_progress() const {
    return read_back(scratch_.progress, stream(), "reading the progress of a force calculation");
  }

  [[nodiscard]] force_arguments<Real> arguments() const {
    force_arguments<Real> all(bodies_, options_, scratch_.progress, recorder_.ticket());
    all.targets = targets_.list();
    return all;
  }

  /// Lays out the scratch memory of the kernels after the build, at `given` unless it is null.
  void take_scratch(std::byte* given, std::size_t nodes) {
    nodes_ = nodes;
    const std::size_t n = by_tree() ? bodies_.n : 0;
    scratch_bytes_ = scratch_.take(nullptr, n, nodes, options_);
    if (given == nullptr) own_.emplace(choices.given, scratch_bytes_, stream(), name());
    scratch_.take(given == nullptr ? own_->data() : given, n, nodes, options_);
  }

  /// Launches the phases after the build.
  void launch_phases(const spatial_tree_view<Real, 3>& tree) const {
    compute_moments(tree, bodies_.masses, options_, scratch_, stream(), recorder_.ticket());
    targets_.launch(tree.ids, stream(), recorder_.ticket());
    traverse(tree, scratch_, options_, arguments(), stream());
  }

  /// Returns the tree. If a coordinate is invalid, the exception names the body, not the point of
  /// the tree.
  ramify::spatial_tree<Real, 3> finish_tree() {
    try {
      return build_->get();
    } catch (const std::invalid_argument&) {
      throw_if_invalid(read_progress().first_invalid, bodies_, name(), stream());
      throw;
    }
  }

  arrays bodies_;
  nbody_options options_;
  trace_recorder recorder_;  // records all grids except those of the tree
  bool is_given_;            // whether memory was handed in
  std::size_t given_bytes_ = 0;
  std::unique_ptr<tree_build> build_;  // tree code only, null if there are no bodies
  ramify::spatial_tree<Real, 3> tree_;
  std::size_t nodes_ = 0;  // the number that scratch_ has space for
  target_selection targets_;
  gravity_scratch<Real> scratch_;
  std::size_t scratch_bytes_ = 0;
  std::optional<scratch_space> own_;  // the memory of scratch_, unless it was handed in
};

/// Starts a calculation in an environment. \see gravity_run
template <class Real>
async_run<nbody_report> start_gravity(const char* name, const device_arrays<Real>& bodies,
                                      std::uint32_t first, const nbody_options& options,
                                      const environment& env) {
  static_cast<void>(checked<Real>(options));
  run_setup setup(name, env);
  return std::make_unique<gravity_run<Real>>(setup, bodies, first, options);
}

/// Returns the scratch memory of a calculation for n bodies, in bytes.
/// \throws std::invalid_argument, cuda_error
template <class Real>
[[nodiscard]] std::size_t gravity_bytes(std::size_t n, const nbody_options& options) {
  validate(options);
  return layout_bytes<gravity_memory<Real>>(n, options);
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
