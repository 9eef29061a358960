// SPDX-License-Identifier: BSD-3-Clause
// Graphs in compressed sparse rows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <ramify/graph.hpp>

#include "arrays.hpp"

namespace ramify::python {

namespace {

graph_view view_of(const input& offsets, const input& targets, bool symmetric) {
  const auto of_offsets = elements<const std::int64_t>(offsets);
  const auto of_targets = elements<const std::int32_t>(targets);
  return symmetric ? graph_view::symmetric(of_offsets, of_targets)
                   : graph_view::directed(of_offsets, of_targets);
}

std::string search(const input& offsets, const input& targets, bool symmetric, std::int64_t source,
                   const output& levels, const output& parents, const environment& env) {
  return report_of([&] {
    return breadth_first_search(
        view_of(offsets, targets, symmetric), source,
        {.levels = elements<std::int32_t>(levels), .parents = elements<std::int32_t>(parents)},
        env);
  });
}

std::string paths(const input& offsets, const input& targets, const input& lengths,
                  std::int64_t source, double delta, const output& distances, const output& parents,
                  const environment& env) {
  return report_of([&] {
    sssp_report report;
    sssp_options options;
    options.delta = delta;
    visit_elements<const float, const double, const std::uint64_t>(lengths, [&](auto span) {
      using T = std::remove_const_t<typename decltype(span)::element_type>;
      report = shortest_paths(view_of(offsets, targets, false), span, source,
                              basic_sssp_spans<T>{.distances = elements<T>(distances),
                                                  .parents = elements<std::int32_t>(parents)},
                              options, env);
    });
    return report;
  });
}

std::string components(const input& offsets, const input& targets, bool symmetric,
                       const output& labels, const environment& env) {
  return report_of([&] {
    return connected_components(view_of(offsets, targets, symmetric),
                                elements<std::int32_t>(labels), env);
  });
}

std::string ranks(const input& offsets, const input& targets, double damping, double tolerance,
                  std::uint32_t max_iterations, const output& of_vertices, const environment& env) {
  return report_of([&] {
    pagerank_options options;
    options.damping = damping;
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    return pagerank(view_of(offsets, targets, false), elements<double>(of_vertices), options, env);
  });
}

}  // namespace

void add_graphs(nb::module_& module) {
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  module.def("breadth_first_search", &search, array("offsets"), array("targets"),
             nb::arg("symmetric"), nb::arg("source"), array("levels"), array("parents"),
             nb::arg("env"));
  module.def("shortest_paths", &paths, array("offsets"), array("targets"), array("lengths"),
             nb::arg("source"), nb::arg("delta"), array("distances"), array("parents"),
             nb::arg("env"));
  module.def("connected_components", &components, array("offsets"), array("targets"),
             nb::arg("symmetric"), array("labels"), nb::arg("env"));
  module.def("pagerank", &ranks, array("offsets"), array("targets"), nb::arg("damping"),
             nb::arg("tolerance"), nb::arg("max_iterations"), array("ranks"), nb::arg("env"));
}

}  // namespace ramify::python
