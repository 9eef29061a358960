// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// barnes_hut: the tree code. <ramify/nbody.cuh> states its contract and includes this header.
///
///     1 build                    the octree over the bodies
///     2 compute_centers_of_mass  bottom-up: mass and center of mass of each node
///     3 traverse                 top-down: each warp sums the interactions of its 32 bodies
///
/// All phases are put into the stream at once. If the build needs the host, the phases after it do
/// nothing, and get() runs them again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>
#include <utility>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// The configuration of the tree of a force calculation.
[[nodiscard]] inline spatial_tree_config tree_config(const nbody_config& config) {
  spatial_tree_config of_tree;
  of_tree.route = config.route;
  of_tree.leaf_size = config.leaf_size;
  of_tree.max_nodes = config.max_nodes;
  of_tree.trace = config.trace;
  return of_tree;
}

/// Memory of the phases after the build.
template <class Real>
struct gravity_scratch {
  gravity_progress* progress = nullptr;
  point_mass<Real>* bodies = nullptr;
  mass_sum<Real>* sums = nullptr;
  gravity_node<Real>* nodes = nullptr;
  unsigned* counters = nullptr;  ///< of reduce_bottom_up()

  gravity_scratch() = default;
  gravity_scratch(memory_layout& memory, std::size_t n, std::size_t node_count)
      : progress(memory.take<gravity_progress>(1)),
        bodies(memory.take<point_mass<Real>>(n)),
        sums(memory.take<mass_sum<Real>>(node_count)),
        nodes(memory.take<gravity_node<Real>>(node_count)),
        counters(memory.take<unsigned>(node_count)) {}

  [[nodiscard]] static std::size_t bytes(std::size_t n, std::size_t node_count) {
    memory_layout sizing(nullptr);
    static_cast<void>(gravity_scratch(sizing, n, node_count));
    return sizing.size();
  }
};

/// Launches the grids of the phases after the build, and counts them.
template <class Real>
class gravity_phases {
  using view = spatial_tree_view<Real, 3>;

 public:
  gravity_phases(const nbody_config& config, const gravity_scratch<Real>& scratch,
                 cudaStream_t stream, const trace_ticket& trace)
      : config_(config), scratch_(scratch), stream_(stream), trace_(trace) {}

  void compute_centers_of_mass(const view& tree, const Real* masses) {
    if (tree.point_count == 0) return;
    check(cudaMemsetAsync(scratch_.counters, 0, tree.node_count * sizeof(unsigned), stream_),
          "clearing the nodes' counters");
    run(gather_bodies<Real>, tree.point_count, "gathering the bodies", tree, masses,
        scratch_.bodies);
    grids_ += reduce_bottom_up(tree, mass_reduction<Real>{scratch_.bodies, scratch_.sums}, stream_,
                               trace_, scratch_.counters);
    run(make_nodes<Real>, tree.node_count, "making the nodes", tree,
        static_cast<const mass_sum<Real>*>(scratch_.sums), static_cast<Real>(config_.theta),
        scratch_.nodes);
  }

  void traverse(const view& tree, point<Real, 3>* accelerations, Real* potentials) {
    if (tree.point_count == 0) return;
    const auto softening = static_cast<Real>(config_.softening);
    const traversal_arguments<Real> arguments{scratch_.nodes,
                                              scratch_.bodies,
                                              tree.ids,
                                              tree.point_count,
                                              softening * softening,
                                              static_cast<Real>(config_.gravitational_constant),
                                              accelerations,
                                              potentials,
                                              scratch_.progress,
                                              tree.built,
                                              trace_};
    const unsigned blocks = (tree.point_count - 1) / traversal_threads + 1;
    check(launch(traverse_tree<Real>, {blocks, traversal_threads}, stream_, arguments).code(),
          "traversing the tree");
    ++grids_;
  }

  /// Returns the number of grids that were launched.
  [[nodiscard]] unsigned grids() const { return grids_; }

