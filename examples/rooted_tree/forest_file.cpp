// SPDX-License-Identifier: BSD-3-Clause
#include "forest_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ramify/runtime/report.hpp>
#include <string>

#include "common/text_file.hpp"

namespace common {
namespace {

// ramify::rooted_tree() accepts forests whose largest node is at most this one.
constexpr std::int32_t largest_node = std::numeric_limits<std::int32_t>::max() - 2;

// Returns the text of a message about a node that is its own parent.
std::string own_parent(std::int32_t node) {
  return "makes node " + std::to_string(node) +
         " its own parent; --own-parents accepts this for a root, whose parent is -1 otherwise";
}

std::vector<std::int32_t> read_parents(const std::filesystem::path& path,
                                       const forest_notation& notation) {
  std::vector<std::int32_t> parents;
  std::int32_t largest = -1;
  std::string message;  // about the line with the largest number
  for_each_data_line(path, [&](const text_line& line) {
    std::array<std::string_view, 1> word;
    std::int32_t parent = 0;
    if (line.split(word) != 1 || parse_number(word[0], parent) != number_error::none ||
        parent < -1 || parent > largest_node) {
      line.reject("is neither a node nor -1");
    }
    const auto node = static_cast<std::int32_t>(parents.size()) + notation.first_node;
    if (parent == node && !notation.own_parents) {
      line.reject(own_parent(node) + (notation.first_node == 0
                                          ? ", and --first-node 1 numbers nodes "
                                            "from 1"
                                          : ""));
    }
    const bool is_root = parent < notation.first_node || parent == node;
    parents.push_back(is_root ? -1 : parent - notation.first_node);
    if (parents.back() <= largest) return;
    largest = parents.back();
    message = line.message("names node " + std::to_string(parent));
  });
  const auto nodes = static_cast<std::int32_t>(parents.size());
  if (largest < nodes) return parents;
  const bool from_1 = notation.first_node == 0 && largest == nodes;
  throw bad_input(message + ", but the file has " + std::to_string(nodes) +
                  " nodes, numbered from " + std::to_string(notation.first_node) +
                  (from_1 ? "; --first-node 1 numbers them from 1" : ""));
}

// Returns the largest number that a node of a file with so many edges may have, unless the number
// of nodes is given. Memory is proportional to the largest number, so without this limit a short
// file could take gigabytes.
std::size_t largest_of_edges(std::size_t edges) {
  constexpr std::size_t nodes_per_edge = 64;
  constexpr std::size_t always_allowed = std::size_t{1} << 20;
  return std::min<std::size_t>(std::max(always_allowed, nodes_per_edge * edges), largest_node);
}

struct edge {
  std::int32_t parent, child;
};

/// Returns the parents of `nodes` nodes. A node that is its own parent is a root.
std::vector<std::int32_t> parents_of(const std::vector<edge>& edges, const line_numbers& lines,
                                     std::size_t nodes, std::int32_t first,
                                     const std::filesystem::path& path) {
  constexpr std::int32_t unknown = -2;
  std::vector<std::int32_t> parents(nodes, unknown);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto [parent, child] = edges[i];
    auto& known = parents[static_cast<std::size_t>(child)];
    if (known != unknown) {
      const std::string text = std::to_string(parent + first) + ' ' + std::to_string(child + first);
      text_line{path, lines[i], text}.reject("gives node " + std::to_string(child + first) +
                                             " a second parent; it has " +
                                             std::to_string((known == -1 ? child : known) + first));
    }
    known = parent == child ? -1 : parent;
  }
  std::ranges::replace(parents, unknown, -1);
  return parents;
}

std::vector<std::int32_t> read_edges(const std::filesystem::path& path,
                                     const forest_notation& notation) {
  const std::int32_t first = notation.first_node;
  std::vector<edge> edges;
  line_numbers lines;
  std::string largest;  // the message about the line with the largest number
  std::size_t nodes = 0;
  for_each_data_line(path, [&](const text_line& line) {
    std::array<std::string_view, 2> words;
    std::int32_t parent = 0;
    std::int32_t child = 0;
    const auto is_node = [&](std::string_view word, std::int32_t& node) {
      return parse_number(word, node) == number_error::none && node >= first &&
             node <= largest_node;
    };
    if (line.split(words) != 2 || !is_node(words[0], parent) || !is_node(words[1], child)) {
      line.reject("is not a parent and a child" +
                  std::string(first == 0 ? "" : ", which are numbered from 1"));
    }
    if (parent == child && !notation.own_parents) line.reject(own_parent(child));
    edges.push_back({parent - first, child - first});
    lines.add(line.number);
    const std::int32_t larger = std::max(parent, child);
    const auto needed = static_cast<std::size_t>(larger - first) + 1;
    if (notation.nodes && needed > *notation.nodes) {
      line.reject("names node " + std::to_string(larger) + ", but --nodes is " +
                  std::to_string(*notation.nodes));
    }
    if (needed <= nodes) return;
    nodes = needed;
    if (nodes - 1 > largest_of_edges(0)) {
      largest = line.message("names node " + std::to_string(larger));
    }
  });
  const std::size_t count = edges.size();
  if (!notation.nodes && nodes > 0 && nodes - 1 > largest_of_edges(count)) {
    throw bad_input(largest + ", but a file of " + counted(count, "edge") +
                    " must number its nodes up to " + std::to_string(largest_of_edges(count)) +
                    " at most, unless --nodes states their number");
  }
  return parents_of(edges, lines, notation.nodes.value_or(nodes), first, path);
}

}  // namespace

std::string_view to_string(forest_format format) {
  return ramify::choice_name(format, {"parents", "edges"});
}

forest_format parse_forest_format(std::string_view text) {
  return ramify::parse_choice<forest_format>("format", text);
}

std::vector<std::int32_t> read_forest(const std::filesystem::path& path,
                                      const forest_notation& notation) {
  return notation.format == forest_format::parents ? read_parents(path, notation)
                                                   : read_edges(path, notation);
}

void write_forest_table(std::ostream& out, std::span<const std::int32_t> parents,
                        const forest_numbers& numbers, std::int32_t first_node) {
  out << "node,parent,level,size,preorder,postorder\n";
  std::array<char, 128> text{};
  for (std::size_t v = 0; v < parents.size(); ++v) {
    char* end = std::to_chars(text.data(), text.data() + text.size(),
                              v + static_cast<std::size_t>(first_node))
                    .ptr;
    const std::int32_t parent = parents[v] == -1 ? -1 : parents[v] + first_node;
    for (const std::int32_t number : {parent, numbers.levels[v], numbers.subtree_sizes[v],
                                      numbers.preorder[v], numbers.postorder[v]}) {
      *end++ = ',';
      end = std::to_chars(end, text.data() + text.size(), number).ptr;
    }
    *end++ = '\n';
    out.write(text.data(), end - text.data());
  }
}

}  // namespace common
