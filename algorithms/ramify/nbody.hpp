// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Gravity for plain C++: compiled code behind std::span, on whatever machine runs it.
///
///     std::vector<std::array<float, 3>> positions = ..., velocities = ...;
///     std::vector<float> masses = ...;
///
///     const ramify::gravity_options how{{}, {.theta = 0.5, .softening = 0.01}};
///     ramify::nbody_simulation<float> cluster(positions, velocities, masses, how);
///     const double before = cluster.conserved().energy();
///     cluster.step(0.01, 100);
///     std::cout << cluster.conserved().energy() / before - 1 << '\n' << cluster.report();
///
/// Bodies    fewer than 2^31, of float or double; units are the caller's. Positions and velocities
///           are three numbers a body. Masses of any sign or none.
/// Memory    gravity(): ordinary host memory; on the CUDA backend also pinned, managed or device
///           memory. A simulation copies its bodies to the backend's device, where they stay; its
///           spans may be in either kind of memory.
/// Waits     every call, until its work is done.
/// Errors    std::invalid_argument for a bad argument, naming the field, or the first body with a
///           coordinate or a mass that is NaN, infinite or too large, and unavailable for a backend
///           or a route that this machine or this build cannot run, before anything is written;
///           cuda_error, device_launch_error.
/// Cost, method, accuracy   see <ramify/nbody/barnes_hut.cuh> and <ramify/nbody.cuh>.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/conserved.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/options.hpp>
#include <span>

namespace ramify {

struct gravity_options : run_options, gravity_parameters {
  gravity_method method = gravity_method::tree;
};

/// \throws std::invalid_argument naming the field and its range
void validate(const gravity_options& options);

/// The types that the facade is compiled for.
template <class T>
concept nbody_real = std::same_as<T, float> || std::same_as<T, double>;

/// Accelerations of bodies at rest or not, and their potentials unless that span is empty.
/// No result may overlap with anything. \throws std::invalid_argument if the sizes differ
template <nbody_real Real>
gravity_report gravity(std::span<const std::array<Real, 3>> positions, std::span<const Real> masses,
                       std::span<std::array<Real, 3>> accelerations,
                       std::span<Real> potentials = {}, const gravity_options& options = {});

namespace facade {
template <class Real>
class nbody_on_backend;
}

/// Bodies on a device that move under their own gravity. Move-only; moved-from it may only be
/// assigned or destroyed.
template <nbody_real Real>
class nbody_simulation {
  using vector = std::array<Real, 3>;

 public:
  /// Copies the bodies, and calculates their forces. On the CUDA backend host memory is on the device
  /// twice meanwhile.
  nbody_simulation(std::span<const vector> positions, std::span<const vector> velocities,
                   std::span<const Real> masses, const gravity_options& options = {});
  ~nbody_simulation();
  nbody_simulation(nbody_simulation&&) noexcept;
  nbody_simulation& operator=(nbody_simulation&&) noexcept;

  /// `count` leapfrog steps of dt, which may be negative. The bodies do not leave the device.
  void step(double dt, std::uint64_t count = 1);

  /// Energies and momenta now.
  [[nodiscard]] nbody_conserved conserved() const;

  /// Copies the bodies as they are now, in their first order; an empty span is passed over.
  /// \throws std::invalid_argument if the size of another differs
  void download(std::span<vector> positions, std::span<vector> velocities = {},
                std::span<vector> accelerations = {}, std::span<Real> potentials = {}) const;

  [[nodiscard]] std::size_t size() const;

  /// All that was done so far, and the time it took; the nodes and the route are those of the last
  /// force calculation.
  [[nodiscard]] gravity_report report() const;

 private:
  std::unique_ptr<facade::nbody_on_backend<Real>> bodies_;
};

}  // namespace ramify