 private:
  /// Launches `kernel` with one thread for each of n items.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::uint32_t n, const char* doing,
           const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    check(launch(kernel, {(n - 1) / threads + 1, threads}, stream_, arguments..., trace_).code(),
          doing);
    ++grids_;
  }

  nbody_config config_;
  gravity_scratch<Real> scratch_;
  cudaStream_t stream_;
  trace_ticket trace_;
  unsigned grids_ = 0;
};

/// Scratch memory of the phases after the build: of the caller, or kept in a buffer that grows.
template <class Real>
class gravity_memory {
 public:
  /// `kept` must outlive this object. `given` may be null.
  gravity_memory(device_buffer<std::byte>& kept, std::byte* given, cudaStream_t stream)
      : kept_(&kept), given_(given), stream_(stream) {}

  /// Returns memory for n bodies and `node_count` nodes. Memory that is replaced loses its
  /// contents.
  /// \throws cuda_error
  [[nodiscard]] gravity_scratch<Real> at_least(std::size_t n, std::size_t node_count) {
    bytes_ = gravity_scratch<Real>::bytes(n, node_count);
    if (given_ == nullptr && kept_->size() < bytes_) {
      *kept_ = device_buffer<std::byte>(bytes_, stream_);
    }
    memory_layout memory(given_ == nullptr ? kept_->data() : given_);
    return {memory, n, node_count};
  }
  /// Returns the size of the memory in use, in bytes.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  device_buffer<std::byte>* kept_;
  std::byte* given_;
  cudaStream_t stream_;
  std::size_t bytes_ = 0;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A force calculation that barnes_hut::accelerations_async() started. Movable; a moved-from object
/// may only be destroyed. The destructor neither waits for the calculation nor checks it.
template <class Real>
class [[nodiscard(
    "call get(): it waits, checks the bodies and returns the report")]] barnes_hut_run {
  using arrays = detail::nbody::device_arrays<Real>;
  using phases = detail::nbody::gravity_phases<Real>;

 public:
  /// Starts a calculation; see barnes_hut::accelerations_async(). `kept` holds the scratch memory
  /// if the caller passes none.
  barnes_hut_run(const arrays& bodies, const nbody_config& config, device_buffer<std::byte>& kept,
                 cudaStream_t stream, const scratch_memory& scratch)
      : arrays_(bodies),
        config_(config),
        stream_(stream),
        pieces_(bodies.n, config, scratch),
        memory_(kept, pieces_.phases, stream),
        recorder_(config.trace, stream),
        tree_(bodies.positions, bodies.n, stream, detail::nbody::tree_config(config), pieces_.build,
              pieces_.tree) {
    if (bodies.n == 0) return;
    scratch_ = memory_.at_least(bodies.n, tree_.view().node_count);
    check(cudaMemsetAsync(scratch_.progress, 0, sizeof *scratch_.progress, stream),
          "clearing the progress of a force calculation");
    detail::nbody::launch_check_of_bodies(arrays_, &scratch_.progress->first_invalid, stream,
                                          recorder_.ticket());
    grids_at_start_ = 1 + put_phases(tree_.view());
  }

  /// Returns the scratch memory of a calculation, in bytes. \throws cuda_error
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n, const nbody_config& config) {
    const spatial_tree_config of_tree = detail::nbody::tree_config(config);
    memory_layout sizing(nullptr);
    sizing.take<std::byte>(spatial_tree_scratch_bytes<Real, 3>(n, of_tree));
    sizing.take<std::byte>(spatial_tree_bytes<Real, 3>(n, of_tree));
    sizing.take<std::byte>(
        detail::nbody::gravity_scratch<Real>::bytes(n, reserved_nodes(n, of_tree)));
    return sizing.size();
  }

