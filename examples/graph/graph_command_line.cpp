// SPDX-License-Identifier: BSD-3-Clause
#include "graph_command_line.hpp"

#include <stdexcept>

#include "common/cli.hpp"
#include "common/trace_option.hpp"

namespace common {
namespace {

[[nodiscard]] graph_algorithm parse_algorithm(std::string_view text) {
  return ramify::parse_choice<graph_algorithm>("algorithm", text);
}

void declare_graph(CLI::App& app, graph_command_line& o) {
  auto* input =
      o.files.add_input(app, "--input", o.input,
                        "List of edges, Matrix Market, DIMACS, KONECT or METIS file, also "
                        "compressed by gzip");
  auto* generate = app.add_option("--generate", parsed_by(parse_graph_kind, o.kind),
                                  "Kind of the generated graph: kronecker, uniform, grid");
  generate->type_name("NAME")->excludes(input);
  add_choice(app, "--format", parse_graph_format, o.file.format,
             "Format of the input: edges, matrix_market, dimacs, konect or metis; automatic: from "
             "its first lines")
      ->needs(input);
  app.add_option("--vertices", o.file.vertices,
                 "Number of vertices of a list of edges (default: the largest one and those below)")
      ->transform(whole_number(0, ramify::max_graph_vertices))
      ->needs(input);
  app.add_option("--first-vertex", o.file.first_vertex,
                 "Number of the first vertex in a list of edges, 0 or 1 (default: 0)")
      ->transform(whole_number(0, 1))
      ->needs(input);
  app.add_flag("--undirected", o.file.is_undirected, "Each edge stands for both directions")
      ->needs(input);
  app.add_option("--scale", o.scale, "kronecker, uniform: base-2 logarithm of the vertices")
      ->transform(whole_number(0, 30))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--edge-factor", o.factor, "kronecker, uniform: undirected edges per vertex")
      ->transform(whole_number(0, 1024))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--side", o.side, "grid: vertices in each direction")
      ->transform(whole_number(1, 46340))
      ->capture_default_str()
      ->needs(generate);
  app.add_option("--holes", o.holes, "grid: percentage of the vertices that have no edges")
      ->transform(whole_number(0, 100))
      ->capture_default_str()
      ->needs(generate);
  add_whole_number(app, "--seed", o.seed, "Seed of the generator and of the sources");
}

void declare_algorithm(CLI::App& app, graph_command_line& o) {
  add_choice(app, "--algorithm", parse_algorithm, o.chosen,
             "bfs, sssp (shortest paths), components or pagerank");
  auto* source =
      app.add_option("--source", o.source, "bfs, sssp: the source (default: any with edges)")
          ->transform(whole_number(0, ramify::max_graph_vertices - 1));
  app.add_option("--searches", o.searches, "bfs, sssp: number of runs from different sources")
      ->transform(whole_number(1, 1'000'000))
      ->capture_default_str()
      ->excludes(source);
  add_choice(app, "--type", parse_length_type, o.file.type,
             "sssp: type of lengths and distances: float, double or integer (64 bits); automatic: "
             "one that holds the lengths of the file");
  add_choice(app, "--strategy", ramify::parse_edge_strategy, o.search.strategy,
             "Threads that visit the edges of a vertex: thread, warp, block, child_grid, "
             "aggregated or balanced");
  add_whole_number(app, "--heavy-degree", o.search.heavy_degree,
                   "child_grid, aggregated: minimum number of edges for a child grid", 1);
  add_choice(app, "--direction", ramify::parse_bfs_direction, o.search.direction,
             "bfs: automatic, top_down, bottom_up or optimizing");
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "Flat route: rounds by a CUDA graph or by the host");
  add_number(app, "--alpha", o.search.alpha, {1e-30, 1e30},
             "bfs: a larger number searches bottom-up sooner");
  add_number(app, "--beta", o.search.beta, {1e-30, 1e30},
             "bfs: a larger number searches bottom-up longer");
  app.add_option("--delta", o.paths.delta, "sssp: width of a bucket; 0: automatic")
      ->check(number_in(0, 1e30))
      ->capture_default_str();
  add_number(app, "--damping", o.ranks.damping, {0, 1}, "pagerank: probability to follow an edge");
  add_number(app, "--tolerance", o.ranks.tolerance, {1e-300, 1e300},
             "pagerank: the iteration ends at this sum of the changes of all ranks");
  add_whole_number(app, "--iterations", o.ranks.max_iterations,
                   "pagerank: maximum number of iterations", 1);
}

}  // namespace

void declare(CLI::App& app, graph_command_line& o) {
  declare_graph(app, o);
  declare_algorithm(app, o);
  o.files.add_output(app, "--output", o.output,
                     "File for a table, one line per vertex: its level or distance and its "
                     "parent, its component, or its rank");
  add_launch_options(app, o.env);
  add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify, "Check the results, bfs by the rules of Graph 500");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

void check(const graph_command_line& o) {
  o.files.check();
  if (o.input.empty() && !o.kind) throw std::invalid_argument("give --input or --generate");
  if (!has_source(o.chosen) && (o.source || o.searches != 1)) {
    throw std::invalid_argument("--source and --searches are for bfs and sssp");
  }
  if (o.chosen != graph_algorithm::sssp && o.file.type != length_type::automatic) {
    throw std::invalid_argument("--type is for sssp");
  }
  validate(o.search);
  validate(o.paths);
  validate(o.ranks);
}

}  // namespace common
