// SPDX-License-Identifier: BSD-3-Clause
// Lists of edges: plain ones, those of networkx, and those of KONECT.
#include <algorithm>
#include <array>

#include "graph_formats.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {
namespace {

using word_list = std::array<std::string_view, 4>;

/// Returns the value of 'weight' in the attributes {...} of an edge, or an empty word.
std::string_view weight_in(const text_line& line, std::string_view attributes) {
  if (!attributes.ends_with('}')) line.reject("has attributes that do not end with }");
  attributes.remove_prefix(1);
  attributes.remove_suffix(1);
  for (const std::string_view name : {"'weight':", "\"weight\":"}) {
    const auto at = attributes.find(name);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = attributes.substr(at + name.size());
    const std::string_view value = trimmed(rest.substr(0, rest.find(',')));
    if (value.empty()) line.reject("has no value of 'weight'");
    return value;
  }
  return {};
}

/// Splits a line into two vertices and possibly a length. \throws bad_input
struct list_line {
  std::size_t from = 0, to = 0;
  std::string_view length{};
  std::size_t words = 0;

  explicit list_line(const text_line& line) {
    constexpr std::string_view expected =
        "is not two vertices and an optional length; see graph_file_options.format for others";
    text_line plain = line;
    const auto brace = line.text.find('{');
    plain.text = trimmed(line.text.substr(0, brace));
    if (brace != std::string_view::npos &&
        (plain.text.ends_with(',') || plain.text.ends_with(';'))) {
      plain.text = trimmed(plain.text.substr(0, plain.text.size() - 1));
    }
    word_list found;
    words = plain.split(found);
    const bool has_attributes = brace != std::string_view::npos;
    const bool are_vertices = words >= 2 && parse_number(found[0], from) == number_error::none &&
                              parse_number(found[1], to) == number_error::none;
    if (!are_vertices || words > (has_attributes ? 2 : 3)) {
      line.reject(are_vertices && words == 4 ? "is not two vertices and an optional length; "
                                               "graph_file_options.format konect reads four "
                                               "columns"
                                             : expected);
    }
    if (words == 3) length = found[2];
    if (has_attributes) length = weight_in(line, line.text.substr(brace));
  }
};

/// Notices a first line that may state the size of the graph: "n m" or "n n m".
class size_line {
 public:
  void visit(const text_line& line, const list_line& edge, std::size_t edges) {
    if (edges == 0) {
      std::size_t third = 0;
      const bool is_number = parse_number(edge.length, third) == number_error::none;
      const bool has_three = edge.words == 3 && edge.from == edge.to && is_number;
      if (edge.words == 2 || has_three) {
        vertices_ = edge.from;
        edges_ = has_three ? third : edge.to;
        message_ = line.message(
            "may be an edge, or the numbers of vertices and edges of the lines "
            "that follow; remove it, or give graph_file_options.format edges to read an edge");
      }
    } else {
      largest_ = std::max({largest_, edge.from, edge.to});
    }
  }
  /// Returns a message about the first line if it states the size of the rest, or an empty text.
  [[nodiscard]] std::string fault(std::size_t edges) const {
    return edges >= 2 && edges_ == edges - 1 && vertices_ >= largest_ ? message_ : std::string();
  }

 private:
  std::size_t vertices_ = 0;
  std::size_t edges_ = 0;
  std::size_t largest_ = 0;
  std::string message_{};
};

/// Returns the numbers of edges, and of vertices twice, that a comment of a KONECT file states, or
/// none.
std::optional<std::array<std::size_t, 3>> konect_size_of(const text_line& line) {
  text_line plain = line;
  plain.text = trimmed(line.text.substr(1));
  std::array<std::string_view, 3> words;
  std::array<std::size_t, 3> numbers{};
  const auto [count, fault] = plain.separate(words);
  if (count != words.size() || fault != nullptr) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (parse_number(words[i], numbers[i]) != number_error::none) return std::nullopt;
  }
  return numbers;
}

}  // namespace

graph_from_file read_edges(const graph_text& text, const graph_file_options& options) {
  const bool is_automatic = options.format == graph_format::automatic;
  graph_builder builder(options, options.first_vertex.value_or(0));
  size_line size;
  std::string name = "list of edges";
  for_each_line(text.path, text.content, [&](const text_line& line) {
    if (!line.has_data()) {
      if (is_automatic && resembles_banner(line.text)) {
        line.reject("resembles the banner of a Matrix Market file, which must be before all edges");
      }
      return;
    }
    const list_line edge(line);
    if (is_automatic) size.visit(line, edge, builder.list().edges.size());
    if (line.text.ends_with('}')) name = "list of edges with attributes of networkx";
    builder.add(line, edge.from, edge.to, edge.length);
  });
  if (is_automatic) {
    const std::string fault = size.fault(builder.list().edges.size());
    if (!fault.empty()) throw bad_input(fault);
  }
  return builder.finish(text, name);
}

std::optional<konect_header> konect_header_of(const text_line& line) {
  text_line plain = line;
  plain.text = trimmed(line.text.substr(1));
  std::array<std::string_view, 2> words;
  const auto [count, fault] = plain.separate(words);
  if (count != words.size() || fault != nullptr) return std::nullopt;
  const auto [kind, weights] = words;
  const bool is_kind = kind == "sym" || kind == "asym" || kind == "bip";
  constexpr std::array with_lengths{"weighted",         "posweighted", "multiweighted",
                                    "multiposweighted", "signed",      "multisigned"};
  constexpr std::array without{"unweighted", "positive", "dynamic"};
  const bool has_lengths = std::ranges::find(with_lengths, weights) != with_lengths.end();
  const bool is_weights = has_lengths || std::ranges::find(without, weights) != without.end();
  if (!is_kind || !is_weights) return std::nullopt;
  if (kind == "bip") {
    line.reject(
        "is the header of a bipartite KONECT graph, whose two sides are numbered "
        "separately; number them in one sequence");
  }
  return konect_header{kind == "sym", has_lengths, "KONECT " + std::string(plain.text)};
}

graph_from_file read_konect(const graph_text& text, const graph_file_options& options) {
  graph_builder builder(options, 1);
  std::optional<konect_header> header;
  bool has_edges = false;
  for_each_line(text.path, text.content, [&](const text_line& line) {
    if (!line.has_data()) {
      if (!line.text.starts_with('%')) return;
      if (!header) {
        header = konect_header_of(line);
      } else if (!builder.has_size() && !has_edges) {
        if (const auto size = konect_size_of(line)) {
          builder.set_size(line, std::max((*size)[1], (*size)[2]), (*size)[0]);
        }
      }
      return;
    }
    if (!header) {
      line.reject("is not after the header of a KONECT file, such as '% sym unweighted'");
    }
    if (!has_edges && header->is_undirected) builder.make_undirected();
    has_edges = true;
    word_list words;
    std::size_t from = 0;
    std::size_t to = 0;
    const std::size_t count = line.split(words);
    if (count < 2 || count > 4 || parse_number(words[0], from) != number_error::none ||
        parse_number(words[1], to) != number_error::none) {
      line.reject("is not two vertices, and possibly a weight and a time");
    }
    if (count > 3) (void)line.parse_finite("time", words[3]);
    builder.add(line, from, to, count > 2 && header->has_lengths ? words[2] : std::string_view());
  });
  if (!header) throw bad_input(name_of_input(text.path) + " has no header of a KONECT file");
  if (header->is_undirected) builder.make_undirected();
  return builder.finish(text, header->name);
}

}  // namespace ramify::detail::files::inline RAMIFY_ABI
