// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's tessellations for the backend of the compiler that reads this file.

#include <ramify/tessellation.cuh>
#include <ramify/version.hpp>

#include "facade/device_arrays.cuh"
#include "tessellation/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// Copies device memory to a vector, in the order of the call's stream.
template <class T>
void copy_out(facade_call& call, const device_buffer<T>& from, std::vector<T>& to) {
  to.resize(from.size());
  if (!to.empty()) call.copy_out(to.data(), from.data(), to.size() * sizeof(T));
}

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
tessellation_report tessellate_curves_on<this_build>(std::span<const cubic_curve> curves,
                                                     const tessellation_options& options,
                                                     const environment& env, polylines& result) {
  facade_call call(env);
  const on_device device_curves(curves, call, "curves");
  const device_polylines lines =
      ramify::tessellate_curves(device_curves.data(), curves.size(), options, env);
  copy_out(call, lines.points, result.points);
  copy_out(call, lines.offsets, result.offsets);
  return call.finish(lines.report);
}

template <>
tessellation_report tessellate_patches_on<this_build>(std::span<const bicubic_patch> patches,
                                                      const tessellation_options& options,
                                                      const environment& env,
                                                      triangle_mesh& result) {
  facade_call call(env);
  const on_device device_patches(patches, call, "patches");
  const device_mesh mesh =
      ramify::tessellate_patches(device_patches.data(), patches.size(), options, env);
  copy_out(call, mesh.vertices, result.vertices);
  copy_out(call, mesh.triangles, result.triangles);
  return call.finish(mesh.report);
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
