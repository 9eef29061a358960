// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls of the examples of graph_rounds() with their oracles, in the form that check_call() takes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithm_calls.cuh"
#include "graph/operators/betweenness.cuh"
#include "graph/operators/breadth_first.cuh"
#include "graph/operators/k_core.cuh"
#include "graph/operators/label_propagation.cuh"
#include "graph/operators/triangles.cuh"

namespace tests::inline RAMIFY_BUILD {

/// Returns the undirected graph without self-loops and repeated edges, with ascending targets.
inline host_graph simple(const host_graph& graph) {
  edge_list edges;
  for (const auto& [u, v] : graph.list) {
    if (u != v) edges.insert(edges.end(), {{u, v}, {v, u}});
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return {"simple " + graph.name, graph.vertices(), edges, false};
}

/// A graph, and what all calls of examples share.
template <class Algorithm>
struct operator_call {
  using settings_type = graph_settings;
  using report_type = ramify::graph_rounds_report<typename Algorithm::state>;

  operator_call(const host_graph& g, const settings_type& c)
      : host(g),
        n(g.vertices()),
        chosen(c),
        graph(g),
        scratch(ramify::graph_rounds_scratch_bytes<Algorithm>(graph.view(), c), nullptr) {}

  [[nodiscard]] auto start_with(const Algorithm& algorithm, cudaStream_t stream) const {
    return ramify::graph_rounds_async(graph.view(), algorithm, chosen,
                                      chosen.with(stream, scratch));
  }
  template <class T = int>
  [[nodiscard]] static ramify::device_buffer<T> sevens(std::size_t size) {
    return upload(std::vector<T>(size, T(-7)));
  }

  host_graph host;
  std::size_t n;
  settings_type chosen;
  device_graph graph;
  ramify::device_buffer<std::byte> scratch;
};

struct breadth_first_call : operator_call<examples::breadth_first> {
  breadth_first_call(const host_graph& g, const settings_type& c) : operator_call(g, c) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return start_with({static_cast<int>(n / 2), levels.data(), closed.data()}, stream);
  }
  [[nodiscard]] std::string fault(const report_type* = nullptr) const {
    return difference(download(levels), boost_levels(n, host.list, std::int32_t(n / 2)));
  }

  ramify::device_buffer<int> levels = sevens(n);
  ramify::device_buffer<unsigned> closed = sevens<unsigned>(n / 32 + 1);
};

struct k_core_call : operator_call<examples::k_core> {
  k_core_call(const host_graph& g, const settings_type& c) : operator_call(g, c) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return start_with({graph.offsets.data(), degrees.data(), cores.data()}, stream);
  }
  [[nodiscard]] std::string fault(const report_type* report = nullptr) const {
    const auto expected = boost_cores(n, host.list);
    if (report != nullptr && report->state.k != *std::ranges::max_element(expected)) return "k";
    return difference(download(cores), expected);
  }
  [[nodiscard]] bool is_unchanged() const { return download(cores) == std::vector<int>(n, -7); }

  ramify::device_buffer<int> degrees = sevens(n), cores = sevens(n);
};

struct triangles_call : operator_call<examples::triangles> {
  triangles_call(const host_graph& g, const settings_type& c) : operator_call(g, c) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return start_with({graph.offsets.data(), graph.targets.data()}, stream);
  }
  [[nodiscard]] std::string fault(const report_type* report) const {
    const std::uint64_t expected = serial_triangles(n, host.list);
    if (report->state.count == expected) return {};
    return std::to_string(report->state.count) + " instead of " + std::to_string(expected);
  }
};

struct labels_call : operator_call<examples::label_propagation> {
  static constexpr int labels = 5;
  static constexpr unsigned max_rounds = 9;

  labels_call(const host_graph& g, const settings_type& c) : operator_call(g, c) {
    std::mt19937_64 random(n);
    for (int& seed : seeds) seed = random() % 8 == 0 ? static_cast<int>(random() % labels) : -1;
    device_seeds = upload(seeds);
  }

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return start_with(
        {device_seeds.data(), labels, max_rounds, votes.data(), before.data(), result.data()},
        stream);
  }
  [[nodiscard]] std::string fault(const report_type* = nullptr) const {
    return difference(download(result), serial_labels(n, host.list, seeds, labels, max_rounds));
  }
  [[nodiscard]] bool is_unchanged() const { return download(result) == std::vector<int>(n, -7); }

  std::vector<int> seeds = std::vector<int>(n);
  ramify::device_buffer<int> device_seeds = sevens(n), votes = sevens(labels * n),
                             before = sevens(n), result = sevens(n);
};

struct betweenness_call : operator_call<examples::betweenness> {
  betweenness_call(const host_graph& g, const settings_type& c) : operator_call(g, c) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return start_with(
        {static_cast<int>(n), levels.data(), paths.data(), shares.data(), scores.data()}, stream);
  }
  [[nodiscard]] std::string fault(const report_type* = nullptr) const {
    return difference(download(scores), boost_betweenness(n, host.list),
                      1e-12 * static_cast<double>(n * n));
  }
  [[nodiscard]] bool is_unchanged() const { return download(scores) == std::vector<double>(n, -7); }

  ramify::device_buffer<int> levels = sevens(n);
  ramify::device_buffer<double> paths = sevens<double>(n), shares = sevens<double>(n),
                                scores = sevens<double>(n);
};

}  // namespace tests::inline RAMIFY_BUILD
