// SPDX-License-Identifier: BSD-3-Clause
// Builds a spatial tree over points that are read from a file or generated, draws it, and finds
// neighbors.
//
//   spatial --generate clusters --n 2000 --tree tree.svg
//   spatial --input points.csv --nearest 8 --output neighbors.csv
//   spatial --input points.csv --queries places.csv --within 0.1 --counts counts.csv
//   spatial --generate curve --dimensions 3 --statistics statistics.csv
//   spatial --input points.csv --cluster 0.1 --min-points 5 --labels labels.csv
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <optional>
#include <ramify/spatial_tree.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/distance_statistics.hpp"
#include "common/file_options.hpp"
#include "common/neighbor_check.hpp"
#include "common/output_file.hpp"
#include "common/points.hpp"
#include "common/progress_bar.hpp"
#include "common/quadtree_image.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

namespace {

struct options {
  std::string input, queries, tree, output, counts, labels, statistics, trace, report = "text";
  std::optional<common::cloud_kind> kind;
  std::size_t n = 10'000;
  std::uint64_t seed = 1;
  int dimensions = 2;
  unsigned nearest = 0, image_size = 1024;
  std::optional<double> within, cluster;
  ramify::spatial_cluster_config clusters;
  bool verify = false, quiet = false;
  ramify::spatial_tree_options build;
  common::file_options files;
};

void declare_points(CLI::App& app, options& o) {
  auto* input = o.files.add_input(
      app, "--input", o.input, "CSV file of points: x,y or x,y,z, with or without a header line");
  auto* generate = app.add_option(
      "--generate",
      [&o](const CLI::results_t& words) {
        common::cloud_kind kind{};
        common::parsed_by(common::parse_cloud_kind, kind)(words);
        o.kind = kind;
        return true;
      },
      "Kind of the generated points: uniform, clusters, curve");
  generate->type_name("NAME")->excludes(input);
  app.add_option("--n", o.n, "Number of generated points")
      ->transform(common::whole_number(1, (std::uint64_t{1} << 31) - 1))
      ->capture_default_str()
      ->needs(generate);
  common::add_whole_number(app, "--seed", o.seed, "Seed of the generator")->needs(generate);
  app.add_option("--dimensions", o.dimensions, "Dimensions of the generated points: 2 or 3")
      ->transform(common::whole_number(2, 3))
      ->capture_default_str()
      ->needs(generate);
}

void declare_results(CLI::App& app, options& o) {
  auto* tree = o.files
                   .add_output(app, "--tree", o.tree,
                               "Picture of the quadtree, SVG (.svg) or PNG (.png); 2 dimensions")
                   ->check([](const std::string& file) -> std::string {
                     if (common::has_extension(file, ".svg")) return {};
                     if (common::has_extension(file, ".png")) return {};
                     return "'" + file + "' must end in .svg or .png";
                   });
  app.add_option("--image-size", o.image_size, "Pixels of the picture in each direction")
      ->transform(common::whole_number(16, 16384))
      ->capture_default_str()
      ->needs(tree);
  o.files.add_input(app, "--queries", o.queries,
                    "CSV file of places whose neighbors are searched for (default: the points)");
  auto* nearest = app.add_option("--nearest", o.nearest, "Find this number of nearest neighbors");
  nearest->transform(common::whole_number(1, 1u << 20));
  o.files
      .add_output(app, "--output", o.output,
                  "File for a table of the nearest neighbors: query, rank, neighbor, distance")
      ->needs(nearest);
  auto* within = app.add_option("--within", o.within, "Count the points in a ball of this radius")
                     ->check(common::number_in(0, 1e300));
  o.files.add_output(app, "--counts", o.counts, "File for a table of these counts: query, count")
      ->needs(within);
  auto* cluster = app.add_option("--cluster", o.cluster,
                                 "Find the clusters of points that are neighbors at this distance");
  cluster->check(common::number_in(0, 1e300));
  common::add_whole_number(app, "--min-points", o.clusters.min_points,
                           "Minimum number of points in the ball around a core point", 1)
      ->needs(cluster);
  o.files.add_output(app, "--labels", o.labels, "File for a table of the clusters: point, cluster")
      ->needs(cluster);
  o.files.add_output(app, "--statistics", o.statistics,
                     "File for a table: statistics of the distances to the nearest neighbors");
  app.add_flag("--verify", o.verify, "Compare 200 of the queries with brute force");
}

void declare(CLI::App& app, options& o) {
  declare_points(app, o);
  declare_results(app, o);
  common::add_whole_number(app, "--leaf-size", o.build.leaf_size,
                           "Maximum number of points of a leaf", 1);
  common::add_whole_number(app, "--block-points", o.build.block_points,
                           "Maximum number of points that a block builds without a child grid", 1);
  common::add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.build.flat_loop,
                     "What launches the levels on the flat route: automatic, graph, host");
  common::add_launch_options(app, o.build);
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

/// The results of a run.
struct results {
  ramify::spatial_tree_report build{};
  std::uint64_t queries = 0;
  double nearest_ms = 0, within_ms = 0, total_ms = 0;
  std::vector<std::uint32_t> ids{};  ///< rows of --nearest
  std::vector<double> distances{};
  std::vector<std::uint32_t> counts{};
  ramify::spatial_cluster_report clusters{};
  std::vector<std::uint32_t> labels{};
  std::optional<common::distance_statistics> statistics{};
  std::uint64_t verified = 0;  ///< queries
};

template <std::size_t dim>
using points_of = std::vector<std::array<double, dim>>;

template <std::size_t dim>
points_of<dim> with_dimensions(const common::point_set& set) {
  points_of<dim> all(set.points.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::copy_n(set.points[i].begin(), dim, all[i].begin());
  }
  return all;
}

/// Returns the cells of the quadtree that are divided. The cell of an inner node is the smallest
/// one that contains its points.
common::quadtree_picture picture_of(
    const points_of<2>& points, const std::vector<ramify::spatial_index_node<double, 2>>& nodes) {
  constexpr unsigned bits = 31;  // of a coordinate in the tree's order
  constexpr double all_cells = std::uint64_t{1} << bits;
  const auto& root = nodes[0];
  // Halves, because a difference of coordinates may overflow.
  double half_edge = 0;
  for (const std::size_t axis : {0, 1}) {
    half_edge = std::max(half_edge, root.upper[axis] / 2 - root.lower[axis] / 2);
  }
  const auto place = [&](const std::array<double, 2>& p, std::size_t axis) {
    return half_edge > 0 ? (p[axis] / 2 - root.lower[axis] / 2) / half_edge : 0.5;
  };
  const auto cell = [&](const std::array<double, 2>& p, std::size_t axis) {
    return static_cast<std::uint32_t>(std::min(place(p, axis) * all_cells, all_cells - 1));
  };
  common::quadtree_picture picture;
  for (const auto& node : nodes) {
    if (node.children == 0) continue;
    std::uint32_t differing = 0;
    for (const std::size_t axis : {0, 1})
      differing |= cell(node.lower, axis) ^ cell(node.upper, axis);
    if (differing == 0) continue;  // more points in the smallest cell than fit in a leaf
    const unsigned width = static_cast<unsigned>(std::bit_width(differing));
    const auto corner = [&](std::size_t axis) {
      return static_cast<double>(cell(node.lower, axis) >> width << width) / all_cells;
    };
    picture.cells.push_back(
        {corner(0), corner(1), static_cast<double>(std::uint64_t{1} << width) / all_cells});
  }
  std::ranges::sort(picture.cells);  // the order of the nodes may change from run to run
  for (const auto& p : points) picture.points.push_back({place(p, 0), place(p, 1)});
  return picture;
}

void draw_tree(const common::quadtree_picture& picture, const options& o) {
  if (common::has_extension(o.tree, ".png")) {
    common::write_png(o.tree, common::draw(picture, o.image_size));
  } else {
    common::write_file(o.tree,
                       [&](std::ostream& out) { common::write_svg(out, picture, o.image_size); });
  }
}

/// Runs the queries, and those of the statistics.
template <std::size_t dim>
void search(const ramify::spatial_index<double, int{dim}>& index, const points_of<dim>& queries,
            bool own, const options& o, results& r) {
  const auto count_time = [&](const ramify::run_report& report) {
    r.total_ms += report.total_ms;
    return report.work_ms;
  };
  r.queries = queries.size();
  if (o.nearest > 0) {
    r.ids.resize(queries.size() * o.nearest);
    r.distances.resize(r.ids.size());
    r.nearest_ms = count_time(own ? index.all_nearest_neighbors(o.nearest, true, r.ids, r.distances)
                                  : index.nearest(queries, o.nearest, r.ids, r.distances));
    for (double& d : r.distances) d = std::sqrt(d);
  }
  if (o.within) {
    r.counts.resize(queries.size());
    r.within_ms = count_time(index.radius_count(queries, *o.within, r.counts));
    if (own) {
      for (std::uint32_t& count : r.counts) --count;  // the point itself
    }
  }
  if (o.cluster) {
    r.labels.resize(r.build.points);
    r.clusters = index.find_clusters(*o.cluster, r.labels, o.clusters);
    count_time(r.clusters);
  }
  if (!o.statistics.empty()) {
    std::vector<std::uint32_t> ids(r.build.points);
    std::vector<double> distances(ids.size());
    count_time(index.all_nearest_neighbors(1, true, ids, distances));
    for (double& d : distances) d = std::sqrt(d);
    const auto root = index.nodes()[0];
    double volume = 1;
    for (std::size_t axis = 0; axis < dim; ++axis) volume *= root.upper[axis] - root.lower[axis];
    r.statistics = common::statistics_of(std::move(distances), int{dim}, volume);
  }
}

template <std::size_t dim>
results run_with(const common::point_set& set, const std::optional<common::point_set>& places,
                 const options& o) {
  const auto points = with_dimensions<dim>(set);
  const auto queries = places ? with_dimensions<dim>(*places) : points;
  results r;
  const ramify::spatial_index<double, int{dim}> index(points, o.build);
  r.build = index.report();
  r.total_ms = r.build.total_ms;
  search<dim>(index, queries, !places, o, r);
  if (o.verify) {
    r.verified = common::verify_neighbors<dim>(points, queries, !places,
                                               {o.nearest, r.ids, r.distances, o.within, r.counts});
  }
  if constexpr (dim == 2) {
    if (!o.tree.empty()) draw_tree(picture_of(points, index.nodes()), o);
  }
  return r;
}

/// Appends a number and the character after it to a line.
template <class Number>
void append(std::string& line, Number number, char after) {
  common::append_number(line, number);
  line += after;
}

void write_neighbors(std::ostream& out, const results& r, std::size_t k) {
  out << "query,rank,neighbor,distance\n";
  std::string line;
  for (std::size_t i = 0; i < r.ids.size(); ++i) {
    if (r.ids[i] == ramify::no_neighbor) continue;
    line.clear();
    append(line, i / k, ',');
    append(line, i % k + 1, ',');
    append(line, r.ids[i], ',');
    append(line, r.distances[i], '\n');
    out << line;
  }
}

void write_counts(std::ostream& out, const results& r) {
  out << "query,count\n";
  std::string line;
  for (std::size_t i = 0; i < r.counts.size(); ++i) {
    line.clear();
    append(line, i, ',');
    append(line, r.counts[i], '\n');
    out << line;
  }
}

void write_labels(std::ostream& out, const results& r) {
  out << "point,cluster\n";
  std::string line;
  for (std::size_t i = 0; i < r.labels.size(); ++i) {
    line.clear();
    append(line, i, ',');
    const bool is_noise = r.labels[i] == ramify::no_cluster;
    append(line, is_noise ? std::int64_t{-1} : std::int64_t{r.labels[i]}, '\n');
    out << line;
  }
}

void write_statistics(std::ostream& out, const common::distance_statistics& s) {
  out << "statistic,value\n";
  common::for_each_statistic(s, [&](const std::string& name, double value) {
    std::string line = name + ',';
    append(line, value, '\n');
    out << line;
  });
}

/// The mean and the range of the counts of balls.
struct count_summary {
  double mean = 0;
  std::uint32_t least = 0, most = 0;

