// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls of shortest paths, connected components and PageRank with their oracles, for tests that
/// are templates of a call.

#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exceptions.hpp"
#include "graph_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using ramify::edge_strategy;
using ramify::graph_config;
using ramify::route;

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Returns random lengths of the edges. The seed modulo 3 selects their kind: 0: half of them are
/// zero; 1: real numbers; 2: whole numbers and infinity.
inline std::vector<float> weights_of(const host_graph& graph, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<float> weights(graph.targets.size());
  for (float& w : weights) {
    w = static_cast<float>(random() % 1'000'000) * 1e-6f;
    if (seed % 3 == 0) w = random() % 2 == 0 ? 0.0f : w;
    if (seed % 3 == 2) w = random() % 9 == 0 ? infinity : static_cast<float>(random() % 20);
  }
  return weights;
}

inline graph_config config_of(route taken, edge_strategy strategy) {
  return bfs_config_of(taken, strategy);
}

/// Returns a configuration of type Config with the fields of graph_config.
template <class Config>
Config with_base(const graph_config& base) {
  Config config;
  static_cast<graph_config&>(config) = base;
  return config;
}

/// Returns a message about the first value that is not as expected, or an empty string.
template <class T>
std::string difference(const std::vector<T>& results, const std::vector<T>& expected,
                       double tolerance = 0) {
  for (std::size_t v = 0; v < expected.size(); ++v) {
    if (results[v] == expected[v]) continue;
    const double error = std::abs(double(results[v]) - double(expected[v]));
    if (tolerance > 0 && error <= tolerance) continue;  // integers may be equal as doubles only
    return "vertex " + std::to_string(v) + ": " + std::to_string(results[v]) + " instead of " +
           std::to_string(expected[v]);
  }
  return {};
}

// ---- an algorithm: its arrays on the device, how to start it, and the check of its results ----

template <class T>
struct basic_paths_call {
  using config_type = ramify::sssp_config;
  using run_type = ramify::basic_sssp_run<T>;

  /// The distance of a vertex that is not reached.
  static constexpr T none =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();

