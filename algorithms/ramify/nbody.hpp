// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gravity of n bodies on one another, for plain C++: compiled functions over std::span.
///
///     std::vector<std::array<float, 3>> positions = ..., velocities = ...;
///     std::vector<float> masses = ...;
///
///     ramify::nbody_simulation<float> cluster(positions, velocities, masses, {.softening = 0.01});
///     const double before = cluster.conserved().energy();
///     cluster.step(0.01, 100);
///     std::cout << cluster.conserved().energy() / before - 1 << '\n' << cluster.report();
///
///     const ramify::nbody_field galaxy{.point_mass = 1000, .center = {50, 0, 0}};
///     ramify::nbody_simulation<float> orbiting(positions, velocities, masses, galaxy);
///
/// Bodies    fewer than 2^31, of float or double. The caller chooses the units. A position or a
///           velocity is three numbers. Masses may be negative or 0.
/// Memory    gravity(): ordinary host memory; on the CUDA backend also pinned, managed or device
///           memory. A simulation copies its bodies to the backend's device, where they stay; its
///           spans may be in any of these kinds of memory.
/// Stream    of the environment: each call is ordered after earlier work in it. A simulation uses
///           that of its constructor, which must outlive it.
/// Waits     every call waits until its work is complete, except gravity_async(): work that enters
///           the stream after it sees the results, and get() of the run waits. On the CUDA backend
///           its arrays must be in device, managed or pinned memory, and exist until get() has
///           returned. The CPU executor completes it before it returns.
/// Capture   A graph can capture gravity_async(). Arrays and run must exist as long as the graph
///           may be launched. If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument, naming the field, or the first body with a
///           coordinate or a mass that is NaN, infinite or too large; unavailable for a backend or
///           a route that this machine or this build cannot run. Both before anything is written.
///           cuda_error, device_launch_error.
/// Cost, method, error   see <ramify/nbody.cuh>.

#include <ramify/runtime/detail/requirements.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/conserved.hpp>
#include <ramify/nbody/field.hpp>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// The types that the facade is compiled for.
template <class T>
concept nbody_real = std::same_as<T, float> || std::same_as<T, double>;

/// Calculates the accelerations of the bodies, and their potentials unless that span is empty, by
/// options.method. Results must not overlap with inputs or with each other.
/// \param env  its memory: barnes_hut_scratch_bytes() or direct_gravity_scratch_bytes() of
///             <ramify/nbody.cuh>, as options.method is the tree code or the direct sum
/// \throws std::invalid_argument, also if sizes differ; std::length_error, unavailable, cuda_error,
///         device_launch_error
template <nbody_real Real>
nbody_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                     std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials,
                     const nbody_options& options, const environment& env = {});
/// Overload with the default options.
template <nbody_real Real>
nbody_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                     std::span<std::array<Real, 3>> accelerations, std::span<Real> potentials = {},
                     const environment& env = {});

/// Starts gravity(), and does not wait. \throws as gravity(); get() throws for an invalid body
template <nbody_real Real>
async_run<nbody_report> gravity_async(std::span<const std::array<Real, 3>> positions,
                                      std::span<const Real> masses,
                                      std::span<std::array<Real, 3>> accelerations,
                                      std::span<Real> potentials, const nbody_options& options,
                                      const environment& env = {});
/// Overload with the default options.
template <nbody_real Real>
async_run<nbody_report> gravity_async(std::span<const std::array<Real, 3>> positions,
                                      std::span<const Real> masses,
                                      std::span<std::array<Real, 3>> accelerations,
                                      std::span<Real> potentials = {}, const environment& env = {});

