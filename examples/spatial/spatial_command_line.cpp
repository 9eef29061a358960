// SPDX-License-Identifier: BSD-3-Clause
#include "spatial_command_line.hpp"

#include <limits>
#include <stdexcept>

#include "common/cli.hpp"
#include "common/output_file.hpp"
#include "common/trace_option.hpp"

namespace common {
namespace {

void declare_points(CLI::App& app, spatial_command_line& o) {
  auto* input = o.files.add_input(
      app, "--input", o.input,
      "Text file of points: x,y or x,y,z, with or without a header line, or .xyz");
  app.add_option("--columns", parsed_by(parse_columns, o.columns),
                 "Columns of the input: names in its header line such as x,y,z, or numbers from 1 "
                 "on such as 3,4,5")
      ->type_name("NAMES")
      ->needs(input);
  auto* generate = app.add_option("--generate", parsed_by(parse_cloud_kind, o.kind),
                                  "Kind of the generated points: uniform, clusters, curve");
  generate->type_name("NAME")->excludes(input);
  app.add_option("--n", o.n, "Number of generated points")
      ->transform(whole_number(1, (std::uint64_t{1} << 31) - 1))
      ->capture_default_str()
      ->needs(generate);
  add_whole_number(app, "--seed", o.seed, "Seed of the generator")->needs(generate);
  app.add_option("--dimensions", o.dimensions, "Dimensions of the generated points: 2 or 3")
      ->transform(whole_number(2, 3))
      ->capture_default_str()
      ->needs(generate);
}

void declare_results(CLI::App& app, spatial_command_line& o) {
  auto* tree = o.files
                   .add_output(app, "--tree", o.tree,
                               "Picture of the quadtree, SVG (.svg) or PNG (.png); 2 dimensions")
                   ->check([](const std::string& file) -> std::string {
                     if (has_extension(file, ".svg")) return {};
                     if (has_extension(file, ".png")) return {};
                     return "'" + file + "' must end in .svg or .png";
                   });
  app.add_option("--image-size", o.image_size, "Pixels of the picture in each direction")
      ->transform(whole_number(16, 16384))
      ->capture_default_str()
      ->needs(tree);
  o.files.add_input(app, "--queries", o.queries,
                    "Text file of places whose neighbors are searched for (default: the points)");
  auto* nearest = app.add_option("--nearest", o.nearest, "Find this number of nearest neighbors");
  nearest->transform(whole_number(1, 1u << 20));
  o.files
      .add_output(app, "--output", o.output,
                  "File for a table of the nearest neighbors: query, rank, neighbor, distance")
      ->needs(nearest);
  auto* within = app.add_option("--within", o.within, "Count the points in a ball of this radius")
                     ->check(number_in(0, std::numeric_limits<double>::max()));
  o.files.add_output(app, "--counts", o.counts, "File for a table of these counts: query, count")
      ->needs(within);
  auto* cluster = app.add_option("--cluster", o.cluster,
                                 "Find the clusters of points that are neighbors at this distance");
  cluster->check(number_in(0, std::numeric_limits<double>::max()));
  add_whole_number(app, "--min-points", o.min_points,
                   "Minimum number of points in the ball around a core point", 1)
      ->needs(cluster);
  o.files.add_output(app, "--labels", o.labels, "File for a table of the clusters: point, cluster")
      ->needs(cluster);
  app.add_option(
         "--period", o.period,
         "Edges of a periodic box: one number for all axes, or one for each; 0: the axis is "
         "not periodic")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(number_in(0, 4e307));
  o.files.add_output(app, "--statistics", o.statistics,
                     "File for a table: statistics of the distances to the nearest neighbors");
  app.add_flag("--verify", o.verify, "Compare 200 of the queries with brute force");
}

}  // namespace

void declare(CLI::App& app, spatial_command_line& o) {
  declare_points(app, o);
  declare_results(app, o);
  add_whole_number(app, "--leaf-size", o.build.leaf_size, "Maximum number of points of a leaf", 1);
  add_whole_number(app, "--block-points", o.build.block_points,
                   "Maximum number of points that a block builds without a child grid", 1);
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What launches the levels on the flat route: automatic, graph, host");
  add_launch_options(app, o.env);
  add_trace_option(app, o.files, o.trace);
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

void check(const spatial_command_line& o) {
  o.files.check();
  if (o.input.empty() && !o.kind) throw std::invalid_argument("give --input or --generate");
  if (!o.tree.empty() && o.dimensions != 2) {
    throw std::invalid_argument("--tree draws two dimensions; --dimensions is 3");
  }
  if (!o.queries.empty() && o.nearest == 0 && !o.within) {
    throw std::invalid_argument("--queries is for --nearest and --within");
  }
  if (o.verify && o.nearest == 0 && !o.within) {
    throw std::invalid_argument("--verify is for --nearest and --within");
  }
  if (!o.period.empty() && o.nearest == 0 && !o.within && !o.cluster && o.statistics.empty()) {
    throw std::invalid_argument("--period is for --nearest, --within, --cluster and --statistics");
  }
  validate(o.build);
}

}  // namespace common
