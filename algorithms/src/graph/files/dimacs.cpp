// SPDX-License-Identifier: BSD-3-Clause
// Files of the DIMACS challenge on shortest paths, and of METIS.
#include <algorithm>
#include <array>
#include <vector>

#include "graph_formats.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

/// Returns whether a line of a METIS file is a comment. An empty line may be that of a vertex.
bool is_metis_comment(const text_line& line) { return !line.text.empty() && !line.has_data(); }

/// The first line of a METIS file: "n m", then possibly three digits for sizes of vertices, weights
/// of vertices and weights of edges, and the number of weights of a vertex.
struct metis_header {
  std::size_t vertices = 0, edges = 0;
  std::size_t per_vertex = 0;  ///< words before the neighbors of a vertex
  bool has_lengths = false;    ///< a weight follows each neighbor

  /// Reads the line. Returns whether it is such a line.
  bool read(const text_line& line) {
    std::array<std::string_view, 4> words;
    const auto [count, fault] = line.separate(words);
    if (count < 2 || count > words.size() || fault != nullptr) return false;
    std::array<std::size_t, 4> numbers{0, 0, 0, 1};
    for (std::size_t i = 0; i < count; ++i) {
      if (parse_number(words[i], numbers[i]) != number_error::none) return false;
    }
    const std::string_view format = count > 2 ? words[2] : "0";
    if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) return false;
    const auto digit = [&](std::size_t from_right) {
      return format.size() >= from_right && format[format.size() - from_right] == '1';
    };
    vertices = numbers[0];
    edges = numbers[1];
    per_vertex = (digit(3) ? 1 : 0) + (digit(2) ? numbers[3] : 0);
    has_lengths = digit(1);
    return true;
  }
};

/// An edge as METIS lists it, once at each end.
struct metis_edge {
  std::size_t from, to;
  std::string_view length;
  friend auto operator<=>(const metis_edge&, const metis_edge&) = default;
};

/// Returns an edge without a partner in the other direction, or null. Sorts the edges.
const metis_edge* lone_edge(std::vector<metis_edge>& edges) {
  std::vector<metis_edge> reversed = edges;
  for (metis_edge& e : reversed) std::swap(e.from, e.to);
  std::ranges::sort(edges);
  std::ranges::sort(reversed);
  const auto differs = std::ranges::mismatch(edges, reversed);
  return differs.in1 == edges.end() ? nullptr : &*differs.in1;
}

}  // namespace

bool may_be_metis(const graph_text& text) {
  metis_header header;
  bool has_header = false;
  bool is_metis = true;
  bool is_list = true;  // each line also has the two or three words of a list of edges
  std::size_t lines = 0;
  std::size_t words = 0;
  std::size_t first_number = 0;
  std::string_view first_text;
  for_each_line(text.path, text.content, [&](const text_line& line) {
    if (is_metis_comment(line) || !is_metis) return;
    if (!has_header) {
      if (line.text.empty()) return;
      first_number = line.number;
      first_text = line.text;
      has_header = true;
      is_metis = header.read(line) && header.edges > 0;
      return;
    }
    if (lines == header.vertices && line.text.empty()) return;  // at the end
    if (line.separate({}).fault != nullptr) {
      is_metis = false;
      return;
    }
    const std::vector<std::string_view> found = line.words();
    ++lines;
    words += found.size();
    if (lines > header.vertices) is_metis = false;
    const bool has_neighbors_only = header.per_vertex == 0 && !header.has_lengths;
    for (const std::string_view word : found) {
      std::size_t v = 0;
      if (parse_number(word, v) != number_error::none) is_metis = false;
      const bool is_neighbor = v >= 1 && v <= header.vertices && v != lines;
      if (has_neighbors_only && !is_neighbor) is_metis = false;
    }
    if (!found.empty() && found.size() != 2 && found.size() != 3) is_list = false;
  });
  const std::size_t expected =
      header.vertices * header.per_vertex + 2 * header.edges * (header.has_lengths ? 2 : 1);
  if (!is_metis || !has_header || lines != header.vertices || words != expected) return false;
  if (is_list) {
    const text_line first{text.path, first_number, first_text};
    first.reject(
        "begins a METIS file or a list of edges; give graph_file_options.format metis or "
        "graph_file_options.format edges");
  }
  return true;
}

