// SPDX-License-Identifier: BSD-3-Clause
#include "oracles.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/core_numbers.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <limits>
#include <type_traits>

namespace tests {

std::vector<std::int32_t> boost_levels(std::size_t n, const edge_list& edges, std::int32_t source) {
  using boost_graph = boost::compressed_sparse_row_graph<boost::directedS>;
  const boost_graph graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), n);
  std::vector<std::int32_t> levels(n, -1);
  levels[static_cast<std::size_t>(source)] = 0;
  boost::breadth_first_search(graph, boost::vertex(static_cast<std::size_t>(source), graph),
                              boost::visitor(boost::make_bfs_visitor(
                                  boost::record_distances(levels.data(), boost::on_tree_edge{}))));
  return levels;
}

template <class T>
std::vector<T> boost_distances(std::size_t n, const edge_list& edges, const std::vector<T>& weights,
                               std::int32_t source) {
  using boost_graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                            boost::property<boost::edge_weight_t, T>>;
  constexpr T infinite =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  // An infinite length is no edge. A sum of Boost's with the largest integer would be too large.
  edge_list finite_edges;
  std::vector<T> finite_weights;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (weights[e] == infinite) continue;
    finite_edges.push_back(edges[e]);
    finite_weights.push_back(weights[e]);
  }
  const boost_graph graph(finite_edges.begin(), finite_edges.end(), finite_weights.begin(), n);
  std::vector<T> distances(n);
  boost::dijkstra_shortest_paths(
      graph, static_cast<std::size_t>(source),
      boost::distance_map(boost::make_iterator_property_map(distances.begin(),
                                                            boost::get(boost::vertex_index, graph)))
          .distance_inf(infinite));
  return distances;
}

template std::vector<float> boost_distances(std::size_t, const edge_list&,
                                            const std::vector<float>&, std::int32_t);
template std::vector<double> boost_distances(std::size_t, const edge_list&,
                                             const std::vector<double>&, std::int32_t);
template std::vector<std::uint64_t> boost_distances(std::size_t, const edge_list&,
                                                    const std::vector<std::uint64_t>&,
                                                    std::int32_t);

std::vector<std::int32_t> boost_components(std::size_t n, const edge_list& edges) {
  using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  const boost_graph graph(edges.begin(), edges.end(), n);
  std::vector<std::int32_t> components(n);
  const int count = boost::connected_components(graph, components.data());
  std::vector<std::int32_t> smallest(static_cast<std::size_t>(count), -1);
  for (std::size_t v = 0; v < n; ++v) {
    std::int32_t& first = smallest[static_cast<std::size_t>(components[v])];
    if (first == -1) first = static_cast<std::int32_t>(v);
    components[v] = first;
  }
  return components;
}

std::vector<double> serial_ranks(std::size_t n, const edge_list& edges, double damping,
                                 unsigned iterations) {
  std::vector<double> degrees(n), ranks(n, 1.0 / static_cast<double>(n)), next(n);
  for (const auto& [from, to] : edges) ++degrees[static_cast<std::size_t>(from)];
  for (unsigned i = 0; i < iterations; ++i) {
    double dangling = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (degrees[v] == 0) dangling += ranks[v];
    }
    std::ranges::fill(next, (1 - damping + damping * dangling) / static_cast<double>(n));
    for (const auto& [from, to] : edges) {
      const auto u = static_cast<std::size_t>(from);
      next[static_cast<std::size_t>(to)] += damping * ranks[u] / degrees[u];
    }
    ranks = next;
  }
  return ranks;
}

std::vector<std::int32_t> boost_cores(std::size_t n, const edge_list& edges) {
  using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  const boost_graph graph(edges.begin(), edges.end(), n);
  std::vector<std::int32_t> cores(n);
  boost::core_numbers(graph, boost::make_iterator_property_map(
                                 cores.begin(), boost::get(boost::vertex_index, graph)));
  return cores;
}

std::uint64_t serial_triangles(std::size_t n, const edge_list& edges) {
  std::vector<std::vector<bool>> adjacent(n, std::vector<bool>(n));
  for (const auto& [u, v] : edges) adjacent[std::size_t(u)][std::size_t(v)] = true;
  std::uint64_t corners = 0;
  for (const auto& [u, v] : edges) {
    for (std::size_t w = 0; w < n; ++w) {
      corners += adjacent[std::size_t(u)][w] && adjacent[std::size_t(v)][w];
    }
  }
  return corners / 6;  // each triangle has three edges in two directions
}

std::vector<double> boost_betweenness(std::size_t n, const edge_list& edges) {
  using boost_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  const boost_graph graph(edges.begin(), edges.end(), n);
  std::vector<double> scores(n);
  boost::brandes_betweenness_centrality(
      graph,
      boost::make_iterator_property_map(scores.begin(), boost::get(boost::vertex_index, graph)));
  return scores;
}

std::vector<int> serial_labels(std::size_t n, const edge_list& edges, const std::vector<int>& seeds,
                               int labels, unsigned max_rounds) {
  std::vector<int> result = seeds;
  for (unsigned round = 0; round < max_rounds; ++round) {
    std::vector<std::vector<int>> votes(n, std::vector<int>(std::size_t(labels)));
    for (const auto& [u, v] : edges) {
      const int label = result[std::size_t(u)];
      if (label >= 0) ++votes[std::size_t(v)][std::size_t(label)];
    }
    std::vector<int> next = seeds;
    for (std::size_t v = 0; v < n; ++v) {
      const auto most = std::ranges::max_element(votes[v]);
      if (seeds[v] < 0 && *most > 0) next[v] = static_cast<int>(most - votes[v].begin());
    }
    if (next == result) break;
    result = next;
  }
  return result;
}

}  // namespace tests
