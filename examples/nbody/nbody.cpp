// SPDX-License-Identifier: BSD-3-Clause
// Simulates bodies under their own gravity with Ramify's Barnes-Hut tree code, and reports the
// energy.
//
//   nbody --plummer 20000 --steps 200 --image cluster.png
//   nbody --plummer 2000 --point-mass 5 --center 10,0,0 --collide 1e-3 --collisions close.csv
//   nbody --input bodies.csv --dt 0.001 --steps 1000 --output moved.csv --report json
//
// Option --help prints the exit statuses.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <ramify/nbody.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bodies.hpp"
#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/stop_request.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"
#include "density_image.hpp"
#include "nbody_command_line.hpp"

namespace {

using common::nbody_command_line;

/// Converts vectors to numbers of another type.
template <class To, class From>
std::vector<std::array<To, 3>> converted(const std::vector<std::array<From, 3>>& from) {
  std::vector<std::array<To, 3>> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) to[i][axis] = static_cast<To>(from[i][axis]);
  }
  return to;
}

/// The conserved quantities at one time.
struct energy_sample {
  double time;
  ramify::nbody_conserved sums;
};

struct outcome {
  common::bodies bodies;
  std::vector<energy_sample> history;
  ramify::nbody_report report;
  std::vector<ramify::body_pair> collisions;
  std::uint64_t steps = 0;  ///< completed steps
  double seconds = 0;
};

/// Returns the relative change of the energy since the first sample.
double drift(const std::vector<energy_sample>& history, const energy_sample& now) {
  const double first = history.front().sums.energy();
  return first == 0 ? 0 : (now.sums.energy() - first) / std::abs(first);
}

/// Prints a number in `width` columns: with `decimals` decimals, or with an exponent if it is too
/// large or too small for that.
void print_cell(std::ostream& out, int width, int decimals, double number) {
  const double magnitude = std::abs(number);
  const bool plain = number == 0 || (magnitude >= 1e-3 && magnitude < 1e3);
  out << (plain ? std::fixed : std::scientific) << std::setprecision(plain ? decimals : 4)
      << std::setw(width) << number;
}

void print_table_row(std::ostream& out, const std::vector<energy_sample>& history, bool header) {
  if (header) {
    out << "       time      kinetic    potential       energy   rel. drift  -2 kin/pot\n";
  }
  const energy_sample& now = history.back();
  const ramify::nbody_conserved& e = now.sums;
  out << std::setw(11) << now.time;
  for (const double energy : {e.kinetic, e.potential, e.energy()}) print_cell(out, 13, 7, energy);
  out << std::scientific << std::setprecision(2) << std::setw(13) << drift(history, now);
  print_cell(out, 12, 4, e.potential == 0 ? 0 : -2 * e.kinetic / e.potential);
  out << std::defaultfloat << std::setprecision(6) << std::endl;
}

/// Returns ", line 3" for a message about an element of an array, such as "masses[1] is nan".
std::string place_of(std::string_view message, const common::bodies& bodies) {
  const std::size_t begin = std::min(message.find('['), message.size());
  const std::size_t end = std::min(message.find(']', begin), message.size());
  const auto body =
      common::parse<std::size_t>(message.substr(std::min(begin + 1, end), end - begin - 1));
  return body && *body < bodies.size() ? ", line " + std::to_string(bodies.lines[*body]) : "";
}

template <class Real>
ramify::nbody_simulation<Real> start(const common::bodies& bodies, const nbody_command_line& o) {
  const auto positions = converted<Real>(bodies.positions);
  const auto velocities = converted<Real>(bodies.velocities);
  const std::vector<Real> masses(bodies.masses.begin(), bodies.masses.end());
  try {
    const auto& f = o.field;
    const bool has_field =
        f.uniform != std::array<double, 3>{} || f.stiffness != 0 || f.point_mass != 0;
    if (has_field) return {positions, velocities, masses, f, o.gravity, o.env};
    return {positions, velocities, masses, o.gravity, o.env};
  } catch (const std::invalid_argument& e) {  // the options are valid, so a body is not
    const std::string place = o.input.empty() ? "" : place_of(e.what(), bodies);
    throw common::bad_input(common::name_of_input(o.input) + place + ": " + e.what());
  }
}

/// Returns the pairs of bodies that are closer than a distance: counts them, and lists them.
template <class Real>
std::vector<ramify::body_pair> pairs_within(const std::vector<std::array<Real, 3>>& positions,
                                            double distance, const ramify::environment& env) {
  const std::vector<Real> radii(positions.size(), static_cast<Real>(distance / 2));
  std::vector<ramify::body_pair> pairs;
  const auto find = [&] {
    return ramify::find_collisions<Real>(positions, radii, pairs, env).collisions;
  };
  pairs.resize(find());
  if (!pairs.empty()) (void)find();
  return pairs;
}

