// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Genz's integrands as functors for quadrature().

#include <cmath>
#include <ramify/quadrature/genz.hpp>
#include <ramify/quadrature/rules.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The functor of a genz_integrand `f` in d dimensions. f.dimensions must be d.
template <unsigned d>
struct genz_function {
  /// Copies the parameters of `f`.
  explicit genz_function(const genz_integrand& f) : family(f.family) {
    for (unsigned axis = 0; axis < d; ++axis) {
      a[axis] = f.a[axis];
      u[axis] = f.u[axis];
    }
  }

  /// Returns the value at a point.
  __host__ __device__ double operator()(const quadrature_point<d>& p) const {
    double sum = 0;
    double product = 1;
    for (unsigned axis = 0; axis < d; ++axis) {
      const double distance = p[axis] - u[axis];
      const double scaled = a[axis] * distance;
      switch (family) {
        case genz_family::gaussian: sum += scaled * scaled; break;
        case genz_family::c0: sum += std::fabs(scaled); break;
        case genz_family::product_peak:
          product *= 1 / (1 / (a[axis] * a[axis]) + distance * distance);
          break;
        default: sum += a[axis] * p[axis];
      }
    }
    switch (family) {
      case genz_family::oscillatory: return std::cos(2 * 3.14159265358979324 * u[0] + sum);
      case genz_family::product_peak: return product;
      case genz_family::corner_peak: return std::pow(1 + sum, -static_cast<double>(d + 1));
      case genz_family::gaussian:
      case genz_family::c0: return std::exp(-sum);
      case genz_family::discontinuous: {
        constexpr unsigned second = d > 1 ? 1 : 0;
        return p[0] <= u[0] && p[second] <= u[second] ? std::exp(sum) : 0;
      }
    }
    return 0;
  }

  genz_family family;  ///< of the function
  double a[d];         ///< difficulty along each axis
  double u[d];         ///< shift along each axis
};

}  // namespace ramify::inline RAMIFY_BUILD
