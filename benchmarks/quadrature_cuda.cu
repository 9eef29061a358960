// SPDX-License-Identifier: BSD-3-Clause
// Adaptive quadrature on a GPU: Genz's six families in 2, 5 and 8 dimensions, for 3, 6 and 9
// digits, by route. Results of both routes must have the same bits before a time is reported. The
// true error is that against the exact integral. The part "rounds" compares sizes up to which
// rounds are small or medium (round_bounds), for six digits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature/genz.cuh>
#include <ramify/runtime/residency.cuh>
#include <stdexcept>
#include <string>

#include "measure_cuda.cuh"

namespace {

/// Returns a number with two digits and its power of ten.
std::string scientific(double x) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1e", x);
  return text.data();
}

using namespace ramify;

constexpr int repeats = 5;
constexpr unsigned threads = 256;

/// Adds the values of `f` at `count` points of a Weyl sequence to `sum`: the evaluations alone.
template <unsigned d>
__global__ void evaluate_only(genz_function<d> f, std::size_t count, double* sum) {
  double own = 0;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t i = first; i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    quadrature_point<d> p{};
    for (unsigned axis = 0; axis < d; ++axis) {
      const double x = static_cast<double>(i) * (0.6180339887498949 + 0.1 * axis);
      p.x[axis] = x - floor(x);
    }
    own += f(p);
  }
  atomicAdd(sum, own);
}

/// Returns the time of `count` evaluations without anything else, in milliseconds.
template <unsigned d>
double evaluations_ms(const genz_integrand& integrand, std::size_t count) {
  const device_buffer<double> sum(1, nullptr);
  check(cudaMemset(sum.data(), 0, sizeof(double)), "clearing a sum");
  const std::size_t blocks =
      std::min((count + threads - 1) / threads, std::size_t{8} * multiprocessor_count());
  return benchmark::host_time_of(3,
                                 [&] {
                                   evaluate_only<d><<<static_cast<unsigned>(blocks), threads>>>(
                                       genz_function<d>(integrand), count, sum.data());
                                   check(cudaGetLastError(), "launching evaluate_only");
                                 })
      .median_ms;
}

/// Writes the rows of one integrand and one tolerance.
template <unsigned d>
void rows_of(benchmark::recorder& out, genz_family family, int digits) {
  const genz_integrand integrand = random_genz(family, d, 1, genz_difficulty(family));
  const double exact = exact_integral(integrand);
  quadrature_box<d> cube{};
  for (unsigned axis = 0; axis < d; ++axis) {
    cube.low[axis] = 0;
    cube.high[axis] = 1;
  }
  const quadrature_options options{.relative_tolerance = std::pow(10.0, -digits),
                                   .max_evaluations = 200'000'000};
  const std::size_t bytes = quadrature_scratch_bytes<d, genz_function<d>>(options);
  const device_buffer<std::byte> scratch(bytes, nullptr);
  quadrature_result first;
  double floor_ms = 0;
  for (const route taken : {route::device, route::flat}) {
    quadrature_result found;
    const auto integrate = [&] {
      found = quadrature(cube, genz_function<d>(integrand), options,
                         {.memory = scratch, .route = taken});
    };
    integrate();
    if (taken == route::device) {
      first = found;
      floor_ms = evaluations_ms<d>(integrand, found.evaluations);
    }
    if (!std::isfinite(found.value) || found.value != first.value || found.error != first.error) {
      throw std::runtime_error(std::string(to_string(family)) + " in " + std::to_string(d) +
                               " dimensions: the routes have different results");
    }
    const benchmark::timing time = benchmark::host_time_of(repeats, integrate);
    const double error = std::fabs(found.value - exact);
    out.row({to_string(family), d, digits, to_string(taken), to_string(found.report.taken),
             to_string(found.status), scientific(error / std::fabs(exact)),
             scientific(found.error / std::fabs(exact)), error <= found.error ? "yes" : "no", time,
             found.evaluations, static_cast<double>(found.evaluations) / time.median_ms / 1e6,
             time.median_ms / floor_ms, found.report.rounds});
  }
}