graph_from_file read_metis(const graph_text& text, const graph_file_options& options) {
  graph_builder builder(options, 1);
  builder.make_undirected();
  metis_header header;
  std::vector<metis_edge> edges;
  std::vector<std::size_t> line_of;
  std::size_t vertex = 0;
  for_each_line(text.path, text.content, [&](const text_line& line) {
    if (is_metis_comment(line)) return;
    if (!builder.has_size()) {
      if (line.text.empty()) return;
      if (!header.read(line)) line.reject("is not the numbers of vertices and edges of METIS");
      return builder.set_size(line, header.vertices, header.edges);
    }
    if (vertex == header.vertices && line.text.empty()) return;
    if (++vertex > header.vertices) line.reject("is after the line of the last vertex");
    const auto words = line.words();
    const std::size_t step = header.has_lengths ? 2 : 1;
    if (words.size() < header.per_vertex || (words.size() - header.per_vertex) % step != 0) {
      line.reject("is not the weights and the neighbors of a vertex");
    }
    line_of.push_back(line.number);
    for (std::size_t i = header.per_vertex; i < words.size(); i += step) {
      const auto neighbor = line.parse_word<std::size_t>("neighbor", words[i]);
      if (neighbor == vertex)
        line.reject("has vertex " + std::to_string(vertex) + " as its own neighbor");
      const std::string_view length = header.has_lengths ? words[i + 1] : std::string_view();
      if (vertex < neighbor || neighbor == 0) builder.add(line, vertex, neighbor, length);
      edges.push_back({vertex, neighbor, length});
    }
  });
  const std::string name = name_of_input(text.path);
  if (!builder.has_size())
    throw bad_input(name + " has no line with the numbers of vertices and edges");
  if (vertex != header.vertices) {
    throw bad_input(name + " has lines of " + counted(vertex, "vertex", "vertices") +
                    "; its first line states " + std::to_string(header.vertices));
  }
  if (const metis_edge* const lone = lone_edge(edges)) {
    throw bad_input(name + ", line " + std::to_string(line_of[lone->from - 1]) +
                    ": the edge from " + std::to_string(lone->from) + " to " +
                    std::to_string(lone->to) + " is not in the line of vertex " +
                    std::to_string(lone->to) + " with the same length");
  }
  return builder.finish(text, "METIS");
}

graph_from_file read_dimacs(const graph_text& text, const graph_file_options& options) {
  graph_builder builder(options, 1);
  for_each_line(text.path, text.content, [&](const text_line& line) {
    const std::string_view first = line.text.substr(0, line.text.find_first_of(" \t"));
    if (first == "c" || !line.has_data()) return;
    const auto words = line.words();
    if (words[0] == "p") {
      if (builder.has_size()) line.reject("is a second line of the problem");
      if (words.size() != 4 || words[1] != "sp") {
        line.reject("is not the problem 'p sp vertices edges' of shortest paths");
      }
      const auto vertices = line.parse_word<std::size_t>("number of vertices", words[2]);
      return builder.set_size(line, vertices,
                              line.parse_word<std::size_t>("number of edges", words[3]));
    }
    if (!builder.has_size()) line.reject("is before the problem 'p sp vertices edges'");
    if (words.size() != 4 || words[0] != "a") {
      line.reject("is not an edge 'a from to length'");
    }
    const auto from = line.parse_word<std::size_t>("vertex", words[1]);
    builder.add(line, from, line.parse_word<std::size_t>("vertex", words[2]), words[3]);
  });
  if (!builder.has_size()) {
    throw bad_input(name_of_input(text.path) + " has no line 'p sp vertices edges'");
  }
  return builder.finish(text, "DIMACS shortest paths");
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
