// SPDX-License-Identifier: BSD-3-Clause
// Approximates Bezier curves by polylines, or Bezier patches by a triangle mesh without cracks, to
// a given accuracy.
//
//   tessellate --teapot --output teapot.ply --compare
//   tessellate --generate curves --n 50 --flatness 1e-4 --output curves.svg
//   tessellate --input patches.txt --flatness 0.1 --output patches.ply
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <ramify/tessellation.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

#include "bezier_shapes.hpp"
#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "tessellation_check.hpp"

namespace {

using common::shape_kind;

struct options {
  std::string input, output, trace, report = "text";
  std::optional<shape_kind> generated;
  std::size_t n = 100;
  std::uint64_t seed = 1;
  bool teapot = false, compare = false, quiet = false;
  ramify::tessellation_options tessellation;
  ramify::environment env;
  common::file_options files;
};

void declare_shapes(CLI::App& app, options& o) {
  auto* teapot = app.add_flag("--teapot", o.teapot, "The 32 patches of the Utah teapot");
  auto* input =
      o.files
          .add_input(app, "--input", o.input,
                     "Text file with a shape on each line: 4 points x y of a cubic curve, or 16 "
                     "points x y z of a bicubic patch")
          ->excludes(teapot);
  auto* generate =
      app.add_option("--generate", common::parsed_by(common::parse_shape_kind, o.generated),
                     "Kind of the generated shapes: curves, or patches of a terrain");
  generate->type_name("NAME")->excludes(input)->excludes(teapot);
  app.add_option("--n", o.n, "Number of generated shapes")
      ->transform(common::whole_number(1, (std::uint64_t{1} << 31) - 2))
      ->capture_default_str()
      ->needs(generate);
  common::add_whole_number(app, "--seed", o.seed, "Seed of the generator")->needs(generate);
}

void declare(CLI::App& app, options& o) {
  ramify::tessellation_options& t = o.tessellation;
  declare_shapes(app, o);
  common::add_number(app, "--flatness", t.flatness, {1e-100, 1e100},
                     "Maximum distance of the curves or the surface from the result");
  app.add_option("--max-depth", t.max_depth,
                 "Maximum number of times that a curve or an edge is halved")
      ->transform(common::whole_number(1, 31))
      ->capture_default_str();
  o.files
      .add_output(app, "--output", o.output,
                  "File for the result: curves as SVG (.svg), patches as PLY (.ply)")
      ->check([](const std::string& file) -> std::string {
        if (file == "-" || common::has_extension(file, ".svg")) return {};
        if (common::has_extension(file, ".ply")) return {};
        return "'" + file + "' must end in .svg (curves) or .ply (patches), or be -";
      });
  app.add_flag("--compare", o.compare,
               "Measure the largest distance, and count the edges of a mesh that do not occur "
               "twice; a fault is an error");
  common::add_launch_options(app, o.env);
  common::add_choice(app, "--strategy", ramify::parse_traverse_strategy, t.strategy,
                     "work_sharing or task_per_node");
  common::add_whole_number(app, "--capacity", t.capacity,
                           "Maximum number of frontier nodes; 0 selects a default");
  common::add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
                     "What launches the rounds on the flat route: automatic, graph, host");
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

/// The measured properties of a result.
struct comparison {
  double distance = 0;  ///< the largest one of sampled points; infinity without any triangle
  double rounding = 0;  ///< of the measured distance
  std::size_t without_area = 0;  ///< patches that are points or lines and have no triangles
  std::optional<common::edge_counts> edges{};  ///< of a mesh
};

/// The result for the shapes of one kind. The other result is empty.
struct results {
  ramify::polylines lines{};
  ramify::triangle_mesh mesh{};
  ramify::tessellation_report report{};
  std::optional<comparison> compared{};
};

/// Returns the largest magnitude of a coordinate of shapes.
template <class Shape>
double largest_coordinate(const std::vector<Shape>& shapes) {
  double largest = 0;
  for (const Shape& shape : shapes) {
    const std::span numbers(reinterpret_cast<const double*>(&shape),
                            sizeof(Shape) / sizeof(double));
    for (const double x : numbers) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

constexpr double relative_rounding = 1e-14;

comparison compare(const common::bezier_shapes& shapes, const ramify::polylines& lines,
                   common::progress_bar& progress) {
  comparison c;
  progress.set_work("measuring the distance", shapes.size());
  c.rounding = relative_rounding * largest_coordinate(shapes.curves);
  for (std::size_t i = 0; i < shapes.curves.size(); ++i) {
    const auto line = lines.line(i);
    const std::size_t samples = std::clamp<std::size_t>(8 * line.size(), 64, 1 << 20);
    c.distance =
        std::max(c.distance, common::distance_of_curve(shapes.curves[i], line, int(samples)));
    progress.show(i + 1);
  }
  return c;
}

comparison compare(const common::bezier_shapes& shapes, const ramify::triangle_mesh& mesh,
                   common::progress_bar& progress) {
  comparison c;
  progress.set_work("measuring the distance", shapes.size());
  c.rounding = relative_rounding * largest_coordinate(shapes.patches);
  // Four samples along the side of an average triangle.
  const double triangles = double(mesh.triangles.size()) / double(shapes.patches.size());
  const double samples = std::clamp(4 * std::sqrt(triangles / 2), 8.0, 256.0);
  std::vector<ramify::bicubic_patch> surface;
  std::ranges::copy_if(shapes.patches, std::back_inserter(surface), common::has_area);
  c.without_area = shapes.patches.size() - surface.size();
  std::uint64_t done = c.without_area;
  c.distance = common::distance_of_surface(surface, mesh.vertices, mesh.triangles, int(samples),
                                           [&] { progress.show(++done); });
  c.edges = common::count_edges(surface, mesh.vertices, mesh.triangles);
  return c;
}

nlohmann::ordered_json to_json(const results& r, const common::bezier_shapes& shapes,
                               const options& o) {
  auto json = common::new_report("tessellate");
  json["kind"] = to_string(shapes.kind);
  json["shapes"] = shapes.size();
  json["flatness"] = o.tessellation.flatness;
  json["pieces"] = r.report.pieces;
  json["points"] = r.report.points;
  json["limited"] = r.report.limited;
  json["degenerate"] = r.report.degenerate;
  json["traversals"] = r.report.traversals;
  json.update(common::to_json(static_cast<const ramify::run_report&>(r.report)));
  json["rounds"] = r.report.rounds;
  json["peak_frontier_nodes"] = r.report.peak_frontier_nodes;
  json["seconds"] = r.report.total_ms * 1e-3;
  if (r.compared) {
    json["largest_distance"] = r.compared->distance;
    if (const auto& edges = r.compared->edges) {
      json["patches_without_area"] = r.compared->without_area;
      json["edges"] = edges->edges;
      json["border_edges"] = edges->on_free_borders;
      json["wrong_edges"] = edges->wrong;
      json["turned_edges"] = edges->turned;
    }
  }
  return json;
}

void print(std::ostream& out, const results& r, const common::bezier_shapes& shapes,
           const options& o) {
  out << to_string(shapes.kind) << ": " << shapes.size()
      << "\nflatness: " << o.tessellation.flatness << '\n'
      << r.report;
  if (r.compared) {
    out << "largest measured distance: " << r.compared->distance << '\n';
    if (const auto& edges = r.compared->edges) {
      out << "patches without area, which are not measured: " << r.compared->without_area
          << "\nedges: " << edges->edges << "\nborder edges: " << edges->on_free_borders
          << "\nedges that do not occur twice: " << edges->wrong
          << "\nedges between patches of different orientations: " << edges->turned << '\n';
    }
  }
  common::print_launch_costs(out, r.report);
}

/// Returns a message if the result is too far from the shapes or has a crack, else an empty text.
std::string fault_of(const results& r, const options& o) {
  if (!r.compared) return {};
  std::ostringstream text;
  const auto& [distance, rounding, without_area, edges] = *r.compared;
  if (distance == HUGE_VAL) {
    text << "the mesh has no triangles; pieces that were not divided further: " << r.report.limited;
  } else if (!(distance <= o.tessellation.flatness + rounding)) {
    text << "the largest measured distance is " << distance << ", more than the flatness "
         << o.tessellation.flatness
         << "; pieces that were not divided further: " << r.report.limited;
  } else if (edges && edges->wrong > 0) {
    text << "the mesh has cracks: " << edges->wrong << " of its " << edges->edges
         << " edges do not occur exactly twice";
  }
  return text.str();
}

/// Checks that the output file has the format of these shapes. \throws std::invalid_argument
void check_format(const options& o, shape_kind kind) {
  if (o.output.empty() || o.output == "-") return;
  const std::string extension = kind == shape_kind::curves ? ".svg" : ".ply";
  if (common::has_extension(o.output, extension)) return;
  throw std::invalid_argument("--output: " + std::string(to_string(kind)) +
                              " are written to a file that ends in " + extension + ", not to '" +
                              o.output + "'");
}

void check(const options& o) {
  o.files.check();
  if (!o.teapot && o.input.empty() && !o.generated) {
    throw std::invalid_argument("give --teapot, --input or --generate");
  }
  if (o.teapot) check_format(o, shape_kind::patches);
  if (o.generated) check_format(o, *o.generated);
  validate(o.tessellation);
}

/// Reads or generates the shapes. \throws common::bad_input for a file without any
common::bezier_shapes read(const options& o) {
  if (o.teapot) return {shape_kind::patches, {}, ramify::utah_teapot()};
  if (o.generated) return common::make_shapes(*o.generated, o.n, o.seed);
  common::bezier_shapes shapes = common::read_shapes(o.input);
  if (shapes.size() == 0) {
    throw common::bad_input(common::name_of_input(o.input) +
                            ": the number of curves and patches is 0");
  }
  check_format(o, shapes.kind);
  return shapes;
}

results tessellate(const common::bezier_shapes& shapes, const options& o,
                   common::progress_bar& progress) {
  results r;
  if (shapes.kind == shape_kind::curves) {
    r.lines = ramify::tessellate_curves(shapes.curves, o.tessellation, o.env);
    r.report = r.lines.report;
    if (o.compare) r.compared = compare(shapes, r.lines, progress);
  } else {
    r.mesh = ramify::tessellate_patches(shapes.patches, o.tessellation, o.env);
    r.report = r.mesh.report;
    if (o.compare) r.compared = compare(shapes, r.mesh, progress);
  }
  return r;
}

void run(options o) {
  check(o);
  common::progress_bar progress(o.input.empty() ? "generating shapes" : "reading the shapes",
                                o.quiet);
  const common::bezier_shapes shapes = read(o);
  progress.set_work("tessellating");
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const results r = tessellate(shapes, o, progress);
  const std::string fault = fault_of(r, o);
  progress.clear();
  if (!o.output.empty() && fault.empty()) {
    common::write_file(o.output, [&](std::ostream& out) {
      shapes.kind == shape_kind::curves ? common::write_svg(out, r.lines)
                                        : common::write_ply(out, r.mesh);
    });
  }
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, common::report_stream(o.output), [&] { return to_json(r, shapes, o); },
      [&](std::ostream& out) {
        print(out, r, shapes, o);
        common::print_trace(out, o.trace, trace);
      });
  if (!fault.empty()) throw std::runtime_error(fault);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "tessellate", "Approximates Bezier curves and patches by polylines and triangle meshes.",
      argc, argv, [&](CLI::App& app) { declare(app, o); }, [&] { run(o); });
}
