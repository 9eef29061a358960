// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms of the facade, on the backend of the compiler that compiles this file.

#include <ramify/graph.cuh>
#include <ramify/version.hpp>
#include <span>

#include "facade/device_arrays.cuh"
#include "facade/start_call.cuh"
#include "graph/on_backend.hpp"

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The caller's graph, copied to memory that kernels can access if necessary.
class graph_on_device {
  template <class T>
  using array = facade::on_device<const T>;

 public:
  graph_on_device(const graph_view& graph, facade::facade_call& call)
      : size_(graph),
        is_symmetric_(graph.is_symmetric()),
        offsets_(graph.offsets, call, "offsets"),
        targets_(graph.targets, call, "targets"),
        in_offsets_(is_symmetric_ ? decltype(graph.in_offsets)() : graph.in_offsets, call,
                    "in_offsets"),
        in_sources_(is_symmetric_ ? decltype(graph.in_sources)() : graph.in_sources, call,
                    "in_sources") {}

  [[nodiscard]] graph_view get() const {
    graph_view graph = size_;
    graph.offsets = offsets_.get();
    graph.targets = targets_.get();
    graph.in_offsets = is_symmetric_ ? graph.offsets : in_offsets_.get();
    graph.in_sources = is_symmetric_ ? graph.targets : in_sources_.get();
    return graph;
  }

 private:
  graph_view size_;
  bool is_symmetric_;
  array<std::int64_t> offsets_;
  array<std::int32_t> targets_;
  array<std::int64_t> in_offsets_;
  array<std::int32_t> in_sources_;
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

using graph::graph_on_device;

template <>
bfs_report breadth_first_search_on<this_build>(const graph_view& graph, std::int64_t source,
                                               const bfs_arrays& results,
                                               const bfs_options& options, const environment& env) {
  facade_call call(env);
  const graph_on_device device_graph(graph, call);
  const on_device levels(results.levels, graph.vertices(), call, "levels", graph.edges_on_device);
  const on_device parents(results.parents, graph.vertices(), call, "parents",
                          graph.edges_on_device);
  const auto report = ramify::breadth_first_search(
      device_graph.get(), source, bfs_arrays{levels.data(), parents.data()}, options, env);
  return call.finish(report, levels, parents);
}

template <>
started_call<bfs_report> start_breadth_first_search_on<this_build>(const graph_view& graph,
                                                                   std::int64_t source,
                                                                   const bfs_arrays& results,
                                                                   const bfs_options& options,
                                                                   const environment& env) {
  return start_call<bfs_report>(
      env, [&] { return bfs_scratch_bytes(graph, options); },
      [&](const environment& here) {
        return ramify::breadth_first_search_async(graph, source, results, options, here);
      });
}

template <>
searches_report breadth_first_searches_on<this_build>(const graph_view& graph,
                                                      std::span<const std::int64_t> sources,
                                                      std::span<std::int32_t> levels,
                                                      const graph_options& options,
                                                      const environment& env) {
  facade_call call(env);
  const graph_on_device device_graph(graph.outgoing(), call);
  const on_device rows(levels.empty() ? nullptr : levels.data(), levels.size(), call, "levels",
                       graph.edges_on_device);
  const auto report =
      ramify::breadth_first_searches(device_graph.get(), sources, rows.data(), options, env);
  return call.finish(report, rows);
}

template <build where, edge_length T>
sssp_report shortest_paths_on(const graph_view& graph, std::span<const T> weights,
                              std::int64_t source, const basic_sssp_arrays<T>& results,
                              const sssp_options& options, const environment& env) {
  static_assert(where == this_build);
  facade_call call(env);
  const graph_on_device device_graph(graph.outgoing(), call);
  const on_device lengths(weights, call, "weights");
  const on_device distances(results.distances, graph.vertices(), call, "distances",
                            graph.edges_on_device);
  const on_device parents(results.parents, graph.vertices(), call, "parents",
                          graph.edges_on_device);
  const auto report =
      ramify::shortest_paths(device_graph.get(), lengths.get(), source,
                             basic_sssp_arrays<T>{distances.data(), parents.data()}, options, env);
  return call.finish(report, distances, parents);
}

template <build where, edge_length T>
started_call<sssp_report> start_shortest_paths_on(const graph_view& graph,
                                                  std::span<const T> weights, std::int64_t source,
                                                  const basic_sssp_arrays<T>& results,
                                                  const sssp_options& options,
                                                  const environment& env) {
  static_assert(where == this_build);
  return start_call<sssp_report>(
      env, [&] { return sssp_scratch_bytes<T>(graph, options); },
      [&](const environment& here) {
        return ramify::shortest_paths_async(graph, weights, source, results, options, here);
      });
}

// The types of lengths, on this backend.
#define RAMIFY_INSTANTIATE(T)                                                                   \
  template sssp_report shortest_paths_on<this_build>(const graph_view&, std::span<const T>,     \
                                                     std::int64_t, const basic_sssp_arrays<T>&, \
                                                     const sssp_options&, const environment&);  \
  template started_call<sssp_report> start_shortest_paths_on<this_build>(                       \
      const graph_view&, std::span<const T>, std::int64_t, const basic_sssp_arrays<T>&,         \
      const sssp_options&, const environment&);
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
RAMIFY_INSTANTIATE(std::uint64_t)
#undef RAMIFY_INSTANTIATE

template <>
components_report connected_components_on<this_build>(const graph_view& graph,
                                                      std::int32_t* components,
                                                      const graph_options& options,
                                                      const environment& env) {
  facade_call call(env);
  const graph_on_device device_graph(graph.is_symmetric() ? graph : graph.outgoing(), call);
  const on_device result(components, graph.vertices(), call, "components", graph.edges_on_device);
  const auto report = ramify::connected_components(device_graph.get(), result.data(), options, env);
  return call.finish(report, result);
}

template <>
started_call<components_report> start_connected_components_on<this_build>(
    const graph_view& graph, std::int32_t* components, const graph_options& options,
    const environment& env) {
  return start_call<components_report>(
      env, [&] { return components_scratch_bytes(graph, options); },
      [&](const environment& here) {
        return ramify::connected_components_async(graph, components, options, here);
      });
}

template <>
pagerank_report pagerank_on<this_build>(const graph_view& graph, double* ranks,
                                        const pagerank_options& options, const environment& env) {
  facade_call call(env);
  const graph_on_device device_graph(graph.outgoing(), call);
  const on_device result(ranks, graph.vertices(), call, "ranks", graph.edges_on_device);
  const auto report = ramify::pagerank(device_graph.get(), result.data(), options, env);
  return call.finish(report, result);
}

template <>
started_call<pagerank_report> start_pagerank_on<this_build>(const graph_view& graph, double* ranks,
                                                            const pagerank_options& options,
                                                            const environment& env) {
  return start_call<pagerank_report>(
      env, [&] { return pagerank_scratch_bytes(graph, options); },
      [&](const environment& here) { return ramify::pagerank_async(graph, ranks, options, here); });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
