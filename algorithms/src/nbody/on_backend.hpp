// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The functions of <ramify/nbody.hpp> on one backend. on_backend.cuh defines them; the C++
/// compiler and nvcc each compile it.

#include <memory>
#include <ramify/nbody.hpp>
#include <string>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// Implements gravity() on the backend `where`.
template <build where, class Real>
nbody_report gravity_on(std::span<const std::array<Real, 3>> positions,
                        std::span<const Real> masses, std::span<std::array<Real, 3>> accelerations,
                        std::span<Real> potentials, const nbody_options& options);

/// The bodies of an nbody_simulation, on either backend.
template <class Real>
class nbody_on_backend {
 public:
  using vector = std::array<Real, 3>;
  virtual ~nbody_on_backend() = default;
  virtual void step(double dt, std::uint64_t count) = 0;
  virtual nbody_conserved conserved() = 0;
  virtual void download(std::span<vector> positions, std::span<vector> velocities,
                        std::span<vector> accelerations, std::span<Real> potentials) = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual nbody_report report() const = 0;

  std::string backend_reason;
};

/// Returns the bodies of a new simulation on the backend `where`.
template <build where, class Real>
std::unique_ptr<nbody_on_backend<Real>> make_nbody_on(
    std::span<const std::array<Real, 3>> positions, std::span<const std::array<Real, 3>> velocities,
    std::span<const Real> masses, const nbody_options& options);

}  // namespace ramify::detail::facade
