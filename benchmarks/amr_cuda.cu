// SPDX-License-Identifier: BSD-3-Clause
// Gas dynamics on uniform and adaptive meshes on the GPU, by route, in one run. Times
// are of whole calls, by the host's clock: they wait for their results.
//   benchmark_amr_cuda [cells of the uniform mesh along each axis, by default 256]
//   benchmark_amr_cuda --part additions
#include <cmath>
#include <ramify/amr.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "blast.cuh"
#include "measure_cuda.cuh"

namespace {

using namespace ramify;

constexpr int repeats = 5;

template <class Real>
const char* name_of() {
  return sizeof(Real) == 4 ? "float" : "double";
}

/// The median time of a step, the update rate, and the report of the last run.
struct measured {
  benchmark::timing step;
  double updates_per_second;
  amr_report report;
};

/// Times steps from a state.
template <class Gas>
measured measure(const Gas& gas, const amr_state& from, const amr_options& options, route wanted,
                 std::uint64_t steps) {
  std::vector<double> times;
  std::uint64_t updates = 0;
  amr_report report;
  for (int i = -1; i < repeats; ++i) {  // the first one warms up
    amr_run<Gas> run(gas, gradient_criterion<Gas>{}, from, options, {.route = wanted});
    const std::uint64_t before = run.report().cell_updates;
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = std::chrono::steady_clock::now();
    run.advance(steps);
    check(cudaDeviceSynchronize(), "waiting for the device");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) times.push_back(took.count() / double(steps));
    report = run.report();
    updates = (report.cell_updates - before) / steps;
    for (const double total : run.totals()) {
      if (!std::isfinite(total)) throw std::runtime_error("a total is not finite");
    }
  }
  const auto step = benchmark::summarize(times);
  return {step, double(updates) / step.median_ms * 1e3, report};
}

/// Bytes a second, read and written, of a copy in device memory.
double speed_of_copy() {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const device_buffer<char> from(bytes, nullptr);
  const device_buffer<char> to(bytes, nullptr);
  check(cudaMemset(from.data(), 0, bytes), "filling what is copied");
  const auto took = benchmark::host_time_of(repeats, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice), "copying");
  });
  return 2 * double(bytes) / took.median_ms * 1e3;
}

/// The minimum of bytes that an update must move, and the speed of a copy.
struct byte_floor {
  double of_update;
  double copied_per_second;
};

template <class Physics>
byte_floor floor_of(const Physics&, double copied_per_second) {
  // Both stages read a block's values and write others; the second reads two sets.
  return {5.0 * Physics::variables * sizeof(typename Physics::real), copied_per_second};
}

void row(benchmark::recorder& out, const std::string& what, const char* precision, route wanted,
         const measured& m, const byte_floor& floor) {
  const double updates_a_step = m.updates_per_second * m.step.median_ms / 1e3;
  out.row({what, precision, to_string(wanted), to_string(m.report.taken), m.report.leaves, m.step,
           m.updates_per_second / 1e6, floor.of_update,
           updates_a_step * floor.of_update / floor.copied_per_second * 1e3, m.report.host_grids,
           m.report.child_grids});
}

/// Where measurements begin: the state of a blast after some steps.
template <class Gas>
struct start {
  Gas gas;
  amr_state state;
  byte_floor floor;
};

template <class Real, int dim>
start<euler<Real, dim>> start_after(std::uint64_t steps, const amr_options& options,
                                    double copied_per_second) {
  using gas_type = euler<Real, dim>;
  const gas_type gas;
  amr_run<gas_type> run(gas, gradient_criterion<gas_type>{}, benchmark::blast<Real, dim>{Real(0.1)},
                        options);
  run.advance(steps);
  return {gas, run.save(), floor_of(gas, copied_per_second)};
}

/// Adds a row for each route.
template <class Gas>
void measure_routes(benchmark::recorder& out, const std::string& mesh, const start<Gas>& from,
                    const amr_options& options, std::uint64_t steps) {
  for (const route wanted : {route::device, route::flat, route::automatic}) {
    const auto m = measure(from.gas, from.state, options, wanted, steps);
    row(out, mesh, name_of<typename Gas::real>(), wanted, m, from.floor);
  }
}

/// Adds a row for each route, without and with subcycling.
template <class Gas>
void measure_levels(benchmark::recorder& out, const std::string& mesh, const start<Gas>& from,
                    amr_options options) {
  for (const bool subcycle : {false, true}) {
    options.step.subcycle = subcycle;
    measure_routes(out, (subcycle ? "subcycled, " : "blast, ") + mesh, from, options, 20);
  }
}

/// Adds a row with the time of regrids: the difference to the same steps without them.
template <class Gas>
void measure_regrids(benchmark::recorder& out, const start<Gas>& from, amr_options options) {
  const auto with = measure(from.gas, from.state, options, route::flat, 20);
  options.regrid.every = 0;
  const auto without = measure(from.gas, from.state, options, route::flat, 20);
  out.row({"blast, regrids, per step",
           name_of<typename Gas::real>(),
           "flat",
           "flat",
           {},
           with.step.median_ms - without.step.median_ms,
           {},
           {},
           {},
           {},
           {}});
}

