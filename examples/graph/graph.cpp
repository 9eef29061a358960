// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph algorithm on a graph that is read from a file or generated.
//
//   graph --input roads.mtx.gz --source 0 --output levels.csv
//   graph --generate kronecker --scale 20 --searches 16 --verify
//   graph --algorithm sssp --generate grid --side 1000 --holes 20
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>
#include <ramify/graph.hpp>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "graph_checks.hpp"
#include "graph_command_line.hpp"
#include "graph_file.hpp"
#include "graphs.hpp"

namespace {

/// The results of a run, for the table and the check.
struct results {
  std::vector<std::int32_t> levels{}, parents{}, components{};
  common::edge_lengths distances{};
  std::vector<double> ranks{};
};

/// The report of one run.
struct outcome {
  ramify::run_report launches;        ///< launches and times
  nlohmann::ordered_json numbers;     ///< of the algorithm, by name
  std::uint64_t traversed_edges = 0;  ///< by the rule of Graph 500; 0: does not apply
};

/// Returns the number of edges whose source is reached. An undirected edge counts once.
template <class IsReached>
std::uint64_t traversed_edges(const common::stored_graph& graph, const IsReached& is_reached) {
  std::uint64_t edges = 0;
  std::uint64_t loops = 0;  // a self-loop is stored once, each other undirected edge twice
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (!is_reached(v)) continue;
    edges += static_cast<std::uint64_t>(graph.degree(v));
    if (graph.loops == 0) continue;
    for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      if (static_cast<std::size_t>(graph.targets[static_cast<std::size_t>(e)]) == v) ++loops;
    }
  }
  return graph.is_undirected ? (edges + loops) / 2 : edges;
}

void check(const std::string& fault) {
  if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
}

/// Returns `options` with the options in `o.search` that all algorithms share.
template <class Options>
Options with_shared(Options options, const common::graph_command_line& o) {
  static_cast<ramify::graph_options&>(options) = o.search;
  return options;
}

outcome search(const common::stored_graph& graph, std::int64_t source,
               const common::graph_command_line& o, results& to) {
  to.levels.resize(graph.vertices());
  to.parents.resize(graph.vertices());
  const auto r = ramify::breadth_first_search(
      graph.view(), source, {.levels = to.levels, .parents = to.parents}, o.search, o.env);
  if (o.verify) {
    check(common::search_fault(graph, static_cast<std::int32_t>(source), to.levels, to.parents));
  }
  return {r,
          {{"reached_vertices", r.reached},
           {"largest_level", r.levels},
           {"bottom_up_levels", r.bottom_up_levels}},
          traversed_edges(graph, [&](std::size_t v) { return to.levels[v] >= 0; })};
}

template <class T>
outcome find_paths_of(const common::stored_graph& graph, const std::vector<T>& lengths,
                      std::int64_t source, const common::graph_command_line& o, results& to) {
  std::vector<T> distances(graph.vertices());
  to.parents.resize(graph.vertices());
  const auto r = ramify::shortest_paths(graph.view(), lengths, source,
                                        {.distances = distances, .parents = to.parents},
                                        with_shared(o.paths, o), o.env);
  double rounding = 0;
  if (o.verify) {
    check(common::paths_fault<T>(graph, static_cast<std::int32_t>(source), distances, to.parents,
                                 &rounding));
  }
  outcome made{
      r,
      {{"reached_vertices", r.reached},
       {"buckets", r.buckets},
       {"visited_edges", r.visited_edges},
       {"delta", r.delta}},
      traversed_edges(graph, [&](std::size_t v) { return distances[v] < common::infinite<T>; })};
  if (o.verify) made.numbers["largest_relative_rounding"] = rounding;
  to.distances = std::move(distances);
  return made;
}

outcome find_paths(const common::stored_graph& graph, std::int64_t source,
                   const common::graph_command_line& o, results& to) {
  return std::visit(
      [&](const auto& lengths) { return find_paths_of(graph, lengths, source, o, to); },
      graph.lengths);
}

outcome find_components(const common::stored_graph& graph, const common::graph_command_line& o,
                        results& to) {
  to.components.resize(graph.vertices());
  const auto r = ramify::connected_components(graph.view(), to.components, o.search, o.env);
  if (o.verify) check(common::components_fault(graph, to.components));
  return {r, {{"components", r.components}}, 0};
}

