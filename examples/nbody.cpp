// SPDX-License-Identifier: BSD-3-Clause
// Simulates bodies under their own gravity with Ramify's Barnes-Hut tree code, and reports the
// energy.
//
//   nbody --plummer 20000 --steps 200 --image cluster.png
//   nbody --input bodies.csv --dt 0.001 --steps 1000 --output moved.csv --report json
//
// Exit status: 0 success; 1 the simulation failed; 2 a bad option; 3 the input cannot be read or is
// malformed; 4 this machine or build cannot run the backend or the route; 5 the output cannot be
// written.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <ramify/nbody.hpp>
#include <string>
#include <vector>

#include "common/bodies.hpp"
#include "common/cli.hpp"
#include "common/density_image.hpp"
#include "common/output_file.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/text_file.hpp"
#include "common/trace_option.hpp"

namespace {

struct options {
  std::string input, output, image, trace, precision = "double", report = "text";
  std::size_t plummer = 2000;
  std::uint64_t seed = 1, steps = 100, energy_every = 10;
  double dt = 0.02, image_side = 0;
  unsigned image_size = 512;
  bool quiet = false;
  ramify::nbody_options gravity;
};

void declare(CLI::App& app, options& o) {
  auto* input =
      app.add_option("--input", o.input, "CSV file with one body x,y,z,vx,vy,vz,m in each line");
  app.add_option("--plummer", o.plummer,
                 "Number of bodies of a generated star cluster, a Plummer sphere")
      ->check(common::whole_number<0>)
      ->capture_default_str()
      ->excludes(input);
  app.add_option("--seed", o.seed, "Seed of the generated cluster")
      ->check(common::whole_number<0>)
      ->capture_default_str()
      ->excludes(input);
  app.add_option("--steps", o.steps, "Number of leapfrog steps")
      ->check(common::whole_number<0>)
      ->capture_default_str();
  app.add_option("--dt", o.dt, "Time step; a negative one goes back in time")
      ->check(common::number_in(-1e30, 1e30))
      ->capture_default_str();
  app.add_option("--theta", o.gravity.theta, "Opening angle; 0 sums all pairs")
      ->check(common::number_in(0, 2))
      ->capture_default_str();
  o.gravity.softening = 0.05;
  app.add_option("--softening", o.gravity.softening, "Softening length")
      ->check(common::number_in(0, 1e30))
      ->capture_default_str();
  app.add_option("--gravity", o.gravity.gravitational_constant, "The gravitational constant G")
      ->check(common::number_in(-1e30, 1e30))
      ->capture_default_str();
  app.add_option("--method", common::parsed_by(ramify::parse_nbody_method, o.gravity.method),
                 "tree, or direct: all pairs");
  app.add_option("--precision", o.precision, "float or double")
      ->check(CLI::IsMember({"float", "double"}))
      ->capture_default_str();
  common::add_launch_options(app, o.gravity);
  common::add_trace_option(app, o.trace);
  app.add_option("--output", o.output, "CSV file for the final bodies");
  auto* image = app.add_option("--image", o.image, "PNG file for the final density");
  app.add_option("--image-size", o.image_size, "Width and height in pixels")
      ->check(common::number_in(1, 16384))
      ->capture_default_str()
      ->needs(image);
  app.add_option("--image-side", o.image_side,
                 "Width and height in length units; 0: contains nine bodies in ten")
      ->check(common::number_in(0, 1e30))
      ->capture_default_str()
      ->needs(image);
  app.add_option("--energy-every", o.energy_every,
                 "Steps between lines of energies; 0: only the first and the last line")
      ->check(common::whole_number<0>)
      ->capture_default_str();
  app.add_flag("--quiet", o.quiet, "No progress bar, and no table");
  app.add_option("--report", o.report, "text or json")->check(CLI::IsMember({"text", "json"}));
}

void check(const options& o) {
  validate(o.gravity);
  if (o.plummer >> 31 != 0) throw std::invalid_argument("--plummer must be less than 2^31");
  std::error_code no_such_file;
  for (const std::string& file : {o.output, o.image, o.trace}) {
    if (!file.empty() && std::filesystem::equivalent(o.input, file, no_such_file)) {
      throw std::invalid_argument(file + " is the input file, which is never changed");
    }
  }
  const auto canonical = [](const std::string& file) {
    return std::filesystem::weakly_canonical(file);
  };
  if (!o.image.empty() && !o.output.empty() && canonical(o.image) == canonical(o.output)) {
    throw std::invalid_argument("--image and --output name the same file");
  }
}

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
  double seconds = 0;
};

/// Returns the relative change of the energy since the first sample.
double drift(const std::vector<energy_sample>& history, const energy_sample& now) {
  const double first = history.front().sums.energy();
  return first == 0 ? 0 : (now.sums.energy() - first) / std::abs(first);
}

