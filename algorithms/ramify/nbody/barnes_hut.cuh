// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gravity of n bodies on one another, for CUDA code: Barnes and Hut's tree code, and the direct sum.
///
///     ramify::barnes_hut<float> gravity({{.theta = 0.5, .softening = 0.01}});
///     gravity.accelerations(positions, masses, n, accelerations, potentials, stream);
///
///     masses        <-- [3, 1]                  positions  <-- [(0 0 0), (2 0 0)]
///     accelerations --> [(.25 0 0), (-.75 0 0)] potentials --> [-.5, -1.5]     (G = 1, no softening)
///
///     a_i = G sum m_j d_ij / (d_ij^2 + softening^2)^(3/2),  phi_i = -G sum m_j / (...)^(1/2)
///
/// Compiled by nvcc it runs on the GPU; compiled by a C++ compiler, on the CPU executor. For host
/// memory, or for code that never sees nvcc, there is the facade <ramify/nbody.hpp>.
///
/// Bodies         n < 2^31, of float or double, in device, managed or pinned memory. Units are the
///                caller's: G joins them. Masses of any sign or none, whose sum does not overflow;
///                coordinates up to 4.6e18 in float and 3.3e153 in double. Only read, and must not
///                overlap with the results.
/// Results        of body i at i; potentials may be null. A body does not pull itself. Bodies in one
///                place (or so close that their squared distance is below the least normal number)
///                do not pull one another unless softened; softened, they have a potential only.
/// Error          of theta, as a rule: at 0.5, 0.3 % of an acceleration in the root mean square over
///                a star cluster of thousands, 0.05 % at 0.3, 1.5 % at 0.9; at 0 that of rounding.
///                More where bodies lie on a line (8 % at 0.5) or where forces cancel. A warp opens
///                what any of its bodies must, so errors are smaller than of a body's own walk.
/// Reproducible   the same input gives the same bits, by either route and in any order of grids.
/// Scratch        of floats: 16 bytes a body and 64 a node, kept from call to call, and the tree's
///                (<ramify/spatial_tree.cuh>), built anew each time. From Ramify's stream-ordered pool.
/// Stream         work before in the stream is ordered with the call; each call waits for it. Streams
///                that were handed in must live as long as the object, whose memory is freed in them.
/// Launches       the tree's, and five grids of the host's. The walk launches nothing.
/// Errors         std::invalid_argument for a bad argument, naming the first body with a coordinate
///                or a mass that will not do, before anything is written; unavailable if the device
///                route is asked for without -rdc=true; cuda_error, device_launch_error.
/// Complexity     O(n log n / theta^3) expected; direct_gravity O(n^2).
/// Source         Barnes and Hut, 1986; warps that walk as one: Burtscher and Pingali, 2011.
/// Not for        fewer than about 10,000 bodies, where direct_gravity() is quicker (on an H200);
///                periodic boxes; forces to more than three digits, for which quadrupoles or a fast
///                multipole method are cheaper than a small theta.

#include <cstddef>
#include <cstdint>
#include <ramify/nbody/check_bodies.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/direct_sum.cuh>
#include <ramify/nbody/traversal.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

namespace detail {

/// \throws std::invalid_argument, before anything is written
template <class Real>
void check_gravity_arguments(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                             const point<Real, 3>* accelerations, const Real* potentials,
                             std::size_t results, const char* algorithm) {
  const auto named = [&](const char* name) { return std::string(algorithm) + ": " + name; };
  if (n > spatial_shape<3>::most_points) {
    throw std::invalid_argument(named("n is ") + std::to_string(n) + "; it must be less than 2^31");
  }
  if (n == 0) return;
  check_device_access(positions, named("positions").c_str());
  check_device_access(masses, named("masses").c_str());
  check_device_access(accelerations, named("accelerations").c_str());
  if (potentials != nullptr) check_device_access(potentials, named("potentials").c_str());
  check_gravity_overlap(positions, masses, n, accelerations, potentials, results, algorithm);
}

/// At least `n` objects in `buffer`, whatever they are. Never fewer than before.
template <class T>
T* at_least(device_buffer<T>& buffer, std::size_t n, cudaStream_t stream) {
  if (buffer.size() < n) buffer = device_buffer<T>(n, stream);
  return buffer.data();
}

}  // namespace detail