outcome rank(const common::stored_graph& graph, const common::graph_command_line& o, results& to) {
  to.ranks.resize(graph.vertices());
  const auto r = ramify::pagerank(graph.view(), to.ranks, with_shared(o.ranks, o), o.env);
  if (o.verify) check(common::ranks_fault(graph, o.ranks.damping, r.iterations, to.ranks));
  return {r, {{"iterations", r.iterations}, {"change", r.change}}, 0};
}

/// Returns a source for each run: --source, or different random vertices with edges, fewer than
/// --searches if the graph has fewer such vertices.
std::vector<std::int64_t> sources_of(const common::stored_graph& graph,
                                     const common::graph_command_line& o) {
  if (!has_source(o.chosen)) return {0};
  if (o.source) return {*o.source};
  std::vector<std::int64_t> with_edges;
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (graph.degree(v) > 0) with_edges.push_back(static_cast<std::int64_t>(v));
  }
  if (with_edges.empty()) throw std::invalid_argument("no vertex has an edge; give --source");
  std::mt19937_64 random(o.seed);
  std::vector<std::int64_t> sources;
  std::ranges::sample(with_edges, std::back_inserter(sources), o.searches, random);
  std::ranges::shuffle(sources, random);
  return sources;
}

common::graph_from_file read(const common::graph_command_line& o) {
  if (!o.kind) {
    common::graph_file_options options = o.file;
    options.has_lengths = o.chosen == common::graph_algorithm::sssp;
    return common::read_graph(o.input, options);
  }
  common::graph_from_file made;
  made.list = *o.kind == common::graph_kind::grid
                  ? common::make_grid(o.side, o.holes, o.seed)
                  : common::make_random_graph(*o.kind, o.scale, o.factor, o.seed);
  if (o.chosen != common::graph_algorithm::sssp) made.list.lengths = {};
  made.list.lengths = common::in_type(made.list.lengths, o.file.type);
  return made;
}

/// Returns a sentence about the numbers of the vertices in a file.
std::string numbering(const common::graph_from_file& file) {
  if (file.first_vertex == 1) return "from 1 in the file, from 0 in options and output";
  if (file.names_first_vertex) return "from 0";
  return "from 0, but no edge names vertex 0; --first-vertex 1 numbers them from 1";
}

/// Writes one line per vertex with the arrays that are not empty.
void write_table(std::ostream& out, std::size_t vertices, const results& r) {
  out << "vertex";
  const auto name = [&](const auto& array, const char* text) {
    if (!array.empty()) out << ',' << text;
  };
  name(r.levels, "level");
  std::visit([&](const auto& distances) { name(distances, "distance"); }, r.distances);
  name(r.parents, "parent");
  name(r.components, "component");
  name(r.ranks, "rank");
  out << '\n';
  std::array<char, 192> text{};
  char* const last = text.data() + text.size();
  for (std::size_t v = 0; v < vertices; ++v) {
    char* end = std::to_chars(text.data(), last, v).ptr;
    const auto put = [&](const auto& array) {
      if (array.empty()) return;
      *end++ = ',';
      end = std::to_chars(end, last, array[v]).ptr;
    };
    const auto put_distance = [&]<class T>(const std::vector<T>& array) {
      if (array.empty() || array[v] < common::infinite<T>) return put(array);
      end = std::ranges::copy(std::string_view(",inf"), end).out;
    };
    put(r.levels);
    std::visit(put_distance, r.distances);
    put(r.parents);
    put(r.components);
    put(r.ranks);
    *end++ = '\n';
    out.write(text.data(), end - text.data());
  }
}

/// The traversed edges per second of all runs. As in Graph 500, their mean is harmonic.
struct speed {
  double least = 0, mean = 0, most = 0;
};

speed speed_of(const std::vector<outcome>& runs) {
  std::vector<double> rates;
  double inverse = 0;
  for (const outcome& run : runs) {
    if (run.traversed_edges == 0 || run.launches.work_ms <= 0) continue;
    rates.push_back(static_cast<double>(run.traversed_edges) / (run.launches.work_ms * 1e-3));
    inverse += 1 / rates.back();
  }
  if (rates.empty()) return {};
  return {*std::ranges::min_element(rates), static_cast<double>(rates.size()) / inverse,
          *std::ranges::max_element(rates)};
}

