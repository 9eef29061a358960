// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The requirements of quadrature() on its argument types.

#include <ramify/quadrature/rule_parts.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <type_traits>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// States which requirements the types of a call meet.
template <unsigned d, class Integrand>
struct argument_types {
  static constexpr bool is_function = is_callable<double, Integrand, const quadrature_point<d>&>;
  static constexpr bool are_valid = is_function && is_kernel_argument<Integrand>;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <unsigned d, class Integrand>
struct checked_types : argument_types<d, Integrand> {
  using types = argument_types<d, Integrand>;
  static_assert(types::is_function,
                "quadrature: the integrand needs double operator()(quadrature_point<d>) const");
  static_assert(is_kernel_argument<Integrand>,
                "quadrature: the integrand must be trivially copyable, because it is an argument "
                "of kernels");
};

/// The integrand of one integral of a batch.
template <class Integrand, class Parameter>
struct bound_integrand {
  Integrand f;
  Parameter parameter;

  template <unsigned d>
  __device__ double operator()(const quadrature_point<d>& p) const {
    return f(p, parameter);
  }
};

/// States which requirements the types of a batch meet.
template <unsigned d, class Integrand, class Parameter>
struct batch_types {
  static constexpr bool is_function =
      is_callable<double, Integrand, const quadrature_point<d>&, const Parameter&>;
  static constexpr bool are_copyable = is_kernel_argument<Integrand> && is_plain<Parameter>;
  static constexpr bool are_valid = is_function && are_copyable;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <unsigned d, class Integrand, class Parameter>
struct checked_batch_types : batch_types<d, Integrand, Parameter> {
  using types = batch_types<d, Integrand, Parameter>;
  static_assert(types::is_function,
                "quadrature: the integrand of a batch needs double operator()(quadrature_point<d>, "
                "Parameter) const");
  static_assert(types::are_copyable,
                "quadrature: the integrand and the parameters of a batch must be trivially "
                "copyable, and the parameters default-constructible");
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
