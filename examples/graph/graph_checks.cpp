// SPDX-License-Identifier: BSD-3-Clause
#include "graph_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace common {
namespace {

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

/// Compares a + b with a distance. Returns -1, 0 or 1 if the sum is smaller, equal or larger. Sums
/// that differ by the rounding of one addition are equal. The comparison of integers has no sum
/// that could be too large; that of floating-point numbers has more digits than they have.
template <class T>
int compare_lengths(T a, T b, T distance) {
  if constexpr (std::is_integral_v<T>) {
    if (distance < a) return 1;
    return b < distance - a ? -1 : b > distance - a ? 1 : 0;
  } else {
    if (distance == infinite<T>) return -1;
    const long double sum = static_cast<long double>(a) + b;
    const auto unit = static_cast<long double>(std::numeric_limits<T>::epsilon());
    if (std::abs(sum - distance) <= sum * unit) return 0;
    return sum < distance ? -1 : 1;
  }
}

/// Adds the lengths along the parents of each vertex, and compares the sums with the distances.
/// `last` has the length of the edge from each parent. `rounding` receives the largest difference
/// relative to the sum. Returns a fault if a difference is more than the additions round.
template <class T>
std::string rounding_fault(std::span<const T> distances, std::span<const std::int32_t> parents,
                           const std::vector<T>& last, double* rounding) {
  if constexpr (std::is_integral_v<T>) return {};  // each comparison of an edge was exact
  std::vector<long double> sums(parents.size(), -1);
  std::vector<std::size_t> edges(parents.size());
  std::vector<std::size_t> path;
  double largest = 0;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    if (distances[v] == infinite<T>) continue;
    path.clear();
    for (std::size_t at = v; sums[at] < 0; at = index(parents[at])) {
      path.push_back(at);
      if (parents[at] == -1) break;
    }
    for (; !path.empty(); path.pop_back()) {
      const std::size_t u = path.back();
      const bool is_source = parents[u] == -1;
      sums[u] = is_source ? 0 : sums[index(parents[u])] + last[u];
      edges[u] = is_source ? 0 : edges[index(parents[u])] + 1;
      const auto error = static_cast<double>(std::abs(sums[u] - distances[u]));
      const double relative = error > 0 ? error / static_cast<double>(sums[u]) : 0;
      const auto unit = static_cast<double>(std::numeric_limits<T>::epsilon());
      if (relative > static_cast<double>(edges[u]) * unit) {
        return fault_at(u, "has a distance that differs from the length of its path");
      }
      largest = std::max(largest, relative);
    }
  }
  if (rounding != nullptr) *rounding = std::max(*rounding, largest);
  return {};
}

}  // namespace

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

template <class T>
std::string paths_fault(const stored_graph& graph, std::int32_t source,
                        std::span<const T> distances, std::span<const std::int32_t> parents,
                        double* rounding) {
  const auto& lengths = std::get<std::vector<T>>(graph.lengths);
  if (distances[index(source)] != 0 || parents[index(source)] != -1) {
    return fault_at(index(source), "is not the root");
  }
  if (auto fault = parents_fault(source, parents); !fault.empty()) return fault;
  // The length of an edge from each vertex's parent that ends a path of the vertex's distance.
  std::vector<T> last(graph.vertices(), infinite<T>);
  std::string fault;
  for_each_edge(graph, [&](std::size_t u, std::size_t e) {
    const auto v = index(graph.targets[e]);
    if (distances[u] == infinite<T> || lengths[e] == infinite<T>) return;
    const int order = compare_lengths(distances[u], lengths[e], distances[v]);
    if (order < 0) fault = fault_at(v, "has a shorter path");
    if (parents[v] == vertex(u) && order == 0) last[v] = std::min(last[v], lengths[e]);
  });
  if (!fault.empty()) return fault;
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    const bool is_reached = distances[v] < infinite<T> && v != index(source);
    if (is_reached != (parents[v] != -1)) return fault_at(v, "has a distance or a parent alone");
    if (is_reached && last[v] == infinite<T>)
      return fault_at(v, "has no such edge from its parent");
  }
  return rounding_fault<T>(distances, parents, last, rounding);
}

template std::string paths_fault(const stored_graph&, std::int32_t, std::span<const float>,
                                 std::span<const std::int32_t>, double*);
template std::string paths_fault(const stored_graph&, std::int32_t, std::span<const double>,
                                 std::span<const std::int32_t>, double*);
template std::string paths_fault(const stored_graph&, std::int32_t, std::span<const std::uint64_t>,
                                 std::span<const std::int32_t>, double*);

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
