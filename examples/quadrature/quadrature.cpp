// SPDX-License-Identifier: BSD-3-Clause
// Integrates a member of one of Genz's six families of test functions over the unit cube.
//
//   quadrature --family gaussian --dimensions 5 --relative-tolerance 1e-6 --verify
//   quadrature --family c0 --a 3 --a 5 --u 0.2 --u 0.7 --relative-tolerance 1e-9 --report json
//
// Option --help prints the exit statuses.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <ramify/quadrature.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli.hpp"
#include "common/file_options.hpp"
#include "common/progress_bar.hpp"
#include "common/report_json.hpp"
#include "common/trace_option.hpp"

namespace {

struct options {
  ramify::genz_family family = ramify::genz_family::gaussian;
  unsigned dimensions = 3;
  std::uint64_t seed = 1;
  double difficulty = 0;
  std::vector<double> a, u;
  std::string trace, report = "text";
  ramify::quadrature_options quadrature;
  ramify::environment env;
  bool verify = false;
  bool quiet = false;
  common::file_options files;
};

// Declares the integrand: a random member of a family, or one with given parameters.
void declare_integrand(CLI::App& app, options& o) {
  common::add_choice(app, "--family", ramify::parse_genz_family, o.family,
                     "oscillatory, product_peak, corner_peak, gaussian, c0 or discontinuous");
  auto* dimensions = app.add_option("--dimensions", o.dimensions, "Dimensions, from 1 to 8")
                         ->transform(common::whole_number(1, ramify::max_quadrature_dimensions))
                         ->capture_default_str();
  auto* seed = common::add_whole_number(app, "--seed", o.seed, "Seed of the random parameters");
  auto* difficulty = common::add_number(app, "--difficulty", o.difficulty, {0, 1e6},
                                        "Sum of the a; 0 selects Genz's sum for the family");
  auto* a = app.add_option("--a", o.a, "Parameter a of the next axis: how difficult it is")
                ->check(common::number_in(1e-9, 1e9))
                ->expected(1)
                ->take_all();
  auto* u = app.add_option("--u", o.u, "Parameter u of the next axis: the place of the feature")
                ->check(common::number_in(0, 1))
                ->expected(1)
                ->take_all();
  a->needs(u)->excludes(dimensions)->excludes(seed)->excludes(difficulty);
  u->needs(a);
}

void declare(CLI::App& app, options& o) {
  using common::add_number;
  using common::add_whole_number;
  declare_integrand(app, o);
  add_number(app, "--relative-tolerance", o.quadrature.relative_tolerance, {0, 0.99},
             "Relative tolerance");
  add_number(app, "--absolute-tolerance", o.quadrature.absolute_tolerance, {0, 1e300},
             "Absolute tolerance; the larger one of both tolerances counts");
  add_whole_number(app, "--max-evaluations", o.quadrature.max_evaluations,
                   "Maximum number of points", 1);
  add_whole_number(app, "--min-evaluations", o.quadrature.min_evaluations,
                   "All regions are split until this number of points is evaluated");
  common::add_choice(app, "--flat-loop", ramify::parse_flat_loop, o.env.flat_loop,
                     "What launches the rounds on the flat route: automatic, graph, host");
  common::add_launch_options(app, o.env);
  common::add_trace_option(app, o.files, o.trace);
  app.add_flag("--verify", o.verify, "Compare with the closed form");
  app.add_flag("--quiet", o.quiet, "No progress display");
  o.files.add_report(app, o.report);
}

// Returns the requested member of the family. Throws std::invalid_argument if --a and --u are not
// given equally often, or more than 8 times.
ramify::genz_integrand integrand_of(const options& o) {
  if (o.a.empty()) {
    const double sum = o.difficulty > 0 ? o.difficulty : genz_difficulty(o.family);
    return random_genz(o.family, o.dimensions, o.seed, sum);
  }
  if (o.a.size() != o.u.size() || o.a.size() > ramify::max_quadrature_dimensions) {
    throw std::invalid_argument("--a is given " + std::to_string(o.a.size()) + " times and --u " +
                                std::to_string(o.u.size()) +
                                " times; both must be given once for each of 1 to 8 axes");
  }
  ramify::genz_integrand f{o.family, static_cast<unsigned>(o.a.size()), {}, {}};
  std::ranges::copy(o.a, f.a.begin());
  std::ranges::copy(o.u, f.u.begin());
  return f;
}

// All data of the report.
struct outcome {
  ramify::genz_integrand f;
  ramify::quadrature_result found;
  double exact;
  double seconds;
};

// Returns the coordinates of the point that ended the quadrature with the status not_finite.
std::vector<double> not_finite_at(const outcome& all) {
  const auto begin = all.found.not_finite_at.begin();
  return {begin, begin + all.f.dimensions};
}

nlohmann::ordered_json to_json(const outcome& all, const options& o) {
  auto json = common::new_report("quadrature");
  json["family"] = ramify::to_string(all.f.family);
  json["dimensions"] = all.f.dimensions;
  json["a"] = std::vector(all.f.a.begin(), all.f.a.begin() + all.f.dimensions);
  json["u"] = std::vector(all.f.u.begin(), all.f.u.begin() + all.f.dimensions);
  json["status"] = ramify::to_string(all.found.status);
  json["value"] = all.found.value;
  json["error"] = all.found.error;
  json["regions"] = all.found.regions;
  json["evaluations"] = all.found.evaluations;
  if (all.found.status == ramify::quadrature_status::not_finite) {
    json["not_finite_at"] = not_finite_at(all);
  }
  json["rounds"] = all.found.report.rounds;
  json["check_evaluations"] = all.found.report.check_evaluations;
  json.update(common::to_json(static_cast<const ramify::run_report&>(all.found.report)));
  json["seconds"] = all.seconds;
  json["evaluations_per_second"] = static_cast<double>(all.found.evaluations) / all.seconds;
  if (o.verify) json["exact"] = all.exact;
  return json;
}

void print(std::ostream& out, const outcome& all, const options& o) {
  const auto precision = out.precision(15);
  out << "status: " << ramify::to_string(all.found.status) << "\nvalue: " << all.found.value;
  if (o.verify) out << "\nexact: " << all.exact;
  if (all.found.status == ramify::quadrature_status::not_finite) {
    out << "\nnot finite at:";
    for (const double x : not_finite_at(all)) out << ' ' << x;
  }
  out.precision(precision);
  out << "\nerror bound: " << all.found.error;
  if (o.verify) out << "\ntrue error: " << std::fabs(all.found.value - all.exact);
  out << "\nregions: " << all.found.regions << "\nevaluations: " << all.found.evaluations << '\n'
      << all.found.report << "seconds: " << all.seconds
      << "\nevaluations per second: " << static_cast<double>(all.found.evaluations) / all.seconds
      << '\n';
  common::print_launch_costs(out, all.found.report);
}

// Throws std::runtime_error if the quadrature has not converged or, with --verify, if the true
// error exceeds the tolerance.
void check_outcome(const outcome& all, const options& o) {
  const double tolerance = std::max(o.quadrature.absolute_tolerance,
                                    o.quadrature.relative_tolerance * std::fabs(all.exact));
  if (!all.found.converged()) {
    throw std::runtime_error("the tolerance was not reached (" +
                             std::string(ramify::to_string(all.found.status)) +
                             "); the value is the best estimate");
  }
  if (o.verify && !(std::fabs(all.found.value - all.exact) <= tolerance)) {
    throw std::runtime_error("verification failed: the true error exceeds the tolerance");
  }
}

void run(options o) {
  o.files.check();
  common::progress_bar progress("integrating", o.quiet);
  ramify::launch_trace trace;
  if (!o.trace.empty()) o.env.trace = &trace;
  const auto f = integrand_of(o);
  const auto begin = std::chrono::steady_clock::now();
  const ramify::quadrature_result found = ramify::quadrature(f, o.quadrature, o.env);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const outcome all{f, found, exact_integral(f), taken.count()};
  progress.clear();
  common::write_trace(o.trace, trace);
  common::write_report(
      o.report, std::cout, [&] { return to_json(all, o); },
      [&](std::ostream& out) {
        print(out, all, o);
        common::print_trace(out, o.trace, trace);
      });
  check_outcome(all, o);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  return common::run_program(
      "quadrature", "Integrates a test function over a cube with grids that launch grids.", argc,
      argv, [&](CLI::App& app) { declare(app, o); }, [&] { run(o); });
}
