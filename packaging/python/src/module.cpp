// SPDX-License-Identifier: BSD-3-Clause
// The extension module ramify._ramify: the compiled interface of Ramify, for the modules of the
// Python package, which check the arguments and allocate the results.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <ios>
#include <optional>
#include <ramify/launch_costs.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/version.hpp>
#include <sstream>
#include <string>

#include "arrays.hpp"

namespace ramify::python {

void add_traces(nb::module_& module);
void add_sorts(nb::module_& module);
void add_spatial_trees(nb::module_& module);
void add_graphs(nb::module_& module);
void add_rooted_trees(nb::module_& module);
void add_quadrature(nb::module_& module);
void add_nbody(nb::module_& module);
void add_amr(nb::module_& module);
void add_mandelbrot(nb::module_& module);
void add_tessellation(nb::module_& module);
void add_searches(nb::module_& module);

namespace {

environment make_environment(const std::string& backend, const std::string& route,
                             const std::string& flat_loop, std::uintptr_t stream,
                             std::size_t pending_launches, launch_trace* trace,
                             const nb::object& /*used: the environment keeps it*/) {
  environment env;
  env.backend = parse_backend(backend);
  env.route = parse_route(route);
  env.flat_loop = parse_flat_loop(flat_loop);
  env.pending_launches = pending_launches;
  env.trace = trace;
  if (stream != 0) env.stream = reinterpret_cast<CUstream_st*>(stream);
  return env;
}

std::string launch_costs_text() {
  std::ostringstream text;
  text << launch_costs_of_device();
  return text.str();
}

/// The architectures that the libraries were compiled for, without CUDA none.
nb::tuple gpu_architectures() {
  nb::list found;
  std::istringstream names(RAMIFY_GPU_ARCHITECTURES);
  for (std::string name; std::getline(names, name, ',');) found.append(name);
  return nb::tuple(found);
}

/// Makes an OSError of a failure of a stream.
void translate_file_error(const std::exception_ptr& error, void* /*unused*/) {
  try {
    std::rethrow_exception(error);
  } catch (const std::ios_base::failure& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  }
}

}  // namespace

NB_MODULE(_ramify, module) {
  module.attr("version") = std::to_string(RAMIFY_VERSION_MAJOR) + "." +
                           std::to_string(RAMIFY_VERSION_MINOR) + "." +
                           std::to_string(RAMIFY_VERSION_PATCH);
  nb::exception<unavailable>(module, "Unavailable", PyExc_RuntimeError);
  nb::exception<cuda_error>(module, "CudaError", PyExc_RuntimeError);
  nb::register_exception_translator(&translate_file_error);
  module.attr("gpu_architectures") = gpu_architectures();
  add_traces(module);
  nb::class_<environment>(module, "Environment", nb::dynamic_attr());
  module.def("make_environment", &make_environment, nb::arg("backend"), nb::arg("route"),
             nb::arg("flat_loop"), nb::arg("stream"), nb::arg("pending_launches"),
             nb::arg("trace").none(), nb::arg("used").none(), nb::keep_alive<0, 6>(),
             nb::keep_alive<0, 7>());  // garbage collection does not see these references
  module.def("launch_costs", &launch_costs_text);
  nb::class_<started_run>(module, "StartedRun")
      .def("get", &started_run::get)
      .def("captured", &started_run::captured)
      .def("keep", &started_run::keep, nb::arg("used"), nb::arg("waits_at_end"));
  add_sorts(module);
  add_spatial_trees(module);
  add_graphs(module);
  add_rooted_trees(module);
  add_quadrature(module);
  add_nbody(module);
  add_amr(module);
  add_mandelbrot(module);
  add_tessellation(module);
  add_searches(module);
}

}  // namespace ramify::python
