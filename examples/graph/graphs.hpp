// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graphs in host memory: generators, and compressed sparse rows.

#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <string_view>
#include <vector>

#include "graph_lengths.hpp"

namespace common {

enum class graph_kind {
  kronecker,  ///< as in Graph 500: few vertices have most of the edges
  uniform,    ///< both ends of each edge are random vertices
  grid,       ///< a square grid with holes: thousands of levels
};

[[nodiscard]] std::string_view to_string(graph_kind);
/// Returns the kind with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] graph_kind parse_graph_kind(std::string_view);

/// Returns the vertex that an array has at position v.
[[nodiscard]] inline std::int32_t vertex(std::size_t v) { return static_cast<std::int32_t>(v); }
/// Returns the position of a vertex in an array.
[[nodiscard]] inline std::size_t index(std::int32_t v) { return static_cast<std::size_t>(v); }

/// An edge of a list.
struct list_edge {
  std::int32_t from, to;
};

/// A list of edges, as files and generators produce it.
struct edge_list {
  std::size_t vertices = 0;
  bool is_undirected = false;  ///< an edge stands for both directions, a self-loop for one
  std::vector<list_edge> edges{};
  edge_lengths lengths{};  ///< of each edge, or empty
};

/// Returns a graph of 2^scale vertices with `factor` times as many undirected edges. A kronecker
/// graph uses the quadrants of Graph 500 (57, 19, 19, 5 percent) and permutes the vertices.
/// Lengths are uniform in [0, 1). The result depends only on the arguments.
[[nodiscard]] edge_list make_random_graph(graph_kind kind, unsigned scale, unsigned factor,
                                          std::uint64_t seed);

/// Returns a square grid with `side` vertices in each direction, of which about `holes` percent
/// have no edges. Lengths are uniform in [0, 1).
[[nodiscard]] edge_list make_grid(std::size_t side, unsigned holes, std::uint64_t seed);

/// Returns generated lengths, which are multiples of 2^-24 below 1, in another type: integers are
/// 2^24 times as long.
[[nodiscard]] edge_lengths in_type(const edge_lengths& lengths, length_type type);

/// A graph in compressed sparse rows, with its edges by source and, if it is directed, by target.
/// As in SciPy and networkx, a self-loop of an undirected graph is stored once, and any other edge
/// twice. A repeated edge is stored each time.
struct stored_graph {
  explicit stored_graph(const edge_list& list);

  [[nodiscard]] ramify::graph_view view() const;
  [[nodiscard]] std::size_t vertices() const { return offsets.size() - 1; }
  [[nodiscard]] std::int64_t degree(std::size_t v) const { return offsets[v + 1] - offsets[v]; }

  bool is_undirected;
  std::size_t loops;  ///< edges from a vertex to itself
  std::vector<std::int64_t> offsets{}, in_offsets{};
  std::vector<std::int32_t> targets{}, in_sources{};
  edge_lengths lengths{};  ///< in the order of `targets`, or empty
};

}  // namespace common
