// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reads graphs from text files, and stores them in compressed sparse rows. Plain C++, compiled in
/// ramify::graph_files.
///
///     # from, to                       %%MatrixMarket matrix coordinate real symmetric
///     0 1                              4 4 3
///     0 2                              2 1 0.5
///     3 0                              ...
///
///     const auto file = ramify::read_graph("soc-LiveJournal1.txt");          // a list of SNAP
///     const ramify::stored_graph graph(file.list);
///     ramify::breadth_first_search(graph.view(), 0, {.levels = levels});
///
///     const auto matrix = ramify::read_graph("bcsstk01.mtx", {.has_lengths = true});
///
/// Formats   lists of edges as those of SNAP and of networkx, Matrix Market, the DIMACS challenge
///           on shortest paths, KONECT, METIS. By default the first lines of the file decide.
/// Text      UTF-8, not compressed. Lines that begin with # or % are comments.
/// Errors    bad_input. The message begins "file, line 3: 'text of the line'" and states what is
///           wrong with it. A field of graph_file_options that could help is named.
/// Cost      O(n + m) time. The text of the file and the list are in memory together.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The type in which the lengths of edges are stored.
enum class length_type {
  automatic,         ///< float, 64-bit integers or double: the first that holds all lengths and,
                     ///< if all lengths are whole numbers, all distances
  single_precision,  ///< float
  double_precision,  ///< double
  integer,           ///< 64-bit integers without a sign
};

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(length_type t) {
  return choice_name(t, {"automatic", "float", "double", "integer"});
}
/// Returns the type with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline length_type parse_length_type(std::string_view text) {
  return parse_choice<length_type>("type", text);
}

/// The lengths of all edges, or of none.
using graph_lengths =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint64_t>>;

/// An edge of a list.
struct list_edge {
  std::int32_t from;  ///< the vertex at which the edge begins
  std::int32_t to;    ///< the vertex at which the edge ends
};

/// A list of edges, as files and generators produce it.
struct edge_list {
  std::size_t vertices = 0;        ///< number of vertices
  bool is_undirected = false;      ///< an edge stands for both directions, a self-loop for one
  std::vector<list_edge> edges{};  ///< all edges
  graph_lengths lengths{};         ///< of each edge, or empty
};

/// A graph in compressed sparse rows, with its edges by source and, if it is directed, by target.
/// As in SciPy and networkx, a self-loop of an undirected graph is stored once, and any other edge
/// twice. A repeated edge is stored each time.
struct stored_graph {
  /// \throws std::invalid_argument for an edge or a number of lengths that the list must not have
  explicit stored_graph(const edge_list& list);

  /// Returns the graph without its lengths. It must outlive the view.
  [[nodiscard]] graph_view view() const;
  /// Returns the number of vertices.
  [[nodiscard]] std::size_t vertices() const { return offsets.size() - 1; }
  /// Returns the number of edges that begin at v.
  [[nodiscard]] std::int64_t degree(std::size_t v) const { return offsets[v + 1] - offsets[v]; }

  bool is_undirected;                      ///< whether each edge exists in both directions
  std::size_t loops;                       ///< edges from a vertex to itself
  std::vector<std::int64_t> offsets{};     ///< as in graph_view
  std::vector<std::int64_t> in_offsets{};  ///< as in graph_view; empty if undirected
  std::vector<std::int32_t> targets{};     ///< as in graph_view
  std::vector<std::int32_t> in_sources{};  ///< as in graph_view; empty if undirected
  graph_lengths lengths{};                 ///< in the order of `targets`, or empty
};

/// The format of a file.
enum class graph_format {
  automatic,      ///< from the first lines; a file that may have two formats is refused
  edges,          ///< one edge a line: two vertices and possibly a length or networkx's attributes
  matrix_market,  ///< each entry of a matrix is an edge from its row to its column
  dimacs,         ///< shortest paths: "p sp n m", then "a u v length" for each directed edge
  konect,         ///< "% sym unweighted", then two vertices, a weight and a time
  metis,          ///< "n m", then the neighbors of each vertex in a line
};

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(graph_format f) {
  return choice_name(f, {"automatic", "edges", "matrix_market", "dimacs", "konect", "metis"});
}
/// Returns the format with that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline graph_format parse_graph_format(std::string_view text) {
  return parse_choice<graph_format>("format", text);
}

/// How a graph is read.
struct graph_file_options {
  graph_format format = graph_format::automatic;  ///< of the file
  /// Number of vertices of a list of edges; none: the largest vertex plus one. The other formats
  /// state their number, which must be the same.
  std::optional<std::size_t> vertices{};
  /// Number of the first vertex of a list of edges, 0 or 1; none: 0. In the other formats it is 1.
  std::optional<std::size_t> first_vertex{};
  bool is_undirected = false;  ///< each edge of the file stands for both directions
  /// false: values and lengths are not read, whatever they are, and edge_list::lengths is empty.
  bool has_lengths = false;
  length_type type = length_type::automatic;  ///< of the lengths
};

/// A graph, and how it was read.
struct graph_from_file {
  edge_list list{};                ///< the edges
  std::string format{};            ///< such as "Matrix Market coordinate real symmetric"
  std::size_t first_vertex = 0;    ///< the number of the first vertex in the file
  bool names_first_vertex = true;  ///< false: no edge names vertex 0 of a list of edges
  std::size_t rounded = 0;         ///< lengths that options.type changes
};

/// Reads a graph from a file, or from standard input if the path is "-".
/// \throws bad_input for a file that cannot be read, is compressed or may have two formats, and for
///         the first malformed line, with its number
[[nodiscard]] graph_from_file read_graph(const std::filesystem::path& path,
                                         const graph_file_options& options = {});

/// Reads a graph from the text of a file. `path` is its name in messages.
/// \throws bad_input as read_graph() does
[[nodiscard]] graph_from_file read_graph_text(const std::filesystem::path& path,
                                              std::string_view content,
                                              const graph_file_options& options = {});

}  // namespace ramify::inline RAMIFY_ABI
