// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reader of graphs in several text formats, also compressed by gzip.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "graphs.hpp"

namespace common {

enum class graph_format {
  automatic,      ///< from the first lines; a file that may have two formats is refused
  edges,          ///< one edge a line: two vertices and possibly a length or networkx's attributes
  matrix_market,  ///< each entry of a matrix is an edge from its row to its column
  dimacs,         ///< shortest paths: "p sp n m", then "a u v length" for each directed edge
  konect,         ///< "% sym unweighted", then two vertices, a weight and a time
  metis,          ///< "n m", then the neighbors of each vertex in a line
};

[[nodiscard]] constexpr std::string_view to_string(graph_format f) {
  return ramify::choice_name(f,
                             {"automatic", "edges", "matrix_market", "dimacs", "konect", "metis"});
}
/// Returns the format with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline graph_format parse_graph_format(std::string_view text) {
  return ramify::parse_choice<graph_format>("format", text);
}

/// How a graph is read.
struct graph_file_options {
  graph_format format = graph_format::automatic;
  /// Number of vertices of a list of edges; none: the largest vertex plus one. The other formats
  /// state their number, which must be the same.
  std::optional<std::size_t> vertices{};
  /// Number of the first vertex of a list of edges, 0 or 1; none: 0. In the other formats it is 1.
  std::optional<std::size_t> first_vertex{};
  bool is_undirected = false;  ///< each edge of the file stands for both directions
  /// false: values and lengths are not read, whatever they are, and edge_list::lengths is empty.
  bool has_lengths = false;
  length_type type = length_type::automatic;
};

/// A graph, and how it was read.
struct graph_from_file {
  edge_list list{};
  std::string format{};            ///< such as "Matrix Market coordinate real symmetric"
  std::size_t first_vertex = 0;    ///< the number of the first vertex in the file
  bool names_first_vertex = true;  ///< false: no edge names vertex 0 of a list of edges
  std::size_t rounded = 0;         ///< lengths that options.type changes
};

/// Reads a graph.
///
/// \throws bad_input for a file that cannot be read or decompressed, for a file that may have two
///         formats, and for the first malformed line, with its number
[[nodiscard]] graph_from_file read_graph(const std::filesystem::path& path,
                                         const graph_file_options& options);

}  // namespace common
