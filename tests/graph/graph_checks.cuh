// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Helpers of the tests of graphs: generated graphs, checks of results, and one call of the
/// header template on the backend of this build.

#include <algorithm>
#include <cstdint>
#include <ramify/graph.cuh>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device_vectors.cuh"
#include "oracles.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

/// Returns the stride by which a test selects some of its similar pieces of work: `of`, or seven
/// times as much under a sanitizer, because a sanitizer sees the same code in all pieces.
[[nodiscard]] constexpr int stride(int of) { return effort() < 1 ? 7 * of : of; }

/// A graph in host memory, with its edges by source and by target.
struct host_graph {
  host_graph(std::string name, std::size_t n, edge_list edges, bool is_symmetric)
      : name(std::move(name)), is_symmetric(is_symmetric) {
    if (is_symmetric) {
      const std::size_t one_way = edges.size();
      for (std::size_t e = 0; e < one_way; ++e) edges.emplace_back(edges[e].second, edges[e].first);
    }
    by_source(n, edges, offsets, targets);
    for (std::size_t v = 0; v < n; ++v) {
      for (auto e = offsets[v]; e < offsets[v + 1]; ++e) {
        list.emplace_back(static_cast<std::int32_t>(v), targets[static_cast<std::size_t>(e)]);
      }
    }
    for (auto& [from, to] : edges) std::swap(from, to);
    by_source(n, edges, in_offsets, in_sources);
  }

  [[nodiscard]] std::size_t vertices() const { return offsets.size() - 1; }

  std::string name;
  bool is_symmetric;
  edge_list list{};  ///< in the order of `targets`
  std::vector<std::int64_t> offsets{}, in_offsets{};
  std::vector<std::int32_t> targets{}, in_sources{};

 private:
  static void by_source(std::size_t n, const edge_list& edges, std::vector<std::int64_t>& offsets,
                        std::vector<std::int32_t>& targets) {
    offsets.assign(n + 1, 0);
    targets.resize(edges.size());
    for (const auto& [from, to] : edges) ++offsets[static_cast<std::size_t>(from) + 1];
    for (std::size_t v = 0; v < n; ++v) offsets[v + 1] += offsets[v];
    auto next = offsets;
    for (const auto& [from, to] : edges) {
      targets[static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++)] = to;
    }
  }
};

/// A Kronecker graph with the parameters of Graph 500: 2^scale vertices, `factor` edges for each.
inline host_graph kronecker(unsigned scale, unsigned factor, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  const std::size_t n = std::size_t{1} << scale;
  edge_list edges(n * factor);
  for (auto& [from, to] : edges) {
    from = to = 0;
    for (unsigned bit = 0; bit < scale; ++bit) {
      const auto p = random() % 100;  // quadrants: 57, 19, 19 and 5 percent
      from = 2 * from + (p >= 76 ? 1 : 0);
      to = 2 * to + ((p >= 57 && p < 76) || p >= 95 ? 1 : 0);
    }
  }
  return {"Kronecker", n, edges, true};
}

/// A directed graph of m random edges.
inline host_graph random_graph(std::size_t n, std::size_t m, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  edge_list edges(m);
  for (auto& [from, to] : edges) {
    from = static_cast<std::int32_t>(random() % n);
    to = static_cast<std::int32_t>(random() % n);
  }
  return {"random", n, edges, false};
}