/// Finds the pairs of bodies whose distance is less than the sum of their radii, each once. Writes
/// the first pairs.size() of them to `pairs`; the result has the number of all pairs.
/// \param radii  one for each body, in the unit of the positions: 0, or finite with a square that
///               is a normal Real
/// \param env    its memory is empty or a resource
/// \throws std::invalid_argument, also if sizes differ, naming an invalid body; unavailable,
///         cuda_error, device_launch_error
template <nbody_real Real>
nbody_collisions find_collisions(std::span<const std::array<Real, 3>> positions,
                                 std::span<const Real> radii, std::span<body_pair> pairs,
                                 const environment& env = {});

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::facade::inline RAMIFY_ABI {

/// The bodies of an nbody_simulation, on either backend. Its functions check no size.
template <class Real>
class nbody_on_backend {
 public:
  using vector = std::array<Real, 3>;
  virtual ~nbody_on_backend() = default;
  virtual void step(double dt, std::uint64_t count) = 0;
  virtual nbody_conserved conserved() = 0;
  virtual void download(std::span<vector> positions, std::span<vector> velocities,
                        std::span<vector> accelerations, std::span<Real> potentials) = 0;
  [[nodiscard]] virtual nbody_report report() const = 0;

  std::string backend_reason;
};

}  // namespace ramify::detail::facade::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Bodies that stay on the device and move under their own gravity, and in a field if one is given.
/// Move-only; a moved-from simulation may only be assigned or destroyed.
template <nbody_real Real>
class nbody_simulation {
  using vector = std::array<Real, 3>;

 public:
  /// Copies the bodies, and calculates their accelerations. On the CUDA backend, bodies in host
  /// memory take twice their memory on the device during the call.
  /// \param env  the environment of all work of the simulation. Its stream, memory and trace must
  ///             outlive the simulation; its memory: nbody_system_scratch_bytes() of
  ///             <ramify/nbody.cuh>
  /// \throws std::invalid_argument if sizes differ, or naming an invalid option or body
  nbody_simulation(std::span<const vector> positions, std::span<const vector> velocities,
                   std::span<const Real> masses, const nbody_options& options,
                   const environment& env = {})
      : nbody_simulation(positions, velocities, masses, nullptr, options, env) {}
  /// Begins a simulation with the default options.
  nbody_simulation(std::span<const vector> positions, std::span<const vector> velocities,
                   std::span<const Real> masses, const environment& env = {})
      : nbody_simulation(positions, velocities, masses, nbody_options{}, env) {}

  /// Copies the bodies, as above. `field`, an nbody_field, acts on all of them.
  /// \throws as above; std::invalid_argument naming an invalid member of the field
  template <std::same_as<nbody_field> Field>
  nbody_simulation(std::span<const vector> positions, std::span<const vector> velocities,
                   std::span<const Real> masses, const Field& field,
                   const nbody_options& options = {}, const environment& env = {})
      : nbody_simulation(positions, velocities, masses, &field, options, env) {}

  /// Advances the bodies by `count` leapfrog steps of dt, which may be negative. If the option
  /// step_levels is larger than 1, dt is divided into a step of its own for each body. Copies no
  /// body to the host. \throws std::invalid_argument if dt is neither 0 nor a normal Real, or if a
  /// body leaves the range of coordinates; then the bodies are in the middle of a step
  void step(double dt, std::uint64_t count = 1) { bodies_->step(dt, count); }

  /// Returns the energies and momenta of the current state.
  [[nodiscard]] nbody_conserved conserved() const { return bodies_->conserved(); }

  /// Copies the current state of the bodies, in the order of the constructor's spans. Skips empty
  /// spans. \throws std::invalid_argument if the size of another span differs
  void download(std::span<vector> positions, std::span<vector> velocities = {},
                std::span<vector> accelerations = {}, std::span<Real> potentials = {}) const;

  /// Returns the number of bodies.
  [[nodiscard]] std::size_t size() const { return report().bodies; }

  /// Returns the sums over all work so far, and its time. Nodes and route are those of the last
  /// force calculation.
  [[nodiscard]] nbody_report report() const { return bodies_->report(); }

 private:
  nbody_simulation(std::span<const vector> positions, std::span<const vector> velocities,
                   std::span<const Real> masses, const nbody_field* field,
                   const nbody_options& options, const environment& env);

  std::unique_ptr<detail::facade::nbody_on_backend<Real>> bodies_;
};

}  // namespace ramify::inline RAMIFY_ABI
