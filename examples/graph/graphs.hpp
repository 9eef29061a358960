// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Generators of graphs in host memory.

#include <cstddef>
#include <cstdint>
#include <ramify/graph_file.hpp>
#include <string_view>
#include <vector>

namespace common {

using ramify::edge_list;
using ramify::length_type;
using ramify::list_edge;
using ramify::stored_graph;
using edge_lengths = ramify::graph_lengths;

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

}  // namespace common
