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
#include <vector>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/graph_file.hpp"
#include "common/graphs.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

namespace {

enum class algorithm { bfs, sssp, components, pagerank };

[[nodiscard]] std::string_view to_string(algorithm a) {
  return ramify::choice_name(a, {"bfs", "sssp", "components", "pagerank"});
}
[[nodiscard]] algorithm parse_algorithm(std::string_view text) {
  return ramify::parse_choice<algorithm>("algorithm", text);
}

struct options {
  std::string input, output, trace, report = "text";
  std::optional<common::graph_kind> kind;
  std::optional<std::size_t> vertices;
  bool undirected = false;
  unsigned scale = 16, factor = 16, holes = 20;
  std::size_t side = 256;
  std::uint64_t seed = 1;
  algorithm chosen = algorithm::bfs;
  std::optional<std::int64_t> source;
  unsigned searches = 1;
  bool verify = false, quiet = false;
  common::file_options files;
  // `search` also holds the options that all algorithms share.
  ramify::bfs_options search;
  ramify::sssp_config paths;
  ramify::pagerank_config ranks;
};

void declare_graph(CLI::App& app, options& o) {
  auto* input = o.files.add_input(app, "--input", o.input,
                                  "Matrix Market file or list of edges, also compressed by gzip");
  auto* generate = app.add_option(
      "--generate",
      [&o](const CLI::results_t& words) {
        common::graph_kind kind{};
        common::parsed_by(common::parse_graph_kind, kind)(words);
        o.kind = kind;
        return true;
      },
      "Kind of the generated graph: kronecker, uniform, grid");
  generate->type_name("NAME")->excludes(input);
  app.add_option("--vertices", o.vertices,
                 "Number of vertices of a list of edges (default: the largest one and those below)")
      ->transform(common::whole_number(0, ramify::max_graph_vertices))
      ->needs(input);
  app.add_flag("--undirected", o.undirected, "Each edge stands for both directions")->needs(input);
  app.add_option("--scale", o.scale, "kronecker, uniform: base-2 logarithm of the vertices")
      ->transform(common::whole_number(0, 30))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--edge-factor", o.factor, "kronecker, uniform: undirected edges per vertex")
      ->transform(common::whole_number(0, 1024))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--side", o.side, "grid: vertices in each direction")
      ->transform(common::whole_number(1, 46340))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--holes", o.holes, "grid: percentage of the vertices that have no edges")
      ->transform(common::whole_number(0, 100))
      ->capture_default_str()
      ->needs(generate);
  common::add_whole_number(app, "--seed", o.seed, "Seed of the generator and of the sources");
}

void declare_algorithm(CLI::App& app, options& o) {
  common::add_choice(app, "--algorithm", parse_algorithm, o.chosen,
                     "bfs, sssp (shortest paths), components or pagerank");
  auto* source =
      app.add_option("--source", o.source, "bfs, sssp: the source (default: any with edges)");
  app.add_option("--searches", o.searches, "bfs, sssp: number of runs from different sources")
      ->transform(common::whole_number(1, 1'000'000))
      ->capture_default_str()
      ->excludes(source);
  common::add_choice(app, "--strategy", ramify::parse_edge_strategy, o.search.strategy,
                     "Threads that visit the edges of a vertex: thread, warp, block, child_grid, "
                     "aggregated or balanced");
  common::add_whole_number(app, "--heavy-degree", o.search.heavy_degree,
                           "child_grid, aggregated: minimum number of edges for a child grid", 1);
  common::add_choice(app, "--direction", ramify::parse_bfs_direction, o.search.direction,
                     "bfs: automatic, top_down, bottom_up or optimizing");
  common::add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.search.flat_loop,
                     "Flat route: rounds by a CUDA graph or by the host");
  app.add_option("--alpha", o.search.alpha, "bfs: when to search bottom-up")->capture_default_str();
  app.add_option("--beta", o.search.beta, "bfs: when to search top-down")->capture_default_str();
  app.add_option("--delta", o.paths.delta, "sssp: width of a bucket; 0: automatic")
      ->capture_default_str();
  app.add_option("--damping", o.ranks.damping, "pagerank: probability to follow an edge")
      ->capture_default_str();
  app.add_option("--tolerance", o.ranks.tolerance, "pagerank: sum of changes at the end")
      ->capture_default_str();
  common::add_whole_number(app, "--iterations", o.ranks.max_iterations,
                           "pagerank: maximum number of iterations", 1);
}

