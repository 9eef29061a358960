// SPDX-License-Identifier: BSD-3-Clause
// The output of the writers of launch traces, for synthetic traces.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "full_disk.hpp"
#include "synthetic_traces.hpp"
#include "work_folder.hpp"

using nlohmann::json;
using ramify::launch_stream;
using ramify::launch_trace;
using ramify::traced_grid;
using tests::content;
using tests::says;

namespace {

constexpr auto none = traced_grid::no_grid;

std::string chrome_text(const launch_trace& trace) {
  std::ostringstream out;
  ramify::write_chrome_trace(out, trace);
  return out.str();
}

std::string dot_text(const launch_trace& trace, std::size_t most_children = 16) {
  std::ostringstream out;
  ramify::write_dot(out, trace, most_children);
  return out.str();
}

std::string html_text(const launch_trace& trace, std::string_view title = "a title") {
  std::ostringstream out;
  ramify::write_html(out, trace, title);
  return out.str();
}

std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Returns the events of a phase.
std::vector<json> events(const json& parsed, const std::string& phase) {
  std::vector<json> found;
  for (const json& e : parsed.at("traceEvents")) {
    if (e.at("ph") == phase) found.push_back(e);
  }
  return found;
}

/// Returns the trace in a page.
json data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"trace\">";
  const auto from = page.find(open);
  BOOST_REQUIRE(from != page.npos);
  const auto to = page.find("</script", from);
  return json::parse(page.substr(from + open.size(), to - from - open.size()));
}

launch_trace odd_names() {
  launch_trace trace = tests::one_of_each();
  trace.grids[0].kernel = "</script><!--<b>&amp;";
  trace.grids[1].kernel = "\"quoted\" \\ and\na second line\x01";
  trace.grids[2].kernel = "{{trace}} \xff is no UTF-8";
  trace.grids[3].kernel = "";
  return trace;
}

/// Returns traces with unusual contents that the writers must support.
std::map<std::string, launch_trace> traces() {
  std::map<std::string, launch_trace> all{
      {"none", {}},
      {"one of each", tests::one_of_each()},
      {"tree", tests::sort_like(200'000, 2'000)},
      {"tail launches", tests::mesh_like(40)},
      {"odd names", odd_names()},
  };
  launch_trace& lost = all["lost"] = tests::one_of_each();
  lost.lost = 12;
  lost.grids[3].parent = none;  // the parent was not recorded
  launch_trace& wrong = all["wrong parents"] = tests::one_of_each();
  wrong.grids[1].parent = 1;
  wrong.grids[2].parent = 77;
  wrong.grids[0].parent = 4;
  launch_trace& moment = all["a moment"] = tests::one_of_each();
  for (traced_grid& g : moment.grids) g.launched = g.begin = g.end = g.complete = 5;
  moment.counts_steps = true;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chrome)

