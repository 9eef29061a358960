// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quadrature() for plain C++: integrates Genz's test functions on the CUDA backend or on the CPU
/// executor, with compiled kernels.
///
///     const auto f = ramify::random_genz(ramify::genz_family::gaussian, 3, 1, 5.0);
///     const auto found = ramify::quadrature(f, {.relative_tolerance = 1e-8});
///     found.value - ramify::exact_integral(f);  // its magnitude is at most found.error
///
/// A functor cannot be passed to compiled kernels. For other integrands use the header template
/// <ramify/quadrature.cuh>, which describes the algorithm and the result.
///
/// Stream     the call is ordered after earlier work in environment::stream.
/// Waits      until the result is known.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is launched; cuda_error,
///            device_launch_error. If the quadrature does not converge, it throws nothing: the
///            status is in the result.

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/quadrature/config.hpp>
#include <ramify/quadrature/genz.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// Integrates `f` over [0, 1]^d, where d is f.dimensions, and waits for the result.
/// \param env  its memory: quadrature_scratch_bytes() of <ramify/quadrature.cuh>, which is the same
///             for all integrands of d dimensions
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
[[nodiscard]] quadrature_result quadrature(const genz_integrand& f,
                                           const quadrature_options& options,
                                           const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline quadrature_result quadrature(const genz_integrand& f,
                                                  const environment& env = {}) {
  return quadrature(f, quadrature_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
