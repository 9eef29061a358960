// SPDX-License-Identifier: BSD-3-Clause
// Writes the launch tree in Graphviz's DOT language.
#include <map>
#include <ramify/runtime/detail/counted.hpp>
#include <tuple>
#include <vector>

#include "writing.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

using detail::runtime::counted;

/// The styles of edges, by launch_stream. They differ in line style, not only in color.
constexpr std::array<std::string_view, 5> styles{"color=\"#5f6b7a\"", "color=\"#2563c9\"",
                                                 "color=\"#8745c9\", style=dashed",
                                                 "color=\"#c8580a\", style=dotted, penwidth=1.6",
                                                 "color=\"#0b8a74\", style=bold, arrowhead=vee"};
std::string_view style_of(launch_stream s) { return styles.at(std::size_t(s)); }

/// Returns the text as a quoted DOT string. A line break in it is a line break in the picture.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // SVG allows no control characters
    }
  }
  return result + '"';
}

/// Returns the text with invalid UTF-8 replaced.
std::string utf8(const std::string& text) {
  return nlohmann::json::parse(json_text(text)).get<std::string>();
}

/// The children of one grid that are drawn alike.
struct sibling_group {
  std::size_t seen = 0;
  std::size_t rest = traced_grid::no_grid;  ///< the first grid that the folded node stands for
  std::size_t folded = 0;                   ///< number of grids that the folded node stands for
  std::size_t below = 0;                    ///< number of their descendants
};

/// The key of a sibling_group: parent, kernel, blocks, threads, stream, whether it has launched.
using group_key = std::tuple<std::size_t, std::string_view, std::array<std::uint32_t, 3>,
                             std::array<std::uint32_t, 3>, launch_stream, bool>;

class dot_writer {
 public:
  dot_writer(std::ostream& out, const launch_trace& trace, std::size_t max_children)
      : out_(out), trace_(trace), max_children_(max_children) {}

  void write() {
    std::vector<std::map<group_key, sibling_group>::iterator> folded_into(trace_.grids.size(),
                                                                          groups_.end());
    std::array<bool, styles.size()> used{};
    std::vector<bool> has_launched(trace_.grids.size());
    for (std::size_t i = 0; i < trace_.grids.size(); ++i) {
      const std::size_t parent = parent_of(trace_, i);
      if (parent != traced_grid::no_grid) has_launched[parent] = true;
    }
    out_ << "// " << counted(trace_.grids.size(), "grid") << ", " << trace_.lost << " lost, route "
         << to_string(trace_.taken) << ", backend " << to_string(trace_.ran_on) << '\n'
         << "digraph launches {\n"
         << "  graph [fontname=\"Helvetica\", rankdir=TB, ranksep=0.45, nodesep=0.2];\n"
         << "  node [fontname=\"Helvetica\", fontsize=11, shape=box, style=rounded];\n"
         << "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n";
    bool by_host = false;
    bool by_missing = false;
    for (std::size_t i = 0; i < trace_.grids.size(); ++i) {
      const traced_grid& g = trace_.grids[i];
      const std::size_t parent = parent_of(trace_, i);
      // A descendant of a folded grid is counted in the group of that grid.
      if (parent != traced_grid::no_grid && folded_into[parent] != groups_.end()) {
        folded_into[i] = folded_into[parent];
        ++folded_into[i]->second.below;
        continue;
      }
      const auto group =
          groups_.try_emplace({parent, g.kernel, g.blocks, g.threads, g.stream, has_launched[i]})
              .first;
      sibling_group& same = group->second;
      used[std::size_t(g.stream)] = true;
      if (parent == traced_grid::no_grid) {
        (g.stream == launch_stream::host ? by_host : by_missing) = true;
      }
      if (++same.seen <= max_children_) {
        out_ << "  g" << i << " [label=" << in_quotes(label(g)) << ", tooltip="
             << in_quotes("grid " + std::to_string(i) + ", depth " + std::to_string(g.depth))
             << "];\n"
             << "  " << name_of(parent, g) << " -> g" << i << " [" << style_of(g.stream) << "];\n";
        continue;
      }
      if (same.folded++ == 0) same.rest = i;
      folded_into[i] = group;
    }
    write_folded();
    if (by_host) out_ << "  host [shape=plaintext];\n";
    if (by_missing) out_ << "  lost [shape=plaintext, label=\"not in the trace\"];\n";
    write_legend(used);
    out_ << "}\n";
  }

 private:
  static std::string label(const traced_grid& g) {
    return utf8(g.kernel) + '\n' + shape_text(g.blocks) + " x " + shape_text(g.threads);
  }

  /// Returns the name of the node of a grid's parent.
  static std::string name_of(std::size_t parent, const traced_grid& child) {
    if (parent != traced_grid::no_grid) return "g" + std::to_string(parent);
    return child.stream == launch_stream::host ? "host" : "lost";
  }

  void write_folded() {
    for (const auto& [key, same] : groups_) {
      if (same.folded == 0) continue;
      const traced_grid& g = trace_.grids[same.rest];
      std::string text = std::to_string(same.folded) + " more\n" + label(g);
      if (same.below > 0) text += "\nwith " + counted(same.below, "grid") + " below";
      out_ << "  g" << same.rest << " [label=" << in_quotes(text)
           << ", style=\"rounded,filled\", fillcolor=\"#eeeeee\", peripheries=2];\n"
           << "  " << name_of(std::get<0>(key), g) << " -> g" << same.rest << " ["
           << style_of(g.stream) << "];\n";
    }
  }

  void write_legend(const std::array<bool, styles.size()>& used) {
    out_ << "  subgraph cluster_legend {\n    label=\"launched into\"; fontsize=10; "
            "color=\"#bbbbbb\";\n";
    for (const launch_stream s : all_choices<launch_stream>()) {
      const auto n = std::to_string(std::size_t(s));
      if (!used[std::size_t(s)]) continue;
      out_ << "    from" << n << " [shape=point];\n    kind" << n
           << " [shape=plaintext, fontsize=10, label=" << in_quotes(to_string(s)) << "];\n    from"
           << n << " -> kind" << n << " [" << style_of(s) << "];\n";
    }
    out_ << "  }\n";
  }

  std::ostream& out_;
  const launch_trace& trace_;
  std::size_t max_children_;
  std::map<group_key, sibling_group> groups_;
};

}  // namespace

void write_dot(std::ostream& out, const launch_trace& trace, std::size_t max_children) {
  dot_writer(out, trace, max_children).write();
  require_written(out);
}

}  // namespace ramify::inline RAMIFY_ABI