/// A square grid of side^2 vertices, of which about one in five has no edges.
inline host_graph grid_with_holes(std::size_t side, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<bool> hole(side * side);
  for (std::size_t v = 1; v < hole.size(); ++v) hole[v] = random() % 5 == 0;
  edge_list edges;
  const auto connect = [&](std::size_t u, std::size_t v) {
    if (hole[u] || hole[v]) return;
    edges.emplace_back(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
  };
  for (std::size_t v = 0; v < hole.size(); ++v) {
    if (v % side + 1 < side) connect(v, v + 1);
    if (v + side < hole.size()) connect(v, v + side);
  }
  return {"grid", side * side, edges, true};
}

inline host_graph star(std::size_t n, bool is_symmetric = true) {
  edge_list edges;
  for (std::size_t v = 1; v < n; ++v) edges.emplace_back(0, static_cast<std::int32_t>(v));
  return {is_symmetric ? "star" : "outward star", n, edges, is_symmetric};
}

inline host_graph path(std::size_t n) {
  edge_list edges;
  for (std::size_t v = 1; v < n; ++v) {
    edges.emplace_back(static_cast<std::int32_t>(v - 1), static_cast<std::int32_t>(v));
  }
  return {"path", n, edges, true};
}

/// A ring in which each vertex has a self-loop, and each edge is repeated.
inline host_graph loops_and_repeats(std::size_t n) {
  edge_list edges;
  for (std::size_t v = 0; v < n; ++v) {
    const auto here = static_cast<std::int32_t>(v);
    const auto next = static_cast<std::int32_t>((v + 1) % n);
    edges.insert(edges.end(), {{here, here}, {here, next}, {here, next}, {here, next}});
  }
  return {"self-loops and repeated edges", n, edges, false};
}

/// Two cliques without an edge between them.
inline host_graph two_cliques(std::size_t half) {
  edge_list edges;
  for (const std::size_t first : {std::size_t{0}, half}) {
    for (std::size_t u = first; u < first + half; ++u) {
      for (std::size_t v = first; v < u; ++v) {
        edges.emplace_back(static_cast<std::int32_t>(u), static_cast<std::int32_t>(v));
      }
    }
  }
  return {"two cliques", 2 * half, edges, true};
}

/// Returns a graph of each kind, with about `n` vertices.
inline std::vector<host_graph> graphs_of_each_kind(std::size_t n, std::uint64_t seed = 1) {
  unsigned scale = 0;
  while ((std::size_t{2} << scale) <= n) ++scale;
  std::size_t side = 1;
  while ((side + 1) * (side + 1) <= n) ++side;
  return {kronecker(scale, 8, seed),
          random_graph(n, 3 * n, seed),
          random_graph(n, n / 2, seed),
          grid_with_holes(side, seed),
          star(n),
          star(n, false),
          path(std::min<std::size_t>(n, 90)),
          loops_and_repeats(std::min<std::size_t>(n, 70)),
          two_cliques(n / 20 + 2),
          host_graph("no edges", n, {}, true),
          host_graph("one vertex", 1, {}, true),
          host_graph("one loop", 1, {{0, 0}}, false)};
}

/// Arrays of a graph in device memory.
struct device_graph {
  explicit device_graph(const host_graph& graph)
      : is_symmetric(graph.is_symmetric),
        offsets(upload(graph.offsets)),
        in_offsets(upload(graph.in_offsets)),
        targets(upload(graph.targets)),
        in_sources(upload(graph.in_sources)) {}

  [[nodiscard]] ramify::graph_view view(bool with_in_edges = true) const {
    const std::span<const std::int64_t> o(offsets.data(), offsets.size());
    const std::span<const std::int32_t> t(targets.data(), targets.size());
    if (!with_in_edges) return ramify::graph_view::directed(o, t);
    if (is_symmetric) return ramify::graph_view::symmetric(o, t);
    return ramify::graph_view::directed(o, t, {in_offsets.data(), in_offsets.size()},
                                        {in_sources.data(), in_sources.size()});
  }

  bool is_symmetric;
  ramify::device_buffer<std::int64_t> offsets, in_offsets;
  ramify::device_buffer<std::int32_t> targets, in_sources;
};

/// The outputs of a breadth-first search.
struct bfs_results {
  std::vector<std::int32_t> levels, parents;
  friend bool operator==(const bfs_results&, const bfs_results&) = default;
};

/// Returns arrays of a value that no search writes.
inline bfs_results no_bfs_results(std::size_t n) {
  return {std::vector<std::int32_t>(n, -7), std::vector<std::int32_t>(n, -7)};
}

/// Returns the first fault of the results, or an empty string.
inline std::string bfs_fault(const host_graph& graph, std::int32_t source,
                             const bfs_results& results) {
  const auto expected = boost_levels(graph.vertices(), graph.list, source);
  edge_list edges = graph.list;
  std::sort(edges.begin(), edges.end());
  for (std::size_t v = 0; v < expected.size(); ++v) {
    const std::string name = " of vertex " + std::to_string(v) + " is ";
    const std::int32_t level = results.levels[v];
    const std::int32_t parent = results.parents[v];
    if (level != expected[v]) return "the level" + name + std::to_string(level);
    const auto here = static_cast<std::int32_t>(v);
    const bool right =
        level <= 0 ? parent == -1
                   : parent >= 0 && expected[static_cast<std::size_t>(parent)] == level - 1 &&
                         std::binary_search(edges.begin(), edges.end(), std::pair(parent, here));
    if (!right) return "the parent" + name + std::to_string(parent);
  }
  return {};
}

/// Options of an algorithm and an environment, in one object.
template <class Options>
struct settings : Options, ramify::environment {
  /// Returns the environment with a stream and with scratch memory.
  [[nodiscard]] ramify::environment with(cudaStream_t in, const ramify::memory_ref& scratch) const {
    ramify::environment env = *this;
    env.stream = in;
    env.memory = scratch;
    return env;
  }
};
using bfs_settings = settings<ramify::bfs_options>;

/// A graph and outputs in device memory, with exactly as much scratch memory as
/// bfs_scratch_bytes() returns.
class bfs_call {
 public:
  bfs_call(const host_graph& graph, const bfs_settings& chosen)
      : graph_(graph),
        settings_(chosen),
        levels_(upload(no_bfs_results(graph.vertices()).levels)),
        parents_(upload(no_bfs_results(graph.vertices()).parents)),
        scratch_(ramify::bfs_scratch_bytes(graph_.view(), chosen), nullptr) {}

  [[nodiscard]] auto start(std::int64_t source, cudaStream_t stream = nullptr) const {
    const bool with_in_edges = settings_.direction != ramify::bfs_direction::top_down;
    return ramify::breadth_first_search_async(graph_.view(with_in_edges), source, outputs(),
                                              settings_, settings_.with(stream, scratch_));
  }
  [[nodiscard]] const device_graph& graph() const { return graph_; }
  [[nodiscard]] ramify::bfs_arrays outputs() const { return {levels_.data(), parents_.data()}; }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_.size(); }
  [[nodiscard]] bfs_results results() const { return {download(levels_), download(parents_)}; }

 private:
  device_graph graph_;
  bfs_settings settings_;
  ramify::device_buffer<std::int32_t> levels_, parents_;
  ramify::device_buffer<std::byte> scratch_;
};

