// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "amr_command_line.hpp"

namespace common {
namespace {

/// Copies an option's value if it is given.
template <class T, class U>
void apply(const std::optional<T>& given, U& value) {
  if (given) value = U(*given);
}

/// Calls `set(axis, value)` for each axis if values are given: one for all axes, or one for each.
template <class T, class Set>
void apply(const std::optional<std::vector<T>>& given, const std::string& name, int dimensions,
           Set set) {
  if (!given) return;
  const std::vector<T>& values = *given;
  if (values.size() != 1 && values.size() != std::size_t(dimensions)) {
    throw std::invalid_argument(name + " has " + std::to_string(values.size()) + " values for " +
                                std::to_string(dimensions) + " dimensions");
  }
  for (std::size_t axis = 0; axis < std::size_t(dimensions); ++axis) {
    set(axis, values[values.size() == 1 ? 0 : axis]);
  }
}

void apply(const amr_command_line& o, amr_settings& s) {
  ramify::amr_setup& flow = s.flow;
  auto& [mesh, regrid, step] = flow.options;
  apply(o.blocks, "--blocks", flow.dimensions,
        [&](std::size_t axis, unsigned value) { mesh.roots[axis] = value; });
  apply(o.prob_lo, "--prob-lo", flow.dimensions,
        [&](std::size_t axis, double value) { mesh.lower[axis] = value; });
  apply(o.prob_hi, "--prob-hi", flow.dimensions,
        [&](std::size_t axis, double value) { mesh.upper[axis] = value; });
  apply(o.lo_bc, "--lo-bc", flow.dimensions,
        [&](std::size_t axis, ramify::boundary value) { mesh.sides[axis][0] = value; });
  apply(o.hi_bc, "--hi-bc", flow.dimensions,
        [&](std::size_t axis, ramify::boundary value) { mesh.sides[axis][1] = value; });
  apply(o.gravity, "--gravity", flow.dimensions,
        [&](std::size_t axis, double value) { flow.gravity[axis] = value; });
  apply(o.gamma, flow.gamma);
  apply(o.max_level, mesh.max_level);
  apply(o.buffer_cells, flow.buffer_cells);
  apply(o.max_blocks, mesh.max_blocks);
  apply(o.balance, mesh.balance);
  apply(o.refine_above, regrid.refine_above);
  if (o.refine_above) regrid.coarsen_below = *o.refine_above / 4;
  apply(o.coarsen_below, regrid.coarsen_below);
  apply(o.regrid_every, regrid.every);
  apply(o.cfl, step.cfl);
  apply(o.limiter, step.limiter);
  apply(o.precision, flow.precision);
  if (o.subcycle) step.subcycle = true;
  if (o.no_reflux) step.reflux = false;
  apply(o.t_end, flow.end_time);
  apply(o.frames, s.frames);
  apply(o.history_every, s.history_every);
  apply(o.field, s.field);
  s.env = o.env;
  apply(o.output_dir, s.output_dir);
  apply(o.slices, s.slices);
  apply(o.lines, s.lines);
  apply(o.probes, s.probes);
  apply(o.derived, s.derived);
  if (o.keep_positive) flow.keep_positive = true;
  if (o.float32) s.float32 = true;
  if (o.htg) s.htg = true;
  if (o.range && o.range->size() != 2) throw std::invalid_argument("--range needs two numbers");
  if (o.units && o.units->size() != 2) {
    throw std::invalid_argument("--units needs two units, of the field and of the time");
  }
  if (o.units) s.units = {o.units->front(), o.units->back()};
  if (o.range) s.range = {o.range->front(), o.range->back()};
  validate(s);
}

/// Implements settings_of() for a new run.
amr_settings new_settings(const amr_command_line& o) {
  amr_settings s;
  const int dimensions = o.dim.value_or(2);
  const std::vector<ramify::amr_region> regions = o.parameters->regions(dimensions);
  const auto problem = o.problem.value_or(regions.empty() ? ramify::amr_problem::kelvin_helmholtz
                                                          : ramify::amr_problem::regions);
  s.flow =
      recommended_setup(problem, dimensions, o.criterion.value_or(ramify::amr_criterion::gradient));
  s.field = field_names(s.flow, ramify::amr_fields::primitive).front();
  if (problem == ramify::amr_problem::regions && regions.empty()) {
    throw std::invalid_argument("--problem regions needs a parameter file (--input) with regions");
  }
  s.flow.regions = regions;
  s.flow.refined_boxes =
      o.parameters->refined_boxes(dimensions, o.max_level.value_or(s.flow.options.mesh.max_level));
  apply(o, s);
  s.framed_until = s.flow.end_time;
  return s;
}

/// Implements settings_of() for a continued run.
amr_settings continued_settings(const amr_command_line& o, const amr_checkpoint& from) {
  amr_settings s = from.settings;
  const auto kept = to_json(s);
  apply(o.problem, s.flow.problem);
  apply(o.dim, s.flow.dimensions);
  apply(o.criterion, s.flow.criterion);
  constexpr std::array<std::string_view, 15> may_change{
      "t-end", "cfl",        "keep-positive", "frames", "history-every",
      "field", "output-dir", "float32",       "htg",    "range",
      "units", "slice",      "line",          "probe",  "derived"};
  const auto check = [&] {
    const auto asked = to_json(s);
    for (const auto& [name, value] : kept.items()) {
      if (std::ranges::find(may_change, name) != may_change.end()) continue;
      if (asked.at(name) == value) continue;
      throw std::invalid_argument("--" + name + " is " + asked.at(name).dump() + ", but " +
                                  o.restart + " has " + value.dump());
    }
  };
  check();  // before the options that depend on problem and dimensions
  const std::vector<ramify::amr_region> regions = o.parameters->regions(s.flow.dimensions);
  if (!regions.empty() && regions != s.flow.regions) {
    throw std::invalid_argument("--input has other regions than " + o.restart);
  }
  const std::vector<ramify::amr_refined_box> boxes =
      o.parameters->refined_boxes(s.flow.dimensions, s.flow.options.mesh.max_level);
  if (!boxes.empty() && boxes != s.flow.refined_boxes) {
    throw std::invalid_argument("--input has other refined boxes than " + o.restart);
  }
  apply(o, s);
  check();
  if (s.flow.end_time < from.state.time) {
    throw std::invalid_argument("--t-end is before the time of " + o.restart + ", which is " +
                                nlohmann::json(from.state.time).dump());
  }
  return s;
}

}  // namespace

amr_settings settings_of(const amr_command_line& o) {
  try {
    return new_settings(o);
  } catch (const std::invalid_argument& e) {
    o.parameters->reject(e);
  }
}

amr_settings settings_of(const amr_command_line& o, const amr_checkpoint& from) {
  try {
    return continued_settings(o, from);
  } catch (const std::invalid_argument& e) {
    o.parameters->reject(e);
  }
}

}  // namespace common