/// A small mesh in two dimensions, on which launches cost the most.
template <class Real>
void measure_small(benchmark::recorder& out, double copied_per_second) {
  amr_options options;
  options.mesh.roots = {4, 4, 1};
  options.mesh.max_level = 2;
  measure_levels(out, "3 levels on 64²", start_after<Real, 2>(100, options, copied_per_second),
                 options);
}

/// Returns the options of a mesh of three levels with `across` coarse cells along each axis.
amr_options three_levels_on(unsigned across) {
  amr_options levels;
  levels.mesh.roots = {across / 8, across / 8, across / 8};
  levels.mesh.max_level = 2;
  levels.regrid = {0.1, 0.02, 2, 10};
  return levels;
}

/// A uniform mesh of `across` cells along each axis, then one of three levels.
template <class Real>
void measure_large(benchmark::recorder& out, unsigned across, double copied_per_second) {
  amr_options uniform;
  uniform.mesh.roots = {across / 8, across / 8, across / 8};
  uniform.mesh.max_level = 0;
  uniform.regrid.every = 0;
  measure_routes(out, "uniform " + std::to_string(across) + "³",
                 start_after<Real, 3>(10, uniform, copied_per_second), uniform, 10);
  const amr_options levels = three_levels_on(across / 2);
  const auto from = start_after<Real, 3>(100, levels, copied_per_second);
  measure_levels(out, "3 levels on " + std::to_string(across / 2) + "³", from, levels);
  measure_regrids(out, from, levels);
}

/// Steps of a gas with additions on the leaves of a state of the gas without them, by route.
struct additions_of_gas {
  benchmark::recorder& out;
  const amr_state& from;
  const amr_options& options;         ///< without regrids, so that all rows have the same leaves
  std::vector<double> plain_ms = {};  ///< of the first row of each route

  template <class Gas>
  void add_rows(const std::string& name, const Gas& gas) {
    const bool is_first = plain_ms.empty();
    std::size_t which = 0;
    for (const route wanted : {route::device, route::flat}) {
      const auto m = measure(gas, from, options, wanted, 20);
      if (is_first) plain_ms.push_back(m.step.median_ms);
      out.row({name, name_of<typename Gas::real>(), to_string(m.report.taken), m.report.leaves,
               m.step, m.updates_per_second / 1e6, m.step.median_ms / plain_ms[which++]});
    }
  }
};

/// Adds rows of the blast on three levels, with and without parabolas and a solid body, a box in
/// the way of the blast.
template <class Real>
void measure_additions(benchmark::recorder& out, unsigned across) {
  using gas_type = euler<Real, 3>;
  using body = solid_box<Real, 3>;
  amr_options options = three_levels_on(across / 2);
  const auto from = start_after<Real, 3>(100, options, 1);
  options.regrid.every = 0;
  const body box{{Real(0.5625), Real(0.375), Real(0.375)}, {Real(0.75), Real(0.625), Real(0.625)}};
  additions_of_gas rows{out, from.state, options};
  rows.add_rows("gas", gas_type{});
  rows.add_rows("with_ppm", with_ppm<gas_type>{});
  rows.add_rows("with_solid", with_solid<gas_type, body>{{}, box});
  rows.add_rows("both", with_ppm<with_solid<gas_type, body>>{{{}, box}});
}

void measure_meshes(benchmark::recorder& out, unsigned across, double copied) {
  out.table("copy", {"TB/s of a copy"}, "1 GiB, read and written");
  out.row({copied / 1e12});
  out.table(
      "meshes",
      {"mesh", "precision", "route", "took", "blocks", "ms a step", "10^6 updates/s",
       "bytes an update", "ms of its floor", "host grids", "child grids"},
      "Medians of " + std::to_string(repeats) +
          " (least–most); an update is one cell taken one full step; the floor: the bytes that "
          "updates must move, at the speed of the copy");
  measure_large<double>(out, across, copied);
  measure_large<float>(out, across, copied);
  measure_small<double>(out, copied);
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  const auto across = static_cast<unsigned>(asked.number_or(256));
  if (asked.has_part("meshes")) measure_meshes(out, across, speed_of_copy());
  if (!asked.has_part("additions")) return;
  out.table("additions",
            {"physics", "precision", "route", "blocks", "ms a step", "10^6 updates/s",
             "time / without additions"},
            "Medians of " + std::to_string(repeats) +
                " (least–most); the blast on three levels, from one state, without regrids");
  measure_additions<double>(out, across);
  measure_additions<float>(out, across);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "amr_cuda",
                         .about = "Gas dynamics on uniform and adaptive meshes on the GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"meshes", "additions"},
                         .words = "cells of the uniform mesh along each axis, by default 256"},
                        argc, argv, measure_all);
}
