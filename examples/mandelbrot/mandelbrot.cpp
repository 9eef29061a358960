// SPDX-License-Identifier: BSD-3-Clause
// Draws the Mandelbrot set or a Julia set, and the rectangles that were filled or divided.
//
//   mandelbrot --image set.png --image-of-rectangles rectangles.png
//   mandelbrot --center -0.7436,0.1318 --zoom 500 --max-iterations 5000 --compare
//   mandelbrot --julia -0.8,0.156 --palette ocean --image julia.png
//
// Option --help prints the exit statuses.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <ramify/mandelbrot.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/colors.hpp"
#include "common/file_options.hpp"
#include "common/labeled_image.hpp"
#include "common/png_image.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

namespace {

/// The colors of points outside of the set.
enum class palette { fire, ocean, gray };

[[nodiscard]] std::string_view to_string(palette p) {
  return ramify::choice_name(p, {"fire", "ocean", "gray"});
}
[[nodiscard]] palette parse_palette(std::string_view text) {
  return ramify::parse_choice<palette>("palette", text);
}

struct options {
  ramify::mandelbrot_view view{.width = 1024, .height = 1024};
  ramify::mandelbrot_options mandelbrot;
  ramify::environment env;
  std::vector<double> center, julia;
  std::string image, rectangles, trace, report = "text";
  palette colors = palette::fire;
  bool compare = false, labels = false, quiet = false;
  common::file_options files;
};

/// Adds an option for a complex number: its two parts, separated by a comma.
CLI::Option* add_complex(CLI::App& app, const char* name, std::vector<double>& parts,
                         const char* about) {
  return app.add_option(name, parts, about)
      ->type_name("FLOAT")
      ->delimiter(',')
      ->expected(2)
      ->check(common::number_in(-1e6, 1e6));
}

void declare_view(CLI::App& app, options& o) {
  const auto side = common::whole_number(1, ramify::max_mandelbrot_side);
  app.add_option("--width", o.view.width, "Width of the image in pixels")
      ->transform(side)
      ->capture_default_str();
  app.add_option("--height", o.view.height, "Height of the image in pixels")
      ->transform(side)
      ->capture_default_str();
  add_complex(app, "--center", o.center,
              "RE,IM: the point in the middle (default: -0.75,0; for a Julia set 0,0)");
  common::add_number(app, "--zoom", o.view.zoom, {1e-6, 1e300},
                     "The shorter side of the image is 3 / zoom long");
  add_complex(app, "--julia", o.julia, "RE,IM: draw the Julia set of this constant");
}

void declare(CLI::App& app, options& o) {
  using common::add_choice;
  using common::add_whole_number;
  ramify::mandelbrot_options& m = o.mandelbrot;
  declare_view(app, o);
  app.add_option("--max-iterations", m.max_iterations, "Iterations of a point of the set")
      ->transform(common::whole_number(1, 1'000'000'000))
      ->capture_default_str();
  app.add_flag("--skip-bulbs", m.skip_bulbs,
               "Points of the main cardioid and of the disk of period 2 are not iterated");
  add_choice(app, "--method", ramify::parse_mandelbrot_method, m.method,
             "mariani_silver, or exhaustive: all pixels are iterated");
  add_whole_number(app, "--tile", m.tile,
                   "Side of the rectangles of the first division; 0: chosen by the size");
  add_choice(app, "--granularity", ramify::parse_granularity, m.launches.grain,
             "Rectangles that share a child grid: per_task, per_block or per_grid");
  add_whole_number(app, "--threshold", m.launches.threshold,
                   "Rectangles with fewer pixels are not divided; at least 64 applies");
  add_whole_number(app, "--coarsening", m.launches.coarsening,
                   "Rectangles that a block of a shared grid divides", 1);
  add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
             "What launches the levels on the flat route: automatic, graph, host");
  common::add_launch_options(app, o.env);
  common::add_trace_option(app, o.files, o.trace);
  const auto is_png = [](const std::string& file) -> std::string {
    if (common::has_extension(file, ".png")) return {};
    return "'" + file + "' must end in .png, the only format of images";
  };
  auto* image = o.files.add_output(app, "--image", o.image, "PNG file for the set")->check(is_png);
  add_choice(app, "--palette", parse_palette, o.colors, "fire, ocean or gray")->needs(image);
  app.add_flag("--labels", o.labels, "Draw a title and the scale of the colors beside the set")
      ->needs(image);
  o.files
      .add_output(app, "--image-of-rectangles", o.rectangles,
                  "PNG file for the division: lines white, filled pixels blue, others orange")
      ->check(is_png);
  app.add_flag("--compare", o.compare,
               "Run the exhaustive method, too, and count the pixels that differ");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

using gradient = std::array<common::rgb, 5>;

/// The gradients of fire, ocean and gray.
constexpr std::array<gradient, 3> gradients{
    {{{{10, 2, 30}, {120, 20, 60}, {220, 70, 20}, {255, 190, 60}, {255, 255, 230}}},
     {{{2, 6, 40}, {10, 60, 120}, {20, 140, 170}, {130, 220, 200}, {250, 255, 245}}},
     {{{20, 20, 20}, {80, 80, 80}, {140, 140, 140}, {200, 200, 200}, {255, 255, 255}}}}};

/// Returns the place of each dwell in the gradient, from 0 to 1: all colors have equally many
/// pixels. The last place is that of all larger dwells, too.
std::vector<double> shares_of_dwells(const std::vector<std::uint32_t>& dwells, std::uint32_t most) {
  std::vector<std::uint64_t> count(std::min(most, 1u << 20));
  std::uint64_t outside = 0;
  for (const std::uint32_t dwell : dwells) {
    if (dwell == most) continue;
    ++count[std::min<std::size_t>(dwell, count.size() - 1)];
    ++outside;
  }
  std::vector<double> shares;
  std::uint64_t below = 0;
  for (const std::uint64_t here : count) {
    const double middle = static_cast<double>(below) + static_cast<double>(here) / 2;
    shares.push_back(outside == 0 ? 0 : middle / static_cast<double>(outside));
    below += here;
  }
  return shares;
}

common::rgb_image draw_set(const std::vector<std::uint32_t>& dwells, const options& o) {
  const gradient& colors = gradients[static_cast<std::size_t>(o.colors)];
  const auto shares = shares_of_dwells(dwells, o.mandelbrot.max_iterations);
  std::vector<common::rgb> of_dwells;
  for (const double share : shares) of_dwells.push_back(common::color_along(colors, share));
  common::rgb_image picture{o.view.width, o.view.height, std::vector<common::rgb>(dwells.size())};
  std::ranges::transform(dwells, picture.pixels.begin(), [&](std::uint32_t dwell) {
    if (dwell == o.mandelbrot.max_iterations) return common::rgb{0, 0, 0};
    return of_dwells[std::min<std::size_t>(dwell, of_dwells.size() - 1)];
  });
  if (!o.labels) return picture;
  const common::color_scale scale{
      [&](double share) { return common::color_along(colors, share); },
      [&](double share) {
        const auto dwell = std::ranges::lower_bound(shares, share) - shares.begin();
        return static_cast<double>(std::min<std::size_t>(std::size_t(dwell), shares.size() - 1));
      }};
  return common::labeled_image(picture, "iterations until the escape", scale,
                               std::max(1u, std::max(o.view.width, o.view.height) / 512));
}

/// Colors each pixel by its origin.
common::rgb_image draw_rectangles(const std::vector<ramify::pixel_origin>& origins,
                                  const options& o) {
  // The colors of line, filled and iterated.
  constexpr std::array<common::rgb, 3> colors{{{240, 240, 240}, {30, 60, 110}, {230, 130, 40}}};
  common::rgb_image picture{o.view.width, o.view.height, std::vector<common::rgb>(origins.size())};
  std::ranges::transform(origins, picture.pixels.begin(), [&](ramify::pixel_origin origin) {
    return colors[static_cast<std::size_t>(origin)];
  });
  return picture;
}

/// The comparison with the exhaustive method.
struct comparison {
  std::uint64_t differing;  ///< pixels
  double exhaustive_ms;
};

/// Runs the exhaustive method, and counts the pixels whose dwells differ.
comparison compare(const std::vector<std::uint32_t>& dwells, const options& o) {
  auto exhaustive = o.mandelbrot;
  exhaustive.method = ramify::mandelbrot_method::exhaustive;
  auto env = o.env;
  env.trace = nullptr;
  std::vector<std::uint32_t> expected(dwells.size());
  const auto report = ramify::mandelbrot(o.view, expected, exhaustive, env);
  comparison found{0, report.work_ms};
  for (std::size_t i = 0; i < dwells.size(); ++i) {
    if (dwells[i] != expected[i]) ++found.differing;
  }
  return found;
}

nlohmann::ordered_json to_json(const ramify::mandelbrot_report& r,
                               const std::optional<comparison>& compared, const options& o) {
  const auto parts = [](const std::complex<double>& z) {
    return nlohmann::ordered_json{z.real(), z.imag()};
  };
  auto json = common::new_report("mandelbrot");
  json["width"] = o.view.width;
  json["height"] = o.view.height;
  json["center"] = parts(o.view.center);
  json["zoom"] = o.view.zoom;
  json["julia"] = o.view.julia ? parts(*o.view.julia) : nullptr;
  json["max_iterations"] = o.mandelbrot.max_iterations;
  json["method"] = ramify::to_string(o.mandelbrot.method);
  json["iterated_pixels"] = r.iterated_pixels;
  json["filled_pixels"] = r.filled_pixels;
  json["filled_rectangles"] = r.filled_rectangles;
  json["divided_rectangles"] = r.divided_rectangles;
  json["small_rectangles"] = r.small_rectangles;
  json.update(common::to_json(static_cast<const ramify::run_report&>(r)));
  json["seconds"] = r.total_ms * 1e-3;
  if (compared) {
    json["differing_pixels"] = compared->differing;
    json["exhaustive_ms"] = compared->exhaustive_ms;
    json["speedup"] = compared->exhaustive_ms / r.work_ms;
  }
  return json;
}

void print(std::ostream& out, const ramify::mandelbrot_report& r,
           const std::optional<comparison>& compared, const options& o) {
  out << "image: " << o.view.width << " x " << o.view.height
      << "\nmethod: " << ramify::to_string(o.mandelbrot.method) << '\n'
      << r;
  if (compared) {
    out << "pixels that differ from the exhaustive image: " << compared->differing << " of "
        << o.view.pixels() << "\nmilliseconds of the exhaustive method: " << compared->exhaustive_ms
        << "\nspeedup: " << compared->exhaustive_ms / r.work_ms << '\n';
  }
  common::print_launch_costs(out, r);
}

/// Completes and checks the options.
void check(options& o) {
  o.files.check();
  if (!o.julia.empty()) {
    o.view.julia = {o.julia[0], o.julia[1]};
    o.view.center = 0;
  }
  if (!o.center.empty()) o.view.center = {o.center[0], o.center[1]};
  validate(o.view);
  validate(o.mandelbrot);
  const bool divides = o.mandelbrot.method == ramify::mandelbrot_method::mariani_silver;
  if (!divides && (o.compare || !o.rectangles.empty())) {
    throw std::invalid_argument(
        "--compare and --image-of-rectangles are for the method mariani_silver");
  }
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() / sizeof(common::rgb);
  constexpr unsigned most_labeled = 16'384;  // pixels of a side
  if (o.labels && std::max(o.view.width, o.view.height) > most_labeled) {
    throw std::invalid_argument("--labels is for images of at most " +
                                std::to_string(most_labeled) + " pixels a side");
  }
  if ((!o.image.empty() || !o.rectangles.empty()) && o.view.pixels() > most) {
    throw std::invalid_argument("the image has " + std::to_string(o.view.pixels()) +
                                " pixels, and a PNG file at most " + std::to_string(most));
  }
}

void run(options o) {
  check(o);
  common::progress_bar progress("computing the image", o.quiet);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  std::vector<std::uint32_t> dwells(o.view.pixels());
  std::vector<ramify::pixel_origin> origins(o.rectangles.empty() ? 0 : dwells.size());
  const auto report = ramify::mandelbrot(o.view, dwells, origins, o.mandelbrot, o.env);
  std::optional<comparison> compared;
  if (o.compare) compared = compare(dwells, o);
  progress.clear();
  if (!o.image.empty()) common::write_png(o.image, draw_set(dwells, o));
  if (!o.rectangles.empty()) common::write_png(o.rectangles, draw_rectangles(origins, o));
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, std::cout, [&] { return to_json(report, compared, o); },
      [&](std::ostream& out) {
        print(out, report, compared, o);
        common::print_trace(out, o.trace, trace);
      });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "mandelbrot", "Draws the Mandelbrot set or a Julia set with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { declare(app, o); }, [&] { run(o); });
}
