// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Force calculations by the method that the configuration names.

#include <cstddef>
#include <ramify/nbody/barnes_hut.cuh>
#include <ramify/nbody/config.hpp>
#include <ramify/nbody/direct_sum.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// Calculates accelerations by config.method. It keeps the scratch memory of the tree code from
/// call to call. Move-only.
template <class Real>
class gravity_solver {
 public:
  /// \throws std::invalid_argument naming the invalid field
  explicit gravity_solver(const nbody_config& config) : config_(config), tree_code_(config) {}

  /// Calculates the accelerations of n bodies, and their potentials unless `potentials` is null.
  /// Waits for `stream`.
  /// \throws std::invalid_argument, cuda_error, device_launch_error, unavailable
  nbody_report accelerations(const point<Real, 3>* positions, const Real* masses, std::size_t n,
                             point<Real, 3>* accelerations, Real* potentials, cudaStream_t stream) {
    if (config_.method == nbody_method::tree) {
      return tree_code_.accelerations(positions, masses, n, accelerations, potentials, stream);
    }
    return direct_gravity(positions, masses, n, accelerations, potentials, stream, config_);
  }

 private:
  nbody_config config_;
  barnes_hut<Real> tree_code_;
};

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