/// Returns how the graph was read, and the type of its lengths.
nlohmann::ordered_json origin_of(const common::graph_from_file& file,
                                 const common::graph_command_line& o) {
  auto json = nlohmann::ordered_json::object();
  if (!file.format.empty()) {
    json["format"] = file.format;
    json["numbering"] = numbering(file);
  }
  if (o.chosen == common::graph_algorithm::sssp) {
    constexpr const char* types[] = {"float", "double", "64-bit integers"};
    json["lengths"] = types[file.list.lengths.index()];
    if (file.rounded > 0) json["rounded_lengths"] = file.rounded;
  }
  return json;
}

nlohmann::ordered_json to_json(const common::stored_graph& graph,
                               const nlohmann::ordered_json& origin,
                               const std::vector<outcome>& runs, const speed& teps,
                               const common::graph_command_line& o) {
  auto json = common::new_report("graph");
  json["algorithm"] = to_string(o.chosen);
  json.update(origin);
  json["vertices"] = graph.vertices();
  json["edges"] = graph.targets.size();
  json["runs"] = runs.size();
  if (teps.mean > 0) {
    json["teps"] = {{"min", teps.least}, {"harmonic_mean", teps.mean}, {"max", teps.most}};
  }
  json.update(runs.back().numbers);
  json.update(common::to_json(runs.back().launches));
  json["seconds"] = runs.back().launches.total_ms * 1e-3;
  if (o.verify) json["verified"] = true;
  return json;
}

void print(std::ostream& out, const common::stored_graph& graph,
           const nlohmann::ordered_json& origin, const std::vector<outcome>& runs,
           const speed& teps, const common::graph_command_line& o) {
  out << "algorithm: " << to_string(o.chosen) << '\n';
  for (const auto& [name, value] : origin.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    out << (name == "rounded_lengths" ? "rounded lengths" : name) << ": " << text << '\n';
  }
  out << "vertices: " << graph.vertices() << "\nedges: " << graph.targets.size()
      << "\nruns: " << runs.size() << '\n';
  common::print_numbers(out, runs.back().numbers);
  out << runs.back().launches;
  if (teps.mean > 0) {
    out << "traversed edges per second: " << teps.mean << " (harmonic mean; " << teps.least
        << " to " << teps.most << ")\n";
  }
  common::print_launch_costs(out, runs.back().launches);
  if (o.verify) out << "verified: " << common::counted(runs.size(), "run") << '\n';
}

/// Runs the chosen algorithm.
outcome call(const common::stored_graph& graph, std::int64_t source,
             const common::graph_command_line& o, results& to) {
  switch (o.chosen) {
    case common::graph_algorithm::bfs: return search(graph, source, o, to);
    case common::graph_algorithm::sssp: return find_paths(graph, source, o, to);
    case common::graph_algorithm::components: return find_components(graph, o, to);
    default: return rank(graph, o, to);
  }
}

void run(common::graph_command_line o) {
  common::progress_bar progress(o.kind ? "generating the graph" : "reading the graph", o.quiet);
  common::graph_from_file file = read(o);
  const common::stored_graph graph(file.list);
  const nlohmann::ordered_json origin = origin_of(file, o);
  file.list = {};
  // The arrays are valid by construction, and a check would count as time of the search.
  o.search.check_graph = false;
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  results last;
  std::vector<outcome> runs;
  const auto sources = sources_of(graph, o);
  progress.set_work("visiting the graph", sources.size() == 1 ? 0 : sources.size());
  for (const std::int64_t source : sources) {
    runs.push_back(call(graph, source, o, last));
    progress.show(runs.size());
  }
  progress.clear();
  if (!o.output.empty()) {
    common::write_file(o.output,
                       [&](std::ostream& out) { write_table(out, graph.vertices(), last); });
  }
  common::write_trace(o.trace, trace);
  const speed teps = speed_of(runs);
  common::write_report(
      o.report, common::report_stream(o.output),
      [&] { return to_json(graph, origin, runs, teps, o); },
      [&](std::ostream& out) {
        print(out, graph, origin, runs, teps, o);
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  common::graph_command_line o;
  return common::run_program(
      "graph",
      "Searches a graph, finds shortest paths or connected components, or ranks its vertices.",
      argc, argv, [&](CLI::App& app) { common::declare(app, o); },
      [&] {
        common::check(o);
        run(o);
      });
}
