// SPDX-License-Identifier: BSD-3-Clause
// The launch tree in Graphviz's language.
#include <map>
#include <tuple>
#include <vector>

#include "writing.hpp"

namespace ramify {
namespace {

constexpr std::array streams{launch_stream::host, launch_stream::null, launch_stream::named,
                             launch_stream::fire_and_forget, launch_stream::tail};

/// How an edge looks. Lines tell the kinds apart, not colours alone.
std::string_view style_of(launch_stream s) {
  switch (s) {
    case launch_stream::host: return "color=\"#5f6b7a\"";
    case launch_stream::null: return "color=\"#2563c9\"";
    case launch_stream::named: return "color=\"#8745c9\", style=dashed";
    case launch_stream::fire_and_forget: return "color=\"#c8580a\", style=dotted, penwidth=1.6";
    case launch_stream::tail: return "color=\"#0b8a74\", style=bold, arrowhead=vee";
  }
  return "";
}

/// A text in quotes. A line break in it is one in the picture.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // no SVG could hold the others
    }
  }
  return result + '"';
}

/// The text with what is no UTF-8 replaced.
std::string utf8(const std::string& text) {
  return nlohmann::json::parse(json_text(text)).get<std::string>();
}

std::string grids_text(std::size_t n) { return std::to_string(n) + (n == 1 ? " grid" : " grids"); }

/// Children of one grid that look the same.
struct alike {
  std::size_t seen = 0;
  std::size_t rest = traced_grid::no_grid;  ///< the first of those that one node stands for
  std::size_t folded = 0;                   ///< how many these are
  std::size_t below = 0;                    ///< grids below them
};

/// Grids that look the same if the same grid launched them.
using looks = std::tuple<std::size_t, std::string_view, std::array<std::uint32_t, 3>,
                         std::array<std::uint32_t, 3>, launch_stream>;

class dot_writer {
 public:
  dot_writer(std::ostream& out, const launch_trace& trace, std::size_t max_children)
      : out_(out), trace_(trace), max_children_(max_children) {}

  void write() {
    std::vector<std::map<looks, alike>::iterator> folded_into(trace_.grids.size(), groups_.end());
    std::array<bool, streams.size()> used{};
    out_ << "// " << grids_text(trace_.grids.size()) << ", " << trace_.lost << " lost, route "
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
      // Below a grid that is not drawn: counted there, where the folding began.
      if (parent != traced_grid::no_grid && folded_into[parent] != groups_.end()) {
        folded_into[i] = folded_into[parent];
        ++folded_into[i]->second.below;
        continue;
      }
      const auto group =
          groups_.try_emplace({parent, g.kernel, g.blocks, g.threads, g.stream}).first;
      alike& same = group->second;
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

  /// The node of a grid's parent.
  static std::string name_of(std::size_t parent, const traced_grid& child) {
    if (parent != traced_grid::no_grid) return "g" + std::to_string(parent);
    return child.stream == launch_stream::host ? "host" : "lost";
  }

  void write_folded() {
    for (const auto& [key, same] : groups_) {
      if (same.folded == 0) continue;
      const traced_grid& g = trace_.grids[same.rest];
      std::string text = std::to_string(same.folded) + " more\n" + label(g);
      if (same.below > 0) text += "\nwith " + grids_text(same.below) + " below";
      out_ << "  g" << same.rest << " [label=" << in_quotes(text)
           << ", style=\"rounded,filled\", fillcolor=\"#eeeeee\", peripheries=2];\n"
           << "  " << name_of(std::get<0>(key), g) << " -> g" << same.rest << " ["
           << style_of(g.stream) << "];\n";
    }
  }

  void write_legend(const std::array<bool, streams.size()>& used) {
    out_ << "  subgraph cluster_legend {\n    label=\"launched into\"; fontsize=10; "
            "color=\"#bbbbbb\";\n";
    for (const launch_stream s : streams) {
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
  std::map<looks, alike> groups_;
};

}  // namespace

void write_dot(std::ostream& out, const launch_trace& trace, std::size_t max_children) {
  dot_writer(out, trace, max_children).write();
  require_written(out);
}

}  // namespace ramify
