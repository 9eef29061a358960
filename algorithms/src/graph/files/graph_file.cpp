// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <ramify/graph_file.hpp>
#include <utility>

#include "graph_formats.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

constexpr std::size_t most_vertices = max_graph_vertices;

/// Returns the maximum number of vertices for a number of edges, if graph_file_options.vertices
/// does not state it. Memory is proportional to the vertices, so without a limit a short file could
/// take gigabytes.
std::size_t most_for(std::size_t edges) {
  constexpr std::size_t always_allowed = std::size_t{1} << 20;
  return std::max(always_allowed, 64 * std::min(edges, most_vertices));
}

}  // namespace

void graph_builder::set_size(const text_line& line, std::size_t vertices, std::size_t edges,
                             bool has_zeros) {
  if (vertices > most_vertices) {
    line.reject("has more than " + std::to_string(most_vertices) + " vertices");
  }
  if (options_.vertices && *options_.vertices != vertices) {
    line.reject("states another number of vertices than graph_file_options.vertices, " +
                std::to_string(*options_.vertices));
  }
  if (!options_.vertices && vertices > most_for(edges)) {
    line.reject("states " + std::to_string(vertices) + " vertices, but a file of " +
                counted(edges, "edge") + " may have " + std::to_string(most_for(edges)) +
                " at most, unless graph_file_options.vertices states their number");
  }
  size_ = vertices;
  stated_edges_ = edges;
  has_zeros_ = has_zeros;
}

void graph_builder::add(const text_line& line, std::size_t from, std::size_t to,
                        std::string_view length) {
  const std::size_t most = size_ ? *size_ : options_.vertices.value_or(most_vertices);
  for (const std::size_t v : {from, to}) {
    if (v < first_ || v - first_ >= most) {
      line.reject("names vertex " + std::to_string(v) + "; it must be in [" +
                  std::to_string(first_) + ", " + std::to_string(most + first_) + ")");
    }
  }
  if (options_.has_lengths) {
    if (length.empty()) {
      lengths_.add_one();
    } else {
      lengths_.add(line, length);
    }
  }
  if (std::max(from, to) > largest_) {
    largest_ = std::max(from, to);
    line_of_largest_ = line.number;
    text_of_largest_ = line.text;
  }
  smallest_ = std::min({smallest_, from, to});
  made_.list.edges.push_back(
      {static_cast<std::int32_t>(from - first_), static_cast<std::int32_t>(to - first_)});
}

std::size_t graph_builder::count_of_list(const std::filesystem::path& path) const {
  if (options_.vertices) return *options_.vertices;
  const std::size_t edges = made_.list.edges.size();
  const std::size_t most = most_for(edges);
  if (edges == 0) return 0;
  if (largest_ - first_ >= most) {
    text_line{path, line_of_largest_, text_of_largest_}.reject(
        "names vertex " + std::to_string(largest_) + ", but a file of " + counted(edges, "edge") +
        " must name vertices below " + std::to_string(most + first_) +
        ", unless graph_file_options.vertices states their number");
  }
  return largest_ - first_ + 1;
}

graph_from_file graph_builder::finish(const graph_text& text, std::string format) {
  const std::string name = name_of_input(text.path);
  edge_list& list = made_.list;
  if (size_ && !has_zeros_ && list.edges.size() != stated_edges_) {
    throw bad_input(name + " has " + counted(list.edges.size(), "edge") + "; its size states " +
                    std::to_string(stated_edges_));
  }
  list.vertices = size_ ? *size_ : count_of_list(text.path);
  list.is_undirected = list.is_undirected || options_.is_undirected;
  if (options_.has_lengths) list.lengths = lengths_.finish(list.vertices);
  made_.rounded = lengths_.rounded();
  made_.format = std::move(format);
  made_.first_vertex = first_;
  made_.names_first_vertex = size_ || list.edges.empty() || smallest_ == first_;
  return std::move(made_);
}

bool is_banner(std::string_view line) {
  constexpr std::string_view banner = "%%matrixmarket";
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  return line.size() >= banner.size() &&
         std::ranges::equal(line.substr(0, banner.size()), banner, is_same);
}

bool resembles_banner(std::string_view line) {
  std::string letters = "%%";
  for (const char c : line) {
    const bool is_left_out = c == ' ' || c == '\t' || c == '%' || c == '#' || c == '_' || c == '-';
    if (!is_left_out) letters += c;
    if (letters.size() == 16) break;
  }
  return is_banner(letters);
}

graph_format format_of(const graph_text& text) {
  graph_format format = graph_format::automatic;
  for_each_line(text.path, text.content, [&](const text_line& line) {
    if (format != graph_format::automatic || line.text.empty()) return;
    if (is_banner(line.text)) {
      format = graph_format::matrix_market;
    } else if (resembles_banner(line.text)) {
      line.reject(
          "resembles the banner of a Matrix Market file, which begins with "
          "%%MatrixMarket; correct it, or give graph_file_options.format");
    } else if (line.text.front() == '%' && konect_header_of(line)) {
      format = graph_format::konect;
    } else if (line.has_data()) {
      const std::string_view first = line.text.substr(0, line.text.find_first_of(" \t"));
      format = first == "c" || first == "p" || first == "a" ? graph_format::dimacs
               : may_be_metis(text)                         ? graph_format::metis
                                                            : graph_format::edges;
    }
  });
  return format == graph_format::automatic ? graph_format::edges : format;
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

graph_from_file read_graph(const std::filesystem::path& path, const graph_file_options& options) {
  return read_graph_text(path, detail::files::read_whole_file(path), options);
}

graph_from_file read_graph_text(const std::filesystem::path& path, std::string_view content,
                                const graph_file_options& options) {
  using namespace detail::files;
  if (content.starts_with("\x1f\x8b")) {
    throw bad_input(name_of_input(path) + " is compressed by gzip; decompress it first");
  }
  const graph_text text{path, content};
  const graph_format format =
      options.format == graph_format::automatic ? format_of(text) : options.format;
  if (format != graph_format::edges && options.first_vertex.value_or(1) != 1) {
    throw bad_input(name_of_input(path) + ": a file of the format " +
                    std::string(to_string(format)) +
                    " has vertices from 1 on, but graph_file_options.first_vertex "
                    "is 0");
  }
  switch (format) {
    case graph_format::matrix_market: return read_matrix_market(text, options);
    case graph_format::dimacs: return read_dimacs(text, options);
    case graph_format::konect: return read_konect(text, options);
    case graph_format::metis: return read_metis(text, options);
    default: return read_edges(text, options);
  }
}

}  // namespace ramify::inline RAMIFY_ABI