  /// Waits for the calculation, completes it if necessary, and returns its report. Call it once;
  /// or, if a graph captured the calculation, after each of its launches.
  /// \throws std::invalid_argument naming the first invalid body; std::length_error if the tree has
  ///         more nodes than fit in the caller's scratch memory; std::logic_error while the stream
  ///         is being captured; cuda_error, device_launch_error
  nbody_report get() {
    using namespace detail::nbody;
    require_no_capture(stream_, "barnes_hut");
    const spatial_tree<Real, 3> tree = finish_tree();
    nbody_report report;
    static_cast<run_report&>(report) = tree.report();
    report.bodies = arrays_.n;
    report.nodes = tree.report().nodes;
    if (arrays_.n == 0) return report;
    gravity_progress progress = read_object(scratch_.progress, stream_);
    throw_if_invalid(progress.first_invalid, arrays_, "barnes_hut", stream_);
    report.host_grids += grids_at_start_;
    if (progress.traversed == 0) {
      // The host completed the tree, which may have more nodes than there was memory for.
      scratch_ =
          memory_.at_least(arrays_.n, std::max(tree.view().node_count, tree_.view().node_count));
      progress = {0, 0, no_invalid_body};
      write(progress);
      report.host_grids += put_phases(tree.view());
      progress = read_object(scratch_.progress, stream_);
    }
    recorder_.read();
    report.interactions = progress.interactions;
    report.scratch_bytes += memory_.bytes();
    return report;
  }

 private:
  /// The parts of the caller's scratch memory, or nothing.
  struct pieces {
    pieces(std::size_t n, const nbody_config& config, const scratch_memory& scratch) {
      if (scratch.data == nullptr) return;
      const spatial_tree_config of_tree = detail::nbody::tree_config(config);
      build.bytes = spatial_tree_scratch_bytes<Real, 3>(n, of_tree);
      tree.bytes = spatial_tree_bytes<Real, 3>(n, of_tree);
      memory_layout memory(scratch.data);
      build.data = memory.template take<std::byte>(build.bytes);
      tree.data = memory.template take<std::byte>(tree.bytes);
      phases = memory.template take<std::byte>(0);
    }
    scratch_memory build, tree;
    std::byte* phases = nullptr;
  };

  /// A NaN is an error of a body, not of a point of the tree.
  spatial_tree<Real, 3> finish_tree() {
    try {
      return tree_.get();
    } catch (const std::invalid_argument&) {
      detail::nbody::throw_if_invalid(
          detail::nbody::read_object(scratch_.progress, stream_).first_invalid, arrays_,
          "barnes_hut", stream_);
      throw;
    }
  }

  /// Launches the phases after the build, and returns the number of their grids.
  unsigned put_phases(const spatial_tree_view<Real, 3>& tree) {
    phases of_tree(config_, scratch_, stream_, recorder_.ticket());
    of_tree.compute_centers_of_mass(tree, arrays_.masses);
    of_tree.traverse(tree, arrays_.accelerations, arrays_.potentials);
    return of_tree.grids();
  }

  void write(const detail::nbody::gravity_progress& progress) const {
    check(cudaMemcpyAsync(scratch_.progress, &progress, sizeof progress, cudaMemcpyHostToDevice,
                          stream_),
          "writing the progress of a force calculation");
  }

  arrays arrays_;
  nbody_config config_;
  cudaStream_t stream_;
  pieces pieces_;
  detail::nbody::gravity_memory<Real> memory_;
  detail::runtime::trace_recorder recorder_;  // of all grids but the tree's
  spatial_tree_run<Real, 3> tree_;
  detail::nbody::gravity_scratch<Real> scratch_;
  unsigned grids_at_start_ = 0;
};

/// Calculates accelerations by Barnes and Hut's tree code. It keeps its scratch memory from call to
/// call. Move-only.
template <class Real>
class barnes_hut {
 public:
  /// \throws std::invalid_argument naming the invalid field
  explicit barnes_hut(const nbody_config& config = {}) : config_(config) {
    validate(config);
    detail::nbody::validate_range<Real>(config);
  }

  /// Calculates the accelerations of n bodies, and their potentials unless `potentials` is null:
  /// accelerations_async() and get(). Waits for `stream`.
  /// \throws std::invalid_argument before anything is written; cuda_error; device_launch_error;
  ///         unavailable
  nbody_report accelerations(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                             point<Real, 3>* accelerations, Real* potentials = nullptr,
                             cudaStream_t stream = nullptr) {
    return accelerations_async(positions, masses, n, accelerations, potentials, stream).get();
  }

