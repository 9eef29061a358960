// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms of the facade, on the backend of the compiler that compiles this file.

#include <ramify/graph.cuh>
#include <span>

#include "facade/device_arrays.cuh"
#include "graph/on_backend.hpp"

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The caller's graph, copied to memory that kernels can access if necessary.
class graph_on_device {
  template <class T>
  using array = facade::on_device<const T>;

 public:
  graph_on_device(const graph_view& graph, facade::facade_call& call)
      : has_in_edges_(graph.has_in_edges()),
        is_symmetric_(graph.is_symmetric()),
        offsets_(graph.offsets, call, "offsets"),
        targets_(graph.targets, call, "targets"),
        in_offsets_(is_symmetric_ ? nothing<std::int64_t>() : graph.in_offsets, call, "in_offsets"),
        in_sources_(is_symmetric_ ? nothing<std::int32_t>() : graph.in_sources, call,
                    "in_sources") {}

  [[nodiscard]] graph_view get() const {
    if (is_symmetric_) return graph_view::symmetric(offsets_.get(), targets_.get());
    if (!has_in_edges_) return graph_view::directed(offsets_.get(), targets_.get());
    return graph_view::directed(offsets_.get(), targets_.get(), in_offsets_.get(),
                                in_sources_.get());
  }

 private:
  template <class T>
  static std::span<const T> nothing() {
    return {};
  }

  bool has_in_edges_, is_symmetric_;
  array<std::int64_t> offsets_;
  array<std::int32_t> targets_;
  array<std::int64_t> in_offsets_;
  array<std::int32_t> in_sources_;
};

/// An output of n elements in memory that kernels can access. A null array is empty.
template <class T>
[[nodiscard]] facade::on_device<T> output(T* data, std::size_t n, facade::facade_call& call,
                                          const char* name) {
  return {std::span(data, data == nullptr ? 0 : n), facade::array_role::output, call, name};
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::detail::facade {

using graph::graph_on_device;
using graph::output;

template <>
bfs_report breadth_first_search_on<this_build>(const graph_view& graph, std::int64_t source,
                                               const bfs_arrays& results,
                                               const bfs_options& options) {
  facade_call call(options.pending_launches);
  const graph_on_device on_device(graph, call);
  const auto levels = output(results.levels, graph.vertices(), call, "levels");
  const auto parents = output(results.parents, graph.vertices(), call, "parents");
  auto report = ramify::breadth_first_search(
      on_device.get(), source, bfs_arrays{levels.data(), parents.data()}, call.stream(), options);
  levels.copy_back();
  parents.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <>
sssp_report shortest_paths_on<this_build>(const graph_view& graph, std::span<const float> weights,
                                          std::int64_t source, const sssp_arrays& results,
                                          const sssp_options& options) {
  facade_call call(options.pending_launches);
  const graph_on_device on_device(graph.outgoing(), call);
  const facade::on_device lengths(weights, call, "weights");
  const auto distances = output(results.distances, graph.vertices(), call, "distances");
  const auto parents = output(results.parents, graph.vertices(), call, "parents");
  auto report =
      ramify::shortest_paths(on_device.get(), lengths.get(), source,
                             sssp_arrays{distances.data(), parents.data()}, call.stream(), options);
  distances.copy_back();
  parents.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <>
components_report connected_components_on<this_build>(const graph_view& graph,
                                                      std::int32_t* components,
                                                      const graph_options& options) {
  facade_call call(options.pending_launches);
  const graph_on_device on_device(graph.is_symmetric() ? graph : graph.outgoing(), call);
  const auto result = output(components, graph.vertices(), call, "components");
  auto report =
      ramify::connected_components(on_device.get(), result.data(), call.stream(), options);
  result.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

template <>
pagerank_report pagerank_on<this_build>(const graph_view& graph, double* ranks,
                                        const pagerank_options& options) {
  facade_call call(options.pending_launches);
  const graph_on_device on_device(graph.outgoing(), call);
  const auto result = output(ranks, graph.vertices(), call, "ranks");
  auto report = ramify::pagerank(on_device.get(), result.data(), call.stream(), options);
  result.copy_back();
  static_cast<run_times&>(report) = call.finish();
  return report;
}

}  // namespace ramify::detail::facade