template <unsigned d>
void measure_dimensions(benchmark::recorder& out) {
  out.table(std::to_string(d) + "d",
            {"family", "dimensions", "digits", "route", "took", "end", "true relative error",
             "relative bound", "within bound", "ms", "evaluations", "10^9 evaluations/s",
             "time / evaluations only", "rounds"},
            "At most 2 x 10^8 evaluations; medians of 5 (least–most). Evaluations only: one kernel "
            "that evaluates the integrand as often, and sums");
  for (const genz_family family :
       {genz_family::oscillatory, genz_family::product_peak, genz_family::corner_peak,
        genz_family::gaussian, genz_family::c0, genz_family::discontinuous}) {
    for (const int digits : {3, 6, 9}) rows_of<d>(out, family, digits);
  }
}

/// A way to run the rounds, with its name in the table.
struct rounds_variant {
  const char* name;
  detail::quadrature::round_bounds bounds;
  route taken = route::flat;
  flat_loop loop = flat_loop::automatic;
};

const std::array<rounds_variant, 14> rounds_variants{{
    {"as chosen", {}},
    {"as chosen, device", {}, route::device},
    {"as chosen, graph", {}, route::flat, flat_loop::graph},
    {"large only", {0, 0, 0}},
    {"large only, device", {0, 0, 0}, route::device},
    {"large only, graph", {0, 0, 0}, route::flat, flat_loop::graph},
    {"medium only", {.small_evaluations = 0}},
    {"medium only, device", {.small_evaluations = 0}, route::device},
    {"small up to 2 points a lane", {.small_evaluations = 2}},
    {"small up to 10 points a lane", {.small_evaluations = 10}},
    {"small up to 20 points a lane", {.small_evaluations = 20}},
    {"small up to 40 points a lane", {.small_evaluations = 40}},
    {"medium up to 2^13 regions", {.block_regions = 1u << 13}},
    {"teams up to 2^8 splits", {.block_splits = 1u << 8}},
}};

/// Writes the rows of one integrand, one for each variant.
template <unsigned d>
void compare_rounds(benchmark::recorder& out, genz_family family) {
  const genz_integrand integrand = random_genz(family, d, 1, genz_difficulty(family));
  quadrature_box<d> cube{};
  std::fill(cube.high, cube.high + d, 1.0);
  const quadrature_options options;
  const std::size_t bytes = quadrature_scratch_bytes<d, genz_function<d>>(options);
  const device_buffer<std::byte> scratch(bytes, nullptr);
  for (const rounds_variant& variant : rounds_variants) {
    const environment env{.memory = scratch, .route = variant.taken, .flat_loop = variant.loop};
    quadrature_result found;
    const auto integrate = [&] {
      found = detail::quadrature::start_quadrature(cube, genz_function<d>(integrand), options, env,
                                                   variant.bounds)
                  .get();
    };
    const benchmark::timing time = benchmark::host_time_of(2 * repeats, integrate);
    const auto& report = found.report;
    out.row({to_string(family), d, variant.name, to_string(found.status), time, found.evaluations,
             report.rounds, report.host_grids + report.child_grids + report.graph_grids});
  }
}

void measure_rounds(benchmark::recorder& out) {
  out.table("rounds",
            {"family", "dimensions", "variant", "end", "ms", "evaluations", "rounds", "grids"},
            "Six digits, at most 10^7 evaluations; medians of 10 (least–most)");
  for (const genz_family family : all_choices<genz_family>()) {
    compare_rounds<2>(out, family);
    compare_rounds<5>(out, family);
    compare_rounds<8>(out, family);
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("2d")) measure_dimensions<2>(out);
  if (asked.has_part("5d")) measure_dimensions<5>(out);
  if (asked.has_part("8d")) measure_dimensions<8>(out);
  if (asked.has_part("rounds")) measure_rounds(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "quadrature_cuda",
                         .about = "Adaptive quadrature on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"2d", "5d", "8d", "rounds"}},
                        argc, argv, measure_all);
}
