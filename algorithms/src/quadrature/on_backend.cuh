// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's quadrature for the backend of the compiler that reads this file.

#include <ramify/quadrature.cuh>
#include <ramify/quadrature/genz.cuh>
#include <ramify/version.hpp>
#include <utility>

#include "facade/facade_call.cuh"
#include "quadrature/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// Integrates `f`, whose dimensions must be d, over the unit cube.
template <unsigned d>
quadrature_result integrate_cube(const genz_integrand& f, const quadrature_options& options,
                                 const environment& env) {
  quadrature_box<d> cube{};
  for (double& high : cube.high) high = 1;
  return ramify::quadrature(cube, genz_function<d>(f), options, env);
}

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
quadrature_report quadrature_on<this_build>(const genz_integrand& f,
                                            const quadrature_options& options,
                                            const environment& env, quadrature_result& result) {
  facade_call call(env);
  // Calls integrate_cube<d>() for the one d that is f.dimensions. `below` is d - 1.
  [&]<unsigned... below>(std::integer_sequence<unsigned, below...>) {
    static_cast<void>(((f.dimensions == below + 1 &&
                        (result = integrate_cube<below + 1>(f, options, env), true)) ||
                       ...));
  }
  (std::make_integer_sequence<unsigned, max_quadrature_dimensions>{});
  return call.finish(result.report);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
