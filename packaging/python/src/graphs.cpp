// SPDX-License-Identifier: BSD-3-Clause
// Graphs in compressed sparse rows.
#include <nanobind/stl/string.h>

#include <ramify/graph.hpp>
#include <type_traits>

#include "arrays.hpp"

namespace ramify::python {

namespace {

graph_view view_of(const input& offsets, const input& targets, bool symmetric) {
  const auto of_offsets = elements<const std::int64_t>(offsets);
  const auto of_targets = elements<const std::int32_t>(targets);
  return symmetric ? graph_view::symmetric(of_offsets, of_targets)
                   : graph_view::directed(of_offsets, of_targets);
}

// With `starts`, the functions return before the call is complete.

template <bool starts>
auto search(const input& offsets, const input& targets, bool symmetric, std::int64_t source,
            const output& levels, const output& parents, const environment& env) {
  return outcome_of([&] {
    const graph_view graph = view_of(offsets, targets, symmetric);
    const bfs_spans to{.levels = elements<std::int32_t>(levels),
                       .parents = elements<std::int32_t>(parents)};
    if constexpr (starts) {
      return breadth_first_search_async(graph, source, to, env);
    } else {
      return breadth_first_search(graph, source, to, env);
    }
  });
}

template <bool starts>
auto paths(const input& offsets, const input& targets, const input& lengths, std::int64_t source,
           double delta, const output& distances, const output& parents, const environment& env) {
  return outcome_of([&] {
    std::conditional_t<starts, started_run, sssp_report> made;
    const graph_view graph = view_of(offsets, targets, false);
    sssp_options options;
    options.delta = delta;
    visit_elements<const float, const double, const std::uint64_t>(lengths, [&](auto span) {
      using T = std::remove_const_t<typename decltype(span)::element_type>;
      const basic_sssp_spans<T> to{.distances = elements<T>(distances),
                                   .parents = elements<std::int32_t>(parents)};
      if constexpr (starts) {
        made = shortest_paths_async(graph, span, source, to, options, env);
      } else {
        made = shortest_paths(graph, span, source, to, options, env);
      }
    });
    return made;
  });
}

template <bool starts>
auto components(const input& offsets, const input& targets, bool symmetric, const output& labels,
                const environment& env) {
  return outcome_of([&] {
    const graph_view graph = view_of(offsets, targets, symmetric);
    const auto to = elements<std::int32_t>(labels);
    if constexpr (starts) {
      return connected_components_async(graph, to, env);
    } else {
      return connected_components(graph, to, env);
    }
  });
}

template <bool starts>
auto ranks(const input& offsets, const input& targets, double damping, double tolerance,
           std::uint32_t max_iterations, const output& of_vertices, const environment& env) {
  return outcome_of([&] {
    const graph_view graph = view_of(offsets, targets, false);
    pagerank_options options;
    options.damping = damping;
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    const auto to = elements<double>(of_vertices);
    if constexpr (starts) {
      return pagerank_async(graph, to, options, env);
    } else {
      return pagerank(graph, to, options, env);
    }
  });
}

}  // namespace

void add_graphs(nb::module_& module) {
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  const auto define_search = [&](const char* name, auto function) {
    module.def(name, function, array("offsets"), array("targets"), nb::arg("symmetric"),
               nb::arg("source"), array("levels"), array("parents"), nb::arg("env"));
  };
  define_search("breadth_first_search", &search<false>);
  define_search("breadth_first_search_async", &search<true>);
  const auto define_paths = [&](const char* name, auto function) {
    module.def(name, function, array("offsets"), array("targets"), array("lengths"),
               nb::arg("source"), nb::arg("delta"), array("distances"), array("parents"),
               nb::arg("env"));
  };
  define_paths("shortest_paths", &paths<false>);
  define_paths("shortest_paths_async", &paths<true>);
  const auto define_components = [&](const char* name, auto function) {
    module.def(name, function, array("offsets"), array("targets"), nb::arg("symmetric"),
               array("labels"), nb::arg("env"));
  };
  define_components("connected_components", &components<false>);
  define_components("connected_components_async", &components<true>);
  const auto define_ranks = [&](const char* name, auto function) {
    module.def(name, function, array("offsets"), array("targets"), nb::arg("damping"),
               nb::arg("tolerance"), nb::arg("max_iterations"), array("ranks"), nb::arg("env"));
  };
  define_ranks("pagerank", &ranks<false>);
  define_ranks("pagerank_async", &ranks<true>);
}

}  // namespace ramify::python
