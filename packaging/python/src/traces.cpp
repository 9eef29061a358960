// SPDX-License-Identifier: BSD-3-Clause
// Traces of calls, and the files that show them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <ramify/runtime/launch_trace.hpp>
#include <sstream>
#include <string>

namespace ramify::python {

namespace nb = nanobind;

namespace {

nb::tuple three(const std::array<std::uint32_t, 3>& values) {
  return nb::make_tuple(values[0], values[1], values[2]);
}

/// The fields of each grid, in the order of the Python class Grid.
nb::list grids_of(const launch_trace& trace) {
  nb::list grids;
  for (const traced_grid& g : trace.grids) {
    nb::object parent = nb::none();
    if (g.parent != traced_grid::no_grid) parent = nb::int_(g.parent);
    const std::string_view stream = to_string(g.stream);
    grids.append(nb::make_tuple(g.kernel, parent, g.depth, three(g.blocks), three(g.threads),
                                nb::str(stream.data(), stream.size()), g.launched, g.begin, g.end,
                                g.complete, g.runs));
  }
  return grids;
}

std::string page_of(const launch_trace& trace, const std::string& title) {
  std::ostringstream page;
  write_html(page, trace, title);
  return page.str();
}

}  // namespace

void add_traces(nb::module_& module) {
  nb::class_<launch_trace>(module, "Trace")
      .def(
          "__init__",
          [](launch_trace* at, std::size_t capacity) {
            new (at) launch_trace{.capacity = capacity};
          },
          nb::arg("capacity"))
      .def("size", [](const launch_trace& trace) { return trace.grids.size(); })
      .def("lost", [](const launch_trace& trace) { return trace.lost; })
      .def("grids", &grids_of)
      .def("page", &page_of, nb::arg("title"))
      .def(
          "write",
          [](const launch_trace& trace, const std::string& path) { write_trace_file(path, trace); },
          nb::arg("path"));
}

}  // namespace ramify::python
