// SPDX-License-Identifier: BSD-3-Clause
#include "graphs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace common {
namespace {

/// A generator of 64 random bits, the same on every machine (splitmix64).
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, n).
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
  /// Returns a number in [0, 1).
  float length() { return static_cast<float>((*this)() >> 40) * 0x1p-24f; }

 private:
  std::uint64_t state_;
};

std::int32_t vertex(std::size_t v) { return static_cast<std::int32_t>(v); }
std::size_t index(std::int32_t v) { return static_cast<std::size_t>(v); }

/// Calls visit(v, e) for each edge e of each vertex v.
template <class Visit>
void for_each_edge(const stored_graph& graph, const Visit& visit) {
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      visit(v, static_cast<std::size_t>(e));
    }
  }
}

std::string fault_at(std::size_t v, const std::string& what) {
  return "vertex " + std::to_string(v) + ' ' + what;
}

/// Returns a message about the first vertex whose parents do not lead to the source, or an empty
/// string.
std::string parents_fault(std::int32_t source, std::span<const std::int32_t> parents) {
  enum : char { unknown, on_path, right };
  std::vector<char> known(parents.size(), unknown);
  known[index(source)] = right;
  std::vector<std::size_t> path;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    path.clear();
    std::size_t at = v;
    while (known[at] == unknown && parents[at] != -1) {
      known[at] = on_path;
      path.push_back(at);
      const auto parent = static_cast<std::int64_t>(parents[at]);
      if (parent < 0 || index(parents[at]) >= parents.size()) return fault_at(at, "has no parent");
      at = index(parents[at]);
    }
    if (!path.empty() && known[at] != right) return fault_at(v, "is not below the source");
    for (const std::size_t u : path) known[u] = right;
  }
  return {};
}

}  // namespace

std::string_view to_string(graph_kind kind) {
  return ramify::choice_name(kind, {"kronecker", "uniform", "grid"});
}

graph_kind parse_graph_kind(std::string_view text) {
  return ramify::parse_choice<graph_kind>("kind", text);
}

edge_list make_random_graph(graph_kind kind, unsigned scale, unsigned factor, std::uint64_t seed) {
  random_bits random(seed);
  const std::size_t n = std::size_t{1} << scale;
  std::vector<std::int32_t> names(n);
  std::iota(names.begin(), names.end(), 0);
  for (std::size_t v = n; v-- > 1;) std::swap(names[v], names[random.below(v + 1)]);
  // The first quadrants have 57, 19 and 19 percent of the edges.
  constexpr auto of_percent = [](unsigned percent) {
    return static_cast<std::uint32_t>(std::uint64_t{percent} * 0xffffffffu / 100);
  };
  constexpr std::array ends{of_percent(57), of_percent(76), of_percent(95)};
  edge_list made{n, true, std::vector<list_edge>(n * factor)};
  for (list_edge& edge : made.edges) {
    std::size_t from = 0;
    std::size_t to = 0;
    if (kind == graph_kind::uniform) {
      from = random.below(n);
      to = random.below(n);
    } else {
      std::uint64_t bits = 0;
      for (unsigned level = 0; level < scale; ++level) {
        bits = level % 2 == 0 ? random() : bits >> 32;
        const auto p = static_cast<std::uint32_t>(bits);
        from = 2 * from + (p >= ends[1] ? 1 : 0);
        to = 2 * to + ((p >= ends[0] && p < ends[1]) || p >= ends[2] ? 1 : 0);
      }
    }
    edge = {names[from], names[to], random.length()};
  }
  return made;
}

edge_list make_grid(std::size_t side, unsigned holes, std::uint64_t seed) {
  random_bits random(seed);
  std::vector<bool> is_hole(side * side);
  for (std::size_t v = 0; v < is_hole.size(); ++v) is_hole[v] = random.below(100) < holes;
  edge_list made{side * side, true, {}};
  const auto connect = [&](std::size_t u, std::size_t v) {
    if (is_hole[u] || is_hole[v]) return;
    made.edges.push_back({vertex(u), vertex(v), random.length()});
  };
  for (std::size_t v = 0; v < is_hole.size(); ++v) {
    if (v % side + 1 < side) connect(v, v + 1);
    if (v + side < is_hole.size()) connect(v, v + side);
  }
  return made;
}