/// Finds gravity again and again, step after step. Move-only.
template <class Real>
class barnes_hut {
 public:
  /// \throws std::invalid_argument naming a bad field
  explicit barnes_hut(const gravity_config& config = {}) : config_(config) {
    validate(config);
    validate_range<Real>(config);
  }

  /// Accelerations, and potentials unless that is null, of n bodies. Waits for `stream`.
  gravity_report accelerations(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                               point<Real, 3>* accelerations, Real* potentials = nullptr,
                               cudaStream_t stream = nullptr) {
    detail::check_gravity_arguments(positions, masses, n, accelerations, potentials, n,
                                    "barnes_hut");
    begin(stream);
    if (n > 0) {
      check_bodies(positions, masses, static_cast<std::uint32_t>(n), "barnes_hut", stream,
                   recorder_.ticket());
    }
    build_tree(positions, n, stream);
    summarize_masses(masses, stream);
    walk(accelerations, potentials, stream);
    gravity_report report = finish(stream);
    if (n > 0) ++report.host_grids;  // that looked at the bodies
    return report;
  }

  // The same in its three steps, all arguments unchecked, for those who want to know their times.
  // The first waits, the others need not.

  /// 1. The octree over the bodies.
  void build(const point<Real, 3>* positions, std::size_t n, cudaStream_t stream) {
    begin(stream);
    build_tree(positions, n, stream);
  }

  /// 2. The cells: mass and centre of mass of each node.
  void summarize_masses(const Real* masses, cudaStream_t stream) {
    const auto tree = tree_.view();
    if (tree.point_count == 0) return;
    point_mass<Real>* bodies = detail::at_least(bodies_, tree.point_count, stream);
    mass_summary<Real>* sums = detail::at_least(sums_, tree.node_count, stream);
    gravity_cell<Real>* cells = detail::at_least(cells_, tree.node_count, stream);
    run(gather_bodies<Real>, tree.point_count, stream, "gathering the bodies", tree, masses, bodies,
        recorder_.ticket());
    grids_ += summarize(tree, fold_mass<Real>{bodies, sums}, stream, recorder_.ticket());
    run(make_cells<Real>, tree.node_count, stream, "making the cells", tree, sums,
        static_cast<Real>(config_.theta), cells, recorder_.ticket());
  }

  /// 3. The walk of all bodies.
  void walk(point<Real, 3>* accelerations, Real* potentials, cudaStream_t stream) {
    unsigned long long* count = detail::at_least(interactions_, 1, stream);
    check(cudaMemsetAsync(count, 0, sizeof *count, stream), "clearing the count of interactions");
    const auto tree = tree_.view();
    if (tree.point_count == 0) return;
    const auto softening = static_cast<Real>(config_.softening);
    const gravity_walk<Real> work{cells_.data(),
                                  bodies_.data(),
                                  tree.ids,
                                  tree.point_count,
                                  softening * softening,
                                  static_cast<Real>(config_.gravitational_constant),
                                  accelerations,
                                  potentials,
                                  count,
                                  recorder_.ticket()};
    check(launch(walk_tree<Real>, {(tree.point_count - 1) / walk_threads + 1, walk_threads}, stream,
                 work)
              .code(),
          "walking the tree");
    ++grids_;
  }

