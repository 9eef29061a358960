// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the fields of an amr_setup that only some problems have.

#include <array>
#include <cmath>
#include <cstddef>
#include <ramify/amr.hpp>
#include <string>

#include "amr/problem_of.cuh"

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Checks a region of a setup. \throws std::invalid_argument naming the field and its range
inline void check_region(const amr_region& region, std::size_t number, int dimensions) {
  const std::string field = "amr_setup.regions[" + std::to_string(number) + "].";
  check_enumerator(region.shape, field + "shape");
  require(number > 0 || region.shape == amr_shape::everywhere, field + "shape",
          to_string(region.shape), "everywhere, because the state must be given at all points");
  // Within 1e18, whose square float can represent.
  const auto check = [&](double value, double least, const std::string& name,
                         const std::string& range) {
    require(value >= least && value <= 1e18, field + name, value, range);
  };
  const auto check_all = [&](const std::array<double, 3>& values, const std::string& name) {
    for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
      check(values[axis], -1e18, name + "[" + std::to_string(axis) + "]", "in [-1e18, 1e18]");
    }
  };
  check_all(region.point, "point");
  check_all(region.velocity, "velocity");
  check(region.density, 1e-12, "density", "in [1e-12, 1e18]");
  check(region.pressure, 1e-12, "pressure", "in [1e-12, 1e18]");
  if (region.shape == amr_shape::ball) check(region.radius, 1e-18, "radius", "in [1e-18, 1e18]");
  if (region.shape == amr_shape::box) check_all(region.upper, "upper");
  if (region.shape == amr_shape::half_space) check_all(region.normal, "normal");
  double squares = 0;
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    squares += region.normal[axis] * region.normal[axis];
    require(region.shape != amr_shape::box || region.upper[axis] > region.point[axis],
            field + "upper[" + std::to_string(axis) + "]", region.upper[axis], "above point");
  }
  require(region.shape != amr_shape::half_space || squares > 0, field + "normal", "0",
          "a vector that is not 0");
}

/// Checks the boxes and the buffer cells of a setup. \throws std::invalid_argument naming the field
inline void check_refinement(const amr_setup& setup) {
  const int cells = setup.dimensions == 2 ? 16 : 8;
  require(setup.buffer_cells >= 0 && setup.buffer_cells <= cells, "amr_setup.buffer_cells",
          setup.buffer_cells, "in [0, " + std::to_string(cells) + "]");
  const std::size_t count = setup.refined_boxes.size();
  require(count <= max_refined_boxes, "amr_setup.refined_boxes", count, "at most 8");
  for (std::size_t i = 0; i < count; ++i) {
    const amr_refined_box& box = setup.refined_boxes[i];
    check_refined_box("amr_setup.refined_boxes[" + std::to_string(i) + "].", box.lower, box.upper,
                      box.level, setup.options.mesh, setup.dimensions);
  }
  if (count == 0) return;
  if (setup.precision == amr_precision::float_) return check_kept_indicator<float>(setup.options);
  check_kept_indicator<double>(setup.options);
}

/// Checks what only some problems have. \throws std::invalid_argument naming the field
inline void check_forces(const amr_setup& setup) {
  const bool has_regions = setup.problem == amr_problem::regions;
  const std::size_t count = setup.regions.size();
  require(has_regions || count == 0, "amr_setup.regions", count,
          "0, except for the problem regions");
  require(!has_regions || (count >= 1 && count <= 12), "amr_setup.regions", count, "in [1, 12]");
  for (std::size_t i = 0; i < count; ++i) check_region(setup.regions[i], i, setup.dimensions);
  require(!setup.keep_positive || is_gas(setup.problem), "amr_setup.keep_positive", true,
          "false for the problem " + std::string(to_string(setup.problem)));
  const bool has_step = setup.problem == amr_problem::forward_step;
  require(setup.keep_positive || !has_step, "amr_setup.keep_positive", false,
          "true for the problem forward-step");
  const bool has_sides = has_regions || has_step || setup.problem == amr_problem::double_mach ||
                         setup.problem == amr_problem::noh;
  for (std::size_t axis = 0; axis < std::size_t(setup.dimensions); ++axis) {
    const std::string index = "[" + std::to_string(axis) + "]";
    for (const boundary side : setup.options.mesh.sides[axis]) {
      require(has_sides || side != boundary::prescribed, "amr_options.mesh.sides" + index,
              "prescribed", "another one for the problem " + std::string(to_string(setup.problem)));
    }
    const double pull = setup.gravity[axis];
    require(std::fabs(pull) <= 1e18, "amr_setup.gravity" + index, pull, "in [-1e18, 1e18]");
    require(pull == 0 || is_gas(setup.problem), "amr_setup.gravity" + index, pull,
            "0 for the problem " + std::string(to_string(setup.problem)));
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
