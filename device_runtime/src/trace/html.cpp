// SPDX-License-Identifier: BSD-3-Clause
// Writes one page: page.html, page.css and page.js, which CMake puts into page.hpp, and the trace
// as JSON.
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <vector>

#include "page.hpp"
#include "writing.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

// page.js uses these numbers for the kinds of streams.
static_assert(int(launch_stream::host) == 0 && int(launch_stream::null) == 1 &&
              int(launch_stream::named) == 2 && int(launch_stream::fire_and_forget) == 3 &&
              int(launch_stream::tail) == 4);

/// Escapes text between tags.
std::string escaped(std::string_view text) {
  std::string result(text);
  boost::replace_all(result, "&", "&amp;");
  boost::replace_all(result, "<", "&lt;");
  boost::replace_all(result, ">", "&gt;");
  boost::replace_all(result, "\"", "&quot;");
  return result;
}

/// Returns JSON for a script element, which "</script" or "<!--" in a string would end or change.
std::string in_script(const nlohmann::json& value) {
  return boost::replace_all_copy(json_text(value), "<", "\\u003c");
}

/// The distinct values of a column, each stored once, in order of their first use.
template <class Value>
class dictionary {
 public:
  /// Returns the index of a value, and adds it if it is new.
  std::size_t operator()(const Value& value) {
    const auto [entry, is_new] = indices_.try_emplace(value, values_.size());
    if (is_new) values_.push_back(value);
    return entry->second;
  }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  std::map<Value, std::size_t> indices_;
  std::vector<Value> values_;
};

std::int64_t difference(std::uint64_t to, std::uint64_t from) {
  return static_cast<std::int64_t>(to - from);
}

/// Writes the trace by column, with times as differences, which have fewer digits.
void write_data(std::ostream& out, const launch_trace& trace) {
  const auto& grids = trace.grids;
  dictionary<std::string> kernels;
  dictionary<std::vector<std::uint32_t>> shapes;  // blocks, threads, bytes of shared memory
  std::vector<std::size_t> kernel(grids.size());
  std::vector<std::size_t> shape(grids.size());
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const traced_grid& g = grids[i];
    kernel[i] = kernels(g.kernel);
    shape[i] = shapes({g.blocks[0], g.blocks[1], g.blocks[2], g.threads[0], g.threads[1],
                       g.threads[2], g.dynamic_shared});
  }
  out << "{\"route\":" << in_script(to_string(trace.taken))
      << ",\"backend\":" << in_script(to_string(trace.ran_on)) << ",\"lost\":" << trace.lost
      << ",\"steps\":" << (trace.counts_steps ? "true" : "false")
      << ",\n\"kernels\":" << in_script(kernels.values())
      << ",\n\"shapes\":" << in_script(shapes.values());
  // Writes `,"name":[...]` with one number for each grid.
  const auto column = [&](std::string_view name, const auto& number_of) {
    out << ",\n\"" << name << "\":[";
    for (std::size_t i = 0; i < grids.size(); ++i) out << (i > 0 ? "," : "") << number_of(i);
    out << ']';
  };
  column("kernel", [&](std::size_t i) { return kernel[i]; });
  column("shape", [&](std::size_t i) { return shape[i]; });
  column("parent", [&](std::size_t i) {
    const std::size_t parent = parent_of(trace, i);
    return parent == traced_grid::no_grid ? -1 : static_cast<std::int64_t>(parent);
  });
  column("depth", [&](std::size_t i) { return grids[i].depth; });
  column("stream", [&](std::size_t i) { return static_cast<unsigned>(grids[i].stream); });
  column("block", [&](std::size_t i) { return grids[i].parent_block; });
  column("begin", [&](std::size_t i) {
    return difference(grids[i].begin, i == 0 ? 0 : grids[i - 1].begin);
  });
  column("queued", [&](std::size_t i) { return difference(grids[i].begin, grids[i].launched); });
  column("duration", [&](std::size_t i) { return difference(grids[i].end, grids[i].begin); });
  column("waited", [&](std::size_t i) { return difference(grids[i].complete, grids[i].end); });
  out << "}\n";
}

}  // namespace

void write_html(std::ostream& out, const launch_trace& trace, std::string_view title) {
  std::string_view rest = page_html;
  for (;;) {
    const auto open = rest.find("{{");
    out << rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = rest.find("}}", open);
    const std::string_view what = rest.substr(open + 2, close - open - 2);
    rest.remove_prefix(close + 2);
    if (what == "title") out << escaped(title);
    if (what == "style") out << page_css;
    if (what == "script") out << page_js;
    if (what == "trace") write_data(out, trace);
  }
  require_written(out);
}

}  // namespace ramify::inline RAMIFY_ABI
