// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The reader of each format of graphs. They share a builder, which checks vertices and lengths.

#include <cstddef>
#include <optional>
#include <ramify/graph_file.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>

#include "graph_lengths.hpp"
#include "text_file.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {

/// The text of a file, and where messages say that it comes from.
struct graph_text {
  const std::filesystem::path& path;
  std::string_view content;
};

/// Builds a list of edges, and checks its vertices, its lengths and its size.
class graph_builder {
 public:
  graph_builder(const graph_file_options& options, std::size_t first_vertex)
      : options_(options), lengths_(options.type), first_(first_vertex) {}

  /// Sets the numbers of vertices and edges that a line states. finish() compares the number of
  /// edges unless `has_zeros`: then it is a maximum. \throws bad_input
  void set_size(const text_line& line, std::size_t vertices, std::size_t edges,
                bool has_zeros = false);
  [[nodiscard]] bool has_size() const { return size_.has_value(); }
  [[nodiscard]] std::size_t stated_edges() const { return stated_edges_; }
  void make_undirected() { made_.list.is_undirected = true; }

  /// Adds an edge. An empty length is 1. Lengths are not read unless the options ask for them.
  /// \throws bad_input naming the vertex or the length
  void add(const text_line& line, std::size_t from, std::size_t to, std::string_view length = {});

  [[nodiscard]] const edge_list& list() const { return made_.list; }
  /// Returns the graph. \throws bad_input
  [[nodiscard]] graph_from_file finish(const graph_text& text, std::string format);

 private:
  /// Returns the number of vertices of a list of edges. \throws bad_input
  [[nodiscard]] std::size_t count_of_list(const std::filesystem::path& path) const;

  const graph_file_options& options_;
  length_reader lengths_;
  std::size_t first_;
  std::optional<std::size_t> size_{};
  std::size_t stated_edges_ = 0;
  bool has_zeros_ = false;
  std::size_t largest_ = 0;
  std::size_t line_of_largest_ = 0;
  std::string_view text_of_largest_{};  ///< in the text of the file
  std::size_t smallest_ = ~std::size_t{0};
  graph_from_file made_{};
};

/// Returns the format of a text. \throws bad_input for a text that may have two formats
[[nodiscard]] graph_format format_of(const graph_text& text);

/// Returns whether a line is a comment, or a text instead of one, that begins like the banner of a
/// Matrix Market file, apart from %, #, blanks and letter case. Only is_banner() is one.
[[nodiscard]] bool resembles_banner(std::string_view line);
/// Returns whether a line begins with %%MatrixMarket, in any letter case.
[[nodiscard]] bool is_banner(std::string_view line);

/// Returns whether a text is a METIS file: the first line states how many lines and words follow.
[[nodiscard]] bool may_be_metis(const graph_text& text);

/// The kind of a KONECT file, from its first line.
struct konect_header {
  bool is_undirected;
  bool has_lengths;  ///< the third column is a length; false: it counts edges
  std::string name;
};
/// Returns the header that a comment states, or none. \throws bad_input for a bipartite graph
[[nodiscard]] std::optional<konect_header> konect_header_of(const text_line& line);

/// Each function reads the text in one format. \throws bad_input
[[nodiscard]] graph_from_file read_edges(const graph_text&, const graph_file_options&);
[[nodiscard]] graph_from_file read_matrix_market(const graph_text&, const graph_file_options&);
[[nodiscard]] graph_from_file read_dimacs(const graph_text&, const graph_file_options&);
[[nodiscard]] graph_from_file read_konect(const graph_text&, const graph_file_options&);
[[nodiscard]] graph_from_file read_metis(const graph_text&, const graph_file_options&);

}  // namespace ramify::detail::files::inline RAMIFY_ABI
