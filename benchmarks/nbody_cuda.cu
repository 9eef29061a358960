// SPDX-License-Identifier: BSD-3-Clause
// Gravity on the GPU: the tree code for each precision, route, leaf size, order, theta and
// tolerance, with its error relative to the direct sum; simulations with block time steps, and with
// steps of one length and the same error. The host's clock measures calls, which wait for their
// results.
//   benchmark_nbody_cuda [--part trees,errors,crossing,steps] [bodies, default 10^6]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ramify/nbody.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "nbody/bodies.hpp"
#include "nbody_steps.cuh"

namespace {

using namespace ramify;
using benchmark::download;
using benchmark::upload;

constexpr int repeats = 7;
constexpr std::uint32_t checked_bodies = 4096;

/// Returns the median time of `repeats` calls.
template <class Call>
benchmark::timing time_of(Call call) {
  return benchmark::host_time_of(repeats, call);
}

template <class Real>
const char* name_of() {
  return sizeof(Real) == 4 ? "float" : "double";
}

/// Stars on the device, and the exact accelerations of the first of them.
template <class Real>
class bench {
  using vector = point<Real, 3>;

 public:
  explicit bench(std::size_t n) : n_(n), accelerations_(n, nullptr), potentials_(n, nullptr) {
    const common::bodies sphere = common::make_plummer_sphere(n, 1);
    std::vector<vector> positions(n);
    std::vector<point<double, 3>> exact(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        positions[i].x[axis] = static_cast<Real>(sphere.positions[i][std::size_t(axis)]);
        exact[i].x[axis] = positions[i].x[axis];
      }
    }
    positions_ = upload(positions);
    masses_ = upload(std::vector<Real>(sphere.masses.begin(), sphere.masses.end()));
    const auto all = upload(exact);
    const auto masses = upload(sphere.masses);
    const device_buffer<point<double, 3>> truth(n, nullptr);
    (void)direct_gravity(all.data(), masses.data(), n, {0, checked_bodies}, truth.data(),
                         static_cast<double*>(nullptr), nbody_options{});
    truth_ = download(truth.data(), std::min<std::size_t>(n, checked_bodies));
  }

  /// Adds one row to the table: the times of a whole call and of its three phases.
  void measure_tree(benchmark::recorder& out, const nbody_options& options,
                    route wanted = route::automatic) {
    const environment env{.route = wanted};
    const barnes_hut<Real> gravity(options);
    nbody_report report;
    const auto whole = time_of([&] {
      report = gravity.accelerations(positions_.data(), masses_.data(), n_, accelerations_.data(),
                                     potentials_.data(), env);
    });
    const double error = rms_error();
    if (!(error < 0.03)) throw std::runtime_error("wrong accelerations");
    using namespace ramify::detail::nbody;
    spatial_tree<Real, 3> tree;
    const auto build = time_of(
        [&] { tree = spatial_tree<Real, 3>(positions_.data(), n_, tree_options(options), env); });
    const auto view = tree.view();
    gravity_scratch<Real> scratch;
    const device_buffer<std::byte> memory(scratch.take(nullptr, n_, view.node_count, options),
                                          nullptr);
    scratch.take(memory.data(), n_, view.node_count, options);
    clear_progress(scratch.progress, nullptr);
    const auto moments = time_of(
        [&] { compute_moments<Real>(view, masses_.data(), options, scratch, nullptr, {}); });
    const device_arrays<Real> arrays{positions_.data(),     masses_.data(),     n_,
                                     accelerations_.data(), potentials_.data(), n_};
    const auto traversal = time_of([&] {
      detail::nbody::traverse<Real>(view, scratch, options, {arrays, options, scratch.progress, {}},
                                    nullptr);
    });
    const bool by_theta = options.tolerance == 0;
    const benchmark::cell theta = by_theta ? benchmark::cell(options.theta) : "";
    char tolerance[32] = "";
    if (!by_theta) std::snprintf(tolerance, sizeof tolerance, "%g", options.tolerance);
    char error_text[32];
    std::snprintf(error_text, sizeof error_text, "%.4f", 100 * error);
    const double a_body = static_cast<double>(report.interactions) / static_cast<double>(n_);
    out.row({name_of<Real>(), options.order, theta, tolerance, options.leaf_size, to_string(wanted),
             to_string(report.taken), build.median_ms, moments.median_ms, traversal.median_ms,
             whole, static_cast<double>(n_) / whole.median_ms / 1e3, a_body,
             giga_interactions(report.interactions, traversal), error_text, report.host_grids,
             report.child_grids, report.spilled_tasks});
  }

  /// Adds one row to the table: the times of both methods.
  void measure_crossing(benchmark::recorder& out) {
    const barnes_hut<Real> gravity;
    const auto tree = time_of([&] {
      (void)gravity.accelerations(positions_.data(), masses_.data(), n_, accelerations_.data(),
                                  potentials_.data());
    });
    nbody_report report;
    const auto direct = time_of([&] {
      report = direct_gravity(positions_.data(), masses_.data(), n_, accelerations_.data(),
                              potentials_.data());
    });
    out.row({name_of<Real>(), n_, tree, direct, giga_interactions(report.interactions, direct)});
  }

