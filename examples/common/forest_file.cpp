// SPDX-License-Identifier: BSD-3-Clause
#include "forest_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ramify/runtime/report.hpp>
#include <string>

#include "text_file.hpp"

namespace common {
namespace {

// ramify::rooted_tree() accepts forests whose largest node is at most this one.
constexpr std::int32_t largest_node = std::numeric_limits<std::int32_t>::max() - 2;

std::vector<std::int32_t> read_parents(const std::filesystem::path& path) {
  std::vector<std::int32_t> parents;
  for_each_line(path, [&](const text_line& line) {
    const auto parent = parse<std::int32_t>(line.text);
    if (!parent) line.reject("is neither a node nor -1");
    parents.push_back(*parent);
  });
  return parents;
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

/// Returns the parents of `nodes` nodes. Edge i is on line i + 1 of the file.
std::vector<std::int32_t> parents_of(const std::vector<edge>& edges, std::size_t nodes,
                                     const std::filesystem::path& path) {
  std::vector<std::int32_t> parents(nodes, -1);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    auto& known = parents[static_cast<std::size_t>(edges[i].child)];
    if (known != -1) {
      const std::string text =
          std::to_string(edges[i].parent) + ' ' + std::to_string(edges[i].child);
      text_line{path, i + 1, text}.reject("gives node " + std::to_string(edges[i].child) +
                                          " a second parent; it has " + std::to_string(known));
    }
    known = edges[i].parent;
  }
  return parents;
}

std::vector<std::int32_t> read_edges(const std::filesystem::path& path,
                                     std::optional<std::size_t> given) {
  std::vector<edge> edges;
  std::string largest;  // the message about the line with the largest number
  std::size_t nodes = 0;
  for_each_line(path, [&](const text_line& line) {
    const auto gap = std::min(line.text.find_first_of(" \t"), line.text.size());
    const auto parent = parse<std::int32_t>(line.text.substr(0, gap));
    const auto child = parse<std::int32_t>(trimmed(line.text.substr(gap)));
    const auto is_node = [](const auto& v) { return v && *v >= 0 && *v <= largest_node; };
    if (!is_node(parent) || !is_node(child)) line.reject("is not a parent and a child");
    edges.push_back({*parent, *child});
    const auto needed = static_cast<std::size_t>(std::max(*parent, *child)) + 1;
    if (given && needed > *given) {
      line.reject("names node " + std::to_string(needed - 1) + ", but --nodes is " +
                  std::to_string(*given));
    }
    if (needed <= nodes) return;
    nodes = needed;
    if (nodes - 1 > largest_of_edges(0)) largest = line.message("names node ");
  });
  if (!given && nodes > 0 && nodes - 1 > largest_of_edges(edges.size())) {
    throw bad_input(largest + std::to_string(nodes - 1) + ", but a file of " +
                    std::to_string(edges.size()) + " edges must number its nodes up to " +
                    std::to_string(largest_of_edges(edges.size())) +
                    " at most, unless --nodes states their number");
  }
  return parents_of(edges, given.value_or(nodes), path);
}

}  // namespace

std::string_view to_string(forest_format format) {
  return ramify::choice_name(format, {"parents", "edges"});
}

forest_format parse_forest_format(std::string_view text) {
  return ramify::parse_choice<forest_format>("format", text);
}

std::vector<std::int32_t> read_forest(const std::filesystem::path& path, forest_format format,
                                      std::optional<std::size_t> nodes) {
  return format == forest_format::parents ? read_parents(path) : read_edges(path, nodes);
}

void write_forest_table(std::ostream& out, std::span<const std::int32_t> parents,
                        const forest_numbers& numbers) {
  out << "node,parent,level,size,preorder,postorder\n";
  std::array<char, 128> text{};
  for (std::size_t v = 0; v < parents.size(); ++v) {
    char* end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
    for (const std::int32_t number : {parents[v], numbers.levels[v], numbers.subtree_sizes[v],
                                      numbers.preorder[v], numbers.postorder[v]}) {
      *end++ = ',';
      end = std::to_chars(end, text.data() + text.size(), number).ptr;
    }
    *end++ = '\n';
    out.write(text.data(), end - text.data());
  }
}

}  // namespace common
