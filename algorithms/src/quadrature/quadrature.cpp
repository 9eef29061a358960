// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/quadrature.hpp>

#include "facade/backend_choice.hpp"
#include "quadrature/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

quadrature_result quadrature(const genz_integrand& f, const quadrature_options& options,
                             const environment& env) {
  validate(f);
  validate(options);
  validate(env);
  quadrature_result result{};
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::quadrature_on<where>(f, options, env, result);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