void declare(CLI::App& app, options& o) {
  declare_graph(app, o);
  declare_algorithm(app, o);
  o.files.add_output(app, "--output", o.output,
                     "File for a table, one line per vertex: its level or distance and its "
                     "parent, its component, or its rank");
  common::add_launch_options(app, o.search.backend, o.search.route, o.search.pending_launches);
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify, "Check the results, bfs by the rules of Graph 500");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

/// The results of a run, for the table and the check.
struct results {
  std::vector<std::int32_t> levels{}, parents{}, components{};
  std::vector<float> distances{};
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
  for (std::size_t v = 0; v < graph.vertices(); ++v) {
    if (is_reached(v)) edges += static_cast<std::uint64_t>(graph.degree(v));
  }
  return graph.is_undirected ? edges / 2 : edges;
}

void check(const std::string& fault) {
  if (!fault.empty()) throw std::runtime_error("verification failed: " + fault);
}

/// Returns `config` as options, with the options in `o.search` that all algorithms share.
template <class Options, class Config>
Options with_shared(const Config& config, const options& o) {
  Options made{};
  static_cast<Config&>(made) = config;
  static_cast<ramify::graph_config&>(made) = o.search;
  static_cast<ramify::graph_facade_options&>(made) = o.search;
  return made;
}

outcome search(const common::stored_graph& graph, std::int64_t source, const options& o,
               results& to) {
  to.levels.resize(graph.vertices());
  to.parents.resize(graph.vertices());
  const auto r = ramify::breadth_first_search(
      graph.view(), source, {.levels = to.levels, .parents = to.parents}, o.search);
  if (o.verify) {
    check(common::search_fault(graph, static_cast<std::int32_t>(source), to.levels, to.parents));
  }
  return {r,
          {{"reached_vertices", r.reached},
           {"largest_level", r.levels},
           {"bottom_up_levels", r.bottom_up_levels}},
          traversed_edges(graph, [&](std::size_t v) { return to.levels[v] >= 0; })};
}

outcome find_paths(const common::stored_graph& graph, std::int64_t source, const options& o,
                   results& to) {
  to.distances.resize(graph.vertices());
  to.parents.resize(graph.vertices());
  const auto r = ramify::shortest_paths(graph.view(), graph.lengths, source,
                                        {.distances = to.distances, .parents = to.parents},
                                        with_shared<ramify::sssp_options>(o.paths, o));
  if (o.verify) {
    check(common::paths_fault(graph, static_cast<std::int32_t>(source), to.distances, to.parents));
  }
  return {r,
          {{"reached_vertices", r.reached},
           {"buckets", r.buckets},
           {"visited_edges", r.visited_edges},
           {"delta", r.delta}},
          traversed_edges(graph, [&](std::size_t v) {
            return to.distances[v] < std::numeric_limits<float>::infinity();
          })};
}

outcome find_components(const common::stored_graph& graph, const options& o, results& to) {
  to.components.resize(graph.vertices());
  const auto r = ramify::connected_components(
      graph.view(), to.components, with_shared<ramify::graph_options>(ramify::graph_config{}, o));
  if (o.verify) check(common::components_fault(graph, to.components));
  return {r, {{"components", r.components}}, 0};
}

outcome rank(const common::stored_graph& graph, const options& o, results& to) {
  to.ranks.resize(graph.vertices());
  const auto r =
      ramify::pagerank(graph.view(), to.ranks, with_shared<ramify::pagerank_options>(o.ranks, o));
  if (o.verify) check(common::ranks_fault(graph, o.ranks.damping, r.iterations, to.ranks));
  return {r, {{"iterations", r.iterations}, {"change", r.change}}, 0};
}

