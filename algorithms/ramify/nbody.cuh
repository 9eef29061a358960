// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gravity of n bodies on one another, for CUDA code: force calculations and simulations.
///
///     barnes_hut<Real>   accelerations by Barnes and Hut's tree code
///     direct_gravity()   accelerations by the direct sum over all pairs
///     find_collisions()  pairs of bodies that are closer than the sum of their radii
///     nbody_system<Real> bodies on the device that move under their own gravity
///     nbody_system<Real, External>   and in an external field, or with a callback between steps
///
///     const ramify::nbody_options options{.theta = 0.5, .softening = 0.01};
///     ramify::barnes_hut<float> gravity(options);         // or {.tolerance = 0.01}: per cent
///     gravity.accelerations(positions, masses, n, accelerations, potentials, {.stream = stream});
///     auto run = gravity.accelerations_async(positions, masses, n, accelerations);
///     run.get();                                          // accelerations_async() does not wait
///
///     masses        <-- [3, 1]                  positions  <-- [(0 0 0), (2 0 0)]
///     accelerations --> [(.25 0 0), (-.75 0 0)] potentials --> [-.5, -1.5]      (no softening)
///
///     a_i = G sum m_j d_ij / (d_ij^2 + softening^2)^(3/2),  phi_i = -G sum m_j / (...)^(1/2)
///
///     ramify::nbody_system<float> cluster(positions, velocities, masses, n, options);
///     cluster.step(0.01, 100);
///     auto step = cluster.step_async(0.01);               // does not wait; step.get() waits
///     kernel<<<...>>>(cluster.positions());
///
/// nvcc compiles it for the GPU, a C++ compiler for the CPU executor. For host memory, or for code
/// that nvcc does not compile, use the facade <ramify/nbody.hpp>.
///
/// Bodies         n < 2^31, of float or double, in device, managed or pinned memory. The caller
///                chooses the units, and G in these units. Masses may be negative or 0; their sum
///                must not overflow. Coordinates must be at most 4.6e18 in float and 3.3e153 in
///                double, and so must the softening; it must be 0 or at least 1.1e-19 and 1.5e-154.
///                The inputs are only read, and must not overlap with the results.
/// Results        element i is of body i; `potentials` may be null. No body acts on itself. Without
///                softening, two bodies whose squared distance is less than the least normal number
///                do not act on each other. With softening, coincident bodies add to each other's
///                potential only.
/// Error          depends on order, and on theta or tolerance: benchmarks/nbody.md lists it. It
///                is larger for bodies on a line and where forces cancel. At theta 0 only rounding
///                errors remain. A warp opens each node that one of its bodies must open, so errors
///                are smaller than if each body had its own traversal. In block steps with few
///                active bodies, a warp may have one body. Masses of both signs have a dipole about
///                the center of a node, which neither order includes.
/// Reproducible   the same input gives the same bits, by either route and in any order of grids.
/// Step           nbody_system: leapfrog, kick-drift-kick, one force calculation a step. Second
///                order in dt; time-reversible (with -dt) except for rounding. By default all
///                bodies have one dt, so close encounters require softening or a small dt.
/// External       nbody/external.cuh: a functor that adds accelerations in the kicks of a step, or
///                changes velocities after each step. Its time is on the device.
/// Block steps    step_levels > 1: each body has its own step of dt / 2^k, by its acceleration
///                (step_accuracy). Then a step calculates forces at up to 2^(step_levels - 1)
///                times, but only those on the active bodies. It builds a tree at the end, and once
///                for every n forces; at other times it refits the tree to the moved bodies. Not
///                symplectic and not time-reversible: energies and momenta change by the error of
///                the steps.
/// Scratch        barnes_hut, of floats: 16 bytes a body and 136 a node (order 1: 68), for half a
///                node a body, and the tree's (<ramify/spatial_tree.cuh>), which each call builds
///                anew. A system keeps 44 bytes a body more; with block steps 45 and the tree, and
///                32 a body and 168 a node (order 1: 100) for refits, freed before a build. All
///                memory comes from Ramify's stream-ordered pool; that of barnes_hut may come from
///                environment::memory, also in a system.
/// Stream         environment::stream: each call is ordered after earlier work in it, and waits for
///                it, except for calls whose name ends in _async: their get() waits. Work that
///                enters the stream after an _async call sees the complete results, also before
///                get(). Where the stream cannot complete the build of the tree
///                (environment::completion), the call waits. With completion::by_get, the results
///                are complete only after get(). A system keeps
///                the environment of its constructor; its memory is freed in the stream, which must
///                outlive it.
/// Graphs         a graph can capture functions whose name ends in _async, on either route, if
///                memory was handed in. The tree code on the flat route requires what
///                <ramify/spatial_tree.cuh> states.
/// Launches       those of the tree, and five grids from the host. The traversal launches nothing.
///                An External adds one grid to a step.
///                Block steps: for each time at which steps end, six grids, or those of the tree
///                and at most nine; the host waits once for six grids.
/// Errors         std::invalid_argument for a bad argument, naming the first body with an invalid
///                coordinate or mass, and then no result is written; unavailable if the device
///                route is requested without -rdc=true; cuda_error, device_launch_error.
/// Complexity     barnes_hut: O(n log n / theta^3) expected; direct_gravity: O(n^2).
/// Source         Barnes and Hut, 1986; the traversal: Burtscher and Pingali, 2011, and Bédorf,
///                Gaburov and Portegies Zwart, 2012; the tolerance: Springel, 2005; the leapfrog:
///                Hockney and Eastwood, Computer Simulation Using Particles, 1981; block steps:
///                Makino, 1991, and Miki and Umemura, 2017.
/// Not for        barnes_hut: fewer than about 5,000 bodies, for which direct_gravity() is faster
///                (on an H200). Periodic boxes. Forces to more than four digits, for which a fast
///                multipole method costs less.
///                nbody_system: orbits of a few planets over very long times, and tight binaries,
///                which require higher orders.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/nbody/collisions.cuh>
#include <ramify/nbody/external.cuh>
#include <ramify/nbody/gravity_run.cuh>
#include <ramify/nbody/system.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Calculates accelerations by Barnes and Hut's tree code.
template <class Real>
class barnes_hut {
 public:
  /// options.method is not read. \throws std::invalid_argument naming the invalid field
  explicit barnes_hut(nbody_options options = {}) : options_(options) {
    options_.method = nbody_method::tree;
    static_cast<void>(detail::nbody::checked<Real>(options_));
  }

