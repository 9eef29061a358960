// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graphs in host memory: generators, compressed sparse rows, and serial checks of results.

#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace common {

enum class graph_kind {
  kronecker,  ///< as in Graph 500: few vertices have most of the edges
  uniform,    ///< both ends of each edge are random vertices
  grid,       ///< a square grid with holes: thousands of levels
};

[[nodiscard]] std::string_view to_string(graph_kind);
/// Returns the kind with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] graph_kind parse_graph_kind(std::string_view);

/// An edge of a list, with its length.
struct list_edge {
  std::int32_t from, to;
  float length;
};

/// A list of edges, as files and generators produce it.
struct edge_list {
  std::size_t vertices = 0;
  bool is_undirected = false;  ///< an edge stands for both directions
  std::vector<list_edge> edges{};
};

/// Returns a graph of 2^scale vertices with `factor` times as many undirected edges. A kronecker
/// graph uses the quadrants of Graph 500 (57, 19, 19, 5 percent) and permutes the vertices.
/// Lengths are uniform in [0, 1). The result depends only on the arguments.
[[nodiscard]] edge_list make_random_graph(graph_kind kind, unsigned scale, unsigned factor,
                                          std::uint64_t seed);

/// Returns a square grid with `side` vertices in each direction, of which about `holes` percent
/// have no edges. Lengths are uniform in [0, 1).
[[nodiscard]] edge_list make_grid(std::size_t side, unsigned holes, std::uint64_t seed);

/// A graph in compressed sparse rows, with its edges by source and, if it is directed, by target.
struct stored_graph {
  explicit stored_graph(const edge_list& list);

  [[nodiscard]] ramify::graph_view view() const;
  [[nodiscard]] std::size_t vertices() const { return offsets.size() - 1; }
  [[nodiscard]] std::int64_t degree(std::size_t v) const { return offsets[v + 1] - offsets[v]; }

  bool is_undirected;
  std::vector<std::int64_t> offsets{}, in_offsets{};
  std::vector<std::int32_t> targets{}, in_sources{};
  std::vector<float> lengths{};  ///< in the order of `targets`
};

/// Checks a breadth-first search as Graph 500 does: (1) parents lead to the source, (2) along
/// parents levels differ by one, (3) along each edge levels differ by at most one, in a directed
/// graph in its direction, (4) exactly the vertices that the source reaches have levels, (5) a
/// parent and its child are joined by an edge. Returns a fault, or an empty string.
[[nodiscard]] std::string search_fault(const stored_graph& graph, std::int32_t source,
                                       std::span<const std::int32_t> levels,
                                       std::span<const std::int32_t> parents);

/// Checks shortest paths in the same way: no edge makes a path shorter, and the distance of each
/// vertex is its parent's distance plus the length of an edge. Returns a fault, or an empty string.
[[nodiscard]] std::string paths_fault(const stored_graph& graph, std::int32_t source,
                                      std::span<const float> distances,
                                      std::span<const std::int32_t> parents);

/// Compares components with a serial union and find. Returns the first fault, or an empty string.
[[nodiscard]] std::string components_fault(const stored_graph& graph,
                                           std::span<const std::int32_t> components);

/// Compares ranks with as many iterations of a serial PageRank. Returns the first fault, or an
/// empty string.
[[nodiscard]] std::string ranks_fault(const stored_graph& graph, double damping,
                                      std::uint64_t iterations, std::span<const double> ranks);

}  // namespace common
