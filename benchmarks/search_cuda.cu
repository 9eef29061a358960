// SPDX-License-Identifier: BSD-3-Clause
// Backtracking and branch and bound on a GPU: n queens, Taillard's flow shops, knapsacks. Each
// result is compared with a published or a computed one before a time is reported.
//   benchmark_search_cuda --part queens,leaf_rows
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ramify/branch_and_bound.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure_cuda.cuh"

namespace {

using namespace ramify;

/// Returns the median wall-clock time of `repeats` calls, after one that is not counted. `search`
/// returns a result and throws if it is wrong. The last result is stored in `last`.
template <class Search, class Result>
benchmark::timing time_of(int repeats, Search search, Result& last) {
  last = search();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    last = search();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    times.push_back(taken.count());
  }
  return benchmark::summarize(times);
}

environment environment_on(route taken) { return {.backend = backend::cuda, .route = taken}; }

void require_equal(const std::string& what, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return;
  throw std::runtime_error(what + ": found " + std::to_string(found) + " instead of " +
                           std::to_string(expected));
}

/// Counts `n` queens on a route, and writes a row. Returns the median time. `plain_ms` is the time
/// of the plain search, or 0.
double queens_row(benchmark::recorder& out, unsigned n, const queens_options& options, route asked,
                  int repeats, double plain_ms) {
  queens_result found;
  const auto search = [&] {
    const queens_result counted = count_queens(n, options, environment_on(asked));
    require_equal(std::to_string(n) + " queens", counted.counts.solutions, published_queens()[n]);
    return counted;
  };
  const benchmark::timing time = time_of(repeats, search, found);
  const auto nodes = static_cast<double>(found.counts.nodes);
  out.row({n, to_string(asked), to_string(found.report.taken), options.symmetry ? "yes" : "no",
           options.leaf_rows.value_or(automatic_queens_leaf_rows(n)), found.counts.nodes, time,
           nodes / time.median_ms / 1e6,
           plain_ms > 0 ? benchmark::cell(plain_ms / time.median_ms) : benchmark::cell(),
           found.report.rounds});
  return time.median_ms;
}

const std::vector<std::string> queens_columns{
    "n",     "route", "took",     "symmetry",     "leaf rows",
    "nodes", "ms",    "Gnodes/s", "plain / this", "rounds"};

/// Measures each route, and the plain search, which visits all boards one by one.
void measure_queens(benchmark::recorder& out) {
  out.table("queens", queens_columns,
            "Medians of 5, of 3 for 18 queens (least–most); in the plain search each board is "
            "a node, and mirror images are visited, too");
  for (unsigned n = 14; n <= 18; ++n) {
    const int repeats = n < 18 ? 5 : 3;
    const double plain_ms = queens_row(out, n, {{}, false, 0}, route::automatic, repeats, 0);
    for (const route taken : {route::device, route::flat, route::automatic}) {
      queens_row(out, n, {}, taken, repeats, plain_ms);
    }
  }
}

void measure_large_queens(benchmark::recorder& out) {
  out.table("large", queens_columns, "Medians of 3, of 1 for 20 queens");
  queens_row(out, 19, {}, route::automatic, 3, 0);
  queens_row(out, 20, {}, route::automatic, 1, 0);
}

void measure_leaf_rows(benchmark::recorder& out) {
  out.table("leaf_rows", queens_columns, "Medians of 3 (least–most)");
  for (const unsigned n : {16u, 18u}) {
    for (const unsigned rows : {0u, 5u, 6u, 7u, 8u, 9u}) {
      queens_row(out, n, {{}, true, rows}, route::automatic, 3, 0);
    }
  }
}

constexpr route routes[] = {route::device, route::flat, route::automatic};

/// Writes the row of a search by branch and bound. `asked` is the requested route, and `value` is
/// that of the best leaf.
void bound_row(benchmark::recorder& out, const std::string& instance, route asked,
               const benchmark::timing& time, const branch_and_bound_report& report,
               std::int64_t value) {
  const std::uint64_t nodes = report.expanded + report.pruned + report.leaves;
  out.row({instance, to_string(asked), to_string(report.taken), value, nodes, time,
           static_cast<double>(nodes) / time.median_ms / 1e3, report.rounds,
           report.incumbent_updates});
}

void measure_flow_shops(benchmark::recorder& out) {
  out.table(
      "flow_shop",
      {"instance", "route", "took", "makespan", "nodes", "ms", "Mnodes/s", "rounds", "incumbents"},
      "Medians of 5 (least–most)");
  for (std::size_t i = 0; i < 3; ++i) {
    const taillard_benchmark benchmark = taillard_instance(i + 1);
    const auto shop = benchmark.shop();
    const std::string name = "ta00" + std::to_string(i + 1);
    for (const route taken : routes) {
      flow_shop_result found;
      const auto search = [&] {
        auto best = flow_shop(shop, environment_on(taken));
        require_equal(name, static_cast<std::uint64_t>(best.makespan),
                      static_cast<std::uint64_t>(benchmark.optimum));
        return best;
      };
      const auto time = time_of(5, search, found);
      bound_row(out, name, taken, time, found.report, found.makespan);
    }
  }
}

/// Returns the largest profit, by dynamic programming over the capacities.
std::int64_t best_profit(const knapsack_instance& instance) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(instance.capacity) + 1, 0);
  for (const auto& [weight, profit] : instance.items) {
    for (auto c = instance.capacity; c >= weight; --c) {
      auto& here = best[static_cast<std::size_t>(c)];
      here = std::max(here, best[static_cast<std::size_t>(c - weight)] + profit);
    }
  }
  return best.back();
}

void measure_knapsacks(benchmark::recorder& out) {
  out.table("knapsack",
            {"items", "route", "took", "profit", "nodes", "ms", "Mnodes/s", "rounds", "incumbents"},
            "Weights up to 10^5, profits within 1 of them; medians of 5 (least–most)");
  for (const std::size_t items : {40, 50}) {
    const auto instance =
        random_knapsack({.items = items, .largest = 100'000, .correlation = 1, .seed = 3});
    const std::int64_t expected = best_profit(instance);
    for (const route taken : routes) {
      knapsack_result found;
      const auto search = [&] {
        auto best = knapsack(instance, environment_on(taken));
        require_equal("a knapsack", static_cast<std::uint64_t>(best.profit),
                      static_cast<std::uint64_t>(expected));
        return best;
      };
      const auto time = time_of(5, search, found);
      bound_row(out, std::to_string(items), taken, time, found.report, found.profit);
    }
  }
}

void measure_all(benchmark::recorder& out, const benchmark::command_line& asked) {
  if (asked.has_part("queens")) measure_queens(out);
  if (asked.has_part("large")) measure_large_queens(out);
  if (asked.has_part("leaf_rows")) measure_leaf_rows(out);
  if (asked.has_part("flow_shop")) measure_flow_shops(out);
  if (asked.has_part("knapsack")) measure_knapsacks(out);
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "search_cuda",
                         .about = "Backtracking and branch and bound on a GPU.",
                         .machine = benchmark::this_gpu,
                         .parts = {"queens", "large", "leaf_rows", "flow_shop", "knapsack"}},
                        argc, argv, measure_all);
}