  explicit count_summary(const std::vector<std::uint32_t>& counts) {
    if (counts.empty()) return;
    mean = static_cast<double>(std::reduce(counts.begin(), counts.end(), std::uint64_t{0})) /
           static_cast<double>(counts.size());
    least = *std::ranges::min_element(counts);
    most = *std::ranges::max_element(counts);
  }
};

nlohmann::ordered_json to_json(const results& r, int dimensions, const options& o) {
  auto json = common::new_report("spatial");
  json["points"] = r.build.points;
  json["dimensions"] = dimensions;
  json["nodes"] = r.build.nodes;
  json.update(common::to_json(static_cast<const ramify::run_report&>(r.build)));
  json["seconds"] = r.total_ms * 1e-3;
  json["queries"] = r.queries;
  if (o.nearest > 0) json["nearest"] = {{"k", o.nearest}, {"work_ms", r.nearest_ms}};
  if (o.within) {
    const count_summary counts(r.counts);
    json["within"] = {{"radius", *o.within},
                      {"mean", counts.mean},
                      {"minimum", counts.least},
                      {"maximum", counts.most},
                      {"work_ms", r.within_ms}};
  }
  if (o.cluster) {
    json["clusters"] = {{"radius", *o.cluster},
                        {"min_points", o.clusters.min_points},
                        {"clusters", r.clusters.clusters},
                        {"core_points", r.clusters.core_points},
                        {"noise", r.clusters.noise},
                        {"work_ms", r.clusters.work_ms}};
  }
  if (r.statistics) {
    auto& all = json["statistics"];
    common::for_each_statistic(*r.statistics,
                               [&](const std::string& name, double value) { all[name] = value; });
  }
  if (o.verify) json["verified_queries"] = r.verified;
  return json;
}

void print(std::ostream& out, const results& r, int dimensions, const options& o) {
  out << "dimensions: " << dimensions << '\n' << r.build;
  if (o.nearest > 0) {
    out << "nearest neighbors: " << o.nearest << " of each of " << r.queries
        << " queries, milliseconds: " << r.nearest_ms << '\n';
  }
  if (o.within) {
    const count_summary counts(r.counts);
    out << "points within " << *o.within << ": " << counts.mean << " on average, " << counts.least
        << " to " << counts.most << ", milliseconds: " << r.within_ms << '\n';
  }
  if (o.cluster) {
    out << "clusters: " << r.clusters.clusters << " at distances of at most " << *o.cluster << ", "
        << r.clusters.core_points << " core points, " << r.clusters.noise
        << " points of noise, milliseconds: " << r.clusters.work_ms << '\n';
  }
  if (r.statistics) {
    common::for_each_statistic(*r.statistics, [&](std::string name, double value) {
      std::ranges::replace(name, '_', ' ');
      out << "nearest distance, " << name << ": " << value << '\n';
    });
  }
  common::print_launch_costs(out, r.build);
  if (o.verify) out << "verified: " << r.verified << " queries\n";
}

void check(const options& o) {
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
  validate(o.build);
}

/// Reads or generates the points. \throws common::bad_input if they are too few
common::point_set read(const options& o) {
  if (o.kind) return common::make_cloud(*o.kind, o.n, o.dimensions, o.seed);
  return common::read_points(o.input);
}

void run(options o) {
  check(o);
  common::progress_bar progress("searching for neighbors", o.quiet);
  const common::point_set set = read(o);
  const std::size_t fewest = o.statistics.empty() ? 1 : 2;
  if (set.points.size() < fewest) {
    const std::string needs = fewest == 1 ? "" : "; --statistics needs two or more";
    throw common::bad_input(common::name_of_input(o.input) + ": the number of points is " +
                            std::to_string(set.points.size()) + needs);
  }
  if (!o.tree.empty() && set.dimensions != 2) {
    throw std::invalid_argument("--tree draws two dimensions; the points have three");
  }
  std::optional<common::point_set> places;
  if (!o.queries.empty()) {
    places = common::read_points(o.queries);
    if (!places->points.empty() && places->dimensions != set.dimensions) {
      throw common::bad_input(common::name_of_input(o.queries) + ": the places have " +
                              std::to_string(places->dimensions) + " dimensions, and the points " +
                              std::to_string(set.dimensions));
    }
  }
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.build.trace = &trace;
  const results r = set.dimensions == 2 ? run_with<2>(set, places, o) : run_with<3>(set, places, o);
  progress.clear();
  const auto write = [](const std::string& file, const auto& content) {
    if (!file.empty()) common::write_file(file, content);
  };
  write(o.output, [&](std::ostream& out) { write_neighbors(out, r, o.nearest); });
  write(o.counts, [&](std::ostream& out) { write_counts(out, r); });
  write(o.labels, [&](std::ostream& out) { write_labels(out, r); });
  write(o.statistics, [&](std::ostream& out) { write_statistics(out, *r.statistics); });
  common::write_trace(o.trace, trace);
  std::string to_standard_output;
  for (const std::string& file : {o.output, o.counts, o.labels, o.statistics}) {
    if (file == "-") to_standard_output = file;
  }
  common::write_report(
      o.report, common::report_stream(to_standard_output),
      [&] { return to_json(r, set.dimensions, o); },
      [&](std::ostream& out) {
        print(out, r, set.dimensions, o);
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "spatial", "Builds a spatial tree over points, draws it, and finds neighbors.", argc, argv,
      [&](CLI::App& app) { declare(app, o); }, [&] { run(o); });
}
