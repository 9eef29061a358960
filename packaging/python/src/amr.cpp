// SPDX-License-Identifier: BSD-3-Clause
// Standard problems of flow on adaptive meshes.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ramify/amr.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace ramify::python {

namespace {

amr_setup make_setup(const std::string& problem, int dimensions, const std::string& criterion,
                     const std::string& precision) {
  amr_setup setup =
      recommended_setup(parse_amr_problem(problem), dimensions, parse_amr_criterion(criterion));
  setup.precision = parse_amr_precision(precision);
  return setup;
}

amr_fields fields_of(bool primitive) {
  return primitive ? amr_fields::primitive : amr_fields::conserved;
}

/// Returns levels, indices and values of the leaves, and what describes the mesh.
nb::tuple snapshot_of(const amr_simulation& flow, bool primitive) {
  mesh_snapshot mesh = without_lock([&] { return flow.snapshot(fields_of(primitive)); });
  const std::size_t leaves = mesh.leaves.size();
  std::vector<std::int32_t> levels;
  std::vector<std::int64_t> indices;
  for (const block_position& leaf : mesh.leaves) {
    levels.push_back(leaf.level);
    for (int axis = 0; axis < mesh.dimensions; ++axis) {
      indices.push_back(leaf.index[static_cast<std::size_t>(axis)]);
    }
  }
  std::vector<std::size_t> shape{leaves, mesh.fields.size()};
  for (int axis = 0; axis < mesh.dimensions; ++axis) {
    shape.push_back(static_cast<std::size_t>(mesh.cells));
  }
  return nb::make_tuple(array_of<std::int32_t>(std::move(levels), {leaves}),
                        array_of<std::int64_t>(std::move(indices),
                                               {leaves, static_cast<std::size_t>(mesh.dimensions)}),
                        array_of<double>(std::move(mesh.values), shape), mesh.fields, mesh.roots,
                        mesh.lower, mesh.upper, mesh.time, mesh.step);
}

std::string report_text(const amr_simulation& flow) {
  const amr_report r = flow.report();
  std::ostringstream text;
  text << "time: " << r.time << "\nsteps: " << r.steps << "\ncell updates: " << r.cell_updates
       << "\nregrids: " << r.regrids << "\nrefined blocks: " << r.refined
       << "\ncoarsened families: " << r.coarsened << "\nleaves: " << r.leaves
       << "\nblocks: " << r.blocks << "\npeak blocks: " << r.peak_blocks
       << "\nfinest level: " << r.finest_level << '\n'
       << static_cast<const run_report&>(r);
  return text.str();
}

void set_limiter(amr_setup& setup, const std::string& name) {
  setup.options.step.limiter = parse_limiter(name);
}

void add_setup(nb::module_& module) {
  // A member of the setup, or of a part of its options.
  const auto of = [](auto member) {
    return [member](amr_setup & setup) -> auto& { return member(setup); };
  };
  const auto add = [&](nb::class_<amr_setup>& type, const char* name, auto member) {
    using value = std::remove_reference_t<decltype(member(std::declval<amr_setup&>()))>;
    type.def_prop_rw(name, of(member),
                     [member](amr_setup& setup, const value& to) { member(setup) = to; });
  };
  nb::class_<amr_setup> type(module, "AmrSetup");
  add(
      type, "roots", [](amr_setup & s) -> auto& { return s.options.mesh.roots; });
  add(
      type, "max_level", [](amr_setup & s) -> auto& { return s.options.mesh.max_level; });
  add(
      type, "max_blocks", [](amr_setup & s) -> auto& { return s.options.mesh.max_blocks; });
  add(
      type, "refine_above", [](amr_setup & s) -> auto& { return s.options.regrid.refine_above; });
  add(
      type, "coarsen_below", [](amr_setup & s) -> auto& { return s.options.regrid.coarsen_below; });
  add(
      type, "regrid_every", [](amr_setup & s) -> auto& { return s.options.regrid.every; });
  add(
      type, "cfl", [](amr_setup & s) -> auto& { return s.options.step.cfl; });
  add(
      type, "subcycle", [](amr_setup & s) -> auto& { return s.options.step.subcycle; });
  add(
      type, "gamma", [](amr_setup & s) -> auto& { return s.gamma; });
  add(
      type, "end_time", [](amr_setup & s) -> auto& { return s.end_time; });
  type.def("set_limiter", &set_limiter, nb::arg("name"));
  type.def("return_time", &return_time);
  type.def(
      "field_names",
      [](const amr_setup& setup, bool primitive) {
        return field_names(setup, fields_of(primitive));
      },
      nb::arg("primitive"));
}

}  // namespace

void add_amr(nb::module_& module) {
  nb::exception<amr_error>(module, "AmrError", PyExc_RuntimeError);
  add_setup(module);
  module.def("amr_setup", &make_setup, nb::arg("problem"), nb::arg("dimensions"),
             nb::arg("criterion"), nb::arg("precision"));
  nb::class_<amr_simulation>(module, "AmrSimulation")
      .def(
          "__init__",
          [](amr_simulation* at, const amr_setup& setup, const environment& env) {
            const nb::gil_scoped_release other_threads_may_run;
            new (at) amr_simulation(setup, env);
          },
          nb::arg("setup"), nb::arg("env"), nb::keep_alive<1, 3>())
      .def("advance", &amr_simulation::advance, nb::arg("steps"), nb::arg("stop_time"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("advance_to", &amr_simulation::advance_to, nb::arg("stop_time"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("time", &amr_simulation::time)
      .def("steps", &amr_simulation::steps)
      .def("totals", &amr_simulation::totals, nb::call_guard<nb::gil_scoped_release>())
      .def("change_since_start", &amr_simulation::change_since_start,
           nb::call_guard<nb::gil_scoped_release>())
      .def("snapshot", &snapshot_of, nb::arg("primitive"))
      .def("report", &report_text);
}

}  // namespace ramify::python
