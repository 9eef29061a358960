// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// barnes_hut: the tree code. <ramify/nbody.cuh> states its contract and includes this header.
///
///     1 build                    the octree over the bodies
///     2 compute_centers_of_mass  bottom-up: mass and center of mass of each node
///     3 traverse                 top-down: each warp sums the interactions of its 32 bodies

#include <cstddef>
#include <cstdint>
#include <ramify/nbody/checks.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree.cuh>

namespace ramify::inline RAMIFY_BUILD {

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

  /// Calculates the accelerations of n bodies, and their potentials unless `potentials` is null.
  /// Waits for `stream`. \throws std::invalid_argument before anything is written; cuda_error;
  /// device_launch_error; unavailable
  nbody_report accelerations(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                             point<Real, 3>* accelerations, Real* potentials = nullptr,
                             cudaStream_t stream = nullptr) {
    const detail::nbody::device_arrays<Real> arrays{positions,     masses,     n,
                                                    accelerations, potentials, n};
    detail::nbody::check_arguments(arrays, "barnes_hut");
    begin(stream);
    if (n > 0) detail::nbody::check_bodies(arrays, "barnes_hut", stream, recorder_.ticket());
    build_tree(positions, n, stream);
    compute_centers_of_mass(masses, stream);
    traverse(accelerations, potentials, stream);
    nbody_report report = finish(stream);
    if (n > 0) ++report.host_grids;  // of check_bodies()
    return report;
  }

  // The phases of accelerations(), for callers that measure each of them. They check no argument.

  /// 1. Builds the octree over n bodies. Waits for `stream`.
  void build(const point<Real, 3>* positions, std::size_t n, cudaStream_t stream) {
    begin(stream);
    build_tree(positions, n, stream);
  }

  /// 2. Launches the grids that calculate mass and center of mass of each node. Does not wait.
  void compute_centers_of_mass(const Real* masses, cudaStream_t stream) {
    using namespace detail::nbody;
    const auto tree = tree_.view();
    if (tree.point_count == 0) return;
    point_mass<Real>* bodies = at_least(bodies_, tree.point_count, stream);
    mass_sum<Real>* sums = at_least(sums_, tree.node_count, stream);
    gravity_node<Real>* nodes = at_least(nodes_, tree.node_count, stream);
    run(gather_bodies<Real>, tree.point_count, stream, "gathering the bodies", tree, masses, bodies,
        recorder_.ticket());
    grids_ += reduce_bottom_up(tree, mass_reduction<Real>{bodies, sums}, stream, recorder_.ticket());
    run(make_nodes<Real>, tree.node_count, stream, "making the nodes", tree, sums,
        static_cast<Real>(config_.theta), nodes, recorder_.ticket());
  }

  /// 3. Launches the grid that traverses the tree and writes the results. `potentials` may be null.
  /// Does not wait.
  void traverse(point<Real, 3>* accelerations, Real* potentials, cudaStream_t stream) {
    using namespace detail::nbody;
    unsigned long long* count = at_least(interactions_, 1, stream);
    check(cudaMemsetAsync(count, 0, sizeof *count, stream), "clearing the count of interactions");
    const auto tree = tree_.view();
    if (tree.point_count == 0) return;
    const auto softening = static_cast<Real>(config_.softening);
    const traversal_arguments<Real> arguments{nodes_.data(),
                                              bodies_.data(),
                                              tree.ids,
                                              tree.point_count,
                                              softening * softening,
                                              static_cast<Real>(config_.gravitational_constant),
                                              accelerations,
                                              potentials,
                                              count,
                                              recorder_.ticket()};
    const unsigned blocks = (tree.point_count - 1) / traversal_threads + 1;
    check(launch(traverse_tree<Real>, {blocks, traversal_threads}, stream, arguments).code(),
          "traversing the tree");
    ++grids_;
  }

  /// Waits for `stream` and returns the report of the three phases.
  nbody_report finish(cudaStream_t stream) {
    unsigned long long interactions = 0;
    check(cudaMemcpyAsync(&interactions, interactions_.data(), sizeof interactions,
                          cudaMemcpyDeviceToHost, stream),
          "reading the count of interactions");
    check(cudaStreamSynchronize(stream), "waiting for the traversal");
    recorder_.read();
    nbody_report report;
    static_cast<run_report&>(report) = tree_.report();
    report.host_grids += grids_;
    report.bodies = tree_.report().points;
    report.nodes = tree_.report().nodes;
    report.interactions = interactions;
    report.scratch_bytes +=
        bytes_of(bodies_) + bytes_of(sums_) + bytes_of(nodes_) + sizeof interactions;
    return report;
  }

 private:
  /// Starts a new force calculation: a trace belongs to one stream, and each call may use another.
  void begin(cudaStream_t stream) { recorder_ = detail::runtime::trace_recorder(config_.trace, stream); }

  void build_tree(const point<Real, 3>* positions, std::size_t n, cudaStream_t stream) {
    tree_ = spatial_tree<Real, 3>(
        positions, n, stream,
        {.route = config_.route, .leaf_size = config_.leaf_size, .trace = config_.trace});
    grids_ = 0;
  }

  /// Returns memory for at least `n` elements. A buffer that is replaced loses its contents.
  template <class T>
  static T* at_least(device_buffer<T>& buffer, std::size_t n, cudaStream_t stream) {
    if (buffer.size() < n) buffer = device_buffer<T>(n, stream);
    return buffer.data();
  }

  template <class T>
  static std::size_t bytes_of(const device_buffer<T>& buffer) {
    return buffer.size() * sizeof(T);
  }

  /// Launches `kernel` with one thread for each of n items.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::uint32_t n, cudaStream_t stream, const char* doing,
           const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    check(launch(kernel, {(n - 1) / threads + 1, threads}, stream, arguments...).code(), doing);
    ++grids_;
  }

  nbody_config config_;
  detail::runtime::trace_recorder recorder_{nullptr, nullptr};  // from begin() to finish()
  spatial_tree<Real, 3> tree_;
  device_buffer<detail::nbody::point_mass<Real>> bodies_;
  device_buffer<detail::nbody::mass_sum<Real>> sums_;
  device_buffer<detail::nbody::gravity_node<Real>> nodes_;
  device_buffer<unsigned long long> interactions_;
  unsigned grids_ = 0;
};

}  // namespace ramify::inline RAMIFY_BUILD
