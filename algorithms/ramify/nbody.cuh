// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gravity of n bodies on one another, for CUDA code: force calculations and simulations.
///
///     barnes_hut<Real>   accelerations by Barnes and Hut's tree code
///     direct_gravity()   accelerations by the direct sum over all pairs
///     nbody_system<Real> bodies on the device that move under their own gravity
///
///     const ramify::nbody_config config{.theta = 0.5, .softening = 0.01};
///     ramify::barnes_hut<float> gravity(config);
///     gravity.accelerations(positions, masses, n, accelerations, potentials, stream);
///     auto run = gravity.accelerations_async(positions, masses, n, accelerations);
///     run.get();                                          // accelerations_async() does not wait
///
///     masses        <-- [3, 1]                  positions  <-- [(0 0 0), (2 0 0)]
///     accelerations --> [(.25 0 0), (-.75 0 0)] potentials --> [-.5, -1.5]      (no softening)
///
///     a_i = G sum m_j d_ij / (d_ij^2 + softening^2)^(3/2),  phi_i = -G sum m_j / (...)^(1/2)
///
///     ramify::nbody_system<float> cluster(positions, velocities, masses, n, stream, config);
///     cluster.step(0.01, 100);
///     kernel<<<...>>>(cluster.positions());
///
/// nvcc compiles it for the GPU, a C++ compiler for the CPU executor. For host memory, or for code
/// that nvcc does not compile, use the facade <ramify/nbody.hpp>.
///
/// Bodies         n < 2^31, of float or double, in device, managed or pinned memory. The caller
///                chooses the units, and G in these units. Masses may be negative or 0; their sum
///                must not overflow. Coordinates must be at most 4.6e18 in float and 3.3e153 in
///                double. The inputs are only read, and must not overlap with the results.
/// Results        element i is of body i; `potentials` may be null. No body acts on itself. Without
///                softening, two bodies whose squared distance is less than the least normal number
///                do not act on each other. With softening, coincident bodies add to each other's
///                potential only.
/// Error          depends on theta: benchmarks/README.md, "N-body gravity on a GPU", lists it. It
///                is larger for bodies on a line (8 % at theta 0.5) and where forces cancel. At
///                theta 0 it is rounding. A warp opens each node that one of its bodies must open,
///                so errors are smaller than those of one traversal for each body.
/// Reproducible   the same input gives the same bits, by either route and in any order of grids.
/// Step           nbody_system: leapfrog, kick-drift-kick, one force calculation a step. Second
///                order in dt; time-reversible (with -dt) but for rounding. All bodies have one dt,
///                so close encounters require softening or a small dt.
/// Scratch        barnes_hut, of floats: 16 bytes a body and 68 a node, for half a node a body,
///                kept from call to call, and the tree's (<ramify/spatial_tree.cuh>), which each
///                call builds anew. nbody_system: 44 bytes a body more. All from Ramify's
///                stream-ordered pool, or, for accelerations_async() and direct_gravity_async(),
///                from the caller.
/// Stream         each call is ordered after earlier work in its stream, and waits for the stream,
///                except for calls whose name ends in _async: their get() waits. Memory is freed in
///                the stream that was passed, so the stream must outlive the object.
/// Graphs         direct_gravity_async() can be captured into a CUDA graph, and so can
///                accelerations_async() on the device route, with scratch memory of the caller.
/// Launches       those of the tree, and five grids from the host. The traversal launches nothing.
/// Errors         std::invalid_argument for a bad argument, naming the first body with an invalid
///                coordinate or mass, and then no result is written; unavailable if the device
///                route is requested without -rdc=true; cuda_error, device_launch_error.
/// Complexity     barnes_hut: O(n log n / theta^3) expected; direct_gravity: O(n^2).
/// Source         Barnes and Hut, 1986; the traversal: Burtscher and Pingali, 2011; the leapfrog:
///                Hockney and Eastwood, Computer Simulation Using Particles, 1981.
/// Not for        barnes_hut: fewer than about 10,000 bodies, for which direct_gravity() is faster
///                (on an H200). Periodic boxes. Forces to more than three digits, for which
///                quadrupoles or a fast multipole method cost less than a small theta.
///                nbody_system: orbits of a few planets over ages, which require higher orders;
///                tight binaries, which require individual time steps.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/nbody/barnes_hut.cuh>
#include <ramify/nbody/direct_sum.cuh>
#include <ramify/nbody/gravity_solver.cuh>
#include <ramify/nbody/leapfrog.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ramify::inline RAMIFY_BUILD {

/// Bodies that stay on the device and move under their own gravity. Move-only; a moved-from system
/// has no bodies.
template <class Real>
class nbody_system {
  using vector = point<Real, 3>;

 public:
  /// Copies n bodies from device, managed, pinned or ordinary host memory, and calculates their
  /// accelerations. The copies keep the caller's order. Waits for `stream`.
  /// \throws std::invalid_argument naming an invalid option, array or body; cuda_error;
  /// device_launch_error; unavailable
  nbody_system(const vector* positions, const vector* velocities, const Real* masses, std::size_t n,
               cudaStream_t stream = nullptr, const nbody_config& config = {})
      : n_(n),
        stream_(stream),
        recorder_(config.trace, stream),
        solver_(config),
        positions_(n, stream),
        velocities_(n, stream),
        accelerations_(n, stream),
        masses_(n, stream),
        potentials_(n, stream) {
    copy(positions_.data(), positions);
    copy(velocities_.data(), velocities);
    copy(masses_.data(), masses);
    calculate_accelerations();
    if (n > 0) {
      (void)checked_bounds(velocities_.data(), n, "nbody_system: velocities", stream,
                           recorder_.ticket());
      ++report_.host_grids;
      recorder_.read();
    }
  }