  /// Waits, and tells what the three steps did.
  gravity_report finish(cudaStream_t stream) {
    unsigned long long interactions = 0;
    check(cudaMemcpyAsync(&interactions, interactions_.data(), sizeof interactions,
                          cudaMemcpyDeviceToHost, stream),
          "reading the count of interactions");
    check(cudaStreamSynchronize(stream), "waiting for the walk");
    recorder_.read();
    gravity_report report;
    static_cast<run_report&>(report) = tree_.report();
    report.host_grids += grids_;
    report.bodies = tree_.report().points;
    report.nodes = tree_.report().nodes;
    report.interactions = interactions;
    report.scratch_bytes += bodies_.size() * sizeof(point_mass<Real>) +
                            sums_.size() * sizeof(mass_summary<Real>) +
                            cells_.size() * sizeof(gravity_cell<Real>) + sizeof interactions;
    return report;
  }

 private:
  /// A new calculation, in a stream of its own choice.
  void begin(cudaStream_t stream) { recorder_ = trace_recorder(config_.trace, stream); }

  void build_tree(const point<Real, 3>* positions, std::size_t n, cudaStream_t stream) {
    spatial_tree_config config;
    config.route = config_.route;
    config.leaf_size = config_.leaf_size;
    config.trace = config_.trace;
    tree_ = spatial_tree<Real, 3>(positions, n, stream, config);
    grids_ = 0;
  }

  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::uint32_t n, cudaStream_t stream, const char* doing,
           const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    check(launch(kernel, {(n - 1) / threads + 1, threads}, stream, arguments...).code(), doing);
    ++grids_;
  }

  gravity_config config_;
  trace_recorder recorder_{nullptr, nullptr};  // from begin() to finish()
  spatial_tree<Real, 3> tree_;
  device_buffer<point_mass<Real>> bodies_;
  device_buffer<mass_summary<Real>> sums_;
  device_buffer<gravity_cell<Real>> cells_;
  device_buffer<unsigned long long> interactions_;
  unsigned grids_ = 0;
};

/// Some of the bodies: [begin, end).
struct body_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0xffffffffu;  ///< or n, if that is less
};

/// The same from every pair of bodies; theta plays no part. Waits for `stream`. Given a range, only
/// of its bodies, the first one's result at 0. Its grids are added to `trace`, if there is one.
template <class Real>
gravity_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                              point<Real, 3>* accelerations, Real* potentials = nullptr,
                              cudaStream_t stream = nullptr, const gravity_parameters& how = {},
                              body_range range = {}, launch_trace* trace = nullptr) {
  validate(how);
  validate_range<Real>(how);
  if (range.end > n) range.end = static_cast<std::uint32_t>(n);
  if (range.begin > range.end) {
    throw std::invalid_argument("direct_gravity: range.begin is " + std::to_string(range.begin) +
                                "; it must be at most range.end and n, " +
                                std::to_string(range.end));
  }
  const std::uint32_t count = range.end - range.begin;
  detail::check_gravity_arguments(positions, masses, n, accelerations, potentials, count,
                                  "direct_gravity");
  gravity_report report;
  static_cast<run_report&>(report) = report_of_this_build();
  report.method = gravity_method::direct;
  report.taken = route::flat;
  report.route_reason = "a direct sum has no recursion";
  report.bodies = n;
  if (count == 0) return report;
  trace_recorder recorder(trace, stream);
  if (trace != nullptr) trace->taken = report.taken;
  check_bodies(positions, masses, static_cast<std::uint32_t>(n), "direct_gravity", stream,
               recorder.ticket());
  const auto softening = static_cast<Real>(how.softening);
  const gravity_pairs<Real> work{positions,
                                 masses,
                                 static_cast<std::uint32_t>(n),
                                 range.begin,
                                 range.end,
                                 softening * softening,
                                 static_cast<Real>(how.gravitational_constant),
                                 accelerations,
                                 potentials,
                                 recorder.ticket()};
  check(launch(sum_pairs<Real>, {(count - 1) / direct_threads + 1, direct_threads}, stream, work)
            .code(),
        "summing all pairs");
  check(cudaStreamSynchronize(stream), "waiting for the direct sum");
  recorder.read();
  report.host_grids = 2;
  report.interactions = std::uint64_t{count} * (n - 1);
  return report;
}

}  // namespace ramify::inline RAMIFY_BUILD