BOOST_AUTO_TEST_CASE(each_grid_is_a_slice_and_each_launch_is_an_arrow) {
  for (const auto& [name, trace] : traces()) {
    BOOST_TEST_CONTEXT(name) {
      const json parsed = json::parse(chrome_text(trace));
      BOOST_TEST(parsed.at("otherData").at("lost grids") == trace.lost);
      const auto slices = events(parsed, "X");
      BOOST_TEST(slices.size() == trace.grids.size());

      std::map<std::size_t, json> of_grid;
      std::map<int, std::vector<std::pair<double, double>>> on_track;
      for (const json& s : slices) {
        of_grid[s.at("args").at("grid")] = s;
        const double from = s.at("ts");
        on_track[s.at("tid")].emplace_back(from, from + s.at("dur").get<double>());
      }
      BOOST_TEST(of_grid.size() == trace.grids.size());
      for (auto& [track, intervals] : on_track) {
        std::sort(intervals.begin(), intervals.end());
        for (std::size_t i = 1; i < intervals.size(); ++i) {
          BOOST_TEST(intervals[i - 1].second <= intervals[i].first + 1e-6);
        }
      }

      const auto begins = events(parsed, "s");
      const auto ends = events(parsed, "f");
      std::size_t launches = 0;
      for (std::size_t i = 0; i < trace.grids.size(); ++i) {
        launches += trace.grids[i].parent < i ? 1 : 0;
      }
      BOOST_TEST(begins.size() == launches);
      BOOST_TEST(ends.size() == launches);
      const auto is_on = [](const json& arrow, const json& slice) {
        const double t = arrow.at("ts");
        const double from = slice.at("ts");
        return arrow.at("tid") == slice.at("tid") && from <= t &&
               t <= from + slice.at("dur").get<double>();
      };
      std::set<std::size_t> seen;
      for (std::size_t n = 0; n < begins.size(); ++n) {
        const std::size_t child = begins[n].at("id");
        BOOST_TEST(ends[n].at("id") == child);
        BOOST_TEST(seen.insert(child).second);
        BOOST_TEST(is_on(begins[n], of_grid.at(trace.grids[child].parent)));
        BOOST_TEST(is_on(ends[n], of_grid.at(child)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(facts_times_and_lanes) {
  const json parsed = json::parse(chrome_text(tests::one_of_each()));
  const auto slices = events(parsed, "X");
  const json& helper = slices.at(3);
  BOOST_TEST(helper.at("name") == "helper");
  BOOST_TEST(helper.at("ts") == 26.0);  // microseconds
  BOOST_TEST(helper.at("dur") == 15.5);
  BOOST_TEST(helper.at("args").at("parent") == 2);
  BOOST_TEST(helper.at("args").at("parent's kernel") == "right");
  BOOST_TEST(helper.at("args").at("blocks") == "1");
  BOOST_TEST(helper.at("args").at("threads") == "(16, 16, 1)");
  BOOST_TEST(helper.at("args").at("stream") == "fire-and-forget");
  BOOST_TEST(helper.at("args").at("launched") == 20'000);
  BOOST_TEST(slices.at(0).at("args").contains("parent") == false);
  // Two tracks suffice: at most two of the five grids run at a time.
  BOOST_TEST(slices.at(0).at("tid") == 0);
  BOOST_TEST(slices.at(1).at("tid") == 0);
  BOOST_TEST(slices.at(2).at("tid") == 1);
  BOOST_TEST(slices.at(3).at("tid") == 1);
  BOOST_TEST(slices.at(4).at("tid") == 0);

  launch_trace stepped = tests::one_of_each();
  stepped.counts_steps = true;
  BOOST_TEST(events(json::parse(chrome_text(stepped)), "X").at(3).at("ts") == 26'000.0);
}

BOOST_AUTO_TEST_CASE(names_are_preserved) {
  const auto slices = events(json::parse(chrome_text(odd_names())), "X");
  BOOST_TEST(slices.at(1).at("name") == odd_names().grids[1].kernel);
  BOOST_TEST(slices.at(2).at("name") == "{{trace}} \uFFFD is no UTF-8");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(dot)

BOOST_AUTO_TEST_CASE(every_grid_is_a_node_with_its_shape_and_its_edge) {
  const std::string text = dot_text(tests::one_of_each());
  BOOST_TEST(text.starts_with("// 5 grids, 0 lost, route device, backend cuda\n"));
  BOOST_TEST(times_in(text, "  g3 [label=\"helper\\n1 x (16, 16, 1)\"") == 1u);
  BOOST_TEST(times_in(text, "  host -> g0 ") == 1u);
  BOOST_TEST(times_in(text, "  g0 -> g1 ") == 1u);
  BOOST_TEST(times_in(text, "  g2 -> g3 [color=\"#c8580a\", style=dotted") == 1u);
  BOOST_TEST(times_in(text, "label=\"fire-and-forget\"") == 1u);  // the legend
}

BOOST_AUTO_TEST_CASE(many_similar_children_are_folded) {
  launch_trace trace;
  trace.grids.push_back(tests::synthetic_grid("root", none, launch_stream::host, 0, 9));
  for (int i = 0; i < 10; ++i) {
    trace.grids.push_back(
        tests::synthetic_grid("leaf", 0, launch_stream::fire_and_forget, 10 + i, 30));
  }
  trace.grids[4].blocks = {2, 1, 1};  // differs from its siblings
  for (std::size_t parent : {1, 9, 10, 10}) {
    trace.grids.push_back(tests::synthetic_grid("below", parent, launch_stream::null, 31, 40));
  }
  trace.grids.push_back(tests::synthetic_grid("far below", 13, launch_stream::null, 41, 42));
  trace = tests::finished(std::move(trace));

  const std::string text = dot_text(trace, 2);
  // Grids 2, 3 and 5 to 8 have launched nothing: node 5 stands for grids 5 to 8. Grids 1, 9 and 10
  // have launched grids: node 10 stands for grid 10 with its descendants 13 to 15.
  BOOST_TEST(times_in(text, "[label=\"leaf\\n1 x 128\"") == 4u);
  BOOST_TEST(times_in(text, "[label=\"leaf\\n2 x 128\"") == 1u);
  BOOST_TEST(times_in(text, "  g5 [label=\"4 more\\nleaf\\n1 x 128\"") == 1u);
  BOOST_TEST(times_in(text, "  g10 [label=\"1 more\\nleaf\\n1 x 128\\nwith 3 grids below\"") == 1u);
  BOOST_TEST(times_in(text, "  g0 -> g5 ") == 1u);
  BOOST_TEST(times_in(text, "  g0 -> g10 ") == 1u);
  BOOST_TEST(times_in(text, "  g1 -> g11 ") == 1u);
  BOOST_TEST(times_in(text, "  g9 -> g12 ") == 1u);
  for (const char* hidden : {"g6", "g7", "g8", "g13", "g14", "g15"}) {
    BOOST_TEST(times_in(text, hidden + std::string(" ")) == 0u);
  }
  BOOST_TEST(times_in(dot_text(trace), " more") == 0u);
  BOOST_TEST(times_in(dot_text(trace, 0), "  g0 ") == 1u);  // "1 more", and all others below it
  BOOST_TEST(times_in(dot_text(trace, 0), "with 15 grids below") == 1u);
}

BOOST_AUTO_TEST_CASE(names_are_quoted) {
  const std::string text = dot_text(odd_names());
  BOOST_TEST(times_in(text, R"([label="\"quoted\" \\ and\na second line \n16 x 128")") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(html)

BOOST_AUTO_TEST_CASE(the_data_are_preserved) {
  const launch_trace trace = tests::mesh_like(20);
  const json data = data_in(html_text(trace));
  BOOST_TEST(data.at("route") == "device");
  BOOST_TEST(data.at("backend") == "cuda");
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < trace.grids.size(); ++i) {
    const traced_grid& g = trace.grids[i];
    begin += data.at("begin").at(i).get<std::uint64_t>();
    const std::uint64_t end = begin + data.at("duration").at(i).get<std::uint64_t>();
    BOOST_TEST(begin == g.begin);
    BOOST_TEST(begin - data.at("queued").at(i).get<std::uint64_t>() == g.launched);
    BOOST_TEST(end == g.end);
    BOOST_TEST(end + data.at("waited").at(i).get<std::uint64_t>() == g.complete);
    BOOST_TEST(data.at("kernels").at(data.at("kernel").at(i).get<std::size_t>()) == g.kernel);
    const json& shape = data.at("shapes").at(data.at("shape").at(i).get<std::size_t>());
    BOOST_TEST(shape.at(0) == g.blocks[0]);
    BOOST_TEST(shape.at(3) == g.threads[0]);
    BOOST_TEST(data.at("stream").at(i) == unsigned(g.stream));
    BOOST_TEST(data.at("depth").at(i) == g.depth);
    const auto parent = data.at("parent").at(i).get<std::int64_t>();
    BOOST_TEST(parent == (i == 0 ? -1 : std::int64_t(g.parent)));
  }
}

BOOST_AUTO_TEST_CASE(a_page_is_self_contained) {
  for (const auto& [name, trace] : traces()) {
    BOOST_TEST_CONTEXT(name) {
      const std::string page = html_text(trace);
      for (const char* reference : {"http:", "https:", "//", " src=", "@import", "url("}) {
        // Comments in JavaScript also begin with two slashes, but a blank follows them.
        const bool slashes = std::string_view(reference) == "//";
        BOOST_TEST_CONTEXT(reference) {
          for (auto at = page.find(reference); at != page.npos; at = page.find(reference, at + 1)) {
            BOOST_TEST((slashes && page[at + 2] == ' '));
          }
        }
      }
      BOOST_TEST(times_in(page, "default-src 'none'") == 1u);
      BOOST_TEST(times_in(page, "href=") == 1u);
      BOOST_TEST(times_in(page, "href=\"data:,\"") == 1u);
      BOOST_TEST(data_in(page).at("kernel").size() == trace.grids.size());
      BOOST_TEST(data_in(page).at("lost") == trace.lost);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_are_escaped) {
  const std::string page = html_text(odd_names(), "<i>\"a\" & b</i>");
  BOOST_TEST(times_in(page, "</script>") == 2u);  // after the data and after the code
  BOOST_TEST(times_in(page, "<i>") == 0u + times_in(html_text({}), "<i>"));
  BOOST_TEST(times_in(page, "&lt;i&gt;&quot;a&quot; &amp; b&lt;/i&gt;") == 2u);
  const json kernels = data_in(page).at("kernels");
  BOOST_TEST(kernels.at(0) == "</script><!--<b>&amp;");
  BOOST_TEST(kernels.at(1) == "\"quoted\" \\ and\na second line\x01");
  BOOST_TEST(kernels.at(2) == "{{trace}} \uFFFD is no UTF-8");
}

BOOST_AUTO_TEST_CASE(a_large_page_is_compact) {
  const launch_trace trace = tests::sort_like(4'000'000, 600, 100);
  BOOST_TEST(trace.grids.size() > 15'000u);
  const std::string page = html_text(trace);
  BOOST_TEST((page.size() - html_text({}).size()) / trace.grids.size() < 48u);  // bytes a grid
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(the_extension_selects_the_format) {
  const tests::work_folder folder;
  const launch_trace trace = tests::one_of_each();
  ramify::write_trace_file(folder / "t.json", trace);
  BOOST_TEST(content(folder / "t.json") == chrome_text(trace));
  ramify::write_trace_file(folder / "t.dot", trace);
  BOOST_TEST(content(folder / "t.dot") == dot_text(trace));
  ramify::write_trace_file(folder / "a sort.html", trace);
  BOOST_TEST(content(folder / "a sort.html") == html_text(trace, "a sort"));
  ramify::write_trace_file(folder / "t.json", {});  // replaces the old file
  BOOST_TEST(content(folder / "t.json") == chrome_text({}));
  BOOST_TEST(folder.files() == 3u);
}

BOOST_AUTO_TEST_CASE(other_extensions_are_rejected) {
  const tests::work_folder folder;
  for (const char* name : {"t.svg", "t", "t.html.gz", ".html", "t.HTML", ""}) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_CHECK_EXCEPTION(ramify::check_trace_file(folder / name), std::invalid_argument,
                            says("must end in .html (a page), .json (Perfetto) or .dot"));
      BOOST_CHECK_THROW(ramify::write_trace_file(folder / name, {}), std::invalid_argument);
    }
  }
  ramify::check_trace_file("no such folder/t.dot");  // it checks the name only
  BOOST_TEST(folder.files() == 0u);
}

BOOST_AUTO_TEST_CASE(a_failed_write_is_reported) {
  const tests::work_folder folder;
  const auto path = folder / "t.html";
  BOOST_CHECK_EXCEPTION(ramify::write_trace_file(folder / "no/t.html", {}), std::ios_base::failure,
                        says("no/t.html: No such file"));
  tests::set_content(path, "an old one");
  {
    const tests::full_disk full(2'000);
    BOOST_CHECK_EXCEPTION(ramify::write_trace_file(path, tests::mesh_like(100)),
                          std::ios_base::failure, says("t.html: File too large"));
  }
  BOOST_TEST(content(path) == "an old one");
  BOOST_TEST(folder.files() == 1u);
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  BOOST_CHECK_THROW(ramify::write_chrome_trace(broken, {}), std::ios_base::failure);
  BOOST_CHECK_THROW(ramify::write_dot(broken, {}), std::ios_base::failure);
  BOOST_CHECK_THROW(ramify::write_html(broken, {}, ""), std::ios_base::failure);
}

BOOST_AUTO_TEST_SUITE_END()