  /// Calculates the accelerations of n bodies, and their potentials unless `potentials` is null:
  /// accelerations_async() and get(). Waits for the stream.
  /// \param env  its memory: barnes_hut_scratch_bytes()
  /// \throws std::invalid_argument before anything is written; std::length_error; cuda_error;
  ///         device_launch_error; unavailable
  nbody_report accelerations(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                             point<Real, 3>* accelerations, Real* potentials = nullptr,
                             const environment& env = {}) const {
    return accelerations_async(positions, masses, n, accelerations, potentials,
                               detail::waiting(env))
        .get();
  }

  /// Starts to calculate the accelerations of n bodies, and their potentials unless `potentials` is
  /// null. Returns without waiting, except that the first automatic route on a GPU measures
  /// launches (see choose_route()). Work that enters the stream after the call sees the results;
  /// see Stream above. The arrays must exist until get() has returned. get() throws
  /// std::invalid_argument naming the first invalid body, and std::length_error if the tree has
  /// more nodes than fit in the caller's memory; then no result is written.
  /// \param env  its memory: barnes_hut_scratch_bytes()
  /// \throws std::invalid_argument; cuda_error; unavailable
  async_run<nbody_report> accelerations_async(const point<Real, 3>* positions, const Real* masses,
                                              std::size_t n, point<Real, 3>* accelerations,
                                              Real* potentials = nullptr,
                                              const environment& env = {}) const {
    return detail::nbody::start_gravity<Real>(
        "barnes_hut", {positions, masses, n, accelerations, potentials, n}, 0, options_, env);
  }

 private:
  nbody_options options_;
};