  /// Starts to calculate the accelerations of n bodies, and their potentials unless `potentials` is
  /// null. Asynchronous, as spatial_tree_async() is. The arrays and the scratch memory must exist
  /// until get() has returned. Without scratch memory of the caller, this object must exist and
  /// must not be moved or used until then. A graph may capture it on the device route, with scratch
  /// memory.
  /// \param scratch  memory of barnes_hut_scratch_bytes(); empty: kept by this object
  /// \throws std::invalid_argument; cuda_error; unavailable
  barnes_hut_run<Real> accelerations_async(const point<Real, 3>* positions, const Real* masses,
                                           std::size_t n, point<Real, 3>* accelerations,
                                           Real* potentials = nullptr,
                                           cudaStream_t stream = nullptr,
                                           scratch_memory scratch = {});

  // The phases of accelerations(), for callers that measure each of them. They check no argument.

  /// 1. Builds the octree over n bodies. Waits for `stream`.
  void build(const point<Real, 3>* positions, std::size_t n, cudaStream_t stream) {
    tree_ = spatial_tree<Real, 3>(positions, n, stream, detail::nbody::tree_config(config_));
  }

  /// 2. Launches the grids that calculate mass and center of mass of each node. Does not wait.
  void compute_centers_of_mass(const Real* masses, cudaStream_t stream) {
    phases(stream).compute_centers_of_mass(tree_.view(), masses);
  }

  /// 3. Launches the grid that traverses the tree and writes the results. `potentials` may be null.
  /// Does not wait.
  void traverse(point<Real, 3>* accelerations, Real* potentials, cudaStream_t stream) {
    const auto tree = tree_.view();
    if (tree.point_count == 0) return;
    auto of_tree = phases(stream);
    // No body is invalid.
    check(cudaMemsetAsync(&scratch_.progress->first_invalid, 0xff, sizeof(std::uint32_t), stream),
          "clearing the first invalid body");
    of_tree.traverse(tree, accelerations, potentials);
  }

 private:
  detail::nbody::gravity_phases<Real> phases(cudaStream_t stream) {
    const auto tree = tree_.view();
    scratch_ = detail::nbody::gravity_memory<Real>(memory_, nullptr, stream)
                   .at_least(tree.point_count, tree.node_count);
    return {config_, scratch_, stream, {}};
  }

  nbody_config config_;
  device_buffer<std::byte> memory_;
  spatial_tree<Real, 3> tree_;  // of build()
  detail::nbody::gravity_scratch<Real> scratch_;
};

/// Returns the scratch memory of a force calculation for n bodies, in bytes.
/// \throws std::invalid_argument, cuda_error
template <class Real>
[[nodiscard]] std::size_t barnes_hut_scratch_bytes(std::size_t n, const nbody_config& config = {}) {
  validate(config);
  return barnes_hut_run<Real>::scratch_bytes(n, config);
}

template <class Real>
barnes_hut_run<Real> barnes_hut<Real>::accelerations_async(const point<Real, 3>* positions,
                                                           const Real* masses, std::size_t n,
                                                           point<Real, 3>* accelerations,
                                                           Real* potentials, cudaStream_t stream,
                                                           scratch_memory scratch) {
  const detail::nbody::device_arrays<Real> arrays{positions,     masses,     n,
                                                  accelerations, potentials, n};
  std::optional<relaxed_capture_scope> relaxed;
  const bool captured = is_being_captured(stream);
  if (captured) relaxed.emplace();  // queries of the driver concern no captured stream
  detail::nbody::check_arguments(arrays, "barnes_hut");
  if (n > 0) {
    check_scratch(scratch, barnes_hut_scratch_bytes<Real>(n, config_), captured, "barnes_hut");
  }
  return {arrays, config_, memory_, stream, scratch};
}

}  // namespace ramify::inline RAMIFY_BUILD
