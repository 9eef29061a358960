// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// gravity_run: a force calculation by the method that its configuration names. The tree code has
/// three phases:
///
///     1 build                    the octree over the bodies: a spatial tree
///     2 compute_moments          bottom-up: mass, center of mass and quadrupole of each node
///     3 traverse                 top-down: each warp sums the interactions of a group of bodies
///
/// If only some bodies are targets, a list of them is made before the last phase of either method.
/// All grids are launched into the stream at once. If the build of the tree needs the host, the
/// phases after it do nothing, and get() launches them again.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/direct_sum.cuh>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Returns the configuration of the tree of a force calculation.
[[nodiscard]] inline spatial_tree_config tree_config(const nbody_config& config) {
  return {.route = config.route,
          .leaf_size = config.leaf_size,
          .max_nodes = config.max_nodes,
          .flat_loop = config.flat_loop,
          .trace = config.trace};
}

/// The parts of the scratch memory of a force calculation.
template <class Real>
struct gravity_memory {
  gravity_memory() = default;
  gravity_memory(memory_layout& memory, std::size_t n, const nbody_config& config) {
    std::size_t phase_bytes = sizeof(gravity_progress);
    if (config.method == nbody_method::tree) {
      const spatial_tree_config tree_options = tree_config(config);
      build = memory.take_scratch(spatial_tree_scratch_bytes<Real, 3>(n, tree_options));
      tree = memory.take_scratch(spatial_tree_bytes<Real, 3>(n, tree_options));
      phase_bytes =
          gravity_scratch<Real>().take(nullptr, n, reserved_nodes(n, tree_options), config);
    }
    phases = memory.take<std::byte>(phase_bytes);
  }

  scratch_memory build{};       ///< tree code: scratch memory of the build
  scratch_memory tree{};        ///< tree code: the tree
  std::byte* phases = nullptr;  ///< a gravity_scratch; direct sum: a gravity_progress
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A force calculation that barnes_hut::accelerations_async() or direct_gravity_async() started.
/// Movable; get() of a moved-from run throws std::logic_error. The destructor neither waits for the
/// calculation nor checks it.
template <class Real>
class [[nodiscard("call get(): it waits, checks the bodies and returns the report")]] gravity_run {
  using arrays = detail::nbody::device_arrays<Real>;

 public:
  /// Starts a calculation, by config.method, of the forces on bodies.results bodies, beginning with
  /// body `first`, which must be 0 for the tree code. `scratch` is memory of scratch_bytes(), or
  /// empty. If `active` selects bodies, only their results are written, bodies.results must be
  /// bodies.n, `first` must be 0, and the list of targets is always in memory of the pool.
  /// \throws std::invalid_argument; cuda_error; unavailable
  gravity_run(const arrays& bodies, std::uint32_t first, const nbody_config& config,
              cudaStream_t stream, const scratch_memory& scratch,
              const detail::nbody::active_bodies& active = {})
      : bodies_(bodies), config_(config), stream_(stream), recorder_(config.trace, stream) {
    using namespace detail::nbody;
    const phase_range phase("nbody: start forces");
    validate(config);
    validate_range<Real>(config);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    result_ = detail::result_state(name(), is_being_captured(stream));
    check_arguments(bodies, name());
    gravity_memory<Real> memory;
    if (bodies.n > 0) {
      memory_layout layout(scratch.data);
      memory = gravity_memory<Real>(layout, bodies.n, config);
      check_scratch(scratch, layout.size(), stream, name());
    }
    if (by_tree()) {
      tree_ = spatial_tree_async(bodies.positions, bodies.n, stream, tree_config(config),
                                 memory.build, memory.tree);
    }
    if (bodies.results == 0) return;
    targets_ = {active, by_tree() ? bodies.n : bodies.results, stream};
    take_scratch(memory.phases, by_tree() ? tree_->view().node_count : 0);
    clear_progress(scratch_.progress, stream);
    detail::launch_each(find_invalid_body<Real>, bodies.n, stream, "checking the bodies", bodies,
                        largest_coordinate<Real>(), scratch_.progress, recorder_.ticket());
    if (by_tree()) {
      launch_phases(tree_->view());
      return;
    }
    targets_.launch(nullptr, stream, recorder_.ticket());
    const unsigned blocks = (targets_.count() - 1) / direct_sum_threads + 1;
    const body_range range{first, first + targets_.count()};
    check(launch(direct_sum<Real>, {blocks, direct_sum_threads}, stream, arguments(), range).code(),
          "summing all pairs");
  }

  /// Returns the scratch memory of a calculation for n bodies, in bytes.
  /// \throws std::invalid_argument, cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n, const nbody_config& config) {
    validate(config);
    return layout_bytes<detail::nbody::gravity_memory<Real>>(n, config);
  }

