// SPDX-License-Identifier: BSD-3-Clause
// Builds a spatial tree over points that are read from a file or generated, draws it, and finds
// neighbors.
//
//   spatial --generate clusters --n 2000 --tree tree.svg
//   spatial --input points.csv --nearest 8 --output neighbors.csv
//   spatial --input points.csv --queries places.csv --within 0.1 --counts counts.csv
//   spatial --generate curve --dimensions 3 --statistics statistics.csv
//   spatial --input points.csv --cluster 0.1 --min-points 5 --labels labels.csv
//   spatial --input points.csv --within 0.1 --counts counts.csv --period 1,1,0
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iostream>
#include <optional>
#include <ramify/spatial_tree.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "distance_statistics.hpp"
#include "neighbor_check.hpp"
#include "points.hpp"
#include "quadtree_image.hpp"
#include "spatial_command_line.hpp"
#include "spatial_results.hpp"

namespace {

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

void draw_tree(const common::quadtree_picture& picture, const common::spatial_command_line& o) {
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
            bool own, const common::spatial_command_line& o, common::spatial_results& r) {
  const auto count_time = [&](const ramify::run_report& report) {
    r.total_ms += report.total_ms;
    return report.work_ms;
  };
  r.queries = queries.size();
  if (o.nearest > 0) {
    r.ids.resize(queries.size() * o.nearest);
    r.distances.resize(r.ids.size());
    r.nearest_ms =
        count_time(own ? index.all_nearest_neighbors(o.nearest, true, r.ids, r.distances, o.query)
                       : index.nearest(queries, o.nearest, r.ids, r.distances, o.query));
  }
  if (o.within) {
    r.counts.resize(queries.size());
    r.within_ms = count_time(index.radius_count(queries, *o.within, r.counts, o.query));
    if (own) {
      for (std::uint32_t& count : r.counts) --count;  // the point itself
    }
  }
  if (o.cluster) {
    r.labels.resize(r.build.points);
    r.clusters = index.find_clusters(*o.cluster, r.labels, o.min_points, o.query);
    count_time(r.clusters);
  }
  if (!o.statistics.empty()) {
    std::vector<std::uint32_t> ids(r.build.points);
    std::vector<double> distances(ids.size());
    count_time(index.all_nearest_neighbors(1, true, ids, distances, o.query));
    auto root = index.nodes()[0];
    for (std::size_t axis = 0; axis < dim; ++axis) {
      if (o.query.period[axis] == 0) continue;
      root.lower[axis] = 0;
      root.upper[axis] = o.query.period[axis];
    }
    r.statistics = common::statistics_of(std::move(distances), root.lower, root.upper);
  }
}

template <std::size_t dim>
common::spatial_results run_with(const common::point_set& set,
                                 const std::optional<common::point_set>& places,
                                 const common::spatial_command_line& o) {
  const auto points = with_dimensions<dim>(set);
  const auto queries = places ? with_dimensions<dim>(*places) : points;
  common::spatial_results r;
  const ramify::spatial_index<double, int{dim}> index(points, o.build, o.env);
  r.build = index.report();
  r.total_ms = r.build.total_ms;
  search<dim>(index, queries, !places, o, r);
  if (o.verify) {
    r.verified = common::verify_neighbors<dim>(
        points, queries, !places,
        {o.nearest, r.ids, r.distances, o.within, r.counts, o.query.period});
  }
  if constexpr (dim == 2) {
    if (!o.tree.empty()) draw_tree(picture_of(points, index.nodes()), o);
  }
  return r;
}

/// Reads or generates the points. \throws common::bad_input if they are too few
common::point_set read(const common::spatial_command_line& o) {
  const common::point_set set = o.kind ? common::make_cloud(*o.kind, o.n, o.dimensions, o.seed)
                                       : common::read_points(o.input, o.columns);
  const std::size_t fewest = o.statistics.empty() ? 1 : 2;
  if (set.points.size() < fewest) {
    const std::string needs = fewest == 1 ? "" : "; --statistics needs two or more";
    throw common::bad_input(common::name_of_input(o.input) + ": the number of points is " +
                            std::to_string(set.points.size()) + needs);
  }
  return set;
}

/// Reads the places of the queries, if the option --queries is given. \throws common::bad_input if
/// they have another number of dimensions than the points
std::optional<common::point_set> read_places(const common::spatial_command_line& o,
                                             int dimensions) {
  if (o.queries.empty()) return std::nullopt;
  common::point_set places = common::read_points(o.queries);
  if (!places.points.empty() && places.dimensions != dimensions) {
    throw common::bad_input(common::name_of_input(o.queries) + ": the places have " +
                            std::to_string(places.dimensions) + " dimensions, and the points " +
                            std::to_string(dimensions));
  }
  return places;
}

/// Sets the period of the queries. \throws std::invalid_argument if the option --period does not
/// suit the points
void set_period(common::spatial_command_line& o, const common::point_set& set) {
  const auto dimensions = static_cast<std::size_t>(set.dimensions);
  if (o.period.size() > 1 && o.period.size() != dimensions) {
    throw std::invalid_argument("--period has " + std::to_string(o.period.size()) +
                                " numbers; the points have " + std::to_string(dimensions) +
                                " dimensions");
  }
  for (std::size_t axis = 0; axis < dimensions && !o.period.empty(); ++axis) {
    const double period = o.period[o.period.size() == 1 ? 0 : axis];
    o.query.period[axis] = period;
    const auto [least, most] = std::ranges::minmax(
        set.points, {}, [&](const std::array<double, 3>& p) { return p[axis]; });
    if (period == 0 || most[axis] / 2 - least[axis] / 2 <= period / 2) continue;
    std::ostringstream text;
    text << "--period is " << period << ", but the points have coordinates "
         << "xyz"[axis] << " from " << least[axis] << " to " << most[axis];
    throw std::invalid_argument(text.str());
  }
  o.query.squared = false;
}

void run(common::spatial_command_line o) {
  common::check(o);
  common::progress_bar progress("searching for neighbors", o.quiet);
  const common::point_set set = read(o);
  if (!o.tree.empty() && set.dimensions != 2) {
    throw std::invalid_argument("--tree draws two dimensions; the points have three");
  }
  const std::optional<common::point_set> places = read_places(o, set.dimensions);
  set_period(o, set);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  common::spatial_results r =
      set.dimensions == 2 ? run_with<2>(set, places, o) : run_with<3>(set, places, o);
  r.columns = set.columns;
  progress.clear();
  common::write_tables(r, o);
  common::write_trace(o.trace, trace);
  std::string to_standard_output;
  for (const std::string& file : {o.output, o.counts, o.labels, o.statistics}) {
    if (file == "-") to_standard_output = file;
  }
  common::write_report(
      o.report, common::report_stream(to_standard_output),
      [&] { return common::to_json(r, set.dimensions, o); },
      [&](std::ostream& out) {
        common::print(out, r, set.dimensions, o);
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  common::spatial_command_line o;
  return common::run_program(
      "spatial", "Builds a spatial tree over points, draws it, and finds neighbors.", argc, argv,
      [&](CLI::App& app) { common::declare(app, o); }, [&] { run(o); });
}
