// SPDX-License-Identifier: BSD-3-Clause
// Many small problems on a GPU: a batch in one call, beside a call for each of them. Searches are
// checked by dynamic programming, and integrals by their antiderivative, before a time is reported.
//   benchmark_batches_cuda --part knapsacks
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/branch_and_bound.cuh>
#include <ramify/quadrature.cuh>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"
#include "search/knapsacks.cuh"

namespace {

using namespace ramify;

constexpr unsigned problems = 1000;
constexpr route routes[] = {route::device, route::flat};

void require(bool valid, const char* what) {
  if (!valid) throw std::runtime_error(what);
}

const std::vector<std::string> columns{"problems", "route", "batch, ms", "calls, ms",
                                       "calls / batch"};

void add_row(benchmark::recorder& out, route taken, const benchmark::timing& batch,
             const benchmark::timing& calls) {
  out.row({problems, to_string(taken), batch, calls, calls.median_ms / batch.median_ms});
}

// ---- knapsacks ----

constexpr unsigned items = 24;
constexpr unsigned capacity = 200;

void measure_knapsacks(benchmark::recorder& out) {
  out.table("knapsacks", columns,
            "1,000 knapsacks of 24 items: one branch_and_bound() of tree_roots, and 1,000 calls; "
            "medians of 3 (least–most)");
  std::vector<examples::knapsack_item> all;
  for (unsigned i = 0; i < problems * items; ++i) {
    const std::uint64_t random = benchmark::scrambled(i);
    const auto weight = static_cast<unsigned>(random % 40 + 1);
    all.push_back({weight, weight + static_cast<unsigned>(random / 64 % 10)});
  }
  const auto on_device = benchmark::upload(all);
  const auto roots = examples::roots_of_knapsacks(problems, capacity);
  const examples::fill_knapsacks<items> problem{on_device.data()};
  for (const route taken : routes) {
    const environment env{.route = taken};
    std::vector<branch_and_bound_solution<examples::partial_knapsack>> best(problems);
    const benchmark::timing batch = benchmark::host_time_of(3, [&] {
      branch_and_bound(tree_roots(roots.data(), problems), problem, best.data(), env);
    });
    for (unsigned p = 0; p < problems; ++p) {
      const auto* const mine = &all[std::size_t{p} * items];
      require(best[p].found && best[p].value == examples::least_loss(mine, items, capacity),
              "a knapsack of the batch has another value");
    }
    std::vector<std::int64_t> values(problems);
    const benchmark::timing calls = benchmark::host_time_of(3, [&] {
      for (unsigned p = 0; p < problems; ++p) {
        values[p] = branch_and_bound(roots[p], problem, env).value;
      }
    });
    for (unsigned p = 0; p < problems; ++p) {
      require(values[p] == best[p].value, "a knapsack of a call has another value");
    }
    add_row(out, taken, batch, calls);
  }
}

// ---- integrals ----

/// 1 / (1 + (s x)^2), a peak at 0.
struct peak {
  [[nodiscard]] __device__ double operator()(const quadrature_point<1>& point,
                                             double steepness) const {
    const double x = steepness * point.x[0];
    return 1 / (1 + x * x);
  }
};
/// The same with one steepness.
struct one_peak {
  double steepness;
  [[nodiscard]] __device__ double operator()(const quadrature_point<1>& point) const {
    return peak{}(point, steepness);
  }
};

void measure_integrals(benchmark::recorder& out) {
  out.table("integrals", columns,
            "1,000 integrals with a parameter, for nine digits: one quadrature() of them all, and "
            "1,000 calls; medians of 3 (least–most)");
  const quadrature_box<1> unit{{0}, {1}};
  const quadrature_options options{.relative_tolerance = 1e-9};
  std::vector<double> steepness;
  for (unsigned p = 1; p <= problems; ++p) steepness.push_back(p);
  const auto check_value = [&](double value, unsigned p) {
    const double exact = std::atan(steepness[p]) / steepness[p];
    require(std::fabs(value / exact - 1) < 1e-9, "an integral differs from the exact one");
  };
  for (const route taken : routes) {
    const environment env{.route = taken};
    std::vector<quadrature_estimate> found(problems);
    const benchmark::timing batch = benchmark::host_time_of(3, [&] {
      quadrature(unit, peak{}, steepness.data(), problems, found.data(), options, env);
    });
    for (unsigned p = 0; p < problems; ++p) check_value(found[p].value, p);
    std::vector<double> values(problems);
    const benchmark::timing calls = benchmark::host_time_of(3, [&] {
      for (unsigned p = 0; p < problems; ++p) {
        values[p] = quadrature(unit, one_peak{steepness[p]}, options, env).value;
      }
    });
    for (unsigned p = 0; p < problems; ++p) check_value(values[p], p);
    add_row(out, taken, batch, calls);
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("knapsacks")) measure_knapsacks(out);
  if (asked.has_part("integrals")) measure_integrals(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "batches_cuda",
                         .about = "Batches of small problems on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"knapsacks", "integrals"}},
                        argc, argv, measure_all);
}
