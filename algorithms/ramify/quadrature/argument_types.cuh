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
  static constexpr bool are_valid = is_function && std::is_trivially_copyable_v<Integrand>;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <unsigned d, class Integrand>
struct checked_types : argument_types<d, Integrand> {
  using types = argument_types<d, Integrand>;
  static_assert(types::is_function,
                "quadrature: the integrand needs double operator()(quadrature_point<d>) const");
  static_assert(std::is_trivially_copyable_v<Integrand>,
                "quadrature: the integrand must be trivially copyable, because it is an argument "
                "of kernels");
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
