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
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "graph_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

using ramify::edge_strategy;
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

using graph_settings = settings<ramify::graph_options>;
using sssp_settings = settings<ramify::sssp_options>;
using pagerank_settings = settings<ramify::pagerank_options>;

/// Returns settings of type Settings with the environment and the graph_options of `base`.
template <class Settings, class Base>
Settings with_base(const Base& base) {
  Settings made;
  static_cast<ramify::graph_options&>(made) = base;
  static_cast<ramify::environment&>(made) = base;
  return made;
}

inline graph_settings settings_of(route taken, edge_strategy strategy) {
  return with_base<graph_settings>(bfs_settings_of(taken, strategy));
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
  using settings_type = sssp_settings;

  /// The distance of a vertex that is not reached.
  static constexpr T none =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();

  basic_paths_call(const host_graph& g, const settings_type& c, std::vector<T> w = {})
      : host(g),
        chosen(c),
        weights(std::move(w)),
        graph(g),
        device_weights(upload(weights)),
        distances(upload(std::vector<T>(g.vertices(), 7))),
        parents(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::sssp_scratch_bytes<T>(graph.view(), c), nullptr) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return ramify::shortest_paths_async(graph.view(),
                                        std::span(device_weights.data(), device_weights.size()), 0,
                                        {.distances = distances.data(), .parents = parents.data()},
                                        chosen, chosen.with(stream, scratch));
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
  settings_type chosen;
  std::vector<T> weights;
  device_graph graph;
  ramify::device_buffer<T> device_weights, distances;
  ramify::device_buffer<std::int32_t> parents;
  ramify::device_buffer<std::byte> scratch;
};

/// Shortest paths with lengths of type float; by default random ones.
struct paths_call : basic_paths_call<float> {
  paths_call(const host_graph& g, const settings_type& c, std::vector<float> w = {})
      : basic_paths_call(g, c, w.empty() ? weights_of(g, g.vertices()) : std::move(w)) {}
};

struct components_call {
  using settings_type = graph_settings;

  components_call(const host_graph& g, const settings_type& c)
      : host(g),
        chosen(c),
        graph(g),
        components(upload(std::vector<std::int32_t>(g.vertices(), -7))),
        scratch(ramify::components_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return ramify::connected_components_async(graph.view(), components.data(), chosen,
                                              chosen.with(stream, scratch));
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
  settings_type chosen;
  device_graph graph;
  ramify::device_buffer<std::int32_t> components;
  ramify::device_buffer<std::byte> scratch;
};

struct pagerank_call {
  using settings_type = pagerank_settings;

  pagerank_call(const host_graph& g, settings_type c)
      : host(g),
        chosen(few_iterations(c)),
        graph(g),
        ranks(upload(std::vector<double>(g.vertices(), -7))),
        scratch(ramify::pagerank_scratch_bytes(graph.view(), c), nullptr) {}

  [[nodiscard]] auto start(cudaStream_t stream = nullptr) const {
    return ramify::pagerank_async(graph.view(), ranks.data(), chosen, chosen.with(stream, scratch));
  }
  [[nodiscard]] std::string fault(const ramify::pagerank_report* report = nullptr) const {
    const unsigned iterations =
        report == nullptr ? chosen.max_iterations : unsigned(report->iterations);
    const auto found = download(ranks);
    double sum = 0;
    for (const double r : found) sum += r;
    if (std::abs(sum - 1) > 1e-12) return "the sum is " + std::to_string(sum);
    return difference(found, serial_ranks(host.vertices(), host.list, chosen.damping, iterations),
                      1e-13);
  }
  [[nodiscard]] bool is_unchanged() const {
    return download(ranks) == std::vector<double>(host.vertices(), -7);
  }

  /// Returns settings of four iterations, unless `c` has limits of its own: most tests need
  /// no converged ranks.
  static settings_type few_iterations(settings_type c) {
    if (c.max_iterations == 100) c.max_iterations = 4;
    if (c.tolerance == 1e-6) c.tolerance = 1e-30;
    return c;
  }

  host_graph host;
  settings_type chosen;
  device_graph graph;
  ramify::device_buffer<double> ranks;
  ramify::device_buffer<std::byte> scratch;
};

using all_calls = boost::mpl::list<paths_call, components_call, pagerank_call>;

/// Runs an algorithm, and checks its results, its report and the launch slots.
template <class Call>
auto check_call(const host_graph& graph, const graph_settings& chosen,
                std::size_t pending_launches = 0) {
  static const slot_leaks_are_noticed leaks;
  const auto limits = scoped_limit(pending_launches);
  const Call call(graph, with_base<typename Call::settings_type>(chosen));
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
        (void)check_call<Call>(graph, settings_of(taken, strategy), pending_launches);
      }
    }
  }
}

/// Destroys a run before get(), and checks the results of the next one, which get() returns once.
template <class Call>
void check_repeated_run(const host_graph& graph) {
  for (const route taken : routes) {
    const Call call(graph, with_base<typename Call::settings_type>(
                               settings_of(taken, edge_strategy::balanced)));
    const ramify::host_stream stream;
    ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
    { const auto run = call.start(stream.get()); }
    auto run = call.start(stream.get());
    const auto report = run.get();
    BOOST_TEST(call.fault(&report) == "");
    BOOST_CHECK_THROW((void)run.get(), std::logic_error);
  }
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

/// Starts a run in a graph with both routes, and checks the results of each launch of the graph.
template <class Call>
void check_captured_run(const host_graph& graph) {
  for (const route taken : routes) {
    for (const edge_strategy strategy : {edge_strategy::balanced, edge_strategy::aggregated}) {
      const Call call(graph, with_base<typename Call::settings_type>(settings_of(taken, strategy)));
      const ramify::host_stream stream;
      ramify::check(cudaDeviceSynchronize(), "waiting for the input");
      std::optional<decltype(call.start())> run;
      const ramify::captured_graph captured(stream.get(), [&] { run = call.start(stream.get()); });
      for (int i = 0; i < 3; ++i) {
        captured.launch(stream.get());
        const auto report = run->get();
        BOOST_TEST(call.fault(&report) == "");
      }
    }
  }
}

#else  // only the executor can be configured

/// Lets each of the first `failures` launches fail once. At least `interrupted` of them must be
/// launches whose work the host or a later grid continues: the negative control.
template <class Call>
void check_failed_launches(const host_graph& graph, unsigned failures, unsigned interrupted) {
  for (const edge_strategy strategy : {edge_strategy::warp, edge_strategy::aggregated}) {
    const auto chosen = settings_of(route::device, strategy);
    tests::check_failed_launches(failures, interrupted,
                                 [&] { return check_call<Call>(graph, chosen); });
  }
}

#endif

}  // namespace tests::inline RAMIFY_BUILD