  /// Waits for the calculation, completes it if necessary, and returns its report. Call it once for
  /// a calculation. If a graph has captured it, call it once after each launch of the graph.
  /// \throws std::invalid_argument naming the first invalid body; std::length_error if the tree has
  ///         more nodes than fit in the caller's scratch memory; std::logic_error while the stream
  ///         is being captured, for a further call, and for a moved-from run; cuda_error,
  ///         device_launch_error
  nbody_report get() {
    spatial_tree<Real, 3> tree;
    return get(tree);
  }

  /// As get(), and passes the tree to `tree`; an empty one if the method has none.
  nbody_report get(spatial_tree<Real, 3> & tree) {
    using namespace detail::nbody;
    const auto call = result_.begin_get();
    const phase_range phase("nbody: finish forces");
    detail::runtime::require_not_captured(stream_, name());
    nbody_report report;
    report.method = config_.method;
    report.bodies = bodies_.n;
    if (by_tree()) {
      tree = finish_tree();
      static_cast<run_report&>(report) = tree.report();
      report.nodes = tree.report().nodes;
    } else {
      static_cast<run_report&>(report) =
          report_of_this_build({route::flat, "a direct sum has no recursion"});
      if (config_.trace != nullptr) config_.trace->taken = report.taken;
    }
    if (bodies_.results == 0) return report;
    gravity_progress now = read_progress();
    recorder_.read();
    throw_if_invalid(now.first_invalid, bodies_, name(), stream_);
    report.force_calculations = targets_.count();
    report.host_grids += (by_tree() ? 1 + grids_of_phases : 2) + targets_.grids();
    if (now.complete == 0) {
      // The host completed the tree, which may have more nodes than there was memory for.
      if (tree.view().node_count > nodes_) take_scratch(nullptr, tree.view().node_count);
      clear_progress(scratch_.progress, stream_);
      launch_phases(tree.view());
      report.host_grids += grids_of_phases + targets_.grids();
      now = read_progress();
      recorder_.read();
    }
    report.interactions =
        by_tree() ? now.interactions : std::uint64_t{targets_.count()} * (bodies_.n - 1);
    report.scratch_bytes += scratch_bytes_ + targets_.bytes();
    return report;
  }

  /// Returns the device memory from which kernels that are launched before get() read whether the
  /// results are complete.
  [[nodiscard]] const detail::nbody::gravity_progress* progress() const {
    return scratch_.progress;
  }

 private:
  static constexpr unsigned grids_of_phases = 4;

  [[nodiscard]] bool by_tree() const { return config_.method == nbody_method::tree; }
  [[nodiscard]] const char* name() const { return by_tree() ? "barnes_hut" : "direct_gravity"; }

  [[nodiscard]] detail::nbody::gravity_progress read_progress() const {
    return read_back(scratch_.progress, stream_, "reading the progress of a force calculation");
  }

  [[nodiscard]] detail::nbody::force_arguments<Real> arguments() const {
    detail::nbody::force_arguments<Real> all(bodies_, config_, scratch_.progress,
                                             recorder_.ticket());
    all.targets = targets_.list();
    return all;
  }

  /// Lays out the scratch memory of the kernels after the build, at `given` unless it is null.
  void take_scratch(std::byte * given, std::size_t nodes) {
    nodes_ = nodes;
    const std::size_t n = by_tree() ? bodies_.n : 0;
    scratch_bytes_ = scratch_.take(nullptr, n, nodes, config_);
    if (given == nullptr) own_ = device_buffer<std::byte>(scratch_bytes_, stream_);
    scratch_.take(given == nullptr ? own_.data() : given, n, nodes, config_);
  }

  /// Launches the phases after the build.
  void launch_phases(const spatial_tree_view<Real, 3>& tree) const {
    detail::nbody::compute_moments(tree, bodies_.masses, config_, scratch_, stream_,
                                   recorder_.ticket());
    targets_.launch(tree.ids, stream_, recorder_.ticket());
    detail::nbody::traverse(tree, scratch_, config_, arguments(), stream_);
  }

  /// Returns the tree. If a coordinate is invalid, the exception names the body, not the point of
  /// the tree.
  spatial_tree<Real, 3> finish_tree() {
    try {
      return tree_->get();
    } catch (const std::invalid_argument&) {
      detail::nbody::throw_if_invalid(read_progress().first_invalid, bodies_, name(), stream_);
      throw;
    }
  }

  arrays bodies_;
  nbody_config config_;
  cudaStream_t stream_;
  detail::result_state result_{"nbody"};
  detail::runtime::trace_recorder recorder_;       // records all grids except those of the tree
  std::optional<spatial_tree_run<Real, 3>> tree_;  // tree code only
  std::size_t nodes_ = 0;                          // the number that scratch_ has space for
  detail::nbody::target_selection targets_;
  detail::nbody::gravity_scratch<Real> scratch_;
  std::size_t scratch_bytes_ = 0;
  device_buffer<std::byte> own_;  // the memory of scratch_, unless the caller passed it
};

}  // namespace ramify::inline RAMIFY_BUILD