/// Returns a source for each run: --source, or different random vertices with edges, fewer than
/// --searches if the graph has fewer such vertices.
std::vector<std::int64_t> sources_of(const common::stored_graph& graph, const options& o) {
  if (o.chosen != algorithm::bfs && o.chosen != algorithm::sssp) return {0};
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

common::edge_list read(const options& o) {
  if (!o.kind) {
    return common::read_graph(o.input, o.vertices, o.undirected, o.chosen == algorithm::sssp);
  }
  if (*o.kind == common::graph_kind::grid) return common::make_grid(o.side, o.holes, o.seed);
  return common::make_random_graph(*o.kind, o.scale, o.factor, o.seed);
}

/// Writes one line per vertex with the arrays that are not empty.
void write_table(std::ostream& out, std::size_t vertices, const results& r) {
  out << "vertex";
  const auto name = [&](const auto& array, const char* text) {
    if (!array.empty()) out << ',' << text;
  };
  name(r.levels, "level");
  name(r.distances, "distance");
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
    put(r.levels);
    put(r.distances);
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

nlohmann::ordered_json to_json(const common::stored_graph& graph, const std::vector<outcome>& runs,
                               const speed& teps, const options& o) {
  auto json = common::new_report("graph");
  json["algorithm"] = to_string(o.chosen);
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

void print(std::ostream& out, const common::stored_graph& graph, const std::vector<outcome>& runs,
           const speed& teps, const options& o) {
  out << "algorithm: " << to_string(o.chosen) << "\nvertices: " << graph.vertices()
      << "\nedges: " << graph.targets.size() << "\nruns: " << runs.size() << '\n';
  for (const auto& [name, value] : runs.back().numbers.items()) {
    std::string text = name;
    std::ranges::replace(text, '_', ' ');
    out << text << ": " << value << '\n';
  }
  out << runs.back().launches;
  if (teps.mean > 0) {
    out << "traversed edges per second: " << teps.mean << " (harmonic mean; " << teps.least
        << " to " << teps.most << ")\n";
  }
  common::print_launch_costs(out, runs.back().launches);
  if (o.verify) out << "verified: " << runs.size() << (runs.size() == 1 ? " run\n" : " runs\n");
}

/// Runs the chosen algorithm.
outcome call(const common::stored_graph& graph, std::int64_t source, const options& o,
             results& to) {
  switch (o.chosen) {
    case algorithm::bfs: return search(graph, source, o, to);
    case algorithm::sssp: return find_paths(graph, source, o, to);
    case algorithm::components: return find_components(graph, o, to);
    default: return rank(graph, o, to);
  }
}

void check(const options& o) {
  o.files.check();
  if (o.input.empty() && !o.kind) throw std::invalid_argument("give --input or --generate");
  const bool has_source = o.chosen == algorithm::bfs || o.chosen == algorithm::sssp;
  if (!has_source && (o.source || o.searches != 1)) {
    throw std::invalid_argument("--source and --searches are for bfs and sssp");
  }
  validate(static_cast<const ramify::bfs_config&>(o.search));
  validate(o.paths);
  validate(o.ranks);
}

void run(options o) {
  common::progress_bar progress("visiting the graph", o.quiet);
  const common::stored_graph graph(read(o));
  // The arrays are valid by construction, and a check would count as time of the search.
  o.search.check_graph = false;
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.search.trace = &trace;
  results last;
  std::vector<outcome> runs;
  for (const std::int64_t source : sources_of(graph, o)) {
    runs.push_back(call(graph, source, o, last));
  }
  progress.clear();
  if (!o.output.empty()) {
    common::write_file(o.output,
                       [&](std::ostream& out) { write_table(out, graph.vertices(), last); });
  }
  common::write_trace(o.trace, trace);
  const speed teps = speed_of(runs);
  common::write_report(
      o.report, common::report_stream(o.output), [&] { return to_json(graph, runs, teps, o); },
      [&](std::ostream& out) {
        print(out, graph, runs, teps, o);
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "graph",
      "Searches a graph, finds shortest paths or connected components, or ranks its vertices.",
      argc, argv, [&](CLI::App& app) { declare(app, o); },
      [&] {
        check(o);
        run(o);
      });
}