/// Returns settings in which vertices with at least three edges are heavy.
inline bfs_settings bfs_settings_of(
    ramify::route taken, ramify::edge_strategy strategy = ramify::edge_strategy::balanced,
    ramify::bfs_direction direction = ramify::bfs_direction::automatic) {
  bfs_settings chosen;
  chosen.route = taken;
  chosen.strategy = strategy;
  chosen.direction = direction;
  chosen.heavy_degree = 3;
  return chosen;
}

/// Searches a graph, and checks the results, the report and the launch slots.
inline ramify::bfs_report check_bfs(const host_graph& graph, std::int32_t source,
                                    const bfs_settings& chosen, std::size_t pending_launches = 0) {
  static const slot_leaks_are_noticed leaks;
  const auto limits = scoped_limit(pending_launches);
  const bfs_call call(graph, chosen);
  const auto report = with_grids_counted([&] { return call.start(source).get(); });
  const bfs_results results = call.results();
  BOOST_TEST(bfs_fault(graph, source, results) == "");
  BOOST_TEST(report.levels == std::uint64_t(*std::ranges::max_element(results.levels)));
  BOOST_TEST(report.reached == std::uint64_t(std::ranges::count_if(
                                   results.levels, [](std::int32_t l) { return l >= 0; })));
  BOOST_TEST(report.vertices == graph.vertices());
  BOOST_TEST(report.edges == graph.targets.size());
  BOOST_TEST(report.scratch_bytes == call.scratch_bytes());
  return report;
}

}  // namespace tests::inline RAMIFY_BUILD
