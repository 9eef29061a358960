// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/tessellation.hpp>

#include "facade/backend_choice.hpp"
#include "tessellation/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {

polylines tessellate_curves(std::span<const cubic_curve> curves,
                            const tessellation_options& options, const environment& env) {
  validate(options);
  validate(env);
  polylines result;
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::tessellate_curves_on<where>(curves, options, env, result);
  });
  return result;
}

triangle_mesh tessellate_patches(std::span<const bicubic_patch> patches,
                                 const tessellation_options& options, const environment& env) {
  validate(options);
  validate(env);
  triangle_mesh result;
  result.report = detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::tessellate_patches_on<where>(patches, options, env, result);
  });
  return result;
}

}  // namespace ramify::inline RAMIFY_ABI