  basic_paths_call(const host_graph& g, const config_type& c, std::vector<T> w = {})
      : host(g),
        config(c),
        weights(std::move(w)),
        graph(g),
        device_weights(upload(weights)),
        distances(upload(std::vector<T>(g.vertices(), 7))),
        parents(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::sssp_scratch_bytes<T>(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::shortest_paths_async(graph.view(),
                                        {device_weights.data(), device_weights.size()}, 0,
                                        {.distances = distances.data(), .parents = parents.data()},
                                        stream, config, {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::sssp_report* report = nullptr) const {
    const auto found = download(distances);
    const auto expected = boost_distances(host.vertices(), host.list, weights, 0);
    if (const auto wrong = difference(found, expected); !wrong.empty()) return wrong;
    const auto reached = std::ranges::count_if(expected, [](T d) { return d < none; });
    if (report != nullptr && report->reached != std::uint64_t(reached)) return "reached";
    return parent_fault(found, download(parents));
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(distances) == std::vector<T>(host.vertices(), 7) &&
           download(parents) == std::vector<std::int32_t>(host.vertices(), -7);
  }

  /// Returns the first vertex whose parent is wrong. There must be an edge of the right length, and
  /// parents must lead to the source.
  [[nodiscard]] std::string parent_fault(const std::vector<T>& d,
                                         const std::vector<std::int32_t>& p) const {
    std::vector<bool> has_edge(host.vertices());
    for (std::size_t e = 0; e < weights.size(); ++e) {
      const auto [u, v] = host.list[e];
      const auto from = std::size_t(u), to = std::size_t(v);
      if (p[to] == u && d[from] + weights[e] == d[to]) has_edge[to] = true;
    }
    for (std::size_t v = 0; v < host.vertices(); ++v) {
      const bool has_parent = v != 0 && d[v] < none;
      bool is_right = has_parent ? has_edge[v] : p[v] == -1;
      std::size_t at = v;
      for (std::size_t steps = 0; is_right && p[at] != -1; ++steps) {
        at = std::size_t(p[at]);
        is_right = steps < host.vertices();
      }
      if (!is_right) return "the parent of vertex " + std::to_string(v);
    }
    return {};
  }

  host_graph host;
  config_type config;
  std::vector<T> weights;
  device_graph graph;
  ramify::device_buffer<T> device_weights, distances;
  ramify::device_buffer<std::int32_t> parents;
  ramify::device_buffer<std::byte> scratch;
};

/// Shortest paths with lengths of type float; by default random ones.
struct paths_call : basic_paths_call<float> {
  paths_call(const host_graph& g, const config_type& c, std::vector<float> w = {})
      : basic_paths_call(g, c, w.empty() ? weights_of(g, g.vertices()) : std::move(w)) {}
};

struct components_call {
  using config_type = graph_config;
  using run_type = ramify::components_run;

  components_call(const host_graph& g, const config_type& c)
      : host(g),
        config(c),
        graph(g),
        components(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::components_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::connected_components_async(graph.view(), components.data(), stream, config,
                                              {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::components_report* report = nullptr) const {
    const auto expected = boost_components(host.vertices(), host.list);
    std::size_t count = 0;
    for (std::size_t v = 0; v < expected.size(); ++v) count += std::size_t(expected[v]) == v;
    if (report != nullptr && report->components != count) return "the number of components";
    return difference(download(components), expected);
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(components) == std::vector<std::int32_t>(host.vertices(), -7);
  }

  host_graph host;
  config_type config;
  device_graph graph;
  ramify::device_buffer<std::int32_t> components;
  ramify::device_buffer<std::byte> scratch;
};

struct pagerank_call {
  using config_type = ramify::pagerank_config;
  using run_type = ramify::pagerank_run;

  pagerank_call(const host_graph& g, config_type c)
      : host(g),
        config(few_iterations(c)),
        graph(g),
        ranks(upload(std::vector<double>(g.vertices(), -7))),
        scratch(ramify::pagerank_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] run_type start(cudaStream_t stream = nullptr) const {
    return ramify::pagerank_async(graph.view(), ranks.data(), stream, config,
                                  {scratch.data(), scratch.size()});
  }
  [[nodiscard]] std::string fault(const ramify::pagerank_report* report = nullptr) const {
    const unsigned iterations =
        report == nullptr ? config.max_iterations : unsigned(report->iterations);
    const auto found = download(ranks);
    double sum = 0;
    for (const double r : found) sum += r;
    if (std::abs(sum - 1) > 1e-12) return "the sum is " + std::to_string(sum);
    return difference(found, serial_ranks(host.vertices(), host.list, config.damping, iterations),
                      1e-13);
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(ranks) == std::vector<double>(host.vertices(), -7);
  }

  /// Returns a configuration of four iterations, unless `c` has limits of its own: most tests need
  /// no converged ranks.
  static config_type few_iterations(config_type c) {
    if (c.max_iterations == 100) c.max_iterations = 4;
    if (c.tolerance == 1e-6) c.tolerance = 1e-30;
    return c;
  }

  host_graph host;
  config_type config;
  device_graph graph;
  ramify::device_buffer<double> ranks;
  ramify::device_buffer<std::byte> scratch;
};

using all_calls = boost::mpl::list<paths_call, components_call, pagerank_call>;

/// Runs an algorithm, and checks its results, its report and the launch slots.
template <class Call>
auto check_call(const host_graph& graph, const graph_config& config,
                std::size_t pending_launches = 0) {
  static const slot_leaks_are_noticed leaks;
  const auto limits = scoped_limit(pending_launches);
  const Call call(graph, with_base<typename Call::config_type>(config));
  const auto report = with_grids_counted([&] { return call.start().get(); });
  BOOST_TEST(call.fault(&report) == "");
  BOOST_TEST(report.vertices == graph.vertices());
  BOOST_TEST(report.edges == graph.targets.size());
  BOOST_TEST(report.scratch_bytes == call.scratch.size());
  return report;
}

/// Runs an algorithm with each strategy and route, or with one in `of` of them.
template <class Call>
void check_all_calls(const host_graph& graph, int& piece, int of = 1,
                     std::size_t pending_launches = 0) {
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      if (piece++ % of != 0) continue;
      BOOST_TEST_CONTEXT(graph.name << ", " << graph.vertices() << " vertices, "
                                    << to_string(strategy) << ", " << to_string(taken)) {
        (void)check_call<Call>(graph, config_of(taken, strategy), pending_launches);
      }
    }
  }
}

}  // namespace tests::inline RAMIFY_BUILD