/// Returns the scratch memory of barnes_hut::accelerations_async() for n bodies, in bytes.
/// \throws std::invalid_argument, cuda_error
template <class Real>
[[nodiscard]] std::size_t barnes_hut_scratch_bytes(std::size_t n, nbody_options options = {}) {
  options.method = nbody_method::tree;
  return detail::nbody::gravity_bytes<Real>(n, options);
}

/// Returns the scratch memory of a direct sum, in bytes.
[[nodiscard]] constexpr std::size_t direct_gravity_scratch_bytes() {
  return memory_layout::alignment;
}

/// Starts to calculate the accelerations of the bodies of `range` by the direct sum over all n
/// bodies, and their potentials unless `potentials` is null. The results of body range.begin are at
/// index 0. Reads no theta, method or leaf_size, and has no choice of a route. Returns without
/// waiting. Work that enters the stream after the call sees the results, on every driver and also
/// with completion::by_get. All arrays must exist until get() has returned. O(n) for each body of
/// the range.
/// \param env  its memory: direct_gravity_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real>
async_run<nbody_report> direct_gravity_async(const point<Real, 3>* positions, const Real* masses,
                                             std::size_t n, body_range range,
                                             point<Real, 3>* accelerations, Real* potentials,
                                             nbody_options options, const environment& env = {}) {
  options.method = nbody_method::direct;
  if (range.end > n) range.end = static_cast<std::uint32_t>(n);
  if (range.begin > range.end) {
    throw std::invalid_argument("direct_gravity: range.begin is " + std::to_string(range.begin) +
                                "; it must be at most range.end and n, " +
                                std::to_string(range.end));
  }
  return detail::nbody::start_gravity<Real>(
      "direct_gravity", {positions, masses, n, accelerations, potentials, range.end - range.begin},
      range.begin, options, env);
}

/// Starts to calculate the accelerations of all bodies by the direct sum; see the overload with a
/// range.
/// \param env  its memory: direct_gravity_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Real>
async_run<nbody_report> direct_gravity_async(const point<Real, 3>* positions, const Real* masses,
                                             std::size_t n, point<Real, 3>* accelerations,
                                             Real* potentials, const nbody_options& options,
                                             const environment& env = {}) {
  return direct_gravity_async(positions, masses, n, body_range{}, accelerations, potentials,
                              options, env);
}
/// Overload with the default options.
template <class Real>
async_run<nbody_report> direct_gravity_async(const point<Real, 3>* positions, const Real* masses,
                                             std::size_t n, point<Real, 3>* accelerations,
                                             Real* potentials = nullptr,
                                             const environment& env = {}) {
  return direct_gravity_async(positions, masses, n, accelerations, potentials, nbody_options{},
                              env);
}

/// Calculates the accelerations of the bodies of `range` by the direct sum, and waits for the
/// stream: direct_gravity_async() and get().
/// \param env  its memory: direct_gravity_scratch_bytes()
/// \throws std::invalid_argument before anything is written; unavailable; cuda_error
template <class Real>
nbody_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                            const body_range& range, point<Real, 3>* accelerations,
                            Real* potentials, const nbody_options& options,
                            const environment& env = {}) {
  return direct_gravity_async(positions, masses, n, range, accelerations, potentials, options,
                              detail::waiting(env))
      .get();
}

/// Calculates the accelerations of all bodies by the direct sum, and waits for the stream:
/// direct_gravity_async() and get().
/// \param env  its memory: direct_gravity_scratch_bytes()
/// \throws std::invalid_argument before anything is written; unavailable; cuda_error
template <class Real>
nbody_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                            point<Real, 3>* accelerations, Real* potentials,
                            const nbody_options& options, const environment& env = {}) {
  return direct_gravity_async(positions, masses, n, accelerations, potentials, options,
                              detail::waiting(env))
      .get();
}
/// Overload with the default options.
template <class Real>
nbody_report direct_gravity(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                            point<Real, 3>* accelerations, Real* potentials = nullptr,
                            const environment& env = {}) {
  return direct_gravity(positions, masses, n, accelerations, potentials, nbody_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
