// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quadrature() for plain C++: the integrals of Genz's test functions, compiled, on the CUDA
/// backend or the CPU.
///
///     const auto f = ramify::random_genz(ramify::genz_family::gaussian, 3, 1, 5.0);
///     const auto found = ramify::quadrature(f, {{.relative_tolerance = 1e-8}});
///     found.value - ramify::exact_integral(f);  // at most found.error
///
/// A functor cannot be passed to compiled kernels. For other integrands use the header template
/// <ramify/quadrature.cuh>, which describes the algorithm and the result.
///
/// Waits      until the result is known.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is launched; cuda_error,
///            device_launch_error. A quadrature that does not converge is no error: the result
///            states its status.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <ramify/quadrature/config.hpp>
#include <ramify/quadrature/genz.hpp>
#include <ramify/runtime/error.hpp>
#include <stdexcept>

namespace ramify {

/// All options of quadrature(), and those of a compiled call.
struct quadrature_options : quadrature_config {
  ramify::backend backend = ramify::backend::automatic;
  /// Pending-launch limit of the backend during the call; 0 leaves it unchanged. The report states
  /// the limit that was granted. No other thread may launch grids during the call.
  std::size_t pending_launches = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const quadrature_options& options) {
  validate(static_cast<const quadrature_config&>(options));
  check_enumerator(options.backend, "quadrature_options.backend");
}

/// Integrates `f` over [0, 1]^d and waits for the result.
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
[[nodiscard]] quadrature_result quadrature(const genz_integrand& f,
                                           const quadrature_options& options = {});

}  // namespace ramify