 private:
  static double giga_interactions(std::uint64_t count, const benchmark::timing& t) {
    return static_cast<double>(count) / t.median_ms / 1e6;
  }

  [[nodiscard]] double rms_error() const {
    const auto found = download(accelerations_.data(), truth_.size());
    double sum = 0;
    for (std::size_t i = 0; i < truth_.size(); ++i) {
      double error2 = 0;
      double norm2 = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const double d = static_cast<double>(found[i].x[axis]) - truth_[i].x[axis];
        error2 += d * d;
        norm2 += truth_[i].x[axis] * truth_[i].x[axis];
      }
      sum += error2 / norm2;
    }
    return std::sqrt(sum / static_cast<double>(truth_.size()));
  }

  std::size_t n_;
  device_buffer<vector> positions_, accelerations_;
  device_buffer<Real> masses_, potentials_;
  std::vector<point<double, 3>> truth_;
};

template <class Real>
void measure_trees_of(benchmark::recorder& out, std::size_t n) {
  bench<Real> b(n);
  for (const auto wanted : {route::device, route::flat, route::automatic}) {
    b.measure_tree(out, {}, wanted);
  }
  nbody_options options;
  for (const unsigned leaf_size : {4u, 8u, 32u, 64u}) {
    options.leaf_size = leaf_size;
    b.measure_tree(out, options);
  }
  for (const int order : {1, 2}) {
    options = {.order = order};
    for (const double theta : {0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.2}) {
      options.theta = theta;
      b.measure_tree(out, options);
    }
    options = {.order = order};
    for (const double tolerance : {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01}) {
      options.tolerance = tolerance;
      b.measure_tree(out, options);
    }
  }
}

/// Begins a table of bench::measure_tree().
void begin_table(benchmark::recorder& out, const char* name, const std::string& title) {
  out.table(name,
            {"precision", "order", "theta", "tolerance, %", "leaf", "route", "took", "build",
             "moments", "traversal", "whole call", "Mbodies/s", "interactions / body",
             "10^9 interactions/s of the traversal", "rms error, %", "host grids", "child grids",
             "spilled"},
            title + ", medians of " + std::to_string(repeats) + " (least–most); times in ms");
}

void measure_trees(benchmark::recorder& out, std::size_t n) {
  begin_table(out, "trees", std::to_string(n) + " bodies");
  measure_trees_of<float>(out, n);
  measure_trees_of<double>(out, n);
}

/// Tolerances with which the errors of 10^6 bodies are just below those of Ryoanji.
void measure_errors(benchmark::recorder& out, std::size_t n) {
  begin_table(out, "errors",
              std::to_string(n) + " bodies, tolerances for the errors of Ryoanji's rows");
  bench<float> b(n);
  for (const double tolerance : {1.5, 0.5, 0.13, 0.028, 0.0135, 0.0078})
    b.measure_tree(out, {.tolerance = tolerance});
}

void measure_crossing(benchmark::recorder& out) {
  out.table(
      "crossing",
      {"precision", "bodies", "tree, ms", "direct, ms", "10^9 interactions/s of the direct sum"},
      "The tree (theta 0.5) and the direct sum");
  for (const std::size_t bodies : {1'000u, 4'000u, 16'000u, 64'000u, 256'000u}) {
    bench<float>(bodies).measure_crossing(out);
    bench<double>(bodies).measure_crossing(out);
  }
}

void measure_steps(benchmark::recorder& out, std::size_t n) {
  out.table("steps", benchmark::step_bench::columns(),
            "Block time steps, and steps of one length with the same error of the energy; " +
                std::to_string(n) + " bodies, double, theta 0.4");
  const benchmark::step_scene scenes[] = {{"sphere", 0, 1, "0.01", 0.25},
                                          {"sphere", 0, 1, "0.001", 0.25},
                                          {"2 % in a core", 0.02, 1.0 / 64, "0.0005", 0.125},
                                          {"1 % in a core", 0.01, 1.0 / 128, "0.00025", 0.125}};
  for (const auto& scene : scenes) benchmark::step_bench(scene, n).measure(out);
}

void measure(benchmark::recorder& out, const benchmark::command_line& asked) {
  const std::size_t n = asked.number_or(1'000'000);
  if (asked.has_part("trees")) measure_trees(out, n);
  if (asked.has_part("errors")) measure_errors(out, n);
  if (asked.has_part("crossing")) measure_crossing(out);
  if (asked.has_part("steps")) measure_steps(out, std::max<std::size_t>(n / 10, 2));
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run(
      {.name = "nbody_cuda",
       .about = "Gravity on the GPU by the tree code of Barnes and Hut and by the direct sum.",
       .machine = benchmark::this_gpu,
       .parts = {"trees", "errors", "crossing", "steps"},
       .words = "the number of bodies, default 10^6; the part steps has a tenth of them"},
      argc, argv, measure);
}