void print_table_row(const std::vector<energy_sample>& history, bool header) {
  if (header) {
    std::cout << "       time      kinetic    potential       energy   rel. drift  -2 kin/pot\n";
  }
  const energy_sample& now = history.back();
  const ramify::nbody_conserved& e = now.sums;
  std::cout << std::setw(11) << now.time << std::fixed << std::setprecision(7) << std::setw(13)
            << e.kinetic << std::setw(13) << e.potential << std::setw(13) << e.energy()
            << std::scientific << std::setprecision(2) << std::setw(13) << drift(history, now)
            << std::fixed << std::setprecision(4) << std::setw(12)
            << (e.potential == 0 ? 0 : -2 * e.kinetic / e.potential) << std::defaultfloat
            << std::setprecision(6) << std::endl;
}

template <class Real>
ramify::nbody_simulation<Real> start(const common::bodies& bodies, const options& o) {
  const auto positions = converted<Real>(bodies.positions);
  const auto velocities = converted<Real>(bodies.velocities);
  const std::vector<Real> masses(bodies.masses.begin(), bodies.masses.end());
  try {
    return {positions, velocities, masses, o.gravity};
  } catch (const std::invalid_argument& e) {  // the options are valid, so a body is not
    throw common::bad_input(o.input + ": " + e.what());
  }
}

template <class Real>
outcome simulate(common::bodies bodies, const options& o) {
  using clock = std::chrono::steady_clock;
  outcome all;
  auto simulation = start<Real>(bodies, o);
  common::progress_bar bar(o.steps, "steps", o.quiet);
  const auto record = [&](std::uint64_t step) {
    all.history.push_back({static_cast<double>(step) * o.dt, simulation.conserved()});
    if (o.quiet || o.report == "json") return;
    bar.clear();
    print_table_row(all.history, step == 0);
  };
  record(0);
  for (std::uint64_t step = 1; step <= o.steps; ++step) {
    const auto begin = clock::now();
    try {
      simulation.step(o.dt);
    } catch (const std::invalid_argument& e) {
      throw std::runtime_error("in step " + std::to_string(step) + ": " + e.what());
    }
    all.seconds += std::chrono::duration<double>(clock::now() - begin).count();
    bar.show(step);
    if (step == o.steps || (o.energy_every > 0 && step % o.energy_every == 0)) record(step);
  }

  std::vector<std::array<Real, 3>> positions(simulation.size());
  std::vector<std::array<Real, 3>> velocities(simulation.size());
  simulation.download(positions, velocities);
  all.bodies = std::move(bodies);  // masses do not change
  all.bodies.positions = converted<double>(positions);
  all.bodies.velocities = converted<double>(velocities);
  all.report = simulation.report();
  return all;
}

nlohmann::ordered_json to_json(const outcome& all) {
  nlohmann::ordered_json json{{"method", to_string(all.report.method)},
                              {"bodies", all.report.bodies},
                              {"nodes", all.report.nodes},
                              {"interactions", all.report.interactions}};
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
  return json;
}

void print(const outcome& all, const options& o, const ramify::launch_trace& trace) {
  const double steps_per_second = all.seconds > 0 ? static_cast<double>(o.steps) / all.seconds : 0;
  const double bodies_per_second = steps_per_second * static_cast<double>(all.bodies.size());
  const double last_drift = drift(all.history, all.history.back());
  if (o.report == "json") {
    auto json = to_json(all);
    json["precision"] = o.precision;
    json["steps"] = o.steps;
    json["energy_drift"] = last_drift;
    json["seconds"] = all.seconds;
    json["steps_per_second"] = steps_per_second;
    json["bodies_per_second"] = bodies_per_second;
    std::cout << json.dump(2) << '\n';
    return;
  }
  std::cout << all.report << "precision: " << o.precision << "\nsteps: " << o.steps
            << "\nenergy drift: " << last_drift << "\nseconds: " << all.seconds
            << "\nsteps/s: " << steps_per_second << "\nbodies/s: " << bodies_per_second << '\n';
  common::print_launch_costs(std::cout, all.report);
  common::print_trace(std::cout, o.trace, trace);
}

void run(options o) {
  common::bodies bodies = o.input.empty() ? common::make_plummer_sphere(o.plummer, o.seed)
                                          : common::read_bodies(o.input);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.gravity.trace = &trace;
  const outcome all = o.precision == "float" ? simulate<float>(std::move(bodies), o)
                                             : simulate<double>(std::move(bodies), o);
  if (!o.output.empty()) {
    common::write_file(o.output, [&](std::ostream& out) { common::write_bodies(out, all.bodies); });
  }
  if (!o.image.empty()) {
    common::write_png(o.image, common::draw_density(all.bodies, o.image_size, o.image_side));
  }
  common::write_trace(o.trace, trace);
  print(all, o, trace);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "nbody",
      "Simulates bodies under their own gravity, with a tree that grids build by launching grids.",
      argc, argv, [&](CLI::App& app) { declare(app, o); },
      [&] {
        check(o);
        run(o);
      });
}