stored_graph::stored_graph(const edge_list& list) : is_undirected(list.is_undirected) {
  const auto store = [&](auto& begins, auto& ends, bool forward, bool backward, bool has_lengths) {
    begins.assign(list.vertices + 1, 0);
    for (const list_edge& e : list.edges) {
      if (forward) ++begins[index(e.from) + 1];
      if (backward) ++begins[index(e.to) + 1];
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    ends.resize(static_cast<std::size_t>(begins.back()));
    if (has_lengths) lengths.resize(ends.size());
    auto next = begins;
    const auto put = [&](std::int32_t from, std::int32_t to, float length) {
      const auto place = static_cast<std::size_t>(next[index(from)]++);
      ends[place] = to;
      if (has_lengths) lengths[place] = length;
    };
    for (const list_edge& e : list.edges) {
      if (forward) put(e.from, e.to, e.length);
      if (backward) put(e.to, e.from, e.length);
    }
  };
  store(offsets, targets, true, is_undirected, true);
  if (!is_undirected) store(in_offsets, in_sources, false, true, false);
}

ramify::graph_view stored_graph::view() const {
  if (is_undirected) return ramify::graph_view::symmetric(offsets, targets);
  return ramify::graph_view::directed(offsets, targets, in_offsets, in_sources);
}

std::string search_fault(const stored_graph& graph, std::int32_t source,
                         std::span<const std::int32_t> levels,
                         std::span<const std::int32_t> parents) {
  if (levels[index(source)] != 0 || parents[index(source)] != -1) {
    return fault_at(index(source), "is not the root");
  }
  if (auto fault = parents_fault(source, parents); !fault.empty()) return fault;
  std::vector<bool> has_edge(graph.vertices());
  std::string fault;
  for_each_edge(graph, [&](std::size_t u, std::size_t e) {
    const auto v = index(graph.targets[e]);
    if (parents[v] == vertex(u)) has_edge[v] = true;
    if (levels[u] < 0) return;
    if (levels[v] < 0) fault = fault_at(v, "is reached by an edge and has no level");
    if (levels[v] > levels[u] + 1) fault = fault_at(v, "has a neighbor two levels before");
  });
  if (!fault.empty()) return fault;
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (v == index(source)) continue;
    if ((levels[v] < 0) != (parents[v] == -1)) return fault_at(v, "has a level or a parent alone");
    if (levels[v] < 0) continue;
    if (!has_edge[v]) return fault_at(v, "has no edge from its parent");
    if (levels[index(parents[v])] != levels[v] - 1) {
      return fault_at(v, "is not one level after its parent");
    }
  }
  return {};
}

std::string paths_fault(const stored_graph& graph, std::int32_t source,
                        std::span<const float> distances, std::span<const std::int32_t> parents) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (distances[index(source)] != 0 || parents[index(source)] != -1) {
    return fault_at(index(source), "is not the root");
  }
  if (auto fault = parents_fault(source, parents); !fault.empty()) return fault;
  std::vector<bool> has_edge(graph.vertices());
  std::string fault;
  for_each_edge(graph, [&](std::size_t u, std::size_t e) {
    const auto v = index(graph.targets[e]);
    const float distance = distances[u] + graph.lengths[e];
    if (parents[v] == vertex(u) && distance == distances[v]) has_edge[v] = true;
    if (distance < distances[v]) fault = fault_at(v, "has a shorter path");
  });
  if (!fault.empty()) return fault;
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (!(distances[v] >= 0)) return fault_at(v, "has a distance that is not at least 0");
    const bool is_reached = distances[v] < infinity && v != index(source);
    if (is_reached != (parents[v] != -1)) return fault_at(v, "has a distance or a parent alone");
    if (is_reached && !has_edge[v]) return fault_at(v, "has no such edge from its parent");
  }
  return {};
}

std::string components_fault(const stored_graph& graph, std::span<const std::int32_t> components) {
  std::vector<std::size_t> labels(graph.vertices());
  std::iota(labels.begin(), labels.end(), std::size_t{0});
  const auto root = [&](std::size_t v) {
    while (labels[v] != v) v = labels[v] = labels[labels[v]];
    return v;
  };
  for_each_edge(graph, [&](std::size_t u, std::size_t e) {
    const std::size_t a = root(u);
    const std::size_t b = root(index(graph.targets[e]));
    labels[std::max(a, b)] = std::min(a, b);
  });
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (index(components[v]) != root(v)) return fault_at(v, "is in another component");
  }
  return {};
}

std::string ranks_fault(const stored_graph& graph, double damping, std::uint64_t iterations,
                        std::span<const double> ranks) {
  const auto n = static_cast<double>(graph.vertices());
  std::vector<double> now(graph.vertices(), 1 / n);
  std::vector<double> next(graph.vertices());
  for (std::uint64_t i = 0; i < iterations; ++i) {
    double dangling = 0;
    for (std::size_t v = 0; v < graph.vertices(); ++v) {
      if (graph.degree(v) == 0) dangling += now[v];
    }
    std::ranges::fill(next, (1 - damping + damping * dangling) / n);
    for_each_edge(graph, [&](std::size_t u, std::size_t e) {
      next[index(graph.targets[e])] += damping * now[u] / static_cast<double>(graph.degree(u));
    });
    now.swap(next);
  }
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (!(std::abs(ranks[v] - now[v]) <= 1e-9)) return fault_at(v, "has another rank");
  }
  return {};
}

}  // namespace common
