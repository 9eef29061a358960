// SPDX-License-Identifier: BSD-3-Clause
// Polylines of Bezier curves, and triangle meshes of Bezier patches.
#include <nanobind/stl/string.h>

#include <ramify/tessellation.hpp>
#include <string>
#include <utility>

#include "arrays.hpp"

namespace ramify::python {

namespace {

tessellation_options options_of(double flatness, unsigned max_depth, std::size_t max_pieces) {
  tessellation_options options;
  options.flatness = flatness;
  options.max_depth = max_depth;
  options.max_pieces = max_pieces;
  return options;
}

/// Returns the curves or patches of an array of their coordinates.
template <class Shape>
std::span<const Shape> shapes_of(const input& array) {
  const std::span<const double> numbers = elements<const double>(array);
  return {reinterpret_cast<const Shape*>(numbers.data()), array.shape(0)};
}

nb::tuple curves(const input& control_points, double flatness, unsigned max_depth,
                 std::size_t max_pieces, const environment& env) {
  polylines found = within_limit([&] {
    return tessellate_curves(shapes_of<cubic_curve>(control_points),
                             options_of(flatness, max_depth, max_pieces), env);
  });
  const std::size_t points = found.points.size();
  const std::size_t offsets = found.offsets.size();
  return nb::make_tuple(array_of<double>(std::move(found.points), {points, 2}),
                        array_of<std::int64_t>(std::move(found.offsets), {offsets}),
                        text_of(found.report));
}

nb::tuple patches(const input& control_points, double flatness, unsigned max_depth,
                  std::size_t max_pieces, const environment& env) {
  triangle_mesh found = within_limit([&] {
    return tessellate_patches(shapes_of<bicubic_patch>(control_points),
                              options_of(flatness, max_depth, max_pieces), env);
  });
  const std::size_t vertices = found.vertices.size();
  const std::size_t triangles = found.triangles.size();
  return nb::make_tuple(array_of<double>(std::move(found.vertices), {vertices, 3}),
                        array_of<std::int32_t>(std::move(found.triangles), {triangles, 3}),
                        text_of(found.report));
}

nb::object teapot() {
  std::vector<bicubic_patch> all = utah_teapot();
  const std::size_t count = all.size();
  return array_of<double>(std::move(all), {count, 4, 4, 3});
}

}  // namespace

void add_tessellation(nb::module_& module) {
  module.def("tessellate_curves", &curves, nb::arg("curves").noconvert(), nb::arg("flatness"),
             nb::arg("max_depth"), nb::arg("max_pieces"), nb::arg("env"));
  module.def("tessellate_patches", &patches, nb::arg("patches").noconvert(), nb::arg("flatness"),
             nb::arg("max_depth"), nb::arg("max_pieces"), nb::arg("env"));
  module.def("utah_teapot", &teapot);
}

}  // namespace ramify::python