template <class Real>
outcome simulate(common::bodies bodies, const nbody_command_line& o,
                 const common::stop_request& stop) {
  using clock = std::chrono::steady_clock;
  outcome all;
  common::progress_bar bar(o.steps, "steps", o.quiet);
  auto simulation = start<Real>(bodies, o);  // computes the first forces, which may take long
  const auto record = [&](std::uint64_t step) {
    all.history.push_back({static_cast<double>(step) * o.dt, simulation.conserved()});
    if (o.quiet || o.report == "json") return;
    bar.clear();
    print_table_row(common::report_stream(o.output), all.history, step == 0);
  };
  record(0);
  for (std::uint64_t step = 1; step <= o.steps && !stop.made(); ++step) {
    const auto begin = clock::now();
    try {
      simulation.step(o.dt);
    } catch (const std::invalid_argument& e) {
      throw std::runtime_error("in step " + std::to_string(step) + ": " + e.what());
    }
    all.seconds += std::chrono::duration<double>(clock::now() - begin).count();
    all.steps = step;
    bar.show(step);
    if (step == o.steps || stop.made() || (o.energy_every > 0 && step % o.energy_every == 0))
      record(step);
  }

  std::vector<std::array<Real, 3>> positions(simulation.size());
  std::vector<std::array<Real, 3>> velocities(simulation.size());
  simulation.download(positions, velocities);
  all.bodies = std::move(bodies);  // masses do not change
  all.bodies.positions = converted<double>(positions);
  all.bodies.velocities = converted<double>(velocities);
  all.report = simulation.report();
  if (o.finds_collisions()) all.collisions = pairs_within(positions, o.collide, o.env);
  return all;
}

/// The number of steps per second.
double rate(const outcome& all) {
  return all.seconds > 0 ? static_cast<double>(all.steps) / all.seconds : 0;
}

nlohmann::ordered_json to_json(const outcome& all, const nbody_command_line& o) {
  auto json = common::new_report("nbody");
  json["method"] = to_string(all.report.method);
  json["bodies"] = all.report.bodies;
  json["nodes"] = all.report.nodes;
  json["interactions"] = all.report.interactions;
  json["force_calculations"] = all.report.force_calculations;
  json["bodies_on_level"] = all.report.bodies_on_level;
  json.update(common::to_json(static_cast<const ramify::run_report&>(all.report)));
  for (const energy_sample& now : all.history) {
    json["energies"].push_back({{"time", now.time},
                                {"kinetic", now.sums.kinetic},
                                {"potential", now.sums.potential},
                                {"energy", now.sums.energy()},
                                {"relative_drift", drift(all.history, now)},
                                {"momentum", now.sums.momentum},
                                {"angular_momentum", now.sums.angular_momentum}});
  }
  if (o.finds_collisions()) json["collisions"] = all.collisions.size();
  json["precision"] = o.precision;
  json["steps"] = all.steps;
  json["energy_drift"] = drift(all.history, all.history.back());
  json["seconds"] = all.seconds;
  json["steps_per_second"] = rate(all);
  json["bodies_per_second"] = rate(all) * static_cast<double>(all.bodies.size());
  return json;
}

void print(std::ostream& out, const outcome& all, const nbody_command_line& o) {
  out << all.report;
  if (o.finds_collisions()) out << "collisions: " << all.collisions.size() << '\n';
  out << "precision: " << o.precision << "\nsteps: " << all.steps
      << "\nenergy drift: " << drift(all.history, all.history.back())
      << "\nseconds: " << all.seconds << "\nsteps/s: " << rate(all)
      << "\nbodies/s: " << rate(all) * static_cast<double>(all.bodies.size()) << '\n';
  common::print_launch_costs(out, all.report);
}

void run(nbody_command_line o) {
  common::bodies bodies;
  {
    const common::progress_bar reading("reading the bodies", o.quiet);
    bodies = o.input.empty() ? common::make_plummer_sphere(o.plummer, o.seed)
                             : common::read_bodies(o.input, o.precision == "float"
                                                                ? common::body_precision::float32
                                                                : common::body_precision::float64);
  }
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const common::stop_request stop;
  const outcome all = o.precision == "float" ? simulate<float>(std::move(bodies), o, stop)
                                             : simulate<double>(std::move(bodies), o, stop);
  if (!o.output.empty()) {
    common::write_file(o.output, [&](std::ostream& out) { common::write_bodies(out, all.bodies); });
  }
  if (!o.collisions.empty()) {
    common::write_file(o.collisions, [&](std::ostream& out) {
      out << "first,second\n";
      for (const auto& [first, second] : all.collisions) out << first << ',' << second << '\n';
    });
  }
  if (!o.image.empty()) {
    common::write_png(o.image, common::draw_density(all.bodies, o.dt * double(all.steps),
                                                    o.image_size, o.image_side));
  }
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, common::report_stream(o.output), [&] { return to_json(all, o); },
      [&](std::ostream& out) {
        print(out, all, o);
        common::print_trace(out, o.trace, trace);
      });
  if (stop.made()) {
    stop.finish("the results are of step " + std::to_string(all.steps) + " of " +
                std::to_string(o.steps));
  }
}

}  // namespace

int main(int argc, char** argv) {
  nbody_command_line o;
  return common::run_program(
      "nbody",
      "Simulates bodies under their own gravity, with a tree that grids build by launching grids.",
      argc, argv, [&](CLI::App& app) { declare(app, o); },
      [&] {
        check(o);
        run(o);
      });
}