  nbody_system(nbody_system&& other) noexcept
      : n_(std::exchange(other.n_, 0)),
        stream_(other.stream_),
        recorder_(std::move(other.recorder_)),
        solver_(std::move(other.solver_)),
        positions_(std::move(other.positions_)),
        velocities_(std::move(other.velocities_)),
        accelerations_(std::move(other.accelerations_)),
        masses_(std::move(other.masses_)),
        potentials_(std::move(other.potentials_)),
        report_(std::exchange(other.report_, {})) {}
  nbody_system& operator=(nbody_system other) noexcept {
    std::swap(n_, other.n_);
    std::swap(stream_, other.stream_);
    std::swap(recorder_, other.recorder_);
    std::swap(solver_, other.solver_);
    std::swap(positions_, other.positions_);
    std::swap(velocities_, other.velocities_);
    std::swap(accelerations_, other.accelerations_);
    std::swap(masses_, other.masses_);
    std::swap(potentials_, other.potentials_);
    std::swap(report_, other.report_);
    return *this;
  }

  /// Advances the bodies by `count` steps of dt; a negative dt goes back in time. Copies no body to
  /// the host. Waits for the stream. After an exception the bodies are in the middle of a step.
  /// \throws std::invalid_argument if dt is not finite as a Real, or if a body leaves the range of
  /// coordinates; cuda_error; device_launch_error
  void step(double dt, std::uint64_t count = 1) {
    using namespace detail::nbody;
    if (!(std::abs(dt) <= std::numeric_limits<Real>::max())) {
      throw std::invalid_argument("nbody_system: dt must be finite, in the bodies' type too");
    }
    if (n_ == 0) return;
    const auto n = static_cast<std::uint32_t>(n_);
    const auto h = static_cast<Real>(dt);
    for (; count > 0; --count) {
      run(kick_and_drift<Real>, "kicking and drifting", positions_.data(), velocities_.data(),
          accelerations_.data(), n, h);
      calculate_accelerations();
      run(kick<Real>, "kicking", velocities_.data(), accelerations_.data(), n, h);
    }
    check(cudaStreamSynchronize(stream_), "waiting for a step");
    recorder_.read();
  }

  /// Returns the energies and momenta of the current state. Launches one grid and waits for it.
  /// \throws cuda_error
  [[nodiscard]] nbody_conserved conserved() {
    using namespace detail::nbody;
    nbody_conserved sum{};
    if (n_ == 0) return sum;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>((n_ - 1) / 1024 + 1, 512));
    const device_buffer<nbody_conserved> block_sums(blocks, stream_);
    check(launch(sum_conserved<Real>, {blocks, conserved_threads}, stream_, positions_.data(),
                 velocities_.data(), masses_.data(), potentials_.data(),
                 static_cast<std::uint32_t>(n_), block_sums.data(), recorder_.ticket())
              .code(),
          "summing energies");
    ++report_.host_grids;
    std::vector<nbody_conserved> parts(blocks);
    check(cudaMemcpyAsync(parts.data(), block_sums.data(), blocks * sizeof(nbody_conserved),
                          cudaMemcpyDeviceToHost, stream_),
          "reading energies");
    check(cudaStreamSynchronize(stream_), "waiting for energies");
    recorder_.read();
    for (const nbody_conserved& part : parts) sum = add_conserved{}(sum, part);
    return sum;
  }

  // The arrays are in device memory, in the caller's order, and valid until the next step.
  [[nodiscard]] const vector* positions() const { return positions_.data(); }
  [[nodiscard]] const vector* velocities() const { return velocities_.data(); }
  [[nodiscard]] const vector* accelerations() const { return accelerations_.data(); }
  [[nodiscard]] const Real* masses() const { return masses_.data(); }
  [[nodiscard]] const Real* potentials() const { return potentials_.data(); }
  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Returns the sums over all work so far. Nodes and route are those of the last force
  /// calculation.
  [[nodiscard]] const nbody_report& report() const { return report_; }

 private:
  void calculate_accelerations() {
    nbody_report now = solver_.accelerations(positions_.data(), masses_.data(), n_,
                                             accelerations_.data(), potentials_.data(), stream_);
    add_part(now, report_);
    now.interactions += report_.interactions;
    now.scratch_bytes = std::max(now.scratch_bytes, report_.scratch_bytes);
    report_ = now;
  }

  template <class T>
  void copy(T* to, const T* from) {
    if (n_ == 0) return;
    if (from == nullptr) throw std::invalid_argument("nbody_system: an array of bodies is null");
    check(cudaMemcpyAsync(to, from, n_ * sizeof(T), cudaMemcpyDefault, stream_),
          "copying the bodies");
  }

  /// Launches `kernel` with one thread for each body.
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), const char* doing, const Arguments&... arguments) {
    constexpr unsigned threads = 256;
    const auto blocks = static_cast<unsigned>((n_ - 1) / threads + 1);
    check(launch(kernel, {blocks, threads}, stream_, arguments..., recorder_.ticket()).code(),
          doing);
    ++report_.host_grids;
  }

  std::size_t n_;
  cudaStream_t stream_;
  detail::runtime::trace_recorder recorder_;  // of all grids but those of force calculations
  detail::nbody::gravity_solver<Real> solver_;
  device_buffer<vector> positions_, velocities_, accelerations_;
  device_buffer<Real> masses_, potentials_;
  nbody_report report_;
};

}  // namespace ramify::inline RAMIFY_BUILD
